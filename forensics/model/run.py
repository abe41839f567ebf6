"""A run: a cluster that was driven through a story, a sentence for each step, and the truth about it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from forensics.model import truth as facts
from forensics.model.cluster import PARTITION, Cluster
from forensics.model.protocol import Protocol, named
from forensics.model.state import Log
from forensics.model.trace import Trace

Logging = Literal["default", "replication"]


class ReplicaView(NamedTuple):
    """One replica at one step, as a reader of the walk-through sees it."""

    broker: int
    up: bool
    role: str
    leader_epoch: int
    log_end_offset: int
    high_watermark: int | None
    """None while the process is down."""
    checkpointed_hw: int | None
    isr: tuple[int, ...]
    remote_leo: dict[int, int]
    epochs: tuple[tuple[int, int], ...]
    values: tuple[str, ...]
    last_stable: int | None
    """The LSO; None while the process is down."""


class Step(NamedTuple):
    """One sentence of a story and the state after it."""

    text: str
    at: int
    replicas: tuple[ReplicaView, ...]
    first_event: int
    after_event: int


class StoryEnds(Exception):
    """Raised by a stage that has recorded as many steps as it may."""


def view(cluster: Cluster, broker: int) -> ReplicaView:
    """Return the present state of a replica."""
    node = cluster.brokers[broker]
    replica = node.replica
    return ReplicaView(
        broker,
        node.up,
        replica.role,
        replica.leader_epoch,
        replica.log.end,
        replica.hw if node.up else None,
        replica.disk.hw,
        replica.isr if replica.role == "leader" else (),
        {b: r.leo for b, r in replica.remote.items()},
        tuple(replica.epochs.entries if node.up else replica.disk.epochs),
        tuple(record.value for record in replica.log.records()),
        replica.last_stable() if node.up else None,
    )


class Stage:
    """The stage of a story: it sets up the cluster and records a sentence for each step."""

    def __init__(self, protocol: Protocol, seed: int, steps: int | None) -> None:
        self.protocol = protocol
        self.seed = seed
        self.limit = steps
        self.told: list[Step] = []
        self._cluster: Cluster | None = None

    @property
    def cluster(self) -> Cluster:
        """The cluster of the story."""
        if self._cluster is None:
            raise RuntimeError("the story has not set up its cluster")
        return self._cluster

    def cast(self, *brokers: int, **settings: Any) -> Cluster:
        """Sets up the cluster and its topic."""
        self._cluster = Cluster(self.protocol, brokers, trace=Trace(), **settings)
        self._cluster.create_topic()
        return self._cluster

    def note(self, text: str) -> None:
        """Record what the last step was.

        Raises:
            StoryEnds: As many steps were recorded as requested.
        """
        cluster = self.cluster
        after = len(cluster.trace.events)
        first = self.told[-1].after_event if self.told else 0
        views = tuple(view(cluster, broker) for broker in cluster.assigned)
        self.told.append(Step(text, cluster.now, views, first, after))
        if self.limit is not None and len(self.told) >= self.limit:
            raise StoryEnds


@dataclass(frozen=True)
class Run:
    """One story run under one protocol. Everything about it follows from (name, protocol, seed, steps)."""

    name: str
    protocol: Protocol
    seed: int
    steps: tuple[Step, ...]
    cluster: Cluster = field(repr=False)

    def final_log(self) -> Log:
        """Return the log that a reader would get: the leader's log, or with no leader the longest one."""
        leader = self.cluster.leader()
        if leader is not None:
            return leader.log
        return max((b.replica.log for b in self.cluster.brokers.values()), key=lambda log: log.end)

    def final_hws(self) -> dict[int, int]:
        """The last HW of each replica: in memory where its broker runs, else the checkpointed one."""
        return {
            b.id: b.replica.hw if b.up and b.replica.role else (b.replica.disk.hw or 0)
            for b in self.cluster.brokers.values()
        }

    def truth(self) -> dict[str, Any]:
        """Return what a correct reader of the evidence must conclude, in the format of the recorded cases'
        ``truth.json``.

        ``expect`` answers the three questions. ``lost_acked*`` and ``diverged_offsets`` are what clients and dumps of
        the logs see at the end; ``holes`` are offsets a log skips. ``lost_committed_offsets``, ``in_no_log`` and
        ``truncations`` come from the observer who knows what was committed. Of the lost committed offsets,
        ``missing_committed_offsets`` are those that the last leader does not have at the end. ``served_again`` of each
        of the ``losses`` has those that are there again: since which leader epoch, and who led it.
        """
        cluster, witness = self.cluster, self.cluster.witness
        final = self.final_log()
        hws = self.final_hws()
        logs = {b.id: b.replica.log for b in cluster.brokers.values()}
        forked = facts.diverged(((logs[b], hw) for b, hw in hws.items()), witness.committed)
        lost = facts.lost_acked(witness.acked, final)
        lost_all = facts.lost_acked((b for b in witness.acked if b.acks == "all"), final)
        leader = cluster.leader()
        return {
            "scenario": self.name,
            "protocol": self.protocol.name,
            "seed": self.seed,
            "kafka": self.protocol.kafka,
            "mode": self.protocol.mode,
            "topic": f"{cluster.topic}-{PARTITION}",
            "acked": sum(b.end - b.base for b in witness.acked),
            "acked_all": sum(b.end - b.base for b in witness.acked if b.acks == "all"),
            "lost_acked": facts.ranges(lost),
            "lost_acked_all": facts.ranges(lost_all),
            "lost_count": len(lost),
            "diverged_offsets": facts.ranges(facts.unlike(logs.values())),
            "diverged_below_hw": facts.ranges(forked),
            "holes": {str(b): facts.ranges(found) for b, log in logs.items() if (found := facts.holes(log))},
            "lost_committed_offsets": facts.ranges(record.offset for record in witness.lost()),
            "missing_committed_offsets": self._missing(),
            "in_no_log": facts.ranges(facts.in_no_log(witness.committed, logs.values())),
            "losses": self._losses(),
            "truncations": self._truncations(logs),
            "replica_ends": {str(b): log.end for b, log in logs.items()},
            "replica_hws": {str(b): hw for b, hw in hws.items()},
            "leader": leader.broker if leader else None,
            "readable": self._readable(),
            "expect": self._expected(diverged=bool(forked)),
            "actions": [{**action, "at": action["at"] / 1000} for action in cluster.actions],
        }

    def _losses(self) -> list[dict[str, Any]]:
        """Return each start of a leader epoch without committed records."""
        return [
            {
                "broker": loss.broker,
                "leader_epoch": loss.epoch,
                "start": loss.start,
                "clean": loss.clean,
                "offsets": facts.ranges(record.offset for record in loss.records),
                "served_again": self._served_again(loss),
            }
            for loss in self.cluster.witness.losses
        ]

    def _served_again(self, loss: facts.Loss) -> list[dict[str, Any]]:
        """Return which later leaders began their epoch with records that a leader lacked."""
        over = self.cluster.witness.over(loss, self._last_log())
        return [
            {
                "broker": broker,
                "leader_epoch": epoch,
                "offsets": facts.ranges(record.offset for record, one in over.items() if one == (epoch, broker)),
            }
            for epoch, broker in sorted(set(over.values()))
        ]

    def _last_log(self) -> Log | None:
        """Return the log of the leader of the newest epoch; None if no broker has led."""
        last = self.cluster.witness.last_leader
        return None if last is None else self.cluster.brokers[last].replica.log

    def _missing(self) -> list[list[int]]:
        """Return the offsets of records that a leader lacked, and that the last leader does not have."""
        last = self._last_log()
        lost = self.cluster.witness.lost()
        return facts.ranges(record.offset for record in lost if last is None or not last.has(record))

    def _truncations(self, logs: dict[int, Log]) -> list[dict[str, Any]]:
        """Return each truncation of committed records; ``logs`` are the final ones by broker."""
        return [
            {
                "broker": cutting.broker,
                "from": cutting.end,
                "to": cutting.to,
                "committed_offsets": facts.ranges(record.offset for record in cutting.records),
                "fetched_again": all(logs[cutting.broker].has(record) for record in cutting.records),
            }
            for cutting in self.cluster.witness.cuttings
        ]

    def _readable(self) -> int:
        """Return how many records consumers can read: of the leader, or without one of the longest log."""
        leader = self.cluster.leader()
        if leader:
            return len(list(leader.readable()))
        return sum(not batch.marker and len(batch.values) for batch in self.final_log().batches)

    def _expected(self, *, diverged: bool) -> dict[str, bool]:
        """Return the answers to the three questions, and ``hw_above_leo`` if a stopped broker has one on disk."""
        witness = self.cluster.witness
        expect = {
            "truncated_below_hw": bool(witness.cuttings),
            "lost_committed": bool(witness.losses),
            "diverged": diverged,
        }
        stopped = (node.replica for node in self.cluster.brokers.values() if not node.up)
        if any((replica.disk.hw or 0) > replica.log.end for replica in stopped):
            expect["hw_above_leo"] = True
        return expect

    def write(self, directory: Path | str, logging: Logging = "default") -> None:
        """Writes the evidence the brokers would have left and, beside them, what only the model knows.

        That is ``trace.jsonl`` (see ``observations``), ``events.jsonl`` (every event of the model) and ``truth.json``.

        Args:
            directory: Created if absent; files of the same names are replaced.
            logging: ``default`` for the version's stock log levels, ``replication`` for those of the replication
            loggers.
        """
        from forensics.model.evidence import write_run

        write_run(self, Path(directory), logging)

    def observations(self) -> str:
        """The run as a trace in the format of ``docs/trace-format.md``: everything, whatever the logging was."""
        from forensics.model.observations import to_lines
        from forensics.model.wording import Scene

        scene = Scene(self.cluster, self.name, self.seed)
        return to_lines(self.cluster, scene.topic_id, scene.cluster_id)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A named story. ``tell`` drives a stage through it."""

    name: str
    summary: str
    tell: Callable[[Stage], None] = field(repr=False)
    about: str = ""
    """Points of interest, for the page of the docs."""

    def run(self, protocol: Protocol | str, seed: int = 0, steps: int | None = None) -> Run:
        """Runs the story under a protocol, at most ``steps`` steps of it.

        Raises:
            UnknownName: No protocol of that name.
        """
        rules = named(protocol) if isinstance(protocol, str) else protocol
        stage = Stage(rules, seed, steps)
        with suppress(StoryEnds):
            self.tell(stage)
        return Run(self.name, rules, seed, tuple(stage.told), stage.cluster)
