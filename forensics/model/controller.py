"""The controller: one at a time decides which broker leads the partition, commits ISR changes and informs the brokers.

With ZooKeeper a broker is alive while its session is; with KRaft while it is not fenced. Decisions follow
``PartitionStateMachine``/``ReplicaStateMachine`` (ZooKeeper mode) and ``PartitionChangeBuilder`` (KRaft).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forensics.model.cluster import Cluster

NO_LEADER = -1


@dataclass(frozen=True, slots=True)
class PartitionState:
    """The partition's committed state, as the controller sends it to brokers."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    partition_epoch: int
    """``zkVersion`` with ZooKeeper."""
    new: bool = False
    """True if the partition was just created."""
    recovering: bool = False
    """KRaft: the leader comes from an unclean election."""
    unclean: bool = False
    """The leader was elected from outside the ISR, in this very change."""


@dataclass(slots=True)
class Controller:
    """The controller's mind. ``id`` is a broker of its own that holds no data, as in a deployment with a spare."""

    cluster: Cluster
    id: int
    epoch: int = 1
    live: list[int] = field(default_factory=list)
    state: PartitionState | None = None
    correlation: dict[int, int] = field(default_factory=dict)
    broker_epochs: dict[int, int] = field(default_factory=dict)
    """KRaft: registration number of each broker's present run."""
    offset: int = 10
    """KRaft: length of the metadata log."""

    # -- brokers come and go ------------------------------------------------------------------------------------------

    def broker_started(self, broker: int, *, anew: bool = True) -> None:
        """A broker registered: it receives the present state, and a leaderless partition may get a leader.

        Args:
            broker: its id.
            anew: it is a new process. With KRaft a process that was fenced and still runs needs no other registration
                (BrokerHeartbeatManager).
        """
        known = broker in self.live
        if not known:
            self.live = sorted([*self.live, broker])
        self.correlation[broker] = 0
        self.offset += 2
        registered = broker in self.broker_epochs
        if anew or self.cluster.protocol.mode == "zk":
            self.broker_epochs[broker] = self.offset
        epoch = self.broker_epochs[broker]
        self.emit("broker_up", id=broker, live=list(self.live), known=registered, broker_epoch=epoch, anew=anew)
        if self.state is None:
            return
        if self.state.leader == NO_LEADER:
            if not self._electable(broker):
                self.tell([broker])
                return
            self.tell([broker])
            self.elect_offline()
        else:
            self.tell([broker])

    def broker_failed(self, broker: int) -> None:
        """A broker's session ended: it loses its leadership and, unless it is the last one, its place in the ISR."""
        if broker not in self.live:
            return
        self.live = [b for b in self.live if b != broker]
        self.emit("broker_down", id=broker, live=list(self.live), broker_epoch=self.broker_epochs[broker])
        state = self.state
        if state is None or broker not in self.cluster.assigned:
            return
        if self.cluster.protocol.mode == "zk":
            self._failed_zk(broker, state)
        else:
            self._failed_kraft(broker, state)

    def _failed_zk(self, broker: int, state: PartitionState) -> None:
        if state.leader == broker:
            self.emit("partition_offline")
            if self.elect_offline():
                return
            self._without(broker, NO_LEADER)
        elif broker in state.isr:
            self._without(broker, state.leader)

    def _without(self, broker: int, leader: int) -> None:
        """Removes a replica from the ISR (``removeReplicaFromIsr``, ``removeReplicasFromIsr``).

        The last member stays. Up to 1.0 it stays only if unclean elections are disabled; otherwise the ISR becomes
        empty.
        """
        state = self.state
        assert state is not None
        rest = tuple(b for b in state.isr if b != broker)
        retained = not rest and broker in state.isr and not (self.cluster.protocol.empties_isr and self.cluster.unclean)
        isr = state.isr if retained else rest
        self._commit(PartitionState(leader, state.leader_epoch + 1, isr, state.partition_epoch + 1))
        self.emit("isr_without", replica=broker, retained=retained, was_isr=list(state.isr), **self._facts())
        self.tell([b for b in self.cluster.assigned if b in self.live])

    def _failed_kraft(self, broker: int, state: PartitionState) -> None:
        isr = tuple(b for b in state.isr if b != broker) or state.isr
        if state.leader == broker:
            self._change(isr, self._choose(isr), "handleBrokerFenced")
        elif isr != state.isr:
            self._change(isr, state.leader, "handleBrokerFenced")

    def controlled_shutdown(self, broker: int) -> None:
        """A broker asks to leave: its leadership moves to another ISR member and it leaves the ISR."""
        state = self.state
        if state is None or broker not in state.isr:
            return
        rest = tuple(b for b in state.isr if b != broker)
        if not any(b in self.live for b in rest):
            return
        if self.cluster.protocol.kraft:
            leader = self._choose(rest) if state.leader == broker else state.leader
            self._change(rest, leader, f"enterControlledShutdown[{broker}]")
        else:
            self._shut_down(broker, state, rest)

    def _shut_down(self, broker: int, state: PartitionState, rest: tuple[int, ...]) -> None:
        """The controller of a ZooKeeper cluster takes a broker out of the leadership and the ISR; all brokers learn it.

        Args:
            broker: the one that asked to leave.
            state: the partition until now.
            rest: the other ISR members; one of them is alive.
        """
        if state.leader == broker:
            leader = next(b for b in self._order(rest) if b in rest and b in self.live)
            self._commit(PartitionState(leader, state.leader_epoch + 1, rest, state.partition_epoch + 1))
            self.emit("partition_online", before="OnlinePartition", unclean=False, **self._facts())
        else:
            self._commit(PartitionState(state.leader, state.leader_epoch + 1, rest, state.partition_epoch + 1))
            self.emit("isr_without", replica=broker, retained=False, was_isr=list(state.isr), **self._facts())
        self.tell([b for b in self.cluster.assigned if b in self.live])

    # -- elections ----------------------------------------------------------------------------------------------------

    def _order(self, isr: tuple[int, ...]) -> tuple[int, ...]:
        """In which order candidates are looked at: up to 1.0 the ISR's own, since then the assignment's."""
        return isr if self.cluster.protocol.truncates_by == "hw" else self.cluster.assigned

    def _electable(self, broker: int) -> bool:
        state = self.state
        return state is not None and broker in self.live and (broker in state.isr or self.cluster.unclean)

    def _choose(self, isr: tuple[int, ...]) -> int:
        return next((b for b in self._order(isr) if b in isr and b in self.live), NO_LEADER)

    def elect_offline(self) -> bool:
        """Elects a leader for the leaderless partition: from the ISR, or where allowed from any live replica."""
        state = self.state
        assert state is not None
        leader = self._choose(state.isr)
        unclean = False
        if leader == NO_LEADER and self.cluster.unclean:
            leader = next((b for b in self.cluster.assigned if b in self.live), NO_LEADER)
            unclean = leader != NO_LEADER
        if leader == NO_LEADER:
            self.emit("election_failed", live=list(self.live), isr=list(state.isr))
            return False
        isr = (leader,) if unclean else tuple(b for b in state.isr if b in self.live)
        if self.cluster.protocol.kraft:
            self._change(isr, leader, "handleBrokerUnfenced", unclean=unclean)
            return True
        was = list(state.isr)
        self._commit(PartitionState(leader, state.leader_epoch + 1, isr, state.partition_epoch + 1, unclean=unclean))
        self.emit("partition_online", before="OfflinePartition", unclean=unclean, was_isr=was, **self._facts())
        self.tell([b for b in self.cluster.assigned if b in self.live])
        return True

    def prefer(self, broker: int) -> bool:
        """Moves leadership to a live ISR member, as a preferred-replica election does. No broker dies."""
        state = self.state
        if state is None or state.leader in (NO_LEADER, broker) or broker not in state.isr or broker not in self.live:
            return False
        if self.cluster.protocol.kraft:
            self._change(state.isr, broker, "electLeaders")
            return True
        self._commit(PartitionState(broker, state.leader_epoch + 1, state.isr, state.partition_epoch + 1))
        self.emit("partition_online", before="OnlinePartition", unclean=False, was_isr=list(state.isr), **self._facts())
        self.tell([b for b in self.cluster.assigned if b in self.live])
        return True

    # -- ISR changes a leader proposes --------------------------------------------------------------------------------

    def alter_isr(self, leader: int, leader_epoch: int, partition_epoch: int, isr: tuple[int, ...]) -> bool:
        """A leader proposes an ISR. Refused unless it is the leader of this epoch and knows the newest version."""
        state = self.state
        if state is None or (state.leader, state.leader_epoch, state.partition_epoch) != (
            leader,
            leader_epoch,
            partition_epoch,
        ):
            if state is not None and self.cluster.protocol.kraft:
                self.emit("alter_rejected", by=leader, theirs=leader_epoch, **self._facts())
            return False
        was = state.isr
        self._commit(PartitionState(leader, leader_epoch, isr, partition_epoch + 1))
        self.emit(
            "isr_altered",
            by=leader,
            was_isr=list(was),
            was_leader=leader,
            was_epoch=leader_epoch,
            was_partition_epoch=partition_epoch,
            was_recovering=state.recovering,
            recovering=False,
            **self._facts(),
        )
        return True

    # -- bookkeeping --------------------------------------------------------------------------------------------------

    def create(self, replicas: tuple[int, ...]) -> None:
        """Creates the partition: the first live replica leads epoch 0, all live ones are in sync."""
        isr = tuple(b for b in replicas if b in self.live)
        self._commit(PartitionState(isr[0], 0, isr, 0, new=True))
        self.emit("topic_created", replicas=list(replicas), **self._facts())
        self.tell(list(isr))
        self._commit(PartitionState(isr[0], 0, isr, 0))

    def take_over(self, new_id: int) -> None:
        """Another broker becomes controller, with a higher controller epoch, and repeats the present state to all."""
        self.id = new_id
        self.epoch += 1
        self.correlation = dict.fromkeys(self.live, 0)
        self.emit("controller_started", epoch=self.epoch, live=list(self.live))
        self.tell([b for b in self.cluster.assigned if b in self.live])

    def tell(self, brokers: list[int]) -> None:
        """Sends the present state; brokers out of reach get it when they are back."""
        state = self.state
        assert state is not None
        for broker in brokers:
            role = "leader" if state.leader == broker else "follower"
            self.emit("sends_state", to=broker, role=role, new=state.new, **self._facts())
        self.emit("sends_metadata", to=list(self.live), **self._facts())
        for broker in brokers:
            self.cluster.deliver(broker)
        if self.cluster.trace.on and self.cluster.protocol.mode == "zk":
            for broker in self.live:
                if self.cluster.reaches(broker, self.cluster.CONTROLLER):
                    correlation = self.next_correlation(broker)
                    self.cluster.emit(
                        "caches",
                        broker,
                        controller=self.id,
                        controller_epoch=self.epoch,
                        correlation=correlation,
                        live=list(self.live),
                        **self._facts(),
                    )

    def next_correlation(self, broker: int) -> int:
        """Numbers the requests sent to one broker in one of its runs."""
        self.correlation[broker] = self.correlation.get(broker, 0) + 1
        return self.correlation[broker]

    def _commit(self, state: PartitionState) -> None:
        self.state = state
        self.offset += 1

    def _change(self, isr: tuple[int, ...], leader: int, why: str, *, unclean: bool = False) -> None:
        """KRaft: one PartitionChangeRecord. The leader epoch rises whenever the record names a leader."""
        state = self.state
        assert state is not None
        moved = leader != state.leader
        after = PartitionState(
            leader,
            state.leader_epoch + moved,
            isr,
            state.partition_epoch + 1,
            recovering=unclean or state.recovering,
            unclean=unclean,
        )
        self._commit(after)
        self.emit(
            "partition_changed",
            why=why,
            unclean=unclean,
            was_leader=state.leader,
            was_isr=list(state.isr),
            was_epoch=state.leader_epoch,
            was_partition_epoch=state.partition_epoch,
            was_recovering=state.recovering,
            recovering=after.recovering,
            **self._facts(),
        )
        self.tell([b for b in self.cluster.assigned if b in self.live])

    def _facts(self) -> dict[str, object]:
        state = self.state
        assert state is not None
        return {
            "leader": state.leader,
            "leader_epoch": state.leader_epoch,
            "isr": list(state.isr),
            "partition_epoch": state.partition_epoch,
        }

    def emit(self, kind: str, **facts: object) -> None:
        """Adds an event that happened on the controller."""
        if self.cluster.trace.on:
            self.cluster.emit(kind, self.id, controller_epoch=self.epoch, **facts)
