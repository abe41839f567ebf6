"""A cluster with one partition, driven step by step: nothing happens unless a step asks for it, and time is a number.

Steps are what brokers, clients and operators do: produce, fetch, crash, restart, wait. Each step takes one logical
millisecond; ``wait`` lets more pass and runs what brokers do by the clock (HW checkpoints, ISR checks, idle fetches).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from forensics.model import isr, logs, replication
from forensics.model.controller import Controller
from forensics.model.exporter import Exporter
from forensics.model.groups import Groups
from forensics.model.protocol import Protocol, UnknownName
from forensics.model.replication import Answer
from forensics.model.state import CHECKPOINTS, NO_EPOCH, Batch, Disk, EpochCache, Log, Record, Replica
from forensics.model.trace import Event, Trace
from forensics.model.truth import Witness

HW_CHECKPOINT_MS = 5_000
"""``replica.high.watermark.checkpoint.interval.ms``."""
FETCH_WAIT_MS = 500
"""``replica.fetch.wait.max.ms``: how often an idle follower asks."""
TOPIC = "orders"
PARTITION = 0
ACKS = {"0": "0", "1": "1", "all": "all", "-1": "all"}


def required_acks(acks: str | int) -> str:
    """``acks`` as the model writes them: ``0``, ``1`` or ``all``.

    Raises:
        ValueError: No such setting.
    """
    if str(acks) not in ACKS:
        raise ValueError(f"acks={acks} is no setting of a producer; there are 0, 1 and all (or -1, which is the same)")
    return ACKS[str(acks)]


@dataclass(slots=True)
class Broker:
    """A broker's process and what is on its way to it."""

    id: int
    replica: Replica
    up: bool = True
    paused: bool = False
    runs: int = 0
    checkpoints_from: int | None = None
    """When the HW checkpoint thread of this run began: at the first word from the controller."""
    slow: int = 0
    """Batches one answer brings to it, 0 for all: a slow follower."""
    answer: Answer | None = None
    """Answer to its outstanding fetch."""
    known: bool = True
    """True if it has a session with ZooKeeper or is unfenced, as far as the broker itself knows."""


class Brokers(dict[int, Broker]):
    """Brokers by id."""

    def __missing__(self, broker: int) -> Broker:
        raise UnknownName(f"no broker {broker} holds the partition; there are {', '.join(map(str, self))}")


class Cluster:
    """One partition, its brokers, its controller and its clients.

    Args:
        protocol: Which generation of Kafka.
        brokers: Ids of the brokers that hold the partition, in assignment order: the first leads.
        min_isr: ``min.insync.replicas``.
        unclean: ``unclean.leader.election.enable``; None takes the version's default.
        lag_ms: ``replica.lag.time.max.ms``; None takes the version's default.
        topic: Name of the topic.
        controller: Id of the first controller; each that takes over has the next one.
        cluster_id: The cluster's id; None for one that follows from the run.
        trace: Where events go.
    """

    CONTROLLER: Final = 0
    """Stands for the controller (or ZooKeeper) where a link is named."""

    def __init__(
        self,
        protocol: Protocol,
        brokers: Iterable[int] = (1, 2, 3),
        *,
        min_isr: int = 1,
        unclean: bool | None = None,
        lag_ms: int | None = None,
        topic: str = TOPIC,
        controller: int | None = None,
        cluster_id: str | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.protocol = protocol
        self.assigned = tuple(brokers)
        self.min_isr = min_isr
        self.unclean = protocol.unclean_default if unclean is None else unclean
        self.lag_ms = protocol.lag_ms if lag_ms is None else lag_ms
        self.trace = trace if trace is not None else Trace(on=False)
        self.witness = Witness()
        self.groups = Groups()
        self.exporter = Exporter()
        self.now = 0
        self.broken: set[frozenset[int]] = set()
        self.brokers = Brokers({b: Broker(b, Replica(b)) for b in self.assigned})
        self.actions: list[dict[str, Any]] = []
        self.topic = topic
        self.cluster_id = cluster_id
        self.first_controller = controller or (9 if protocol.mode == "zk" else 100)
        self.controller = Controller(self, self.first_controller)
        self.written = 0
        self._next_isr_check = self.lag_ms // 2
        self.controller.emit("controller_started", epoch=1, live=[])
        for broker in self.assigned:
            self._step()
            self._start(self.brokers[broker], clean=True)
        self._step(100)

    # -- small things everybody needs ---------------------------------------------------------------------------------

    def replica(self, broker: int) -> Replica:
        """The broker's copy of the partition."""
        return self.brokers[broker].replica

    def leader(self) -> Replica | None:
        """The replica the controller has made leader, if its broker runs."""
        state = self.controller.state
        if state is None or state.leader not in self.brokers:
            return None
        broker = self.brokers[state.leader]
        return broker.replica if broker.up and broker.replica.role == "leader" else None

    def runs(self, broker: int) -> bool:
        """Return whether the broker's process runs and is not paused."""
        return self.brokers[broker].up and not self.brokers[broker].paused

    def reaches(self, one: int, other: int) -> bool:
        """Return whether two nodes can communicate: both run, and the link between them works."""
        return (
            (one == self.CONTROLLER or self.runs(one))
            and (other == self.CONTROLLER or self.runs(other))
            and frozenset((one, other)) not in self.broken
        )

    def emit(self, kind: str, broker: int | None, /, **facts: Any) -> None:
        """Adds an event to the trace, with the state the broker's replica is in now."""
        if not self.trace.on:
            return
        state: dict[str, Any] = {}
        if broker is not None and broker in self.brokers and (replica := self.brokers[broker].replica).on_disk:
            state = {
                "role": replica.role,
                "leader_epoch": replica.leader_epoch,
                "log_end_offset": replica.log.end,
                "high_watermark": replica.hw,
            }
            if replica.role == "leader":
                state["isr"] = list(replica.isr)
                if (stable := replica.last_stable()) != replica.hw:
                    state["last_stable_offset"] = stable
        self.trace.add(Event(self.now, broker, kind, facts, state))

    def act(self, what: str, /, **facts: Any) -> None:
        """Notes what an operator or a client did."""
        if self.trace.on:
            self.actions.append({"at": self.now, "what": what, **facts})
            self.emit("action", None, what=what, **facts)

    def _step(self, ms: int = 1) -> None:
        self.now += ms

    # -- topic and clients --------------------------------------------------------------------------------------------

    def create_topic(self) -> None:
        """Creates the topic; followers reconcile and fetch once, as they do at once."""
        self._step()
        self.act("create topic", topic=self.topic, assignment=[list(self.assigned)], min_insync_replicas=self.min_isr)
        self.controller.create(self.assigned)
        for broker in self.assigned[1:]:
            self.fetch(broker)

    def produce(
        self,
        count: int = 1,
        acks: str | int = "all",
        *,
        to: int | None = None,
        producer: int = -1,
        marker: str = "",
        values: tuple[str, ...] = (),
    ) -> list[Batch]:
        """A producer writes ``count`` records in one request to the leader, or to the broker that it believes to be the
        leader.

        Args:
            acks: ``0``, ``1`` or ``all``, or ``-1`` for ``all``.
            values: What is written, instead of ``count`` records that the model names.

        Returns:
            What was appended; nothing if the request was refused.

        Raises:
            ValueError: Other acks: brokers have refused them since 0.9 (INVALID_REQUIRED_ACKS).
        """
        acks = required_acks(acks)
        self._step()
        if not self.protocol.epochs:  # message format 1 knows no transactions
            if marker:
                return []
            producer = -1
        leader = self.replica(to) if to is not None else self.leader()
        if leader is None or not self.runs(leader.broker) or leader.role != "leader":
            return []
        if marker:
            values = (marker,)
        values = values or tuple(f"m{self.written + n}" for n in range(1, count + 1))
        if acks == "all" and len(leader.isr) < self.min_isr:
            self.emit("refused", None, why="NOT_ENOUGH_REPLICAS", broker_asked=leader.broker)
            return []
        if not marker:
            self.written += len(values)
        batches = replication.append(self, leader, values, acks, producer, marker)
        self.act("produced", broker=leader.broker, acks=acks, first=batches[0].base, last=batches[-1].end - 1)
        if acks == "1":
            for batch in batches:
                self.acknowledge(batch)
        return batches

    def end_transaction(self, producer: int, *, commit: bool = True) -> list[Batch]:
        """Writes the marker that decides a producer's transaction. It takes an offset like any record."""
        return self.produce(1, "all", producer=producer, marker="commit" if commit else "abort")

    def acknowledge(self, batch: Batch) -> None:
        """A producer hears that its records are written."""
        if not batch.marker:
            self.witness.acked.append(batch)
        if self.trace.on:
            self.emit("acked", None, first=batch.base, end=batch.end, acks=batch.acks, epoch=batch.epoch)

    def consume(self, *, from_broker: int | None = None, committed: bool = False) -> list[Record]:
        """Return the records that a consumer gets: records below the HW, never a transaction's marker.

        Args:
            from_broker: The broker that it believes to be the leader; None for the actual leader.
            committed: ``isolation.level=read_committed``: records below the LSO, without those of aborted transactions.
                Otherwise only markers are left out: clients drop control batches at either level.
        """
        replica = self.replica(from_broker) if from_broker is not None else self.leader()
        if replica is None or replica.role != "leader" or not self.runs(replica.broker):
            return []
        return list(replica.readable(committed=committed))

    # -- replication, a round at a time -------------------------------------------------------------------------------

    def ask_epoch(self, broker: int) -> bool:
        """One OffsetsForLeaderEpoch round of a follower that must reconcile. False if there was none or no answer."""
        replica = self.replica(broker)
        if replica.role != "follower" or not replica.truncating or replica.leader is None or not self.runs(broker):
            return False
        if not self.reaches(broker, replica.leader):
            return False
        self._step()
        return replication.ask_epoch(self, replica, self.replica(replica.leader))

    def send_fetch(self, broker: int) -> bool:
        """A follower's fetch request arrives: the leader learns its LEO. The answer is on its way, or parked.

        Returns:
            Whether there is an answer to ``receive``.
        """
        node = self.brokers[broker]
        replica = node.replica
        if (
            not self.runs(broker)
            or replica.role != "follower"
            or replica.leader is None
            or replica.leader not in self.brokers
        ):
            return False
        if replica.truncating:
            return False
        if node.answer is not None:
            return True
        if not self.reaches(broker, replica.leader):
            return False
        self._step()
        last_epoch = replica.epochs.latest if self.protocol.truncates_on_fetch else NO_EPOCH
        if self.trace.on:
            self.emit(
                "fetches",
                broker,
                leader=replica.leader,
                offset=replica.log.end,
                leader_epoch=replica.leader_epoch,
                last_epoch=last_epoch,
            )
        leader = self.replica(replica.leader)
        node.answer = replication.serve(self, leader, broker, replica.log.end, replica.leader_epoch, last_epoch)
        return True

    def receive(self, broker: int) -> bool:
        """The answer to a follower's fetch arrives and is worked in."""
        node = self.brokers[broker]
        answer = node.answer
        if answer is None or not self.runs(broker):
            return False
        if not self.reaches(broker, answer.leader):
            if not self.brokers[answer.leader].up or frozenset((broker, answer.leader)) in self.broken:
                node.answer = None  # the connection is gone, and with it the answer
            return False
        self._step()
        if answer.parked:
            replication.release(self, answer, broker)
        node.answer = None
        replication.take(self, node.replica, answer)
        return True

    def fetch(self, broker: int, rounds: int = 1) -> None:
        """A follower's round trip, or several: reconciles first if it must, then fetches and takes the answer."""
        for _ in range(rounds):
            for _ in range(64):
                if not self.ask_epoch(broker):
                    break
            if not self.send_fetch(broker):
                return
            self.receive(broker)

    def catch_up(self, *brokers: int, rounds: int = 8) -> None:
        """Followers fetch in turn until nothing changes: LEOs and HWs are then equal wherever they can be."""
        for _ in range(rounds):
            before = [(r.broker, r.log.end, r.hw, r.truncating) for r in (b.replica for b in self.brokers.values())]
            for broker in brokers or self.assigned:
                self.fetch(broker)
            if before == [
                (r.broker, r.log.end, r.hw, r.truncating) for r in (b.replica for b in self.brokers.values())
            ]:
                return

    def has_state(self, broker: int) -> None:
        """The broker got its first word from the controller: its HW checkpoint thread starts."""
        node = self.brokers[broker]
        if node.checkpoints_from is None:
            node.checkpoints_from = self.now

    # -- time ---------------------------------------------------------------------------------------------------------

    def wait(self, ms: int, *, fetching: bool = True) -> None:
        """Lets time pass: idle followers fetch, HWs are checkpointed every 5 s, ISRs checked every half lag limit."""
        until = self.now + ms
        while True:
            at = self._next_due(fetching=fetching)
            if at > until:
                self.now = max(self.now, until)
                return
            self.now = max(self.now, at)
            for node in self._checkpointing():
                if self._next_checkpoint(node, closed=True) == at:
                    self.checkpoint(node.id)
            if at == self._next_isr_check:
                self._next_isr_check += self.lag_ms // 2
                self.check_isr()
            if fetching and at % FETCH_WAIT_MS == 0:
                self._fetch_all()
                self.now = max(self.now, at)

    def _fetch_all(self) -> None:
        for broker in self.assigned:
            self.fetch(broker)

    def _next_due(self, *, fetching: bool) -> int:
        """Return when something happens by itself next: a check of the ISR, a checkpoint, or a fetch."""
        due = [self._next_isr_check, *map(self._next_checkpoint, self._checkpointing())]
        if fetching:
            due.append(self.now - self.now % FETCH_WAIT_MS + FETCH_WAIT_MS)
        return min(due)

    def _checkpointing(self) -> Iterator[Broker]:
        """Yield the running brokers whose HW checkpoint thread has started."""
        for node in self.brokers.values():
            if node.up and not node.paused and node.checkpoints_from is not None:
                yield node

    def _next_checkpoint(self, node: Broker, *, closed: bool = False) -> int:
        assert node.checkpoints_from is not None
        passed = self.now - node.checkpoints_from - closed
        return node.checkpoints_from + (passed // HW_CHECKPOINT_MS + 1) * HW_CHECKPOINT_MS

    def check_isr(self, broker: int | None = None) -> None:
        """Leaders drop followers that have not caught up within the lag limit."""
        for node in self.brokers.values():
            concerned = (broker is None or node.id == broker) and node.up and not node.paused
            if concerned and isr.shrink(self, node.replica):
                replication.raise_hw(self, node.replica)

    def checkpoint(self, broker: int) -> None:
        """The broker writes ``replication-offset-checkpoint``: the HW as it is in memory."""
        replica = self.replica(broker)
        if self.runs(broker) and replica.on_disk and (replica.role or replica.leader_epoch != NO_EPOCH):
            replica.disk.write("hw", replica.hw)
            if self.trace.on:
                self.emit("checkpoints_hw", broker, hw=replica.hw)

    def flush(self, broker: int) -> None:
        """The broker flushes its log: everything so far survives a power cut, and the recovery point is moved to its
        end.
        """
        replica = self.replica(broker)
        if self.runs(broker):
            replica.log.synced = replica.log.end
            replica.disk.write("recovery_point", replica.log.end)
            self.emit("flushes", broker, to=replica.log.end)

    # -- words from the controller ------------------------------------------------------------------------------------

    def deliver(self, broker: int) -> None:
        """The controller's present state reaches a broker, if it can be reached."""
        state = self.controller.state
        if state is None or broker not in self.brokers or not self.reaches(broker, self.CONTROLLER):
            return
        self._step()
        replication.told(self, broker, state)

    def deliver_metadata(self) -> None:
        """KRaft: every broker in reach applies the newest metadata."""
        for broker in self.assigned:
            if self.brokers[broker].known:
                self.deliver(broker)

    # -- processes ----------------------------------------------------------------------------------------------------

    def process_ends(self, broker: int) -> None:
        """The broker's process is gone; the page cache stays with the operating system."""
        node = self.brokers[broker]
        node.up, node.paused, node.answer, node.checkpoints_from = False, False, None, None
        replication.fail_pending(self, node.replica, "connection lost")
        node.replica.forget()
        for other in self.brokers.values():
            if other.answer is not None and other.answer.leader == broker:
                other.answer = None

    def _start(self, node: Broker, *, clean: bool) -> None:
        replica = node.replica
        node.up, node.paused, node.known = True, False, True
        node.runs += 1
        replica.epochs = (
            EpochCache(replica.disk.epochs) if clean else logs.recover_epochs(replica, epochs=self.protocol.epochs)
        )
        replica.epochs.cut(replica.log.end)
        if replica.epochs.entries != replica.disk.epochs:
            replica.disk.write("epochs", list(replica.epochs.entries))
        for file, damage in replica.disk.damage.items():
            if damage == "lost":
                replica.disk.damage[file] = "empty"
        replica.disk.clean = False
        self.emit(
            "starts",
            node.id,
            clean=clean,
            first=node.runs == 1,
            runs=node.runs,
            leo=replica.log.end,
            found=replica.on_disk,
            recovery_point=replica.disk.recovery_point or 0,
            unreadable=[
                CHECKPOINTS[file]
                for file in ("recovery_point", "log_start")
                if replica.disk.damage.get(file) == "garbled"
            ],
            broker_epoch=self.controller.offset + 2,
            metadata_end=replica.disk.metadata_end,
        )
        self.controller.broker_started(node.id)
        # Its record is at the offset that is the broker epoch, and the broker reads it before it serves.
        replica.disk.metadata_end = self.controller.broker_epochs[node.id] + 1

    def restart(self, broker: int) -> bool:
        """Starts a broker that is down: it loads its log, takes its HW from the checkpoint and registers.

        Returns:
            Whether it is up: not if it was before, nor if ``leader-epoch-checkpoint`` cannot be read.
        """
        node = self.brokers[broker]
        if node.up:
            return False
        self._step()
        self.act("start", broker=broker)
        if node.replica.disk.damage.get("epochs") == "garbled":  # the log cannot be loaded, and it is the only one
            node.runs += 1
            self.emit("cannot_load", broker, file=f"{self.topic}-{PARTITION}/{CHECKPOINTS['epochs']}")
            return False
        self._start(node, clean=node.replica.disk.clean)
        return True

    def erase(self, broker: int) -> None:
        """The disk of a broker that is down is replaced by an empty one."""
        node = self.brokers[broker]
        replica = node.replica
        replica.log, replica.disk, replica.epochs, replica.on_disk = Log(), Disk(), EpochCache(), False
