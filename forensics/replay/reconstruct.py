"""Replay of one partition: from each replica's lines to epochs, truncations and committed bounds.

Epochs are processed in rising order. The records of an epoch are those in its leader's log, and only lower epochs
shaped that log. Clocks of different brokers are never compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from forensics.replay.broker_facts import NO_FACTS, BrokerFacts
from forensics.replay.coverage import Coverage, MissingLines, Place, Printed, Span
from forensics.replay.facts.copy_completeness import copies
from forensics.replay.facts.directory import NO_DISK
from forensics.replay.facts.events import Event, has_server_log
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import (
    EpochRollback,
    History,
    RegressionKind,
    Replica,
)
from forensics.replay.leadership import epochs as leadership
from forensics.replay.leadership.doubts import doubts
from forensics.replay.leadership.elections import isr_changed_without_lines, isr_commits, outlived, states
from forensics.replay.leadership.epoch_rollback import served_again, written_before
from forensics.replay.leadership.replica_logs import ReplicaLogs
from forensics.replay.log_reconstruction import LogReconstruction
from forensics.replay.omissions.files import (
    NOT_CLAIMED,
    NOT_READ,
    begin_late,
    end_early,
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
from forensics.replay.partition_protocol import PartitionProtocol
from forensics.replay.roles.nameless_roles import truncated_then_led
from forensics.replay.roles.role_spans import Reader
from forensics.replay.roles.steps import (
    clear_end_before_first_step,
    clear_start_from_load,
    clear_starts_from_earlier_roles,
    took_stop_for_unclean,
)
from forensics.replay.signs.line_signs import NO_SIGNS, LineSigns
from parsers.formats.metadata_log import NAME as METADATA_LOG
from parsers.formats.metadata_log import SNAPSHOT
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind


def reconstruct(
    facts: PartitionFacts,
    events: Mapping[int, Sequence[Event]],
    cluster_events: Sequence[Event],
    brokers: Mapping[int, BrokerFacts],
    signs: LineSigns = NO_SIGNS,
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
        signs: what lines show by themselves.
        stated_twice: partition states that were given out twice.
        left_out: lines that are known to be missing before anything is replayed.
    """
    contradictions, twice = list(left_out), list(stated_twice)
    protocol = PartitionProtocol.of(brokers, {*events, *facts.disks})
    while True:
        history = History(facts, protocol, signs, epoch_rollbacks=[*twice])
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
        history.coverage = history.coverage.with_elections(self._stated_elections())
        history.coverage = history.coverage.lowered(one for one in contradictions if one.span is Span.WITHIN)
        self._collect_epochs()
        for epoch in history.epochs.values():
            if epoch.last_known and epoch.leader is not None:
                took_stop_for_unclean(history.role_spans.get(epoch.leader, ()), epoch.epoch)
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
        if history.members <= history.coverage.whole_replicas(Span.WITHIN, Span.AFTER):
            history.epoch_rollbacks = [one for one in history.epoch_rollbacks if not one.of_lines]
        self._take_regressions(readers)
        history.coverage = history.coverage.with_doubts(doubts(history))
        for epoch in history.epochs.values():
            if epoch.leader is not None and not epoch.unclean and isr_changed_without_lines(history, epoch):
                # It may have followed another before.
                clear_start_from_load(history.role_spans.get(epoch.leader, ()), epoch.epoch)
        clear_end_before_first_step(outlived(history, history.role_spans))
        history.copies = copies(events, history.facts.disks, history.coverage)
        found = LogReconstruction(ReplicaLogs(history, history.role_spans, history.facts.disks, facts)).run()
        history.epoch_rollbacks += written_before(history)
        history.truncated_then_led = [] if history.epochs else truncated_then_led(events)
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
                history.members_in_doubt += [*reader.members_behind, *reader.nameless_members_behind]

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

    def _stated_elections(self) -> bool:
        """Return whether the lines state each election, so that one which none of them names did not happen.

        A KRaft metadata log shows how a partition was created and which elections were unclean, but no other
        elections. A trace may state one election and leave out the next.
        """
        made = Kind.PARTITION_CREATED if self.history.protocol.kraft else None
        return not self.history.facts.requests_unsent and any(
            event.kind in leadership.ELECTS
            and event.message != TRACE
            and (event.kind != made or event.message in (METADATA_LOG, SNAPSHOT))
            for event in self.cluster_events
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
        skips = claimed or (history.protocol.kraft and history.members <= whose)
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
