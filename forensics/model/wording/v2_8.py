"""Wording of brokers of 2.8.2: state-change.log has LEO and HW at each change, the HW belongs to the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from forensics.model.segments import size
from forensics.model.trace import Event, epoch_ms
from forensics.model.wording.broker_1_1 import EPOCHS, MANAGER, REPLICA
from forensics.model.wording.controller_1_1 import INFO_PARSER, SERVER
from forensics.model.wording.controller_2_8 import Controller28
from forensics.model.wording.v1_1 import V11
from forensics.model.wording.words import Line, Threshold, joined


class V28(Controller28, V11):
    """2.8.2, ZooKeeper mode."""

    version = "2.8.2"
    commit = "3146c6ff4a24cc24"
    state_level = "INFO"
    election_strategy = "OfflinePartitionLeaderElectionStrategy(false)"
    defaults: ClassVar[tuple[Threshold, ...]] = (
        Threshold("", "INFO", "server.log"),
        Threshold("state.change.logger", "INFO", "state-change.log"),
        Threshold("kafka.controller", "TRACE", "controller.log"),
        Threshold("org.apache.kafka.controller", "INFO", "controller.log"),
        Threshold("kafka.log.LogCleaner", "INFO", "log-cleaner.log"),
    )

    # -- pieces -------------------------------------------------------------------------------------------------------

    def at(self, broker: int, offset: int) -> str:
        """An offset with its place in the segment."""
        return f"(offset={offset} segment=[0:{self.scene.position(broker, offset)}])"

    def unplaced(self, offset: int) -> str:
        """An offset whose place a follower does not look up."""
        return f"(offset={offset} segment=[-1:-1])"

    def request_state(self, facts: dict[str, Any]) -> str:
        """The state in a LeaderAndIsr request."""
        return (
            f"LeaderAndIsrPartitionState(topicName='{self.scene.topic}', partitionIndex=0, "
            f"controllerEpoch={facts['controller_epoch']}, "
            f"leader={facts['leader']}, leaderEpoch={facts['leader_epoch']}, isr=[{joined(facts['isr'], ', ')}], "
            f"zkVersion={facts['partition_epoch']}, replicas=[{joined(list(self.scene.assigned), ', ')}], "
            f"addingReplicas=[], removingReplicas=[], isNew={str(facts['new']).lower()})"
        )

    def registered(self, broker: int) -> Line:
        """The broker's node in ZooKeeper."""
        return Line(
            "INFO",
            "kafka.zk.KafkaZkClient",
            f"Registered broker {broker} at path /brokers/ids/{broker} with addresses: "
            f"PLAINTEXT://127.0.0.1:{self.scene.port(broker)}, czxid (broker epoch): {70 + broker}",
        )

    def versions(self) -> Iterator[Line]:
        """The version, as the client library prints it."""
        yield Line("INFO", INFO_PARSER, f"Kafka version: {self.version}")
        yield Line("INFO", INFO_PARSER, f"Kafka commitId: {self.commit}")

    def epoch_entries(self, entries: list[tuple[int, int]]) -> str:
        """Entries of the cache as a list."""
        return f"ListBuffer({', '.join(f'EpochEntry(epoch={e}, startOffset={o})' for e, o in entries)})"

    def removed_fetcher(self, event: Event) -> Line:
        """The fetcher is gone."""
        return self.manager(event, f"Removed fetcher for partitions Set({self.scene.tp})")

    # -- process ------------------------------------------------------------------------------------------------------

    malformed_line = "Malformed line in checkpoint file ({path}): '{line}'"

    def resets(self, event: Event) -> Iterator[Line]:
        """Checkpoints that cannot be read and that the broker can do without."""
        for file in event.facts["unreadable"]:
            to = (
                "the recovery checkpoint to 0"
                if file.startswith("recovery")
                else "to the base offset of the first segment"
            )
            yield Line(
                "WARN",
                MANAGER,
                f"Error occurred while reading {file} file of directory {self.scene.data(event.broker or 0)}, "
                f"resetting {to}",
                self.malformed(event, file),
            )

    def loaded(self, event: Event) -> Iterator[Line]:
        """The log is loaded. ``highWatermark`` in this line is not the HW."""
        broker, facts, scene = event.broker or 0, event.facts, self.scene
        data, leo = scene.data(broker), facts["leo"]
        yield Line("DEBUG", MANAGER, f"Loading log {data}/{scene.tp}")
        if not facts["clean"]:
            yield self.log(event, "INFO", "Recovering unflushed segment 0")
            yield self.log(event, "INFO", "Loading producer state till offset 0 with message format version 2")
        yield self.log(event, "INFO", f"Loading producer state till offset {leo} with message format version 2")
        yield Line(
            "INFO",
            MANAGER,
            f"Completed load of Log(dir={data}/{scene.tp}, topic={scene.topic}, partition=0, highWatermark=0, "
            "lastStableOffset=0, "
            f"logStartOffset=0, logEndOffset={leo}) with 1 segments in 21ms (1/1 loaded in {data})",
        )

    def starts(self, event: Event) -> Iterator[Line]:
        """Start, load, register."""
        broker, facts, scene = event.broker or 0, event.facts, self.scene
        data = scene.data(broker)
        yield Line(
            "INFO", "kafka.utils.Log4jControllerRegistration$", "Registered kafka:type=kafka.Log4jController MBean"
        )
        yield Line("INFO", SERVER, "starting")
        yield Line("INFO", SERVER, "Connecting to zookeeper on 127.0.0.1:19000")
        yield Line("INFO", SERVER, f"Cluster ID = {scene.cluster_id}")
        if facts["first"]:
            yield Line(
                "WARN",
                "kafka.server.BrokerMetadataCheckpoint",
                f"No meta.properties file under dir {data}/meta.properties",
            )
        yield Line("INFO", "kafka.server.KafkaConfig", self.config(broker))
        if facts["first"]:
            yield Line("INFO", MANAGER, f"Log directory {data} not found, creating it.")
        yield Line("INFO", MANAGER, f"Loading logs from log dirs ArraySeq({data})")
        yield from self.resets(event)
        if facts["clean"] and not facts["first"]:
            yield Line("INFO", MANAGER, f"Skipping recovery for all logs in {data} since clean shutdown file was found")
        else:
            yield Line(
                "INFO", MANAGER, f"Attempting recovery for all logs in {data} since no clean shutdown file was found"
            )
        if facts["found"]:
            yield from self.loaded(event)
        yield Line("INFO", MANAGER, f"Loaded {int(facts['found'])} logs in 25ms.")
        yield self.registered(broker)
        yield from self.versions()
        yield Line("INFO", SERVER, f"[KafkaServer id={broker}] started")

    # -- words from the controller ------------------------------------------------------------------------------------

    def told(self, event: Event) -> Iterator[Line]:
        """LeaderAndIsr arrives."""
        facts, broker = event.facts, event.broker or 0
        self.scene.told[broker] = facts
        yield self.state(
            event,
            "INFO",
            f"Handling LeaderAndIsr request correlationId {facts['correlation']} from controller "
            f"{facts['controller']} for 1 "
            "partitions",
        )
        yield self.state(
            event,
            "TRACE",
            f"Received LeaderAndIsr request {self.request_state(facts)} correlation id {facts['correlation']} from "
            f"controller {facts['controller']} epoch {facts['controller_epoch']}",
        )
        if facts["stale"]:
            level, why = "WARN", f"is smaller than the current leader epoch {facts['known_epoch']}"
            if facts["leader_epoch"] == facts["known_epoch"]:
                level, why = "INFO", "matches the current leader epoch"
            yield self.state(
                event,
                level,
                f"Ignoring LeaderAndIsr request from controller {facts['controller']} with correlation id "
                f"{facts['correlation']} epoch {facts['controller_epoch']} for partition {self.scene.tp} since its "
                f"associated leader epoch {facts['leader_epoch']} {why}",
            )

    def finished(self, event: Event) -> Line:
        """The request is done."""
        told = self.scene.told[event.broker or 0]
        return self.state(
            event,
            "INFO",
            f"Finished LeaderAndIsr request in 23ms correlationId {told['correlation']} from controller "
            f"{told['controller']} "
            "for 1 partitions",
        )

    def settings(self) -> str:
        """Return the topic's own settings."""
        unclean = ", unclean.leader.election.enable=true" if self.scene.unclean else ""
        return f"{{min.insync.replicas={self.scene.min_isr}{unclean}}}"

    def log_created(self, event: Event) -> Iterator[Line]:
        """An empty log."""
        data = self.scene.data(event.broker or 0)
        yield self.log(event, "INFO", "Loading producer state till offset 0 with message format version 2")
        yield Line(
            "INFO",
            MANAGER,
            f"Created log for partition {self.scene.tp} in {data}/{self.scene.tp} with properties {self.settings()}",
        )

    def hw_loaded(self, event: Event) -> Iterator[Line]:
        """The HW from the checkpoint, within the log."""
        facts = event.facts
        if facts["found"] is None:
            yield self.partition(event, "INFO", f"No checkpointed highwatermark is found for partition {self.scene.tp}")
        yield self.log(event, "TRACE", f"Setting high watermark {self.at(event.broker or 0, facts['hw'])}")
        yield self.partition(
            event, "INFO", f"Log loaded for partition {self.scene.tp} with initial high watermark {facts['hw']}"
        )

    def remote(self, follower: int, caught_up_at: int, fetched_at: int, leader_end: int) -> str:
        """A follower as the leader sees it after a reset."""
        return (
            f"Replica(replicaId={follower}, topic={self.scene.topic}, partition=0, "
            f"lastCaughtUpTimeMs={max(epoch_ms(caught_up_at), 0)}, "
            f"logStartOffset=-1, logEndOffset=-1, logEndOffsetMetadata=(offset=-1 segment=[0:0]), "
            f"lastFetchLeaderLogEndOffset={leader_end}, lastFetchTimeMs={max(epoch_ms(fetched_at), 0)})"
        )

    def leads(self, event: Event) -> Iterator[Line]:
        """Becomes leader: epoch, LEO, HW and ISR in one line."""
        facts, tp = event.facts, self.scene.tp
        yield self.removed_fetcher(event)
        yield self.state(
            event,
            "INFO",
            f"Stopped fetchers as part of LeaderAndIsr request correlationId "
            f"{self.scene.told[event.broker or 0]['correlation']} from controller "
            f"{self.scene.told[event.broker or 0]['controller']} epoch "
            f"{self.scene.told[event.broker or 0]['controller_epoch']} as part of the become-leader transition for 1 "
            "partitions",
        )
        yield self.state(
            event,
            "INFO",
            f"Leader {tp} starts at leader epoch {facts['epoch']} from offset {facts['start']} with high watermark "
            f"{facts['hw']} ISR [{joined(facts['isr'])}] addingReplicas [] removingReplicas []. Previous leader epoch "
            "was "
            f"{facts['previous_epoch']}.",
        )
        if facts["was_leader"]:
            yield self.state(
                event,
                "INFO",
                "Skipped the become-leader state change after marking its partition as leader "
                f"{self.of_request(event)} for "
                f"partition {tp} {self.last_update(event)} since it is already the leader for the partition.",
            )
        else:
            for follower, caught_up_at, fetched_at in facts["remote"]:
                line = self.remote(follower, caught_up_at, fetched_at, facts["start"])
                yield Line("TRACE", REPLICA, f"Reset state of replica to {line}")
        yield self.finished(event)

    def follows(self, event: Event) -> Iterator[Line]:
        """Becomes follower: its own LEO and HW before it has reconciled."""
        facts, tp = event.facts, self.scene.tp
        yield self.state(
            event,
            "INFO",
            f"Follower {tp} starts at leader epoch {facts['epoch']} from offset {facts['leo']} with high watermark "
            f"{facts['hw']}. Previous leader epoch was {facts['previous_epoch']}.",
        )
        yield self.removed_fetcher(event)
        yield self.state(
            event,
            "INFO",
            f"Stopped fetchers as part of become-follower request {self.from_request(event)} for 1 partitions",
        )

    def leader_unavailable(self, event: Event) -> Iterator[Line]:
        """No leader to follow."""
        yield self.state(
            event,
            "ERROR",
            f"Received LeaderAndIsrRequest {self.of_request(event)} for partition {self.scene.tp} "
            f"{self.last_update(event)} "
            f"but cannot become follower since the new leader {event.facts['leader']} is unavailable.",
        )
        yield self.finished(event)

    def initial_state(self, facts: dict[str, Any]) -> str:
        """Return where the fetcher starts."""
        end_point = f"BrokerEndPoint(id={facts['leader']}, host=127.0.0.1:{self.scene.port(facts['leader'])})"
        return f"InitialFetchState({end_point},{facts['epoch']},{facts['offset']})"

    def fetcher_added(self, event: Event) -> Iterator[Line]:
        """Begins to fetch."""
        facts = event.facts
        yield self.fetcher(event, facts["leader"], "INFO", "Starting")
        yield self.manager(
            event,
            f"Added fetcher to broker {facts['leader']} for partitions Map({self.scene.tp} -> "
            f"{self.initial_state(facts)})",
        )
        yield self.finished(event)

    def caches(self, event: Event) -> Iterator[Line]:
        """UpdateMetadata."""
        facts = event.facts
        offline = [b for b in self.scene.assigned if b not in facts["live"]]
        tail = (
            f"in response to UpdateMetadata request sent by controller {facts['controller']} epoch "
            f"{facts['controller_epoch']} with correlation id {facts['correlation']}"
        )
        yield self.state(
            event,
            "TRACE",
            f"Cached leader info UpdateMetadataPartitionState(topicName='{self.scene.topic}', partitionIndex=0, "
            f"controllerEpoch={facts['controller_epoch']}, leader={facts['leader']}, "
            f"leaderEpoch={facts['leader_epoch']}, "
            f"isr=[{joined(facts['isr'], ', ')}], zkVersion={facts['partition_epoch']}, "
            f"replicas=[{joined(list(self.scene.assigned), ', ')}], offlineReplicas=[{joined(offline, ', ')}]) for "
            "partition "
            f"{self.scene.tp} {tail}",
        )
        yield self.state(event, "INFO", f"Add 1 partitions and deleted 0 partitions from metadata cache {tail}")

    # -- epochs and truncation ----------------------------------------------------------------------------------------

    def epoch_assigned(self, event: Event) -> Iterator[Line]:
        """The cache has a new entry."""
        facts = event.facts
        entry = f"EpochEntry(epoch={facts['epoch']}, startOffset={facts['start']})"
        yield Line(
            "DEBUG",
            EPOCHS,
            f"[LeaderEpochCache {self.scene.tp}] Appended new epoch entry {entry}. Cache now contains {facts['size']} "
            "entries.",
        )

    epoch_answer_level = "DEBUG"
    epoch_answer_tail = ""

    def answers_epoch(self, event: Event) -> Iterator[Line]:
        """The leader's look into its cache."""
        facts = event.facts
        yield Line(
            self.epoch_answer_level,
            self.epochs_logger,
            f"[LeaderEpochCache {self.scene.tp}] Processed end offset request for epoch {facts['asked']} and "
            "returning epoch "
            f"{facts['epoch']} with end offset {facts['end']} from epoch cache of size {facts['size']}"
            f"{self.epoch_answer_tail}",
        )

    epochs_logger = EPOCHS

    def hears_epoch(self, event: Event) -> Iterator[Line]:
        """The follower's reaction to an answer to OffsetsForLeaderEpoch."""
        facts, tp = event.facts, self.scene.tp
        if facts["why"] == "unknown":
            yield self.fetcher(
                event,
                facts["leader"],
                "WARN",
                f"Based on replica's leader epoch, leader replied with an unknown offset in {tp}. The initial fetch "
                "offset "
                f"{facts['to']} will be used for truncation.",
            )
        elif facts["why"] == "unknown-epoch":
            yield self.fetcher(
                event,
                facts["leader"],
                "INFO",
                f"Based on replica's leader epoch, leader replied with epoch {facts['epoch']} unknown to the replica "
                f"for {tp}. "
                f"Will truncate to {facts['to']} and send another leader epoch request to the leader.",
            )

    def diverges(self, event: Event) -> Iterator[Line]:
        """The same for a fetch response that names the diverging epoch."""
        yield from self.hears_epoch(event)

    def epoch_refused(self, event: Event) -> Iterator[Line]:
        """The one asked is not the leader of that epoch."""
        leader = event.facts["leader"]
        yield self.fetcher(
            event,
            leader,
            "INFO",
            f"Retrying leaderEpoch request for partition {self.scene.tp} as the leader reported an error: "
            f"{event.facts['error']}",
        )

    def cuts_to_hw(self, event: Event) -> Iterator[Line]:
        """A log without epochs is truncated to its HW."""
        leader = event.facts["leader"]
        yield self.fetcher(
            event, leader, "INFO", f"Truncating partition {self.scene.tp} to local high watermark {event.facts['hw']}"
        )

    def cut(self, event: Event) -> Iterator[Line]:
        """Truncated, and the HW with it."""
        facts, broker = event.facts, event.broker or 0
        yield self.log(event, "INFO", f"Truncating to offset {facts['to']}")
        if facts["dropped"]:
            yield Line(
                "DEBUG",
                self.epochs_logger,
                f"[LeaderEpochCache {self.scene.tp}] Cleared entries {self.epoch_entries(facts['dropped'])} from "
                "epoch cache "
                f"after truncating to end offset {facts['to']}, leaving {facts['left']} entries in the cache.",
            )
        yield from self.rebuilt(event, facts["to"])
        if facts["hw"] < facts["hw_before"]:
            was, now = self.at(broker, facts["hw_before"]), self.at(broker, facts["hw"])
            yield self.log(event, "WARN", f"Non-monotonic update of high watermark from {was} to {now}")
        if facts["hw_before"] >= facts["to"]:
            yield self.log(event, "TRACE", f"Setting high watermark {self.at(broker, facts['hw'])}")

    def rebuilt(self, event: Event, to: int) -> Iterator[Line]:
        """Producer state is rebuilt at the new end, which is named once more."""
        yield self.log(event, "INFO", f"Loading producer state till offset {to} with message format version 2")

    def fetch_refused(self, event: Event) -> Iterator[Line]:
        """A fetch of another epoch than the leader's."""
        facts = event.facts
        if facts["error"] == "fenced":
            yield self.fetcher(
                event,
                facts["leader"],
                "INFO",
                f"Partition {self.scene.tp} has an older epoch ({facts['leader_epoch']}) than the current leader. "
                "Will await "
                "the new LeaderAndIsr state before resuming fetching.",
            )
            yield self.fetcher(event, facts["leader"], "WARN", f"Partition {self.scene.tp} marked as failed")

    def stuck(self, event: Event) -> Iterator[Line]:
        """Batches of two histories do not line up."""
        facts = event.facts
        text = (
            f"Unexpected error occurred while processing data for partition {self.scene.tp} at offset {facts['offset']}"
        )
        yield self.fetcher(event, facts["leader"], "ERROR", text)
        yield self.fetcher(event, facts["leader"], "WARN", f"Partition {self.scene.tp} marked as failed")

    # -- replication, seen only with its loggers on -------------------------------------------------------------------

    def appended(self, facts: dict[str, Any]) -> str:
        """Return the text of an append."""
        taken = size(facts["batches"], 2)
        place = self.place(facts)
        return (
            f"Appended message set with last offset: {facts['end'] - 1}, first offset: {place}, next offset: "
            f"{facts['end']}, "
            f"and messages: MemoryRecords(size={taken}, buffer=java.nio.HeapByteBuffer[pos=0 lim={taken} "
            f"cap={taken + 3}])"
        )

    def place(self, facts: dict[str, Any]) -> str:
        """The first offset of an append."""
        before = size([b for b in self.scene.logs[facts["on"]] if b.end <= facts["first"]], 2)
        return f"Some((offset={facts['first']} segment=[0:{before}]))"

    def fetch_request(self, event: Event) -> str:
        """The request as printed."""
        facts = event.facts
        last = f"Optional[{facts['last_epoch']}]" if facts["last_epoch"] >= 0 else "Optional.empty"
        return (
            f"(type=FetchRequest, replicaId={event.broker}, maxWait=500, minBytes=1, maxBytes=10485760, "
            f"fetchData={{{self.scene.tp}=PartitionData(fetchOffset={facts['offset']}, logStartOffset=0, "
            f"maxBytes=1048576, currentLeaderEpoch=Optional[{facts['leader_epoch']}], lastFetchedEpoch={last})}}, "
            "isolationLevel=READ_UNCOMMITTED, toForget=, metadata=(sessionId=INVALID, epoch=INITIAL), rackId=)"
        )

    def hw_taken(self, event: Event) -> Iterator[Line]:
        """The follower's HW; a fall is logged."""
        facts, tp = event.facts, self.scene.tp
        broker = event.broker or 0
        if facts["hw"] < facts["was"]:
            was, now = self.at(broker, facts["was"]), self.unplaced(facts["hw"])
            yield self.log(event, "WARN", f"Non-monotonic update of high watermark from {was} to {now}")
        yield self.log(event, "TRACE", f"Setting high watermark {self.unplaced(facts['hw'])}")
        yield self.fetcher(
            event,
            facts["leader"],
            "TRACE",
            f"Follower set replica high watermark for partition {tp} to {facts['hw']}",
        )

    def reads_for(self, event: Event) -> Iterator[Line]:
        """A follower's fetch at the leader leaves no line of its own before it is recorded."""
        yield from ()

    def records_leo(self, event: Event) -> Iterator[Line]:
        """The follower's LEO is known; printed last."""
        facts = event.facts
        yield self.partition(
            event,
            "DEBUG",
            f"Recorded replica {facts['follower']} log end offset (LEO) position {facts['leo']} and log start offset "
            "0.",
        )

    def hw_raised(self, event: Event) -> Iterator[Line]:
        """The leader's HW moves."""
        broker, facts = event.broker or 0, event.facts
        old, new = self.at(broker, facts["old"]), self.at(broker, facts["new"])
        yield self.log(event, "TRACE", f"Setting high watermark {new}")
        yield self.partition(event, "DEBUG", f"High watermark updated from {old} to {new}")

    def hw_held(self, event: Event) -> Iterator[Line]:
        """It does not."""
        broker, facts = event.broker or 0, event.facts
        leos = ", ".join(f"replica {b}: {self.placed(broker, leo)}" for b, leo in facts["leos"].items())
        yield self.partition(
            event,
            "TRACE",
            f"Skipping update high watermark since new hw {self.placed(broker, facts['new'])} is not larger than old "
            "value. "
            f"All current LEOs are Set({leos})",
        )

    def placed(self, broker: int, offset: int) -> str:
        """An offset of the leader's own log, or the unknown one."""
        return self.at(broker, offset)

    # -- ISR ----------------------------------------------------------------------------------------------------------

    def lagging(self, broker: int, known: tuple[int, int]) -> str:
        """A replica that falls out."""
        return f"(brokerId: {broker}, endOffset: {known[0]})"

    def isr_proposed(self, event: Event) -> Iterator[Line]:
        """The leader wants to shrink the ISR; an expansion is only logged once it is committed."""
        facts = event.facts
        if not facts["out"]:
            return
        lagging = " ".join(self.lagging(b, facts["known"][b]) for b in facts["out"])
        yield self.partition(
            event,
            "INFO",
            f"Shrinking ISR from {joined(facts['was'])} to {joined(facts['isr'])}. Leader: (highWatermark: "
            f"{facts['hw']}, "
            f"endOffset: {facts['leo']}). Out of sync replicas: {lagging}.",
        )

    def isr_committed(self, event: Event) -> Iterator[Line]:
        """The change holds."""
        facts = event.facts
        yield self.partition(
            event, "INFO", f"ISR updated to {joined(facts['isr'])} and version updated to [{facts['partition_epoch']}]"
        )

    def isr_refused(self, event: Event) -> Iterator[Line]:
        """This leader is a zombie."""
        state = self.leader_and_isr(
            {
                "leader": event.broker,
                "leader_epoch": event.state["leader_epoch"],
                "isr": event.facts["isr"],
                "partition_epoch": event.facts["partition_epoch"],
            }
        )
        yield self.partition(event, "DEBUG", f"Failed to update ISR to {state} due to invalid version. Giving up.")

    kinds: ClassVar[tuple[str, ...]] = (
        *V11.kinds,
        "diverges",
        "cuts_to_hw",
        "fetch_refused",
        "isr_without",
        "isr_altered",
    )
