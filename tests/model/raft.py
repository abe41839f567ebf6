"""A model of a metadata quorum: voters, brokers that only fetch, faults of disks; and the evidence that it leaves.

Elections, truncation and the high watermark follow KIP-595; the lines are those of ``org.apache.kafka.raft`` in 3.9.
A voter flushes before it acknowledges, so a crash takes nothing from it; from a broker it may take the end of its log.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.incident import Node, batch

PARTITION = "__cluster_metadata-0"
VOTERS, BROKERS = (101, 102, 103), (1, 2)

Record = tuple[int, int]
"""Leader epoch, and a number that no other record has."""


@dataclass(slots=True)
class Member:
    """One node. Its high watermark is known as long as its process runs and has a leader."""

    number: int
    said: Node
    log: list[Record] = field(default_factory=list)
    epoch: int = 0
    up: bool = True
    leads: bool = False
    joined: int = -1  # the epoch of its last term in this process
    high_watermark: int | None = None
    told: int = -1  # the epoch for which it has told its high watermark
    saved: tuple[list[Record], int] | None = None

    @property
    def votes(self) -> bool:
        """Return whether it is a voter."""
        return self.number in VOTERS

    @property
    def reach(self) -> tuple[int, int]:
        """How far its log is, as votes compare it."""
        return (self.log[-1][0] if self.log else 0, len(self.log))


class Raft:
    """One run, decided by a seed."""

    def __init__(self, folder: Path, seed: int, *, faults: bool) -> None:
        """Begin with empty logs."""
        self.random = random.Random(seed)
        self.faults = faults
        self.time, self.numbers = 0.0, itertools.count(1)
        self.members = {n: Member(n, Node(folder, n, PARTITION)) for n in (*VOTERS, *BROKERS)}
        self.committed: dict[int, set[Record]] = {}
        self.truncated: set[int] = set()  # offsets of committed records that a truncation removed from a log
        self.served: tuple[int, list[Record]] = (0, [])  # the last epoch, and the log of its leader
        self.ends: dict[tuple[int, int], int] = {}  # how far the leader of an epoch knows a voter's log
        for member in self.members.values():
            self._starts(member)

    def run(self, steps: int) -> Raft:
        """Take steps, then let everybody return and fetch."""
        acts: list[tuple[int, Callable[[], None]]] = [
            (8, self.append), (14, self.fetch), (2, self.elect), (2, self.kill), (3, self.start),
        ]  # fmt: skip
        if self.faults:
            acts += [(1, self.wipe), (1, self.save), (1, self.put_back)]
        weights = [weight for weight, _ in acts]
        for _ in range(steps):
            self.random.choices([act for _, act in acts], weights)[0]()
        return self

    @property
    def leader(self) -> Member | None:
        """The node that leads in the highest epoch and runs."""
        led = [one for one in self.members.values() if one.leads and one.up]
        return max(led, key=lambda one: one.epoch, default=None)

    @property
    def lost(self) -> set[int]:
        """Offsets of committed records that the leader of the last epoch did not have."""
        served = self.served[1]
        return {at for at, records in self.committed.items() if not records <= {*served[at : at + 1]}}

    # -- what may happen ----------------------------------------------------------------------------------------------

    def append(self) -> None:
        """The leader appends a few records."""
        if (leader := self.leader) is not None:
            for _ in range(self.random.randint(1, 3)):
                self._appends(leader)
            self._advance(leader)

    def fetch(self) -> None:
        """A node fetches from the leader, and truncates to where their logs part before."""
        leader = self.leader
        others = [one for one in self.members.values() if one.up and one is not leader]
        if leader is None or not others:
            return
        one = self.random.choice(others)
        if one.epoch > leader.epoch:
            return
        if one.joined != leader.epoch or one.leads:
            self._follows(one, leader)
        shared = _shared(one.log, leader.log)
        if shared < len(one.log):
            if not self._truncates(one, leader, shared):
                return
        else:
            one.log += leader.log[len(one.log) : len(one.log) + self.random.randint(1, 4)]
        self.ends[leader.epoch, one.number] = len(one.log)
        self._advance(leader)
        if leader.high_watermark is not None:
            self._told(one, max(one.high_watermark or 0, min(leader.high_watermark, len(one.log))), first="Optional[")

    def elect(self) -> None:
        """A voter asks for votes, and leads if a majority finds its log at least as far as its own."""
        one = self.random.choice([self.members[number] for number in VOTERS])
        there = [self.members[number] for number in VOTERS if self.members[number].up]
        votes = [other for other in there if other.reach <= one.reach and other.epoch >= 0]
        if not one.up or len(votes) * 2 <= len(VOTERS):
            return
        epoch = max(other.epoch for other in votes) + 1
        for other in votes:
            other.epoch, other.leads = epoch, False
        one.leads, one.joined, one.high_watermark = True, epoch, None
        self._says(
            one,
            f"[RaftManager id={one.number}] Completed transition to Leader(localReplicaKey=ReplicaKey(id={one.number}, "
            f"directoryId=Optional.empty), epoch={epoch}, epochStartOffset={len(one.log)}, "
            "highWatermark=Optional.empty, voterStates={}) from CandidateState (org.apache.kafka.raft.QuorumState)",
        )
        self.ends = {key: end for key, end in self.ends.items() if key[0] != epoch}
        self._appends(one)

    def kill(self) -> None:
        """A process ends."""
        running = [one for one in self.members.values() if one.up]
        if running:
            one = self.random.choice(running)
            self._ends(one)
            if not one.votes and one.log:
                del one.log[len(one.log) - self.random.randint(0, min(3, len(one.log))) :]

    def start(self) -> None:
        """A process starts."""
        if down := self._down():
            self._starts(self.random.choice(down))

    def wipe(self) -> None:
        """A node's disk is replaced while it is down, and it forgets its votes too."""
        if down := self._down():
            one = self.random.choice(down)
            one.log, one.epoch = [], 0

    def save(self) -> None:
        """A copy of a node's directory is kept while it is down."""
        if down := self._down():
            one = self.random.choice(down)
            one.saved = [*one.log], one.epoch

    def put_back(self) -> None:
        """A node's directory is replaced by the copy that was kept."""
        if saved := [one for one in self._down() if one.saved is not None]:
            one = self.random.choice(saved)
            assert one.saved is not None
            one.log, one.epoch = [*one.saved[0]], one.saved[1]

    # -- what follows -------------------------------------------------------------------------------------------------

    def _down(self) -> list[Member]:
        return [one for one in self.members.values() if not one.up]

    def _follows(self, one: Member, leader: Member) -> None:
        one.leads, one.epoch, one.joined = False, leader.epoch, leader.epoch
        voters = ", ".join(map(str, VOTERS))
        self._says(
            one,
            f"[RaftManager id={one.number}] Completed transition to FollowerState(fetchTimeoutMs=2000, "
            f"epoch={leader.epoch}, leader={leader.number}, voters=[{voters}], highWatermark=Optional.empty, "
            "fetchingSnapshot=Optional.empty) from null (org.apache.kafka.raft.QuorumState)",
        )

    def _appends(self, leader: Member) -> None:
        leader.log.append((leader.epoch, next(self.numbers)))
        if leader.epoch >= self.served[0]:
            self.served = leader.epoch, [*leader.log]

    def _truncates(self, one: Member, leader: Member, to: int) -> bool:
        """Truncate, unless that is below the high watermark that the process knows; then it ends."""
        if one.high_watermark is not None and to < one.high_watermark:
            self._says(
                one,
                "Encountered fatal fault: Unexpected error in raft IO thread "
                "(org.apache.kafka.server.fault.ProcessTerminatingFaultHandler)\n"
                f"org.apache.kafka.common.KafkaException: The leader requested truncation to offset {to}, which is "
                f"below the current high watermark LogOffsetMetadata(offset={one.high_watermark}, metadata=Optional)",
                level="ERROR",
            )
            self._ends(one)
            return False
        self.truncated |= {at for at in range(to, len(one.log)) if one.log[at] in self.committed.get(at, ())}
        del one.log[to:]
        self._says(
            one,
            f"[RaftManager id={one.number}] Truncated to offset {to} from Fetch response from leader {leader.number} "
            "(org.apache.kafka.raft.KafkaRaftClient)",
        )
        return True

    def _advance(self, leader: Member) -> None:
        """Commit what a majority has, once it has the first record of the epoch."""
        begun = next(at for at, record in enumerate(leader.log) if record[0] == leader.epoch)
        known = [self.ends.get((leader.epoch, n), 0) for n in VOTERS if n != leader.number]
        mark = sorted([len(leader.log), *known])[-(len(VOTERS) // 2 + 1)]
        if mark > begun and mark > (leader.high_watermark or 0):
            for at in range(mark):
                self.committed.setdefault(at, set()).add(leader.log[at])
            self._told(leader, mark, first="")

    def _told(self, one: Member, mark: int, *, first: str) -> None:
        one.high_watermark = mark
        if one.told != one.epoch:
            one.told = one.epoch
            self._says(
                one,
                f"[RaftManager id={one.number}] High watermark set to {first}LogOffsetMetadata(offset={mark}, "
                f"metadata=Optional.empty){']' if first else ''} for the first time for epoch {one.epoch} "
                "(org.apache.kafka.raft.State)",
            )

    def _starts(self, one: Member) -> None:
        one.up, one.leads, one.high_watermark, one.joined, one.told = True, False, None, -1, -1
        self.time += 1
        one.said.starts(self.time)
        end = len(one.log)
        self._says(
            one,
            f"[LogLoader partition={PARTITION}, dir=/d] Loading producer state till offset {end} with message format "
            "version 2 (kafka.log.UnifiedLog$)",
        )

    def _ends(self, one: Member) -> None:
        one.up, one.leads, one.high_watermark = False, False, None

    def _says(self, one: Member, text: str, *, level: str = "INFO") -> None:
        self.time += 1
        one.said.says(self.time, f"{level} {text}")

    # -- evidence -----------------------------------------------------------------------------------------------------

    def leave_files(self) -> None:
        """Write each node's directory of the log."""
        for one in self.members.values():
            path = one.said.segment([])
            path.write_bytes(
                b"".join(batch(at, at, epoch, salt=b"%d" % number) for at, (epoch, number) in enumerate(one.log))
            )
            entries = [(epoch, next(records)[0]) for epoch, records in _by_epoch(one.log)]
            one.said.epochs(*entries)
            state = {"leaderId": -1, "leaderEpoch": one.epoch, "votedId": -1, "data_version": 0}
            state["currentVoters"] = [{"voterId": number} for number in VOTERS]  # type: ignore[assignment]
            (path.parent / "quorum-state").write_text(json.dumps(state))


def _by_epoch(log: list[Record]) -> itertools.groupby[int, tuple[int, Record]]:
    return itertools.groupby(enumerate(log), key=lambda row: row[1][0])


def _shared(one: list[Record], leader: list[Record]) -> int:
    """Return where a follower's log parts from its leader's, by leader epochs alone, as Kafka finds it.

    The leader answers with the end of the follower's last epoch in its own log (KIP-595). Kafka takes offsets of one
    epoch for the same records.
    """
    at = 0
    while at < min(len(one), len(leader)) and one[at][0] == leader[at][0]:
        at += 1
    return at
