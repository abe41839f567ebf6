"""Replicas that a broker of KRaft found in its log directories though no topic of the cluster has their topic id.

A broker compares its log directories with the metadata once it has caught up (``BrokerMetadataPublisher``, 3.0 to 3.5,
``LogManager.isStrayKraftReplica``, 3.6). Such a replica is left of a topic that was deleted while the broker was down,
or of one that the controllers lost. Before 3.6.1 the broker deletes it then (KAFKA-15605).
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import NamedTuple

import polars as pl

from forensics.replay.facts.events import in_groups, tuples
from parsers.details import STRAY, STRAY_TOPIC
from parsers.schema import Kind


class StrayReplica(NamedTuple):
    """One such line.

    Attributes:
        row: its position.
        time: microseconds since 1970 UTC, or None.
        broker: broker that logged it.
        log_start, leo: where its log started and ended, or None.
        deleted: position of the line by which the broker deleted it then, or None.
    """

    row: int
    time: int | None
    broker: int
    log_start: int | None
    leo: int | None
    deleted: int | None


StrayReplicas = dict[tuple[str, int, int], list[StrayReplica]]
"""By topic, partition and incarnation."""

_PLACE = ("topic", "partition", "incarnation")


def stray_replicas(
    rows: pl.DataFrame, topic_ids: Mapping[tuple[str, int, int], str], removed: Set[str]
) -> StrayReplicas:
    """Return the stray replicas of topics of which nothing shows that they were deleted on purpose.

    A broker that is ordered to delete a replica, or a controller that removes the topic, shows that.

    Args:
        rows: observations of partitions with ``incarnation`` and ``broker``.
        topic_ids: by place.
        removed: ids of the topics that controllers removed.
    """
    place = list(_PLACE)
    of_log = rows.filter(pl.col("kind") == Kind.LOG_DELETED.value)
    stray = of_log.filter((pl.col("detail") == STRAY_TOPIC).fill_null(False))
    if stray.is_empty():
        return {}
    deleted = of_log.filter(pl.col("detail").is_in([STRAY, STRAY_TOPIC]).fill_null(False).not_())
    found = stray.select(*place, "broker", "row")
    after = deleted.select(*place, "broker", deleted="row").join(found, on=[*place, "broker"])
    after = (
        after.filter(pl.col("deleted") > pl.col("row")).group_by(*place, "broker", "row").agg(pl.col("deleted").min())
    )
    ordered = deleted.join(after, left_on=[*place, "broker", "row"], right_on=[*place, "broker", "deleted"], how="anti")
    left = stray.join(ordered, on=place, how="anti").join(after, on=[*place, "broker", "row"], how="left")
    lines = in_groups(left.sort(*place, "row"), _PLACE, _lines)
    return {where: those for where, those in lines.items() if topic_ids.get(where) not in removed}


def _lines(rows: pl.DataFrame) -> list[StrayReplica]:
    return tuples(rows, StrayReplica._make, StrayReplica._fields)
