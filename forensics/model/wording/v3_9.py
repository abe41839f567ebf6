"""How brokers and the controller of 3.9.1 put it: KRaft, topic ids, partition epochs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from forensics.model.trace import Event, epoch_ms
from forensics.model.wording.broker_1_1 import MANAGER, REPLICA
from forensics.model.wording.controller_1_1 import INFO_PARSER
from forensics.model.wording.controller_3_9 import QuorumController
from forensics.model.wording.words import Line, Threshold, joined

LOG, LOADER, PRODUCERS = "kafka.log.UnifiedLog", "kafka.log.LogLoader", "kafka.log.UnifiedLog$"
EPOCHS = "org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache"
SERVER, LIFE = "kafka.server.BrokerServer", "kafka.server.BrokerLifecycleManager"


class V39(QuorumController):
    """3.9.1, KRaft mode."""

    version = "3.9.1"
    commit = "f745dfdcee2b9851"
    defaults: ClassVar[tuple[Threshold, ...]] = (
        Threshold("", "INFO", "server.log"),
        Threshold("state.change.logger", "INFO", "state-change.log"),
        Threshold("kafka.controller", "TRACE", "controller.log"),
        Threshold("org.apache.kafka.controller", "INFO", "controller.log"),
        Threshold("kafka.log.LogCleaner", "INFO", "log-cleaner.log"),
    )
    epochs_logger = EPOCHS
    epoch_answer_level = "TRACE"
    epoch_answer_tail = "}"
    unit = "bytes of messages"

    # -- pieces -------------------------------------------------------------------------------------------------------

    def at(self, broker: int, offset: int) -> str:
        """An offset with its place in the segment."""
        return f"(offset={offset}, segment=[0:{self.scene.position(broker, offset)}])"

    def placed(self, broker: int, offset: int) -> str:
        """An offset of the leader's own log, or the unknown one."""
        return self.at(broker, offset) if offset >= 0 else self.unplaced(offset)

    def unplaced(self, offset: int) -> str:
        """An offset whose place a follower does not look up."""
        return f"(offset={offset}, segment=[-1:-1])"

    def log(self, event: Event, level: str, text: str) -> Line:
        """A line of ``UnifiedLog``."""
        return Line(
            level, LOG, f"[UnifiedLog partition={self.scene.tp}, dir={self.scene.data(event.broker or 0)}] {text}"
        )

    def loader(self, event: Event, logger: str, text: str) -> Line:
        """A line while a log is loaded."""
        data = self.scene.data(event.broker or 0)
        return Line("INFO", logger, f"[LogLoader partition={self.scene.tp}, dir={data}] {text}")

    def request_state(self, facts: dict[str, Any]) -> str:
        """The state in a metadata delta, in the shape of the old request."""
        return (
            f"LeaderAndIsrPartitionState(topicName='{self.scene.topic}', partitionIndex=0, controllerEpoch=-1, "
            f"leader={facts['leader']}, leaderEpoch={facts['epoch']}, isr=[{joined(facts['isr'], ', ')}], "
            f"partitionEpoch={facts['partition_epoch']}, replicas=[{joined(list(self.scene.assigned), ', ')}], "
            f"addingReplicas=[], removingReplicas=[], isNew=false, leaderRecoveryState={int(facts['recovering'])})"
        )

    def epoch_entries(self, entries: list[tuple[int, int]]) -> str:
        """Entries of the cache as a list."""
        return f"[{', '.join(f'EpochEntry(epoch={e}, startOffset={o})' for e, o in entries)}]"

    def values(self, broker: int) -> dict[str, str]:
        """Return the settings in ``server.properties``."""
        scene = self.scene
        controller = broker not in scene.assigned
        port = scene.port(broker)
        return {
            "log.dirs": scene.data(broker),
            "auto.create.topics.enable": "false",
            "node.id": str(broker),
            "controller.quorum.voters": f"{scene.voter}@127.0.0.1:{scene.port(scene.voter)}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "process.roles": "controller" if controller else "broker",
            "listeners": f"{'CONTROLLER' if controller else 'PLAINTEXT'}://127.0.0.1:{port}",
            "replica.lag.time.max.ms": str(scene.lag_ms),
            "unclean.leader.election.enable": str(scene.unclean).lower(),
        }

    # -- process ------------------------------------------------------------------------------------------------------

    malformed_line = "Malformed line in checkpoint file [{path}]: {line}"
    dir_failures = "org.apache.kafka.storage.internals.log.LogDirFailureChannel"
    server = SERVER
    starting = "[BrokerServer id={broker}] Transition from SHUTDOWN to STARTING"
    startup_failed = "[BrokerServer id={broker}] Fatal error during broker startup. Prepare to shutdown"

    def starts(self, event: Event) -> Iterator[Line]:
        """Start, register, load."""
        broker, facts, scene = event.broker or 0, event.facts, self.scene
        data, leo = scene.data(broker), facts["leo"]
        yield Line(
            "INFO", "kafka.utils.Log4jControllerRegistration$", "Registered kafka:type=kafka.Log4jController MBean"
        )
        yield Line("INFO", SERVER, f"[BrokerServer id={broker}] Transition from SHUTDOWN to STARTING")
        yield Line("INFO", SERVER, f"[BrokerServer id={broker}] Starting broker")
        epoch = facts["broker_epoch"]
        yield Line(
            "INFO",
            PRODUCERS,
            f"[LogLoader partition=__cluster_metadata-0, dir={data}] Loading producer state till offset "
            f"{facts['metadata_end']} with message format version 2",
        )
        yield Line(
            "INFO",
            LIFE,
            f"[BrokerLifecycleManager id={broker}] Incarnation {scene.incarnation(broker, epoch)} of broker {broker} "
            "in "
            f"cluster {scene.cluster_id} is now STARTING.",
        )
        yield Line(
            "INFO",
            LIFE,
            f"[BrokerLifecycleManager id={broker}] Successfully registered broker {broker} with broker epoch {epoch}",
        )
        yield Line(
            "INFO",
            LIFE,
            f"[BrokerLifecycleManager id={broker}] The broker has caught up. Transitioning from STARTING to RECOVERY.",
        )
        yield Line("INFO", MANAGER, f"Loading logs from log dirs ArrayBuffer({data})")
        yield from self.resets(event)
        if not facts["found"]:
            yield Line("INFO", MANAGER, f"No logs found to be loaded in {data}")
        elif facts["clean"]:
            yield Line("INFO", MANAGER, f"Skipping recovery of 1 logs from {data} since clean shutdown file was found")
        else:
            yield Line("INFO", MANAGER, f"Recovering 1 logs from {data} since no clean shutdown file was found")
        if facts["found"]:
            yield Line("DEBUG", MANAGER, f"Loading log {data}/{scene.tp}")
            if not facts["clean"]:
                yield self.loader(event, LOADER, f"Recovering unflushed segment 0. 0/1 recovered for {scene.tp}.")
            yield self.loader(
                event, PRODUCERS, f"Loading producer state till offset {leo} with message format version 2"
            )
            yield self.loader(
                event, PRODUCERS, f"Reloading from producer snapshot and rebuilding producer state from offset {leo}"
            )
            yield self.loader(
                event,
                PRODUCERS,
                f"Producer state recovery took 0ms for snapshot load and 0ms for segment recovery from offset {leo}",
            )
            yield Line(
                "INFO",
                MANAGER,
                f"Completed load of Log(dir={data}/{scene.tp}, topicId={scene.topic_id}, topic={scene.topic}, "
                f"partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset={leo}) with 1 "
                f"segments, local-log-start-offset 0 and log-end-offset {leo} in 13ms (1/1 completed in {data})",
            )
        unclean = f" (unclean log dirs = ArrayBuffer({data}))" if facts["found"] and not facts["clean"] else ""
        yield Line("INFO", MANAGER, f"Loaded {int(facts['found'])} logs in 21ms{unclean}")
        yield Line("INFO", "kafka.server.KafkaConfig", self.config(broker))
        yield Line(
            "INFO",
            LIFE,
            f"[BrokerLifecycleManager id={broker}] The broker has been unfenced. Transitioning from RECOVERY to "
            "RUNNING.",
        )
        yield Line("INFO", SERVER, f"[BrokerServer id={broker}] Transition from STARTING to STARTED")
        yield Line("INFO", INFO_PARSER, f"Kafka version: {self.version}")
        yield Line("INFO", INFO_PARSER, f"Kafka commitId: {self.commit}")

    def stopping(self, event: Event) -> Iterator[Line]:
        """A controlled shutdown begins."""
        yield Line("INFO", SERVER, f"[BrokerServer id={event.broker}] shutting down")
        yield Line("INFO", LIFE, f"[BrokerLifecycleManager id={event.broker}] Beginning controlled shutdown.")

    def stopped(self, event: Event) -> Iterator[Line]:
        """And ends."""
        yield Line(
            "INFO",
            LIFE,
            f"[BrokerLifecycleManager id={event.broker}] The controller has asked us to exit controlled shutdown.",
        )
        yield Line("INFO", "kafka.server.ReplicaManager", f"[ReplicaManager broker={event.broker}] Shutting down")
        yield Line(
            "INFO", "kafka.server.ReplicaManager", f"[ReplicaManager broker={event.broker}] Shut down completely"
        )
        yield Line("INFO", MANAGER, "Shutting down.")
        yield Line("INFO", MANAGER, "Shutdown complete.")
        yield Line("INFO", SERVER, f"[BrokerServer id={event.broker}] shut down completed")

    # -- metadata -----------------------------------------------------------------------------------------------------

    def told(self, event: Event) -> Iterator[Line]:
        """A metadata delta about the partition."""
        self.scene.told[event.broker or 0] = event.facts
        if event.facts["known"]:
            return  # brokers print that they get the role, and then that they skip it
        role = "leaders" if event.facts["leader"] == event.broker else "followers"
        yield self.state(event, "INFO", f"Transitioning 1 partition(s) to local {role}.")
        if event.facts["known_epoch"] < 0:
            yield self.state(
                event, "INFO", f"Creating new partition {self.scene.tp} with topic id {self.scene.topic_id}."
            )

    def log_created(self, event: Event) -> Iterator[Line]:
        """An empty log."""
        data = self.scene.data(event.broker or 0)
        yield self.loader(event, PRODUCERS, "Loading producer state till offset 0 with message format version 2")
        yield Line(
            "INFO",
            MANAGER,
            f"Created log for partition {self.scene.tp} in {data}/{self.scene.tp} with properties {self.settings()}",
        )

    def leads(self, event: Event) -> Iterator[Line]:
        """Becomes leader: epoch, LEO, HW, ISR, partition epoch and topic id in one line."""
        facts, tp = event.facts, self.scene.tp
        yield self.removed_fetcher(event)
        if facts["recovering"]:
            yield self.state(
                event,
                "INFO",
                f"The topic partition {tp} was marked as RECOVERING. Marking the topic partition as RECOVERED.",
            )
        previous = "None" if facts["previous_leader"] is None else f"Some({facts['previous_leader']})"
        min_isr = "(under-min-isr)" if len(facts["isr"]) < self.scene.min_isr else ""
        yield self.state(
            event,
            "INFO",
            f"Leader {tp} with topic id Some({self.scene.topic_id}) starts at leader epoch {facts['epoch']} from "
            "offset "
            f"{facts['start']} with partition epoch {facts['partition_epoch']}, high watermark {facts['hw']}, ISR "
            f"[{joined(facts['isr'])}], adding replicas [] and removing replicas [] {min_isr}. Previous leader "
            f"{previous} "
            f"and previous leader epoch was {facts['previous_epoch']}.",
        )
        if not facts["was_leader"]:
            for follower, caught_up_at, _ in facts["remote"]:
                yield Line(
                    "TRACE",
                    REPLICA,
                    f"Reset state of replica to Replica(replicaId={follower}, topic={self.scene.topic}, partition=0, "
                    f"lastCaughtUpTimeMs={max(epoch_ms(caught_up_at), 0)}, logStartOffset=-1, logEndOffset=-1, "
                    "logEndOffsetMetadata=(offset=-1, segment=[-1:-1]), lastFetchLeaderLogEndOffset=-1, "
                    "brokerEpoch=-2, "
                    "lastFetchTimeMs=0)",
                )

    def leads_again(self, event: Event) -> Iterator[Line]:
        """Another ISR in the same leader epoch: a sample of the HW."""
        facts, tp = event.facts, self.scene.tp
        state = self.request_state({**facts, "leader": event.broker})
        yield self.state(
            event,
            "INFO",
            f"Skipped the become-leader state change for {tp} with topic id Some({self.scene.topic_id}) and partition "
            "state "
            f"{state} since it is already the leader with leader epoch {facts['epoch']}. Current high watermark "
            f"{facts['hw']}, ISR [{joined(facts['isr'])}], adding replicas [] and removing replicas [].",
        )

    def follows(self, event: Event) -> Iterator[Line]:
        """Becomes follower. The line names the new leader as the previous one too, as 3.9 does."""
        facts, tp = event.facts, self.scene.tp
        yield self.state(
            event,
            "INFO",
            f"Follower {tp} starts at leader epoch {facts['epoch']} from offset {facts['leo']} with partition epoch "
            f"{facts['partition_epoch']} and high watermark {facts['hw']}. Current leader is {facts['leader']}. "
            "Previous "
            f"leader Some({facts['leader']}) and previous leader epoch was {facts['epoch']}.",
        )
        yield self.removed_fetcher(event)
        yield self.state(event, "INFO", "Stopped fetchers as part of become-follower for 1 partitions")
        if facts["leader"] < 0:
            yield self.state(event, "INFO", "Started fetchers as part of become-follower for 1 partitions")

    def follows_again(self, event: Event) -> Iterator[Line]:
        """Another ISR in the same leader epoch."""
        facts, tp = event.facts, self.scene.tp
        yield self.state(
            event,
            "INFO",
            f"Skipped the become-follower state change for {tp} with topic id Some({self.scene.topic_id}) and "
            "partition state "
            f"{self.request_state(facts)} since it is already a follower with leader epoch {facts['epoch']}.",
        )

    def initial_state(self, facts: dict[str, Any]) -> str:
        """Return where the fetcher starts."""
        end_point = f"BrokerEndPoint(id={facts['leader']}, host=127.0.0.1:{self.scene.port(facts['leader'])})"
        return f"InitialFetchState(Some({self.scene.topic_id}),{end_point},{facts['epoch']},{facts['offset']})"

    def fetcher_added(self, event: Event) -> Iterator[Line]:
        """Begins to fetch."""
        facts = event.facts
        yield Line("INFO", "kafka.server.ReplicaFetcherThread", f"[ReplicaFetcherThread-0-{facts['leader']}]: Starting")
        yield self.manager(
            event,
            f"Added fetcher to broker {facts['leader']} for partitions HashMap({self.scene.tp} -> "
            f"{self.initial_state(facts)})",
        )
        yield self.state(event, "INFO", "Started fetchers as part of become-follower for 1 partitions")

    # -- epochs and truncation ----------------------------------------------------------------------------------------

    def epoch_assigned(self, event: Event) -> Iterator[Line]:
        """The cache has a new entry."""
        for line in super().epoch_assigned(event):
            yield line._replace(logger=EPOCHS)

    def diverges(self, event: Event) -> Iterator[Line]:
        """The fetch response named a diverging epoch: the plan, before it is carried out."""
        yield from self.hears_epoch(event)
        facts = event.facts
        yield self.fetcher(
            event,
            facts["leader"],
            "INFO",
            f"Truncating partition {self.scene.tp} with TruncationState(offset={facts['to']}, "
            f"completed={str(facts['done']).lower()}) due to leader epoch and offset EpochEndOffset(errorCode=0, "
            "partition=0, "
            f"leaderEpoch={facts['epoch']}, endOffset={facts['end']})",
        )

    def cuts_to_hw(self, event: Event) -> Iterator[Line]:
        """A log without epochs is truncated to its HW."""
        leader, hw = event.facts["leader"], event.facts["hw"]
        yield self.fetcher(
            event,
            leader,
            "INFO",
            f"Truncating partition {self.scene.tp} with TruncationState(offset={hw}, completed=true) due to local high "
            f"watermark {hw}",
        )

    def rebuilt(self, event: Event, to: int) -> Iterator[Line]:
        """Producer state is rebuilt at the new end, which is named once more, by the companion object's logger."""
        for text in (
            f"Loading producer state till offset {to} with message format version 2",
            f"Reloading from producer snapshot and rebuilding producer state from offset {to}",
        ):
            yield self.log(event, "INFO", text)._replace(logger=PRODUCERS)

    # -- replication, seen only with its loggers on -------------------------------------------------------------------

    def place(self, facts: dict[str, Any]) -> str:
        """The first offset of an append, a plain number again since 3.7."""
        return str(facts["first"])

    def fetch_request(self, event: Event) -> str:
        """The request as printed."""
        facts = event.facts
        last = f"Optional[{facts['last_epoch']}]" if facts["last_epoch"] >= 0 else "Optional.empty"
        return (
            f"(type=FetchRequest, replicaId={event.broker}, maxWait=500, minBytes=1, maxBytes=10485760, "
            f"fetchData={{{self.scene.tp}=PartitionData(topicId={self.scene.topic_id}, fetchOffset={facts['offset']}, "
            f"logStartOffset=0, maxBytes=1048576, currentLeaderEpoch=Optional[{facts['leader_epoch']}], "
            f"lastFetchedEpoch={last})}}, isolationLevel=read_uncommitted, removed=, replaced=, "
            "metadata=(sessionId=INVALID, epoch=INITIAL), rackId=)"
        )

    def hw_taken(self, event: Event) -> Iterator[Line]:
        """The follower's HW, set only when it changes."""
        facts, tp, broker = event.facts, self.scene.tp, event.broker or 0
        if facts["hw"] == facts["was"]:
            yield self.fetcher(
                event,
                facts["leader"],
                "TRACE",
                f"Follower received high watermark {facts['leader_hw']} from the leader but did not update replica "
                "high "
                f"watermark for partition {tp}",
            )
            return
        if facts["hw"] < facts["was"]:
            was, now = self.at(broker, facts["was"]), self.unplaced(facts["hw"])
            yield self.log(event, "WARN", f"Non-monotonic update of high watermark from {was} to {now}")
        yield self.log(event, "TRACE", f"Setting high watermark {self.unplaced(facts['hw'])}")
        yield self.fetcher(
            event,
            facts["leader"],
            "TRACE",
            f"Follower received high watermark {facts['leader_hw']} from the leader and updated replica high "
            "watermark to "
            f"{facts['hw']} for partition {tp}",
        )

    # -- ISR ----------------------------------------------------------------------------------------------------------

    def lagging(self, broker: int, known: tuple[int, int]) -> str:
        """A replica that falls out."""
        return f"(brokerId: {broker}, endOffset: {known[0]}, lastCaughtUpTimeMs: {max(epoch_ms(known[1]), 0)})"

    def isr_committed(self, event: Event) -> Iterator[Line]:
        """The change holds."""
        facts = event.facts
        under = "(under-min-isr)" if facts["under_min"] else ""
        yield self.partition(
            event,
            "INFO",
            f"ISR updated to {joined(facts['isr'])} {under} and version updated to {facts['partition_epoch']}",
        )

    def isr_refused(self, event: Event) -> Iterator[Line]:
        """This leader is a zombie."""
        yield from ()

    kinds: ClassVar[tuple[str, ...]] = (
        "controller_started",
        "broker_up",
        "broker_down",
        "topic_created",
        "partition_changed",
        "isr_altered",
        "alter_rejected",
        "starts",
        "cannot_load",
        "hw_unreadable",
        "stopping",
        "stopped",
        "told",
        "log_created",
        "hw_loaded",
        "leads",
        "leads_again",
        "follows",
        "follows_again",
        "fetcher_added",
        "epoch_assigned",
        "answers_epoch",
        "diverges",
        "cuts_to_hw",
        "cut",
        "cut_nothing",
        "fetch_reset",
        "fetch_refused",
        "stuck",
        "appends",
        "fetches",
        "receives",
        "hw_taken",
        "records_leo",
        "hw_raised",
        "hw_held",
        "isr_proposed",
        "isr_committed",
        "isr_refused",
    )
