"""Replay of one partition: from the tenures of its replicas to epochs, cuts and committed bounds.

Epochs are taken in rising order, because an epoch's records are those of its leader's log, and that log was shaped by
lower epochs alone. Clocks of different brokers are never compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from forensics.replay import epochs as leadership
from forensics.replay.backwards import served_again, written_before
from forensics.replay.bearing import (
    agreed,
    as_it_was,
    borne_out,
    cut_untold,
    next_start,
)
from forensics.replay.copies import copies
from forensics.replay.directory import Damage, Disk, Ref
from forensics.replay.elections import isr_changed_untold, outlived, states
from forensics.replay.events import Event
from forensics.replay.gaps import forget_printed, forget_start, late, linked, regrown, untold
from forensics.replay.history import CHECKPOINT, BrokerFacts, Cut, Epoch, Fork, History, Replica, Role, TruncationReason
from forensics.replay.journal import gaps_in
from forensics.replay.leading import NO_DISK, NO_FACTS
from forensics.replay.leftovers import left_statements
from forensics.replay.lineage import UNKNOWN, Lineage, differences
from forensics.replay.put_back import put_back
from forensics.replay.settling import Settling
from forensics.replay.stating import Stating
from forensics.replay.steps import (
    REMOVES,
    Pending,
    Sample,
    Step,
    StepKind,
    Tenure,
    came_back,
    lines_missing,
    made_first,
    replaced,
)
from forensics.replay.tenures import Reader
from forensics.replay.unheard import unbegun, uncovered
from forensics.replay.writers import unwritten
from parsers.formats.metadata_log import NAME as METADATA_LOG
from parsers.formats.metadata_log import SNAPSHOT
from parsers.schema import Kind


def fold(
    history: History,
    events: Mapping[int, Sequence[Event]],
    cluster_events: Sequence[Event],
    disks: Mapping[int, Disk],
    forks: Sequence[Fork],
    facts: Mapping[int, BrokerFacts],
) -> History:
    """Fill a history.

    Args:
        history: names the partition; filled in place and returned.
        events: each broker's own events about its replica, in its order.
        cluster_events: what controllers and metadata say about leaders, epochs and ISRs.
        disks: each broker's files.
        forks: differences between segments, by pairs of brokers.
        facts: protocol of each broker.
    """
    history.forks = list(forks)
    history.tenures, history.disks = _read(history, events, disks, facts), disks
    if any(facts.get(broker, NO_FACTS).hw_protocol for broker in history.replicas):
        history.protocol = "hw"
    history.protocol_told = not facts or any(fact.told for fact in facts.values())
    history.kraft = any(fact.kraft for fact in facts.values())
    history.eligible = any(fact.eligible for fact in facts.values())
    history.joins_early = any(fact.joins_early for fact in facts.values())
    history.lets_in_early = any(fact.lets_in_early for fact in facts.values())
    # In its log a KRaft controller tells how a partition was made and what was unclean, of other elections nothing.
    made = Kind.PARTITION_CREATED if history.kraft else None
    history.elections_told = any(
        event.kind in leadership.ELECTS and (event.kind != made or event.message in (METADATA_LOG, SNAPSHOT))
        for event in cluster_events
    )
    _collect(history, events, cluster_events, facts)
    for broker in history.gaps:
        # What a broker says counts; what follows from its silence does not.
        history.replicas[broker].server_log = history.replicas[broker].state_log = False
    facts = {b: replace(f, server_log=False, state_log=False) if b in history.gaps else f for b, f in facts.items()}
    history.backwards = [*served_again(history.tenures), *history.backwards]
    history.states = states([*cluster_events, *itertools.chain.from_iterable(events.values())])
    for epoch in history.epochs.values():
        if epoch.leader is not None and not epoch.unclean and isr_changed_untold(history, epoch):
            forget_start(history.tenures.get(epoch.leader, ()), epoch.epoch)  # it may have followed another before
    for step in (step for tenure in outlived(history, history.tenures) for step in tenure.steps[:1]):
        step.end = None
    history.copies = copies(events, disks, history.replicas)
    _Fold(history, history.tenures, disks, facts).run()
    history.backwards += written_before(history)
    return history


def _read(
    history: History,
    events: Mapping[int, Sequence[Event]],
    disks: Mapping[int, Disk],
    facts: Mapping[int, BrokerFacts],
) -> dict[int, list[Tenure]]:
    """Each replica's tenures as its own lines tell them; the replicas are put into the history."""
    tenures: dict[int, list[Tenure]] = {}
    for broker in sorted({*events, *disks}):
        fact = facts.get(broker, NO_FACTS)
        reader = Reader(broker, fact)
        own = events.get(broker, ())
        gaps = gaps_in(broker, own, fact)
        tenures[broker] = reader.read(own, {gap.row for gap in gaps})
        if gaps:
            history.gaps[broker] = Damage(gaps[0].why, Ref(row=gaps[0].row, note=gaps[0].why))
        else:
            history.regressions += reader.regressions
            history.overtaken += reader.overtaken
        disk = disks.get(broker, NO_DISK)
        history.replicas[broker] = Replica(
            broker,
            end=disk.end,
            log_start=disk.log_start,
            checkpoint=disk.checkpoint,
            on_disk=disk.end is not None,
            has_logs=bool(own),
            server_log=bool(own) and fact.server_log,
            state_log=fact.state_log and any(tenure.epoch >= 0 for tenure in tenures[broker]),
            first_time=reader.first_time,
            last_time=own[-1].time if own else None,
            directory=disk.directory,
            starts_empty=reader.starts_empty,
            magic=disk.magic,
            end_refs=(disk.end_ref,) if disk.end_ref is not None else (),
        )
    return tenures


def _collect(
    history: History,
    events: Mapping[int, Sequence[Event]],
    cluster_events: Sequence[Event],
    facts: Mapping[int, BrokerFacts],
) -> None:
    """The epochs, and the replicas whose lines leave out some of them."""
    tenures, disks = history.tenures, history.disks
    told = {broker for broker, replica in history.replicas.items() if replica.state_log} - {*history.gaps}
    history.epochs = leadership.collect(tenures, cluster_events, disks, told)
    ends = {broker: disk.end for broker, disk in disks.items() if disk.end is not None}
    missed = untold({b: tenures[b] for b in told}, history.epochs, facts, linked(events), ends, history.removed)
    missed = {**late(tenures, told, history.epochs), **missed}
    if not history.backwards and not served_again(tenures):
        missed = {**regrown(tenures, told), **missed}
    for broker, (number, why) in missed.items():
        last = [tenure for tenure in tenures[broker] if tenure.epoch <= number][-1]
        last.steps.append(lines_missing(last.last_time, last.refs[-1]))
        history.gaps[broker] = Damage(why, last.refs[-1])
        forget_printed(tenures[broker])
    if missed:
        told -= {*missed}
        history.epochs = leadership.collect(tenures, cluster_events, disks, told)
    skips = history.kraft and not history.gaps
    named = {broker for epoch in history.epochs.values() for isr, _ in epoch.isr for broker in isr}
    history.epochs = leadership.unnamed(
        history.epochs, tenures, heard=named <= told, skips=skips, removed=history.removed
    )
    history.regressions = [r for r in history.regressions if r.replica not in missed]


class _Fold(Stating):
    """The fold itself; holds each replica's log as it stands while epochs pass."""

    def __init__(
        self,
        history: History,
        tenures: Mapping[int, list[Tenure]],
        disks: Mapping[int, Disk],
        facts: Mapping[int, BrokerFacts],
    ) -> None:
        super().__init__(history, tenures, disks, facts)
        self.logs = {broker: self._seed(broker) for broker in history.replicas}
        self.pending: list[Pending] = []

    def run(self) -> None:
        """Walk the epochs in rising order."""
        by_epoch: dict[int, list[tuple[int, Tenure]]] = {}
        for broker in sorted(self.tenures):
            for tenure in self.tenures[broker]:
                by_epoch.setdefault(tenure.epoch, []).append((broker, tenure))
        for broker, tenure in by_epoch.get(-1, ()):
            self._tenure(broker, tenure, None)
        for number in sorted(self.history.epochs):
            epoch = self.history.epochs[number]
            here = by_epoch.get(number, [])
            leading = [t for broker, t in here if broker == epoch.leader and t.role is Role.LEADER]
            if epoch.leader is not None and epoch.leader >= 0:
                self.begin(epoch, epoch.leader, leading[0] if leading else None)
            for broker, tenure in sorted(here, key=lambda item: item[0] != epoch.leader):
                self._tenure(broker, tenure, epoch)
        self._ends()
        self.history.statements = [
            borne_out(self.history, self._follow_on(statement)) for statement in self.history.statements
        ]
        self.history.statements += left_statements(self.history)
        Settling(self.history, self._told).settle(self.pending)
        self.history.regressions += put_back(self.history)

    def _seed(self, broker: int) -> Lineage:
        """The log when the evidence begins: what the files still show of it, as far as nothing cut it since."""
        if self.history.replicas[broker].starts_empty:
            return Lineage()
        spans = self.tenures.get(broker, [])
        disk = self.disks.get(broker, NO_DISK)
        known = disk.lineage
        if known.entries and disk.end is not None and disk.end > known.entries[-1][1]:
            known = known.begin(UNKNOWN, disk.end)  # a copy may be older than what others tell
        first_epoch = next((t.epoch for t in spans if t.epoch >= 0), None)
        if first_epoch is not None:
            known = Lineage(tuple(entry for entry in known.entries if entry[0] < first_epoch))
        first_end = next((t.start_end for t in spans if t.start_end is not None), None)
        steps = [step for tenure in spans for step in tenure.steps]
        cuts = [
            s.target for s in steps if s.kind in REMOVES or (s.kind is StepKind.LOADED and s.target < (first_end or 0))
        ]
        if cuts and disk.end is not None:
            lowest = min(cuts)
            known = known.cut(lowest)
            if first_end is None or first_end > lowest:
                known = known.begin(UNKNOWN, lowest)
        return known if known.entries else Lineage().begin(UNKNOWN, 0)

    # -- each replica -----------------------------------------------------------------------------------------------

    def _tenure(self, broker: int, tenure: Tenure, epoch: Epoch | None) -> None:
        left = self.logs[broker]
        if tenure.start_end is not None:
            self.logs[broker] = self.logs[broker].cut(tenure.start_end)
        self.logs[broker] = self._found(broker, tenure)
        self._ahead(broker, tenure)
        tenure.log_before = self.logs[broker]
        self._stated_at_start(broker, tenure)
        leads = epoch is not None and tenure.role is Role.LEADER
        if epoch is not None and leads and epoch.leader == broker:
            self.logs[broker] = epoch.lineage
        elif leads:
            # Another leader of the same epoch: the rule of that name reports it; its records are nobody else's.
            start = tenure.start_end if tenure.start_end is not None else tenure.start_low
            self.logs[broker] = self.logs[broker].cut(start).begin(UNKNOWN, start)
        loads = [step for step in tenure.steps if step.kind is StepKind.LOADED]
        self._apply(broker, tenure, epoch, [step for step in tenure.steps if step.kind is not StepKind.LOADED], left)
        if epoch is not None and tenure.role is Role.FOLLOWER and epoch.leader != broker:
            self._fetched(broker, tenure, epoch)
        tenure.log = self.logs[broker]
        self._stated(broker, tenure, epoch)
        # A load is the next process reading what this tenure left.
        self._apply(broker, tenure, epoch, loads)
        self.previous[broker] = tenure

    def _ahead(self, broker: int, tenure: Tenure) -> None:
        """What a follower fetched in epochs of its leader that it was never told of is not of the one it was told."""
        before = self.previous.get(broker)
        if before is None or before.leader is None or not self._fetches_ahead(broker, before.leader):
            return
        for number, epoch in self.history.epochs.items():
            # Who is dead is taken out of the ISR in an epoch of its own (KafkaController.onReplicasBecomeOffline); who
            # asks for its own shutdown lives on and fetches while it is.
            left_out = epoch.isr_elected and broker not in (epoch.first_isr or ())
            if tenure.run > before.run and left_out and before.shut_down is None:
                continue
            if before.epoch < number < tenure.epoch and epoch.leader == before.leader and epoch.served:
                start = epoch.start if epoch.start is not None else epoch.start_low
                if not any(entry[0] == number for entry in self.logs[broker].entries):
                    self.logs[broker] = self.logs[broker].cut(start).begin(UNKNOWN, start)
                return

    def _fetched(self, broker: int, tenure: Tenure, epoch: Epoch) -> None:
        """A follower's records from where it began to fetch on are its leader's."""
        removed = [step for step in tenure.steps if step.kind in REMOVES]
        if removed and removed[-1].kind is StepKind.LINES_MISSING:
            return
        if removed:
            at: int | None = removed[-1].target
        elif tenure.start_end is not None:
            at = tenure.start_end
        elif self.history.protocol == "hw":
            at = epoch.start
        else:
            # Reconciled by leader epoch before it fetched, its log is a prefix of its leader's; and if it never
            # reached its leader, what it is known to hold is still its own.
            at = tenure.start_low
        log = self.logs[broker]
        if not removed and self.history.protocol != "hw" and not self._reconciled(broker, tenure, epoch):
            # It may have gone before it was reconciled: what it is found with later need not be its leader's.
            end = tenure.start_end if tenure.start_end is not None else tenure.start_low
            log = log.cut(end).begin(UNKNOWN, end)
        elif epoch.lineage.entries and at is not None:
            grew = not removed and self._grew(broker, tenure)
            on = self._answered_from(broker, tenure, epoch)
            if on is not None and on < at:
                differ, unknown = differences(log, epoch.lineage, 0, on)
                if not differ and not unknown:
                    log = log.splice(epoch.lineage, on)  # what its leader wrote in between it has already
                elif not differ:
                    log = log.cut(on).begin(UNKNOWN, on)
            elif on is None and (begun := self._begun_before(broker, epoch, at)) is not None:
                log = log.cut(begun).begin(UNKNOWN, begun)
            fenced = all(self.facts.get(one, NO_FACTS).fenced for one in (broker, tenure.leader) if one is not None)
            untold = cut_untold(self.history, tenure, log, epoch.lineage, fenced=fenced) if grew else None
            if untold is not None and epoch.lineage.epoch_at(untold) < log.epoch_at(untold):
                # Or its leader had followed it, and of that the leader's lines are missing.
                epoch.lineage = epoch.lineage.without([(untold, epoch.start or untold)])
                self.logs[tenure.leader if tenure.leader is not None else broker] = epoch.lineage
            if at > 0 and (untold is not None or not self.facts.get(broker, NO_FACTS).server_log):
                log = agreed(log, epoch.lineage, at)  # what it was cut to is not told
            log = log.splice(epoch.lineage, at) if at > 0 else epoch.lineage
        elif at is not None:
            log = log.cut(at).begin(UNKNOWN, at)  # of a leader that nothing names
        for number, start, _ in tenure.entries:
            log = log.cut(start).begin(number, start)
        self.logs[broker] = log

    def _begun_before(self, broker: int, epoch: Epoch, at: int) -> int | None:
        """Where an epoch began below the end with which a follower of the same leader was told of it, where lines of
        that leader are missing: the records between may be of it, or of the one before.
        """
        before = self.previous.get(broker)
        begun = next((start for number, start in epoch.lineage.entries if number == epoch.epoch), at)
        if before is None or before.leader is None or before.leader != epoch.leader or begun >= at:
            return None
        heard = before.leader in self.history.replicas and self._told(before.leader)
        if self.history.protocol == "hw" or heard:
            return None
        return begun if self._fetches_ahead(broker, before.leader) else None

    def _answered_from(self, broker: int, tenure: Tenure, epoch: Epoch) -> int | None:
        """Where the epoch began that followed on the one in which a follower had the same leader, if that went on in
        one process: a fetch that waits at the leader is answered in its next epoch before the follower is told of that.
        """
        before = self.previous.get(broker)
        if before is None or before.role is not Role.FOLLOWER or before.run != tenure.run or before.steps:
            return None
        epochs = [e for n, e in sorted(self.history.epochs.items()) if before.epoch <= n <= epoch.epoch]
        if len(epochs) < 2 or epoch.leader is None or any(e.leader != epoch.leader for e in epochs):
            return None
        led = [t for t in self.tenures.get(epoch.leader, ()) if before.epoch <= t.epoch <= epoch.epoch]
        steps = [step for t in led for step in t.steps if step.kind is not StepKind.LINES_MISSING]
        if steps or any(t.run != led[0].run or t.role is not Role.LEADER for t in led):
            return None
        own = before.start_end is not None and epochs[1].start is not None and before.start_end > epochs[1].start
        return None if own else epochs[1].start

    def _reconciled(self, broker: int, tenure: Tenure, epoch: Epoch) -> bool:
        """Whether a follower fetched from its leader, and so was reconciled with it by leader epoch before: it says so,
        its log grew, or its leader took it into the ISR.
        """
        sets = [isr for isr, _ in epoch.isr] if epoch.isr_own else []
        return self._grew(broker, tenure) or (any(broker in isr for isr in sets) and broker not in sets[0])

    def _grew(self, broker: int, tenure: Tenure) -> bool:
        """Whether a follower's lines or its log say that it fetched."""
        if tenure.fetched or tenure.start_end is None:
            return tenure.fetched
        spans = self.tenures[broker]
        position = next(number for number, one in enumerate(spans) if one is tenure)
        later = spans[position + 1].start_end if position + 1 < len(spans) else self.disks.get(broker, NO_DISK).end
        ends = [tenure.end_low, later or 0, *(step.end or step.end_low for step in tenure.steps)]
        ends += [step.target for step in tenure.steps if step.kind is StepKind.LOADED]
        return max(ends) > tenure.start_end

    def _apply(
        self, broker: int, tenure: Tenure, epoch: Epoch | None, steps: Sequence[Step], left: Lineage | None = None
    ) -> None:
        """Shorten the replica's log as its steps say, keeping what each removed.

        Args:
            left: the log that the tenure before left, which a new one took the place of before anything else was told.
        """
        log = self.logs[broker]
        for step in steps:
            if step.kind is StepKind.TRUNCATED:
                leader = tenure.leader if tenure.leader is not None else (epoch.leader if epoch else None)
                end = step.end if step.end is not None else step.end_low
                fenced = self.facts.get(broker, NO_FACTS).fenced and step.reason is not TruncationReason.HIGH_WATERMARK
                if epoch is not None and fenced and self.history.gaps:  # else what is told counts
                    log = as_it_was(log, epoch.lineage, step.target, end)
                cut = Cut(
                    replica=broker,
                    epoch=tenure.epoch,
                    leader=leader,
                    target=step.target,
                    end=end,
                    end_exact=step.end is not None,
                    lineage=log,
                    reason=step.reason or TruncationReason.UNKNOWN,
                    time=step.time,
                    refs=step.refs,
                    repeats=step.repeats,
                    last=step.last,
                )
                self.pending.append(Pending(cut, None, step.refs[0].row))
                log = log.cut(step.target)
            elif step.kind in (StepKind.LOADED, StepKind.RECOVERY_TRUNCATED, StepKind.CREATED):
                before = self.previous.get(broker)
                if left is not None and before is not None and made_first(tenure) is step:
                    shrunk, row = came_back(step, broker, before.epoch, left), tenure.refs[0].row
                else:
                    shrunk, row = came_back(step, broker, tenure.epoch, log), step.refs[0].row
                self.pending.append(Pending(None, shrunk, row))
                log = Lineage().begin(UNKNOWN, 0) if replaced(step) else log.cut(step.target)
            elif step.kind is StepKind.TRUNCATED_FULLY:
                # Of what is in remote storage it takes its leader's epochs over.
                over = (
                    epoch.lineage if epoch is not None and step.reason is TruncationReason.REMOTE_LOG_END else Lineage()
                )
                log = over if over.entries else Lineage().begin(UNKNOWN, step.target)
            elif step.kind is StepKind.LINES_MISSING:
                log = Lineage().begin(UNKNOWN, 0)
            elif step.kind is StepKind.DELETED:
                log = Lineage()
        self.logs[broker] = log

    # -- the end ----------------------------------------------------------------------------------------------------

    def _ends(self) -> None:
        history = self.history
        for broker, replica in history.replicas.items():
            disk = self.disks.get(broker, NO_DISK)
            known = self.logs[broker] if self._told(broker) else Lineage().begin(UNKNOWN, 0)
            replica.lineage = disk.lineage if disk.lineage.entries else known
        history.uncovered = {**uncovered(history, self.logs), **unwritten(history)}
        history.unbegun = unbegun(history)
        for broker, replica in history.replicas.items():
            disk = self.disks.get(broker, NO_DISK)
            if disk.checkpoint is None or disk.checkpoint[0] <= 0:
                continue
            hw, ref = disk.checkpoint
            last = self.tenures[broker][-1] if self.tenures.get(broker) else None
            if last is not None and max(s.value for s in (last.start_hw, last.hw, Sample(0, ref, None)) if s) >= hw:
                continue  # nothing new
            epoch = history.epochs.get(last.epoch) if last is not None and last.epoch >= 0 else None
            if broker in history.uncovered:
                epoch = None  # reached after its lines end: in which epoch is not known
                if not disk.lineage.entries:
                    continue
            own = replica.lineage
            if disk.lineage.entries and disk.end is not None and hw > disk.end:
                own = own.begin(UNKNOWN, disk.end)  # of what its files lack nothing tells the epoch
            after = next_start(history, broker, epoch.epoch, hw) if epoch is not None else None
            if after is not None:
                # Its files do not say whether it served on after its lines end.
                epoch, own = None, self.logs[broker].cut(after).begin(UNKNOWN, after)
            if broker in history.uncovered:
                # As a follower it takes over its leader's high watermark, which says nothing of what it holds alone.
                parts = [f.ranges[0][0] for f in history.forks if broker in (f.left, f.right)]
                own = own.cut(min(parts)).begin(UNKNOWN, min(parts)) if parts else own
            self._state(broker, epoch, Sample(hw, ref, None), CHECKPOINT, own=own)
