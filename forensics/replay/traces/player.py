"""A complete trace, played: the log of each replica, record by record.

Where a trace claims to state each change of every replica, nothing has to be inferred. Each line changes the log of one
replica, and what was committed, truncated and lost follows by comparing records. A record is known by its offset, its
leader epoch and the append that wrote it, so two leaders of one epoch are told apart too.

Lines are taken in the order of their times; lines of the same time in the order of the trace. A log that ends lower
than by the lines before, without a line that says why, is a finding. A trace that contradicts itself, or does not say
which records a follower appended, is played up to there: what it claims does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Final

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.trace_lines import OfBrokers, TraceLine
from forensics.replay.history import Regression, ShortenedBy, ShortenedLog, Truncation, TruncationReason
from forensics.replay.interval import Interval
from forensics.replay.lineage import Lineage, merge, subtract
from forensics.replay.traces.before_claims import (
    Early,
    begun_with,
    below_early_hw,
    first_end,
    follows_unstated,
    has_unstated,
    of_removed,
    taken_as_alike,
)
from forensics.replay.traces.broken_invariants import EpochsFall, EpochStarts, HwAboveLeo
from forensics.replay.traces.committed_records import NOBODY, Commit, Records, highest_first
from forensics.replay.traces.contradictions import of_answer, of_log_start, of_request
from forensics.replay.traces.epoch_entries import Beginning, Entries, entry_start
from forensics.replay.traces.fetched_records import Fetched
from forensics.replay.traces.high_watermarks import ABOUT_HW, Whose, stated
from forensics.replay.traces.hw_above_end import gone_before, kept_above, stated_above
from forensics.replay.traces.in_sync_replicas import InSync
from forensics.replay.traces.leader_epochs import LedEpochs
from forensics.replay.traces.least_high_watermarks import begin_process, fall, reads_none, ref_of, states
from forensics.replay.traces.left_open import LeftOpen
from forensics.replay.traces.line_kinds import BY_FETCHING, GOES_ON, LOWER, REASONS, SHORTENED_BY, TRUNCATIONS
from forensics.replay.traces.lost_records import Losses
from forensics.replay.traces.received import fell, received
from forensics.replay.traces.replica import Replica, holding
from forensics.replay.traces.replica_log import BEFORE, Log, Piece, Undecided, lineage_of, of_append, unlike
from forensics.replay.traces.results import Contradiction, InNoLog, LedWithout, Played, Removed, TruncatedCommitted
from forensics.replay.traces.unlike_logs import Apart, Held, among, apart_at_end, apart_below_alike
from forensics.replay.traces.written_records import Written
from forensics.replay.traces.written_twice import Contested
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind


class NotPlayed(Exception):
    """A line changes a log in a way that a trace does not say enough about."""


_UNKNOWN: Final = OfBrokers()
_NO_END: Final = 1 << 62


class Player:
    """Plays the lines of one partition."""

    def __init__(
        self,
        begins: Mapping[int, int],
        brokers: OfBrokers = _UNKNOWN,
        *,
        commits: bool = False,
        refused: Collection[int] = (),
        known: Mapping[int, Sequence[tuple[Piece, Ref]]] = MappingProxyType({}),
        led: Mapping[int, set[int]] = MappingProxyType({}),
    ) -> None:
        self.begins, self.brokers, self.known = begins, brokers, known
        self.beginnings: dict[int, Beginning] = {}
        self.replicas: dict[int, Replica] = {}
        self.left_open = LeftOpen()
        self.early = Early()
        self.followed: dict[int, TraceLine] = {}
        self.in_sync = InSync(commits, refused, brokers.since)
        self.isr_stated = False
        self.committed, self.losses = Records(), Losses()
        self.truncated: list[tuple[TruncatedCommitted, list[Piece]]] = []
        self.removed: dict[int, Removed] = {}
        self.above: dict[int, HwAboveLeo] = {}
        self.fallen: list[Regression] = []
        self.shortened: list[ShortenedLog] = []
        self.lacked: dict[int, list[Piece]] = {}
        self.epoch_starts: dict[int, EpochStarts] = {}
        self.falls: dict[int, EpochsFall] = {}
        self.contradiction: Contradiction | None = None
        self.epochs, self.written, self.contested = LedEpochs(), Written(led), Contested(led)
        self.fetched = Fetched(self.replicas, self.beginnings, self.written, self.epochs, self._contradicts)
        self.stopped = False
        self.deleted = 0

    def take(self, line: TraceLine) -> None:
        """Play one line.

        Raises:
            NotPlayed: a trace does not say enough about such a change.
        """
        if line.message != TRACE and line.kind not in ENTRIES:
            raise NotPlayed
        if self.stopped or line.message != TRACE or line.replica not in (None, line.broker):
            return
        if line.kind in _HANDLERS or line.kind in ABOUT_HW:
            try:
                self._changes(self.replicas.setdefault(line.broker, Replica()), line)
            except Undecided as error:
                self._contradicts(line, str(error))
                self.stopped = True
                return
        self.isr_stated |= line.isr is not None
        # One that was deleted is about to leave the ISR.
        known = {b: _NO_END if one.is_deleted else one.log.end for b, one in self.replicas.items() if one.known}
        leading = {broker: one.leader_hw for broker, one in self.replicas.items() if one.leads}
        self.in_sync.take(line, {**self.begins, **known}, leading)

    def _changes(self, replica: Replica, line: TraceLine) -> None:
        """Take what a line states of its replica: what was so before it first."""
        begin_process(replica, line, self.brokers.clean)
        stated_hws = [*stated(line)]
        for whose, hw in stated_hws:
            if whose is Whose.KEPT:
                self._commits(replica, line, hw, whose)
                self._fell(fall(replica, line, hw))
        handler = _HANDLERS.get(line.kind)
        end = replica.log.end
        if replica.found_short and line.kind in GOES_ON:
            self._leads_on(replica, line)
        if handler is not None:
            handler(self, replica, line)
        if end != replica.log.end:
            self._has_end(replica, line, end)
        for whose, hw in stated_hws:
            late = line.broker in self.beginnings
            self._is_above(stated_above(replica, line, hw, whose, begun_late=late))
        for whose, hw in stated_hws:
            if whose is not Whose.KEPT:
                self._commits(replica, line, hw, whose)
            self._has_hw(replica, line, hw, whose)

    def _has_end(self, replica: Replica, line: TraceLine, before: int) -> None:
        """Note that the log of a replica has another end than before."""
        end = replica.log.end
        if line.kind in BY_FETCHING:
            replica.asked.append(before)
        replica.ended = Ref(row=line.row, note=f"log end offset {end}")
        replica.longest = max(replica.longest, before, end)
        if end > before:
            replica.kept = None
            return
        if line.kind not in REASONS:
            self._is_above(kept_above(replica, line))
        replica.entries.truncate(end)
        replica.ends_lower(end, lowered=line.kind in LOWER)
        if line.broker in self.brokers.keep_hw and line.kind in TRUNCATIONS:
            replica.kept = max(replica.hw, replica.kept or 0)

    def _contradicts(self, line: TraceLine, text: str | None) -> None:
        """Note the first contradiction; None is none."""
        if self.contradiction is None and text is not None:
            text = f"line {line.line}: broker {line.broker} {text}"
            self.contradiction = Contradiction(line.broker, text, line.time, Ref(row=line.row, note=text))

    # -- roles --------------------------------------------------------------------------------------------------------

    def _role(self, replica: Replica, line: TraceLine) -> int:
        """Begin a role, and return its leader epoch."""
        self._led(replica, line)
        self._ends_at(replica, line)
        epoch = line.leader_epoch
        if epoch is None:
            raise NotPlayed
        if epoch < replica.epoch:
            raise Undecided(f"takes a role in leader epoch {epoch} after one in leader epoch {replica.epoch}")
        return epoch

    def _leads(self, replica: Replica, line: TraceLine) -> None:
        led_on = replica.leads and line.run == replica.run
        replica.epoch, replica.leader, replica.passed = self._role(replica, line), line.broker, 0
        replica.leads, replica.led_by, replica.run = True, line.broker, line.run
        replica.took_up = replica.log.end, Ref(row=line.row, note=f"leader epoch {replica.epoch}")
        replica.led_at, replica.reached = replica.led_at if led_on else None, None
        self._in_first_role(line.broker, replica)
        self.epochs.led(replica.epoch, line.broker)
        self.deleted = max(self.deleted, replica.deleted)
        if not self.epochs.superseded(replica.epoch):
            self.losses.leads(line.broker, replica)
        self._led_without(line.broker, replica)

    def _follows(self, replica: Replica, line: TraceLine) -> None:
        replica.epoch, replica.leader = self._role(replica, line), line.leader
        leader = self._leader_of(replica, line)
        if self.epochs.is_led_by(replica.epoch, line.broker) and leader is not None and leader.leads:
            self._led_without(line.leader or 0, leader)  # it gives way to another leader of the epoch
        self._in_first_role(line.broker, replica)
        if line.leader is not None and line.leader in self.brokers.since:
            self.followed.setdefault(line.leader, line)
        replica.begins_to_follow(line.leader)
        self._asks_epoch(replica, line)

    def _led(self, replica: Replica, line: TraceLine) -> None:
        """A role ends; keep what a leader had that no high watermark has covered so far."""
        if replica.leads:
            self.left_open.role_ends(line.broker, replica)
        replica.leads = replica.found_short = False

    def _led_without(
        self, broker: int, replica: Replica, *, while_leading: bool = False, alone: Commit | None = None
    ) -> None:
        """Find the committed records that a leader does not have as it begins its epoch, or as its log is shortened.

        One whose epoch is superseded loses nothing: no replica follows it any more.

        Args:
            broker, replica: the leader.
            while_leading: its log is shortened in this role.
            alone: the only high watermark that counts: the others were known when the leader began.
        """
        found = [] if self.epochs.superseded(replica.epoch) else [*self._lacking(replica, alone)]
        lacking, commits = [piece for piece, _ in found], {commit for _, commit in found}
        if lacking:
            role = broker, replica.epoch, *replica.took_up
            records = tuple(merge(piece[:2] for piece in lacking)), lineage_of(sorted(lacking))
            one = LedWithout(*role, *records, highest_first(commits), {}, while_leading)
            self.losses.add(one, found)

    def _lacking(self, replica: Replica, alone: Commit | None) -> Iterator[tuple[Piece, Commit]]:
        """Yield committed records that a leader does not have, and that no leader before it lost."""
        for piece, commit in self._in_none([replica]):
            if alone in (None, commit) and commit.epoch <= replica.epoch:
                yield piece, commit

    def _in_none(self, replicas: Collection[Replica]) -> Iterator[tuple[Piece, Commit]]:
        """Yield committed records that none of some replicas has, and that no leader lost."""
        own = Records()
        for piece in chain.from_iterable(replica.log.pieces for replica in replicas):
            own.found.setdefault(piece.writer, []).append(((piece.first, piece.end), NOBODY))
        deleted = max((replica.deleted for replica in replicas), default=0)
        for writer, spans in self.committed.found.items():
            known = [*own.ranges(writer), *self.losses.gone.ranges(writer), (0, max(self.deleted, deleted))]
            for span, commit in spans:
                for first, end in subtract([span], known):
                    yield Piece(first, end, writer, whole=False), commit

    # -- the log ------------------------------------------------------------------------------------------------------

    def _ends_at(self, replica: Replica, line: TraceLine) -> None:
        """A line states where the log ends."""
        end = replica.log.end
        if not replica.known:
            self._begins_with(replica, first_end(line, self.brokers.since), line)
        elif line.leo is not None and line.leo < end:
            self._shorter(replica, line.leo, line.leo, line)
        elif line.leo is not None and line.leo > end:
            raise Undecided(f"states log end offset {line.leo}; by the lines before, its log ends at {end}")

    def _begins_with(self, replica: Replica, end: int, line: TraceLine) -> None:
        """The first line about a log states what it holds."""
        replica.known = True
        start = replica.deleted = min(line.log_start or 0, end)
        if end > 0:
            begun, open_ = begun_with(line, (start, end), self.replicas)
            self._contradicts(line, open_ if line.broker not in self.known else None)
            replica.log = Log(start=start, end=start)
            for piece, entry in self.known.get(line.broker, begun):
                replica.log.append(piece, entry)
            self.beginnings[line.broker] = Beginning(line, start, end).described(replica.log, replica.entries)

    def _shorter(self, replica: Replica, end: int, kept: int, line: TraceLine) -> None:
        """A line states a lower log end offset than those before, and no line shows a reason.

        Args:
            replica: the replica.
            end: that log end offset.
            kept: the offset up to which the log has the records that it had.
            line: the line.
        """
        self._came_back(replica, end, line, ShortenedBy.NO_LINE)
        replica.log.truncate(kept)
        replica.passed = min(replica.passed, kept)
        if replica.leads:
            self._led_without(line.broker, replica, while_leading=True)

    def _loaded(self, replica: Replica, line: TraceLine) -> None:
        self._led(replica, line)
        replica.leader = None
        replica.reloaded |= replica.known
        replica.entries.earlier |= replica.known
        self._found(replica, line)
        self._starts_at(replica, line)

    def _found(self, replica: Replica, line: TraceLine) -> None:
        """A line states the log as somebody found it, which may be shorter than it was."""
        end = line.leo if line.leo is not None else replica.log.end
        if replica.known and end < replica.log.end:
            self._came_back(replica, end, line, SHORTENED_BY[line.kind])
            replica.log.truncate(end)
            replica.passed = min(replica.passed, end)
            replica.found_short = replica.leads
        self._ends_at(replica, line)

    def _leads_on(self, replica: Replica, line: TraceLine) -> None:
        """A leader continues in its role with a log that was found shorter: no process began in between."""
        replica.found_short = False
        if line.run == replica.run:
            self._led_without(line.broker, replica, while_leading=True)

    def _created(self, replica: Replica, line: TraceLine) -> None:
        if replica.known and replica.log.end > 0:
            self._came_back(replica, 0, line, SHORTENED_BY[line.kind])
        replica.reset_log()

    def _deleted(self, replica: Replica, line: TraceLine) -> None:
        """A replica was deleted on purpose, as after a reassignment: no log of it became shorter."""
        self._led(replica, line)
        replica.leader = None
        replica.reset_log()
        replica.is_deleted = True

    def _came_back(self, replica: Replica, end: int, line: TraceLine, cause: ShortenedBy) -> None:
        refs = (Ref(row=line.row, note=f"log end offset {end}"),)
        log = replica.log
        self.lacked[line.row] = [*log.within(end, log.end)]
        self.shortened.append(
            ShortenedLog(
                line.broker, replica.epoch, Interval.at(log.end), end, log.lineage, line.time, refs, cause=cause
            )
        )

    def _appends(self, replica: Replica, line: TraceLine) -> None:
        first, end = replica.log.end if line.offset is None else line.offset, line.leo
        if end is None or end <= first:
            raise NotPlayed
        if first > replica.log.end:
            before = f"by the lines before, its log ends at {replica.log.end}"
            raise Undecided(
                f"appends from offset {first} on; {before if replica.known else 'no line says what it had'}"
            )
        replica.known = True
        pieces = self._appended(replica, first, end, line)
        if first < replica.log.end:
            pieces = self._again(replica, pieces, line, end)
        ref = Ref(row=line.row, note=f"offsets {first} to {end - 1} appended")
        for piece in pieces:
            if replica.leads:
                self.contested.writes(line.broker, replica.log, piece, ref)
            replica.log.append(piece, ref)
        if replica.leads and replica.led_at is not None:
            hw, stated_by = replica.led_at  # it may have been above the end of the log
            self._covers(replica, Commit(line.broker, replica.epoch, hw, line.time, stated_by))

    def _again(self, replica: Replica, pieces: list[Piece], line: TraceLine, end: int) -> list[Piece]:
        """Return what an append adds at offsets that the log had already, below its end."""
        log, first = replica.log, pieces[0].first
        had = [*log.within(first, log.end)][::-1]
        if end < log.end or any(one[2].writer[0] != one[1].writer[0] for one in unlike(had, pieces)):
            self._shorter(replica, end if end < log.end else first, first, line)
            return pieces
        if any(unlike(had, pieces)):
            raise Undecided(f"appends from offset {first} on; by the lines before, its log ends at {log.end}")
        return [one._replace(first=max(one.first, log.end)) for one in pieces if one.end > log.end]

    def _appended(self, replica: Replica, first: int, end: int, line: TraceLine) -> list[Piece]:
        """Return the records of an append."""
        if not replica.leads:
            return self._fetched(replica, first, end, line)
        if line.leader_epoch not in (None, replica.epoch):
            leads = f"leads in leader epoch {replica.epoch}"
            raise Undecided(f"{leads}, and appends records of leader epoch {line.leader_epoch}")
        own = of_append(first, end, replica.epoch, line.checksum, line.row)
        self.written.by_leader(own)
        self.left_open.appends(line.broker, replica.epoch, first)
        return [own]

    def _fetched(self, replica: Replica, first: int, end: int, line: TraceLine) -> list[Piece]:
        """Return the records of a follower's append."""
        return self.fetched.records(replica, first, end, line)

    def _truncates(self, replica: Replica, line: TraceLine) -> None:
        log, to = replica.log, line.offset
        if to is None:
            raise NotPlayed
        if not replica.known:
            if line.leo is None:
                raise Undecided(f"truncates to {to}; no line says what its log held before")
            self._begins_with(replica, line.leo, line)
            log = replica.log
        if line.leo not in (None, log.end):
            raise Undecided(f"truncates from {line.leo} to {to}; by the lines before, its log ends at {log.end}")
        end, lineage = log.end, log.lineage
        self._removes(replica, line, log.truncate(to), (to, end), lineage)
        replica.starts_lower(to)
        replica.passed = min(replica.passed, to)
        if replica.leads:
            self._led_without(line.broker, replica, while_leading=True)

    def _removes(
        self, replica: Replica, line: TraceLine, removed: list[Piece], change: tuple[int, int], lineage: Lineage
    ) -> None:
        """Find the committed records that a truncation removed; ``change`` is its target and the log end before."""
        found = [one for piece in removed for one in self.committed.of(piece)]
        known = replica.had_hw[0] if replica.had_hw is not None else 0
        spans = [span for span, _ in found]
        late = line.broker in self.brokers.since
        open_ = of_removed(removed, spans, known, self.replicas.values()) if late else None
        self._contradicts(line, open_)
        to, end = change
        why = TruncationReason.LOG_START if line.kind == Kind.TRUNCATE_FULL else TruncationReason.UNKNOWN
        role = line.broker, replica.epoch, replica.leader
        refs = (Ref(row=line.row, note=f"truncated to {to}"),)
        truncation = Truncation(*role, to, Interval.at(end), lineage, why, line.time, refs)
        self.removed[line.row] = Removed(truncation, tuple(merge(piece[:2] for piece in removed)))
        if found and open_ is None:
            ranges = tuple(merge(span for span, _ in found))
            commit = max((commit for _, commit in found), key=lambda one: (one.high_watermark, -one.epoch))
            self.truncated.append((TruncatedCommitted(truncation, ranges, commit), removed))

    def _begins_again(self, replica: Replica, line: TraceLine) -> None:
        if line.offset is None:
            raise NotPlayed
        log, lineage, end = replica.log, replica.log.lineage, replica.log.end
        # What the leader deleted from the beginning of the log is not lost, nor what a snapshot holds.
        held = max(self.deleted, line.log_start or 0)
        removed = [piece._replace(first=max(piece.first, held)) for piece in log.pieces if piece.end > held]
        self._removes(replica, line, removed, (min(line.offset, end), end), lineage)
        replica.log, replica.passed, replica.entries = Log(start=line.offset, end=line.offset), 0, Entries()
        replica.deleted = min(line.log_start if line.log_start is not None else replica.deleted, line.offset)
        if replica.leads:
            self._led_without(line.broker, replica, while_leading=True)

    def _starts_at(self, replica: Replica, line: TraceLine) -> None:
        """The beginning of a log was deleted. Each replica does that, so the records are not lost to it as a leader.

        Where a truncation made its log start at an offset, nothing was deleted.
        """
        log = replica.log
        limits = replica.leads and replica.led_at is not None and line.broker not in self.brokers.keep_hw
        self._contradicts(line, of_log_start(replica, line, max(replica.hw, replica.passed) if limits else None))
        if line.log_start is None or line.log_start <= log.start:
            return
        log.start = replica.deleted = line.log_start
        kept = (piece._replace(first=max(piece.first, log.start)) for piece in log.pieces if piece.end > log.start)
        log.pieces = [*kept]
        if replica.leads:
            self.deleted = max(self.deleted, line.log_start)

    def _ended(self, replica: Replica, line: TraceLine) -> None:
        self._found(replica, line)
        self._starts_at(replica, line)

    # -- high watermarks ----------------------------------------------------------------------------------------------

    def _states_end(self, replica: Replica, line: TraceLine) -> None:
        epoch = line.leader_epoch
        if epoch is not None and 0 <= replica.epoch != epoch:
            raise Undecided(f"states leader epoch {epoch}; its last role is of leader epoch {replica.epoch}")
        if line.leo is not None:
            self._ends_at(replica, line)
        self._starts_at(replica, line)

    def _asks(self, replica: Replica, line: TraceLine) -> None:
        """A follower asks from its log end offset on. The line may come after what the answer brought."""
        self._requests(replica, line)
        if line.leo not in (None, *replica.asked):
            self._ends_at(replica, line)
        replica.asked = []

    def _has_hw(self, replica: Replica, line: TraceLine, hw: int, whose: Whose) -> None:
        """Note what a replica has as its high watermark after a line."""
        if whose is Whose.LEAST:
            replica.hw, replica.own_hw = max(replica.hw, hw), max(replica.own_hw, hw)
            replica.reached = max(replica.reached or 0, hw) if replica.leads else None
        elif whose in (Whose.OWN, Whose.KEPT):
            self._fell(states(replica, self._leader_of(replica, line), line, hw, whose))
            replica.hw = replica.own_hw = hw
            replica.had_hw = hw, line.run, ref_of(line, hw)
            if whose is Whose.OWN and replica.leads:
                replica.led_at = hw, ref_of(line, hw)

    def _fell(self, wrong: Regression | None) -> None:
        """Note a high watermark that fell, if any did."""
        self.fallen += [wrong] if wrong is not None else []

    def _is_above(self, above: HwAboveLeo | None) -> None:
        """Note the first high watermark of each replica above its log end offset; None is none."""
        if above is not None:
            self.above.setdefault(above.replica, above)

    def _commits(self, replica: Replica, line: TraceLine, hw: int, whose: Whose) -> None:
        """Add the records that a stated high watermark covers to what is committed.

        That of a leader covers its own records. That of a follower comes from its leader, and covers those of its
        leader: it may not have reconciled its own with them (KAFKA-14704). What it has kept from an earlier role is
        nothing new. Before its first role it covers its own, and so does what a consumer read from it.
        """
        commit = Commit(line.broker, replica.epoch, hw, line.time, Ref(row=line.row, note=f"high watermark {hw}"))
        gone = gone_before(replica, line, hw) if line.broker not in self.brokers.keep_hw else ()
        if replica.leads:
            self._covers(replica, commit)
            self._note_late(commit)
        elif line.kind == Kind.CONSUMED or (replica.epoch < 0 and line.kind != Kind.PRODUCED):
            self._commits_early(replica, line, commit, gone)
        elif whose is Whose.LEADERS or (whose is not Whose.LEAST and hw > replica.hw):
            if whose is Whose.LEADERS:
                self._receives(replica, line, hw)
            self._adds(gone, commit)
            leader = line.leader if line.leader is not None and whose is Whose.LEADERS else replica.led_by
            self._of_its_leader(leader, commit, whose)

    def _commits_early(self, replica: Replica, line: TraceLine, commit: Commit, gone: Iterable[Piece]) -> None:
        """Add the records below a high watermark that a replica states before its first role, or that clients read."""
        own = line.kind == Kind.CONSUMED or line.broker not in self.brokers.since
        below, open_ = below_early_hw(replica.log.within(0, commit.high_watermark), own=own)
        self._contradicts(line, open_)
        if own:
            self._adds((*below, *gone), commit)
        else:
            self.early.add((*below, *gone), commit)

    def _of_its_leader(self, leader: int | None, commit: Commit, whose: Whose) -> None:
        """A follower states the high watermark of its leader, which may have left that role in the meantime.

        Where it is its own, or in its checkpoint file, and above its log, it breaks a rule or is of an earlier log,
        and contradicts nothing.
        """
        if leader is None:
            return
        committed = commit._replace(replica=leader)
        self._adds(self.left_open.below(leader, commit.epoch, commit.high_watermark), committed)
        self._note_late(committed)
        at = self.replicas.get(leader)
        if at is not None and at.leads and at.epoch >= commit.epoch:
            above = at.epoch == commit.epoch and commit.high_watermark > max(at.log.end, at.hw)
            beyond = commit.high_watermark > self.replicas[commit.replica].log.end
            if above and beyond and whose in (Whose.WRITTEN, Whose.KEPT):
                return
            if above and not (whose is Whose.OWN and beyond):
                stated = f"states high watermark {commit.high_watermark} of its leader, broker {leader}"
                raise Undecided(f"{stated}; by the lines before, the log of that ends at {at.log.end}")
            self._covers(at, committed)

    def _receives(self, replica: Replica, line: TraceLine, hw: int) -> None:
        """A follower receives the high watermark of its leader."""
        if replica.least is not None and hw < replica.least.value:
            replica.least = None  # it takes over the lower one
        leader = self._leader_of(replica, line)
        before, replica.received = replica.received, received(replica, leader, line, hw)
        if leader is None or replica.received is None:
            return
        leader.reached = max(leader.reached or 0, hw)
        if before is None:
            return
        wrong = fell(leader, before, replica.received, line.time)
        if isinstance(wrong, Regression):
            self.fallen.append(wrong)
        else:
            self._contradicts(line, wrong)

    def _leader_of(self, replica: Replica, line: TraceLine) -> Replica | None:
        """Return the leader of a follower: that which a line names, else that of its role."""
        number = line.leader if line.leader is not None else replica.leader
        return self.replicas.get(number) if number is not None else None

    def _note_late(self, commit: Commit) -> None:
        """A high watermark is of an earlier role; who leads by now may have begun without the records."""
        for broker, one in self.replicas.items():
            if one.leads and one.epoch > commit.epoch:
                self._led_without(broker, one, alone=commit)

    def _covers(self, leader: Replica, commit: Commit) -> None:
        """Add what a leader has below its high watermark."""
        self._adds(leader.log.within(leader.passed, commit.high_watermark), commit)
        leader.passed = max(leader.passed, min(commit.high_watermark, leader.log.end))

    def _in_first_role(self, broker: int, replica: Replica) -> None:
        """Count the high watermarks that a replica stated before its first role: they are of its epoch at most."""
        for pieces, commit in self.early.of_role(broker, replica.epoch):
            self._adds(pieces, commit)
            self._note_late(commit)

    def _adds(self, pieces: Iterable[Piece], commit: Commit) -> None:
        for piece in pieces:
            if piece.first < piece.end:
                self.committed.add(piece.writer, piece.first, piece.end, commit)

    def _checkpoints(self, replica: Replica, line: TraceLine) -> None:
        if line.hw is not None:
            replica.own_checkpoint = line.hw
            replica.checkpoint = line.hw, Ref(row=line.row, note=f"high watermark {line.hw} in the checkpoint")

    def _no_checkpoint(self, replica: Replica, line: TraceLine) -> None:
        replica.hw = replica.own_hw = 0
        self._fell(reads_none(replica, line))

    def _asks_epoch(self, replica: Replica, line: TraceLine) -> None:
        leader = self._leader_of(replica, line)
        replica.leader_end = leader.log.end if leader is not None else 0

    def _requests_epoch(self, replica: Replica, line: TraceLine) -> None:
        self._requests(replica, line)
        self._asks_epoch(replica, line)

    def _requests(self, replica: Replica, line: TraceLine) -> None:
        """Note a request that its replica cannot send, unless its leader epoch has two leaders: that is a finding."""
        if not self.epochs.contested(replica.epoch):
            self._contradicts(line, of_request(replica, line))

    def _is_answered(self, replica: Replica, line: TraceLine) -> None:
        """Compare an answer, where a leader epoch ends, with the log of the leader that gave it."""
        leader = self._leader_of(replica, line)
        if leader is not None and leader.leads and leader.epoch == replica.epoch:
            self._contradicts(line, of_answer(replica, leader, line))

    def _entry(self, replica: Replica, line: TraceLine) -> None:
        """Compare an entry of a leader epoch with the records of the same log, and keep it."""
        epoch, offset = line.leader_epoch, line.offset
        if epoch is not None and epoch >= 0 and offset is not None:
            self.epochs.name(
                line,
                Piece(offset, offset + 1, (epoch, BEFORE[1]), whole=False),
                f"has an entry of leader epoch {epoch} from offset {offset} on",
            )
        found = entry_start(replica.log, line, reloaded=replica.reloaded) if replica.known else None
        if found is not None:
            self.epoch_starts.setdefault(found.epoch, found)
        replica.entries.add(line)
        fall = replica.entries.fall(line.broker)
        if fall is not None:
            self.falls.setdefault(line.broker, fall)
        begun = self.beginnings.get(line.broker)
        if begun is not None:
            self.beginnings[line.broker] = begun.described(replica.log, replica.entries)

    def _cannot_play(self, replica: Replica, line: TraceLine) -> None:
        raise NotPlayed

    # -- the end ------------------------------------------------------------------------------------------------------

    def result(self) -> Played:
        """Return what the lines decide."""
        for pieces, commit in self.early.without_role():
            self._adds(pieces, commit)
        without = self.losses.at_end(self.replicas, self.epochs.last_leaders)
        apart = self._apart()
        if not self.stopped:
            self._never_so(apart)
            self._of_unstated_logs()
        if self.in_sync.before is not None:
            self._contradicts(*self.in_sync.before)
        self.in_sync.judge_named()
        isr = self.in_sync if self.isr_stated else None
        twice = tuple(self.contested.written_twice(apart))
        starts = [*self.contested.two_starts(self.epoch_starts), *self.epoch_starts.values()]
        starts.sort(key=lambda one: one.epoch)
        truncated = tuple(one._replace(again=self._again_there(one, pieces)) for one, pieces in self.truncated)
        above = tuple(one for _, one in sorted(self.above.items()))
        found = truncated, without, apart, above, tuple(self.fallen), tuple(self.shortened), tuple(starts)
        below = tuple(apart_below_alike({broker: one.log for broker, one in self.replicas.items()}, apart))
        held = {row: holding(self.replicas, pieces) for row, pieces in self.lacked.items()}
        none, falls = self._in_no_log(), tuple(self.falls.values())
        alike = tuple(taken_as_alike(self.replicas, self.beginnings, self.brokers.since))
        return Played(*found, isr, self.contradiction, self.removed, none, falls, below, held, twice, alike)

    def _in_no_log(self) -> InNoLog | None:
        """Return the committed records that no replica has at the end, unless a line contradicts others.

        If every replica was deleted on purpose, so was the topic.
        """
        if self.contradiction is not None or all(one.is_deleted for one in self.replicas.values() if one.known):
            return None
        found = [*self._in_none(self.replicas.values())]
        pieces, commits = sorted(piece for piece, _ in found), {commit for _, commit in found}
        if not pieces:
            return None
        return InNoLog(tuple(merge(piece[:2] for piece in pieces)), lineage_of(pieces), highest_first(commits))

    def _again_there(self, one: TruncatedCommitted, pieces: list[Piece]) -> bool:
        """Return whether a replica has what it truncated at the end."""
        return not subtract(one.ranges, holding(self.replicas, pieces).get(one.truncation.replica, ()))

    def _apart(self) -> tuple[Apart, ...]:
        """Return the pairs of replicas with different records at committed offsets."""
        held = {broker: Held(one.log, max(one.own_hw, one.own_checkpoint)) for broker, one in self.replicas.items()}
        return tuple(apart_at_end(held, self.committed, self.epochs))

    def _of_unstated_logs(self) -> None:
        """Note lines that name a replica which states nothing of its log, and whose log is from before a claim."""
        known = {broker for broker, one in self.replicas.items() if one.known}
        for leader, line in self.followed.items():
            self._contradicts(line, None if leader in known else follows_unstated(leader))
        for member, line in self.in_sync.unstated.items():
            self._contradicts(line, has_unstated(member))

    def _never_so(self, apart: Sequence[Apart]) -> None:
        """Note the first line that cannot be so.

        It names a leader epoch without a leader, so that the line of a role is missing. Or it appends other records
        than its leader wrote in that leader epoch, and they are not found to differ from those of another replica.
        """
        found = [
            (line, text) for line, piece, text in self.fetched.unlike_leader if not among(apart, line.broker, piece)
        ]
        begun = [one.end for one in self.beginnings.values()]
        for one in self.epochs.never_led(begun):
            found.append((one.line, f"{one.text}, and no line says who led that epoch"))
        if found:
            self._contradicts(*min(found, key=lambda one: one[0].row))


ENTRIES: Final = (Kind.EPOCH_ENTRY, Kind.EPOCH_ASSIGNED)

_HANDLERS: Final[dict[str, Callable[[Player, Replica, TraceLine], None]]] = {
    Kind.BECOME_LEADER: Player._leads,
    Kind.BECOME_FOLLOWER: Player._follows,
    Kind.LOG_CREATED: Player._created,
    Kind.LOG_DELETED: Player._deleted,
    Kind.LOG_LOADED: Player._loaded,
    Kind.LOG_END: Player._ended,
    Kind.APPEND: Player._appends,
    Kind.LEO: Player._states_end,
    Kind.HW: Player._states_end,
    Kind.STATE: Player._states_end,
    Kind.FOLLOWER_FETCHED: Player._asks,
    Kind.HW_CHECKPOINT: Player._checkpoints,
    Kind.HW_MISSING: Player._no_checkpoint,
    Kind.TRUNCATE: Player._truncates,
    Kind.TRUNCATE_FULL: Player._begins_again,
    Kind.LOG_START: Player._starts_at,
    Kind.EPOCH_REQUEST: Player._requests_epoch,
    Kind.EPOCH_REPLY: Player._is_answered,
    Kind.EPOCH_ENTRY: Player._entry,
    Kind.EPOCH_ASSIGNED: Player._entry,
    Kind.LOG_MOVED: Player._cannot_play,
    Kind.DIR_FAILED: Player._cannot_play,
    Kind.RECOVERY: Player._cannot_play,
    Kind.CORRUPTION_CUT: Player._cannot_play,
    Kind.SEGMENTS_DELETED: Player._cannot_play,
    Kind.COMPACTED: Player._cannot_play,
}
"""Handler of a line of each kind. Lines of other kinds change no log."""

ABOUT_LOGS: Final = tuple(_HANDLERS)
"""Kinds of line that change a log, or state what it holds."""
