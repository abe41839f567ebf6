"""High watermarks as replicas state them, each with the leader epoch in which it was reached by its replica's lines.

A later epoch may be the right one: ``candidates`` answers that, once every epoch is known.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from forensics.replay.broker_facts import NO_FACTS
from forensics.replay.coverage import Printed
from forensics.replay.facts.directory import NO_DISK
from forensics.replay.history import HwSource, HwStatement, Role
from forensics.replay.inferences import Inferred, joined
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.elections import isr_changed_without_lines
from forensics.replay.leadership.replica_logs import ReplicaLogs
from forensics.replay.leadership.unseen_epochs import unknown_from
from forensics.replay.lineage import UNKNOWN, Lineage, differences
from forensics.replay.protocol import Answer
from forensics.replay.roles.log_ends import left_end
from forensics.replay.roles.scraped_ends import ScrapedEnds
from forensics.replay.roles.steps import RoleSpan, Sample, replaced


def _source(sample: Sample, *, by_leader: bool) -> HwSource:
    """The source of a high watermark that was reached in a role span."""
    if sample.how is not None:
        return sample.how
    return HwSource.PRINTED_BY_LEADER if by_leader else HwSource.PRINTED


def _is_of_earlier(before: RoleSpan, hw: int) -> bool:
    """Return whether a high watermark that a role begins with was not reached in the role before.

    The role before began with at least this value, or it states at least this value itself. Or its log was replaced by
    another one, and the value may be about that of before: the checkpoint is another file, which may be left. If the
    whole directory was replaced, the checkpoint came with it.
    """
    known = [one.value for one in (before.start_hw, before.hw) if one is not None]
    replaced_alone = any(replaced(step) and not step.dir_older for step in before.steps)
    return max(known, default=UNKNOWN) >= hw or replaced_alone


class HwAttribution:
    """The part of replay that turns stated high watermarks into ``HwStatement``.

    Attributes:
        logs: the log of each replica at the moment of a statement.
    """

    def __init__(self, logs: ReplicaLogs) -> None:
        self.logs = logs
        self.history, self.role_spans, self.facts, self.disks = logs.history, logs.role_spans, logs.facts, logs.disks
        self._scraped_ends = ScrapedEnds(logs.history)

    def state_reached(self, broker: int, role_span: RoleSpan, epoch: Epoch | None) -> None:
        """State the high watermark that was reached in a role: by a line, and as the protocol implies it."""
        if epoch is None:
            return
        stated = role_span.hw
        if stated is not None:
            self.state(broker, epoch, stated, _source(stated, by_leader=epoch.leader == broker))
        alone = self._alone(role_span) if epoch.leader == broker and self._commits_alone(broker) else None
        if alone is not None and alone.value > (stated.value if stated is not None else 0):
            by = (Inferred.ALONE_COMMITS, *alone.by)
            self.state(broker, epoch, alone, HwSource.ALONE_IN_ISR, by=joined(by))

    def _commits_alone(self, broker: int) -> bool:
        """Return whether a leader alone in the ISR commits what it appends; with a higher min.insync.replicas it does
        not.
        """
        needs_more = self.facts.get(broker, NO_FACTS).protocol.hw_needs_min_isr is not Answer.NO
        return not needs_more or self.history.facts.min_insync_replicas == 1

    def _alone(self, role_span: RoleSpan) -> Sample | None:
        """Return the log end offset that a leader alone in the ISR is known to have reached: all of that was committed.

        If it stayed alone until its epoch or its process ended, the log end offset that it left counts. If its log was
        found shorter later, that length is still a lower bound.
        """
        if role_span.held_back or self._may_be_fetched_from(role_span):
            return None
        alone = role_span.alone
        if not role_span.is_alone or self._may_have_let_in(role_span):
            return alone
        left = left_end(role_span, self.logs.neighbours(role_span)[1])
        ends = (alone, left, self._scraped(role_span))
        return max((one for one in ends if one is not None), key=lambda one: one.value, default=None)

    def _scraped(self, role_span: RoleSpan) -> Sample | None:
        """Return the log end offset that the exporter of a leader printed by the end of its role."""
        scraped = self._scraped_ends.by_end_of(role_span)
        if scraped is None or not role_span.refs:
            return None
        by = (Inferred.SCRAPED_LOG_END,)
        return Sample(scraped.end, role_span.refs[0], scraped.time, by=by, besides=(scraped.ref,))

    def _may_be_fetched_from(self, led: RoleSpan) -> bool:
        """Return whether a replica may have fetched from a leader in its role, in the ISR or not.

        A follower outside the ISR that keeps up within the lag holds the high watermark back
        (Partition.maybeIncrementLeaderHW). From 3.6 on it does not while its broker is fenced or shuts down, by the
        records of a KRaft controller (isReplicaIsrEligible).
        """
        if not self._in_any_isr | {led.replica} <= self.history.coverage.whole_replicas():
            return True
        apart: frozenset[int] = frozenset()
        if self.facts.get(led.replica, NO_FACTS).protocol.hw_passes_fenced is Answer.YES:
            apart = self.history.facts.fenced.get(led.epoch, frozenset()) | self._shut_down(led.epoch)
        return not self._followers.get(led.epoch, frozenset()) <= {led.replica, *apart}

    def _shut_down(self, epoch: int) -> frozenset[int]:
        """Return the followers whose brokers shut down in a leader epoch and did not run again in it."""
        return frozenset(
            broker
            for broker in self._followers.get(epoch, frozenset())
            if self._ended_in(self.role_spans[broker], epoch)
        )

    @staticmethod
    def _ended_in(spans: Sequence[RoleSpan], epoch: int) -> bool:
        """Return whether the last process of a replica that had a role in a leader epoch shut down in it."""
        here = [position for position, one in enumerate(spans) if one.epoch == epoch]
        last, after = spans[here[-1]], spans[here[-1] + 1 :]
        return last.shut_down is not None and all(one.run != last.run for one in after)

    @functools.cached_property
    def _in_any_isr(self) -> frozenset[int]:
        """Every broker that was in the ISR."""
        return frozenset(member for epoch in self.history.epochs.values() for isr, _ in epoch.isr for member in isr)

    @functools.cached_property
    def _followers(self) -> Mapping[int, set[int]]:
        """Brokers that followed in a leader epoch."""
        found: dict[int, set[int]] = {}
        for one in (one for spans in self.role_spans.values() for one in spans if one.role is Role.FOLLOWER):
            found.setdefault(one.epoch, set()).add(one.replica)
        return found

    def _may_have_let_in(self, led: RoleSpan) -> bool:
        """Return whether a leader may have let others into the ISR without a line, before another one was elected."""
        later = self.history.epochs.after(led.epoch)
        heir = next((epoch for epoch in later if epoch.leader not in (None, -1, led.replica)), None)
        return heir is not None and not heir.unclean and isr_changed_without_lines(self.history, heir)

    def state_read_back(self, broker: int, role_span: RoleSpan) -> None:
        """A high watermark a role span begins with was reached in an earlier one, in the log of the leader of that."""
        start, (before, _) = role_span.start_hw, self.logs.neighbours(role_span)
        if start is None or start.value <= 0 or (before is not None and _is_of_earlier(before, start.value)):
            return
        epoch, own = self._reached_in(before, role_span, start.value) if before is not None else (None, None)
        kept = before is not None and before.run == role_span.run
        self.state(broker, epoch, start, HwSource.KEPT if kept else HwSource.READ_BACK, earlier=True, own=own)

    def _reached_in(self, before: RoleSpan, role_span: RoleSpan, hw: int) -> tuple[Epoch | None, Lineage | None]:
        """Return the leader epoch in which a role reached the high watermark that the next one begins with.

        If lines about the epochs in between may be missing, it is not known. Then the log of its own that the high
        watermark is about comes instead, as far as it is known. Of one that came with an older directory nothing is.
        """
        if any(step.dir_older for step in before.steps):
            return None, Lineage.unknown()
        epoch = self.history.epochs.get(before.epoch)
        if epoch is None:
            return None, None
        known = unknown_from(self.history, before, role_span)
        if known is not None and known < hw:
            return None, epoch.lineage.known_below(known)
        untruncated = self._untruncated(role_span.replica, role_span, hw)
        # Up to 1.1, and without epochs of its own, a leader answers for epochs that it never had with others (KIP-279).
        had = untruncated is not None and {*epoch.lineage.entries} <= {*untruncated.entries}
        another = untruncated is not None and had and bool(differences(epoch.lineage, untruncated, 0, hw)[0])
        if another and not self._on_disk(role_span.replica, epoch.lineage, hw):
            return None, untruncated
        return epoch, None

    def _on_disk(self, broker: int, log: Lineage, end: int) -> bool:
        """Return whether a replica's files hold a log up to an offset.

        A follower may keep records that its leader does not have, though it knows all of its leader's epochs: up to 1.1
        the leader's log may have a gap there, since it truncated within a batch (KIP-279).
        """
        disk = self.disks.get(broker, NO_DISK)
        return disk.end is not None and disk.end >= end and not any(differences(log, disk.lineage, disk.log_start, end))

    def _untruncated(self, broker: int, role_span: RoleSpan, end: int) -> Lineage | None:
        """Return a follower's log below ``end``: its leader's log, if the follower fetched without truncating
        (KIP-101).
        """
        epoch = self.history.epochs.get(role_span.epoch)
        asked = role_span.role is Role.FOLLOWER and role_span.fetched and not role_span.steps
        asked = asked and self.history.coverage.has(broker, Printed.LOG)
        if epoch is None or not asked or (role_span.start_end or 0) < end or self.history.protocol.truncates_to_hw:
            return None
        return epoch.lineage if epoch.leader != broker and epoch.lineage.entries else None

    def state(
        self,
        broker: int,
        epoch: Epoch | None,
        sample: Sample,
        how: HwSource,
        *,
        earlier: bool = False,
        own: Lineage | None = None,
        by: tuple[Inferred, ...] = (),
    ) -> None:
        """Add a statement to the history.

        Args:
            broker: the replica that states it.
            epoch: leader epoch in which it was reached, or None.
            sample: the high watermark and its line.
            how: what states it.
            earlier: it was reached before the role in which it is stated.
            own: the log that it is about, if the epoch is unknown.
            by: inferences that it rests on.
        """
        whole = self.logs.is_whole(broker)
        if how in (HwSource.READ_BACK, HwSource.KEPT, HwSource.CHECKPOINT):
            by = joined(by, (Inferred.READ_BACK_WAS_REACHED,))
        if whole and epoch is not None and epoch.leader is not None and epoch.leader >= 0 and epoch.lineage.entries:
            number, lineage = epoch.epoch, epoch.lineage
            if epoch.leader != broker:
                by = joined(by, (Inferred.FOLLOWER_HW_IS_LEADERS,))
        elif whole or own is not None:
            number, lineage = UNKNOWN, own if own is not None else self.logs.now[broker]
        else:
            number, lineage = UNKNOWN, Lineage.unknown()  # unknown in which role it was reached
        refs = (sample.ref, *sample.besides)
        self.history.statements.append(
            HwStatement(broker, number, lineage, sample.value, how, sample.time, refs, earlier, by)
        )
