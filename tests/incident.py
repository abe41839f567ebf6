"""Small incidents written by hand: what brokers of 2.8 would have left, a few lines and batches each.

Wordings are those of ``kafka.log.Log``, ``kafka.cluster.Partition`` and ``state.change.logger`` in 2.8.
"""

from __future__ import annotations

import struct
from collections.abc import Container, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import google_crc32c

from forensics.engines.local import scan
from forensics.replay.history import History
from forensics.result import Partition, Result
from forensics.rules.finding import Finding, Judgement
from forensics.rules.wording import want_texts

ZERO = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
Span = tuple[int, int, int]
"""A batch: base offset, last offset, leader epoch."""


def batch(
    base: int, last: int, epoch: int, *, salt: bytes = b"", count: int | None = None, marker: bool = False
) -> bytes:
    """A record batch of format v2 that holds no readable records; ``salt`` makes it another of the same span.

    Compaction leaves ``count`` records in it; a ``marker`` ends a transaction.
    """
    records = b"\0" * 8 + salt
    span = last - base + 1
    attributes = 0x30 if marker else 0
    held = span if count is None else count
    checked = struct.pack(">hiqqqhii", attributes, span - 1, 0, 0, -1, -1, -1, held) + records
    head = struct.pack(">ibI", epoch, 2, google_crc32c.value(checked))
    return struct.pack(">qi", base, len(head) + len(checked)) + head + checked


class Node:
    """One broker's folder."""

    def __init__(self, folder: Path, number: int, partition: str) -> None:
        self.folder = folder / f"broker-{number}"
        self.number = number
        self.partition = partition
        self.topic = partition.rpartition("-")[0]
        self.epoch = -1  # what its process knows
        self.opened = False  # the log, by its process
        self.shrunk = 0  # times that it narrowed the ISR
        self.data = self.folder / "data"
        (self.folder / "logs").mkdir(parents=True)
        self.data.mkdir()
        (self.data / "meta.properties").write_text(f"version=0\nbroker.id={number}\ncluster.id=test\n")

    def says(self, at: float, text: str, *, log: str = "server") -> Node:
        """Add a line to a log; ``at`` is in seconds."""
        time = (ZERO + timedelta(seconds=at)).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
        with (self.folder / "logs" / f"{log}.log").open("a") as stream:
            stream.write(f"[{time}] {text}\n")
        return self

    def starts(self, at: float, *, killed: bool = False) -> Node:
        """A new process; one with a role before it had stopped, or was killed."""
        if self.epoch >= 0 and not killed:
            self.says(
                at, f"INFO [KafkaServer id={self.number}] Starting controlled shutdown (kafka.server.KafkaServer)"
            )
        self.epoch, self.opened = -1, False
        self.says(at, "INFO Connecting to zookeeper on localhost:2181 (kafka.server.KafkaServer)")
        return self.says(at, "INFO Kafka version: 2.8.2 (org.apache.kafka.common.utils.AppInfoParser)")

    def creates(self, at: float, properties: str = "") -> Node:
        """A new, empty log, and what it is made with beside the broker's defaults."""
        self.says(
            at, f"INFO Created log for partition {self.partition} in /d/{self.partition} with properties "
            f"{{{properties}}} (kafka.log.LogManager)"
        )  # fmt: skip
        self.opened = False
        return self.opens(at, 0)

    def loads(self, at: float, end: int, *, files: int = 1) -> Node:
        """The log as a new process found it, and in how many segments."""
        return self.says(
            at, f"INFO Completed load of Log(dir=/d/{self.partition}, topic={self.topic}, partition=0, "
            f"highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset={end}) with {files} segments in 9ms "
            "(1/1 loaded in /d) (kafka.log.LogManager)"
        )  # fmt: skip

    def opens(self, at: float, hw: int) -> Node:
        """Opens its log with a high watermark, once in a process."""
        if not self.opened:
            self.opened = True
            self.says(
                at, f"INFO [Partition {self.partition} broker={self.number}] Log loaded for partition "
                f"{self.partition} with initial high watermark {hw} (kafka.cluster.Partition)"
            )  # fmt: skip
        return self

    def leads(self, at: float, epoch: int, start: int, hw: int, isr: Iterable[int]) -> Node:
        """Takes up the leadership."""
        before, self.epoch = self.epoch, epoch
        self.opens(at, hw)
        self.says(
            at, f"INFO [ReplicaFetcherManager on broker {self.number}] Removed fetcher for partitions "
            f"Set({self.partition}) (kafka.server.ReplicaFetcherManager)"
        )  # fmt: skip
        return self.says(
            at, f"INFO [Broker id={self.number}] Leader {self.partition} starts at leader epoch {epoch} from offset "
            f"{start} with high watermark {hw} ISR [{','.join(map(str, isr))}] addingReplicas [] removingReplicas []. "
            f"Previous leader epoch was {before}. (state.change.logger)",
            log="state-change",
        )  # fmt: skip

    def follows(self, at: float, epoch: int, leader: int, end: int, hw: int) -> Node:
        """Becomes a follower, with the end of its log before it is reconciled."""
        before, self.epoch = self.epoch, epoch
        self.opens(at, hw)
        self.says(
            at, f"INFO [Broker id={self.number}] Follower {self.partition} starts at leader epoch {epoch} from offset "
            f"{end} with high watermark {hw}. Previous leader epoch was {before}. (state.change.logger)",
            log="state-change",
        )  # fmt: skip
        return self.says(
            at, f"INFO [ReplicaFetcherManager on broker {self.number}] Added fetcher to broker {leader} for partitions "
            f"Map({self.partition} -> InitialFetchState(BrokerEndPoint(id={leader}, host=h:9092),{epoch},{end})) "
            "(kafka.server.ReplicaFetcherManager)"
        )  # fmt: skip

    def cuts(self, at: float, target: int) -> Node:
        """Truncates its log."""
        return self.says(
            at, f"INFO [Log partition={self.partition}, dir=/d] Truncating to offset {target} (kafka.log.Log)"
        )

    def shrinks(self, at: float, before: str, after: str, hw: int, end: int, out: str) -> Node:
        """Takes replicas out of the ISR; ``out`` is ``(brokerId: 2, endOffset: 5)``."""
        self.shrunk += 1
        return self.says(
            at, f"INFO [Partition {self.partition} broker={self.number}] Shrinking ISR from {before} to {after}. "
            f"Leader: (highWatermark: {hw}, endOffset: {end}). Out of sync replicas: {out}. (kafka.cluster.Partition)"
        )  # fmt: skip

    def rolls(self, at: float, base: int) -> Node:
        """Begins another segment."""
        return self.says(
            at, f"INFO [Log partition={self.partition}, dir=/d] Rolled new log segment at offset {base} in 5 ms. "
            "(kafka.log.Log)"
        )  # fmt: skip

    def segment(
        self,
        spans: Iterable[Span],
        *,
        salt: bytes = b"",
        directory: str = "data",
        base: int = 0,
        counts: Mapping[int, int] | None = None,
        markers: Container[int] = (),
    ) -> Path:
        """A segment of the partition, as a rule its one; how many records are left in some batches, and which ones are
        markers, by base offset.
        """
        path = self.folder / directory / self.partition / f"{base:020}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        left = counts or {}
        path.write_bytes(
            b"".join(batch(*span, salt=salt, count=left.get(span[0]), marker=span[0] in markers) for span in spans)
        )
        return path

    def checkpoint(self, value: int, name: str = "replication") -> Node:
        """One of the offset checkpoints of the data directory."""
        text = f"0\n1\n{self.topic} 0 {value}\n"
        (self.data / f"{name}-offset-checkpoint").write_text(text)
        beside = self.data / "recovery-point-offset-checkpoint"
        if not beside.exists():
            beside.write_text("0\n0\n")  # every broker keeps one, whatever it says
        return self

    def epochs(self, *entries: tuple[int, int]) -> Node:
        """The replica's leader-epoch-checkpoint."""
        lines = "".join(f"{epoch} {start}\n" for epoch, start in entries)
        folder = self.data / self.partition
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "leader-epoch-checkpoint").write_text(f"0\n{len(entries)}\n{lines}")
        return self


class Incident:
    """A cluster of brokers 1, 2, ... and controller 9, about one partition."""

    def __init__(self, folder: Path, brokers: int = 3, partition: str = "orders-0") -> None:
        self.folder = folder
        self.partition = partition
        self.result: Result | None = None
        self.nodes = {number: Node(folder, number, partition) for number in (*range(1, brokers + 1), 9)}
        for node in self.nodes.values():
            node.starts(0)

    def __getitem__(self, number: int) -> Node:
        return self.nodes[number]

    def elects(self, at: float, epoch: int, leader: int, isr: Iterable[int]) -> None:
        """The controller names a leader. Each write of the partition's state has the next number, a shrunk ISR too."""
        version = epoch + sum(node.shrunk for node in self.nodes.values())
        self[9].says(
            at, f"INFO [Controller id=9 epoch=1] Changed partition {self.partition} from OfflinePartition to "
            f"OnlinePartition with state LeaderAndIsr(leader={leader}, leaderEpoch={epoch}, "
            f"isr=List({', '.join(map(str, isr))}), zkVersion={version}) (state.change.logger)",
            log="state-change",
        )  # fmt: skip

    def begins(self, end: int, properties: str = "") -> None:
        """Broker 1 leads from the start, the others follow; all have the same log up to ``end``, committed."""
        replicas = [number for number in self.nodes if number != 9]
        self.elects(1, 0, 1, replicas)
        for number in replicas:
            node = self[number].creates(1, properties)
            if number == 1:
                node.leads(1, 0, 0, 0, replicas)
            else:
                node.follows(1, 0, 1, 0, 0)
            node.segment([(0, end - 1, 0)])
            node.epochs((0, 0)).checkpoint(end)

    def succeeds(self, at: float, epoch: int, leader: int, start: int, *followers: int) -> None:
        """A broker begins an epoch at an offset; those that follow it had nothing more."""
        isr = [leader, *followers]
        self.elects(at, epoch, leader, isr)
        self[leader].leads(at, epoch, start, start, isr)
        for follower in followers:
            self[follower].follows(at, epoch, leader, start, start)

    def scan(self) -> Result:
        """Judge it, once: nothing may be added afterwards."""
        if self.result is None:
            self.result = scan([str(self.folder)])
        return self.result

    def partition_of(self, result: Result) -> Partition:
        """The present life of the partition."""
        found = (p for p in result.partitions if p.history.name == self.partition and not p.history.incarnation)
        return next(found)

    def history(self) -> History:
        """What replay makes of it."""
        return self.partition_of(self.scan()).history

    def verdict(self, rule: str) -> str:
        """What a rule says."""
        return self.partition_of(self.scan()).judgements[rule].verdict.value

    def findings(self, rule: str) -> list[Finding]:
        """What a rule finds."""
        return list(self.partition_of(self.scan()).judgements[rule].findings)

    def missing(self, rule: str) -> list[str]:
        """What would settle a rule's unknown verdict."""
        return wishes(self.partition_of(self.scan()).judgements[rule])


def wishes(judgement: Judgement, partition: str = "orders-0") -> list[str]:
    """What would settle a rule's unknown verdict, in words."""
    return list(want_texts(judgement.missing, partition))
