"""Replay of one partition: from each replica's lines to epochs, truncations and committed bounds.

Epochs are processed in rising order. The records of an epoch are those in its leader's log, and only lower epochs
shaped that log. Clocks of different brokers are never compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from forensics.replay.coverage import Coverage, MissingLines, Place, Printed, Span
from forensics.replay.facts.copy_completeness import copies
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.events import Event, has_server_log
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.facts.stale_dirs import left_statements
from forensics.replay.high_watermarks.candidates import attributed, next_start
from forensics.replay.high_watermarks.crosscheck import (
    agreed,
    as_it_was,
    as_noted,
    confirmed,
    not_truncated,
)
from forensics.replay.high_watermarks.group_reads import read_by_groups
from forensics.replay.high_watermarks.hw_attribution import HwAttribution
from forensics.replay.high_watermarks.restored_checkpoints import restored_checkpoints
from forensics.replay.high_watermarks.scraped import scraped_high_watermarks
from forensics.replay.history import (
    BrokerFacts,
    EpochRollback,
    History,
    HwSource,
    RegressionKind,
    Replica,
    Role,
    TruncatesTo,
    Truncation,
    TruncationReason,
)
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership import epochs as leadership
from forensics.replay.leadership.doubts import doubts
from forensics.replay.leadership.elections import isr_changed_without_lines, isr_commits, outlived, states
from forensics.replay.leadership.epoch_rollback import served_again, written_before
from forensics.replay.leadership.epoch_start import NO_DISK, NO_FACTS, fences, truncates_to_hw
from forensics.replay.lineage import Lineage, differences
from forensics.replay.omissions.files import (
    NOT_CLAIMED,
    NOT_READ,
    begin_late,
    end_early,
    end_early_by_records,
    not_claimed,
)
from forensics.replay.omissions.own_lines import gaps_in
from forensics.replay.omissions.partition_epochs import isr_changes_not_stated
from forensics.replay.omissions.passed_over import passed_over
from forensics.replay.omissions.role_epochs import (
    ROLES_BEGIN_LATE,
    Roles,
    linked,
    missed_epochs,
    only_elected,
)
from forensics.replay.omissions.unknown_writers import unknown_writers
from forensics.replay.protocol import Answer, some
from forensics.replay.roles.log_ends import reached_end
from forensics.replay.roles.role_spans import Reader
from forensics.replay.roles.steps import (
    REMOVES,
    RoleSpan,
    Sample,
    Step,
    StepKind,
    UnresolvedRemoval,
    came_back,
    clear_end_before_first_step,
    clear_start_from_load,
    clear_starts_from_earlier_roles,
    made_first,
    replaced,
)
from forensics.replay.truncations.truncation_bounds import TruncationBounds
from parsers.formats.metadata_log import NAME as METADATA_LOG
from parsers.formats.metadata_log import SNAPSHOT
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind


def reconstruct(
    facts: PartitionFacts,
    events: Mapping[int, Sequence[Event]],
    cluster_events: Sequence[Event],
    brokers: Mapping[int, BrokerFacts],
    stated_twice: Iterable[EpochRollback] = (),
    left_out: Iterable[MissingLines] = (),
) -> History:
    """Replay one partition.

    If lines contradict files or each other, and missing lines would explain that, replay lowers the coverage of those
    replicas and starts again. So conclusions from absent lines always use the final coverage, whatever the order in
    which contradictions are found. Each pass either lowers the coverage or is the last, so this ends.

    Args:
        facts: what the evidence states of it.
        events: each broker's own events about its replica, in its order.
        cluster_events: statements of controllers and metadata about leaders, epochs and ISRs.
        brokers: protocol of each broker.
        stated_twice: partition states that were given out twice.
        left_out: lines that are known to be missing before anything is replayed.
    """
    contradictions, twice = list(left_out), list(stated_twice)
    while True:
        history = History(facts, epoch_rollbacks=[*twice])
        found = _Pass(history, events, cluster_events, brokers).run(contradictions)
        known = {(one.replica, one.shown_by) for one in contradictions}
        new = [one for one in history.coverage.counted(found) if (one.replica, one.shown_by) not in known]
        if not new:
            return history
        contradictions += new


@dataclass(slots=True)
class _Pass:
    """One replay of a partition with the coverage that is known so far.

    Attributes:
        history: the result, filled by ``run``.
        events: each broker's own events about its replica, in its order.
        cluster_events: statements of controllers and metadata about leaders, epochs and ISRs.
        facts: protocol of each broker.
    """

    history: History
    events: Mapping[int, Sequence[Event]]
    cluster_events: Sequence[Event]
    facts: Mapping[int, BrokerFacts]

    def run(self, contradictions: Sequence[MissingLines]) -> list[MissingLines]:
        """Fill the history.

        Args:
            contradictions: missing lines that earlier passes found.

        Returns:
            Missing lines that explain the contradictions of this pass.
        """
        history, events, facts = self.history, self.events, self.facts
        readers = self._read()
        self._set_protocol()
        history.coverage = history.coverage.lowered(one for one in contradictions if one.span is Span.WITHIN)
        self._collect_epochs()
        history.epoch_rollbacks = [*served_again(history.role_spans), *history.epoch_rollbacks]
        history.states = states([*self.cluster_events, *itertools.chain.from_iterable(events.values())])
        history.isr_commits = isr_commits(itertools.chain.from_iterable(events.values()))
        history.coverage = history.coverage.lowered(
            [
                *unknown_writers(history),
                *end_early(history),
                *contradictions,
                *begin_late(history),
                *isr_changes_not_stated(history),
            ]
        )
        self._take_regressions(readers)
        history.coverage = history.coverage.with_doubts(doubts(history))
        for epoch in history.epochs.values():
            if epoch.leader is not None and not epoch.unclean and isr_changed_without_lines(history, epoch):
                # It may have followed another before.
                clear_start_from_load(history.role_spans.get(epoch.leader, ()), epoch.epoch)
        clear_end_before_first_step(outlived(history, history.role_spans))
        history.copies = copies(events, history.facts.disks, history.coverage)
        found = _Reconstruction(history, history.role_spans, history.facts.disks, facts).run()
        history.epoch_rollbacks += written_before(history)
        return found

    def _take_regressions(self, readers: Mapping[int, Reader]) -> None:
        """Take over what each broker's own lines show to have gone back.

        Without all its lines, a value that fell may be of another process or role, or its lines in another order. Of a
        trace that claims nothing it is not known where it lacks lines.
        """
        history = self.history
        for broker, reader in readers.items():
            if history.coverage.whole(broker) and broker not in history.coverage.unclaimed:
                history.regressions += reader.regressions
                history.members_behind += reader.members_behind
            else:
                # One line that states both values is in order by itself.
                history.regressions_in_doubt += [
                    one for one in reader.regressions if one.kind is RegressionKind.LEADER and len(one.refs) == 1
                ]

    def _read(self) -> dict[int, Reader]:
        """Read each replica's role spans from its own lines into the history; return the readers, by broker."""
        history, about, missing = self.history, dict[int, frozenset[Printed]](), list[MissingLines]()
        readers: dict[int, Reader] = {}
        for broker in sorted({*self.events, *history.facts.disks}):
            fact = self.facts.get(broker, NO_FACTS)
            reader = readers[broker] = Reader(broker, fact)
            own = self.events.get(broker, ())
            claimed = fact.lines.claimed
            gaps = [] if claimed else gaps_in(broker, own, fact)
            history.role_spans[broker] = reader.read(own, {gap.row for gap in gaps})
            missing += [*(gap.of(broker) for gap in gaps[:1]), *not_claimed(broker, own, fact.lines)]
            spans = history.role_spans[broker]
            roles = reader.roles_stated and any(role_span.epoch >= 0 for role_span in spans)
            there = ((Printed.LOG, has_server_log(own)), (Printed.ROLES, roles))
            about[broker] = frozenset(what for what, named in there if named)
            disk = history.facts.disks.get(broker, NO_DISK)
            history.replicas[broker] = Replica(
                broker,
                end=disk.end,
                log_start=disk.log_start,
                checkpoint=disk.checkpoint,
                on_disk=disk.end is not None,
                first_time=reader.first_time,
                last_time=own[-1].time if own else None,
                directory=disk.directory,
                starts_empty=reader.starts_empty,
                magic=disk.magic,
                end_refs=(disk.end_ref,) if disk.end_ref is not None else (),
                stated_end=reader.end if claimed else None,
                changes=reader.changes,
            )
        lines = {broker: self.facts.get(broker, NO_FACTS).lines for broker in readers}
        unclaimed = {one.replica for one in missing if one.shown_by in (NOT_CLAIMED.id, NOT_READ.id)}
        history.coverage = Coverage.of(lines, about).lowered(missing).without_claim(unclaimed)
        for broker, reader in readers.items():
            history.coverage = history.coverage.with_places(broker, reader.places)
        return readers

    def _set_protocol(self) -> None:
        """Set what the brokers' releases and kinds show about the whole partition."""
        history, known = self.history, [fact.protocol for fact in self.facts.values()]
        if any(truncates_to_hw(self.facts, broker) for broker in history.replicas):
            history.protocol = TruncatesTo.HIGH_WATERMARK
        history.protocol_known = not known or any(one.truncates_by_epoch is not Answer.OPEN for one in known)
        history.kraft = any(one.kraft is Answer.YES for one in known)
        history.maybe_kraft = any(one.kraft is not Answer.NO for one in known)
        history.eligible = any(one.elects_from_elr is not Answer.NO for one in known)
        history.joins_below_epoch_start = some(one.joins_below_epoch_start for one in known)
        # A KRaft metadata log shows how a partition was created and which elections were unclean, but no other
        # elections. A trace may state one election and leave out the next.
        made = Kind.PARTITION_CREATED if history.kraft else None
        history.coverage = history.coverage.with_elections(
            not history.facts.requests_unsent
            and any(
                event.kind in leadership.ELECTS
                and event.message != TRACE
                and (event.kind != made or event.message in (METADATA_LOG, SNAPSHOT))
                for event in self.cluster_events
            )
        )

    def _collect_epochs(self) -> None:
        """Collect the leader epochs, and lower the coverage of the replicas whose lines leave out some of theirs."""
        history, disks, role_spans = self.history, self.history.facts.disks, self.history.role_spans
        whose = history.coverage.replicas_with(Printed.ROLES)
        history.epochs = leadership.collect(role_spans, self.cluster_events, disks, whose)
        ends = {broker: disk.end for broker, disk in disks.items() if disk.end is not None}
        spans = {broker: role_spans[broker] for broker in whose}
        known = linked(self.events), ends, history.facts.removed, history.coverage.unclaimed
        roles = Roles(spans, history.epochs, self.facts, *known)
        missed = missed_epochs(roles, rising=not history.epoch_rollbacks and not served_again(role_spans))
        for one in history.coverage.counted(itertools.chain.from_iterable(missed.values())):
            self._add_place(one)
        self._collect_without(first for first, *_ in missed.values())
        self._set_unnamed()
        passed = [*passed_over(history)]
        for one in history.coverage.counted(passed):
            self._add_place(one)
        self._collect_without(passed)
        self._set_unnamed()
        # Lines of a leader of which others are missing too may end before it took up the epoch just as well.
        named = {r: spans for r, spans in role_spans.items() if history.coverage.are_about(r, Printed.ROLES)}
        history.only_elected = only_elected(Roles(named, history.epochs, self.facts, *known))

    def _collect_without(self, missing: Iterable[MissingLines]) -> None:
        """Collect the epochs again, without relying on replicas of which lines are missing."""
        history = self.history
        if counted := history.coverage.counted(missing):
            history.coverage = history.coverage.lowered(counted)
            whose = history.coverage.replicas_with(Printed.ROLES)
            history.epochs = leadership.collect(history.role_spans, self.cluster_events, history.facts.disks, whose)

    def _set_unnamed(self) -> None:
        """Set the leader epochs that must have existed and that no line names."""
        history, whose = self.history, self.history.coverage.replicas_with(Printed.ROLES)
        named = {broker for epoch in history.epochs.values() for isr, _ in epoch.isr for broker in isr}
        # If every change of each replica is stated, no broker led in an epoch that none of them names.
        claimed = named | set(history.replicas) <= history.coverage.claimed
        skips = claimed or (history.kraft and history.members <= whose)
        unnamed = leadership.unnamed(
            history.epochs, history.role_spans, complete=named <= whose, skips=skips, removed=history.facts.removed
        )
        history.coverage = history.coverage.with_unnamed(unnamed)

    def _add_place(self, missing: MissingLines) -> None:
        """Add to the coverage where a replica's lines on an epoch are missing: after those on the role before.

        What became of its log there, and with which end its later roles began, is not known.
        """
        spans = self.history.role_spans[missing.replica]
        assert missing.epoch is not None
        last = [role_span for role_span in spans if role_span.epoch <= missing.epoch][-1]
        if missing.shown_by == ROLES_BEGIN_LATE.id:
            clear_start_from_load(spans, missing.epoch)
        self.history.coverage = self.history.coverage.with_places(missing.replica, [Place(last.epoch, last.run)])
        clear_starts_from_earlier_roles(spans)


class _Reconstruction(HwAttribution):
    """Replay itself: it holds the log of each replica while it passes through the epochs."""

    def __init__(
        self,
        history: History,
        role_spans: Mapping[int, list[RoleSpan]],
        disks: Mapping[int, Disk],
        facts: Mapping[int, BrokerFacts],
    ) -> None:
        super().__init__(history, role_spans, disks, facts)
        self.logs = {broker: self._seed(broker) for broker in history.replicas}
        self.contradictions: list[MissingLines] = []
        self.pending: list[UnresolvedRemoval] = []

    def run(self) -> list[MissingLines]:
        """Pass through the epochs in rising order, and return the missing lines that explain contradictions."""
        by_epoch = self._spans_by_epoch()
        for broker, role_span in by_epoch.get(-1, ()):
            self._replay_role_span(broker, role_span, None)
        for number in self.history.epochs:
            self._replay_epoch(self.history.epochs[number], by_epoch.get(number, []))
        self._finish_replicas()
        statements = [
            attributed(self.history, one, fenced=self._fenced(one.replica)) for one in self.history.statements
        ]
        checked = [confirmed(self.history, one) for one in statements]
        self.history.statements = [statement for statement, _ in checked]
        self.contradictions += [missing for _, missing in checked if missing is not None]
        self.history.statements += left_statements(self.history)
        bounds = TruncationBounds(self.history)
        bounds.settle(self.pending)
        self.history.regressions += restored_checkpoints(self.history, self.facts)
        self.history.read_by_groups = read_by_groups(self.history)
        self.history.scraped = scraped_high_watermarks(self.history)
        return [*self.contradictions, *bounds.contradictions]

    def _spans_by_epoch(self) -> dict[int, list[tuple[int, RoleSpan]]]:
        """Return the role spans with their replicas, by leader epoch; -1 where they have none."""
        found: dict[int, list[tuple[int, RoleSpan]]] = {}
        for broker in sorted(self.role_spans):
            for role_span in self.role_spans[broker]:
                found.setdefault(role_span.epoch, []).append((broker, role_span))
        return found

    def _replay_epoch(self, epoch: Epoch, spans: Sequence[tuple[int, RoleSpan]]) -> None:
        """Pass through one epoch: its leader first, because its log is what the others fetch.

        Args:
            epoch: the epoch.
            spans: role spans of that epoch, with their replicas.
        """
        if epoch.leader is not None and epoch.leader >= 0:
            leading = (t for broker, t in spans if broker == epoch.leader and t.role is Role.LEADER)
            self.begin(epoch, epoch.leader, next(leading, None))
        for broker, role_span in sorted(spans, key=lambda item: item[0] != epoch.leader):
            self._replay_role_span(broker, role_span, epoch)

    def _seed(self, broker: int) -> Lineage:
        """Return the log at the start of the evidence: what the files still show of it, if no truncation removed it
        since.
        """
        if self.history.replicas[broker].starts_empty:
            return Lineage()
        spans = self.role_spans.get(broker, [])
        disk = self.disks.get(broker, NO_DISK)
        known = _on_disk_before(disk, spans)
        first_end = next((t.start_end for t in spans if t.start_end is not None), None)
        lowest = self._lowest_after(broker, first_end)
        if lowest is not None and disk.end is not None:
            known = known.truncated(lowest)
            if first_end is None or first_end > lowest:
                known = known.known_below(lowest)
        return known if known.entries else Lineage.unknown()

    def _lowest_after(self, broker: int, first_end: int | None) -> int | None:
        """Return the lowest offset to which a replica's log was shortened, or None; 0 where lines are missing.

        Args:
            broker: the replica.
            first_end: its first known log end offset, or None. A load with no less than that shortened nothing.
        """
        if not self.history.coverage.has(broker, Printed.LOG):
            return 0
        steps = (step for role_span in self.role_spans.get(broker, ()) for step in role_span.steps)
        shorter = (s.target for s in steps if s.kind in REMOVES or s.target < (first_end or 0))
        return min(shorter, default=None)

    # -- each replica -----------------------------------------------------------------------------------------------

    def _replay_role_span(self, broker: int, role_span: RoleSpan, epoch: Epoch | None) -> None:
        left = self.logs[broker]
        if role_span.start_end is not None:
            self.logs[broker] = self.logs[broker].truncated(role_span.start_end)
        self.logs[broker] = self._found(broker, role_span)
        self._clear_fetched_ahead(broker, role_span)
        role_span.log_before = self.logs[broker]
        self._state_read_back(broker, role_span)
        leads = epoch is not None and role_span.role is Role.LEADER
        if epoch is not None and leads and epoch.leader == broker:
            self.logs[broker] = epoch.lineage
        elif leads:
            # Another leader of the same epoch: the two-leaders-one-epoch rule reports it. No other replica has its
            # records.
            self.logs[broker] = self.logs[broker].known_below(role_span.start_low)
        loads = role_span.loads
        changes = [step for step in role_span.steps if step.kind is not StepKind.LOADED]
        self._apply(broker, role_span, epoch, changes, left)
        if self._misses_lines(role_span, changes[-1].refs[0].row if changes else None, None):
            self.logs[broker] = Lineage.unknown()
        elif epoch is not None and role_span.role is Role.FOLLOWER and epoch.leader != broker:
            self._take_leaders_records(broker, role_span, epoch)
        role_span.log = self.logs[broker]
        self._state_reached(broker, role_span, epoch)
        # A load is the next process reading what this role span left.
        self._apply(broker, role_span, epoch, loads)
        self.previous[broker] = role_span

    def _clear_fetched_ahead(self, broker: int, role_span: RoleSpan) -> None:
        """Clear fetched records of later leader epochs: they are not of the epoch that the follower knew."""
        before = self.previous.get(broker)
        if before is None or before.leader is None or not self._fetches_ahead(broker, before.leader):
            return
        ahead = self._fetched_unseen(broker, before, role_span)
        if ahead is not None and not any(entry[0] == ahead.epoch for entry in self.logs[broker].entries):
            start = ahead.begins.low
            self.logs[broker] = self.logs[broker].known_below(start)
        if (reached := self._leader_reached(broker, before)) is not None and reached < before.end_low:
            self.logs[broker] = self.logs[broker].known_below(reached)  # what follows is of a later epoch

    def _fetched_unseen(self, broker: int, before: RoleSpan, role_span: RoleSpan) -> Epoch | None:
        """Return the first epoch between two roles of a follower in which it fetched without receiving that epoch."""
        died = role_span.run > before.run and before.shut_down is None and not self._outgrew(broker, before)
        for epoch in self.history.epochs.between(before.epoch, role_span.epoch):
            # The controller removes a dead broker from the ISR in an epoch of its own
            # (KafkaController.onReplicasBecomeOffline). A broker that requested its own shutdown still fetches
            # meanwhile.
            if died and epoch.elected_without(broker):
                continue
            if epoch.leader == before.leader and epoch.leader_took_up:
                return epoch
        return None

    def _outgrew(self, broker: int, role_span: RoleSpan) -> bool:
        """Return whether a follower had more records in an epoch than its leader.

        A broker that the controller considers dead may continue to fetch in the next epoch (before KIP-320 no epoch
        fences it). This is only known if both replicas state every change.
        """
        reached = self._leader_reached(broker, role_span)
        return reached is not None and reached < role_span.end_low

    def _leader_reached(self, broker: int, role_span: RoleSpan) -> int | None:
        """Return the log end offset of a follower's leader in their epoch, if both replicas state every change."""
        if broker not in self.history.coverage.claimed:
            return None
        return reached_end(self.history, role_span.leader, role_span.epoch).exact

    def _take_leaders_records(self, broker: int, role_span: RoleSpan, epoch: Epoch) -> None:
        """A follower's records from where it began to fetch on are its leader's."""
        removed = any(step.kind in REMOVES for step in role_span.steps)
        at = self._fetched_from(role_span, epoch)
        log = self.logs[broker]
        if not removed and not self.history.truncates_to_hw and not self._reconciled(broker, role_span, epoch):
            # It may have gone before it was reconciled: what it is found with later need not be its leader's.
            log = log.known_below(role_span.start_low)
        elif epoch.lineage.entries and at is not None:
            grew = not removed and self._grew(broker, role_span) and not self._followed_on(role_span)
            log = self._fetched_on(role_span, epoch, log, at, grew=grew)
        elif at is not None:
            log = log.known_below(at)  # of an unknown leader
        self.logs[broker] = self._with_entries(broker, role_span, log)

    def _fetched_from(self, role_span: RoleSpan, epoch: Epoch) -> int | None:
        """Return the log end offset with which a follower began to fetch, or None."""
        removed = [step for step in role_span.steps if step.kind in REMOVES]
        if removed:
            return removed[-1].target
        if role_span.start_end is not None:
            return role_span.start_end
        # By leader epoch a follower reconciles before it fetches, so its log is a prefix of its leader's. If it never
        # reached its leader, what it is known to hold is still its own.
        return epoch.start if self.history.truncates_to_hw else role_span.start_low

    def _fetched_on(self, role_span: RoleSpan, epoch: Epoch, log: Lineage, at: int, *, grew: bool) -> Lineage:
        """Return a follower's log with what it fetched from a leader whose log is known.

        Args:
            role_span: the follower's role.
            epoch: its epoch.
            log: its log before.
            at: where it began to fetch.
            grew: it had to reconcile with the leader and then fetched, and no line shows that it truncated before.
        """
        broker = role_span.replica
        log = self._answered_before(role_span, epoch, log, at)
        if grew:
            fenced = all(fences(self.facts, one) for one in (broker, role_span.leader) if one is not None)
            self.contradictions += not_truncated(self.history, role_span, log, epoch.lineage, fenced=fenced)
        if at > 0 and not self.history.coverage.has(broker, Printed.LOG):
            log = agreed(log, epoch.lineage, at)  # unknown to which offset it truncated
        return log.splice(epoch.lineage, at) if at > 0 else epoch.lineage

    def _answered_before(self, role_span: RoleSpan, epoch: Epoch, log: Lineage, at: int) -> Lineage:
        """Return a follower's log with what it may have fetched in an epoch before it received that epoch."""
        broker = role_span.replica
        on = self._answered_from(broker, role_span, epoch)
        if on is None:
            begun = self._begun_before(broker, epoch, at)
            return log if begun is None else log.known_below(begun)
        differ, unknown = differences(log, epoch.lineage, 0, on) if on < at else (True, True)
        if differ:
            return log
        # If nothing is unknown, it already has what its leader wrote in between.
        return log.known_below(on) if unknown else log.splice(epoch.lineage, on)

    def _with_entries(self, broker: int, role_span: RoleSpan, log: Lineage) -> Lineage:
        """Return a follower's log with the epochs that it noted itself.

        If lines of it may be missing, it may have noted later epochs too: those of its leader's log. A trace that
        claims to state some kinds of line claims none of these.
        """
        coverage = self.history.coverage
        part = broker in coverage.unclaimed or broker in coverage.claimed_partly
        whole = coverage.has(broker, Printed.LOG) and not part
        for number, start, _ in role_span.entries:
            log = log.begin(number, start) if whole else log.begin_below(number, start)
            if not whole and number > role_span.epoch:
                log = log.known_below(start + 1)  # it fetches ahead, and need not state each epoch
        return log

    def _begun_before(self, broker: int, epoch: Epoch, at: int) -> int | None:
        """Return the start of an epoch that is below the follower's log end offset when it received the epoch.

        The leader is the same as before, and lines of it are missing. So the records in between may be of this epoch or
        of the one before. None if there is no such start.
        """
        before = self.previous.get(broker)
        begun = next((start for number, start in epoch.lineage.entries if number == epoch.epoch), at)
        if before is None or before.leader is None or before.leader != epoch.leader or begun >= at:
            return None
        whole = before.leader in self.history.replicas and self._is_whole(before.leader)
        if self.history.truncates_to_hw or whole:
            return None
        return begun if self._fetches_ahead(broker, before.leader) else None

    def _answered_from(self, broker: int, role_span: RoleSpan, epoch: Epoch) -> int | None:
        """Return the start of the next epoch of the same leader, if the leader and the follower ran without a restart.

        A fetch that waits at the leader is answered in the leader's next epoch, before the follower receives that
        epoch.
        """
        before = self.previous.get(broker)
        if before is None or before.role is not Role.FOLLOWER or before.run != role_span.run or before.steps:
            return None
        epochs = self.history.epochs.between(before.epoch - 1, epoch.epoch + 1)
        if len(epochs) < 2 or epoch.leader is None or any(e.leader != epoch.leader for e in epochs):
            return None
        if self.history.coverage.unnamed_between(before.epoch, epoch.epoch):
            return None  # another may have led in between
        if not self._is_whole(epoch.leader):
            return None  # no line may show its restart
        led = [t for t in self.role_spans.get(epoch.leader, ()) if before.epoch <= t.epoch <= epoch.epoch]
        if any(t.steps for t in led) or any(t.run != led[0].run or t.role is not Role.LEADER for t in led):
            return None
        own = before.start_end is not None and epochs[1].start is not None and before.start_end > epochs[1].start
        return None if own else epochs[1].start

    def _reconciled(self, broker: int, role_span: RoleSpan, epoch: Epoch) -> bool:
        """Return whether a follower fetched from its leader, so that it reconciled with it by leader epoch before.

        Evidence is a line, a log that grew, or that its leader added it to the ISR.
        """
        sets = [isr for isr, _ in epoch.isr] if epoch.isr_from_leader else []
        return self._grew(broker, role_span) or (any(broker in isr for isr in sets) and broker not in sets[0])

    def _followed_on(self, role_span: RoleSpan) -> bool:
        """Return whether the process of a follower had the same leader before, apart from epochs without a leader.

        Up to 2.0.0 it then neither truncates nor restarts its fetcher (KAFKA-7164).
        """
        spans = self.role_spans[role_span.replica]
        at = next(position for position, one in enumerate(spans) if one is role_span)
        before = next((one for one in reversed(spans[:at]) if one.role is not Role.OFFLINE), None)
        if before is None or before.role is not Role.FOLLOWER or before.run != role_span.run:
            return False
        return before.leader is not None and before.leader == role_span.leader

    def _grew(self, broker: int, role_span: RoleSpan) -> bool:
        """Return whether a follower's lines or its log show that it fetched."""
        if role_span.fetched or role_span.start_end is None:
            return role_span.fetched
        _, after = self._neighbours(role_span)
        later = after.start_end if after is not None else self.disks.get(broker, NO_DISK).end
        ends = [role_span.end_low, later or 0, *(step.least_end for step in role_span.steps)]
        ends += [step.target for step in role_span.loads]
        return max(ends) > role_span.start_end

    def _apply(
        self, broker: int, role_span: RoleSpan, epoch: Epoch | None, steps: Sequence[Step], left: Lineage | None = None
    ) -> None:
        """Shorten the replica's log by its steps, and keep what each step removed.

        Args:
            broker: the replica.
            role_span: its role span.
            epoch: leader epoch of the span, or None.
            steps: what happened to the log, in order.
            left: the log at the end of the role span before, if a new log replaced it before any other line.
        """
        log = self.logs[broker]
        since: int | None = None
        for step in steps:
            row = step.refs[0].row
            if step.kind is not StepKind.LOADED and self._misses_lines(role_span, since, row):
                log = Lineage.unknown()
            since = row
            if step.kind is StepKind.TRUNCATED:
                log = self._truncate(role_span, epoch, step, log)
            elif step.kind in (StepKind.LOADED, StepKind.RECOVERY_TRUNCATED, StepKind.CREATED):
                log = self._come_back(role_span, step, log, left)
            elif step.kind is StepKind.TRUNCATED_FULLY:
                log = _restarted(epoch, step)
            elif step.kind is StepKind.DELETED:
                log = Lineage()
        self.logs[broker] = log

    def _truncate(self, role_span: RoleSpan, epoch: Epoch | None, step: Step, log: Lineage) -> Lineage:
        """Keep what a truncation removed from a log, and return what is left."""
        broker = role_span.replica
        leader = role_span.leader if role_span.leader is not None else (epoch.leader if epoch else None)
        fenced = fences(self.facts, broker) and step.reason is not TruncationReason.HIGH_WATERMARK
        if epoch is not None and fenced and not self.history.members_whole:
            log = as_it_was(log, epoch.lineage, step.target, step.known_end)
        log = as_noted(log, step, noting=bool(role_span.entries))
        truncation = Truncation(
            replica=broker,
            epoch=role_span.epoch,
            leader=leader,
            target=step.target,
            before=Interval(step.known_end, step.known_end if step.end is not None else None),
            lineage=log,
            reason=step.reason or TruncationReason.UNKNOWN,
            time=step.time,
            refs=step.refs,
            repeats=step.repeats,
            last=step.last,
            own_hw=step.own_hw,
            answer=step.answer,
        )
        self.pending.append(UnresolvedRemoval(truncation, None, step.refs[0].row))
        return log.truncated(step.target)

    def _come_back(self, role_span: RoleSpan, step: Step, log: Lineage, left: Lineage | None) -> Lineage:
        """Keep a log that a load, a recovery or a new log may have shortened, and return what is left."""
        broker, before = role_span.replica, self.previous.get(role_span.replica)
        if left is not None and before is not None and made_first(role_span) is step:
            shortened, row = came_back(step, broker, before.epoch, left), role_span.refs[0].row
        else:
            shortened, row = came_back(step, broker, role_span.epoch, log), step.refs[0].row
        self.pending.append(UnresolvedRemoval(None, shortened, row))
        return Lineage.unknown() if replaced(step) else log.truncated(step.target)

    def _misses_lines(self, role_span: RoleSpan, since: int | None, until: int | None) -> bool:
        """Return whether lines of a replica are missing in a role, between two rows where they are given."""
        coverage = self.history.coverage
        return not coverage.log_lines_complete(
            role_span.replica, role_span.epoch, role_span.run, since=since, until=until
        )

    # -- the end ----------------------------------------------------------------------------------------------------

    def _finish_replicas(self) -> None:
        """Set what each replica holds at the end, and take its checkpoint as a statement."""
        history = self.history
        for broker, replica in history.replicas.items():
            disk = self.disks.get(broker, NO_DISK)
            known = self.logs[broker] if self._is_whole(broker) else Lineage.unknown()
            replica.lineage = disk.lineage if disk.lineage.entries else known
        self.contradictions += end_early_by_records(history, self.logs)
        ends_early = _ending_early(history)
        for broker, (hw, ref) in self._checkpoints(ends_early).items():
            self._state_checkpoint(broker, self.disks[broker], hw, ref, ends_early=broker in ends_early)

    def _checkpoints(self, ends_early: Container[int]) -> dict[int, tuple[int, Ref]]:
        """Return high watermarks of the replicas' checkpoint files that may be statements, and the files, by broker.

        A file of a replica without lines to the end and without segments adds nothing to what others state. It counts
        only if it states more than each of them, and if lines of any replica's role are there.

        Args:
            ends_early: replicas without lines to the end.
        """
        files = {b: self.disks[b].checkpoint for b in self.history.replicas if b in self.disks}
        given = {b: file for b, file in files.items() if file is not None and file[0] > 0}
        alone = {b for b in given if b in ends_early and not self.disks[b].lineage.entries}
        stated = [one.high_watermark for one in self.history.statements]
        most = max([*stated, *(hw for broker, (hw, _) in given.items() if broker not in alone)], default=0)
        roles = any(self.role_spans.values())
        return {b: file for b, file in given.items() if b not in alone or (roles and file[0] > most)}

    def _state_checkpoint(self, broker: int, disk: Disk, hw: int, ref: Ref, *, ends_early: bool) -> None:
        """State the high watermark of a replica's checkpoint file, if its lines have not stated as much."""
        spans = self.role_spans.get(broker, ())
        last = spans[-1] if spans else None
        if _has_stated(last, hw):
            return
        own = self.history.replicas[broker].lineage
        if disk.lineage.entries and disk.end is not None and hw > disk.end:
            own = own.known_below(disk.end)  # the epoch of records missing in its files is unknown
        epoch = self.history.epochs.get(last.epoch) if last is not None and last.epoch >= 0 else None
        after = next_start(self.history, broker, epoch.epoch, hw) if epoch is not None else None
        if ends_early:
            # It was reached after its lines end, in an unknown epoch. As a follower the replica adopts its leader's
            # high watermark, which does not cover records that it alone holds.
            parts = [f.ranges[0][0] for f in self.history.facts.forks if broker in (f.left, f.right)]
            epoch, own = None, own.known_below(min(parts)) if parts else own
        if after is not None:
            # Its files do not show whether it had a role after its lines end.
            epoch, own = None, (own if ends_early else self.logs[broker]).known_below(after)
        self._state(broker, epoch, Sample(hw, ref, None), HwSource.CHECKPOINT, own=own)


def _has_stated(last: RoleSpan | None, hw: int) -> bool:
    """Return whether the lines of a replica's last role state a high watermark, or a higher one."""
    return last is not None and any(one is not None and one.value >= hw for one in (last.start_hw, last.hw))


def _on_disk_before(disk: Disk, spans: Sequence[RoleSpan]) -> Lineage:
    """Return the part of a replica's files that is of leader epochs before its first role in the evidence."""
    known = disk.lineage
    if known.entries and disk.end is not None and disk.end > known.entries[-1][1]:
        known = known.known_below(disk.end)  # the copy may be older than other brokers' lines
    first_epoch = next((t.epoch for t in spans if t.epoch >= 0), None)
    if first_epoch is None:
        return known
    return Lineage(tuple(entry for entry in known.entries if entry[0] < first_epoch))


def _restarted(epoch: Epoch | None, step: Step) -> Lineage:
    """Return the log that restarts at an offset. For records in remote storage it takes over its leader's epochs."""
    remote = step.reason is TruncationReason.REMOTE_LOG_END
    if epoch is not None and remote and epoch.lineage.entries:
        return epoch.lineage
    return Lineage().known_below(step.target)


def _ending_early(history: History) -> set[int]:
    """Return replicas without lines of either kind to the end.

    With one kind, a checkpoint still is a statement about a log of unknown epochs: without that statement, nothing
    would be known to be unclear.
    """
    coverage = history.coverage
    return {b for b in history.replicas if not any(coverage.has(b, what, Span.AFTER) for what in Printed)}
