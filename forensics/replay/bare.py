"""Partitions of which only checkpoint files are in the evidence: those that are alike are replayed and judged once.

A broker's ``replication-offset-checkpoint`` names each of its partitions. If nothing else is in the evidence, hundreds
of thousands of partitions may differ in nothing but their names and offsets. No rule finds anything in them but a gap
of the evidence, and their other answers depend on which values are stated, and on which of these is the greater.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import fields, replace
from operator import attrgetter
from typing import Final

from forensics.replay.coverage import Coverage, Printed
from forensics.replay.facts.directory import Disk, Pointer
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History

_POINTERS: Final = ("checkpoint", "recovery_point", "cleaner_point")
"""Fields of ``Disk`` that checkpoint files of a log directory give."""
_OF_FACTS: Final = ("topic", "partition", "cluster", "disks", "with_ids")
_OWN: Final = ("facts", "protocol", "replicas", "role_spans", "coverage", "answers")

_rest_of_disk: Final = attrgetter(*(one.name for one in fields(Disk) if one.name not in _POINTERS))
_rest: Final = attrgetter(*(one.name for one in fields(History) if one.name not in _OWN))
_rest_of_facts: Final = attrgetter(*(one.name for one in fields(PartitionFacts) if one.name not in _OF_FACTS))
_rest_of_coverage: Final = attrgetter(*(one.name for one in fields(Coverage) if one.name != "printed"))
_BLANK_DISK: Final = _rest_of_disk(Disk())
_BLANK_FACTS: Final = _rest_of_facts(PartitionFacts("", 0))
_BLANK: Final = _rest(History(PartitionFacts("", 0)))
_BLANK_COVERAGE: Final = _rest_of_coverage(Coverage())


def shape_of(disks: Mapping[int, Disk]) -> Hashable | None:
    """Return what partitions have in common whose files are checkpoints alone; None if there are other files.

    For each broker it has which offsets the files state, each by its rank among all of them and zero.
    """
    if not disks or any(_rest_of_disk(disk) != _BLANK_DISK for disk in disks.values()):
        return None
    stated = {broker: _pointers(disk) for broker, disk in sorted(disks.items())}
    offsets = {0, *(one[0] for found in stated.values() for one in found if one is not None)}
    rank = {offset: number for number, offset in enumerate(sorted(offsets))}
    return tuple(
        (broker, *(None if one is None else rank[one[0]] for one in found)) for broker, found in stated.items()
    )


def _pointers(disk: Disk) -> tuple[Pointer | None, ...]:
    return disk.checkpoint, disk.recovery_point, disk.cleaner_point


def shape(history: History) -> Hashable | None:
    """Return what partitions of one case have in common whose rules answer alike; None if more is known of one.

    Only a rule that finds something, and so names the partition, has to be asked for each of them.
    """
    if (
        _rest(history) != _BLANK
        or _rest_of_facts(history.facts) != _BLANK_FACTS
        or any(history.role_spans.values())
        or _rest_of_coverage(history.coverage) != _BLANK_COVERAGE
    ):
        return None
    disks = shape_of(history.facts.disks)
    if disks is None:
        return None
    printed = (history.coverage.are_about(broker, what) for broker in sorted(history.facts.disks) for what in Printed)
    return disks, history.cluster, history.protocol, *printed


class Bare:
    """Histories of such partitions of one case, each made from the first one of its shape."""

    def __init__(self, known: Iterable[tuple[str, int, int]]) -> None:
        """Begin with none.

        Args:
            known: incarnations of which something else is known than what files on disk show.
        """
        self._known = {(topic, partition) for topic, partition, _ in known}
        self._first: dict[Hashable, History] = {}

    def but(self, known: Iterable[tuple[str, int]]) -> None:
        """Take partitions for known from more than checkpoints."""
        self._known |= set(known)

    def like(self, key: tuple[str, int, int], files: Mapping[tuple[str, int], Mapping[int, Disk]]) -> History | None:
        """Return the history of an incarnation, if one of its shape was replayed before; else it must be replayed.

        Args:
            key: topic, partition and incarnation.
            files: of each partition.
        """
        topic, partition, incarnation = key
        if incarnation or (topic, partition) in self._known:
            return None
        disks = files.get((topic, partition), {})
        known = shape_of(disks)
        first = self._first.get(known) if known is not None else None
        if first is None:
            return None
        replicas = {
            broker: replace(replica, checkpoint=disks[broker].checkpoint) for broker, replica in first.replicas.items()
        }
        facts = replace(first.facts, topic=topic, partition=partition, disks=disks)
        return replace(first, facts=facts, replicas=replicas, answers={})

    def add(self, history: History) -> None:
        """Keep a history for those that are alike, if it is of such a partition."""
        if (history.topic, history.partition) not in self._known and shape(history) is not None:
            self._first[shape_of(history.facts.disks)] = history
