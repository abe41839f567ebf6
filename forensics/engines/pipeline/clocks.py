"""Skew of the brokers' clocks from rows on disk: some topics at a time, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

from forensics.case.lives import by_cluster
from forensics.case.skew import COLUMNS, controllers, estimated, may_pair, paired, topic_ids, went_back
from forensics.engines.stages.judging import POSITION
from forensics.engines.stages.rows import restored
from parsers.schema import OBSERVATIONS

_AT_ONCE: Final = 300_000
"""Rows that are read together, about."""


def skew(rows: pl.LazyFrame, sources: pl.DataFrame, lives: pl.DataFrame) -> pl.DataFrame:
    """Return the skew of every broker, as ``Case.skew`` has it.

    Args:
        rows: of the table ``observations``, in plain types.
        sources: schema ``SOURCES``.
        lives: periods of logs of several clusters, schema ``LIVES``.
    """
    clusters = by_cluster(sources, lives).get_column("cluster")
    names = sorted(clusters.drop_nulls().unique().to_list())
    if len(names) < 2:
        return _of_cluster(rows, names[0] if names else None)
    every = [*names, None] if clusters.null_count() else names
    of = pl.col("cluster")
    return pl.concat(_of_cluster(rows.filter(of.eq_missing(pl.lit(name, pl.String))), name) for name in every)


def _of_cluster(rows: pl.LazyFrame, cluster: str | None) -> pl.DataFrame:
    return estimated(list(_parts(rows)), cluster)


def _parts(rows: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    ids = topic_ids(rows)
    read = rows.filter(may_pair())
    of_brokers = _ordered(read.filter(pl.col("topic").is_null()))
    active, back = controllers(of_brokers), went_back(of_brokers)
    yield paired(of_brokers, ids, active, back)
    of_topics = read.filter(pl.col("topic").is_not_null())
    count = of_topics.select(pl.len()).collect().item() // _AT_ONCE + 1
    for number in range(count):
        mine = of_topics.filter(pl.col("topic").hash(0) % count == number)
        yield paired(_ordered(mine), ids, active, back)


def _ordered(rows: pl.LazyFrame) -> pl.DataFrame:
    """Return rows as a case has them, with the columns that are read."""
    found = rows.select(*dict.fromkeys([*COLUMNS, *POSITION])).collect()
    return restored(found.sort(POSITION, nulls_last=True, maintain_order=True).with_row_index("row"), OBSERVATIONS)
