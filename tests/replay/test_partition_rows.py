"""The rows of partitions that replay reads: without traffic that says nothing of a log, and with progress thinned."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import polars as pl
import pytest

from forensics.engines.local import take_in
from forensics.replay.facts.events import PROGRESS
from forensics.replay.facts.log_numbers import LOG, numbered
from forensics.replay.facts.partition_lines import JUMPED, thin
from forensics.replay.facts.partition_rows import lagging, partition_rows
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import OBSERVATIONS, Kind

Row = dict[str, object]

KINDS = (Kind.HW, Kind.HW_HELD, Kind.APPEND, Kind.LEADER_HW, Kind.ROLLED, Kind.FETCHER_ADDED)


def rows(chance: random.Random) -> list[Row]:
    blank = dict.fromkeys(("row", "topic", "partition", "incarnation", "broker", *OBSERVATIONS))
    found = []
    for row in range(120):
        kind = chance.choice(KINDS)
        end = chance.randrange(9)
        values = {"hw": chance.choice([None, 3, 4, 5]), "offset": chance.randrange(9), "leo": end}
        of = {"topic": "orders", "partition": 0, "incarnation": 0, "broker": chance.randrange(2)}
        found.append(blank | of | values | {"row": row, "kind": kind.value, "message": chance.choice(["one", "two"])})
    return found


def left(given: list[Row]) -> Iterator[tuple[object, object]]:
    """The rows that remain, by the sentence in the docstring of ``thin``, one by one."""
    for broker in (0, 1):
        stretch: list[Row] = []
        for row in [*(one for one in given if one["broker"] == broker), None]:
            if row is not None and row["kind"] in PROGRESS:
                stretch.append(row)
                continue
            yield from of_stretch(stretch)
            stretch = []
            if row is not None:
                yield row["row"], row["detail"]


def of_stretch(stretch: list[Row]) -> Iterator[tuple[object, object]]:
    series: dict[tuple[object, object], list[Row]] = {}
    for row in stretch:
        apart = row["kind"] in (Kind.ROLLED, Kind.APPEND)
        series.setdefault((row["kind"], row["message"] if apart else None), []).append(row)
    for (kind, _), lines in series.items():
        known = [one for one in lines if one["hw"] is not None]
        wanted = {lines[-1]["row"]}
        wanted |= {lines[0]["row"]} if kind in (Kind.HW_HELD, Kind.APPEND) else set()
        wanted |= {next(one["row"] for one in known if one["hw"] == max(x["hw"] for x in known))} if known else set()  # type: ignore[type-var]
        lower = (two["row"] for at, two in enumerate(known) if any(one["hw"] > two["hw"] for one in known[:at]))  # type: ignore[operator]
        wanted |= {*[*lower][:1]}
        pairs = itertools.pairwise(lines)
        jumps = {two["row"] for one, two in pairs if kind == Kind.APPEND and two["offset"] > one["leo"]}  # type: ignore[operator]
        yield from ((row, JUMPED if row in jumps else None) for row in wanted | jumps)


@pytest.mark.parametrize("seed", range(20))
def test_progress_is_thinned_to_what_can_matter(seed: int) -> None:
    given = rows(random.Random(seed))
    schema = {"row": pl.UInt32(), "incarnation": pl.Int32(), "broker": pl.Int32()} | OBSERVATIONS
    frame = numbered(pl.DataFrame(given, schema=schema))
    kept = thin(frame).sort("row").select("row", "detail").rows()
    assert kept == sorted(left(given), key=itemgetter(0))
    assert len(kept) < len(given)


def test_traffic_is_not_read(evidence: Path) -> None:
    """Most rows at level TRACE are about others' fetches, and no line of this cluster shrinks an ISR."""
    observations = take_in([str(evidence / "rolling-3.9.1-replication")]).observations
    read = partition_rows(observations)
    traffic = pl.col("kind").is_in([Kind.REMOTE_LEO.value, Kind.ACKS_AWAITED.value, Kind.EPOCH_REPLY.value])
    assert observations.filter(traffic).height > 0.5 * observations.height
    assert read.filter(traffic).is_empty()
    others = observations.filter(pl.col("topic").is_not_null(), pl.col("topic") != "__cluster_metadata", ~traffic)
    assert read.get_column("row").sort().equals(others.get_column("row").sort())


def test_the_log_end_offsets_of_a_line_that_shrinks_the_isr_are_read() -> None:
    """Other lines about a follower's fetches are not read, unless a trace states them."""
    of = {"topic": "orders", "partition": 0, "broker": 1, "source": 7, "run": 0}
    lines = [
        {"kind": Kind.ISR_SHRINK.value, "message": "shrink", "line": 3},
        {"kind": Kind.REMOTE_LEO.value, "message": "shrink", "line": 3, "replica": 2, "leo": 5},
        {"kind": Kind.REMOTE_LEO.value, "message": "recorded", "line": 4, "replica": 2, "leo": 6},
        {"kind": Kind.REMOTE_LEO.value, "message": TRACE, "line": 5, "replica": 2, "leo": 6},
    ]
    schema = {"row": pl.UInt32(), "broker": pl.Int32(), "source": pl.UInt32(), "run": pl.Int32()} | OBSERVATIONS
    given = [dict.fromkeys(schema) | of | {"row": row} | line for row, line in enumerate(lines)]
    read = partition_rows(pl.DataFrame(given, schema=schema))
    assert read.get_column("row").to_list() == [0, 1, 3]
    assert lagging(read).get_column("row").to_list() == [1]


def test_logs_are_numbered_in_order() -> None:
    frame = pl.DataFrame({"topic": ["b", "a", "b", "a"], "partition": [0, 0, None, 0]})
    assert numbered(frame, ("topic", "partition")).get_column(LOG).to_list() == [2, 0, 1, 0]
