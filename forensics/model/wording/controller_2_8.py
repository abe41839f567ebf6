"""How the controller of 2.8.2 put it where it differs from that of 1.1.1."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.trace import Event
from forensics.model.wording.controller_1_1 import ZooKeeperController
from forensics.model.wording.words import Line, joined


class Controller28(ZooKeeperController):
    """The controller's lines, in controller.log and state-change.log."""

    def elected(self, event: Event) -> Iterator[Line]:
        """The first line in office."""
        epoch = event.facts["epoch"]
        yield self.controller_line(
            event,
            "INFO",
            f"{event.broker} successfully elected as the controller. Epoch incremented to {epoch} and epoch zk "
            "version is now "
            f"{epoch}",
        )

    def brokers_changed(self, event: Event, added: str, deleted: str) -> Line:
        """The set of live brokers."""
        live = joined(sorted([*event.facts["live"], event.broker or 0]))
        return self.controller_line(
            event,
            "INFO",
            f"Newly added brokers: {added}, deleted brokers: {deleted}, bounced brokers: , all live brokers: {live}",
        )

    def assignment(self, replicas: list[int]) -> str:
        """The assignment of the new topic, with its id."""
        return (
            f"[Set(TopicIdReplicaAssignment({self.scene.topic},Some({self.scene.topic_id}),Map({self.scene.tp} -> "
            f"ReplicaAssignment(replicas={joined(replicas)}, addingReplicas=, removingReplicas=))))]"
        )

    def isr_without(self, event: Event) -> Iterator[Line]:
        """A dead replica leaves the ISR, or stays as its last member."""
        facts = event.facts
        yield self.state_line(
            event,
            "INFO",
            f"Partition {self.scene.tp} state changed to (Leader:{facts['leader']},ISR:{joined(facts['isr'])},"
            f"LeaderEpoch:{facts['leader_epoch']},ZkVersion:{facts['partition_epoch']},"
            f"ControllerEpoch:{facts['controller_epoch']}) after removing replica {facts['replica']} from the ISR as "
            "part of "
            "transition to OfflineReplica",
        )

    def isr_altered(self, event: Event) -> Iterator[Line]:
        """The controller accepts a leader's ISR (protocol 2.7 on; before, leaders wrote to ZooKeeper themselves)."""
        facts = event.facts
        if self.scene.protocol.truncates_by == "fetch":
            yield self.controller_line(
                event,
                "DEBUG",
                f"ISR for partition {self.scene.tp} updated to [{joined(facts['isr'])}] and zkVersion updated to "
                f"[{facts['partition_epoch']}]",
            )
