"""One file with the logs of several brokers: joined, they are told apart; mixed, nobody says another's words."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from forensics.case.coverage import coverage
from forensics.case.printers import attributed
from forensics.engines.local import scan, take_in
from forensics.result import Result
from parsers.schema import OBSERVATIONS, Kind

SAMPLES = ["kip101-0.10.2.2", "unclean-3.9.1", "zombie-1.1.1", "traps-0.10.2.2"]


def logs(trace: Path) -> list[Path]:
    return sorted(trace.glob("broker-[1-3]/logs/server.log"))


def verdicts(result: Result) -> dict[tuple[str, str], str]:
    return {
        (partition.history.name, rule): judgement.verdict.value
        for partition in result.partitions
        for rule, judgement in partition.judgements.items()
    }


def by_time(files: list[Path]) -> str:
    """The events of all files in the order of their times, as a collector would store them."""
    events: list[tuple[str, int, int, str]] = []
    for number, path in enumerate(files):
        for line in path.read_text().splitlines(keepends=True):
            if re.match(r"\[\d{4}-", line):
                events.append((line[1:24], number, len(events), line))
            else:
                time, _, _, text = events.pop()
                events.append((time, number, len(events), text + line))
    return "".join(event[3] for event in sorted(events))


@pytest.mark.parametrize("name", SAMPLES)
def test_logs_joined_in_one_file_say_what_they_say_apart(name: str, sample_traces: Path, tmp_path: Path) -> None:
    files = logs(sample_traces / name)
    (tmp_path / "all.log").write_text("".join(path.read_text() for path in files))
    apart, joined = scan([str(path) for path in files]), scan([str(tmp_path / "all.log")])
    assert joined.case.sources["broker"].to_list() == [None]
    assert sorted(joined.case.brokers) == sorted(apart.case.brokers) == [1, 2, 3]
    assert verdicts(joined) == verdicts(apart)
    assert sorted(f.fingerprint for f in joined.findings) == sorted(f.fingerprint for f in apart.findings)
    assert joined.case.notices.is_empty()
    assert coverage(joined.case)["broker"].to_list() == [1, 2, 3]


@pytest.mark.parametrize("name", SAMPLES)
def test_mixed_lines_make_answers_unknown_never_other(name: str, sample_traces: Path, tmp_path: Path) -> None:
    files = logs(sample_traces / name)
    folder = tmp_path / "broker-1"  # what it is called makes the lines no one's
    folder.mkdir()
    (folder / "server.log").write_text(by_time(files))
    apart, mixed = scan([str(path) for path in files]), scan([str(tmp_path)])
    assert mixed.case.sources["broker"].to_list() == [None]
    (notice,) = mixed.case.notices["reason"].to_list()
    assert "that do not name theirs are left out" in notice
    told = verdicts(apart)
    for place, verdict in verdicts(mixed).items():
        assert verdict in (told.get(place, "unknown"), "unknown"), place


def rows(*lines: tuple[int, int | None]) -> pl.DataFrame:
    """Observations at seconds, each with the broker that its line names."""
    return pl.DataFrame(
        [
            {"kind": Kind.TRUNCATE.value, "time": second * 1_000_000, "witness": witness, "line": number}
            for number, (second, witness) in enumerate(lines, start=1)
        ],
        schema={**OBSERVATIONS, "time": pl.Int64},
    ).with_columns(pl.col("time").cast(pl.Datetime("us")))


def witnesses(*lines: tuple[int, int | None]) -> list[int | None]:
    return attributed(rows(*lines))["witness"].to_list()


def test_between_two_joints_the_named_one_printed_all() -> None:
    assert witnesses((1, None), (5, 1), (9, None), (2, None), (3, 2), (4, None)) == [1, 1, 1, 2, 2, 2]


def test_where_two_are_named_only_lines_that_name_count() -> None:
    assert witnesses((1, 1), (2, None), (3, 2), (4, None), (5, 1)) == [1, None, 2, None, 1]


def test_one_after_the_other_without_a_joint_leaves_only_the_gap_open() -> None:
    first, second = [(second, 1) for second in range(5)], [(second, 2) for second in range(8, 13)]
    assert witnesses(*first, (5, None), (6, None), *second, (14, None)) == [*[1] * 5, None, None, *[2] * 6]
    # Too few to be sure that nothing is mixed.
    assert witnesses((1, 1), (2, None), (3, 1), (4, 2), (5, 2)) == [1, None, 1, 2, 2]


def test_a_part_that_names_nobody_is_nobodys() -> None:
    assert witnesses((1, 1), (9, None), (2, None), (6, None), (1, 2)) == [1, 1, None, None, 2]


def test_lines_out_of_order_by_little_are_no_joint() -> None:
    assert witnesses((5, 1), (4, None), (6, None), (1, 2)) == [1, 1, 1, 2]


def test_a_broken_clock_of_one_broker_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    line = "[2026-03-01 12:00:{:02},000] INFO {} (kafka.log.Log)\n"
    text = line.format(
        30, "[Partition orders-0 broker=1] Log loaded for partition orders-0 with initial high watermark 0"
    )
    path.write_text(text + line.format(1, "[Log partition=orders-0, dir=/d] Truncating to offset 5"))
    case = take_in([str(path)])
    assert case.sources["broker"].to_list() == [1]
    assert case.observations["broker"].to_list() == [1, 1]
