"""Each node of the metadata quorum by its own lines and files. Nothing here is inferred.

A node is a controller or a broker. Controllers vote; brokers only fetch the log (KIP-595 calls them observers).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import polars as pl

from forensics.case import Case
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.events import Event, events, in_groups
from forensics.replay.facts.lines_of_brokers import reads_metadata_log, reports_start
from forensics.replay.quorum.copies import about_log
from parsers.details import QUORUM_TRUNCATION
from parsers.details import voters as listed_voters
from parsers.formats.log_directory import split_metadata_snapshot
from parsers.formats.metadata_log import SNAPSHOT
from parsers.schema import Kind

_LOADS: Final = frozenset((Kind.METADATA_LOADED, Kind.LOG_LOADED))
"""A process prints the log end offset up to which it loads the state of producers (``UnifiedLog``), KRaft or not."""


class Marked(NamedTuple):
    """An offset that a line states.

    Attributes:
        offset: the offset.
        time: microseconds since 1970 UTC, or None.
        ref: the line.
    """

    offset: int
    time: int | None
    ref: Ref


class Refusal(NamedTuple):
    """A truncation below its high watermark that a node refused. Its process ends with that (KafkaRaftClient).

    Attributes:
        to: offset to which its leader asked it to truncate: their logs differ from there on.
        high_watermark: of the node.
        time: microseconds since 1970 UTC, or None.
        ref: the line.
    """

    to: int
    high_watermark: int
    time: int | None
    ref: Ref


@dataclass(slots=True)
class Term:
    """The part of a node's lines in which it led or followed in one epoch.

    Attributes:
        node, process: the node and the number of its process in its lines.
        epoch: leader epoch.
        leader: the leader, which may be the node itself.
        begins: log end offset with which a leader began; None of a follower.
        time: microseconds since 1970 UTC, or None.
        ref: the line that begins it.
        voters: the quorum, as the line of a follower lists it; empty for a leader.
        loads: log end offsets with which processes loaded the log since the term before, the last one of each process.
        high_watermarks: those that the node stated, in order.
        truncated: offsets to which it truncated its log.
        refused: the truncation that it refused, or None.
    """

    node: int
    process: int
    epoch: int
    leader: int
    begins: int | None
    time: int | None
    ref: Ref
    voters: frozenset[int] = frozenset()
    loads: list[Marked] = field(default_factory=list)
    high_watermarks: list[Marked] = field(default_factory=list)
    truncated: list[Marked] = field(default_factory=list)
    refused: Refusal | None = None

    @property
    def led(self) -> bool:
        """Return whether the node led."""
        return self.leader == self.node


class Snapshot(NamedTuple):
    """A snapshot of the state up to an offset, which was committed (KIP-630: below the high watermark).

    Attributes:
        node: the node that has the file.
        end: first offset that it does not cover.
        epoch: leader epoch of the last record that it covers.
        ref: the file.
    """

    node: int
    end: int
    epoch: int
    ref: Ref


@dataclass(frozen=True)
class Nodes:
    """Lines and files of the nodes of one cluster.

    Attributes:
        disks: the copies of the log, by node.
        terms: roles by the nodes' own lines, in order, by node.
        last_loads: log end offsets with which processes loaded the log after the last term, by node with any line.
        snapshots: in order of node and end offset.
    """

    disks: Mapping[int, Disk]
    terms: Mapping[int, Sequence[Term]]
    last_loads: Mapping[int, Sequence[Marked]]
    snapshots: Sequence[Snapshot]

    @functools.cached_property
    def highest(self) -> Mapping[int, Marked]:
        """The highest high watermark that any node stated in each leader epoch: the epoch's leader had as much."""
        found: dict[int, Marked] = {}
        for term in (term for _, own in sorted(self.terms.items()) for term in own):
            for mark in term.high_watermarks:
                if term.epoch not in found or mark.offset > found[term.epoch].offset:
                    found[term.epoch] = mark
        return found

    def highest_until(self, epoch: int, until: int | None) -> Marked | None:
        """Return the same of one leader epoch, of what was stated up to a moment.

        A quorum that is made again numbers its leader epochs from the start.
        """
        most = self.highest.get(epoch)
        if most is None or until is None or most.time is None or most.time <= until:
            return most
        earlier = (
            mark
            for _, own in sorted(self.terms.items())
            for term in own
            if term.epoch == epoch
            for mark in term.high_watermarks
            if mark.time is not None and mark.time <= until
        )
        return max(earlier, key=lambda mark: mark.offset, default=None)

    def whole(self, node: int) -> bool:
        """Return whether nothing shows that lines of a node are missing by which its log could be seen to be shorter.

        Each process loads the log before its first term, and in a term a node states a high watermark. A node has no
        records of an epoch in which it had no term.
        """
        own = self.terms.get(node, ())
        if self.ends_early(node):
            return False
        loaded = all(term.loads or term.process == before.process for before, term in itertools.pairwise(own))
        return loaded and (not own or any(term.high_watermarks for term in own))

    def ends_early(self, node: int) -> bool:
        """Return whether a node's copy has records of a later epoch than those of its terms, so that its lines end
        early.
        """
        own, disk = self.terms.get(node, ()), self.disks.get(node, Disk())
        held = max((epoch for epoch, _ in disk.lineage.entries), default=-1)
        return bool(own) and held > max(term.epoch for term in own)

    @property
    def lists_voters(self) -> bool:
        """Return whether any line lists the voters."""
        return any(term.voters for own in self.terms.values() for term in own)

    @property
    def voters(self) -> frozenset[int]:
        """The quorum as followers list it, the last list of each; with every node that led.

        Voters may be added and removed (KIP-853), and a removed one may hold what is committed.
        """
        listed = [term.voters for own in self.terms.values() for term in own if term.voters]
        led = {term.leader for own in self.terms.values() for term in own}
        return frozenset(led).union(*listed)


def lines_of(case: Case) -> dict[int, list[Event]]:
    """Return the lines of each node about its log and about the starts of its processes, in order."""
    own = about_log() & pl.col("broker").is_not_null()
    rows = case.observations.filter(own | reports_start() | reads_metadata_log())
    return {node: own for (node,), own in in_groups(rows.sort("broker", "row"), ("broker",), events).items()}


def terms_of(lines: Mapping[int, Iterable[Event]]) -> tuple[dict[int, list[Term]], dict[int, list[Marked]]]:
    """Return the terms of each node, in the order of its lines, and the loads of its log after them."""
    found = {node: _terms(own) for node, own in lines.items()}
    terms = {node: terms for node, (terms, _) in found.items() if terms}
    return terms, {node: loads for node, (_, loads) in found.items()}


def _terms(own: Iterable[Event]) -> tuple[list[Term], list[Marked]]:
    """Return the terms in one node's lines, and the loads after the last one."""
    reader = _Lines()
    for event in own:
        reader.read(event)
    return reader.terms, [*reader.loads.values()]


class _Lines:
    """One node's lines, read in order.

    Several lines report a start. A broker prints the last of them when it has loaded its log and follows a leader:
    KafkaRaftServer starts the quorum before the broker. So each process has each of these lines once. ``Event.run``
    does not tell processes apart here: one that ended before it did anything with a topic does not count there.

    Attributes:
        terms: those read so far.
        loads: the last load of each process since the last term.
    """

    def __init__(self) -> None:
        self.terms: list[Term] = []
        self.loads: dict[int, Marked] = {}
        self._process = self._since = 0  # the process, and how many terms there were before it
        self._starts: set[str] = set()  # the messages of its start

    def read(self, event: Event) -> None:
        """Take the next line."""
        begun = _begun(event, self._process)
        now = self.terms[-1] if len(self.terms) > self._since else None
        if begun is not None:
            begun.loads, self.loads = [*self.loads.values()], {}
            self.terms.append(begun)
        elif event.kind == Kind.PROCESS_START:
            if (now is not None or self.loads) and (not self._starts or event.message in self._starts):
                self._begin()
            self._starts.add(event.message)
        elif event.kind in _LOADS and event.leo is not None:
            self._load(_marked(event, event.leo, "loads its log up to"), now)
        elif now is not None:
            _add(now, event)

    def _begin(self) -> None:
        self._process, self._since = self._process + 1, len(self.terms)
        self._starts = set()

    def _load(self, mark: Marked, now: Term | None) -> None:
        """Take a load. A truncation loads the state of producers again; else the lines of a start are missing."""
        if now is not None:
            if any(one.offset == mark.offset for one in now.truncated):
                return
            self._begin()
        self.loads[self._process] = mark


def _begun(event: Event, process: int) -> Term | None:
    """Return the term that a line begins in a process, if it does."""
    leads = event.kind == Kind.BECOME_LEADER
    leader = event.broker if leads else event.leader
    if not (leads or event.kind == Kind.BECOME_FOLLOWER) or event.leader_epoch is None or leader is None:
        return None
    said = "leads" if leads else f"follows {leader} in"
    ref = Ref(row=event.row, note=f"{said} leader epoch {event.leader_epoch}")
    voters = frozenset() if leads else listed_voters(event.detail)
    begins = event.leo if leads else None
    return Term(event.broker, process, event.leader_epoch, leader, begins, event.time, ref, voters)


def _add(term: Term, event: Event) -> None:
    """Add what a line within a term states."""
    if event.kind == Kind.HW and event.hw is not None:
        term.high_watermarks.append(_marked(event, event.hw, "high watermark"))
    elif event.kind in (Kind.TRUNCATE, Kind.TRUNCATE_FULL) and event.offset is not None:
        if event.offset not in [mark.offset for mark in term.truncated[-1:]]:  # two loggers state each
            term.truncated.append(_marked(event, event.offset, "truncates to"))
    elif event.detail == QUORUM_TRUNCATION and event.offset is not None and event.hw is not None:
        ref = Ref(row=event.row, note=f"refuses to truncate to {event.offset}, below high watermark {event.hw}")
        term.refused = Refusal(event.offset, event.hw, event.time, ref)


def _marked(event: Event, offset: int, said: str) -> Marked:
    return Marked(offset, event.time, Ref(row=event.row, note=f"{said} {offset}"))


def snapshots_of(case: Case) -> list[Snapshot]:
    """Return the snapshots of the metadata log that nodes have, in order.

    One that is empty or damaged counts for nothing: its name alone would state the offset and the epoch.
    """
    whole = (pl.col("format") == SNAPSHOT) & pl.col("log_end").is_not_null()
    rows = case.sources.filter(whole & about_log() & pl.col("broker").is_not_null())
    found = []
    for source, node, path in rows.select("id", "broker", "path").iter_rows():
        named = split_metadata_snapshot(path.rpartition("/")[2])
        if named is not None and named.end_offset > 0:
            ref = Ref(source=source, byte=0, note=f"snapshot of the records below {named.end_offset}")
            found.append(Snapshot(node, named.end_offset, named.epoch, ref))
    return sorted(found, key=lambda one: (one.node, one.end, one.epoch, one.ref.source or 0))
