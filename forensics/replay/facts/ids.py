"""Brokers whose lines or files name their cluster or a topic by its id: these cannot be of another cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from forensics.case import Case
from forensics.case.speakers import OF_ITSELF
from forensics.replay.facts.lines_of_brokers import prints_cluster_id
from parsers.formats.meta_properties import NAME as META_PROPERTIES

_PLACE = ("topic", "partition", "incarnation")


@dataclass(frozen=True, slots=True)
class Ids:
    """Brokers that name the ids of one cluster and its topics.

    Attributes:
        of_cluster: brokers that print the cluster id (KIP-78), or have it in ``meta.properties``.
        of_topic: brokers that name the topic id (KIP-516), by topic, partition and incarnation.
    """

    of_cluster: frozenset[int]
    of_topic: Mapping[tuple[str, int, int], frozenset[int]]

    @staticmethod
    def of(case: Case, rows: pl.DataFrame) -> Ids:
        """Read the evidence of one cluster.

        Args:
            case: the evidence.
            rows: observations of partitions that name a broker, with ``incarnation``.
        """
        printed = case.observations.filter(prints_cluster_id()).get_column("broker")
        on_disk = case.sources.filter(pl.col("format") == META_PROPERTIES).get_column("broker")
        named = rows.filter(pl.col("topic_id").str.len_chars() > 0, OF_ITSELF).group_by(*_PLACE)
        found = named.agg(pl.col("broker").unique())
        return Ids(
            of_cluster=frozenset((*printed.drop_nulls().to_list(), *on_disk.drop_nulls().to_list())),
            of_topic={(topic, part, life): frozenset(who) for topic, part, life, who in found.iter_rows()},
        )

    def at(self, place: tuple[str, int, int]) -> frozenset[int]:
        """Return the brokers that name one of the ids, for an incarnation of a partition."""
        return self.of_cluster | self.of_topic.get(place, frozenset())
