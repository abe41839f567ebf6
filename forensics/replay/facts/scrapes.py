"""High watermarks, leaders and log end offsets as exporters of metrics printed them, series by series.

A series has the labels of its exporter, and those that a server adds. Files may hold parts of one series.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

import polars as pl

from forensics.replay.facts.directory import Ref
from parsers.details import SeriesName, series_named
from parsers.schema import Kind


@dataclass(frozen=True, slots=True)
class Scrape:
    """A high watermark as an exporter printed it: what a consumer gets that asks for the end of the partition.

    Attributes:
        high_watermark: the value.
        time: by the clock of the server that scraped it, microseconds since 1970 UTC. The value is of that scrape or
            before.
        ref: its place.
        leader: leader as the exporter knew it before it asked, or None.
        kept: the next scrape names the same leader, so that the exporter asked this one; or there is no next one.
    """

    high_watermark: int
    time: int
    ref: Ref
    leader: int | None = None
    kept: bool = False


@dataclass(frozen=True, slots=True)
class ScrapedEnd:
    """A log end offset of one broker's replica, as the exporter of that broker printed it.

    Attributes:
        end: the value.
        time: by the clock of the server that scraped it, microseconds since 1970 UTC. The value is of that scrape or
            before.
        ref: its place.
    """

    end: int
    time: int
    ref: Ref


EndSeries = tuple[ScrapedEnd, ...]
"""The scrapes of one exporter of a broker, by their times."""

OLDEST: Final = 5 * 60_000_000
"""How much older than its time a value may be, microseconds: the lookback of Prometheus (``query.lookback-delta``)."""

CLOCKS_APART: Final = 5 * 60_000_000
"""How far the clock of a server that scrapes may be from that of a broker, microseconds. It includes the time that a
scrape takes."""

Series = tuple[Scrape, ...]
"""The scrapes of one exporter, by their times."""

_PLACE = ("topic", "partition")


def scrapes(rows: pl.DataFrame) -> dict[tuple[str, int], tuple[Series, ...]]:
    """Return the series about each partition. There are none about one of which clusters may be mixed.

    Args:
        rows: observations of a case.
    """
    kinds = [Kind.HW_SCRAPED.value, Kind.LEADER_SCRAPED.value]
    rows = rows.filter(pl.col("kind").is_in(kinds), pl.all_horizontal(pl.col(*_PLACE, "time", "detail").is_not_null()))
    if rows.is_empty():
        return {}
    rows = rows.sort(*_PLACE, "kind", "detail", "time", "row")
    columns = rows.select("topic", "partition", "kind", "detail", "hw", "leader", pl.col("time").cast(pl.Int64), "row")
    found = {}
    for place, group in itertools.groupby(columns.iter_rows(), key=lambda row: (row[0], row[1])):
        series = _series(group)
        if series and _of_one_cluster(series):
            found[place] = tuple(one for _, one in series)
    return found


def scraped_ends(rows: pl.DataFrame) -> dict[tuple[str, int], dict[int, tuple[EndSeries, ...]]]:
    """Return the series about each partition by broker. There are none about one of which clusters may be mixed.

    Args:
        rows: observations of a case.
    """
    there = pl.all_horizontal(pl.col(*_PLACE, "replica", "leo", "time", "detail").is_not_null())
    rows = rows.filter(pl.col("kind") == Kind.LEO_SCRAPED.value, there)
    if rows.is_empty():
        return {}
    rows = rows.sort(*_PLACE, "replica", "detail", "time", "leo", "row")
    columns = rows.select(*_PLACE, "replica", "detail", "leo", pl.col("time").cast(pl.Int64), "row")
    found = {}
    for place, group in itertools.groupby(columns.iter_rows(), key=lambda row: (row[0], row[1])):
        by_broker = _ends_by_broker(group)
        if by_broker:
            found[place] = by_broker
    return found


def _ends_by_broker(rows: Iterable[tuple[str, int, int, str, int, int, int]]) -> dict[int, tuple[EndSeries, ...]]:
    """Return the series about one partition by broker; none if they can be of several clusters."""
    series: dict[int, dict[str, dict[tuple[int, int], ScrapedEnd]]] = {}
    clusters = set()
    for _, _, broker, detail, end, time, row in rows:
        name = series_named(detail)
        one = series.setdefault(broker, {}).setdefault(detail, {})
        note = f"log end offset {end} by {name.labels}"
        one.setdefault((time, end), ScrapedEnd(end, time, Ref(row=row, note=note)))  # two files may hold one scrape
        clusters.add(name.of_cluster)
    found = {broker: tuple(tuple(one.values()) for one in of.values()) for broker, of in series.items()}
    agree = all(_all_agree([[(one.time, one.end) for one in series] for series in of]) for of in found.values())
    return found if agree and len(clusters) == 1 else {}


def _series(
    rows: Iterable[tuple[str, int, str, str, int | None, int | None, int, int]],
) -> list[tuple[SeriesName, Series]]:
    """Return the name and scrapes of each series about one partition."""
    values: dict[SeriesName, list[tuple[int, int, int]]] = {}
    leaders: dict[str, list[tuple[int, int]]] = {}
    for _, _, kind, detail, value, leader, time, row in rows:
        name = series_named(detail)
        if kind == Kind.HW_SCRAPED.value and value is not None:
            values.setdefault(name, []).append((time, value, row))
        elif leader is not None:
            leaders.setdefault(name.labels, []).append((time, leader))
    return [(name, _scraped(found, leaders.get(name.labels, ()), name.labels)) for name, found in values.items()]


def _scraped(values: Sequence[tuple[int, int, int]], leaders: Sequence[tuple[int, int]], labels: str) -> Series:
    noted = f" by {labels}" if labels else ""
    first = {(time, value): row for time, value, row in reversed(values)}  # two files may hold one scrape
    return tuple(
        Scrape(value, time, Ref(row=row, note=f"high watermark {value}{noted}"), *_leader_at(leaders, time))
        for (time, value), row in sorted(first.items())
    )


def _leader_at(leaders: Sequence[tuple[int, int]], time: int) -> tuple[int | None, bool]:
    """Return the leader that the last scrape until a time names, and whether the next one names the same."""
    at = bisect.bisect_right(leaders, time, key=itemgetter(0))
    before = leaders[at - 1][1] if at else None
    return before, at == len(leaders) or leaders[at][1] == before


def _of_one_cluster(series: Sequence[tuple[SeriesName, Series]]) -> bool:
    """Return whether all series can be about one cluster: their labels agree, and so do their values at one time."""
    if len({name.of_cluster for name, _ in series}) > 1:
        return False
    return _all_agree([[(one.time, one.high_watermark) for one in of] for _, of in series])


_Values = Sequence[tuple[int, int]]
"""Times and values of a series, in order."""


def _all_agree(series: Sequence[_Values]) -> bool:
    """Return whether each value of each series is between those of each other one around it."""
    pairs = itertools.permutations(series, 2)
    return all(_lies_within(time, value, other) for one, other in pairs for time, value in one)


def _lies_within(time: int, value: int, other: _Values) -> bool:
    """Return whether a value is between those of a series around it; where it has none on one side, it may be."""
    before = bisect.bisect_right(other, time, key=itemgetter(0)) - 1
    after = bisect.bisect_left(other, time, key=itemgetter(0))
    if before < 0 or after == len(other):
        return True
    ends = (other[before][1], other[after][1])
    return min(ends) <= value <= max(ends)
