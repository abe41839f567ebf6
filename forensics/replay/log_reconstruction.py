"""The log of each replica through the leader epochs, in rising order.

The records of an epoch are those in its leader's log, and only lower epochs shaped that log. Clocks of different
brokers are never compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Sequence

from forensics.replay.broker_facts import fences
from forensics.replay.coverage import MissingLines, Printed, Span
from forensics.replay.facts.compaction import is_compacted
from forensics.replay.facts.directory import NO_DISK, Disk, Ref
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
    History,
    HwSource,
    Role,
    Truncation,
    TruncationReason,
)
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.epoch_start import EpochStart
from forensics.replay.leadership.replica_logs import ReplicaLogs
from forensics.replay.lineage import Lineage, differences
from forensics.replay.omissions.files import (
    end_early_by_records,
)
from forensics.replay.roles.log_ends import reached_end
from forensics.replay.roles.steps import (
    REMOVES,
    LogBefore,
    RoleSpan,
    Sample,
    Step,
    StepKind,
    UnresolvedRemoval,
    came_back,
    made_first,
    replaced,
)
from forensics.replay.truncations.truncation_bounds import TruncationBounds


class LogReconstruction:
    """Replay itself: it passes through the leader epochs and keeps the log of each replica.

    Attributes:
        logs: the log of each replica.
        starts: where each epoch begins.
        attribution: which log each high watermark is about.
        contradictions: missing lines that explain what would contradict itself otherwise.
        pending: what shortened a log, in the order of replay.
    """

    def __init__(self, logs: ReplicaLogs) -> None:
        self.logs = logs
        self.history, self.role_spans, self.disks, self.facts = logs.history, logs.role_spans, logs.disks, logs.facts
        logs.now = {broker: self._seed(broker) for broker in logs.history.replicas}
        self.starts, self.attribution = EpochStart(logs), HwAttribution(logs)
        self.contradictions: list[MissingLines] = []
        self.pending: list[UnresolvedRemoval] = []
        self._members_whole = logs.history.members_whole

    def run(self) -> list[MissingLines]:
        """Pass through the epochs in rising order, and return the missing lines that explain contradictions."""
        by_epoch = self._spans_by_epoch()
        for broker, role_span in by_epoch.get(-1, ()):
            self._replay_role_span(broker, role_span, None)
        for number in self.history.epochs:
            self._replay_epoch(self.history.epochs[number], by_epoch.get(number, []))
        self._finish_replicas()
        statements = [
            attributed(self.history, one, fenced=self.logs.fenced(one.replica)) for one in self.history.statements
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
            self.starts.begin(epoch, epoch.leader, next(leading, None))
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
        left = self.logs.now[broker]
        if role_span.start_end is not None:
            self.logs.now[broker] = self.logs.now[broker].truncated(role_span.start_end)
        self.logs.now[broker] = self.logs.found(broker, role_span)
        self._clear_fetched_ahead(broker, role_span)
        role_span.log_before = self.logs.now[broker]
        self.attribution.state_read_back(broker, role_span)
        leads = epoch is not None and role_span.role is Role.LEADER
        if epoch is not None and leads and epoch.leader == broker:
            self.logs.now[broker] = epoch.lineage
        elif leads:
            # Another leader of the same epoch: the two-leaders-one-epoch rule reports it. No other replica has its
            # records.
            self.logs.now[broker] = self.logs.now[broker].known_below(role_span.start_low)
        loads = role_span.loads
        changes = role_span.changes
        self._apply(broker, role_span, epoch, changes, left)
        if self._misses_lines(role_span, changes[-1].refs[0].row if changes else None, None):
            self.logs.now[broker] = Lineage.unknown()
        elif epoch is not None and role_span.role is Role.FOLLOWER and epoch.leader != broker:
            self._take_leaders_records(broker, role_span, epoch)
        if (target := _may_not_have_truncated(role_span)) is not None:
            self.logs.now[broker] = self.logs.now[broker].known_below(target)
        role_span.log = self.logs.now[broker]
        self.attribution.state_reached(broker, role_span, epoch)
        # A load is the next process reading what this role span left.
        self._apply(broker, role_span, epoch, loads)
        self.logs.previous[broker] = role_span

    def _clear_fetched_ahead(self, broker: int, role_span: RoleSpan) -> None:
        """Clear fetched records of later leader epochs: they are not of the epoch that the follower knew."""
        before = self.logs.previous.get(broker)
        if before is None or before.leader is None or not self.logs.fetches_ahead(broker, before.leader):
            return
        ahead = self._fetched_unseen(broker, before, role_span)
        if ahead is not None and not any(entry[0] == ahead.epoch for entry in self.logs.now[broker].entries):
            start = ahead.begins.low
            self.logs.now[broker] = self.logs.now[broker].known_below(start)
        if (reached := self._leader_reached(broker, before)) is not None and reached < before.end_low:
            self.logs.now[broker] = self.logs.now[broker].known_below(reached)  # what follows is of a later epoch

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
        log = self.logs.now[broker]
        if not removed and not self.history.protocol.truncates_to_hw and not self._reconciled(broker, role_span, epoch):
            # It may have gone before it was reconciled: what it is found with later need not be its leader's.
            log = log.known_below(role_span.start_low)
        elif epoch.lineage.entries and at is not None:
            grew = not removed and self._grew(broker, role_span) and not self._followed_on(role_span)
            log = self._fetched_on(role_span, epoch, log, at, grew=grew)
        elif at is not None:
            log = log.known_below(at)  # of an unknown leader
        self.logs.now[broker] = self._with_entries(broker, role_span, log)

    def _fetched_from(self, role_span: RoleSpan, epoch: Epoch) -> int | None:
        """Return the log end offset with which a follower began to fetch, or None."""
        removed = [step for step in role_span.steps if step.kind in REMOVES]
        if removed:
            return removed[-1].target
        if role_span.start_end is not None:
            return role_span.start_end
        # By leader epoch a follower reconciles before it fetches, so its log is a prefix of its leader's. If it never
        # reached its leader, what it is known to hold is still its own.
        return epoch.start if self.history.protocol.truncates_to_hw else role_span.start_low

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
        claims to state some kinds of line claims none of these. In a compacted log an epoch begins with the first batch
        of it that is left, so its leader's log has records of the epoch below.
        """
        coverage = self.history.coverage
        part = broker in coverage.unclaimed or broker in coverage.claimed_partly
        whole = coverage.has(broker, Printed.LOG) and not part
        for number, start, _ in role_span.entries:
            exact = whole and not is_compacted(self.history.facts)
            log = log.begin(number, start) if exact else log.begin_below(number, start)
            if not whole and number > role_span.epoch:
                log = log.known_below(start + 1)  # it fetches ahead, and need not state each epoch
        return log

    def _begun_before(self, broker: int, epoch: Epoch, at: int) -> int | None:
        """Return the start of an epoch that is below the follower's log end offset when it received the epoch.

        The leader is the same as before, and lines of it are missing. So the records in between may be of this epoch or
        of the one before. None if there is no such start.
        """
        before = self.logs.previous.get(broker)
        begun = next((start for number, start in epoch.lineage.entries if number == epoch.epoch), at)
        if before is None or before.leader is None or before.leader != epoch.leader or begun >= at:
            return None
        whole = before.leader in self.history.replicas and self.logs.is_whole(before.leader)
        if self.history.protocol.truncates_to_hw or whole:
            return None
        return begun if self.logs.fetches_ahead(broker, before.leader) else None

    def _answered_from(self, broker: int, role_span: RoleSpan, epoch: Epoch) -> int | None:
        """Return the start of the next epoch of the same leader, if the leader and the follower ran without a restart.

        A fetch that waits at the leader is answered in the leader's next epoch, before the follower receives that
        epoch.
        """
        before = self.logs.previous.get(broker)
        if before is None or before.role is not Role.FOLLOWER or before.run != role_span.run:
            return None
        if any(step.kind is not StepKind.TRUNCATED for step in before.steps):
            return None
        epochs = self.history.epochs.between(before.epoch - 1, epoch.epoch + 1)
        if len(epochs) < 2 or epoch.leader is None or any(e.leader != epoch.leader for e in epochs):
            return None
        if self.history.coverage.unnamed_between(before.epoch, epoch.epoch):
            return None  # another may have led in between
        if not self._led_on(epoch.leader, before.epoch, epoch.epoch):
            return None
        fetched_from = before.steps[-1].target if before.steps else before.start_end
        own = fetched_from is not None and epochs[1].start is not None and fetched_from > epochs[1].start
        return None if own else epochs[1].start

    def _led_on(self, leader: int, first: int, last: int) -> bool:
        """Return whether one process led from one epoch to another, and no line shows a change of its log."""
        if not self.logs.is_whole(leader):
            return False  # no line may show its restart
        led = [one for one in self.role_spans.get(leader, ()) if first <= one.epoch <= last]
        # A load is behind the last role.
        changes = [step for one in led for step in (one.steps if one is not led[-1] else one.changes)]
        return not changes and all(one.run == led[0].run and one.role is Role.LEADER for one in led)

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
        _, after = self.logs.neighbours(role_span)
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
        log = self.logs.now[broker]
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
        self.logs.now[broker] = log

    def _truncate(self, role_span: RoleSpan, epoch: Epoch | None, step: Step, log: Lineage) -> Lineage:
        """Keep what a truncation removed from a log, and return what is left."""
        broker = role_span.replica
        leader = role_span.leader if role_span.leader is not None else (epoch.leader if epoch else None)
        fenced = fences(self.facts, broker) and step.reason is not TruncationReason.HIGH_WATERMARK
        if epoch is not None and fenced and not self._members_whole:
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
        broker, before = role_span.replica, self.logs.previous.get(role_span.replica)
        if left is not None and before is not None and made_first(role_span) is step:
            shortened, row = came_back(step, broker, before.epoch, left), role_span.refs[0].row
        else:
            shortened, row = came_back(step, broker, role_span.epoch, log), self._first_row_after(role_span, step)
        self.pending.append(UnresolvedRemoval(None, shortened, row))
        return Lineage.unknown() if replaced(step) else log.truncated(step.target)

    def _first_row_after(self, role_span: RoleSpan, step: Step) -> int | None:
        """Return the first row of what follows a load or a new log.

        The line on the role that a new log was made for may come first, as it is in another file.
        """
        _, after = self.logs.neighbours(role_span)
        rows = (step.refs[0].row, after.refs[0].row if after is not None and after.refs else None)
        return min((row for row in rows if row is not None), default=None)

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
            known = self.logs.now[broker] if self.logs.is_whole(broker) else Lineage.unknown()
            replica.lineage = disk.lineage if disk.lineage.entries else known
        self.contradictions += end_early_by_records(history, self.logs.now)
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
            epoch, own = None, (own if ends_early else self.logs.now[broker]).known_below(after)
        self.attribution.state(broker, epoch, Sample(hw, ref, None), HwSource.CHECKPOINT, own=own)


def _may_not_have_truncated(role_span: RoleSpan) -> int | None:
    """Return the target of a truncation that a process perhaps did not carry out before it was killed, or None.

    The line is logged before anything is removed (UnifiedLog.truncateTo). If the next process finds the log with the
    end that it had before, these are the same records, or as many that it fetched in between.
    """
    for one, two in itertools.pairwise(role_span.steps):
        killed = two.kind is StepKind.LOADED and two.before is LogBefore.UNCLEAN_STOP
        if killed and one.kind is StepKind.TRUNCATED and one.target < two.target == one.end:
            return one.target
    return None


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
