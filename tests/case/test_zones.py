"""Whose zone counts: the line's own, the user's, a collector's where it read along, else the assumed one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from forensics.case import Reading
from forensics.case.order import to_utc
from forensics.case.zones import settle
from forensics.engines.local import scan
from forensics.reports import text
from forensics.result import Result
from parsers import distances, read
from parsers.distances import Distances
from parsers.file_reading import FileReading
from tests.parsers.handing_over import HEAD, source

HOUR = timedelta(hours=1)
Taken = Callable[[datetime, str, int], str]
"""A line as a collector hands it on: from the true time, the line and its number in the file."""


def told(result: Result) -> tuple[object, ...]:
    verdicts = {
        (partition.history.name, rule): judgement.verdict.value
        for partition in result.partitions
        for rule, judgement in partition.judgements.items()
    }
    return verdicts, sorted(finding.fingerprint for finding in result.findings)


def printed(line: str, zone: timezone | ZoneInfo, moved: timedelta = timedelta()) -> tuple[datetime | None, str]:
    """A line as a broker in a zone prints it, with its true time; None where it begins no event."""
    found = HEAD.match(line)
    if found is None:
        return None, line
    time = datetime.strptime(f"{found[1]} {found[2]}.{found[3]} +0000", "%Y-%m-%d %H:%M:%S.%f %z") + moved
    local = time.astimezone(zone)
    return time, f"[{local:%Y-%m-%d %H:%M:%S},{local.microsecond // 1000:03}] {found[4]} {found[5]}"


def taken(
    sample: Path,
    into: Path,
    way: Callable[[str, str], tuple[timezone | ZoneInfo, Taken | None]],
    moved: timedelta = timedelta(),
) -> Path:
    """A copy of a sample whose brokers print in a zone and whose logs a collector took.

    Args:
        sample: the sample.
        into: folder of the copy.
        way: zone and collector (None: the log as it is) of a log by broker and name.
        moved: how much later it all happens.
    """
    copy = into / "case"
    shutil.copytree(sample, copy)
    for path in sorted(copy.glob("*/logs/*")):
        zone, collector = way(path.parent.parent.name, path.name)
        time = datetime(2026, 11, 21, tzinfo=UTC)
        lines = []
        for number, line in enumerate(path.read_text().splitlines()):
            now, line = printed(line, zone, moved)
            time = now or time
            lines.append(line if collector is None else collector(time, line, number))
        path.write_text("\n".join(lines) + "\n")
    return copy


def iso(time: datetime) -> str:
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")


def cri(time: datetime, line: str, _number: int) -> str:
    return f"{iso(time)} stdout F {line}"


def filebeat(late: Callable[[datetime, int], datetime]) -> Taken:
    return lambda time, line, number: json.dumps({"@timestamp": iso(late(time, number)), "message": line})


def zones(result: Result) -> set[str]:
    return set(result.case.sources.filter(pl.col("format") == "broker-log")["zone"].to_list())


EAST, WEST, INDIA = (timezone(timedelta(hours=hours)) for hours in (2, -7, 5.5))
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


BERLIN = ZoneInfo("Europe/Berlin")
PUT_BACK = datetime(2026, 10, 25, 0, 59, 45, tzinfo=UTC) - datetime(2026, 11, 21, 4, 6, 0, tzinfo=UTC)
"""From the time of kip101 to where clocks in Berlin are put back in its midst."""

along = filebeat(lambda time, number: time + timedelta(seconds=3 + number % 7))


@pytest.mark.parametrize(("zone", "collector"), [(EAST, cri), (WEST, along), (INDIA, cri), (UTC, along)])
def test_a_collector_that_reads_along_tells_the_zone(
    collector: Taken, zone: timezone, sample_traces: Path, tmp_path: Path
) -> None:
    sample = sample_traces / "unclean-3.9.1"
    plain, there = scan([str(sample)]), scan([str(taken(sample, tmp_path, lambda *_: (zone, collector)))])
    assert told(there) == told(plain)
    offset = (zone.utcoffset(None) or timedelta()) // timedelta(minutes=1)
    name = f"UTC{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}" if offset else "UTC"
    assert zones(there) == {name}
    assert there.case.sources["first_time"].to_list() == plain.case.sources["first_time"].to_list()
    assert there.case.notices.is_empty()
    assert (f"as {name}, as named there)" in " ".join(text.render(there).split())) == bool(offset)


LATE: dict[str, tuple[Callable[[datetime, int], datetime], str]] = {
    "one delay": (lambda time, _: time + 3 * HOUR + timedelta(minutes=7), "is no zone's offset: lines were read late"),
    "filled in at once": (lambda _, number: NOON + timedelta(milliseconds=number), "lines were read late"),
    "more and more": (lambda time, number: time + number * timedelta(seconds=7), "not one distance"),
    "days": (lambda time, _: time + 40 * HOUR, "-40:00:00 from the printed ones, which is no zone's offset"),
    "farther east than anybody": (lambda time, _: time - 15 * HOUR, "which is no zone's offset"),
}


@pytest.mark.parametrize("name", LATE)
def test_lines_that_were_taken_late_tell_no_zone(name: str, sample_traces: Path, tmp_path: Path) -> None:
    late, why = LATE[name]
    sample = sample_traces / "unclean-3.9.1"
    copy = str(taken(sample, tmp_path, lambda *_: (UTC, filebeat(late))))
    plain, there = scan([str(sample)]), scan([copy])
    assert told(there) == told(plain)
    assert zones(there) == {"UTC"}
    assert there.case.sources["first_time"].to_list() == plain.case.sources["first_time"].to_list()
    said = there.case.notices["reason"].to_list()
    assert any(why in one for one in said), said
    assert all("read as UTC; if that is wrong, give --tz" in one for one in said)


@pytest.mark.parametrize("given", ["Europe/Berlin", "UTC"])
def test_the_users_zone_stands_over_a_collectors(given: str, sample_traces: Path, tmp_path: Path) -> None:
    sample = sample_traces / "unclean-3.9.1"
    there = scan([str(taken(sample, tmp_path, lambda *_: (EAST, cri)))], reading=Reading(given))
    assert zones(there) == {given}
    first = there.case.sources["first_time"].min()
    wanted = datetime(2026, 11, 21, 6, 11, tzinfo=ZoneInfo(given)).astimezone(UTC)
    assert isinstance(first, datetime)
    assert abs(first - wanted) < timedelta(minutes=1)
    said = there.case.notices["reason"].unique().to_list()
    assert said == [f"a collector's times put the printed ones in UTC+02:00; read as {given}, as --tz says"]


def test_what_one_brokers_logs_tell_says_nothing_of_another(sample_traces: Path, tmp_path: Path) -> None:
    sample = sample_traces / "unclean-3.9.1"
    late = filebeat(lambda *_: NOON)
    copy = taken(sample, tmp_path, lambda broker, _: (EAST, cri) if broker == "broker-1" else (UTC, late))
    plain, there = scan([str(sample)]), scan([str(copy)])
    assert told(there) == told(plain)
    logs = there.case.sources.filter(pl.col("format") == "broker-log")
    assert set(logs.filter(pl.col("broker") == 1)["zone"]) == {"UTC+02:00"}
    assert set(logs.filter(pl.col("broker") != 1)["zone"]) == {"UTC"}


def test_one_log_of_a_broker_tells_for_its_others(sample_traces: Path, tmp_path: Path) -> None:
    sample = sample_traces / "unclean-3.9.1"
    copy = taken(sample, tmp_path, lambda _, name: (EAST, cri if name.startswith("server") else None))
    plain, there = scan([str(sample)]), scan([str(copy)])
    assert told(there) == told(plain)
    by_broker = there.case.sources.filter(pl.col("format") == "broker-log").group_by("broker").agg(pl.col("zone"))
    assert all(len(set(zones)) == 1 for zones in by_broker["zone"])
    assert {"UTC+02:00"} in [set(zones) for zones in by_broker["zone"]]


def naive(month: int, day: int, hour: int, minute: int = 0, second: int = 0) -> datetime:
    return datetime(2026, month, day, hour, minute, second, tzinfo=UTC).replace(tzinfo=None)


def measured(offset: timedelta, *, lines: int = 100, span: int = 3600, begin: int = 0) -> FileReading:
    """A log whose collector read along, from ``begin`` on, in seconds."""
    step = span / max(lines - 1, 1)
    true = [naive(10, 24, 22) + timedelta(seconds=begin + step * n) for n in range(lines)]
    shown = [time + offset for time in true]
    found = FileReading("broker-log", distances=distances.measured(pl.Series(shown), pl.Series(true)))
    found.first_time, found.last_time = (
        round(time.replace(tzinfo=UTC).timestamp() * 1e6) for time in (shown[0], shown[-1])
    )
    return found


def settled(*logs: FileReading) -> list[str | None]:
    settle([(source(b""), log) for log in logs], [1] * len(logs), [None] * len(logs), None)
    return [log.zone for log in logs]


def test_logs_of_a_broker_that_contradict_each_other_tell_nothing() -> None:
    one, two = measured(2 * HOUR, span=7200), measured(1 * HOUR, span=7200)
    assert settled(one, two) == [None, None]
    assert "another of its broker elsewhere" in one.notices["reason"][0]
    # also where one has too few lines to tell by itself
    assert settled(measured(2 * HOUR), measured(0 * HOUR, lines=5)) == [None, None]
    # clocks are put by an hour between two files, not by more
    assert settled(measured(2 * HOUR), measured(HOUR, begin=2 * 3600 + 3600)) == ["UTC+02:00", "UTC+01:00"]
    assert settled(measured(3 * HOUR), measured(HOUR, begin=5 * 3600)) == [None, None]


@pytest.mark.parametrize(("lines", "span"), [(19, 3600), (100, 20)])
def test_few_lines_or_a_short_while_tell_no_zone(lines: int, span: int) -> None:
    log = measured(2 * HOUR, lines=lines, span=span)
    assert settled(log) == [None]
    assert "too few to show a zone" in log.notices["reason"][0]


def test_zones_of_a_quarter_and_the_farthest_there_are() -> None:
    for offset in (5.75, -12, 14, -3.5, 12.75):
        assert settled(measured(offset * HOUR))[0] is not None, offset
    for offset in (-12.25, 14.25, 40, 2.1):
        assert settled(measured(offset * HOUR)) == [None], offset


def test_parts_of_a_file_tell_what_the_whole_tells() -> None:
    parts: list[Distances] = []
    true = [naive(1, 1, 0) + timedelta(seconds=n * 7) for n in range(1000)]
    shown = [time + 2 * HOUR - timedelta(seconds=n % 40) for n, time in enumerate(true)]
    for at in range(0, 1000, 130):
        parts.append(distances.measured(pl.Series(shown[at : at + 130]), pl.Series(true[at : at + 130])))
    assert distances.together(parts) == distances.measured(pl.Series(shown), pl.Series(true))
    assert distances.together([]) == []


# -- clocks that are put -----------------------------------------------------------------------------------------------


def test_order_is_kept_while_clocks_are_put_back(sample_traces: Path, tmp_path: Path) -> None:
    """The loss of kip101 at 02:59 summer time and 02:00 after it: each line gets its own time."""
    sample = sample_traces / "kip101-0.10.2.2"
    plain = scan([str(sample)])
    copy = taken(sample, tmp_path, lambda *_: (BERLIN, None), PUT_BACK)
    there = scan([str(copy)], reading=Reading("Europe/Berlin"))
    assert told(there) == told(plain)
    wanted = plain.case.observations.filter(pl.col("line").is_not_null())["time"] + PUT_BACK
    assert there.case.observations.filter(pl.col("line").is_not_null())["time"].to_list() == wanted.to_list()
    (said,) = there.case.notices["reason"].unique().to_list()
    assert said.startswith("Europe/Berlin had 02:00 to 03:00 on 2026-10-25 twice")


def test_a_small_step_back_in_that_hour_is_no_change() -> None:
    times = [naive(10, 25, 2, 30), naive(10, 25, 2, 29, 59), naive(10, 25, 2, 31)]
    found = to_utc(pl.DataFrame({"time": times}), "Europe/Berlin")["time"].to_list()
    assert [time.hour for time in found] == [0, 0, 0]
    times[1] = naive(10, 25, 2, 10)
    assert [time.hour for time in to_utc(pl.DataFrame({"time": times}), "Europe/Berlin")["time"]] == [0, 1, 1]


def test_a_log_far_from_that_hour_says_nothing() -> None:
    log = read.read(source(b"[2026-10-26 02:30:00,000] INFO x (a.B)\n"))
    settle([(source(b""), log)], [1], [None], "Europe/Berlin")
    assert log.notices.is_empty()
