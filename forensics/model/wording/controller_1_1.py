"""How the controller of 1.1.1 put it, and with small changes that of 2.8.2: ZooKeeper mode with logIdent prefixes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from forensics.model.trace import Event
from forensics.model.wording.words import Line, Words, joined

SERVER, STATE, CONTROLLER = "kafka.server.KafkaServer", "state.change.logger", "kafka.controller.KafkaController"
INFO_PARSER = "org.apache.kafka.common.utils.AppInfoParser"


class ZooKeeperController(Words):
    """The controller's lines, in controller.log and state-change.log."""

    state_level: ClassVar[str] = "TRACE"
    """Level of the state-change lines that 2.6 raised to INFO."""
    election_strategy: ClassVar[str] = "OfflinePartitionLeaderElectionStrategy"

    def leader_and_isr(self, facts: dict[str, Any]) -> str:
        """The committed state."""
        return (
            f"LeaderAndIsr(leader={facts['leader']}, leaderEpoch={facts['leader_epoch']}, "
            f"isr=List({joined(facts['isr'], ', ')}), zkVersion={facts['partition_epoch']})"
        )

    def request_state(self, facts: dict[str, Any]) -> str:
        """The state in a LeaderAndIsr request."""
        return (
            f"PartitionState(controllerEpoch={facts['controller_epoch']}, leader={facts['leader']}, "
            f"leaderEpoch={facts['leader_epoch']}, isr={joined(facts['isr'])}, zkVersion={facts['partition_epoch']}, "
            f"replicas={joined(list(self.scene.assigned))}, isNew={str(facts['new']).lower()})"
        )

    def registered(self, broker: int) -> Line:
        """The broker's node in ZooKeeper."""
        return Line(
            "INFO",
            "kafka.zk.KafkaZkClient",
            f"Registered broker {broker} at path /brokers/ids/{broker} with addresses: ArrayBuffer(EndPoint(127.0.0.1,"
            f"{self.scene.port(broker)},ListenerName(PLAINTEXT),PLAINTEXT))",
        )

    def versions(self) -> Iterator[Line]:
        """The version, as the client library prints it."""
        yield Line("INFO", INFO_PARSER, f"Kafka version : {self.version}")
        yield Line("INFO", INFO_PARSER, f"Kafka commitId : {self.commit}")

    def state_line(self, event: Event, level: str, text: str, after: str = "") -> Line:
        """A line of the controller in state-change.log."""
        return Line(
            level, STATE, f"[Controller id={event.broker} epoch={event.facts['controller_epoch']}] {text}", after
        )

    def controller_line(self, event: Event, level: str, text: str) -> Line:
        """A line of ``KafkaController``."""
        return Line(level, CONTROLLER, f"[Controller id={event.broker}] {text}")

    def elected(self, event: Event) -> Iterator[Line]:
        """The first lines in office."""
        yield self.controller_line(event, "INFO", f"{event.broker} successfully elected as the controller")
        yield self.controller_line(event, "INFO", f"Epoch incremented to {event.facts['epoch']}")

    def controller_started(self, event: Event) -> Iterator[Line]:
        """A controller takes office."""
        broker = event.broker or 0
        if event.facts["epoch"] == 1:
            yield Line("INFO", "kafka.server.KafkaConfig", self.config(broker))
            yield Line("INFO", SERVER, "starting")
            yield Line("INFO", SERVER, "Connecting to zookeeper on 127.0.0.1:19000")
            yield Line("INFO", SERVER, f"Cluster ID = {self.scene.cluster_id}")
            yield self.registered(broker)
            yield from self.versions()
            yield Line("INFO", SERVER, f"[KafkaServer id={broker}] started")
        yield from self.elected(event)
        yield self.controller_line(event, "INFO", "Initializing controller context")
        yield self.controller_line(
            event, "INFO", f"Ready to serve as the new controller with epoch {event.facts['epoch']}"
        )

    def brokers_changed(self, event: Event, added: str, deleted: str) -> Line:
        """The set of live brokers."""
        live = joined(sorted([*event.facts["live"], event.broker or 0]))
        return self.controller_line(
            event, "INFO", f"Newly added brokers: {added}, deleted brokers: {deleted}, all live brokers: {live}"
        )

    def broker_up(self, event: Event) -> Iterator[Line]:
        """A broker registered."""
        yield self.brokers_changed(event, str(event.facts["id"]), "")
        yield self.controller_line(event, "INFO", f"New broker startup callback for {event.facts['id']}")

    def broker_down(self, event: Event) -> Iterator[Line]:
        """A broker is gone."""
        yield self.brokers_changed(event, "", str(event.facts["id"]))
        yield self.controller_line(event, "INFO", f"Broker failure callback for {event.facts['id']}")

    def assignment(self, replicas: list[int]) -> str:
        """The assignment of the new topic."""
        return f"[Map({self.scene.tp} -> Vector({joined(replicas, ', ')}))]"

    def topic_created(self, event: Event) -> Iterator[Line]:
        """The partition is created."""
        tp, replicas = self.scene.tp, event.facts["replicas"]
        nothing = "Set()" if self.state_level == "TRACE" else "HashSet()"
        yield self.controller_line(
            event,
            "INFO",
            f"New topics: [Set({self.scene.topic})], deleted topics: [{nothing}], new partition replica assignment "
            f"{self.assignment(replicas)}",
        )
        yield self.controller_line(event, "INFO", f"New partition creation callback for {tp}")
        yield self.state_line(
            event,
            self.state_level,
            f"Changed partition {tp} state from NonExistentPartition to NewPartition with assigned replicas "
            f"{joined(replicas)}",
        )
        for replica in replicas:
            yield self.state_line(
                event,
                "TRACE",
                f"Changed state of replica {replica} for partition {tp} from NonExistentReplica to NewReplica",
            )
        yield self.state_line(
            event,
            self.state_level,
            f"Changed partition {tp} from NewPartition to OnlinePartition with state "
            f"{self.leader_and_isr(event.facts)}",
        )

    def sends_state(self, event: Event) -> Iterator[Line]:
        """LeaderAndIsr goes out."""
        yield self.state_line(
            event,
            "TRACE",
            f"Sending become-{event.facts['role']} LeaderAndIsr request {self.request_state(event.facts)} to broker "
            f"{event.facts['to']} for partition {self.scene.tp}",
        )

    def partition_offline(self, event: Event) -> Iterator[Line]:
        """The leader is gone."""
        yield self.state_line(
            event, "TRACE", f"Changed partition {self.scene.tp} state from OnlinePartition to OfflinePartition"
        )

    def partition_online(self, event: Event) -> Iterator[Line]:
        """An election. No line says whether it was clean."""
        facts = event.facts
        yield self.state_line(
            event,
            self.state_level,
            f"Changed partition {self.scene.tp} from {facts['before']} to OnlinePartition with state "
            f"{self.leader_and_isr(facts)}",
        )

    def election_failed(self, event: Event) -> Iterator[Line]:
        """No broker may lead."""
        tp = self.scene.tp
        yield self.state_line(
            event,
            "ERROR",
            f"Controller {event.broker} epoch {event.facts['controller_epoch']} failed to change state for partition "
            f"{tp} "
            "from OfflinePartition to OnlinePartition",
            f"kafka.common.StateChangeFailedException: Failed to elect leader for partition {tp} under strategy "
            f"{self.election_strategy}",
        )

    kinds: ClassVar[tuple[str, ...]] = (
        "controller_started",
        "broker_up",
        "broker_down",
        "topic_created",
        "sends_state",
        "partition_offline",
        "partition_online",
        "election_failed",
    )
