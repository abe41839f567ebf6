"""The start of each leader epoch: the offset at which the leader began to write, and the log below it."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Mapping

from forensics.replay.by_epoch import ByEpoch
from forensics.replay.coverage import Printed, Span
from forensics.replay.facts.directory import NO_DISK, Disk, Ref
from forensics.replay.facts.partition_facts import Fork
from forensics.replay.history import Role, TruncationReason
from forensics.replay.inferences import Inferred
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.replica_logs import ReplicaLogs
from forensics.replay.leadership.unseen_epochs import unknown_from
from forensics.replay.lineage import Lineage, at_least
from forensics.replay.roles.log_ends import follower_end, next_end, shortened_to
from forensics.replay.roles.steps import RoleSpan, StepKind

_NEVER = 1 << 63
"""More than any offset."""


def _leaders_ends(role_span: RoleSpan) -> list[tuple[int, Ref]]:
    """Return the log end offsets of its leader to which a follower truncated in a role, and the lines."""
    return [
        (step.target, step.refs[0])
        for step in role_span.steps
        if step.kind is StepKind.TRUNCATED and step.reason is TruncationReason.LEADER_END_OFFSET
    ]


_Starts = Mapping[int, list[tuple[bool, int, "Ref | None"]]]


def _starts(disk: Disk, *, trusted: bool) -> _Starts:
    """Return the starts of each epoch by a replica's epoch file and its batches, each with whether it is exact.

    Retention rewrites the first entry to the log start (LeaderEpochFileCache.truncateFromStart).

    Args:
        disk: of the replica.
        trusted: its epoch file counts, whatever its batches show.
    """
    begun, found = {*disk.begun()}, dict[int, list[tuple[bool, int, "Ref | None"]]]()
    for number, start, ref in disk.entries if disk.log_start == 0 else disk.entries[1:]:
        found.setdefault(number, []).append((trusted or (number, start) in begun, start, ref))
    for number, start in disk.lineage.entries:
        if (number, start) in begun or start > disk.log_start:
            found.setdefault(number, []).append(((number, start) in begun, start, disk.refs.get(number)))
    return found


class EpochStart:
    """The start of each leader epoch, and the log below it.

    Attributes:
        logs: the log of each replica before the present epoch.
    """

    def __init__(self, logs: ReplicaLogs) -> None:
        self.logs = logs
        self.history, self.role_spans, self.disks = logs.history, logs.role_spans, logs.disks
        self._starts: dict[tuple[int, bool], _Starts] = {}
        self._shortened: dict[int, tuple[list[int], list[int]]] = {}

    def begin(self, epoch: Epoch, leader: int, role_span: RoleSpan | None) -> None:
        """Determine where the epoch's leader began to write, and on top of which log."""
        log = self.logs.of(leader) if role_span is None else self.logs.found(leader, role_span)
        before = self.logs.previous.get(leader)
        if not self.logs.is_whole(leader) and before is not None and before.epoch < epoch.epoch - 1:
            log = Lineage.unknown()  # no line states whom it followed in between, or its truncation
        epoch.begins = self._begins(epoch, leader, role_span)
        epoch.refs += epoch.begins.because
        if epoch.start is not None:
            epoch.lineage = self._below(epoch.epoch, epoch.start, leader, log).begin(epoch.epoch, epoch.start)
        elif role_span is not None and self._led_on(leader, role_span) and not self._dated(epoch.epoch):
            # The same leader continues the same log. Where one epoch ends and the next begins changes no record, as
            # long as nothing states the epoch of one.
            epoch.lineage = log
        elif epoch.leader_took_up or role_span is not None:
            # The start is unknown; the leader's earlier log is below it.
            low, high = epoch.begins.low, epoch.begins.high
            epoch.lineage = log.truncated(low).begin(at_least(log.oldest_from(low)), low)
            if high is not None:
                epoch.lineage = epoch.lineage.begin(epoch.epoch, high)
        else:
            epoch.lineage = log  # nothing shows that the leader ever took it up
        self._clear_undated(epoch, leader)

    def _below(self, number: int, start: int, leader: int, log: Lineage) -> Lineage:
        """Return the leader's log below the start of its epoch.

        Args:
            number: the epoch.
            start: its start.
            leader: its leader.
            log: the leader's log, as its lines show it.
        """
        below = self._own_prefix(leader, number, start)
        if below is not None:
            # Batches from before an upgrade carry no epochs: only log lines show which leader wrote them.
            dated = below.entries[0][1] if below.entries else start
            return Lineage((*log.truncated(dated).entries, *below.entries))
        below = log.truncated(start)
        if start > 0 and below.epoch_at(start - 1) < 0:
            return self._prefix(number, start) or below
        return below

    def _clear_undated(self, epoch: Epoch, leader: int) -> None:
        """Offsets of an older epoch than its followers' have are of no known epoch: lines of the leader are missing."""
        first = self.history.coverage.undated_from(leader, epoch.epoch)
        if first is not None:
            epoch.lineage = epoch.lineage.without([(first, epoch.start or first)])

    def _own_prefix(self, leader: int, number: int, start: int) -> Lineage | None:
        """Return the leader's log below an epoch's start from its own batches, if they are still the same as then.

        Bytes count for more than what the protocol implies: a follower that never reached its leader kept its own tail
        (KIP-279). A compacted log may lack whole epochs, so it is not used.
        """
        disk = self.disks.get(leader, NO_DISK)
        # An epoch without records is only in the epoch file.
        empty = start == disk.end and any(entry[:2] == (number, start) for entry in disk.entries)
        if not empty and (number, start) not in disk.lineage.entries:
            return None
        if disk.cleaner_point is not None or disk.log_start > 0:
            return None
        if any(first < start for first, _ in disk.holes):
            return None
        lowest = self._lowest_by_lines(leader, number)
        return Lineage(disk.lineage.entries).truncated(start) if lowest is None or lowest >= start else None

    def _prefix(self, number: int, start: int) -> Lineage | None:
        """Return the log below an epoch's start from any files that show it (KIP-101: same epoch, same log below)."""
        for broker in sorted(self.disks):
            entries = self.disks[broker].lineage.entries
            if (number, start) in entries and not self.disks[broker].holes:
                return Lineage(entries).truncated(start)
        return None

    def _begins(self, epoch: Epoch, leader: int, role_span: RoleSpan | None) -> Interval:
        """Return the leader's log end offset when the epoch began, by what states it, else by what bounds it."""
        found = self._stated_start(epoch, role_span)
        if found.exact is not None or role_span is None or self._led_on(leader, role_span):
            return found
        found = found.at_least(self._agreed(epoch, leader))
        most, stated = (
            follower_end(self.history, self.logs.previous.get(leader)),
            self._stated_end(epoch, leader, role_span),
        )
        if most is not None and most <= found.low:  # it followed until it was elected
            return Interval.at(found.low, *found.because, by=(Inferred.FOLLOWED_UNTIL_ELECTED,))
        if stated is not None and stated[0] == found.low:
            return Interval.at(found.low, *found.because, stated[1], by=(Inferred.LEADER_LOG_GROWS,))
        return found

    def _stated_start(self, epoch: Epoch, role_span: RoleSpan | None) -> Interval:
        """Return the same by the leader's own line, then by files, then by where segments part."""
        if role_span is not None and role_span.start_end is not None:
            return Interval.at(role_span.start_end, role_span.start_ref)
        if epoch.epoch == 0:
            return Interval.at(0)  # the epoch with which a partition is created
        found = self._start_by_files(epoch, role_span.start_low if role_span is not None else 0)
        if (
            found.high is None
            and self.history.protocol.truncates_to_hw
            and role_span is not None
            and epoch.leader is not None
        ):
            return self._start_by_fork(epoch, epoch.leader, found)
        return found

    def _start_by_files(self, epoch: Epoch, low: int) -> Interval:
        """Return the start of an epoch by epoch files and batches; those of its leader come first.

        A follower notes the first record that it fetched, and the cleaner may have removed those before it: then it is
        an upper bound.
        """
        exact: list[tuple[bool, int, Ref | None]] = []
        later: list[int] = []
        cleaned = any(disk.cleaner_point is not None for disk in self.disks.values())
        for broker, disk in self.disks.items():
            other = broker != epoch.leader
            trusted = not other or not cleaned
            if (broker, trusted) not in self._starts:
                self._starts[broker, trusted] = _starts(disk, trusted=trusted)
            for is_exact, start, ref in self._starts[broker, trusted].get(epoch.epoch, ()):
                if is_exact:
                    exact.append((other, start, ref))
                else:
                    later.append(start)
        if exact:
            _, start, ref = min(exact, key=lambda item: item[:2])
            return Interval.at(start, ref)
        return Interval(low, min(later)) if later and min(later) >= low else Interval(low)

    def _start_by_fork(self, epoch: Epoch, leader: int, known: Interval) -> Interval:
        """Without epochs in the log: the leader wrote its own records where its segments part from an older log.

        Used if the log has no epochs. The leader fetched only from logs that agree with the older one before it led. So
        it began to write at the first differing offset, unless it truncated below that later. If lines of it are
        missing at any time, it may have fetched from another log in a role that no line shows.
        """
        if not self.history.coverage.throughout(leader) or self._lowest(leader, epoch.epoch) is not None:
            return known
        for fork in self.history.facts.forks:
            if leader not in (fork.left, fork.right):
                continue
            other, ref = (fork.right, fork.left_ref) if leader == fork.left else (fork.left, fork.right_ref)
            first = fork.ranges[0][0]
            if first >= known.low and self._older(other, first, epoch.epoch):
                if first > known.low and self._parts_at_the_edge(fork):
                    return known.at_most(first, ref)
                return Interval.at(first, ref)
        return known

    def _parts_at_the_edge(self, fork: Fork) -> bool:
        """Return whether one of two diverging files has nothing below the first difference, so that they may differ
        there too.

        The reason is retention, the cleaner or a missing file.
        """
        first = fork.ranges[0][0]
        return any(
            disk.log_start >= first or disk.cleaner_point is not None or any(end == first for _, end in disk.holes)
            for disk in (self.disks.get(fork.left, NO_DISK), self.disks.get(fork.right, NO_DISK))
        )

    def _dated(self, number: int) -> bool:
        """Return whether files show records of an epoch, or a replica's line its first record."""
        if any(number == epoch for disk in self.disks.values() for epoch, _ in disk.lineage.entries):
            return True
        spans = itertools.chain.from_iterable(self.role_spans.values())
        return any(number == epoch for span in spans for epoch, _, _ in span.entries)

    def _led_on(self, leader: int, role_span: RoleSpan) -> bool:
        before = self.logs.previous.get(leader)
        if before is None or before.steps or not self.history.log_lines_complete(before):
            return False
        return before.role is Role.LEADER and before.run == role_span.run

    def _stated_end(self, epoch: Epoch, leader: int, role_span: RoleSpan) -> tuple[int, Ref] | None:
        """Return the lowest log end offset that the epoch's leader is known to have had in it, and the evidence.

        It comes from the leader, or from a follower that was above it and received the leader's log end offset. The
        epoch began no later, because a leader's log only grows.
        """
        with_roles = self.history.coverage.replicas_with(Printed.ROLES) & self.role_spans.keys()
        if leader not in with_roles or epoch.other_leaders:
            return None
        found = []
        if role_span.start_high is not None:
            found.append((role_span.start_high.value, role_span.start_high.ref))
        for broker in sorted(with_roles - {leader}):
            spans = self.role_spans[broker]
            for one, two in itertools.zip_longest(spans, spans[1:]):
                if one.epoch == epoch.epoch and not self._may_be_of_next(leader, one, two):
                    found += _leaders_ends(one)
        return min(found, key=lambda one: one[0], default=None)

    def _may_be_of_next(self, leader: int, one: RoleSpan, two: RoleSpan | None) -> bool:
        """Return whether a follower may have received, in a role, what its leader sent in a later epoch of its own.

        Args:
            leader: broker id.
            one: the role.
            two: the follower's next role, or None.
        """
        epochs = self.history.epochs
        since = epochs.after(one.epoch) if two is None else epochs.between(one.epoch, two.epoch + 1)
        return any(later.leader == leader for later in since)

    def _agreed(self, epoch: Epoch, leader: int) -> int:
        """Return the lowest offset at which an epoch can have begun, for a log without epochs.

        Below it the leader's segments agree with a log that existed before the epoch and was not truncated since. It is
        within the log that the leader had next, or the leader may have fetched these records later.
        """
        if not self.history.protocol.truncates_to_hw:
            return 0
        known = max((self._agreed_with(broker, epoch, leader) for broker in self.history.replicas), default=0)
        after = next_end(self.history, leader, epoch.epoch).high
        return known if after is None else min(known, after)

    def _agreed_with(self, broker: int, epoch: Epoch, leader: int) -> int:
        """Return the offset up to which one replica shows that; 0 if it shows nothing."""
        pair = (min(broker, leader), max(broker, leader))
        if broker == leader or pair not in self.history.facts.compared or self.logs.fetches_ahead(broker, leader):
            return 0
        role_span = next((t for t in self.role_spans.get(broker, ()) if t.epoch >= epoch.epoch), None)
        before = self.logs.previous.get(broker)
        if role_span is None or (before is not None and unknown_from(self.history, before, role_span) is not None):
            return 0  # it may have fetched that log in this epoch
        # A truncation only applies within the log, so everything below its target existed before.
        first = next((step.target for step in role_span.steps if step.kind is StepKind.TRUNCATED), 0)
        lowest = self._lowest(broker, epoch.epoch)
        known = [*self._alike_up_to(pair), *([] if lowest is None else [lowest])]
        bound = min([max(role_span.start_low, first), *known])
        begun = max(self.disks.get(one, NO_DISK).log_start for one in pair)
        return bound if bound > begun else 0  # otherwise the logs share no offsets below it

    def _alike_up_to(self, pair: tuple[int, int]) -> list[int]:
        """Return offsets beyond which the segments of two replicas do not agree: a difference, or the end of one."""
        ends = [self.history.replicas[one].end for one in pair if one in self.history.replicas]
        return [
            *(first for first, _ in self.history.facts.diverging_ranges(*pair)),
            *(end for end in ends if end is not None),
        ]

    def _lowest(self, broker: int, number: int) -> int | None:
        """Return the lowest offset to which a replica truncated in an epoch or later, until its files were copied.

        None if it did not; 0 if lines that would show it are missing, as ``shortened_to`` says.
        """
        after = self.history.coverage.has(broker, Printed.LOG, Span.AFTER)
        return self._lowest_by_lines(broker, number) if after else 0

    def _lowest_by_lines(self, broker: int, number: int) -> int | None:
        """The same until the last line of the replica: its own files may show that nothing was removed afterwards."""
        if broker not in self._shortened:
            self._shortened[broker] = self._shortened_from(broker)
        epochs, lowest = self._shortened[broker]
        at = bisect_left(epochs, number)
        return lowest[at] if at < len(epochs) and lowest[at] < _NEVER else None

    def _shortened_from(self, broker: int) -> tuple[list[int], list[int]]:
        """Return the leader epochs of a replica's roles, and the lowest offset to which it truncated from each on."""
        spans = ByEpoch(self.role_spans.get(broker, ()), lambda one: one.epoch)
        of_each = [shortened_to(self.history, spans.of(epoch)) for epoch in spans.epochs]
        known = (_NEVER if lowest is None else lowest for lowest in reversed(of_each))
        return spans.epochs, [*itertools.accumulate(known, min)][::-1]

    def _older(self, broker: int, offset: int, number: int) -> bool:
        """Return whether a replica had its record at an offset before it followed this epoch or a later one."""
        lowest = self._lowest(broker, number)
        if lowest is not None and lowest <= offset:
            return False
        for role_span in self.role_spans.get(broker, ()):
            if role_span.epoch >= number:
                return role_span.start_end is not None and role_span.start_end > offset
        # No line of it names the epoch: all it has is older, if all of its lines are there.
        return self.history.coverage.whole(broker, Span.WITHIN, Span.AFTER)
