"""How brokers of 0.10.2.2 put it: truncation to the high watermark, ZooKeeper, no logIdent prefixes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from forensics.model.segments import size
from forensics.model.trace import Event, epoch_ms
from forensics.model.wording.controller_0_10 import INFO_PARSER, SERVER, STATE, OldController
from forensics.model.wording.words import Line, Threshold, joined

LOG, MANAGER, PARTITION = "kafka.log.Log", "kafka.log.LogManager", "kafka.cluster.Partition"
REPLICA, REPLICAS, FETCHER = "kafka.cluster.Replica", "kafka.server.ReplicaManager", "kafka.server.ReplicaFetcherThread"
FETCHERS = "kafka.server.ReplicaFetcherManager"


class V010(OldController):
    """0.10.2.2."""

    version = "0.10.2.2"
    commit = "cd80bc412b9b9701"
    defaults: ClassVar[tuple[Threshold, ...]] = (
        Threshold("", "INFO", "server.log"),
        Threshold("state.change.logger", "TRACE", "state-change.log"),
        Threshold("kafka.controller", "TRACE", "controller.log"),
        Threshold("kafka.log.LogCleaner", "INFO", "log-cleaner.log"),
    )

    # -- pieces -------------------------------------------------------------------------------------------------------

    def at(self, broker: int, offset: int) -> str:
        """An offset with its place in the segment, as ``LogOffsetMetadata`` prints it."""
        return f"{offset} [0 : {self.scene.position(broker, offset)}]"

    def partition(self, event: Event, level: str, text: str) -> Line:
        """A line of ``Partition``."""
        return Line(level, PARTITION, f"Partition {self.scene.old_tp} on broker {event.broker}: {text}")

    def fetcher(self, leader: int, level: str, text: str) -> Line:
        """A line of a fetcher thread."""
        return Line(level, FETCHER, f"[ReplicaFetcherThread-0-{leader}], {text}")

    def request(self, event: Event) -> str:
        """``from controller .. epoch .. with correlation id ..`` of the request being handled."""
        told = self.scene.told[event.broker or 0]
        return (
            f"from controller {told['controller']} epoch {told['controller_epoch']} "
            f"with correlation id {told['correlation']}"
        )

    def manager(self, event: Event, text: str, level: str = "INFO") -> Line:
        """A line of the fetcher manager."""
        return Line(level, FETCHERS, f"[ReplicaFetcherManager on broker {event.broker}] {text}")

    # -- process ------------------------------------------------------------------------------------------------------

    def starts(self, event: Event) -> Iterator[Line]:
        """Start, load, register."""
        broker, facts, scene = event.broker or 0, event.facts, self.scene
        data, tp = scene.data(broker), scene.tp
        yield Line("INFO", "kafka.server.KafkaConfig", self.config(broker))
        yield Line("INFO", SERVER, "starting")
        yield Line("INFO", SERVER, "Connecting to zookeeper on 127.0.0.1:19000")
        yield Line("INFO", SERVER, f"Cluster ID = {scene.cluster_id}")
        if facts["first"]:
            yield Line(
                "WARN",
                "kafka.server.BrokerMetadataCheckpoint",
                f"No meta.properties file under dir {data}/meta.properties",
            )
            yield Line("INFO", MANAGER, f"Log directory '{data}' not found, creating it.")
        yield Line("INFO", MANAGER, "Loading logs.")
        for file in facts["unreadable"]:
            yield Line(
                "WARN",
                MANAGER,
                f"Error occured while reading {file} file of directory {data}",
                self.malformed(event, file),
            )
            yield Line("WARN", MANAGER, "Resetting the recovery checkpoint to 0")
        yield Line("DEBUG", MANAGER, f"Loading log '{tp}'") if facts["found"] else Line("TRACE", MANAGER, "No log.")
        if facts["found"]:
            if not facts["clean"]:
                yield Line("INFO", LOG, f"Recovering unflushed segment 0 in log {tp}.")
            yield Line(
                "INFO", LOG, f"Completed load of log {tp} with 1 log segments and log end offset {facts['leo']} in 7 ms"
            )
        yield Line("INFO", MANAGER, "Logs loading complete in 9 ms.")
        yield self.registered(broker)
        yield Line("INFO", INFO_PARSER, f"Kafka version : {self.version}")
        yield Line("INFO", INFO_PARSER, f"Kafka commitId : {self.commit}")
        yield Line("INFO", SERVER, f"[Kafka Server {broker}], started")

    malformed_line = "Malformed line in offset checkpoint file: {line}'"

    def hw_unreadable(self, event: Event) -> Iterator[Line]:
        """The request fails, and the broker continues without the partition."""
        broker, scene = event.broker or 0, self.scene
        told = scene.told[broker]
        # the two transitions differ only in one word and the partition
        correlation, partition = (
            ("correlationId", f" for partition {scene.tp}")
            if event.facts["becomes"] == "leader"
            else ("with correlationId", "")
        )
        yield Line(
            "ERROR",
            STATE,
            f"Error on broker {broker} while processing LeaderAndIsr request {correlation} {told['correlation']} "
            f"received from controller {told['controller']} epoch {told['controller_epoch']}{partition}",
            self.malformed(event, event.facts["file"]),
        )

    def stopping(self, event: Event) -> Iterator[Line]:
        """A controlled shutdown begins."""
        yield Line("INFO", SERVER, f"[Kafka Server {event.broker}], shutting down")
        yield Line("INFO", SERVER, f"[Kafka Server {event.broker}], Starting controlled shutdown")

    def stopped(self, event: Event) -> Iterator[Line]:
        """And ends."""
        yield Line("INFO", SERVER, f"[Kafka Server {event.broker}], Controlled shutdown succeeded")
        yield Line("INFO", REPLICAS, f"[Replica Manager on Broker {event.broker}]: Shutting down")
        yield Line("INFO", REPLICAS, f"[Replica Manager on Broker {event.broker}]: Shut down completely")
        yield Line("INFO", MANAGER, "Shutting down.")
        yield Line("INFO", MANAGER, "Shutdown complete.")
        yield Line("INFO", SERVER, f"[Kafka Server {event.broker}], shut down completed")

    # -- words from the controller ------------------------------------------------------------------------------------

    def told(self, event: Event) -> Iterator[Line]:
        """LeaderAndIsr arrives."""
        facts, broker, tp = event.facts, event.broker or 0, self.scene.tp
        self.scene.told[broker] = facts
        yield Line(
            "TRACE",
            STATE,
            f"Broker {broker} received LeaderAndIsr request "
            f"PartitionState(controllerEpoch={facts['controller_epoch']}, "
            f"leader={facts['leader']}, leaderEpoch={facts['leader_epoch']}, isr=[{joined(facts['isr'], ', ')}], "
            f"zkVersion={facts['partition_epoch']}, replicas=[{joined(list(self.scene.assigned), ', ')}]) "
            f"correlation id {facts['correlation']} from controller {facts['controller']} "
            f"epoch {facts['controller_epoch']} for partition {self.scene.old_tp}",
        )
        if facts["stale"]:
            yield Line(
                "WARN",
                STATE,
                f"Broker {broker} ignoring LeaderAndIsr request from controller {facts['controller']} with "
                "correlation id "
                f"{facts['correlation']} epoch {facts['controller_epoch']} for partition {self.scene.old_tp} since its "
                f"associated leader epoch {facts['leader_epoch']} is not higher than the current leader epoch "
                f"{facts['known_epoch']}",
            )
            return
        role = "leader" if facts["leader"] == broker else "follower"
        yield Line(
            "TRACE",
            STATE,
            f"Broker {broker} handling LeaderAndIsr request correlationId {facts['correlation']} from controller "
            f"{facts['controller']} epoch {facts['controller_epoch']} starting the become-{role} transition for "
            f"partition {tp}",
        )

    def completed(self, event: Event, role: str) -> Line:
        """LeaderAndIsr is done."""
        told = self.scene.told[event.broker or 0]
        return Line(
            "TRACE",
            STATE,
            f"Broker {event.broker} completed LeaderAndIsr request correlationId {told['correlation']} from controller "
            f"{told['controller']} epoch {told['controller_epoch']} for the become-{role} transition for partition "
            f"{self.scene.tp}",
        )

    def log_created(self, event: Event) -> Iterator[Line]:
        """An empty log."""
        broker, tp, scene = event.broker or 0, self.scene.tp, self.scene
        yield Line("INFO", LOG, f"Completed load of log {tp} with 1 log segments and log end offset 0 in 5 ms")
        settings = (
            "compression.type -> producer, message.format.version -> 0.10.2-IV0, file.delete.delay.ms -> 60000, "
            "max.message.bytes -> 1000012, min.compaction.lag.ms -> 0, message.timestamp.type -> CreateTime, "
            f"min.insync.replicas -> {scene.min_isr}, preallocate -> false, segment.jitter.ms -> 0, "
            "index.interval.bytes -> 4096, min.cleanable.dirty.ratio -> 0.5, unclean.leader.election.enable -> "
            f"{str(scene.unclean).lower()}, delete.retention.ms -> 86400000, retention.bytes -> -1, cleanup.policy -> "
            "[delete], flush.ms -> 9223372036854775807, segment.bytes -> 1073741824, retention.ms -> 604800000, "
            "segment.ms -> 604800000, message.timestamp.difference.max.ms -> 9223372036854775807, "
            "segment.index.bytes -> "
            "10485760, flush.messages -> 9223372036854775807"
        )
        yield Line(
            "INFO",
            MANAGER,
            f"Created log for partition {scene.old_tp} in {scene.data(broker)} with properties {{{settings}}}.",
        )

    def hw_loaded(self, event: Event) -> Iterator[Line]:
        """The HW from the checkpoint; only its absence is logged."""
        if event.facts["found"] is None:
            yield self.partition(event, "INFO", f"No checkpointed highwatermark is found for partition {self.scene.tp}")

    def leads(self, event: Event) -> Iterator[Line]:
        """Becomes leader."""
        yield self.manager(event, f"Removed fetcher for partitions {self.scene.tp}")
        if not event.facts["was_leader"]:
            for follower, _, _ in event.facts["remote"]:
                yield Line(
                    "TRACE",
                    REPLICA,
                    f"Setting log end offset for replica {follower} for partition {self.scene.tp} to [-1 [0 : 0]]",
                )
        else:
            yield Line(
                "INFO",
                STATE,
                f"Broker {event.broker} skipped the become-leader state change after marking its partition as leader "
                "with "
                f"correlation id {self.scene.told[event.broker or 0]['correlation']} from controller "
                f"{self.scene.told[event.broker or 0]['controller']} epoch "
                f"{self.scene.told[event.broker or 0]['controller_epoch']} for partition {self.scene.tp} since it is "
                "already the leader for the partition.",
            )
        yield Line(
            "TRACE",
            STATE,
            f"Broker {event.broker} stopped fetchers as part of become-leader request {self.request(event)} "
            f"for partition {self.scene.tp}",
        )
        yield self.completed(event, "leader")

    def follows(self, event: Event) -> Iterator[Line]:
        """Becomes follower."""
        told = self.scene.told[event.broker or 0]
        if event.facts["skipped"]:
            yield Line(
                "INFO",
                STATE,
                f"Broker {event.broker} skipped the become-follower state change after marking its partition as "
                "follower "
                f"with correlation id {told['correlation']} from controller {told['controller']} epoch "
                f"{told['controller_epoch']} for partition {self.scene.tp} since the new leader "
                f"{event.facts['leader']} is the same as the old leader",
            )
            yield self.completed(event, "follower")
            return
        yield self.manager(event, f"Removed fetcher for partitions {self.scene.tp}")
        yield Line(
            "TRACE",
            STATE,
            f"Broker {event.broker} stopped fetchers as part of become-follower request {self.request(event)} "
            f"for partition {self.scene.tp}",
        )

    def leader_unavailable(self, event: Event) -> Iterator[Line]:
        """No leader to follow."""
        told = self.scene.told[event.broker or 0]
        yield Line(
            "ERROR",
            STATE,
            f"Broker {event.broker} received LeaderAndIsrRequest with correlation id {told['correlation']} from "
            "controller "
            f"{told['controller']} epoch {told['controller_epoch']} for partition {self.scene.tp} but cannot become "
            "follower "
            f"since the new leader {event.facts['leader']} is unavailable.",
        )
        yield self.completed(event, "follower")

    def fetcher_added(self, event: Event) -> Iterator[Line]:
        """Begins to fetch from its leader."""
        facts, tp = event.facts, self.scene.tp
        told = self.scene.told[event.broker or 0]
        yield Line(
            "TRACE",
            STATE,
            f"Broker {event.broker} truncated logs and checkpointed recovery boundaries for partition {tp} as part of "
            f"become-follower request with correlation id {told['correlation']} from controller {told['controller']} "
            "epoch "
            f"{told['controller_epoch']}",
        )
        yield self.fetcher(facts["leader"], "INFO", "Starting ")
        yield self.manager(
            event,
            f"Added fetcher for partitions List([{tp}, initOffset {facts['offset']} to broker "
            f"BrokerEndPoint({facts['leader']},127.0.0.1,{self.scene.port(facts['leader'])})] )",
        )
        yield Line(
            "TRACE",
            STATE,
            f"Broker {event.broker} started fetcher to new leader as part of become-follower request from controller "
            f"{told['controller']} epoch {told['controller_epoch']} with correlation id {told['correlation']} for "
            "partition "
            f"{tp}",
        )
        yield self.completed(event, "follower")

    def caches(self, event: Event) -> Iterator[Line]:
        """UpdateMetadata."""
        facts = event.facts
        replicas = joined(list(self.scene.assigned))
        yield Line(
            "TRACE",
            STATE,
            f"Broker {event.broker} cached leader info (LeaderAndIsrInfo:{self.state_of(facts)},"
            f"ReplicationFactor:{len(self.scene.assigned)}),AllReplicas:{replicas}) for partition {self.scene.tp} in "
            "response "
            f"to UpdateMetadata request sent by controller {facts['controller']} epoch {facts['controller_epoch']} "
            "with "
            f"correlation id {facts['correlation']}",
        )

    # -- truncation ---------------------------------------------------------------------------------------------------

    def cut(self, event: Event) -> Iterator[Line]:
        """Printed before anything is checked, so it may do nothing."""
        yield Line("INFO", LOG, f"Truncating log {self.scene.tp} to offset {event.facts['to']}.")

    def cut_nothing(self, event: Event) -> Iterator[Line]:
        """The log is not longer than the target."""
        yield Line("INFO", LOG, f"Truncating log {self.scene.tp} to offset {event.facts['to']}.")
        if event.facts["to"] > event.facts["end"]:
            yield Line(
                "INFO",
                LOG,
                f"Truncating {self.scene.tp} to {event.facts['to']} has no effect as the largest offset in the log is "
                f"{event.facts['end'] - 1}.",
            )

    def fetch_reset(self, event: Event) -> Iterator[Line]:
        """The leader's log is shorter."""
        facts = event.facts
        if not facts["whole"]:
            return
        yield self.fetcher(
            facts["leader"],
            "WARN",
            f"Replica {event.broker} for partition {self.scene.tp} reset its fetch offset from {facts['offset']} to "
            "current "
            f"leader {facts['leader']}'s latest offset {facts['to']}",
        )
        yield self.fetcher(
            facts["leader"],
            "ERROR",
            f"Current offset {facts['offset']} for partition {self.scene.old_tp} out of range; reset offset to "
            f"{facts['to']}",
        )

    def halts(self, event: Event) -> Iterator[Line]:
        """It may not truncate and so ends itself."""
        facts = event.facts
        yield self.fetcher(
            facts["leader"],
            "FATAL",
            f"Exiting because log truncation is not allowed for partition {self.scene.tp}, Current leader "
            f"{facts['leader']}'s "
            f"latest offset {facts['leader_end']} is less than replica {event.broker}'s latest offset {facts['leo']}",
        )

    # -- replication, seen only with its loggers on -------------------------------------------------------------------

    def messages(self, event: Event) -> str:
        """The records of an append, as old versions dump them."""
        found = []
        for batch in event.facts["batches"]:
            for offset, value in enumerate(batch.values, batch.base):
                found.append(
                    f"(offset={offset},record=Record(magic = 1, attributes = 0, compression = NONE, crc = "
                    f"{offset + 1000}, "
                    f"CreateTime = {epoch_ms(batch.at)}, key = 0 bytes, value = {len(value)} bytes))"
                )
        return ", ".join(found)

    def appends(self, event: Event) -> Iterator[Line]:
        """Records are in the log."""
        facts, tp = event.facts, self.scene.tp
        yield Line(
            "TRACE",
            LOG,
            f"Appended message set to log {tp} with first offset: {facts['first']}, next offset: {facts['end']}, and "
            f"messages: [{self.messages(event)}]",
        )
        if facts["role"] == "follower":
            leader = event.facts["leader"]
            yield self.fetcher(
                leader,
                "TRACE",
                f"Follower {event.broker} has replica log end offset {facts['end']} after appending "
                f"{size(facts['batches'], 1)} bytes of messages for partition {tp}",
            )

    def receives(self, event: Event) -> Iterator[Line]:
        """A fetch response."""
        facts = event.facts
        yield self.fetcher(
            facts["leader"],
            "TRACE",
            f"Follower {event.broker} has replica log end offset {facts['leo']} for partition {self.scene.tp}. "
            "Received "
            f"{size(facts['batches'], 1)} messages and leader hw {facts['leader_hw']}",
        )
        if not facts["batches"]:
            yield self.fetcher(
                facts["leader"],
                "TRACE",
                f"Follower {event.broker} has replica log end offset {facts['leo']} after appending 0 bytes of "
                "messages for "
                f"partition {self.scene.tp}",
            )

    def hw_taken(self, event: Event) -> Iterator[Line]:
        """The follower's HW."""
        facts = event.facts
        yield Line(
            "TRACE",
            REPLICA,
            f"Setting high watermark for replica {event.broker} partition {self.scene.tp} to [{facts['hw']} [-1 : -1]]",
        )
        yield self.fetcher(
            facts["leader"],
            "TRACE",
            f"Follower {event.broker} set replica high watermark for partition {self.scene.tp} to {facts['hw']}",
        )

    def reads_for(self, event: Event) -> Iterator[Line]:
        """A follower's fetch at the leader."""
        facts, broker, tp = event.facts, event.broker or 0, self.scene.tp
        offset = self.at(broker, facts["offset"])
        yield Line(
            "DEBUG",
            REPLICAS,
            f"[Replica Manager on Broker {broker}]: Recording follower broker {facts['follower']} log read results: "
            f"ArrayBuffer(({tp},Fetch Data: [FetchDataInfo({offset},[],false)], HW: [{facts['hw']}], "
            "leaderLogEndOffset: "
            f"[{facts['leader_end']}], readSize: [1048576], error: [NONE])) ",
        )
        yield Line(
            "TRACE",
            REPLICA,
            f"Setting log end offset for replica {facts['follower']} for partition {tp} to [{offset}]",
        )

    def records_leo(self, event: Event) -> Iterator[Line]:
        """The follower's LEO is known; printed last."""
        yield self.partition(
            event,
            "DEBUG",
            f"Recorded replica {event.facts['follower']} log end offset (LEO) position {event.facts['leo']} for "
            "partition "
            f"{self.scene.tp}.",
        )

    def hw_raised(self, event: Event) -> Iterator[Line]:
        """The leader's HW moves."""
        broker = event.broker or 0
        new = self.at(broker, event.facts["new"])
        yield Line(
            "TRACE", REPLICA, f"Setting high watermark for replica {broker} partition {self.scene.tp} to [{new}]"
        )
        yield self.partition(event, "DEBUG", f"High watermark for partition {self.scene.old_tp} updated to {new}")

    def hw_held(self, event: Event) -> Iterator[Line]:
        """It does not."""
        broker, facts = event.broker or 0, event.facts
        leos = ",".join(dict.fromkeys(self.at(broker, leo) for leo in facts["counted"]))
        yield self.partition(
            event,
            "DEBUG",
            f"Skipping update high watermark since Old hw {self.at(broker, facts['hw'])} is larger than new hw "
            f"{self.at(broker, facts['new'])} for partition {self.scene.old_tp}. All leo's are {leos}",
        )

    # -- ISR ----------------------------------------------------------------------------------------------------------

    def isr_proposed(self, event: Event) -> Iterator[Line]:
        """The leader wants another ISR."""
        was, now = joined(event.facts["was"]), joined(event.facts["isr"])
        if event.facts["out"]:
            text = f"Shrinking ISR for partition {self.scene.old_tp} from {was} to {now}"
        else:
            text = f"Expanding ISR for partition {self.scene.tp} from {was} to {now}"
        yield self.partition(event, "INFO", text)

    def isr_committed(self, event: Event) -> Iterator[Line]:
        """ZooKeeper has it."""
        facts, broker = event.facts, event.broker or 0
        hw = self.at(broker, event.state["high_watermark"])
        own = f"; Highwatermark: {hw}"
        replicas = ",".join(
            f"ReplicaId: {b}; Topic: {self.scene.topic}; Partition: 0; "
            f"isLocal: {str(b == broker).lower()}; lastCaughtUpTimeMs: "
            f"{max(epoch_ms(facts['known'][b][1]), 0) if b in facts['known'] else 0}{own if b == broker else ''}"
            for b in facts["isr"]
        )
        yield self.partition(
            event, "TRACE", f"ISR updated to [{replicas}] and zkVersion updated to [{facts['partition_epoch']}]"
        )

    def isr_refused(self, event: Event) -> Iterator[Line]:
        """ZooKeeper has a newer version: this leader is a zombie."""
        yield self.partition(
            event,
            "INFO",
            f"Cached zkVersion [{event.facts['partition_epoch']}] not equal to that in zookeeper, skip updating ISR",
        )

    kinds: ClassVar[tuple[str, ...]] = (
        *OldController.kinds,
        "starts",
        "hw_unreadable",
        "stopping",
        "stopped",
        "told",
        "log_created",
        "hw_loaded",
        "leads",
        "follows",
        "leader_unavailable",
        "fetcher_added",
        "caches",
        "cut",
        "cut_nothing",
        "fetch_reset",
        "halts",
        "appends",
        "receives",
        "hw_taken",
        "reads_for",
        "records_leo",
        "hw_raised",
        "hw_held",
        "isr_proposed",
        "isr_committed",
        "isr_refused",
    )
