"""How brokers of 1.1.1 put it: leader epochs by one question (KIP-101), logIdent prefixes, HW still beside the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from forensics.model.segments import size
from forensics.model.state import Batch
from forensics.model.trace import Event, epoch_ms
from forensics.model.wording.broker_1_1 import EPOCHS, MANAGER, REPLICA, Broker11
from forensics.model.wording.controller_1_1 import ZooKeeperController
from forensics.model.wording.words import Line, Threshold, joined


class V11(Broker11):
    """1.1.1."""

    version = "1.1.1"
    commit = "98b6346a977495f6"
    defaults: ClassVar[tuple[Threshold, ...]] = (
        Threshold("", "INFO", "server.log"),
        Threshold("state.change.logger", "TRACE", "state-change.log"),
        Threshold("kafka.controller", "TRACE", "controller.log"),
        Threshold("kafka.log.LogCleaner", "INFO", "log-cleaner.log"),
    )

    new_settings = ""
    """Settings of a log that this version added."""

    # -- words from the controller ------------------------------------------------------------------------------------

    def told(self, event: Event) -> Iterator[Line]:
        """LeaderAndIsr arrives."""
        facts, broker = event.facts, event.broker or 0
        self.scene.told[broker] = facts
        yield self.state(
            event,
            "TRACE",
            f"Received LeaderAndIsr request {self.request_state(facts)} correlation id {facts['correlation']} from "
            f"controller {facts['controller']} epoch {facts['controller_epoch']} for partition {self.scene.tp}",
        )
        if facts["stale"]:
            yield self.state(
                event,
                "WARN",
                f"Ignoring LeaderAndIsr request from controller {facts['controller']} with correlation id "
                f"{facts['correlation']} epoch {facts['controller_epoch']} for partition {self.scene.tp} since its "
                f"associated leader epoch {facts['leader_epoch']} is not higher than the current leader epoch "
                f"{facts['known_epoch']}",
            )
            return
        yield self.transition(event, "leader" if facts["leader"] == broker else "follower")

    def transition(self, event: Event, role: str) -> Line:
        """The change begins."""
        facts = event.facts
        return self.state(
            event,
            "TRACE",
            f"Handling LeaderAndIsr request correlationId {facts['correlation']} from controller {facts['controller']} "
            f"epoch {facts['controller_epoch']} starting the become-{role} transition for partition {self.scene.tp}"
            f"{self.with_leader(facts['leader']) if role == 'follower' else ''}",
        )

    def with_leader(self, leader: int) -> str:
        """Return the leader that a follower gets; 1.1 does not print it."""
        return ""

    def completed(self, event: Event, role: str) -> Line:
        """The change is done."""
        told = self.scene.told[event.broker or 0]
        return self.state(
            event,
            "TRACE",
            f"Completed LeaderAndIsr request correlationId {told['correlation']} from controller {told['controller']} "
            "epoch "
            f"{told['controller_epoch']} for the become-{role} transition for partition {self.scene.tp}"
            f"{self.with_leader(told['leader']) if role == 'follower' else ''}",
        )

    def log_created(self, event: Event) -> Iterator[Line]:
        """An empty log."""
        scene = self.scene
        yield self.log(event, "INFO", f"Loading producer state {self.until} offset 0 with message format version 2")
        yield self.log(
            event, "INFO", "Completed load of log with 1 segments, log start offset 0 and log end offset 0 in 5 ms"
        )
        settings = (
            f"compression.type -> producer, message.format.version -> "
            f"{scene.protocol.inter_broker}, file.delete.delay.ms -> 60000, "
            "max.message.bytes -> 1000012, min.compaction.lag.ms -> 0, message.timestamp.type -> CreateTime, "
            f"min.insync.replicas -> {scene.min_isr}, {self.new_settings}segment.jitter.ms -> 0, preallocate -> false, "
            "index.interval.bytes -> 4096, min.cleanable.dirty.ratio -> 0.5, unclean.leader.election.enable -> "
            f"{str(scene.unclean).lower()}, retention.bytes -> -1, delete.retention.ms -> 86400000, cleanup.policy -> "
            "[delete], flush.ms -> 9223372036854775807, segment.bytes -> 1073741824, segment.ms -> 604800000, "
            "retention.ms -> 604800000, message.timestamp.difference.max.ms -> 9223372036854775807, "
            "segment.index.bytes -> "
            "10485760, flush.messages -> 9223372036854775807"
        )
        yield Line(
            "INFO",
            MANAGER,
            f"Created log for partition {scene.tp} in {scene.data(event.broker or 0)} with properties {{{settings}}}.",
        )

    def hw_loaded(self, event: Event) -> Iterator[Line]:
        """The HW from the checkpoint; a leader has an object for each follower too, whose HW reads 0."""
        if event.facts["found"] is None:
            yield self.partition(event, "INFO", f"No checkpointed highwatermark is found for partition {self.scene.tp}")
        text = f"Replica loaded for partition {self.scene.tp} with initial high watermark"
        yield Line("INFO", REPLICA, f"{text} {event.facts['hw']}")
        for _ in self.scene.assigned[1:]:
            yield Line("INFO", REPLICA, f"{text} 0")

    def leads(self, event: Event) -> Iterator[Line]:
        """Becomes leader."""
        facts, tp, broker = event.facts, self.scene.tp, event.broker or 0
        yield self.manager(event, f"Removed fetcher for partitions {tp}")
        yield self.partition(
            event,
            "INFO",
            f"{tp} starts at Leader Epoch {facts['epoch']} from offset {facts['start']}. Previous Leader Epoch was: "
            f"{facts['previous_epoch']}",
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
            for follower, _, _ in facts["remote"]:
                yield Line(
                    "TRACE",
                    REPLICA,
                    f"Setting log end offset for replica {follower} for partition {tp} to [{self.at(broker, -1)}]",
                )
            yield self.state(
                event,
                "TRACE",
                f"Stopped fetchers as part of become-leader request {self.from_request(event)} for partition {tp} "
                f"{self.last_update(event)}",
            )
        yield self.completed(event, "leader")

    def follows(self, event: Event) -> Iterator[Line]:
        """Becomes follower."""
        facts, tp = event.facts, self.scene.tp
        if facts["skipped"]:
            yield self.state(
                event,
                "INFO",
                "Skipped the become-follower state change after marking its partition as follower "
                f"{self.of_request(event)} "
                f"for partition {tp} {self.last_update(event)} since the new leader {facts['leader']} is the same as "
                "the old "
                "leader",
            )
            yield self.completed(event, "follower")
            return
        yield self.manager(event, f"Removed fetcher for partitions {tp}")
        yield self.state(
            event,
            "TRACE",
            f"Stopped fetchers as part of become-follower request {self.from_request(event)} for partition {tp}"
            f"{self.with_leader(facts['leader'])}",
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
        yield self.completed(event, "follower")

    def fetcher_added(self, event: Event) -> Iterator[Line]:
        """The follower begins to fetch. Since 0.11 the first line still mentions a truncation although nothing is
        truncated here.
        """
        facts, tp = event.facts, self.scene.tp
        told = self.scene.told[event.broker or 0]
        yield self.state(
            event,
            "TRACE",
            f"Truncated logs and checkpointed recovery boundaries for partition {tp} as part of become-follower "
            "request "
            f"{self.of_request(event)}{self.with_leader(facts['leader'])}",
        )
        yield self.fetcher(event, facts["leader"], "INFO", "Starting")
        yield self.manager(
            event,
            f"Added fetcher for partitions List([{tp}, initOffset {facts['offset']} to broker "
            f"BrokerEndPoint({facts['leader']},127.0.0.1,{self.scene.port(facts['leader'])})] )",
        )
        yield self.state(
            event,
            "TRACE",
            f"Started fetcher to new leader as part of become-follower request from controller {told['controller']} "
            "epoch "
            f"{told['controller_epoch']} with correlation id {told['correlation']} for partition {tp}"
            f"{self.with_leader(facts['leader'])}",
        )
        yield self.completed(event, "follower")

    def caches(self, event: Event) -> Iterator[Line]:
        """UpdateMetadata."""
        facts = event.facts
        offline = [b for b in self.scene.assigned if b not in facts["live"]]
        yield self.state(
            event,
            "TRACE",
            f"Cached leader info PartitionState(controllerEpoch={facts['controller_epoch']}, leader={facts['leader']}, "
            f"leaderEpoch={facts['leader_epoch']}, isr=[{joined(facts['isr'], ', ')}], "
            f"zkVersion={facts['partition_epoch']}, "
            f"replicas=[{joined(list(self.scene.assigned), ', ')}], offlineReplicas=[{joined(offline, ', ')}]) for "
            "partition "
            f"{self.scene.tp} in response to UpdateMetadata request sent by controller {facts['controller']} epoch "
            f"{facts['controller_epoch']} with correlation id {facts['correlation']}",
        )

    # -- epochs and truncation ----------------------------------------------------------------------------------------

    def epoch_assigned(self, event: Event) -> Iterator[Line]:
        """The cache has a new entry. The count is of before."""
        facts = event.facts
        epoch, start = facts["before"]
        yield Line(
            "INFO",
            EPOCHS,
            f"Updated PartitionLeaderEpoch. New: {{epoch:{facts['epoch']}, offset:{facts['start']}}}, Current: "
            f"{{epoch:{epoch}, offset:{start}}} for Partition: {self.scene.tp}. Cache now contains "
            f"{facts['size_before']} "
            "entries.",
        )

    def answers_epoch(self, event: Event) -> Iterator[Line]:
        """The leader's reply."""
        facts = event.facts
        yield Line(
            "DEBUG",
            EPOCHS,
            f"Processed offset for epoch request for partition {self.scene.tp} epoch:{facts['asked']} and returning "
            "offset "
            f"{facts['end']} from epoch list of size {facts['size']}",
        )

    def hears_epoch(self, event: Event) -> Iterator[Line]:
        """The follower's reaction."""
        facts, tp = event.facts, self.scene.tp
        yield self.fetcher(
            event,
            facts["leader"],
            "DEBUG",
            f"Receive leaderEpoch response Map({tp} -> EpochEndOffset{{error=NONE, endOffset={facts['end']}}})",
        )
        if facts["why"] == "unknown":
            yield self.fetcher(
                event,
                facts["leader"],
                "WARN",
                f"Based on follower's leader epoch, leader replied with an unknown offset in {tp}. The initial fetch "
                "offset "
                f"{facts['to']} will be used for truncation.",
            )
        elif facts["end"] >= facts["leo"]:
            yield self.fetcher(
                event,
                facts["leader"],
                "INFO",
                f"Based on follower's leader epoch, leader replied with an offset {facts['end']} >= the follower's "
                "log end "
                f"offset {facts['leo']} in {tp}. No truncation needed.",
            )

    def epoch_refused(self, event: Event) -> Iterator[Line]:
        """The one asked is not the leader."""
        leader = event.facts["leader"]
        yield self.fetcher(
            event,
            leader,
            "INFO",
            f"Retrying leaderEpoch request for partition {self.scene.tp} as the leader reported an error: "
            "NOT_LEADER_FOR_PARTITION",
        )

    def cut(self, event: Event) -> Iterator[Line]:
        """Truncated."""
        facts = event.facts
        yield self.log(event, "INFO", f"Truncating to offset {facts['to']}")
        if facts["dropped"]:
            entries = ", ".join(f"EpochEntry({epoch},{start})" for epoch, start in facts["dropped"])
            yield Line(
                "INFO",
                EPOCHS,
                f"Cleared latest Set({entries}) entries from epoch cache based on passed offset {facts['to']} leaving "
                f"{facts['left']} in EpochFile for partition {self.scene.tp}",
            )
        yield self.log(
            event, "INFO", f"Loading producer state {self.until} offset {facts['to']} with message format version 2"
        )

    def cut_nothing(self, event: Event) -> Iterator[Line]:
        """Nothing to truncate."""
        facts = event.facts
        yield self.log(
            event,
            "INFO",
            f"Truncating to {facts['to']} has no effect as the largest offset in the log is {facts['end'] - 1}",
        )

    def fetch_reset(self, event: Event) -> Iterator[Line]:
        """The leader's log is shorter."""
        facts, tp = event.facts, self.scene.tp
        if not facts["whole"]:
            return
        yield self.fetcher(
            event,
            facts["leader"],
            "WARN",
            f"Reset fetch offset for partition {tp} from {facts['offset']} to current leader's latest offset "
            f"{facts['to']}",
        )
        yield self.fetcher(
            event,
            facts["leader"],
            "INFO",
            f"Current offset {facts['offset']} for partition {tp} is out of range, which typically implies a leader "
            "change. "
            f"Reset fetch offset to {facts['to']}",
        )

    def halts(self, event: Event) -> Iterator[Line]:
        """It may not truncate and so ends itself. FATAL prints as ERROR since 1.1."""
        facts = event.facts
        yield self.fetcher(
            event,
            facts["leader"],
            "ERROR",
            f"Exiting because log truncation is not allowed for partition {self.scene.tp}, current leader's latest "
            "offset "
            f"{facts['leader_end']} is less than replica's latest offset {facts['leo']}",
        )

    def stuck(self, event: Event) -> Iterator[Line]:
        """Batches of two histories do not line up."""
        facts = event.facts
        yield self.fetcher(
            event,
            facts["leader"],
            "ERROR",
            f"Error while processing data for partition {self.scene.tp} at offset {facts['offset']}",
        )

    # -- replication, seen only with its loggers on -------------------------------------------------------------------

    def records(self, batches: list[Batch]) -> str:
        """The records of an append, as versions up to 1.x dump them."""
        return ", ".join(
            f"(record=DefaultRecord(offset={offset}, timestamp={epoch_ms(batch.at)}, key=0 bytes, value={len(value)} "
            "bytes))"
            for batch in batches
            for offset, value in enumerate(batch.values, batch.base)
        )

    def first(self, facts: dict[str, Any]) -> str:
        """The first offset of an append."""
        return str(facts["first"])

    def appended(self, facts: dict[str, Any]) -> str:
        """Return the text of an append."""
        return (
            f"Appended message set with last offset: {facts['end'] - 1}, first offset: {self.first(facts)}, "
            f"next offset: {facts['end']}, and messages: [{self.records(facts['batches'])}]"
        )

    def appends(self, event: Event) -> Iterator[Line]:
        """Records are in the log."""
        facts = event.facts
        yield self.log(event, "TRACE", self.appended(facts))
        if facts["role"] == "follower":
            leader = event.facts["leader"]
            yield self.fetcher(
                event,
                leader,
                "TRACE",
                f"Follower has replica log end offset {facts['end']} after appending "
                f"{size(facts['batches'], self.scene.protocol.magic)} bytes of messages for partition {self.scene.tp}",
            )

    def fetches(self, event: Event) -> Iterator[Line]:
        """A follower asks."""
        facts = event.facts
        yield self.fetcher(event, facts["leader"], "TRACE", f"Sending fetch request {self.fetch_request(event)}")

    def fetch_request(self, event: Event) -> str:
        """The request as printed."""
        return (
            f"(type=FetchRequest, replicaId={event.broker}, maxWait=500, minBytes=1, maxBytes=10485760, "
            f"fetchData={{{self.scene.tp}=(offset={event.facts['offset']}, logStartOffset=0, maxBytes=1048576)}}, "
            "isolationLevel=READ_UNCOMMITTED, toForget=, metadata=(sessionId=INVALID, epoch=INITIAL))"
        )

    unit = "messages"

    def receives(self, event: Event) -> Iterator[Line]:
        """A fetch response. The number counts bytes."""
        facts = event.facts
        taken = size(facts["batches"], self.scene.protocol.magic)
        yield self.fetcher(
            event,
            facts["leader"],
            "TRACE",
            f"Follower has replica log end offset {facts['leo']} for partition {self.scene.tp}. Received {taken} "
            f"{self.unit} "
            f"and leader hw {facts['leader_hw']}",
        )
        if not facts["batches"]:
            yield self.fetcher(
                event,
                facts["leader"],
                "TRACE",
                f"Follower has replica log end offset {facts['leo']} after appending 0 bytes of messages for partition "
                f"{self.scene.tp}",
            )

    def hw_taken(self, event: Event) -> Iterator[Line]:
        """The follower's HW."""
        facts, tp = event.facts, self.scene.tp
        yield Line(
            "TRACE",
            REPLICA,
            f"Setting high watermark for replica {event.broker} partition {tp} to [{self.unplaced(facts['hw'])}]",
        )
        yield self.fetcher(
            event,
            facts["leader"],
            "TRACE",
            f"Follower set replica high watermark for partition {tp} to {facts['hw']}",
        )

    def reads_for(self, event: Event) -> Iterator[Line]:
        """A follower's fetch at the leader."""
        facts, tp = event.facts, self.scene.tp
        offset = self.at(event.broker or 0, facts["offset"])
        yield Line(
            "TRACE",
            REPLICA,
            f"Setting log start offset for remote replica {facts['follower']} for partition {tp} to [0]",
        )
        yield Line(
            "TRACE", REPLICA, f"Setting log end offset for replica {facts['follower']} for partition {tp} to [{offset}]"
        )

    def records_leo(self, event: Event) -> Iterator[Line]:
        """The follower's LEO is known; printed last."""
        facts = event.facts
        yield self.partition(
            event, "DEBUG", f"Recorded replica {facts['follower']} log end offset (LEO) position {facts['leo']}."
        )

    def hw_raised(self, event: Event) -> Iterator[Line]:
        """The leader's HW moves."""
        broker = event.broker or 0
        new = self.at(broker, event.facts["new"])
        yield Line(
            "TRACE", REPLICA, f"Setting high watermark for replica {broker} partition {self.scene.tp} to [{new}]"
        )
        yield self.partition(event, "DEBUG", f"High watermark updated to {new}")

    def hw_held(self, event: Event) -> Iterator[Line]:
        """It does not."""
        broker, facts = event.broker or 0, event.facts
        leos = ",".join(dict.fromkeys(self.at(broker, leo) for leo in facts["counted"]))
        yield self.partition(
            event,
            "DEBUG",
            f"Skipping update high watermark since new hw {self.at(broker, facts['new'])} is not larger than old hw "
            f"{self.at(broker, facts['hw'])}.All LEOs are {leos}",
        )

    # -- ISR ----------------------------------------------------------------------------------------------------------

    def isr_proposed(self, event: Event) -> Iterator[Line]:
        """The leader wants another ISR."""
        verb = "Shrinking" if event.facts["out"] else "Expanding"
        yield self.partition(
            event, "INFO", f"{verb} ISR from {joined(event.facts['was'])} to {joined(event.facts['isr'])}"
        )

    def isr_committed(self, event: Event) -> Iterator[Line]:
        """ZooKeeper has it."""
        facts, broker = event.facts, event.broker or 0
        hw = self.at(broker, event.state["high_watermark"])
        own = f"; Highwatermark: {hw}; LastStableOffset: {hw}"
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
        *ZooKeeperController.kinds,
        "starts",
        "cannot_load",
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
        "epoch_assigned",
        "answers_epoch",
        "hears_epoch",
        "epoch_refused",
        "cut",
        "cut_nothing",
        "fetch_reset",
        "halts",
        "stuck",
        "appends",
        "fetches",
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
