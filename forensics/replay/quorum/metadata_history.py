"""Replay of the metadata log: from the lines and copies of its nodes to epochs, committed bounds and truncations.

The leader of an epoch begins it with a record of its own, so each copy shows which epochs it has. Two copies that have
the same epoch are alike up to where it begins (KIP-595: a follower truncates to where its last epoch ends in its
leader's log before it fetches). A node states a high watermark about the log of the leader of its term.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from forensics.case import Case
from forensics.case.order import METADATA_TOPIC
from forensics.replay.broker_facts import NO_FACTS
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.events import PROGRESS, Event
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.facts.partition_lines import OWN
from forensics.replay.history import (
    EpochRollback,
    History,
    HwSource,
    HwStatement,
    Replica,
    ShortenedBy,
    ShortenedLog,
    Truncation,
    TruncationReason,
)
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.lineage import Lineage, apart, same
from forensics.replay.partition_protocol import PartitionProtocol
from forensics.replay.quorum.copies import METADATA_PARTITION, Copies
from forensics.replay.quorum.nodes import Marked, Nodes, Snapshot, Term, lines_of, snapshots_of, terms_of
from forensics.replay.quorum.voting import Quorum
from forensics.replay.roles.role_spans import Reader

_READ: Final = frozenset((*OWN, *PROGRESS))
"""Kinds of line that change what a timeline shows of a node."""
MANY: Final = 2
"""Voters from which on the log is judged though nothing is wrong."""


def metadata_history(case: Case) -> History | None:
    """Replay the metadata log of one cluster; None if the evidence has nothing to judge of it.

    Args:
        case: the evidence of one cluster.
    """
    copies, lines = Copies.of(case), lines_of(case)
    terms, loads = terms_of(lines)
    nodes = Nodes(copies.disks, terms, loads, snapshots_of(case))
    older = _older(nodes)
    copies = copies.without(older)
    disks = copies.disks
    nodes = replace(nodes, disks=disks)
    if not nodes.terms and not any(disk.end is not None for disk in disks.values()):
        return None
    facts = PartitionFacts(
        METADATA_TOPIC,
        METADATA_PARTITION,
        cluster=case.cluster,
        disks=disks,
        forks=copies.forks,
        compared=copies.compared,
        origin=case.origin,
    )
    history = History(facts, PartitionProtocol(kraft=True, maybe_kraft=True))
    history.epochs = LeaderEpochs(_epochs(nodes))
    history.replicas = {node: _replica(node, nodes) for node in sorted({*disks, *nodes.terms})}
    _read(history, lines)
    history.statements = [*_stated(nodes, history.epochs), *_by_snapshots(nodes, history.epochs)]
    for one in _truncations(nodes, history.epochs):
        extents = history.truncations if one.end > one.target else history.truncations_of_unknown_extent
        extents.append(one)
    history.shortened_logs = [*_shortened(nodes, history.epochs)]
    history.epoch_rollbacks = [*_rolled_back(nodes)]
    quorum = Quorum.of(nodes, history, _replaced(nodes, history.epochs), older)
    controllers = frozenset(node.id for node in case.brokers.values() if node.only_controls)
    history.quorum = replace(quorum, controllers=controllers)
    return history if len(nodes.voters) >= MANY or _differs(history) else None


def _read(history: History, lines: Mapping[int, Sequence[Event]]) -> None:
    """Read the roles of each node and what its lines changed, as timelines show them."""
    for node, replica in history.replicas.items():
        reader = Reader(node, NO_FACTS)
        own = [event for event in lines.get(node, ()) if event.kind in _READ]
        history.role_spans[node] = reader.read(own)
        replica.changes = reader.changes


def _differs(history: History) -> bool:
    """Return whether copies or lines contradict each other: then also the log of a single voter is judged."""
    return bool(history.facts.forks or history.contested or history.truncations or history.shortened_logs)


def _rolled_back(nodes: Nodes) -> Iterator[EpochRollback]:
    """Yield where a node leads in an epoch that it has known before: the voters forgot in which epochs they had voted.

    A follower that takes up an earlier epoch shows only that its own ``quorum-state`` was put back.
    """
    for node, own in sorted(nodes.terms.items()):
        highest = own[0]
        for term in own[1:]:
            if term.led and highest.epoch >= term.epoch:
                said = f"node {node} had been in leader epoch {highest.epoch}, and led epoch {term.epoch} after that"
                yield EpochRollback(said, term.epoch, term.time, (highest.ref, term.ref))
            highest = max(highest, term, key=_epoch)


def _epoch(term: Term) -> int:
    return term.epoch


def _replica(node: int, nodes: Nodes) -> Replica:
    disk, terms = nodes.disks.get(node, Disk()), nodes.terms.get(node, ())
    times = [term.time for term in terms if term.time is not None]
    return Replica(
        node,
        lineage=disk.lineage,
        end=disk.end,
        log_start=disk.log_start,
        on_disk=disk.end is not None,
        first_time=min(times, default=None),
        last_time=max(times, default=None),
        directory=disk.directory,
        magic=disk.magic,
        end_refs=(disk.end_ref,) if disk.end_ref is not None else (),
    )


def _epochs(nodes: Nodes) -> dict[int, Epoch]:
    """Return the leader epochs that lines or copies name, in rising order."""
    found: dict[int, Epoch] = {}
    for term in _all_terms(nodes):
        _add_term(found.setdefault(term.epoch, Epoch(term.epoch)), term)
    for disk in nodes.disks.values():
        for number, start in disk.begun():
            epoch = found.setdefault(number, Epoch(number))
            epoch.leader_took_up = True
            if not epoch.begins.is_exact:
                epoch.begins = Interval.at(start, disk.refs.get(number))
    for epoch in found.values():
        epoch.lineage = _lineage(epoch, nodes.disks.values())
    return dict(sorted(found.items()))


def _all_terms(nodes: Nodes) -> list[Term]:
    """Return the terms of all nodes, those in which a node led before the others: they say the most of an epoch."""
    return sorted(
        (term for own in nodes.terms.values() for term in own),
        key=lambda term: (not term.led, term.epoch, term.node, term.ref.row or 0),
    )


def _add_term(epoch: Epoch, term: Term) -> None:
    """Add what a line states of an epoch. It has one leader, unless voters forgot their votes."""
    epoch.refs.append(term.ref)
    epoch.leader_took_up = True  # a node learns of a leader once a majority has elected it
    if epoch.leader is None:
        epoch.leader, epoch.time = term.leader, term.time
        if term.begins is not None:
            epoch.begins = Interval.at(term.begins, term.ref)
    elif term.leader != epoch.leader:
        epoch.other_leaders.setdefault(term.leader, term.ref)


def _lineage(epoch: Epoch, disks: Iterable[Disk]) -> Lineage:
    """Return the log of an epoch's leader up to this epoch: that of a copy that has records of it.

    A copy may begin at a snapshot, so the one that goes back the furthest shows the most.
    """
    logs = [Lineage(tuple(one for one in disk.lineage.entries if one[0] <= epoch.epoch)) for disk in disks]
    having = [log for log in logs if log.entries and log.entries[-1][0] == epoch.epoch]
    if having:
        return min(having, key=lambda log: log.entries[0][1])
    if epoch.begins.exact is None:
        return Lineage.unknown()
    return Lineage.unknown().begin(epoch.epoch, epoch.begins.exact)


def _stated(nodes: Nodes, epochs: Mapping[int, Epoch]) -> Iterator[HwStatement]:
    """Yield the high watermarks that lines state."""
    for term in _all_terms(nodes):
        how = HwSource.PRINTED_BY_LEADER if term.led else HwSource.PRINTED
        for mark in term.high_watermarks:
            log = epochs[term.epoch].lineage
            yield HwStatement(term.node, term.epoch, log, mark.offset, how, mark.time, (mark.ref,))
    for node, own in nodes.terms.items():
        for before, term in itertools.pairwise(own):
            if term.refused is None or before.process != term.process:
                continue
            one = term.refused  # it had the high watermark from its leader before
            log = epochs[before.epoch].lineage
            yield HwStatement(node, before.epoch, log, one.high_watermark, HwSource.PRINTED, one.time, (one.ref,))


def _by_snapshots(nodes: Nodes, epochs: Mapping[int, Epoch]) -> Iterator[HwStatement]:
    """Yield the high watermarks that snapshots imply (KafkaRaftClient: none is made above the high watermark)."""
    for one in nodes.snapshots:
        log = _below_snapshot(one, epochs)
        yield HwStatement(one.node, one.epoch, log, one.end, HwSource.SNAPSHOT, None, (one.ref,))


def _below_snapshot(snapshot: Snapshot, epochs: Mapping[int, Epoch]) -> Lineage:
    """Return the log below the end of a snapshot, whose last record is of the snapshot's epoch."""
    epoch = epochs.get(snapshot.epoch)
    if epoch is not None and epoch.lineage.epoch_at(snapshot.end - 1) == snapshot.epoch:
        return epoch.lineage
    return Lineage.unknown().begin(snapshot.epoch, snapshot.end - 1)


def _older(nodes: Nodes) -> list[int]:
    """Return the nodes whose copy ends below what their lines show: it is not the log that they had at the end."""
    ends = {node: _ends(nodes, own)[-1][0] for node, own in nodes.terms.items() if not nodes.last_loads.get(node)}
    held = {node: disk.end for node, disk in nodes.disks.items() if disk.end is not None}
    return [node for node, end in held.items() if end < ends.get(node, 0)]


def _truncations(nodes: Nodes, epochs: Mapping[int, Epoch]) -> Iterator[Truncation]:
    """Yield the truncations that lines state, each with the least that the log had before."""
    for own in nodes.terms.values():
        ends = _ends(nodes, own)
        for at, term in enumerate(own):
            log = epochs[own[at - 1].epoch].lineage if at else Lineage()
            low, because = _after_loads(ends[at], term.loads)
            for mark in term.truncated:
                known = _parts_at(log, epochs[term.epoch], mark.offset)
                yield Truncation(
                    replica=term.node,
                    epoch=term.epoch,
                    leader=term.leader,
                    target=mark.offset,
                    before=Interval(low, None, because) if known else Interval(mark.offset),
                    lineage=log if known else Lineage.unknown(),
                    reason=TruncationReason.LEADER_EPOCH,
                    time=mark.time,
                    refs=(mark.ref, *because) if known else (mark.ref,),
                )


def _parts_at(log: Lineage, epoch: Epoch, offset: int) -> bool:
    """Return whether a log and that of an epoch's leader part at an offset, as a truncation to it shows.

    If they do not, the node's log was another one by then: its directory had been replaced.
    """
    return apart(log.epoch_at(offset), epoch.lineage.epoch_at(offset))


def _replaced(nodes: Nodes, epochs: Mapping[int, Epoch]) -> Iterator[tuple[int, int]]:
    """Yield nodes whose truncations show that their log had been replaced, each with the epoch of its term before."""
    for node, own in nodes.terms.items():
        for before, term in itertools.pairwise(own):
            log = epochs[before.epoch].lineage
            if any(same(log, epochs[term.epoch].lineage, [(mark.offset, mark.offset + 1)]) for mark in term.truncated):
                yield node, before.epoch


_End = tuple[int, tuple[Ref, ...]]
"""The least that a log had reached, and what shows it."""


def _ends(nodes: Nodes, own: Sequence[Term]) -> list[_End]:
    """Return how far a node's log had at least come before each of its terms, and after the last one."""
    found: list[_End] = [(0, ())]
    for term, later in itertools.zip_longest(own, own[1:]):
        low, because = _after_loads(found[-1], term.loads)
        cut = min(term.truncated, key=lambda mark: mark.offset, default=None)
        if cut is not None and cut.offset < low:
            low, because = cut.offset, (cut.ref,)
        for end, ref in _reached(
            nodes, term, _until(nodes, term, later)
        ):  # a node truncates before it has a high watermark in a term
            if end > low:
                low, because = end, (ref,)
        found.append((low, because))
    return found


def _after_loads(end: _End, loads: Sequence[Marked]) -> _End:
    """Return the same after processes have loaded the log."""
    return (loads[-1].offset, (loads[-1].ref,)) if loads else end


def _until(nodes: Nodes, term: Term, later: Term | None) -> int | None:
    """Return when a term of a node was over at the latest: the next process loaded the log, or the next term began."""
    loads = later.loads if later is not None else nodes.last_loads.get(term.node, ())
    return loads[0].time if loads else (later.time if later is not None else None)


def _reached(nodes: Nodes, term: Term, until: int | None) -> Iterator[tuple[int, Ref]]:
    """Yield offsets that a node's log had at least reached in a term, which ended then, and the lines that show it."""
    yield from ((mark.offset, mark.ref) for mark in term.high_watermarks)
    if term.led and (most := nodes.highest_until(term.epoch, until)) is not None:
        yield most.offset, most.ref
    if term.begins is not None:
        yield term.begins, term.ref


def _shortened(nodes: Nodes, epochs: Mapping[int, Epoch]) -> Iterator[ShortenedLog]:
    """Yield the logs that a process of a voter loaded with less than the node was known to have.

    A voter flushes records before it acknowledges them (KafkaRaftClient.appendAsFollower), so a crash takes none. A
    broker only fetches and does not flush: after a crash its log may be shorter, and nothing is lost by that.
    """
    for node in sorted(nodes.voters & nodes.terms.keys()):
        own = nodes.terms[node]
        after = [*(term.loads for term in own[1:]), nodes.last_loads.get(node, ())]
        for last, end, loads in zip(own, _ends(nodes, own)[1:], after, strict=True):
            for at, mark in enumerate(loads):
                low, because = _after_loads(end, loads[:at])
                if mark.offset < low:
                    yield ShortenedLog(
                        replica=node,
                        epoch=last.epoch,
                        before=Interval(low, None, because),
                        target=mark.offset,
                        lineage=epochs[last.epoch].lineage,
                        time=mark.time,
                        refs=(*because, mark.ref),
                        cause=ShortenedBy.VOTER_RESTART if mark.offset else ShortenedBy.NEW_LOG,
                    )
