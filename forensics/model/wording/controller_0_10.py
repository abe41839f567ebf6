"""How the controller of 0.10.2.2 put it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from forensics.model.trace import Event
from forensics.model.wording.words import Line, Words, joined

SERVER, STATE = "kafka.server.KafkaServer", "state.change.logger"
INFO_PARSER = "org.apache.kafka.common.utils.AppInfoParser"
CONTROLLER, SELECTOR = "kafka.controller.KafkaController", "kafka.controller.OfflinePartitionLeaderSelector"
LISTENER = "kafka.controller.ReplicaStateMachine$BrokerChangeListener"


class OldController(Words):
    """The controller's lines, in controller.log and state-change.log."""

    def state_of(self, facts: dict[str, object]) -> str:
        """Leader and ISR as the controller prints them."""
        isr = joined(facts["isr"])  # type: ignore[arg-type]
        return (
            f"(Leader:{facts['leader']},ISR:{isr},LeaderEpoch:{facts['leader_epoch']},"
            f"ControllerEpoch:{facts['controller_epoch']})"
        )

    def json_of(self, facts: dict[str, object]) -> str:
        """Return leader and ISR as stored in ZooKeeper."""
        isr = joined(facts["isr"])  # type: ignore[arg-type]
        return f'{{"leader":{facts["leader"]},"leader_epoch":{facts["leader_epoch"]},"isr":[{isr}]}}'

    def registered(self, broker: int) -> Line:
        """The broker's node in ZooKeeper."""
        return Line(
            "INFO",
            "kafka.utils.ZkUtils",
            f"Registered broker {broker} at path /brokers/ids/{broker} with addresses: "
            f"EndPoint(127.0.0.1,{self.scene.port(broker)},ListenerName(PLAINTEXT),PLAINTEXT)",
        )

    def state_line(self, event: Event, level: str, text: str, after: str = "") -> Line:
        """A line of the controller in state-change.log."""
        return Line(level, STATE, f"Controller {event.broker} epoch {event.facts['controller_epoch']} {text}", after)

    def controller_line(self, event: Event, level: str, text: str) -> Line:
        """A line of ``KafkaController``."""
        return Line(level, CONTROLLER, f"[Controller {event.broker}]: {text}")

    def controller_started(self, event: Event) -> Iterator[Line]:
        """A controller takes office."""
        epoch, broker = event.facts["epoch"], event.broker or 0
        if epoch == 1:
            yield Line("INFO", "kafka.server.KafkaConfig", self.config(broker))
            yield Line("INFO", SERVER, "starting")
            yield Line("INFO", SERVER, "Connecting to zookeeper on 127.0.0.1:19000")
            yield Line("INFO", SERVER, f"Cluster ID = {self.scene.cluster_id}")
            yield self.registered(broker)
            yield Line("INFO", INFO_PARSER, f"Kafka version : {self.version}")
            yield Line("INFO", INFO_PARSER, f"Kafka commitId : {self.commit}")
            yield Line("INFO", SERVER, f"[Kafka Server {broker}], started")
        yield self.controller_line(event, "INFO", "Controller starting up")
        yield self.controller_line(event, "INFO", f"Broker {broker} starting become controller state transition")
        yield self.controller_line(event, "INFO", f"Controller {broker} incremented epoch to {epoch}")
        yield self.controller_line(
            event, "INFO", f"Broker {broker} is ready to serve as the new controller with epoch {epoch}"
        )
        yield self.controller_line(event, "INFO", "Controller startup complete")

    def brokers_changed(self, event: Event, added: str, deleted: str) -> Iterator[Line]:
        """The set of live brokers."""
        live = joined(sorted([*event.facts["live"], event.broker or 0]))
        prefix = f"[BrokerChangeListener on Controller {event.broker}]: "
        yield Line("INFO", LISTENER, f"{prefix}Broker change listener fired for path /brokers/ids with children {live}")
        yield Line(
            "INFO",
            LISTENER,
            f"{prefix}Newly added brokers: {added}, deleted brokers: {deleted}, all live brokers: {live}",
        )

    def broker_up(self, event: Event) -> Iterator[Line]:
        """A broker registered."""
        yield from self.brokers_changed(event, str(event.facts["id"]), "")
        yield self.controller_line(event, "INFO", f"New broker startup callback for {event.facts['id']}")

    def broker_down(self, event: Event) -> Iterator[Line]:
        """A broker is gone."""
        yield from self.brokers_changed(event, "", str(event.facts["id"]))
        yield self.controller_line(event, "INFO", f"Broker failure callback for {event.facts['id']}")

    def topic_created(self, event: Event) -> Iterator[Line]:
        """The partition is created."""
        tp, replicas = self.scene.old_tp, event.facts["replicas"]
        yield self.controller_line(event, "INFO", f"New topic creation callback for {tp}")
        yield self.controller_line(event, "INFO", f"New partition creation callback for {tp}")
        yield self.state_line(
            event,
            "TRACE",
            f"changed partition {tp} state from NonExistentPartition to NewPartition with assigned replicas "
            f"{joined(replicas)}",
        )
        for replica in replicas:
            yield self.state_line(
                event,
                "TRACE",
                f"changed state of replica {replica} for partition {tp} from NonExistentReplica to NewReplica",
            )
        yield self.state_line(
            event,
            "TRACE",
            f"changed partition {tp} from NewPartition to OnlinePartition with leader {event.facts['leader']}",
        )

    def sends_state(self, event: Event) -> Iterator[Line]:
        """LeaderAndIsr goes out."""
        facts = event.facts
        yield self.state_line(
            event,
            "TRACE",
            f"sending become-{facts['role']} LeaderAndIsr request {self.state_of(facts)} to broker {facts['to']} for "
            f"partition {self.scene.old_tp}",
        )

    def partition_offline(self, event: Event) -> Iterator[Line]:
        """The leader is gone."""
        yield self.state_line(
            event, "TRACE", f"changed partition {self.scene.old_tp} state from OnlinePartition to OfflinePartition"
        )

    def partition_online(self, event: Event) -> Iterator[Line]:
        """An election."""
        facts, tp = event.facts, self.scene.old_tp
        if facts["before"] == "OfflinePartition":
            yield self.state_line(event, "TRACE", f"started leader election for partition {tp}")
            prefix = "[OfflinePartitionLeaderSelector]: "
            if facts["unclean"]:
                yield Line(
                    "WARN",
                    SELECTOR,
                    f"{prefix}No broker in ISR is alive for {tp}. Elect leader {facts['leader']} from live brokers "
                    f"{facts['leader']}. There's potential data loss.",
                )
            else:
                isr = joined(facts["isr"])
                yield Line(
                    "DEBUG",
                    SELECTOR,
                    f"{prefix}Some broker in ISR is alive for {tp}. Select {facts['leader']} from ISR {isr} to be the "
                    "leader.",
                )
            yield Line(
                "INFO",
                SELECTOR,
                f"{prefix}Selected new leader and ISR {self.json_of(facts)} for offline partition {tp}",
            )
            yield self.state_line(event, "TRACE", f"elected leader {facts['leader']} for Offline partition {tp}")
        yield self.state_line(
            event,
            "TRACE",
            f"changed partition {tp} from {facts['before']} to OnlinePartition with leader {facts['leader']}",
        )

    def election_failed(self, event: Event) -> Iterator[Line]:
        """No broker may lead."""
        tp, facts = self.scene.old_tp, event.facts
        live = joined(sorted([*facts["live"], event.broker or 0]), ", ")
        yield self.state_line(event, "TRACE", f"started leader election for partition {tp}")
        yield self.state_line(
            event,
            "ERROR",
            f"initiated state change for partition {tp} from OfflinePartition to OnlinePartition failed",
            f"kafka.common.NoReplicaOnlineException: No broker in ISR for partition {tp} is alive. Live brokers are: "
            f"[Set({live})], ISR brokers are: [{joined(facts['isr'])}]",
        )

    def isr_without(self, event: Event) -> Iterator[Line]:
        """A dead replica leaves the ISR, or stays as its last member."""
        facts, tp = event.facts, self.scene.old_tp
        yield self.controller_line(
            event,
            "DEBUG",
            f"Removing replica {facts['replica']} from ISR {joined(facts['was_isr'])} for partition {tp}.",
        )
        if facts["retained"]:
            yield self.controller_line(
                event,
                "INFO",
                f"Retaining last ISR {facts['replica']} of partition {tp} since unclean leader election is disabled",
            )
        yield self.controller_line(event, "INFO", f"New leader and ISR for partition {tp} is {self.json_of(facts)}")

    kinds: ClassVar[tuple[str, ...]] = (
        "controller_started",
        "broker_up",
        "broker_down",
        "topic_created",
        "sends_state",
        "partition_offline",
        "partition_online",
        "election_failed",
        "isr_without",
    )
