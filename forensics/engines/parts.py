"""Judging in parts: the partitions of one cluster's case, divided evenly among the workers of a pool.

A part is a case of its own, with what is about its partitions and what concerns all of them. Its rows keep their
numbers, so that what is found in it is about the whole case.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from forensics.case import Case, Reading
from forensics.case.brokers import Broker
from forensics.case.order import METADATA_TOPIC
from forensics.case.topics import matches
from forensics.engines.stages.packing import packed, unpacked
from forensics.replay.facts.disks import CHECKPOINTS
from forensics.replay.facts.lines_of_brokers import lines_of_brokers

KEY: Final = ("topic", "partition")
_FIXED: Final = 500
"""So many rows take as long to judge as a partition takes whatever its rows are, about."""

_AS_IS: Final = "uncompressed"
"""How frames travel to a worker: through memory, and once."""

_OF_CHECKPOINTS: Final = pl.col("kind").is_in([kind.value for kind in CHECKPOINTS])


@dataclass(frozen=True, slots=True)
class Common:
    """Evidence that concerns all partitions of a cluster, as it travels to workers.

    Attributes:
        sources: files that belong to no single partition, packed.
        observations: lines about brokers as a whole, packed.
        brokers, everyone, reading: as of the case.
        with_data, traces_alone: as of the case, which the files of a part alone do not show.
    """

    sources: bytes
    observations: bytes
    brokers: dict[int, Broker]
    everyone: tuple[Broker, ...]
    reading: Reading
    with_data: frozenset[int]
    traces_alone: bool

    @staticmethod
    def of(case: Case) -> Common:
        """From a cluster's case."""
        wide = pl.col("topic").is_null() | (pl.col("topic") == METADATA_TOPIC)
        return Common(
            packed(case.sources.filter(wide), _AS_IS),
            packed(lines_of_brokers(case.observations), _AS_IS),
            case.brokers,
            case.everyone,
            case.reading,
            case.with_data,
            case.traces_alone,
        )

    def case(self, part: Packed) -> Case:
        """The case of a part."""
        sources, observations, batches, notices = map(unpacked, part)
        made = Case(
            pl.concat([unpacked(self.sources), sources]).sort("id"),
            pl.concat([unpacked(self.observations), observations]).sort("row"),
            batches,
            notices,
            self.brokers,
            self.reading,
            everyone=self.everyone,
        )
        made.__dict__.update(with_data=self.with_data, traces_alone=self.traces_alone)
        return made


Packed = tuple[bytes, bytes, bytes, bytes]
"""Sources, observations, batches and notices of some partitions."""


def weight_at_most(case: Case) -> int:
    """Return a weight that the partitions of a case do not exceed (``Division.weight``), found in less time."""
    frames = (case.sources, case.observations, case.batches)
    rows = sum(frame.height for frame in frames)
    return rows + _FIXED * sum(frame.select(KEY).n_unique() for frame in frames if frame.height)


class Division:
    """The partitions of a case, to be divided into parts that take about as long to judge.

    Attributes:
        case: one cluster's.
        quick: partitions that only checkpoint files name: ``topic``, ``partition``. Judging them takes less time than
            handing over the results, so they are of no part.
    """

    def __init__(self, case: Case, topics: Sequence[str] = ()) -> None:
        """Count the rows of each partition.

        Args:
            case: one cluster's.
            topics: patterns; only topics that match one are judged. None means all.
        """
        self.case = case
        counted = [
            frame.select("topic", pl.col("partition").cast(pl.Int32)).drop_nulls().group_by(KEY).agg(n=pl.len())
            for frame in (case.sources, case.observations, case.batches)
        ]
        keys = pl.concat(counted).group_by(KEY).agg(pl.col("n").sum() + _FIXED)
        if topics:
            names = keys.get_column("topic").unique().to_list()
            keys = keys.filter(pl.col("topic").is_in([name for name in names if matches(name, topics)]))
        of_more = pl.concat(
            [
                *(frame.select("topic", pl.col("partition").cast(pl.Int32)) for frame in (case.sources, case.batches)),
                case.observations.filter(~_OF_CHECKPOINTS).select("topic", pl.col("partition").cast(pl.Int32)),
            ]
        ).unique()
        self.quick = keys.join(of_more, on=KEY, how="anti", nulls_equal=True).select(*KEY)
        keys = keys.join(of_more, on=KEY, how="semi", nulls_equal=True)
        self._keys = keys.sort(*KEY, nulls_last=True)

    @property
    def weight(self) -> int:
        """Return how long judging takes, in units of a row."""
        return int(self._keys.get_column("n").sum())

    @functools.cached_property
    def common(self) -> Common:
        """Return what concerns all of them."""
        return Common.of(self.case)

    def parts(self, weight: int) -> Iterator[pl.DataFrame]:
        """Yield the partitions of each part: ``topic``, ``partition``.

        Args:
            weight: of a part, about.
        """
        before = pl.col("n").cum_sum() - pl.col("n")
        numbered = self._keys.with_columns((before // weight).alias("part"))
        yield from numbered.select("part", *KEY).partition_by("part", maintain_order=True, include_key=False)

    def packed(self, parts: Sequence[pl.DataFrame]) -> Iterator[Packed]:
        """Yield the rows of parts, each made as it is asked for."""
        if not parts:
            return
        numbered = pl.concat(
            part.select(*KEY, pl.lit(number, pl.UInt32).alias("part")) for number, part in enumerate(parts)
        )
        case, place = self.case, ("topic", pl.col("partition").cast(pl.Int32))
        of_source = case.sources.select(pl.col("id").alias("source"), *place)
        of_notices = case.notices.select("source").join(of_source, on="source", how="left", maintain_order="left")
        # ``Common`` has those of the metadata log.
        own = case.sources.filter(pl.col("topic").is_null() | (pl.col("topic") != METADATA_TOPIC))
        places = [table.select(place) for table in (own, case.observations, case.batches)]
        tables = [
            _Gathered(table, rows.join(numbered, on=KEY, how="left", nulls_equal=True, maintain_order="left"))
            for table, rows in zip(
                (own, case.observations, case.batches, case.notices), (*places, of_notices), strict=True
            )
        ]
        for number in range(len(parts)):
            sources, observations, batches, notices = (packed(table.part(number), _AS_IS) for table in tables)
            yield sources, observations, batches, notices


class _Gathered:
    """A table whose rows are asked for part by part, each part's in the order of the table."""

    def __init__(self, frame: pl.DataFrame, placed: pl.DataFrame) -> None:
        """Sort the numbers of the rows by part, not the rows: they are many times larger.

        Args:
            frame: the table.
            placed: ``part`` of each row, null for rows that are of none.
        """
        self._frame = frame
        rows = placed.select("part").with_row_index("at").drop_nulls("part").sort("part", maintain_order=True)
        self._rows = rows.get_column("at")
        runs = rows.group_by("part", maintain_order=True).agg(pl.len())
        self._runs: dict[int, tuple[int, int]] = {}
        begin = 0
        for part, count in runs.iter_rows():
            self._runs[part] = begin, count
            begin += count

    def part(self, number: int) -> pl.DataFrame:
        """Return the rows of a part."""
        begin, count = self._runs.get(number, (0, 0))
        return self._frame[self._rows.slice(begin, count)]
