"""Coverage: for each replica, whether an absent log line shows that its broker did not log it.

A line in the evidence always counts. An absent line shows something only if no line of that kind and time is missing.
For example, "broker 2 did not truncate its log in leader epoch 3, because no line shows it" needs every line that
broker 2 logged about its replica's log then. Code that concludes something from an absent line must ask here first.

Two steps lead from an absent line to a conclusion, and the coverage answers the first alone:

1. *The broker did not log it*: the methods below.
2. *So it did not happen*: this holds for what Kafka always logs, at its default log levels:

   * A role in a leader epoch is of the topic *roles*, and always logged (ReplicaManager, Partition).
   * A truncation by replication, a load of the log when its broker starts, and the start of a fetcher are of the topic
     *log*, and always logged (Log, LogManager, AbstractFetcherManager). So a restart shows in each replica's lines.
     If a follower drops its whole log, because its leader's begins above it, its fetcher logs that it reset its fetch
     offset (AbstractFetcherThread), and Log itself logs nothing at INFO.
   * A change of the ISR is of the topic *log* of the leader that makes it (Partition.shrinkIsr, expandIsr). A KRaft
     controller also removes brokers that are gone, and a dead leader logs nothing about that. A controller with
     ZooKeeper removes them with a leader epoch of its own.
   * A rise of the log start offset is of the topic *log* of the leader, from 0.11 on. A follower may not log it.
   * Appends, and a high watermark that rises, are never logged at INFO.
   * A log that is shorter after a power loss is not logged either. The next load states its new length: that is a
     question to ``roles/log_ends``.

**Whole is a presumption.** Nothing can show that a log file is complete. One line of a topic
about the replica is enough: then that topic is presumed whole in all three spans below, until something in the evidence
shows that a line is missing. If the missing line leaves no trace elsewhere, the span is still called whole.

The answer depends on the broker, on the topic (its roles or its log), and on the time.

*Which broker?* Each broker logs about its own replica. For each span of time below, its lines about that replica are
one of these:

* **whole**: both files below are in the evidence, and nothing shows that a line is missing in this span. An absent
  line counts as proof.
* **partly**: one of the two files is not in the evidence. Then absent lines prove nothing about the topic of that file.
  Or something shows that a line is missing in this span. Then absent lines prove nothing about either topic: what took
  one line (rotation, a full disk, a copy that was cut off) may have taken lines of both files.
* **silent**: none of its lines is in the evidence, or only an excerpt or the matches of a search. Absent lines prove
  nothing, in any span.

*About what?* Kafka logs two topics about a replica, to two files: the roles it was given (``state-change.log``), and
what happened to its log (``server.log``). If only ``state-change.log`` is there, you may conclude "it was given no
other role". You may not conclude "it did not truncate". A file in which no line is about this partition shows nothing
about it: it may begin after the partition was made, or be of another log level.

*When?* There are three spans of one replica's lines, those of both files together. *Within* is the time from its first
line in the evidence to its last. *Before* is the time until its first line. *After* is the time from its last line
until the evidence was copied. No span is of one file alone. So if one file begins later than the other, ends earlier or
has a gap, its lines are missing *within*. The modules of ``omissions`` find that by what the other file shows, such as
a role before the first line of server.log. What they cannot see is presumed whole. The coverage knows spans, leader
epochs and processes, and no clock. A question about a time from t1 to t2 is a question about *within*, and about
*before* or *after* too if it reaches beyond the replica's lines. A file is copied after the last line: what it held
then is a question about *after* too.

Conclusions about a replica r, and the call that each needs. Without it nothing may be concluded. With it the lines
allow the conclusion; what is not logged at all (see above) is a question of its own. Each entry names every doubt that
binds it: if it names none, none does. ``run`` is the process of r's broker in which it had the role
(``RoleSpan.run``): 0 for lines before the first start in the evidence, and one more with each start.

* *It did not truncate between its role in epoch 3 and the next one:* ``log_lines_complete(r, 3, run)``. All lines up to
  the next role are of the role before, also if the broker started in between. If it had no next role, ``has(r, LOG,
  AFTER)`` too.
* *It had no role between its role in epoch 3 and the next one:* ``role_lines_complete(r, 3, run)``. If the broker
  started in between, also not ``in_doubt(STOP_UNSEEN, 3, r, run)``, and not ``in_doubt(RAN_ON, e, r, run)`` of any
  epoch e up to that of the next role.
* *It did not restart between two of its roles:* both have the same ``run``, and ``log_lines_complete`` for the first
  and for each role between them.
* *It had no role after its last one:* ``has(r, ROLES, WITHIN, AFTER)``.
* *It never led:* ``has(r, ROLES, *Span)``, and none of its role lines is of a leader.
* *Its broker never logged a longer log than its copy:* ``throughout(r)``, because lines of both files state log end
  offsets, and r not in ``unclaimed``. If only the time since its first line counts, ``whole(r, WITHIN, AFTER)``
  instead. Whether the log became shorter without a line, after a power loss or on another disk, ``roles/log_ends``
  answers.
* *Its broker logged no later high watermark:* ``whole(r, WITHIN, AFTER)``, and r not in ``unclaimed``, for the same
  reasons. It may still have risen.

Conclusions about the partition need the replicas that could have acted:

* *The last ISR that the leader r of epoch 3 states is the one at the end of that epoch:*
  ``elections.isr_known_to_end``. It asks ``has(r, LOG)``, and ``has(r, LOG, AFTER)`` if epoch 3 is the last role that
  r's lines name. It also asks for no doubt ``ISR_CHANGED`` of the epochs from 4 to the next one with a leader. If epoch
  3 is the last of all, there is no such doubt. It counts changes of the ISR with ZooKeeper and with KRaft, those by
  KRaft controllers too. The lines of a follower do not show any of it.
* *The ISR did not change in epoch 3:* the same, and its leader states one ISR alone in that epoch.
* *Who was in the ISR when the leader of epoch 4 was elected:* ``elections.isr_before``. If no partition epoch shows it,
  the end of the epoch before, and no doubt ``STATE_CHANGED`` of epoch 4 (``elections.isr_changes_complete``).
* *No second broker led epoch 3:* ``has(other, ROLES, *Span)`` for each other replica that any line or file names.
* *Who led epoch 3, if no line names its leader:* nothing answers it. Then there is a doubt ``LEADER`` of epoch 3.
* *No replica led between epochs 3 and 6:* no line names a leader of 4 or 5, and ``unnamed_between(3, 6)`` is empty.
  There is no doubt ``LEADER`` of 4 or 5 either. An epoch that a line names as one without a leader is neither.
* *No leader came after the last one that lines name:* ``omissions/last_leader`` asks it. Either
  ``has(each replica, ROLES, *Span)``, or ``elections`` and ``has(the last leader, ROLES, AFTER)``. ``unnamed`` and the
  doubts do not bind here: they are about epochs between two that something names.

So there are two kinds of questions, and each has methods of its own:

* *May I conclude something from an absent line?* ``has`` answers for one topic, ``whole`` for both. Both answer for the
  spans that you name, and for *within* if you name none; name every span that your conclusion is about. ``throughout``
  answers for both topics in all three spans. ``log_lines_complete`` and ``role_lines_complete`` answer for one topic
  within one role: if the places of all missing lines are known, those in other roles do not count. So they may be true
  where ``has`` is false. The last role ends with the replica's last line: what came later is a question about *after*.
  ``whole_replicas`` and ``replicas_with`` list the replicas for which the answer is yes.
* *What shows that lines are missing?* ``shown_missing``, ``shown_missing_by``, ``undated_from`` and
  ``missing_in`` answer that. Use them to say what to collect, or to conclude less. If they name no missing line,
  conclude nothing: of a silent broker they name none either. The test ``tests/house/test_silence.py`` lists the modules
  that may use them.

Three more things bind a conclusion that the answers above allow:

* ``unnamed``: leader epochs that must have existed, in which a replica may have led, and that no line names. A
  conclusion about several epochs must check them too, and leave open whatever depends on who led in such an epoch.
* A *doubt* about one leader epoch: a line may be missing, but nothing shows it. It does not lower the coverage. Ask the
  coverage first, then ``in_doubt``. If there is a doubt, leave that epoch undecided. The module ``doubts`` finds them;
  each ``Doubt`` says which conclusion it concerns, and whether it is about one process of one replica.
* ``elections`` (an attribute): whether lines of the controllers that elect leaders are in the evidence. Alone it allows
  nothing, because the coverage does not know where a controller's lines end: ``last_leader`` takes it that they end no
  earlier than the last leader's own.

``Coverage.of`` is where replay starts, from the lines of each broker (``LinesAtHand``); the result is
``History.coverage``. What is known to be missing only grows from then on. An ``Omission`` is one way in which evidence
shows that a line is missing: a broker that logs one thing always logs another, and the other is not there
(``omissions`` lists them). Replay finds most omissions before it concludes anything. If it finds another one later, it
discards its conclusions and starts again with the lower coverage. So no conclusion of the result rests on a coverage
that was lowered afterwards. Doubts, ``unnamed`` and ``elections`` are found again each time.

A trace may claim that it states each change of some replicas. For these an absent line is proof, and no omission
counts, because a trace need not hold what Kafka logs besides. If it claims that of one topic only, the same holds for
that topic. A trace that claims nothing (``unclaimed``) is presumed whole as a log is. But it need not state every value
that a broker's log would show, such as each high watermark and log end offset: of two values in such a trace, conclude
nothing from the absence of a third between them.

A file (segment, checkpoint) states what it held when it was copied, and a conclusion from that needs no coverage. What
its log held before needs the lines in between. An absent file shows nothing: coverage is about lines, and does not say
that a replica has no files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from forensics.replay.facts.directory import Ref


class Extent(StrEnum):
    """How much of a broker's lines about its replica is in the evidence."""

    WHOLE = "whole"
    PARTLY = "partly"
    SILENT = "silent"


class Span(StrEnum):
    """Part of a replica's lines: before its first line in the evidence, between first and last, or after the last."""

    BEFORE = "before"
    WITHIN = "within"
    AFTER = "after"


class Printed(StrEnum):
    """The two topics that a broker logs about its replica.

    The value is the name of the file to which Kafka's default logging writes it, for texts that name the file.
    """

    ROLES = "state-change.log"  # the leader epochs in which it was given a role
    LOG = "server.log"  # loads, truncations, fetchers: what happened to its log


BOTH = frozenset(Printed)
"""Roles and log."""

NEITHER: frozenset[Printed] = frozenset()


@dataclass(frozen=True, slots=True)
class Omission:
    """One kind of evidence that lines are missing: a broker that logs one thing always logs another.

    Attributes:
        id: its name.
        span: the span in which the lines are missing.
        says: sentence for the reader, with the names of its values in braces.
        source: the class of Kafka that logs both, or the KIP that requires it.
        about: the topics of which lines must be in the evidence for this omission to be looked for. The missing
            lines may be of either topic.
    """

    id: str
    span: Span
    says: str
    source: str
    about: frozenset[Printed] = BOTH

    def of(
        self,
        replica: int,
        values: Mapping[str, object] = MappingProxyType({}),
        *,
        ref: Ref | None = None,
        epoch: int | None = None,
        undated_from: int | None = None,
    ) -> MissingLines:
        """Return lines of a replica that are missing in this way.

        Args:
            replica: broker id.
            values: values that the sentence names, besides ``epoch`` and ``undated_from``.
            ref: the evidence.
            epoch: leader epoch at which the lines are missing, if known.
            undated_from: see ``MissingLines``.
        """
        text = self.says.format_map({"epoch": epoch, "undated_from": undated_from, **values})
        return MissingLines(replica, self.span, self.id, text, ref, epoch, undated_from)


@dataclass(frozen=True, slots=True)
class MissingLines:
    """Lines of one replica that are not in the evidence although its broker logged them.

    Attributes:
        replica: broker id.
        span: the span in which they are missing.
        shown_by: id of the omission that shows it.
        text: what shows it, as a sentence.
        ref: the line or file that shows it.
        epoch: leader epoch at which they are missing, or None if unknown. It only says where to look: the whole span
            counts as partly covered.
        undated_from: first offset from which the writing leader of the records is unknown, because these lines are
            missing; None if it is known.
        placed: ``Coverage.places`` has the place at which they are missing. If not, they may be missing in any role.
    """

    replica: int
    span: Span
    shown_by: str
    text: str
    ref: Ref | None = None
    epoch: int | None = None
    undated_from: int | None = None
    placed: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a replica's lines at which others are missing.

    Attributes:
        epoch: leader epoch of its role there, which is its last role before the place; -1 before its first one.
        run: process of its broker in which it had that role: 0 before the first start in the evidence, and one more
            with each start. What is missing between a start and the next role counts for the role before the start.
        row: a line in the evidence beside which lines are missing, before or after it; None for after the last line on
            that role.
    """

    epoch: int
    run: int
    row: int | None = None


class Doubt(StrEnum):
    """A reason why a line may be missing although nothing shows it, and the conclusion that it concerns."""

    # That the ISR did not change, from the epoch before up to the election of this one: partition epochs count more
    # changes than lines show and leader epochs account for, or a member whose broker ran on is gone.
    ISR_CHANGED = "isr changed"
    # Who was in the ISR at the election of this epoch: the same, where leader epochs that no line names are not taken
    # for changes of their own.
    STATE_CHANGED = "state changed"
    # Who led in the epoch: no line states it.
    LEADER = "leader"
    # That a replica had no role in the later epoch that the doubt names: by the clocks of two brokers its process (run)
    # still ran then.
    RAN_ON = "ran on"
    # That a replica had no role after the one in the epoch that the doubt names: its process (run) closed its log
    # cleanly, and no line shows that it shut down.
    STOP_UNSEEN = "stop unseen"


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A doubt about one leader epoch.

    Attributes:
        doubt: the reason.
        epoch: the leader epoch.
        replica, run: the replica and the process of its broker whose lines may be missing, for ``RAN_ON`` and
            ``STOP_UNSEEN``; None for the others.
    """

    doubt: Doubt
    epoch: int
    replica: int | None = None
    run: int | None = None


@dataclass(frozen=True, slots=True)
class LinesAtHand:
    """Lines of one broker in the evidence, before any partition is replayed. Its coverage starts from them.

    Attributes:
        printed: what its logs in the evidence are about, for any replica; nothing if only an excerpt is there.
        claimed: a trace claims to state every change of its replicas.
        claimed_within: a trace claims the same of what the lines are about, and of nothing else.
        unseen_process: broker epoch of a process that controllers registered and that has no line of its own; or None.
        unread: lines of a trace could not be read, so what it claims does not count: ``claimed`` and
            ``claimed_within`` are false.
    """

    printed: frozenset[Printed] = BOTH
    claimed: bool = False
    claimed_within: bool = False
    unseen_process: int | None = None
    unread: bool = False


ALL_LINES = LinesAtHand()
"""Both kinds of lines, and nothing known against them."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The proof in absent lines, for each replica of one partition.

    Attributes:
        printed: what each broker's logs about its replica are about: roles, log or both. Nothing for a broker of which
            an excerpt alone is in the evidence.
        known_missing: evidence that lines of a replica are missing, in the order in which replay found it.
        places: where lines of a replica are missing, as far as that is known, by leader epoch and process of its role.
        unnamed: leader epochs that must have existed and that no line of any broker names. If a replica had no role in
            an epoch, its lines skip that epoch and may still be whole. So a conclusion about several epochs must
            check these epochs as well.
        doubts: lines that may be missing although nothing shows it.
        claimed: replicas for which a trace claims to state every change.
        claimed_partly: the one topic of a replica of which a trace claims to state every change: its roles, or its log.
        unclaimed: replicas that only a trace describes which does not claim to state every change of them.
        elections: lines of the controllers that elect the partition's leaders are in the evidence.
    """

    printed: Mapping[int, frozenset[Printed]] = field(default_factory=dict)
    known_missing: Mapping[int, tuple[MissingLines, ...]] = field(default_factory=dict)
    places: Mapping[int, Mapping[tuple[int, int], tuple[Place, ...]]] = field(default_factory=dict)
    unnamed: frozenset[int] = frozenset()
    doubts: frozenset[Doubtful] = frozenset()
    claimed: frozenset[int] = frozenset()
    claimed_partly: Mapping[int, frozenset[Printed]] = field(default_factory=dict)
    unclaimed: frozenset[int] = frozenset()
    elections: bool = False

    @classmethod
    def of(cls, lines: Mapping[int, LinesAtHand], about: Mapping[int, frozenset[Printed]]) -> Coverage:
        """Return the coverage of one partition from which replay starts, before anything is shown to be missing.

        Args:
            lines: the lines of each broker, for any replica.
            about: what each broker's lines on this partition are about; of a file without such a line, nothing.
        """
        printed = {replica: BOTH if one.claimed else one.printed & about[replica] for replica, one in lines.items()}
        claimed = frozenset(replica for replica, one in lines.items() if one.claimed)
        partly = {replica: one.printed for replica, one in lines.items() if one.claimed_within}
        return cls(printed, claimed=claimed, claimed_partly=partly)

    def extent(self, replica: int | None, span: Span = Span.WITHIN) -> Extent:
        """Return how much of a span of a replica's lines is in the evidence.

        A broker of which no log is in the evidence is silent, also if an excerpt has lines of it. None, for a replica
        that no line names, is silent too.
        """
        if replica is None or not self.printed.get(replica):
            return Extent.SILENT
        return Extent.WHOLE if self.whole(replica, span) else Extent.PARTLY

    def has(self, replica: int | None, what: Printed, *spans: Span) -> bool:
        """Return whether an absent line about one topic is proof in all given spans; if none is given, within the
        replica's lines.

        That is so if lines about it are in the evidence, and nothing shows that lines are missing in these spans. It
        allows a conclusion about this one topic: "no truncation" of the log, "no other role".
        """
        if replica is None:
            return False
        if self.claimed_partly and self._is_claimed(replica, what):
            return True
        there = what in self.printed.get(replica, NEITHER)
        if replica not in self.known_missing:  # as with most of very many partitions
            return there
        return there and not self.is_shown_missing(replica, *(spans or (Span.WITHIN,)))

    def whole(self, replica: int | None, *spans: Span) -> bool:
        """Return whether an absent line of a replica is proof, whatever it would be about: ``has`` for roles and log.

        It is asked of all given spans; if none is given, within the replica's lines.
        """
        if replica not in self.known_missing and not self.claimed_partly:  # as with most of very many partitions
            return replica is not None and self.printed.get(replica) == BOTH
        return self.has(replica, Printed.ROLES, *spans) and self.has(replica, Printed.LOG, *spans)

    def throughout(self, replica: int | None) -> bool:
        """Return whether an absent line is proof in all three spans, that is, at any time."""
        return self.whole(replica, *Span)

    def whole_replicas(self, *spans: Span) -> frozenset[int]:
        """Replicas of which an absent line is proof in all of these spans; if none is given, within their lines."""
        return frozenset(replica for replica in self.printed if self.whole(replica, *spans))

    def replicas_with(self, what: Printed) -> frozenset[int]:
        """Replicas of which an absent line about one topic is proof within their lines: ``has`` holds for each."""
        return frozenset(replica for replica in self.printed if self.has(replica, what))

    def is_silent(self, replica: int | None) -> bool:
        """Return whether no log of this broker about its replica is in the evidence: no line, or an excerpt's alone."""
        return self.extent(replica) is Extent.SILENT

    def are_about(self, replica: int | None, what: Printed) -> bool:
        """Return whether logs of this broker about one topic of its replica are in the evidence, whole or not.

        True is no licence: lines may be shown to be missing. ``has`` answers what an absent line proves.
        """
        return replica is not None and what in self.printed.get(replica, frozenset())

    def is_shown_missing(self, replica: int | None, span: Span, *spans: Span) -> bool:
        """Return whether something shows that lines of a replica are missing in any of these spans.

        False is no licence: nothing shows that of a silent broker either.
        """
        if replica is None or replica not in self.known_missing:  # as with most of very many partitions
            return False
        return any(one.span in (span, *spans) for one in self.known_missing[replica])

    def shown_missing(self, span: Span, *spans: Span) -> dict[int, MissingLines]:
        """Replicas of which something shows that lines are missing in any of these spans, and what does, first found.

        A replica that is not among them may be silent, so nothing follows from that.
        """
        asked, found = (span, *spans), dict[int, MissingLines]()
        if not self.known_missing:  # as with most of very many partitions
            return found
        for replica, known in sorted(self.known_missing.items()):
            for one in known:
                if one.span in asked:
                    found.setdefault(replica, one)
        return found

    def shown_missing_by(self, *omissions: Omission) -> dict[int, MissingLines]:
        """Return the first missing lines that one of these omissions shows, by replica."""
        ids = {omission.id for omission in omissions}
        found = ((replica, one) for replica, known in self.known_missing.items() for one in reversed(known))
        return {replica: one for replica, one in found if one.shown_by in ids}

    def missing_in(
        self, replica: int, epoch: int, run: int, *, since: int | None = None, until: int | None = None
    ) -> bool:
        """Return whether lines of a replica are known to be missing at some place in one of its roles.

        Args:
            replica: broker id.
            epoch: leader epoch of the role.
            run: process of the broker that had it.
            since: row of the first line that counts; None for the start of the role.
            until: row of the last line that counts; None for the end of the role.
        """
        rows = [one.row for one in self.places.get(replica, {}).get((epoch, run), ())]
        rows = [row for row in rows if until is None or (row is not None and row <= until)]
        return any(since is None or row is None or row >= since for row in rows)

    def log_lines_complete(
        self, replica: int, epoch: int, run: int, *, since: int | None = None, until: int | None = None
    ) -> bool:
        """Return whether an absent line about a replica's log is proof within one of its roles, or a part of it.

        This is narrower than ``has``: lines that are missing at a known place in another role do not matter. If the
        place of any is unknown, they may be missing in any role. The arguments are those of ``missing_in``.
        """
        if not self._is_placed(replica) or self._is_claimed(replica, Printed.LOG):
            return self.has(replica, Printed.LOG)
        return self.are_about(replica, Printed.LOG) and not self.missing_in(
            replica, epoch, run, since=since, until=until
        )

    def role_lines_complete(self, replica: int, epoch: int, run: int) -> bool:
        """Return whether an absent line is proof that a replica had no other role between one role and its next.

        Lines that are missing at a known place in another role do not matter, as in ``log_lines_complete``.
        """
        if not self._is_placed(replica) or self._is_claimed(replica, Printed.ROLES):
            return self.has(replica, Printed.ROLES)
        return self.are_about(replica, Printed.ROLES) and not self.missing_in(replica, epoch, run)

    def claims(self, replica: int, what: Printed) -> bool:
        """Return whether a trace claims to state every change of one topic of a replica, or of both."""
        return replica in self.claimed or self._is_claimed(replica, what)

    def _is_claimed(self, replica: int, what: Printed) -> bool:
        """Return whether a trace claims to state every change of one topic of a replica, and of no other."""
        return bool(self.claimed_partly) and what in self.claimed_partly.get(replica, NEITHER)

    def _is_placed(self, replica: int) -> bool:
        """Return whether lines are missing within those of a replica, and the place of all of them is known."""
        within = (one for one in self.known_missing.get(replica, ()) if one.span is Span.WITHIN)
        return bool(self.places.get(replica)) and all(one.placed for one in within)

    def undated_from(self, replica: int, epoch: int) -> int | None:
        """Return the lowest offset of a leader epoch from which the writer of a replica's records is unknown.

        It is unknown because lines of the replica are missing. None if nothing shows that, which is no licence.
        """
        found = (one for one in self.known_missing.get(replica, ()) if one.epoch == epoch)
        return min((one.undated_from for one in found if one.undated_from is not None), default=None)

    def unnamed_between(self, after: int, before: int | None = None) -> list[int]:
        """Return the leader epochs above one, and below another if given, that must have existed and that no line
        names.
        """
        return sorted(n for n in self.unnamed if after < n and (before is None or n < before)) if self.unnamed else []

    def in_doubt(self, doubt: Doubt, epoch: int, replica: int | None = None, run: int | None = None) -> bool:
        """Return whether there is such a doubt about a leader epoch. Ask it after the coverage: False is no licence.

        Args:
            doubt: the reason.
            epoch: the leader epoch that it is about.
            replica, run: to be given for ``RAN_ON`` and ``STOP_UNSEEN``, which are about one process, and for no other.
        """
        return Doubtful(doubt, epoch, replica, run) in self.doubts

    def doubtful(self, doubt: Doubt) -> list[int]:
        """Return the leader epochs about which there is such a doubt, in order."""
        return sorted(one.epoch for one in self.doubts if one.doubt is doubt)

    def counted(self, found: Iterable[MissingLines]) -> list[MissingLines]:
        """Return the missing lines that count: those of replicas for which no trace claims to state every change."""
        return [one for one in found if one.replica not in self.claimed]

    def lowered(self, found: Iterable[MissingLines]) -> Coverage:
        """Return the coverage with more lines known to be missing.

        An omission is kept once for each replica, as it was first found. If it is found again without a place, the
        places of the replica's missing lines count as unknown. If it is found again and states from which offset of an
        epoch the writer of records is unknown (``undated_from``), it is kept too, unless a lower one is known.
        """
        counted = self.counted(found)
        if not counted:
            return self
        missing = {replica: list(known) for replica, known in self.known_missing.items()}
        for one in counted:
            _add(missing.setdefault(one.replica, []), one)
        ordered = {replica: tuple(known) for replica, known in sorted(missing.items())}
        return replace(self, known_missing=ordered)

    def with_places(self, replica: int, places: Iterable[Place]) -> Coverage:
        """Return the coverage with more places at which lines of a replica are missing; none of a claimed replica."""
        if replica in self.claimed or not (more := [*places]):
            return self
        of_replica = dict(self.places.get(replica, {}))
        for one in more:
            of_replica[one.epoch, one.run] = (*of_replica.get((one.epoch, one.run), ()), one)
        return replace(self, places={**self.places, replica: of_replica})

    def without_claim(self, replicas: Iterable[int]) -> Coverage:
        """Return the coverage with replicas that only a trace without the claim describes."""
        unclaimed = frozenset(replicas)
        return replace(self, unclaimed=unclaimed) if unclaimed != self.unclaimed else self

    def with_doubts(self, found: Iterable[Doubtful]) -> Coverage:
        """Return the coverage with these doubts."""
        doubts = frozenset(found)
        return replace(self, doubts=doubts) if doubts != self.doubts else self

    def with_elections(self, elections: bool) -> Coverage:
        """Return the coverage with whether lines of the controllers that elect the leaders are in the evidence."""
        return replace(self, elections=elections) if elections != self.elections else self

    def with_unnamed(self, epochs: Iterable[int]) -> Coverage:
        """Return the coverage with leader epochs that must have existed although no line names them."""
        unnamed = frozenset(epochs)
        return replace(self, unnamed=unnamed) if unnamed != self.unnamed else self


def _add(known: list[MissingLines], one: MissingLines) -> None:
    """Add missing lines to those that are known of a replica, the first of an omission for all of it."""
    alike = [at for at, other in enumerate(known) if other.shown_by == one.shown_by]
    if not alike or not any(_says_as_much(known[at], one) for at in alike):
        known.append(one)
    elif not one.placed:
        known[alike[0]] = replace(known[alike[0]], placed=False)


def _says_as_much(known: MissingLines, one: MissingLines) -> bool:
    """Return whether lines known to be missing leave the writers of as many records unknown as others of their kind."""
    if one.undated_from is None:
        return True
    return known.epoch == one.epoch and known.undated_from is not None and known.undated_from <= one.undated_from
