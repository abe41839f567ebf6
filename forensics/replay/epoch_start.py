"""Where a leader began to write, and on top of which log: what the fold asks at the start of each epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from forensics.replay.committed import reached
from forensics.replay.coverage import Printed
from forensics.replay.directory import Disk, Ref
from forensics.replay.history import BrokerFacts, Epoch, Fork, History, Role, TruncationReason
from forensics.replay.lineage import UNKNOWN, Lineage, at_least
from forensics.replay.protocol import Answer
from forensics.replay.steps import REMOVES, RoleSpan, StepKind

NO_FACTS = BrokerFacts()
NO_DISK = Disk()


def fences(facts: Mapping[int, BrokerFacts], broker: int) -> bool:
    """Whether each fetch of a broker that is of another leader epoch is refused."""
    return facts.get(broker, NO_FACTS).protocol.fences_fetch_sessions is Answer.YES


def truncates_to_hw(facts: Mapping[int, BrokerFacts], broker: int) -> bool:
    """Whether a broker truncates to its own high watermark as a new follower, as far as its last release says."""
    return facts.get(broker, NO_FACTS).protocol.truncates_by_epoch is Answer.NO


def passed_over(history: History, before: RoleSpan, role_span: RoleSpan) -> int | None:
    """Offset from which on it is not known of which epoch a replica's records are, as there were epochs between two of
    its roles of which none of its lines tell, though its process lived: it had a part in them, or heard of none.
    """
    if before.run != role_span.run or before.epoch < 0 or any(step.kind is StepKind.LOADED for step in before.steps):
        return None
    between = [
        epoch
        for number, epoch in history.epochs.items()
        if before.epoch < number < role_span.epoch
        and number not in history.coverage.unnamed
        and (epoch.leader is None or (epoch.leader_took_up and epoch.leader not in (-1, before.leader)))
    ]
    # A leader's own records are its own: of a follower only what it began with is.
    known = before.end_low if before.role is Role.LEADER else before.start_low
    return min((max(known, epoch.start or 0) for epoch in between), default=None)


def had_part(history: History, before: RoleSpan, role_span: RoleSpan) -> int | None:
    """The same of a replica that came back, where it was in the ISR with which another's epoch began in between, or
    nothing tells of that ISR or of who led, or it led itself; or a process of it came in between that never told of
    loading this log.
    """
    broker, known = before.replica, None
    part = role_span.run - before.run > max(1, sum(step.kind is StepKind.LOADED for step in before.steps))
    for epoch in _since(history, before.epoch, role_span.epoch):
        number = epoch.epoch
        if epoch.leader == -1 or (epoch.leader == broker and number == role_span.epoch):
            continue
        named = _is_named(history, number)
        untold = (
            epoch.leader == broker
            and named
            and not epoch.leader_took_up
            and _may_have_led(history, before, role_span, epoch)
        )
        if not epoch.leader_took_up and not untold:
            continue
        if untold or not named:
            # Lines of its own, or of all brokers, are missing, so it may have served in it; and what it came back with
            # it may have got since then, or since another began to write. Of a single epoch that nothing names a leader
            # that came back may have been dead in it.
            alone = before.role is Role.LEADER and number in history.epochs and not untold
            low = before.end_low if alone else before.start_low
            return low if known is None else min(low, known)
        if known is None:
            known = epoch.start if epoch.start is not None else epoch.start_low
        if epoch.leader == broker:
            part = True
            continue
        members = [isr for isr, _ in epoch.isr]
        # It was in the epoch to which it came back before, if it was taken out of the ISR in between.
        out = number < role_span.epoch or any(broker not in isr for isr in members)
        heard = not _joined_unseen(history, before, epoch)
        part = part or (out and (not members or not heard or broker in members[0]))
    return known if part else None


def _is_named(history: History, number: int) -> bool:
    """Whether any line names a leader epoch."""
    return number in history.epochs and number not in history.coverage.unnamed


def _joined_unseen(history: History, before: RoleSpan, epoch: Epoch) -> bool:
    """Whether a replica may have come into the ISR of an epoch with no line on it: its own lines on that epoch may be
    missing, and the leader's lines are not all there.
    """
    stated = epoch.isr_from_leader or history.coverage.whole(epoch.leader)
    return not stated and _may_lack_lines(history, before, epoch)


def _since(history: History, first: int, last: int) -> Iterator[Epoch]:
    """The epochs after one up to another, also those of which nothing tells, but for those that a controller may have
    raised as it took one replica after another out of the ISR (KafkaController.onReplicasBecomeOffline): it sends the
    last of these alone.
    """
    before = history.epochs.get(first)
    for number in sorted(number for number in history.epochs if 0 <= first < number <= last):
        epoch, told = history.epochs[number], before.epoch if before is not None else first
        taken = len((before.last_isr if before is not None else None) or ())
        if number - told - 1 > taken:
            yield Epoch(told + 1, leader_took_up=True)
        yield epoch
        before = epoch


def _may_lack_lines(history: History, before: RoleSpan, epoch: Epoch) -> bool:
    """Whether lines on a later epoch may be missing of a process that has lines on one role.

    They may where the coverage does not license silence about its roles; where the process lived on after that epoch
    had begun; and where the next process found its log closed cleanly and no line says that it was shutting down. The
    last two are doubts and no omissions, so they lower no coverage: one compares the clocks of two brokers, and the
    other takes a stop for clean because no line shows a recovery.
    """
    if not history.coverage.has(before.replica, Printed.ROLES):
        return True
    if before.shut_down is not None:
        return epoch.time is not None and before.shut_down > epoch.time
    loads = [step for step in before.steps if step.kind is StepKind.LOADED]
    return bool(loads) and all(step.before is None for step in loads)


def _may_have_led(history: History, before: RoleSpan, role_span: RoleSpan, epoch: Epoch) -> bool:
    """Whether a replica may have led an epoch between two of its roles that others alone state, and was not dead or
    stopping when it was elected: lines of its process may be missing, or it came back with more than there was when
    another leader began.
    """
    if _may_lack_lines(history, before, epoch):
        return True
    starts = [
        other.start
        for number, other in history.epochs.items()
        if before.epoch < number < epoch.epoch and other.leader_took_up and other.leader != role_span.replica
    ]
    known = [start for start in starts if start is not None]
    return bool(known) and role_span.start_hw is not None and role_span.start_hw.value > min(known)


def unknown_from(history: History, before: RoleSpan, role_span: RoleSpan) -> int | None:
    """Offset from which on what was reached between two roles need not be of the earlier one's epoch."""
    found = (passed_over(history, before, role_span), had_part(history, before, role_span))
    return min((offset for offset in found if offset is not None), default=None)


class EpochStart:
    """The state of a fold as far as leaders' beginnings depend on it.

    Attributes:
        history: what is known so far.
        logs: each replica's log as it stands before the epoch at hand.
        previous: each replica's role span before the one at hand.
    """

    def __init__(
        self,
        history: History,
        role_spans: Mapping[int, list[RoleSpan]],
        disks: Mapping[int, Disk],
        facts: Mapping[int, BrokerFacts],
    ) -> None:
        self.history = history
        self.facts = facts
        self.role_spans = role_spans
        self.disks = disks
        self.logs: dict[int, Lineage] = {}
        self.previous: dict[int, RoleSpan] = {}

    def _is_whole(self, broker: int) -> bool:
        """Whether the absence of a line of a replica is proof, within its lines."""
        return self.history.coverage.whole(broker)

    def _all_whole(self) -> bool:
        """Whether that holds for each member."""
        return self.history.members <= self.history.coverage.whole_replicas()

    def _fenced(self, broker: int) -> bool:
        return fences(self.facts, broker)

    def _found(self, broker: int, role_span: RoleSpan) -> Lineage:
        """The log that a role found: what it may have got in epochs that no line of it tells of is nobody's known."""
        log, before = self.logs.get(broker, Lineage().begin(UNKNOWN, 0)), self.previous.get(broker)
        if before is None:
            return log
        leaderless = any(  # files alone tell of it, or numbers, and nobody who was in it
            epoch.leader is None and before.epoch < number < role_span.epoch
            for number, epoch in self.history.epochs.items()
        )
        known = (unknown_from if leaderless else passed_over)(self.history, before, role_span)
        last = before.steps[-1] if before.steps else None
        if last is not None and last.kind is StepKind.LOADED and (role_span.start_end or 0) > last.target:
            # A role finds what its process loaded: it got the rest in one that no line tells of.
            known = last.target if known is None else min(known, last.target)
        return log if known is None else log.truncated(known).begin(UNKNOWN, known)

    def begin(self, epoch: Epoch, leader: int, role_span: RoleSpan | None) -> None:
        """Where the epoch's leader began to write, and on top of which log."""
        log = (
            self.logs.get(leader, Lineage().begin(UNKNOWN, 0)) if role_span is None else self._found(leader, role_span)
        )
        before = self.previous.get(leader)
        if not self._is_whole(leader) and before is not None and before.epoch < epoch.epoch - 1:
            log = Lineage().begin(UNKNOWN, 0)  # whom it followed in between, and what it was cut to, is not told
        self._set_start(epoch, role_span)
        if epoch.start is None and role_span is not None and not self._goes_on(leader, role_span):
            epoch.start_low = max(epoch.start_low, self._agreed(epoch, leader))
            ceiling = self._ceiling(leader)
            said = self._said(epoch, leader, role_span)
            if ceiling is not None and ceiling <= epoch.start_low:
                epoch.start, epoch.start_implied = epoch.start_low, True
            elif said is not None and said[0] == epoch.start_low:
                epoch.start, epoch.start_implied = epoch.start_low, True
                epoch.refs.append(said[1])
        if epoch.start is not None:
            below = self._own_prefix(leader, epoch.epoch, epoch.start)
            if below is not None:
                # Batches from before an upgrade have no epochs: who wrote them only the lines tell.
                dated = below.entries[0][1] if below.entries else epoch.start
                below = Lineage((*log.truncated(dated).entries, *below.entries))
            else:
                below = log.truncated(epoch.start)
                if epoch.start > 0 and below.epoch_at(epoch.start - 1) < 0:
                    below = self._prefix(epoch.epoch, epoch.start) or below
            epoch.lineage = below.begin(epoch.epoch, epoch.start)
        elif role_span is not None and self._goes_on(leader, role_span) and not self._dated(epoch.epoch):
            # The same leader goes on writing the same log: where one epoch ends and the next begins in it changes
            # nothing about which record stands where, as long as no batch says of which it is.
            epoch.lineage = log
        elif epoch.leader_took_up or role_span is not None:
            # Where it began to write is not known; below that stands what it had.
            oldest = log.oldest_from(epoch.start_low)
            epoch.lineage = log.truncated(epoch.start_low).begin(at_least(oldest), epoch.start_low)
            if epoch.start_high is not None:
                epoch.lineage = epoch.lineage.begin(epoch.epoch, epoch.start_high)
        else:
            epoch.lineage = log  # nothing shows that the leader ever took it up
        self._clear_undated(epoch, leader)

    def _clear_undated(self, epoch: Epoch, leader: int) -> None:
        """Offsets of an older epoch than its followers' have are of no known epoch: lines of the leader are missing."""
        for one in self.history.coverage.missing.get(leader, ()):
            if one.undated_from is not None and one.epoch == epoch.epoch:
                start = epoch.start if epoch.start else one.undated_from
                epoch.lineage = epoch.lineage.without([(one.undated_from, start)])

    def _own_prefix(self, leader: int, number: int, start: int) -> Lineage | None:
        """The leader's log below an epoch's start from its own batches, where they are still the ones it had then.

        Bytes count for more than what the protocol implies: a follower that never reached its leader kept its own tail
        (KIP-279). A compacted log may lack whole epochs, so it is not asked.
        """
        disk = self.disks.get(leader, NO_DISK)
        # Of an epoch without records its file alone tells.
        empty = start == disk.end and any(entry[:2] == (number, start) for entry in disk.entries)
        if not empty and (number, start) not in disk.lineage.entries:
            return None
        if disk.cleaner_point is not None or disk.log_start > 0:
            return None
        if any(first < start for first, _ in disk.holes):
            return None
        lowest = self._lowest(leader, number)
        return Lineage(disk.lineage.entries).truncated(start) if lowest is None or lowest >= start else None

    def _prefix(self, number: int, start: int) -> Lineage | None:
        """The log below an epoch's start from any files that show it (KIP-101: same epoch, same log below)."""
        for broker in sorted(self.disks):
            entries = self.disks[broker].lineage.entries
            if (number, start) in entries and not self.disks[broker].holes:
                return Lineage(entries).truncated(start)
        return None

    def _set_start(self, epoch: Epoch, role_span: RoleSpan | None) -> None:
        """The leader's log end offset when the epoch began: its own line, then files, then where segments part."""
        if role_span is not None:
            epoch.start_low = role_span.start_low
            if role_span.start_end is not None:
                epoch.start = role_span.start_end
                if role_span.start_ref is not None:
                    epoch.refs.append(role_span.start_ref)
                return
        if epoch.epoch == 0:
            epoch.start = 0  # the epoch a partition is created with
            return
        found: list[tuple[bool, int, Ref]] = []
        later: list[int] = []
        cleaned = any(disk.cleaner_point is not None for disk in self.disks.values())
        for broker, disk in self.disks.items():
            begun = set(disk.begun())
            for position, (number, start, ref) in enumerate(disk.entries):
                # Retention rewrites the first entry to the log start (LeaderEpochFileCache.truncateFromStart).
                if number == epoch.epoch and (position > 0 or disk.log_start == 0):
                    # A follower notes the first record that it was given, and the cleaner may have taken those before.
                    if broker == epoch.leader or not cleaned or (number, start) in begun:
                        found.append((broker != epoch.leader, start, ref))
                    else:
                        later.append(start)
            for number, start in disk.lineage.entries:
                if number == epoch.epoch and (number, start) in begun:
                    found.append((broker != epoch.leader, start, disk.refs[number]))
                elif number == epoch.epoch and start > disk.log_start:
                    later.append(start)
        if found:
            _, epoch.start, ref = min(found, key=lambda item: (item[0], item[1]))
            epoch.refs.append(ref)
        elif later and min(later) >= epoch.start_low:
            epoch.start_high = min(later)
        elif self.history.truncates_to_hw and role_span is not None and epoch.leader is not None:
            self._set_start_from_fork(epoch, epoch.leader)

    def _set_start_from_fork(self, epoch: Epoch, leader: int) -> None:
        """Without epochs in the log: the leader wrote its own records where its segments part from an older log.

        What it could have fetched before it led came from logs that agree with the older one, so the first offset at
        which its file differs is where it began to write, unless it was cut below that later.
        """
        if self._lowest(leader, epoch.epoch) is not None:
            return
        for fork in self.history.forks:
            if leader not in (fork.left, fork.right):
                continue
            other, ref = (fork.right, fork.left_ref) if leader == fork.left else (fork.left, fork.right_ref)
            first = fork.ranges[0][0]
            if first >= epoch.start_low and self._older(other, first, epoch.epoch):
                if first > epoch.start_low and self._parts_at_the_edge(fork):
                    epoch.start_high = first
                else:
                    epoch.start = first
                epoch.refs.append(ref)
                return

    def _parts_at_the_edge(self, fork: Fork) -> bool:
        """Whether one of two files that differ has nothing below the first difference, so that they may differ there
        too: retention or the cleaner was there, or a file is missing.
        """
        first = fork.ranges[0][0]
        return any(
            disk.log_start >= first or disk.cleaner_point is not None or any(end == first for _, end in disk.holes)
            for disk in (self.disks.get(fork.left, NO_DISK), self.disks.get(fork.right, NO_DISK))
        )

    def _dated(self, number: int) -> bool:
        """Whether files tell of records of an epoch."""
        return any(number == epoch for disk in self.disks.values() for epoch, _ in disk.lineage.entries)

    def _goes_on(self, leader: int, role_span: RoleSpan) -> bool:
        before = self.previous.get(leader)
        return before is not None and before.role is Role.LEADER and before.run == role_span.run and not before.steps

    def _ceiling(self, leader: int) -> int | None:
        """The greatest log end a leader-to-be can have had: that of the leader it followed before, and its own."""
        before = self.previous.get(leader)
        if before is None or before.role is not Role.FOLLOWER:
            return None
        epoch = self.history.epochs.get(before.epoch)
        end = reached(self.history, epoch) if epoch is not None else None
        return None if end is None else max(end, before.start_end or 0, before.start_low)

    def _said(self, epoch: Epoch, leader: int, role_span: RoleSpan) -> tuple[int, Ref] | None:
        """The least log end offset that the epoch's leader is known to have had in it, and who says so: the leader, or
        a follower that was above it and heard where it ended. The epoch began no later, as a leader's log only grows.
        """
        tells = self.history.coverage.replicas_with(Printed.ROLES) & self.role_spans.keys()
        again = [n for n, e in self.history.epochs.items() if e.leader == leader]
        if leader not in tells or epoch.other_leaders:
            return None
        found = []
        if role_span.start_high is not None:
            found.append((role_span.start_high.value, role_span.start_high.ref))
        for broker in sorted(tells - {leader}):
            spans = self.role_spans[broker]
            for position, one in enumerate(spans):
                # Of a later epoch of the same leader it may not have been told.
                told = spans[position + 1].epoch if position + 1 < len(spans) else max(self.history.epochs)
                if one.epoch != epoch.epoch or any(epoch.epoch < number <= told for number in again):
                    continue
                heard = [
                    s
                    for s in one.steps
                    if s.kind is StepKind.TRUNCATED and s.reason is TruncationReason.LEADER_END_OFFSET
                ]
                found += [(step.target, step.refs[0]) for step in heard]
        return min(found, key=lambda one: one[0], default=None)

    def _agreed(self, epoch: Epoch, leader: int) -> int:
        """Without epochs in the log: the least offset an epoch can have begun at.

        Below it the leader's segments agree with a log that was there before the epoch and was not cut since.
        """
        if not self.history.truncates_to_hw:
            return 0
        least = 0
        for broker in self.history.replicas:
            pair = (min(broker, leader), max(broker, leader))
            if broker == leader or pair not in self.history.compared or self._fetches_ahead(broker, leader):
                continue
            role_span = next((t for t in self.role_spans.get(broker, ()) if t.epoch >= epoch.epoch), None)
            before = self.previous.get(broker)
            if role_span is None or (before is not None and unknown_from(self.history, before, role_span) is not None):
                continue  # what it had then it may have got in this epoch
            # A truncation takes effect only within the log, so what it was cut to was there before.
            first = next((step.target for step in role_span.steps if step.kind is StepKind.TRUNCATED), 0)
            lowest = self._lowest(broker, epoch.epoch)
            bound = max(role_span.start_low, first)
            bound = bound if lowest is None else min(bound, lowest)
            bound = min([bound, *(first for first, _ in self.history.diverging_ranges(broker, leader))])
            begun = max(self.disks.get(one, NO_DISK).log_start for one in pair)
            if bound > begun:  # else there is nothing below it to agree
                least = max(least, bound)
        return least

    def _fetches_ahead(self, broker: int, leader: int) -> bool:
        """Whether a replica may have fetched from a leader in an epoch that it was not yet told of."""
        before = self.previous.get(broker)
        if before is None or before.role is not Role.FOLLOWER or before.leader != leader:
            return False
        return not self._fenced(broker)

    def _lowest(self, broker: int, number: int) -> int | None:
        """Lowest offset a replica was cut to in an epoch or later."""
        truncations = [
            s.target for t in self.role_spans.get(broker, ()) if t.epoch >= number for s in t.steps if s.kind in REMOVES
        ]
        return min(truncations, default=None)

    def _older(self, broker: int, offset: int, number: int) -> bool:
        """Whether a replica's record at an offset was there before it ever followed this epoch or a later one."""
        lowest = self._lowest(broker, number)
        if lowest is not None and lowest <= offset:
            return False
        for role_span in self.role_spans.get(broker, ()):
            if role_span.epoch >= number:
                return role_span.start_end is not None and role_span.start_end > offset
        # No line of it names the epoch: all it has is older, if all of its lines are there.
        return self._is_whole(broker)
