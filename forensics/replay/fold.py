"""Replay of one partition: from the tenures of its replicas to epochs, cuts and committed bounds.

Epochs are taken in rising order, because an epoch's records are those of its leader's log, and that log was shaped by
lower epochs alone. Clocks of different brokers are never compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from forensics.replay.history import (
    Confidence,
    Cut,
    Epoch,
    Fork,
    History,
    Ref,
    Replica,
    Role,
    Shrunk,
    Statement,
)
from forensics.replay.lineage import UNKNOWN, Lineage, differences
from forensics.replay.tenures import Event, Reader, Tenure, broker_set
from parsers.schema import Kind


@dataclass(frozen=True, slots=True)
class Disk:
    """What the files of one replica say.

    Attributes:
        lineage: leader epochs of its batches (message format v2), else empty.
        end: log end offset read from its segments, or None where there are none.
        log_start: first offset.
        checkpoint: high watermark in ``replication-offset-checkpoint``, with its evidence.
        entries: ``leader-epoch-checkpoint``: (epoch, start offset, evidence).
        magic: highest message format of its batches, or None when it has none.
        directory: where it lies in the evidence.
        refs: batch with which each epoch begins, by epoch.
        torn: the last segment ends within a batch, or is damaged.
    """

    lineage: Lineage = field(default_factory=Lineage)
    end: int | None = None
    log_start: int = 0
    checkpoint: tuple[int, Ref] | None = None
    entries: tuple[tuple[int, int, Ref], ...] = ()
    magic: int | None = None
    directory: str | None = None
    refs: Mapping[int, Ref] = field(default_factory=dict)
    torn: bool = False


@dataclass(frozen=True, slots=True)
class BrokerFacts:
    """What is known of a broker that changes how its lines are read.

    Attributes:
        hw_protocol: followers truncate to their high watermark.
        initial_offset: meaning of the offset in ``Added fetcher``: "end", "hw" or None.
    """

    hw_protocol: bool = False
    initial_offset: str | None = None


_NO_FACTS = BrokerFacts()
_NO_DISK = Disk()


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
    brokers = sorted({*events, *disks})
    tenures: dict[int, list[Tenure]] = {}
    for broker in brokers:
        fact = facts.get(broker, _NO_FACTS)
        reader = Reader(broker, hw_protocol=fact.hw_protocol, initial_offset=fact.initial_offset)
        tenures[broker] = reader.read(events.get(broker, ()))
        disk = disks.get(broker, _NO_DISK)
        own = events.get(broker, ())
        history.replicas[broker] = Replica(
            broker,
            end=disk.end,
            log_start=disk.log_start,
            checkpoint=disk.checkpoint,
            on_disk=disk.end is not None,
            has_logs=bool(own),
            first_time=reader.first_time,
            last_time=own[-1].time if own else None,
            directory=disk.directory,
            starts_empty=reader.starts_empty,
            magic=disk.magic,
            torn=disk.torn,
        )
    if any(facts.get(broker, _NO_FACTS).hw_protocol for broker in brokers):
        history.protocol = "hw"
    _epochs(history, tenures, cluster_events, disks)
    _Fold(history, tenures, disks).run()
    return history


# -- epochs: who led, with which ISR, from where ----------------------------------------------------------------------


def _epochs(
    history: History, tenures: Mapping[int, list[Tenure]], cluster: Sequence[Event], disks: Mapping[int, Disk]
) -> None:
    epochs = history.epochs

    def at(number: int) -> Epoch:
        return epochs.setdefault(number, Epoch(number))

    for event in cluster:
        if event.leader_epoch is None or event.leader_epoch < 0:
            continue
        epoch = at(event.leader_epoch)
        ref = Ref(row=event.row, note=f"leader {event.leader} at leader epoch {event.leader_epoch}")
        if event.leader is not None:
            _leader(epoch, event.leader, ref)
        if epoch.time is None:
            epoch.time = event.time
        isr = broker_set(event.isr)
        if isr is not None and (not epoch.isr or epoch.isr[-1][0] != isr):
            epoch.isr.append((isr, ref))
        if event.kind in (Kind.UNCLEAN_ELECTION, Kind.RECOVERING):
            epoch.unclean.append(ref)
    for broker, spans in tenures.items():
        for tenure in spans:
            if tenure.epoch < 0:
                continue
            epoch = at(tenure.epoch)
            if epoch.time is None:
                epoch.time = tenure.time
            if tenure.role is Role.LEADER:
                _leader(epoch, broker, tenure.refs[0])
                epoch.served = True
                if tenure.isr:
                    # The leader's own word on its ISR comes first; what others cached follows later.
                    epoch.isr = list(tenure.isr)
            elif tenure.leader is not None:
                _leader(epoch, tenure.leader, tenure.refs[0])
                if tenure.isr and not epoch.isr:
                    epoch.isr = list(tenure.isr)
    for disk in disks.values():
        for number, _, _ in disk.entries:
            at(number).served = True
        for number, _ in disk.lineage.entries:
            if number >= 0:
                at(number).served = True


def _leader(epoch: Epoch, leader: int, ref: Ref) -> None:
    if epoch.leader is None or (epoch.leader < 0 <= leader):
        epoch.leader = leader
        epoch.refs.append(ref)
    elif leader >= 0 and leader != epoch.leader:
        epoch.other_leaders.setdefault(leader, ref)


class _Fold:
    """The fold itself; holds each replica's log as it stands while epochs pass."""

    def __init__(
        self, history: History, tenures: Mapping[int, list[Tenure]], disks: Mapping[int, Disk]
    ) -> None:
        self.history = history
        self.tenures = tenures
        self.disks = disks
        self.logs: dict[int, Lineage] = {}
        self.previous: dict[int, Tenure] = {}  # tenure before the one at hand, by broker
        self.next_of: dict[int, Tenure] = {}
        for spans in tenures.values():
            for one, two in zip(spans, spans[1:], strict=False):
                self.next_of[id(one)] = two
        for broker in history.replicas:
            self.logs[broker] = self._seed(broker)

    def _seed(self, broker: int) -> Lineage:
        """The log when the evidence begins: what the files still show of it, as far as nothing cut it since."""
        replica = self.history.replicas[broker]
        spans = self.tenures.get(broker, [])
        if replica.starts_empty:
            return Lineage()
        disk = self.disks.get(broker, _NO_DISK)
        lowest = min((step.target for tenure in spans for step in tenure.steps if step.what != "loaded"), default=None)
        first_end = next((t.start_end for t in spans if t.start_end is not None), None)
        first_epoch = next((t.epoch for t in spans if t.epoch >= 0), None)
        known = disk.lineage
        if first_epoch is not None:
            known = Lineage(tuple(entry for entry in known.entries if entry[0] <= first_epoch))
        limit = min((end for end in (lowest, first_end) if end is not None), default=None)
        if limit is not None and (disk.end is not None):
            known = known.cut(limit)
            if first_end is not None and first_end > limit:
                known = known.begin(UNKNOWN, limit)
        return known

    def run(self) -> None:
        for broker, spans in self.tenures.items():
            for tenure in spans:
                if tenure.epoch < 0:
                    self._steps(broker, tenure)
                    self._statements(broker, tenure)
        for number in sorted(self.history.epochs):
            epoch = self.history.epochs[number]
            leader = epoch.leader
            if leader is not None and leader >= 0:
                self._lead(epoch, leader)
            for broker in sorted(self.tenures):
                for tenure in self.tenures[broker]:
                    if tenure.epoch == number and not (tenure.role is Role.LEADER and broker == leader):
                        self._follow(broker, tenure, epoch)
        self._ends()

    # -- leading ----------------------------------------------------------------------------------------------------

    def _lead(self, epoch: Epoch, leader: int) -> None:
        spans = [t for t in self.tenures.get(leader, ()) if t.epoch == epoch.epoch and t.role is Role.LEADER]
        log = self.logs.get(leader, Lineage())
        tenure = spans[0] if spans else None
        if tenure is not None:
            self._came_back(leader, tenure)
            log = self.logs[leader]
        self._start(epoch, tenure)
        if epoch.start is not None:
            if not log.entries and epoch.start > 0:
                log = self._prefix(epoch.epoch, epoch.start)
            epoch.lineage = log.cut(epoch.start).begin(epoch.epoch, epoch.start)
        elif epoch.served or tenure is not None:
            epoch.lineage = log.cut(epoch.start_low).begin(UNKNOWN, epoch.start_low)
        else:
            epoch.lineage = log  # nothing shows that the leader ever took it up
        if tenure is not None:
            self.logs[leader] = epoch.lineage
            for span in spans:
                epoch.end_low = max(epoch.end_low, span.end_low)
                self._statements(leader, span, epoch)
                self._steps(leader, span, epoch)
                self.previous[leader] = span

    def _prefix(self, number: int, start: int) -> Lineage:
        """The log below an epoch's start from any files that show it (KIP-101: equal epochs, equal logs below)."""
        for broker in sorted(self.disks):
            entries = self.disks[broker].lineage.entries
            if any(epoch == number for epoch, _ in entries):
                return Lineage(entries).cut(start)
        return Lineage().begin(UNKNOWN, 0)

    def _start(self, epoch: Epoch, tenure: Tenure | None) -> None:
        """The leader's log end offset when the epoch began."""
        if tenure is not None:
            epoch.start_low = tenure.start_low
            if tenure.start_end is not None:
                epoch.start = tenure.start_end
                if tenure.start_ref is not None:
                    epoch.refs.append(tenure.start_ref)
                return
        leader = epoch.leader
        found: list[tuple[bool, int, Ref]] = []
        for broker, disk in self.disks.items():
            for position, (number, start, ref) in enumerate(disk.entries):
                # Retention rewrites the first entry to the log start (LeaderEpochFileCache.truncateFromStart).
                if number == epoch.epoch and (position > 0 or start == 0 or disk.log_start == 0):
                    found.append((broker != leader, start, ref))
            for number, start in disk.lineage.entries:
                if number == epoch.epoch and start > disk.log_start and number in disk.refs:
                    found.append((broker != leader, start, disk.refs[number]))
        if found:
            _, epoch.start, ref = min(found, key=lambda item: (item[0], item[1]))
            epoch.refs.append(ref)
            return
        if self.history.protocol == "hw" and tenure is not None and leader is not None:
            self._start_from_fork(epoch, leader)

    def _start_from_fork(self, epoch: Epoch, leader: int) -> None:
        """Without epochs in the log: the leader wrote its own records where its segments part from an older log.

        What it could have fetched before it led came from logs that agree with the older one, so the first offset at
        which its file differs is where it began to write, unless it was cut below that later.
        """
        later = [t for t in self.tenures[leader] if t.epoch >= epoch.epoch]
        lowest = min((s.target for t in later for s in t.steps if s.what != "loaded"), default=None)
        for fork in self.history.forks:
            if leader not in (fork.left, fork.right):
                continue
            other = fork.right if leader == fork.left else fork.left
            first = fork.ranges[0][0]
            if first < epoch.start_low or (lowest is not None and lowest <= first):
                continue
            if self._older(other, first, epoch.epoch):
                epoch.start = first
                epoch.refs.append(fork.left_ref if leader == fork.left else fork.right_ref)
                return

    def _older(self, broker: int, offset: int, number: int) -> bool:
        """Whether a replica's record at an offset was there before it ever followed this epoch or a later one."""
        for tenure in self.tenures.get(broker, ()):
            if tenure.epoch < number:
                continue
            if tenure.start_end is None or tenure.start_end <= offset:
                return False
            return all(
                step.target > offset
                for later in self.tenures[broker]
                if later.epoch >= number
                for step in later.steps
                if step.what != "loaded"
            )
        # It never heard of the epoch: all it has is older.
        return self.history.replicas[broker].has_logs

    # -- following --------------------------------------------------------------------------------------------------

    def _follow(self, broker: int, tenure: Tenure, epoch: Epoch) -> None:
        self._came_back(broker, tenure)
        if tenure.role is Role.LEADER:
            # Two leaders in one epoch: each keeps its own log; the rule of that name reports it.
            start = tenure.start_end if tenure.start_end is not None else tenure.start_low
            self.logs[broker] = self.logs[broker].cut(start).begin(tenure.epoch, start)
        self._statements(broker, tenure, epoch)
        self._steps(broker, tenure, epoch)
        cuts = [step for step in tenure.steps if step.what in ("cut", "full", "created", "deleted", "corrupt")]
        if tenure.role is Role.FOLLOWER and epoch.leader != broker:
            log = self.logs[broker]
            if cuts:
                at: int | None = cuts[-1].target
            elif tenure.start_end is not None:
                at = tenure.start_end
            elif self.history.protocol == "hw":
                at = epoch.start
            else:
                at = 0
            if epoch.lineage.entries and at is not None:
                self.logs[broker] = log.splice(epoch.lineage, at) if at > 0 else epoch.lineage
        self.previous[broker] = tenure

    def _came_back(self, broker: int, tenure: Tenure) -> None:
        """Compare the log at the start of a tenure with what it was known to be."""
        before = self.previous.get(broker)
        self._loads(broker, tenure, before)
        if tenure.start_end is None:
            return
        self.logs[broker] = self.logs[broker].cut(tenure.start_end)

    def _loads(self, broker: int, tenure: Tenure, before: Tenure | None) -> None:
        return None

    def _steps(self, broker: int, tenure: Tenure, epoch: Epoch | None = None) -> None:
        """Apply truncations and loads to the replica's log, keeping what each removed."""
        log = self.logs.get(broker, Lineage())
        for step in tenure.steps:
            if step.what in ("cut", "full"):
                end = step.end if step.end is not None else max(step.end_low, self._held(broker, tenure))
                exact = step.end is not None
                if step.what == "full" and step.target >= end:
                    log = Lineage().begin(UNKNOWN, step.target) if step.target else Lineage()
                    continue
                if end > step.target:
                    self.history.cuts.append(
                        Cut(
                            replica=broker,
                            epoch=tenure.epoch,
                            leader=tenure.leader if tenure.leader is not None else (epoch.leader if epoch else None),
                            target=step.target if step.what == "cut" else min(step.target, end),
                            end=end,
                            end_exact=exact,
                            lineage=log,
                            reason=step.reason,
                            time=step.time,
                            refs=step.refs,
                            repeats=step.repeats,
                        )
                    )
                log = log.cut(step.target)
            elif step.what == "loaded":
                known = step.end if step.end is not None else max(step.end_low, self._held(broker, tenure))
                if step.target < known:
                    self._shrunk(broker, tenure, step.target, known, log, step.time, step.refs, corrupt=False)
                log = log.cut(step.target)
            elif step.what == "corrupt":
                known = step.end if step.end is not None else max(step.end_low, self._held(broker, tenure))
                if step.target < known:
                    self._shrunk(broker, tenure, step.target, known, log, step.time, step.refs, corrupt=True)
                log = log.cut(step.target)
            elif step.what == "created":
                known = step.end if step.end is not None else max(step.end_low, self._held(broker, tenure))
                if known > 0:
                    self._shrunk(broker, tenure, 0, known, log, step.time, step.refs, corrupt=False)
                log = Lineage()
            elif step.what == "deleted":
                log = Lineage()
        self.logs[broker] = log

    def _held(self, broker: int, tenure: Tenure) -> int:
        """The least log end offset the protocol gives a replica: a HW reached while it was in the ISR covers its log."""
        least = 0
        for statement in self.history.statements:
            if statement.epoch > tenure.epoch or statement.epoch < 0:
                continue
            epoch = self.history.epochs.get(statement.epoch)
            if epoch is None or statement.replica == broker:
                least = max(least, statement.high_watermark if statement.replica == broker else 0)
                continue
            if statement.epoch == tenure.epoch:
                continue  # the order of two brokers within one epoch is not known
            if epoch.isr and all(broker in isr for isr, _ in epoch.isr) and statement.replica == epoch.leader:
                # It must still have held them when this tenure began: nothing cut it since.
                if not any(c.replica == broker and c.epoch > statement.epoch for c in self.history.cuts):
                    least = max(least, statement.high_watermark)
        return least

    def _shrunk(
        self,
        broker: int,
        tenure: Tenure,
        target: int,
        known: int,
        log: Lineage,
        time: int | None,
        refs: tuple[Ref, ...],
        *,
        corrupt: bool,
    ) -> None:
        self.history.shrunk.append(
            Shrunk(broker, tenure.epoch, known, target, log, time, refs, Confidence.INFERRED, corrupt)
        )

    # -- committed bounds -------------------------------------------------------------------------------------------

    def _statements(self, broker: int, tenure: Tenure, epoch: Epoch | None = None) -> None:
        before = self.previous.get(broker)
        start = tenure.start_hw
        if start is not None and start.value > 0:
            self._at_start(broker, tenure, before)
        if tenure.hw is not None and tenure.hw.value > 0 and epoch is not None and epoch.leader is not None:
            lineage = epoch.lineage if epoch.lineage.entries else self.logs[broker]
            self._state(
                broker, epoch.epoch, lineage, tenure.hw.value, "high watermark printed", tenure.hw.time, (tenure.hw.ref,)
            )

    def _at_start(self, broker: int, tenure: Tenure, before: Tenure | None) -> None:
        """A high watermark a tenure begins with was reached in an earlier one, in the log of the leader of that."""
        start = tenure.start_hw
        assert start is not None
        number, lineage = UNKNOWN, self.logs[broker]
        while before is not None:
            earlier = max(
                before.start_hw.value if before.start_hw is not None else 0,
                0,
            )
            if start.value > earlier or before.epoch < 0:
                break
            if not any(step.what in ("cut", "full") and step.target < start.value for step in before.steps):
                pass
            return  # nothing new: it already stood when the tenure before began
        if before is not None and before.epoch >= 0:
            led = self.history.epochs.get(before.epoch)
            if led is not None and led.leader is not None and led.leader >= 0 and led.lineage.entries:
                number, lineage = before.epoch, led.lineage
        self._state(broker, number, lineage, start.value, "high watermark when it returned", start.time, (start.ref,))

    def _state(
        self, broker: int, number: int, lineage: Lineage, hw: int, how: str, time: int | None, refs: tuple[Ref, ...]
    ) -> None:
        self.history.statements.append(
            Statement(broker, number, lineage, hw, Confidence.PROVEN, how, time, refs)
        )

    # -- the end ----------------------------------------------------------------------------------------------------

    def _ends(self) -> None:
        history = self.history
        for broker, replica in history.replicas.items():
            disk = self.disks.get(broker, _NO_DISK)
            replica.lineage = disk.lineage if disk.lineage.entries else self.logs.get(broker, Lineage())
            spans = self.tenures.get(broker, [])
            last = spans[-1] if spans else None
            if replica.end is None and last is not None:
                replica.end = None
            if disk.checkpoint is None or disk.checkpoint[0] <= 0:
                continue
            hw, ref = disk.checkpoint
            number, lineage = UNKNOWN, replica.lineage
            if last is not None and last.epoch >= 0:
                reached = last.start_hw.value if last.start_hw is not None else 0
                epoch = history.epochs.get(last.epoch)
                if hw <= reached:
                    continue  # it already stood when the last tenure began
                if epoch is not None and epoch.lineage.entries and epoch.leader is not None and epoch.leader >= 0:
                    number, lineage = last.epoch, epoch.lineage
            self._state(broker, number, lineage, hw, "high watermark in the checkpoint file", None, (ref,))


def lost(history: History, statements: Iterable[Statement]) -> list[tuple[Statement, list[tuple[int, int]], list[tuple[int, int]]]]:
    """For each statement: committed offsets that the log of the current leader does not hold, and those unknown."""
    current = history.current
    if current is None:
        return []
    found = []
    for statement in statements:
        gone, unknown = differences(statement.lineage, current.lineage, 0, statement.high_watermark)
        if gone or unknown:
            found.append((statement, gone, unknown))
    return found
