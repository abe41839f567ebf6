"""Only what was printed within a span of time: answers may become unknown, never wrong."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.accuracy import answer
from forensics.case import Reading
from forensics.cli import cli
from forensics.engines.local import scan
from parsers.schema import Kind


def micros(time: datetime) -> int:
    return round(time.timestamp() * 1e6)


@pytest.mark.parametrize("share", [0.3, 0.6])
@pytest.mark.parametrize("side", ["since", "until"])
@pytest.mark.parametrize("name", ["kip101-0.10.2.2", "unclean-3.9.1", "traps-0.10.2.2", "zombie-1.1.1", "flap-3.9.1"])
def test_a_span_leaves_answers_open_and_makes_none_wrong(
    name: str, side: str, share: float, sample_traces: Path
) -> None:
    whole = scan([str(sample_traces / name)])
    first, last = whole.case.sources["first_time"].min(), whole.case.sources["last_time"].max()
    assert isinstance(first, datetime)
    assert isinstance(last, datetime)
    cut = micros(first + (last - first) * share)
    part = scan([str(sample_traces / name)], reading=Reading(**{side: cut}))  # type: ignore[arg-type]
    lost = [reason for reason in part.case.notices["reason"].to_list() if "outside of the time span" in reason]
    assert lost
    given = answer(sample_traces / name, part)
    assert [wrong for wrong in given.wrong if "unknown" not in wrong] == []
    assert given.alarms == []
    assert part.case.brokers.keys() == whole.case.brokers.keys()
    assert {b.id: b.version for b in part.case.brokers.values()} == {
        b.id: b.version for b in whole.case.brokers.values()
    }


def test_lines_count_by_their_own_time_files_always(sample_traces: Path) -> None:
    trace = str(sample_traces / "kip101-0.10.2.2")
    begin, end = datetime(2026, 11, 21, 4, 6, 5, tzinfo=UTC), datetime(2026, 11, 21, 4, 6, 20, tzinfo=UTC)
    case = scan([trace], reading=Reading(since=micros(begin), until=micros(end))).case
    lasting = [kind.value for kind in (Kind.BROKER_VERSION, Kind.BROKER_CONFIG, Kind.BROKER_CLUSTER)]
    for kind, time in case.observations.select("kind", "time").iter_rows():
        assert time is None or kind in lasting or begin <= time <= end
    assert case.batches.equals(scan([trace]).case.batches)
    shifted = scan([trace], reading=Reading(skew={1: 60_000_000}, since=micros(begin), until=micros(end))).case
    of_one = shifted.observations.filter(shifted.observations["broker"] == 1)["time"].drop_nulls()
    assert of_one.min() is None or of_one.min() >= begin - timedelta(minutes=2)


def test_the_options_take_times_with_and_without_zone(sample_traces: Path) -> None:
    trace = str(sample_traces / "kip101-0.10.2.2")

    def run(*options: str) -> str:
        result = CliRunner().invoke(cli, ["scan", trace, *options])
        assert result.exit_code in (0, 1), result.output
        return re.sub(r"\(timestamps without.*?\)", "", result.output, flags=re.DOTALL)

    zoned = run("--from", "2026-11-21T04:06:00Z", "--to", "2026-11-21T05:06:30+01:00")
    assert "outside of the time span" in zoned
    assert run("--from", "2026-11-21 04:06:00", "--to", "2026-11-21 04:06:30") == zoned
    assert "outside of the time span" not in run("--from", "2026-11-21")
    bad = CliRunner().invoke(cli, ["scan", trace, "--from", "yesterday"])
    assert bad.exit_code == 2
    assert "is no time" in bad.output
