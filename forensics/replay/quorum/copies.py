"""The copies of the metadata log that nodes have, and how they differ.

Every controller and broker has one, so there may be hundreds. Only those that differ from the longest are compared pair
by pair.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import polars as pl

from forensics.case import Case
from forensics.case.order import METADATA_TOPIC
from forensics.replay.facts.directory import Disk
from forensics.replay.facts.disks import disks
from forensics.replay.facts.forks import forks
from forensics.replay.facts.partition_facts import Fork
from parsers.formats.metadata_log import NAME as METADATA_LOG

METADATA_PARTITION: Final = 0
_LOGS: Final = (METADATA_LOG, "segment", "dump-log")
"""Formats of its segments; one that holds records of another kind is read as that of a topic."""
_PLACE: Final = (METADATA_TOPIC, METADATA_PARTITION)
_SAME: Final = ("base_offset", "leader_epoch", "crc")
MOST_COMPARED: Final = 16
"""Copies that are compared pair by pair at most: the longest, and those that differ from it, by node id."""


def about_log() -> pl.Expr:
    """Filter for rows about the metadata log."""
    return (pl.col("topic") == METADATA_TOPIC) & (pl.col("partition") == METADATA_PARTITION)


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies of one cluster.

    Attributes:
        disks: by node.
        forks: differences of those that were compared.
        compared: pairs of nodes.
    """

    disks: Mapping[int, Disk] = field(default_factory=dict)
    forks: tuple[Fork, ...] = ()
    compared: frozenset[tuple[int, int]] = frozenset()

    @staticmethod
    def of(case: Case) -> Copies:
        """Return the copies in a case; none if the case has neither a batch nor a line of the log."""
        batches, stated = case.batches.filter(about_log()), case.observations.filter(about_log())
        if batches.is_empty() and stated.is_empty():
            return Copies()
        mine = replace(case, sources=case.sources.filter(about_log()), observations=stated, batches=batches)
        found, segments = disks(mine, _LOGS)
        held = found.get(_PLACE, {})
        apart = {node: held[node] for node in _apart(batches, held)}
        differ, compared = forks(segments, batches.filter(pl.col("broker").is_in([*apart])), {_PLACE: apart})
        return Copies(held, tuple(differ.get(_PLACE, ())), compared.get(_PLACE, frozenset()))

    def without(self, nodes: Collection[int]) -> Copies:
        """Return the copies without those of some nodes."""
        return Copies(
            {node: disk for node, disk in self.disks.items() if node not in nodes},
            tuple(one for one in self.forks if one.left not in nodes and one.right not in nodes),
            frozenset(pair for pair in self.compared if not {*pair} & {*nodes}),
        )


def _apart(batches: pl.DataFrame, held: Mapping[int, Disk]) -> list[int]:
    """Return the node with the longest copy, and those that have other batches within its offsets."""
    ends = {node: disk for node, disk in held.items() if disk.end is not None}
    if len(ends) < 2:
        return []
    longest = max(ends, key=lambda node: _reach(node, ends[node]))
    own = batches.filter(pl.col("broker") == longest).select(_SAME).unique()
    within = pl.col("base_offset").is_between(ends[longest].log_start, ends[longest].end or 0, closed="left")
    sound = pl.col("crc_ok").is_null() | pl.col("crc_ok")
    others = batches.filter(within & sound & (pl.col("broker") != longest)).join(own, on=_SAME, how="anti")
    differ = others.get_column("broker").unique().sort().to_list()
    return [longest, *differ[: MOST_COMPARED - 1]]


def _reach(node: int, disk: Disk) -> tuple[int, int, int, int]:
    """Return how far a copy is, as votes compare logs; of equal ones that counts which goes back the furthest."""
    return max((epoch for epoch, _ in disk.lineage.entries), default=-1), disk.end or 0, -disk.log_start, -node
