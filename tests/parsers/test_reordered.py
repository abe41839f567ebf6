"""Logs in which lines are there again, or whose newest line comes first, are read as if they were as logged."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.engines import local
from forensics.reports import json_report
from parsers.containers import expand
from parsers.files.sources import Source
from parsers.text import reordered
from parsers.walk import walk
from tests.case.test_shuffled_logs import events
from tests.conftest import alike, in_full

Layout = Callable[[list[str]], list[str]]
LAYOUTS: dict[str, Layout] = {
    "twice": lambda lines: lines + lines,
    "three times": lambda lines: lines * 3,
    "overlapping": lambda lines: lines[: 2 * len(lines) // 3] + lines[len(lines) // 3 :],
    "an earlier part again": lambda lines: lines + lines[len(lines) // 4 : len(lines) // 2],
    "newest first": lambda lines: lines[::-1],
    "newest part first": lambda lines: lines[len(lines) // 2 :] + lines[: len(lines) // 2],
    "three parts": lambda lines: [
        *lines[2 * len(lines) // 3 :],
        *lines[: len(lines) // 3],
        *lines[len(lines) // 3 : 2 * len(lines) // 3],
    ],
}
CASES = ("unclean-3.9.1", "rotated-2.8.2", "traps-0.10.2.2")


def laid_out(case: Path, folder: Path, layout: Layout | None) -> None:
    """A case whose logs are laid out; their lines are in the order of time, one log each."""
    for path in sorted(path for path in case.rglob("*") if path.is_file()):
        place = folder / path.relative_to(case)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".log" or path.parent.name != "logs":
            os.link(path, place)
            continue
        lines = events(path)
        wanted = layout is not None and not (layout is LAYOUTS["newest first"] and len(lines) < 200)
        place.write_text("".join(layout(lines) if wanted and layout is not None else lines), encoding="utf-8")


def verdicts(folder: Path) -> object:
    """What is answered, without the lines that show it."""
    found = json_report.document(local.scan([str(folder)]))
    told = [
        (one["rule"], one["partition"], one["severity"], one["offsets"], one["summary"]) for one in found["findings"]
    ]
    return [one["verdicts"] for one in found["partitions"]], told


@in_full("what is put in order is compared without it")
@pytest.mark.parametrize("name", alike(CASES))
def test_answers_are_those_to_the_log_as_it_was_written(
    name: str, sample_traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for layout, how in LAYOUTS.items():
        for there, made in (("plain", None), ("laid out", how)):
            laid_out(sample_traces / name, tmp_path / layout / there / "case", made)
    for layout in LAYOUTS:
        found = []
        for there in ("plain", "laid out"):
            monkeypatch.chdir(tmp_path / layout / there)
            found.append(verdicts(Path("case")))
        assert found[0] == found[1], layout


def joined(case: Path, folder: Path, names: Sequence[str]) -> None:
    """A case without data, whose brokers have one file each: their logs below each other."""
    for broker in sorted(case.glob("broker-*")):
        (folder / broker.name).mkdir(parents=True)
        logs = [broker / "logs" / name for name in names]
        text = "".join(log.read_text(encoding="utf-8") for log in logs if log.exists())
        (folder / broker.name / "all.log").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", [*CASES, "kip101-0.10.2.2"])
def test_logs_of_a_broker_below_each_other_are_merged(name: str, sample_traces: Path, tmp_path: Path) -> None:
    """``cat server.log state-change.log`` answers in whichever order the files are named."""
    orders = (("server.log", "state-change.log"), ("state-change.log", "server.log"))
    found = []
    for at, names in enumerate(orders):
        joined(sample_traces / name, tmp_path / str(at), names)
        found.append(verdicts(tmp_path / str(at)))
    assert found[0] == found[1]


@pytest.mark.parametrize("names", [("server.log", "state-change.log"), ("state-change.log", "server.log")])
def test_parts_of_each_broker_in_one_text_are_merged(
    names: tuple[str, str], sample_traces: Path, tmp_path: Path
) -> None:
    """``grep orders-0`` in two logs of each broker, pasted below each other behind the broker's name."""
    text = "".join(
        f"{broker.name} | {line}\n"
        for broker in sorted((sample_traces / "kip101-0.10.2.2").glob("broker-*"))
        for name in names
        for line in (broker / "logs" / name).read_text(encoding="utf-8").splitlines()
        if "orders-0" in line or "[orders,0]" in line
    )
    (tmp_path / "pasted.txt").write_text(text, encoding="utf-8")
    result = local.scan([str(tmp_path)])
    assert result.case.notices["reason"].to_list().count(reordered.MERGED) == 3
    (partition,) = result.partitions
    (loss,) = partition.judgements["committed-data-lost"].findings
    assert (loss.confidence.value, loss.offsets) == ("suspected", ((50, 80),))


def test_parts_of_several_brokers_stay_in_their_order(tmp_path: Path) -> None:
    lines = [
        at(second, f"[Broker id={broker}] Starting") for broker in (1, 2) for second in range(60 - 30 * broker, 90)
    ]
    source = content(tmp_path, *lines)
    with source.open() as stream:
        assert stream.read().decode().splitlines() == lines
    assert reordered.MERGED not in source.notes


def test_an_older_part_below_a_newer_one_is_read_first(tmp_path: Path) -> None:
    source = content(tmp_path, *map(at, range(50, 90)), *map(at, range(10, 50)))
    with source.open() as stream:
        assert stream.read().decode().splitlines() == [*map(at, range(10, 90))]
    assert source.notes == (reordered.MERGED,)


def fetches(second: int, epoch: int) -> str:
    """A line about a replica that begins to follow in a leader epoch."""
    states = f"orders-0 -> InitialFetchState(Some(AAAAAAAAAAAAAAAAAAAAAA),BrokerEndPoint(id=1, host=h:9092),{epoch},50)"
    return at(second, f"[ReplicaFetcherManager on broker 2] Added fetcher to broker 1 for partitions HashMap({states})")


@pytest.mark.parametrize(
    ("first", "epochs", "merged"),
    [(2000, (), False), (2000, (4, 3), True), (600, (), True), (50, (3, 4), False), (50, (4, 3), True)],
)
def test_a_clock_that_was_set_back_by_more_than_the_log_is_long_reorders_nothing(
    first: int, epochs: tuple[int, ...], merged: bool, tmp_path: Path
) -> None:
    """The parts would leave a long time between them, or leader epochs would fall from one to the next."""
    parts = [[*map(at, range(second, second + 35))] for second in (first, 10)]
    for part, second, epoch in zip(parts, (first + 35, 45), epochs, strict=False):
        part.append(fetches(second, epoch))
    assert (reordered.MERGED in content(tmp_path, *parts[0], *parts[1]).notes) is merged


def content(folder: Path, *lines: str) -> Source:
    """A text as it is read."""
    (folder / "server.log").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (source,) = (one for file in walk([str(folder)]) for one in expand(file) if not one.container)
    return source


def at(second: int, text: str = "Truncating log orders-0 to offset 50. (kafka.log.Log)") -> str:
    """A line of a log."""
    return f"[2024-03-01 10:{second // 60:02}:{second % 60:02},107] INFO {text}"


def test_a_line_that_is_there_again_is_blank_and_counted(tmp_path: Path) -> None:
    lines = [at(second) for second in range(9)]
    source = content(tmp_path, *lines, *lines[5:], at(20))
    with source.open() as stream:
        found = stream.read().decode().splitlines()
    assert found == [*lines, "", "", "", "", at(20)]  # so that the numbers of lines stay
    assert source.notes == (reordered.REPEATED.format(4),)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([at(1), at(1), at(1), at(1), at(2), at(3)], id="in one moment"),
        pytest.param(
            [*[at(n) for n in range(50, 90)], *[at(n, "Starting") for n in range(50, 90)]], id="a clock set back"
        ),
        pytest.param([at(5), at(4), at(6), at(5), at(7)], id="threads"),
        pytest.param([*map(at, range(3590, 3600)), *map(at, range(10))], id="the end of summer time"),
    ],
)
def test_other_lines_are_left_as_they_are(lines: list[str], tmp_path: Path) -> None:
    source = content(tmp_path, *lines)
    with source.open() as stream:
        assert stream.read().decode().splitlines() == lines
    assert reordered.NEWEST_FIRST not in source.notes


@given(st.lists(st.integers(0, 400), min_size=0, max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_what_is_left_of_a_doubled_log_is_the_log(seconds: list[int], first: int, last: int) -> None:
    lines = [at(second, f"Truncating to offset {number} ") for number, second in enumerate(sorted(seconds))]
    again = lines[min(first, last) : max(first, last)]
    data = "".join(f"{line}\n" for line in itertools.chain(lines, again)).encode()
    found = reordered._each_once(data)
    kept = [line for line in (found[1] if found is not None else data).decode().splitlines() if line]
    assert kept[: len(lines)] == lines
    # A few are kept if nothing shows that the times went back: within one second, they need not have.
    goes_back = len(again) >= 3 and again[0][:25] < lines[-1][:25]
    assert not goes_back or all(line[:25] == lines[-1][:25] for line in kept[len(lines) :])


@given(
    st.lists(
        st.tuples(
            st.integers(0, 59),
            st.sampled_from([b"", b",123", b".123456789"]),
            st.sampled_from([0, 1, 30, 200, 3_950, 3_981, 4_000, 9_000]),
        ),
        max_size=12,
    )
)
def test_no_time_is_overlooked_that_a_search_from_each_place_finds(pieces: list[tuple[int, bytes, int]]) -> None:
    data = b"".join(b"2026-11-21 04:11:%02d%s%s" % (second, rest, b"x" * apart) for second, rest, apart in pieces)
    places = range(0, len(data), max(len(data) // reordered._SAMPLES, reordered._APART))
    found = (reordered.STAMP.search(data, at, at + reordered._NEAR) for at in places)
    seconds = [one[0][:19] for one in found if one is not None]
    once = [second for second, _ in itertools.groupby(seconds)]
    assert [second for second, _ in itertools.groupby(reordered._sampled(data))] == once
