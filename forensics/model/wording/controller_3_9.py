"""How the quorum controller of 3.9.1 put it: KRaft mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forensics.model.trace import Event
from forensics.model.wording.controller_1_1 import INFO_PARSER
from forensics.model.wording.v2_8 import V28
from forensics.model.wording.words import Line, joined

QUORUM, REPLICATION = (
    "org.apache.kafka.controller.QuorumController",
    "org.apache.kafka.controller.ReplicationControlManager",
)
CLUSTER, HEARTBEATS = (
    "org.apache.kafka.controller.ClusterControlManager",
    "org.apache.kafka.controller.BrokerHeartbeatManager",
)


class QuorumController(V28):
    """The controller's lines, in controller.log, beside those of brokers of 2.8.2."""

    def quorum(self, event: Event, level: str, logger: str, text: str) -> Line:
        """A line of the quorum controller."""
        return Line(level, logger, f"[QuorumController id={event.broker}] {text}")

    def controller_started(self, event: Event) -> Iterator[Line]:
        """A controller becomes the active one."""
        if event.facts["epoch"] == 1:
            yield Line("INFO", "kafka.server.KafkaConfig", self.config(event.broker or 0))
            yield Line("INFO", INFO_PARSER, f"Kafka version: {self.version}")
            yield Line("INFO", INFO_PARSER, f"Kafka commitId: {self.commit}")
        yield self.quorum(
            event,
            "INFO",
            QUORUM,
            f"Becoming the active controller at epoch {event.facts['epoch']}, next write offset 1.",
        )

    def broker_up(self, event: Event) -> Iterator[Line]:
        """A broker registers, catches up and is unfenced."""
        facts, scene = event.facts, self.scene
        broker, epoch = facts["id"], facts["broker_epoch"]
        what = "establishing a new incarnation of broker" if facts["known"] else None
        record = (
            f"RegisterBrokerRecord(brokerId={broker}, isMigratingZkBroker=false, "
            f"incarnationId={scene.incarnation(broker, epoch)}, brokerEpoch={epoch}, "
            f"endPoints=[BrokerEndpoint(name='PLAINTEXT', host='127.0.0.1', port={scene.port(broker)}, "
            "securityProtocol=0)], "
            "features=[BrokerFeature(name='kraft.version', minSupportedVersion=0, maxSupportedVersion=1), "
            "BrokerFeature(name='metadata.version', minSupportedVersion=1, maxSupportedVersion=21)], rack=null, "
            "fenced=true, "
            f"inControlledShutdown=false, logDirs=[{scene.directory_id(broker)}])"
        )
        text = f"RegisterBrokerRecord {what} {broker}" if what else f"initial RegisterBrokerRecord for broker {broker}"
        if facts["anew"]:
            yield self.quorum(event, "INFO", CLUSTER, f"Replayed {text}: {record}")
        yield self.quorum(
            event,
            "INFO",
            HEARTBEATS,
            f"The request from broker {broker} to unfence has been granted because it has caught up with the offset "
            "of its "
            f"register broker record {epoch}.",
        )
        yield self.quorum(event, "INFO", CLUSTER, f"{self.registration_change(broker, epoch, -1)}")

    def registration_change(self, broker: int, epoch: int, fenced: int) -> str:
        """A broker is fenced (1) or unfenced (-1)."""
        return (
            f"Replayed BrokerRegistrationChangeRecord modifying the registration for broker {broker}: "
            f"BrokerRegistrationChangeRecord(brokerId={broker}, brokerEpoch={epoch}, fenced={fenced}, "
            "inControlledShutdown=0, logDirs=[])"
        )

    def broker_down(self, event: Event) -> Iterator[Line]:
        """A broker's session timed out."""
        facts = event.facts
        yield self.quorum(
            event, "INFO", REPLICATION, f"Fencing broker {facts['id']} because its session has timed out."
        )
        yield self.quorum(event, "INFO", CLUSTER, self.registration_change(facts["id"], facts["broker_epoch"], 1))

    def topic_created(self, event: Event) -> Iterator[Line]:
        """The partition is created."""
        facts, scene = event.facts, self.scene
        replicas = joined(facts["replicas"], ", ")
        directories = ", ".join(scene.directory_id(b) for b in facts["replicas"])
        yield self.quorum(
            event, "INFO", REPLICATION, f"Replayed TopicRecord for topic {scene.topic} with topic ID {scene.topic_id}."
        )
        settings = [("min.insync.replicas", str(scene.min_isr))]
        if scene.unclean:
            settings.append(("unclean.leader.election.enable", "true"))
        for key, value in settings:
            yield self.quorum(
                event,
                "INFO",
                "org.apache.kafka.controller.ConfigurationControlManager",
                f"Replayed ConfigRecord for ConfigResource(type=TOPIC, name='{scene.topic}') which set configuration "
                f"{key} to {value}",
            )
        yield self.quorum(
            event,
            "INFO",
            REPLICATION,
            f"Replayed PartitionRecord for new partition {scene.tp} with topic ID {scene.topic_id} and "
            f"PartitionRegistration(replicas=[{replicas}], directories=[{directories}], "
            f"isr=[{joined(facts['isr'], ', ')}], removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], "
            f"leader={facts['leader']}, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0).",
        )

    def difference(self, facts: dict[str, Any]) -> str:
        """Return the changed fields, old to new, in the order Kafka prints them."""
        pairs = []
        if facts["was_isr"] != facts["isr"]:
            pairs.append(f"isr: [{joined(facts['was_isr'], ', ')}] -> [{joined(facts['isr'], ', ')}]")
        if facts["was_leader"] != facts["leader"]:
            pairs.append(f"leader: {facts['was_leader']} -> {facts['leader']}")
        if facts["was_recovering"] != facts["recovering"]:
            names = ("RECOVERED", "RECOVERING")
            pairs.append(f"leaderRecoveryState: {names[facts['was_recovering']]} -> {names[facts['recovering']]}")
        if facts["was_epoch"] != facts["leader_epoch"]:
            pairs.append(f"leaderEpoch: {facts['was_epoch']} -> {facts['leader_epoch']}")
        pairs.append(f"partitionEpoch: {facts['was_partition_epoch']} -> {facts['partition_epoch']}")
        return ", ".join(pairs)

    def partition_changed(self, event: Event) -> Iterator[Line]:
        """A PartitionChangeRecord. A clean one shows at DEBUG only."""
        facts, scene = event.facts, self.scene
        if facts["unclean"]:
            yield Line(
                "INFO",
                "org.apache.kafka.controller.PartitionChangeBuilder",
                f"Setting new leader for topicId {scene.topic_id}, partition 0 to {facts['leader']} using an unclean "
                "election",
            )
        why = facts["why"]
        if self.threshold(REPLICATION).level == "DEBUG":
            yield self.quorum(event, "DEBUG", REPLICATION, f"{why}: changing partition(s): {scene.tp}")
        else:
            yield self.quorum(event, "INFO", REPLICATION, f"{why}: changing 1 partition(s)")
        kind, level = ("UNCLEAN partition change", "INFO") if facts["unclean"] else ("partition change", "DEBUG")
        yield self.quorum(
            event,
            level,
            REPLICATION,
            f"{kind} for {scene.tp} with topic ID {scene.topic_id}: {self.difference(facts)}",
        )

    def isr_altered(self, event: Event) -> Iterator[Line]:
        """A leader's ISR is committed."""
        facts, scene = event.facts, self.scene
        yield self.quorum(
            event,
            "DEBUG",
            REPLICATION,
            f"Node {facts['by']} has altered ISR for {scene.tp} to [{joined(facts['isr'], ', ')}].",
        )
        yield self.quorum(
            event,
            "DEBUG",
            REPLICATION,
            f"partition change for {scene.tp} with topic ID {scene.topic_id}: {self.difference(facts)}",
        )

    def alter_rejected(self, event: Event) -> Iterator[Line]:
        """A zombie's ISR is not."""
        facts, tp = event.facts, self.scene.tp
        start = f"Rejecting AlterPartition request from node {facts['by']} for {tp} because the current"
        if facts["theirs"] != facts["leader_epoch"]:
            text = f"{start} leader epoch is {facts['leader_epoch']}, not {facts['theirs']}."
            yield self.quorum(event, "DEBUG", REPLICATION, text)
        else:
            text = f"{start} partition epoch is {facts['partition_epoch']}, not {facts['partition_epoch'] - 1}."
            yield self.quorum(event, "INFO", REPLICATION, text)
