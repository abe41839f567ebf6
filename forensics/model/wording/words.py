"""Common parts of the wordings of all versions: where a line goes, which levels print, and a broker's log at that
time.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal, NamedTuple

from forensics.model.cluster import PARTITION, Cluster
from forensics.model.segments import size
from forensics.model.state import Batch
from forensics.model.trace import Event

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")


class Line(NamedTuple):
    """A log line before it is stamped: its level, logger and message. ``after`` is an exception's text on its own
    lines.
    """

    level: str
    logger: str
    text: str
    after: str = ""


class Threshold(NamedTuple):
    """A logger and all below it: the least level printed, and the file."""

    logger: str
    level: str
    file: str


def uuid_of(*parts: object) -> str:
    """A topic, cluster or directory id that follows from the run: 22 characters, as Kafka prints them."""
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:16]
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


class Scene:
    """The run as a renderer sees it while it goes through the events: names, and each log as it was at that moment."""

    def __init__(self, cluster: Cluster, name: str, seed: int) -> None:
        self.protocol = cluster.protocol
        self.assigned = cluster.assigned
        self.min_isr = cluster.min_isr
        self.unclean = cluster.unclean
        self.lag_ms = cluster.lag_ms
        self.topic = cluster.topic
        self.voter = cluster.first_controller
        self.tp = f"{self.topic}-{PARTITION}"
        self.old_tp = f"[{self.topic},{PARTITION}]"
        run = (name, cluster.protocol.name, seed)
        self.topic_id = uuid_of("topic", *run)
        self.cluster_id = cluster.cluster_id or uuid_of("cluster", *run)
        self.run = run
        self.logs: dict[int, list[Batch]] = {b: [] for b in cluster.assigned}
        self.told: dict[int, dict[str, Any]] = {}
        self.isr_before: dict[int, list[int]] = {}

    def directory_id(self, broker: int) -> str:
        """``directory.id`` of a broker's only log directory."""
        return uuid_of("directory", broker, *self.run)

    def incarnation(self, broker: int, epoch: int) -> str:
        """Incarnation id of one run of a broker."""
        return uuid_of("incarnation", broker, epoch, *self.run)

    def data(self, broker: int) -> str:
        """The broker's log directory, as a deployment would name it."""
        return f"/srv/kafka/broker-{broker}/data"

    def port(self, broker: int) -> int:
        """The port it listens on."""
        return 19000 + broker

    def position(self, broker: int, offset: int) -> int:
        """Return the byte of the segment at which ``offset`` is or would be written."""
        return size([batch for batch in self.logs.get(broker, []) if batch.end <= offset], self.protocol.magic)

    def follow(self, event: Event) -> None:
        """Brings the logs to the state after the event."""
        broker = event.broker
        if event.kind == "appends" and broker is not None:
            self.logs[broker].extend(event.facts["batches"])
        elif event.kind == "cut" and broker is not None:
            self.logs[broker] = [batch for batch in self.logs[broker] if batch.end <= event.facts["to"]]
        elif event.kind == "starts" and broker is not None:
            self.logs[broker] = [batch for batch in self.logs[broker] if batch.end <= event.facts["leo"]]


class Words:
    """One version's words: a method for each kind of event that brokers of that version print something about."""

    version: ClassVar[str]
    commit: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]] = ()
    """Events that leave lines, each worded by the method of that name. Other kinds leave none."""
    defaults: ClassVar[tuple[Threshold, ...]]
    """Stock log levels of the version."""
    more: ClassVar[tuple[Threshold, ...]] = (
        Threshold("kafka.cluster.Partition", "TRACE", "server.log"),
        Threshold("kafka.cluster.Replica", "TRACE", "server.log"),
        Threshold("kafka.server.ReplicaFetcherThread", "TRACE", "server.log"),
        Threshold("kafka.server.ReplicaManager", "DEBUG", "server.log"),
        Threshold("kafka.log.Log", "TRACE", "server.log"),
        Threshold("kafka.log.UnifiedLog", "TRACE", "server.log"),
        Threshold("kafka.log.LocalLog", "TRACE", "server.log"),
        Threshold("kafka.log.LogManager", "DEBUG", "server.log"),
        Threshold("kafka.server.epoch", "DEBUG", "server.log"),
        Threshold("org.apache.kafka.storage.internals.epoch", "TRACE", "server.log"),
        Threshold("state.change.logger", "TRACE", "state-change.log"),
        Threshold("org.apache.kafka.controller", "DEBUG", "controller.log"),
    )
    """The replication loggers switched on, on top of the stock ones."""

    def __init__(self, scene: Scene, logging: Literal["default", "replication"]) -> None:
        self.scene = scene
        table = {t.logger: t for t in self.defaults}
        if logging == "replication":
            table |= {t.logger: t for t in self.more}
        self._table = table
        self._cache: dict[str, Threshold] = {}

    def threshold(self, logger: str) -> Threshold:
        """Return the entry that governs a logger: the one with the longest matching name."""
        if logger not in self._cache:
            name = logger
            while name not in self._table and name:
                name = name.rpartition(".")[0]
            self._cache[logger] = self._table[name]
        return self._cache[logger]

    def words(self, event: Event) -> Iterator[tuple[str, Line]]:
        """The lines that this event leaves in the broker's files, at the levels in force: (file, line)."""
        render: Callable[[Event], Iterator[Line]] | None = (
            getattr(self, event.kind) if event.kind in self.kinds else None
        )
        early = event.kind != "cut"  # a truncation's lines name positions before and after
        if early:
            self.scene.follow(event)
        if render is not None and event.broker is not None:
            for line in render(event):
                rule = self.threshold(line.logger)
                if LEVELS.index(line.level) >= LEVELS.index(rule.level):
                    yield rule.file, line
        if not early:
            self.scene.follow(event)

    # -- pieces -------------------------------------------------------------------------------------------------------

    malformed_line: ClassVar[str] = "Malformed line in checkpoint file ({path}): '{line}'"

    def malformed(self, event: Event, file: str) -> str:
        """The exception that a checkpoint of zeros causes."""
        path = f"{self.scene.data(event.broker or 0)}/{file}"
        return "java.io.IOException: " + self.malformed_line.format(path=path, line="\0" * 16)

    def endpoint(self, broker: int) -> str:
        """A broker as the controller and fetchers print it."""
        return f"127.0.0.1:{self.scene.port(broker)} (id: {broker} rack: null)"

    def values(self, broker: int) -> dict[str, str]:
        """Return the settings in ``server.properties``."""
        scene = self.scene
        host = f"PLAINTEXT://127.0.0.1:{scene.port(broker)}"
        return {
            "log.dirs": scene.data(broker),
            "offsets.topic.replication.factor": str(min(3, len(scene.assigned))),
            "auto.create.topics.enable": "false",
            "broker.id": str(broker),
            "listeners": host,
            "zookeeper.connect": "127.0.0.1:19000",
            "replica.lag.time.max.ms": str(scene.lag_ms),
            "unclean.leader.election.enable": str(scene.unclean).lower(),
        }

    def config(self, broker: int) -> str:
        """The configuration a broker prints at its start: the settings that matter here, sorted, tab-indented."""
        shown = self.values(broker) | {
            "inter.broker.protocol.version": scene_protocol(self.scene),
            "log.message.format.version": message_format(self.scene),
            "min.insync.replicas": "1",
            "replica.fetch.wait.max.ms": "500",
            "replica.high.watermark.checkpoint.interval.ms": "5000",
        }
        return "KafkaConfig values: \n" + "".join(f"\t{key} = {value}\n" for key, value in sorted(shown.items()))


def scene_protocol(scene: Scene) -> str:
    """``inter.broker.protocol.version`` as configured."""
    return scene.protocol.inter_broker


def message_format(scene: Scene) -> str:
    """``log.message.format.version`` as printed: 3.x no longer uses it and prints 3.0-IV1."""
    return "3.0-IV1" if scene.protocol.kafka >= "3" else scene.protocol.inter_broker


def joined(ids: list[int], separator: str = ",") -> str:
    """Broker ids as lists print them."""
    return separator.join(map(str, ids))
