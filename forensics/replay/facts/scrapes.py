"""High watermarks and leaders as exporters of metrics printed them, series by series.

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


CLOCKS_APART: Final = 5 * 60_000_000
"""How far the clock of a server that scrapes may be from that of a broker, microseconds. It includes the time that a
scrape takes."""

Series = tuple[Scrape, ...]
"""The scrapes of one exporter, by their times."""

_PLACE = ("topic", "partition")
_OF_ONE_EXPORTER = frozenset(
    ("instance", "pod", "pod_name", "kubernetes_pod_name", "container", "endpoint", "node", "host", "ip", "replica",
     "prometheus_replica", "prometheus", "service", "job", "app", "pod_template_hash")
)  # fmt: skip
"""Labels that may differ within one cluster: an exporter that starts again, or a second one."""


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


def _series(rows: Iterable[tuple[str, int, str, str, int | None, int | None, int, int]]) -> list[tuple[str, Series]]:
    """Return the labels and scrapes of each series about one partition."""
    values: dict[str, list[tuple[int, int, int]]] = {}
    leaders: dict[str, list[tuple[int, int]]] = {}
    for _, _, kind, detail, value, leader, time, row in rows:
        name, _, labels = detail.partition("{")
        if kind == Kind.HW_SCRAPED.value and value is not None:
            values.setdefault(f"{labels}{name}", []).append((time, value, row))
        elif leader is not None:
            leaders.setdefault(labels, []).append((time, leader))
    return [
        (key, _scraped(found, leaders.get(key[: key.rfind("}") + 1], ()), key[: key.rfind("}")]))
        for key, found in values.items()
    ]


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


def _of_one_cluster(series: Sequence[tuple[str, Series]]) -> bool:
    """Return whether all series can be about one cluster: their labels agree, and so do their values at one time."""
    if len(series) == 1:
        return True
    labels = {_of_cluster(key) for key, _ in series}
    if len(labels) > 1:
        return False
    return all(_agree(one, two) for (_, one), (_, two) in itertools.combinations(series, 2))


def _of_cluster(key: str) -> tuple[str, ...]:
    """Return the labels of a series that do not differ within one cluster."""
    labels = key[: key.rfind("}")]
    pairs = (pair for pair in labels.split('",') if pair)
    return tuple(pair.rstrip('"') for pair in pairs if pair.partition("=")[0] not in _OF_ONE_EXPORTER)


def _agree(one: Series, two: Series) -> bool:
    """Return whether each value of a series is between those of another one around it."""
    return all(_lies_within(scrape, two) for scrape in one) and all(_lies_within(scrape, one) for scrape in two)


def _lies_within(scrape: Scrape, other: Series) -> bool:
    before = next((one for one in reversed(other) if one.time <= scrape.time), None)
    after = next((one for one in other if one.time >= scrape.time), None)
    if before is None or after is None:
        return True
    ends = (before.high_watermark, after.high_watermark)
    return min(ends) <= scrape.high_watermark <= max(ends)
