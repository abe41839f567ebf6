"""What is drawn is what replay says: every value of the timeline is in the figure, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from forensics.engines import local
from forensics.replay.timeline import DELETED, ON_DISK, SILENT, STOPPED, committed, timeline
from forensics.reports.html import figures, lanes, tables
from forensics.result import Partition, Result
from tests.reports.html.conftest import LOSS_AND_FORK, SAMPLES, SUSPECTED
from tools.samples import unpacked

UNSEEN = (SILENT, STOPPED, DELETED)
CASES = sorted({*SAMPLES, *(path.name for path in unpacked().iterdir() if path.is_dir())})

Segment = tuple[int, int, int]
"""From, to, in milliseconds since the start of the chart, and the value in between."""


Drawn = tuple[lanes.Chart, dict[str, Any], pl.DataFrame]
_drawn: dict[int, tuple[Partition, Drawn]] = {}


def drawn(result: Result, partition: Partition) -> Drawn:
    """The chart of a partition, its figure and its timeline, made once. Nobody may change them."""
    if id(partition) not in _drawn:
        _drawn[id(partition)] = (partition, _draw(result, partition))
    return _drawn[id(partition)][1]


def _draw(result: Result, partition: Partition) -> Drawn:
    chart, frame = lanes.chart(result.case, partition)
    assert chart.dropped == 0, "the samples are short: nothing is thinned"
    assert frame.equals(timeline(result.case, partition.history))
    figure = figures.figure(chart)
    figures.checked(figure)  # plotly knows each property, and takes its value
    return chart, figure, frame


def lines(figure: dict[str, Any], axis: str, *groups: str, dotted: bool) -> list[Segment]:
    """Level stretches of the lines of a lane: solid ones state a value, dotted ones the least it can be."""
    found = []
    for trace in figure["data"]:
        if trace["yaxis"] != axis or trace["meta"]["group"] not in groups or trace.get("mode") != "lines":
            continue
        if (trace["line"].get("dash") == "dot") != dotted:
            continue
        points = list(zip(trace["x"], trace["y"], strict=True))
        for (x, y), (then, next_) in pairwise(points):
            if None in (x, y, then, next_):
                continue
            assert x == then or y == next_, "steps, never slopes"
            if y == next_:
                found.append((x, then, y))
    return found


def corners(figure: dict[str, Any], axis: str, *groups: str) -> set[tuple[int, int]]:
    """All points of the lines of a lane."""
    return {
        point
        for trace in figure["data"]
        if trace["yaxis"] == axis and trace["meta"]["group"] in groups and trace.get("mode") == "lines"
        for point in zip(trace["x"], trace["y"], strict=True)
    }


def moment(chart: lanes.Chart, time: Any) -> int:
    return int((round(time.timestamp() * 1_000_000) - chart.zero) // 1000)


@pytest.fixture(scope="module")
def scanned(results: Callable[[str], Result]) -> Callable[[str], Result]:
    made: dict[str, Result] = {}

    def scan(name: str) -> Result:
        if name in SAMPLES:
            return results(name)
        if name not in made:
            made[name] = local.scan([str(unpacked() / name)])
        return made[name]

    return scan


@pytest.mark.parametrize("name", CASES)
def test_lines_are_the_timeline(name: str, scanned: Callable[[str], Result]) -> None:
    result = scanned(name)
    checked = 0
    for partition in result.partitions:
        chart, figure, frame = drawn(result, partition)
        for place, lane in enumerate(chart.lanes):
            axis = f"y{place + 2}"
            states = frame.filter((pl.col("replica") == lane.replica) & pl.col("from").is_not_null())
            for value, exact, solid, vague in (
                ("log_end_offset", "log_end_exact", "end", "floor"),
                ("high_watermark", "high_watermark_exact", "hw", "hw"),
            ):
                sure = lines(figure, axis, solid, dotted=False)
                least = lines(figure, axis, vague, dotted=True)
                either = sure + least
                stated = set()
                for row in states.iter_rows(named=True):
                    start, end = moment(chart, row["from"]), moment(chart, row["to"])
                    if row[value] is None or row["role"] in UNSEEN:
                        crossed = [s for s in either if s[0] < end and s[1] > start]
                        assert not crossed, "nothing is drawn where nothing is known"
                        continue
                    stated.add(row[value])
                    if start == end:  # shorter than a millisecond
                        assert (start, row[value]) in corners(figure, axis, solid, vague)
                        continue
                    segments = sure if row[exact] else least
                    assert [s for s in segments if s[0] <= start and s[1] >= end and s[2] == row[value]], (row, value)
                    assert not [s for s in (least if row[exact] else sure) if s[0] < end and s[1] > start]
                    others = {s[2] for s in either if s[0] < end and s[1] > start}
                    assert others == {row[value]}, (row, value, others)
                    checked += 1
                assert {s[2] for s in either} <= stated, "no value that nobody stated"
    assert checked


@pytest.mark.parametrize("name", CASES)
def test_marks_bands_and_files_are_what_replay_found(name: str, scanned: Callable[[str], Result]) -> None:
    result = scanned(name)
    for partition in result.partitions:
        history = partition.history
        chart, figure, frame = drawn(result, partition)
        bound = committed(frame)
        assert chart.bound == [(moment(chart, t), hw) for t, hw in bound.select("from", "high_watermark").iter_rows()]
        epochs = [(reign.epoch, reign.leader) for reign in chart.reigns]
        known = {number: epoch.leader for number, epoch in history.epochs.items()}
        assert epochs == [(number, known[number]) for number, _ in epochs]
        assert [reign.end for reign in chart.reigns[:-1]] == [reign.start for reign in chart.reigns[1:]]
        shown = {lane.replica for lane in chart.lanes}
        for kinds, told in (
            (
                ("cut",),
                {(c.replica, moment_of(chart, c.time), c.target) for c in history.truncations if c.time is not None},
            ),
            (
                ("elected", "unclean"),
                {(r.leader, r.start, None) for r in chart.reigns if r.leader in shown},
            ),
            (
                ("start",),
                {
                    (row["replica"], moment(chart, row["from"]), None)
                    for row in frame.filter(pl.col("event") == "process_start").iter_rows(named=True)
                    if row["replica"] in shown
                },
            ),
        ):
            marks = {(lane.replica, m.time, m.value) for lane in chart.lanes for m in lane.marks if m.kind in kinds}
            assert marks == told, kinds
        for place, lane in enumerate(chart.lanes):
            last = frame.filter((pl.col("replica") == lane.replica) & (pl.col("role") == ON_DISK))
            points = [
                trace["y"][0]
                for trace in figure["data"]
                if trace["yaxis"] == f"y{place + 2}" and "on disk" in str(trace.get("text")) and len(trace["x"]) == 1
                if trace["meta"]["group"] == "end"
            ]
            assert points == last.get_column("log_end_offset").drop_nulls().to_list()
        hatched = sum(trace["meta"]["group"] == "silent" for trace in figure["data"])
        gaps = {s.role for lane in chart.lanes for s in lane.states if s.end > s.start} & set(UNSEEN)
        assert not gaps or hatched


def moment_of(chart: lanes.Chart, time: int | None) -> int:
    assert time is not None
    return (time - chart.zero) // 1000


@pytest.mark.parametrize("name", CASES)
def test_every_stretch_of_an_epoch_can_be_labelled(name: str, scanned: Callable[[str], Result]) -> None:
    result = scanned(name)
    for partition in result.partitions:
        chart, figure, _ = drawn(result, partition)
        axes = {"y" + key.removeprefix("yaxis") for key in figure["layout"] if key.startswith("yaxis")}
        labels = figures.labels(chart)
        assert {label["axis"] for label in labels} <= axes
        for reign in chart.reigns:
            if reign.end > reign.start:
                texts = [
                    label["texts"] for label in labels if (label["start"], label["end"]) == (reign.start, reign.end)
                ]
                assert any(f"epoch {reign.epoch}" in words for words in texts)
        for label in labels:
            widths = [len(text) for text in label["texts"]]
            assert widths == sorted(widths, reverse=True), "ever fewer words"


def test_a_broker_whose_files_are_missing_has_a_hatched_lane(scanned: Callable[[str], Result]) -> None:
    result = scanned(SUSPECTED)
    chart, figure, _ = drawn(result, result.partitions[0])
    assert [lane.replica for lane in chart.lanes] == [1, 2, 3]
    absent = chart.lanes[0]
    assert absent.states == ()
    assert absent.members, "others said whether it was in the ISR"
    hatched = [t for t in figure["data"] if t["meta"]["group"] == "silent" and t["yaxis"] == "y5"]
    assert [(min(t["x"]), max(t["x"])) for t in hatched] == [(0, chart.length)]
    assert not lines(figure, "y2", "end", "floor", "hw", dotted=False)
    assert any("no line of this broker" in label["texts"][0] for label in figures.labels(chart))


@pytest.mark.parametrize("name", CASES)
def test_the_tables_say_what_the_chart_shows(name: str, scanned: Callable[[str], Result]) -> None:
    for partition in scanned(name).partitions:
        chart, _, _ = drawn(scanned(name), partition)
        for lane, table in zip(chart.lanes, tables.tables(chart), strict=True):
            states = [row for row in table.rows if not row.event and row.time is not None]
            events = [row for row in table.rows if row.event]
            assert table.more == 0
            assert [row.log_end for row in states] == [
                (state.log_end, state.exact) if state.log_end is not None else None for state in lane.states
            ]
            assert sorted(row.what for row in events) == sorted(
                f"step {mark.label}: {mark.text}" if mark.label else mark.text for mark in lane.marks
            )
            assert [row.time for row in table.rows if row.time is not None] == sorted(
                row.time for row in table.rows if row.time is not None
            )
            for mark in lane.marks:
                if mark.ref >= 0:
                    path, line, _ = chart.references[mark.ref]
                    assert (f"{path}:{line}" if line else path) in [row.evidence for row in events]


def test_a_long_table_drops_no_step_of_the_finding(scanned: Callable[[str], Result]) -> None:
    result = scanned(LOSS_AND_FORK)
    chart, _, _ = drawn(result, result.partitions[0])
    lane = chart.lanes[0]
    marks = [lanes.Mark("start", at, "process started") for at in range(5_000)]
    marks += [lanes.Mark("finding", at, "what happened", label=str(at)) for at in range(3)]
    chart.lanes = [replace(lane, states=lane.states * 2_000, marks=tuple(marks))]
    (table,) = tables.tables(chart)
    assert sum(row.what.startswith("step") for row in table.rows) == 3
    assert len(table.rows) <= tables.ROWS * 1.25 + 5
    assert table.more > 20_000
