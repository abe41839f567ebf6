"""Building blocks of the lines of a broker of 1.1.1, and what it prints when it starts and stops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from forensics.model.trace import Event
from forensics.model.wording.controller_1_1 import SERVER, STATE, ZooKeeperController
from forensics.model.wording.words import Line

LOG, MANAGER, PARTITION = "kafka.log.Log", "kafka.log.LogManager", "kafka.cluster.Partition"
REPLICA, REPLICAS, FETCHER = "kafka.cluster.Replica", "kafka.server.ReplicaManager", "kafka.server.ReplicaFetcherThread"
FETCHERS, EPOCHS = "kafka.server.ReplicaFetcherManager", "kafka.server.epoch.LeaderEpochFileCache"


class Broker11(ZooKeeperController):
    """The pieces of a line, and the process."""

    # -- pieces -------------------------------------------------------------------------------------------------------

    def at(self, broker: int, offset: int) -> str:
        """An offset with its place in the segment."""
        return f"{offset} [0 : {self.scene.position(broker, offset)}]"

    def unplaced(self, offset: int) -> str:
        """An offset whose place a follower does not look up."""
        return f"{offset} [-1 : -1]"

    def log(self, event: Event, level: str, text: str) -> Line:
        """A line of ``Log``."""
        return Line(level, LOG, f"[Log partition={self.scene.tp}, dir={self.scene.data(event.broker or 0)}] {text}")

    def partition(self, event: Event, level: str, text: str) -> Line:
        """A line of ``Partition``."""
        return Line(level, PARTITION, f"[Partition {self.scene.tp} broker={event.broker}] {text}")

    def fetcher(self, event: Event, leader: int, level: str, text: str) -> Line:
        """A line of a fetcher thread."""
        return Line(level, FETCHER, f"[ReplicaFetcher replicaId={event.broker}, leaderId={leader}, fetcherId=0] {text}")

    def manager(self, event: Event, text: str) -> Line:
        """A line of the fetcher manager."""
        return Line("INFO", FETCHERS, f"[ReplicaFetcherManager on broker {event.broker}] {text}")

    def state(self, event: Event, level: str, text: str) -> Line:
        """A line of a broker in state-change.log."""
        return Line(level, STATE, f"[Broker id={event.broker}] {text}")

    def of_request(self, event: Event) -> str:
        """Return the request that is being handled."""
        told = self.scene.told[event.broker or 0]
        return (
            f"with correlation id {told['correlation']} from controller {told['controller']} epoch "
            f"{told['controller_epoch']}"
        )

    def from_request(self, event: Event) -> str:
        """The same, the other way round."""
        told = self.scene.told[event.broker or 0]
        return (
            f"from controller {told['controller']} epoch {told['controller_epoch']} with correlation id "
            f"{told['correlation']}"
        )

    def last_update(self, event: Event) -> str:
        """The controller epoch of the request, repeated."""
        return f"(last update controller epoch {self.scene.told[event.broker or 0]['controller_epoch']})"

    # -- process ------------------------------------------------------------------------------------------------------

    until, quote = "from", "'"
    """Two words that 2.0 changed."""

    def starts(self, event: Event) -> Iterator[Line]:
        """Start, load, register."""
        broker, facts, scene = event.broker or 0, event.facts, self.scene
        data, tp, leo = scene.data(broker), scene.tp, event.facts["leo"]
        yield Line(
            "INFO", "kafka.utils.Log4jControllerRegistration$", "Registered kafka:type=kafka.Log4jController MBean"
        )
        yield Line("INFO", "kafka.server.KafkaConfig", self.config(broker))
        yield Line("INFO", SERVER, "starting")
        yield Line("INFO", SERVER, "Connecting to zookeeper on 127.0.0.1:19000")
        yield Line("INFO", SERVER, f"Cluster ID = {scene.cluster_id}")
        if facts["first"]:
            yield Line("INFO", MANAGER, f"Log directory {self.quote}{data}{self.quote} not found, creating it.")
        yield Line("INFO", MANAGER, "Loading logs.")
        yield from self.resets(event)
        if facts["found"]:
            yield Line("DEBUG", MANAGER, f"Loading log '{tp}'")
            if not facts["clean"]:
                yield self.log(event, "INFO", "Recovering unflushed segment 0")
            yield self.log(
                event, "INFO", f"Loading producer state {self.until} offset {leo} with message format version 2"
            )
            yield self.log(
                event,
                "INFO",
                f"Completed load of log with 1 segments, log start offset 0 and log end offset {leo} in 9 ms",
            )
        yield Line("INFO", MANAGER, "Logs loading complete in 12 ms.")
        yield self.registered(broker)
        yield from self.versions()
        yield Line("INFO", SERVER, f"[KafkaServer id={broker}] started")

    malformed_line = "Malformed line in checkpoint file ({path}): {line}'"
    dir_failures: ClassVar[str] = "kafka.server.LogDirFailureChannel"
    server: ClassVar[str] = SERVER
    starting: ClassVar[str] = "starting"
    startup_failed: ClassVar[str] = (
        "[KafkaServer id={broker}] Fatal error during KafkaServer startup. Prepare to shutdown"
    )

    def resets(self, event: Event) -> Iterator[Line]:
        """Checkpoints that cannot be read and that the broker can do without."""
        for file in event.facts["unreadable"]:
            text = f"Error occurred while reading {file} file of directory {self.scene.data(event.broker or 0)}"
            yield Line("WARN", MANAGER, text, self.malformed(event, file))
            if file.startswith("recovery"):
                yield Line("WARN", MANAGER, "Resetting the recovery checkpoint to 0")

    def unreadable(self, event: Event) -> Iterator[Line]:
        """A checkpoint that cannot be read, and that the broker cannot do without."""
        path = f"{self.scene.data(event.broker or 0)}/{event.facts['file']}"
        yield Line(
            "ERROR",
            self.dir_failures,
            f"Error while reading checkpoint file {path}",
            self.malformed(event, event.facts["file"]),
        )

    def cannot_load(self, event: Event) -> Iterator[Line]:
        """The broker does not get beyond the loading of its logs."""
        broker = event.broker or 0
        yield Line("INFO", self.server, self.starting.format(broker=broker))
        yield from self.unreadable(event)
        storage = "org.apache.kafka.common.errors.KafkaStorageException"
        path = f"{self.scene.data(broker)}/{event.facts['file']}"
        yield Line(
            "ERROR",
            MANAGER,
            f"There was an error in one of the threads during logs loading: {storage}: Error while reading checkpoint "
            f"file {path}",
        )
        yield Line(
            "ERROR",
            self.server,
            self.startup_failed.format(broker=broker),
            f"{storage}: Error while reading checkpoint file {path}",
        )

    def hw_unreadable(self, event: Event) -> Iterator[Line]:
        """The log directory counts as failed; without another one the broker ends itself."""
        yield from self.unreadable(event)
        data = self.scene.data(event.broker or 0)
        yield Line("ERROR", MANAGER, f"Shutdown broker because all log dirs in {data} have failed")

    def stopping(self, event: Event) -> Iterator[Line]:
        """A controlled shutdown begins."""
        yield Line("INFO", SERVER, f"[KafkaServer id={event.broker}] shutting down")
        yield Line("INFO", SERVER, f"[KafkaServer id={event.broker}] Starting controlled shutdown")

    def stopped(self, event: Event) -> Iterator[Line]:
        """And ends."""
        yield Line("INFO", SERVER, f"[KafkaServer id={event.broker}] Controlled shutdown succeeded")
        yield Line("INFO", REPLICAS, f"[ReplicaManager broker={event.broker}] Shutting down")
        yield Line("INFO", REPLICAS, f"[ReplicaManager broker={event.broker}] Shut down completely")
        yield Line("INFO", MANAGER, "Shutting down.")
        yield Line("INFO", MANAGER, "Shutdown complete.")
        yield Line("INFO", SERVER, f"[KafkaServer id={event.broker}] shut down completed")
