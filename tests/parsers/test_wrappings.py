from __future__ import annotations

import functools
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import parsers.text.lines
from parsers import read
from parsers.containers import expand
from parsers.file_reading import FileReading
from parsers.text import frames
from parsers.text.unwrapping import added
from tests.conftest import alike
from tests.parsers.handing_over import COMPRESSIONS, CONTAINERS, LAYOUTS, WRAPPINGS, source

LOGS = (
    "kip101-0.10.2.2/broker-1/logs/server.log",
    "kip101-0.10.2.2/broker-1/logs/state-change.log",
    "unclean-3.9.1/broker-1/logs/server.log",
)
LINE = "[2024-03-01 10:22:41,107] INFO [Partition foo-0 broker=1] Shrinking ISR from 1,2 to 1 (kafka.cluster.Partition)"


@pytest.fixture(params=LOGS)
def log(request: pytest.FixtureRequest, sample_traces: Path) -> list[str]:
    """Lines of a real log."""
    return (sample_traces / request.param).read_text(encoding="utf-8").splitlines()


def said(data: str | bytes) -> FileReading:
    return read.read(source(data.encode() if isinstance(data, str) else data))


undressed = functools.cache(said)


def statements(reading: FileReading) -> list[tuple[object, ...]]:
    """All that the lines state; where they stand differs between layouts."""
    return reading.observations.drop("line").rows()


@pytest.mark.parametrize("name", alike([*WRAPPINGS, *LAYOUTS]))
def test_a_log_says_the_same_in_any_dress(name: str, log: list[str]) -> None:
    plain = undressed("\n".join(log))
    dressed = said({**WRAPPINGS, **LAYOUTS}[name](log) + "\n")
    assert statements(dressed) == statements(plain)
    assert plain.understood > 0
    assert (dressed.relevant, dressed.understood) == (plain.relevant, plain.understood)
    assert (dressed.first_time, dressed.last_time) == (plain.first_time, plain.last_time)
    assert dressed.notices.is_empty()


@pytest.mark.parametrize(("container", "name"), [*zip([*COMPRESSIONS, *CONTAINERS], WRAPPINGS, strict=False)])
def test_a_container_holds_a_dress(name: str, container: str, sample_traces: Path) -> None:
    lines = (sample_traces / LOGS[1]).read_text(encoding="utf-8").splitlines()
    dressed = WRAPPINGS[name](lines).encode()
    compress = COMPRESSIONS.get(container)
    data = compress(dressed) if compress else CONTAINERS[container]({"state-change.log": dressed})
    (found,) = [s for s in expand(source(data, "x")) if not s.container]
    reading = read.read(found)
    assert statements(reading) == statements(undressed("\n".join(lines)))
    assert reading.notices.is_empty()


@pytest.mark.parametrize("container", [*COMPRESSIONS, *CONTAINERS])
def test_every_container_gives_every_dress_as_it_is(container: str, sample_traces: Path) -> None:
    """What is read of it depends on its bytes alone, so that it says the same is shown above."""
    lines = (sample_traces / LOGS[1]).read_text(encoding="utf-8").splitlines()
    for name, dress in {**WRAPPINGS, **LAYOUTS}.items():
        data = dress(lines).encode()
        compress = COMPRESSIONS.get(container)
        packed = compress(data) if compress else CONTAINERS[container]({"state-change.log": data})
        (found,) = [s for s in expand(source(packed, "x")) if not s.container]
        with found.open() as stream:
            assert stream.read() == data, name
        if not compress:
            assert found.name == "state-change.log"


def test_lines_keep_their_numbers(sample_traces: Path) -> None:
    lines = (sample_traces / LOGS[0]).read_text(encoding="utf-8").splitlines()
    plain = said("\n".join(lines)).observations
    for name in ("cri", "docker", "filebeat", "compose"):
        assert said(WRAPPINGS[name](lines)).observations.equals(plain), name
    # one object an event: a setting from a dump of many lines stands where its object does
    events = said(LAYOUTS["JSON template"](lines)).observations
    starts = [number for number, line in enumerate(lines, start=1) if line.startswith("[20")]
    wanted = [sum(start <= number for start in starts) for number in plain.get_column("line").to_list()]
    assert events.get_column("line").to_list() == wanted


@pytest.mark.parametrize(
    ("line", "micros"),
    [
        ("[2024-03-01 10:22:41,107+0200] INFO x (a.B)", 1709281361107000),
        ("[2024-03-01 10:22:41,107 +02:00] INFO x (a.B)", 1709281361107000),
        ("2024-03-01T10:22:41.107Z INFO x (a.B)", 1709288561107000),
        ("2024/03/01 10:22:41 UTC INFO x (a.B)", 1709288561000000),
        ("2024-03-01T10:22:41.107482915-03:30 INFO x (a.B)", 1709301161107482),
        ("1709288561107 INFO x (a.B)", 1709288561107000),
        ("[1709288561] INFO x (a.B)", 1709288561000000),
        ("1709288561.107654 INFO x (a.B)", 1709288561107654),
        ("[01/Mar/2024:10:22:41.107 +0000] INFO x (a.B)", 1709288561107000),
        ("[01/Mar/2024:11:22:41 +0100] INFO x (a.B)", 1709288561000000),
        ("[01 Mar 2024 10:22:41,107 UTC] INFO x (a.B)", 1709288561107000),
        ("[2024-03-01 10:22:41,107 Z] INFO x (a.B)", 1709288561107000),
        ("[2024-03-01T11:22:41,107+01] INFO x (a.B)", 1709288561107000),
        ("[2024-03-01 11:22:41,107 CET] INFO x (a.B)", 1709288561107000),
        ("[2024-03-01 05:22:41,107 EST] INFO x (a.B)", 1709288561107000),
        ("[2024-03-01 12:22:41,107 GMT+02:00] INFO x (a.B)", 1709288561107000),
        ("[20240301T102241.107Z] INFO x (a.B)", 1709288561107000),
        ("01.03.2024 11:22:41,107 +0100 INFO x (a.B)", 1709288561107000),
        (json.dumps({"timeMillis": 1709288561107, "level": "INFO", "message": "x"}), 1709288561107000),
        (json.dumps({"ts": 1709288561.107, "level": "info", "msg": "x", "logger": "a.B"}), 1709288561107000),
        (
            json.dumps(
                {"instant": {"epochSecond": 1709288561, "nanoOfSecond": 107000000}, "level": "INFO", "message": "x"}
            ),
            1709288561107000,
        ),
    ],
)
def test_a_time_with_a_zone_is_given_in_utc(line: str, micros: int) -> None:
    reading = said(line + "\n")
    assert (reading.format, reading.first_time, reading.zone) == ("broker-log", micros, "UTC")


def test_dates_that_may_begin_with_the_month_or_the_day() -> None:
    for line, day, told in (
        ("11/21/2026 04:05:49,991 INFO x (a.B)", 21, False),
        ("[21/11/2026 04:05:49] INFO x (a.B)", 21, False),
        ("[11/12/2026 04:05:49.1] INFO x (a.B)", 12, True),
        ("11/12/2026 04:05:49.1 INFO x (a.B)\n12/13/2026 04:05:49.1 INFO x (a.B)", 12, False),
        ("10/11/2026 04:05:49 INFO x (a.B)\n13/11/2026 04:05:49 INFO x (a.B)", 10, False),
        ("11/21/2026 11:59:59.5 PM INFO x (a.B)\n11/22/2026 12:00:00 AM INFO x (a.B)", 21, False),
        (json.dumps({"timestamp": "21/11/2026 04:05:49", "level": "INFO", "message": "x", "logger": "a.B"}), 21, False),
    ):
        reading = said(line + "\n")
        assert reading.first_time is not None
        assert datetime.fromtimestamp(reading.first_time / 1e6, UTC).day == day, line
        assert [("month first" in reason) for reason in reading.notices.get_column("reason")] == [True] * told, line


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("24/03/11 10:23:41 INFO x (a.B)", "year, month, day"),
        ("[24/03/11 10:23:41,882] INFO x (a.B)", "year, month, day"),
        ("[24/03/11 19:23:41:882 KST] INFO x (a.B)", "year, month, day"),
        ("03/11/24 10:23:41.5 INFO x (a.B)", "month, day, year"),
    ],
)
def test_a_year_of_two_digits(line: str, first: str) -> None:
    reading = said(line + "\n")
    assert reading.first_time is not None
    time = datetime.fromtimestamp(reading.first_time / 1e6, UTC)
    assert f"{time:%Y-%m-%d %H:%M:%S}" == "2024-03-11 10:23:41"
    assert any(first in reason for reason in reading.notices.get_column("reason"))


def test_numbers_that_are_no_date_of_two_digits() -> None:
    assert said("99/99/99 10:23:41 INFO x (a.B)\n").first_time is None
    assert said("05/06/07 10:23:41 INFO x (a.B)\n").format == "unknown"  # no part can be a year of Kafka


def test_hours_of_half_a_day() -> None:
    lines = [
        f"11/21/2026 {clock} INFO x (a.B)" for clock in ("12:00:01 AM", "09:00:00 am", "12:00:00 PM", "11:59:59 pm")
    ]
    for begin, end, hours in ((0, 2, (0, 9)), (2, 4, (12, 23))):
        reading = said("\n".join(lines[begin:end]) + "\n")
        times = (reading.first_time, reading.last_time)
        assert tuple(datetime.fromtimestamp((time or 0) / 1e6, UTC).hour for time in times) == hours


def test_labels_of_tai64n_are_times_in_utc() -> None:
    # taia_now: seconds since 1970 by the system's clock, plus 2^62 and 10
    text = pl.Series("text", ["@4000000037c219bf2ef02e94", "@4000000037c219bf", "@g000000037c219bf2ef02e94"]).to_frame()
    found = text.select(added(pl.col("text"))).to_series().to_list()
    assert [str(time) for time in found] == ["1999-08-24 04:04:05.787492", "None", "None"]


@pytest.mark.parametrize(
    "line",
    [
        "[2024-03-01 10:22:41,107] INFO x (a.B)",
        "2024-03-01 10:22:41.107 INFO x (a.B)",
        "01 Mar 2024 10:22:41,107 INFO x (a.B)",
        "[01 Mar 2024 10:22:41.107] INFO x (a.B)",
        "[01/Mar/2024:10:22:41.107] INFO x (a.B)",
        "[2024-03-01T10:22:41,107] INFO x (a.B)",
        "[2024/03/01 10:22:41.107] INFO x (a.B)",
        "[2024-03-01 10:22:41:107] INFO x (a.B)",
        "[20240301T102241,107] INFO x (a.B)",
        "20240301102241107 INFO x (a.B)",
        "[20240301 10:22:41.107] INFO x (a.B)",
        "01.03.2024 10:22:41,107 INFO x (a.B)",
        "[2024-03-01 10:22:41,107]  INFO x (a.B)",
        '{"timestamp": "01 Mar 2024 10:22:41,107", "level": "INFO", "message": "x"}',
        "2024-03-01T08:22:41.310000001Z stdout F [2024-03-01 10:22:41,107] INFO x (a.B)",
        "Mar  1 10:22:41 host kafka[1]: [2024-03-01 10:22:41,107] INFO x (a.B)",
    ],
)
def test_a_time_without_a_zone_is_given_as_printed(line: str) -> None:
    reading = said(line + "\n")
    assert (reading.first_time, reading.zone) == (1709288561107000, None)


def test_a_zone_name_that_means_several_is_said() -> None:
    reading = said("[2024-03-01 10:22:41,107 CST] INFO x (a.B)\n")
    assert (reading.first_time, reading.zone) == (1709288561107000, None)
    assert "mean more than one zone" in reading.notices["reason"][0]


@pytest.mark.parametrize("wrap", ["{}", "2024-03-01T10:22:41.107Z stdout F {}", "kafka-1  | {}"])
def test_a_time_without_a_date_is_not_read_and_said(wrap: str) -> None:
    text = "10:22:41,107 [main] INFO  kafka.log.Log - Truncating log orders-0 to offset 5."
    reading = said("".join(wrap.format(text) + "\n" for _ in range(5)))
    assert reading.format == "unknown"
    assert "time of day and no date" in reading.notices["reason"][0]


def test_numbered_lines_of_one_file_are_read() -> None:
    text = "".join(f"{number}{':' if number % 2 else '-'}{LINE}\n" for number in range(7, 20))
    assert said(text).understood == 13


def test_blank_lines_between_prefixed_lines_do_not_hide_the_prefix() -> None:
    """As a page doubles the line ends of an output."""
    reading = said("what kafka-1 prints\n" + "\n\n".join(f"kafka-1  | {LINE}" for _ in range(3)) + "\n\n")
    assert reading.observations.get_column("kind").to_list() == ["isr_shrink"] * 3


def test_messages_that_begin_with_a_bracket_are_no_threads(sample_traces: Path) -> None:
    reading = said((sample_traces / "unclean-3.9.1/broker-1/logs/state-change.log").read_bytes())
    assert (reading.frame, reading.understood) == ("log4j", reading.relevant)


KRAFT_CONTROLLER = """\
[2026-11-23 00:39:09,207] INFO [Controller 100] Creating new QuorumController with clusterId W9PXUJj1QcynXOpZl18sZA, \
authorizer Optional.empty. (org.apache.kafka.controller.QuorumController)
[2026-11-23 00:39:32,371] INFO [Controller 100] Fencing broker 1 because its session has timed out. \
(org.apache.kafka.controller.ReplicationControlManager)
[2026-11-23 00:39:32,375] INFO [Controller 100] handleBrokerFenced: changing 1 partition(s) \
(org.apache.kafka.controller.ReplicationControlManager)
[2026-11-23 00:39:41,371] INFO [Controller 100] Re-registered broker id 1: RegisterBrokerRecord(brokerId=1, \
isMigratingZkBroker=false, incarnationId=qm-LNnsORn6vHmogAJNorA, brokerEpoch=76, endPoints=[]) \
(org.apache.kafka.controller.ClusterControlManager)
"""
"""``controller.log`` of a controller of 3.4.1 that is no broker: all its messages begin with one prefix."""


@pytest.mark.parametrize(("date", "frame"), [("", "log4j"), (".", "bare")])
def test_the_prefix_of_a_kraft_controller_is_no_thread(date: str, frame: str) -> None:
    text = KRAFT_CONTROLLER if not date else re.sub(r"(:[0-9]{2}),([0-9]{3}\])", r"\1.\2", KRAFT_CONTROLLER)
    reading = said(text)
    assert reading.frame == frame
    assert (reading.understood, reading.notices.height) == (4, 0)


def test_the_prefix_of_kafka_apis_is_no_thread() -> None:
    reading = said(
        "[2024-03-01 10:22:41,107] ERROR [KafkaApi-1] Error processing ProducerRequest with correlation id 2 from "
        "client c on partition [foo,0] (kafka.server.KafkaApis)\n"
    )
    assert (reading.frame, reading.understood) == ("log4j", 1)


@pytest.mark.parametrize("thread", ["main", "controller-event-thread", "SIGTERM handler", "pool 1 thread 2", "12", ""])
def test_the_thread_after_the_level_is_taken_off(thread: str) -> None:
    reading = said(KRAFT_CONTROLLER.replace("[Controller 100]", f"[{thread}] [Controller 100]"))
    assert (reading.understood, reading.notices.height) == (4, 0)


def test_the_zone_of_each_file_is_its_own(tmp_path: Path) -> None:
    from forensics.case import Reading
    from forensics.engines import local

    (tmp_path / "a.log").write_text(LINE + "\n")
    (tmp_path / "b.log").write_text(LINE.replace(",107]", ",107+0000]") + "\n")
    case = local.take_in([str(tmp_path)], reading=Reading("Europe/Berlin"))
    assert case.sources.get_column("zone").to_list() == ["Europe/Berlin", "UTC"]
    assert [time.hour for time in case.observations.sort("source").get_column("time")] == [9, 10]


@pytest.mark.parametrize("name", ["cri, cut lines", "docker, cut lines", "journal, indented"])
@pytest.mark.parametrize("size", [1000, 5000])
def test_pieces_are_joined_across_blocks(
    name: str, size: int, sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (sample_traces / LOGS[1]).read_text(encoding="utf-8").splitlines()
    wanted = statements(said("\n".join(lines)))
    small = functools.partial(parsers.text.lines.blocks, block_bytes=size)
    monkeypatch.setattr("parsers.takers.log_files.lines.blocks", small)
    assert statements(said(WRAPPINGS[name](lines))) == wanted


def test_the_narrower_layout_wins() -> None:
    stock = frames.choose(pl.Series([LINE]))
    assert stock is frames.STOCK
    # a stack trace and a cut message do not hide the layout
    lines = [
        "java.io.IOException: gone",
        "\tat kafka.log.Log.append(Log.scala:1)",
        LINE,
        "[2024-03-01 10:22:41,108] INFO x",
    ]
    assert frames.choose(pl.Series(lines)) is frames.STOCK


def test_what_is_no_log_is_not_taken_for_one() -> None:
    for text in ("just some words\n", "{}\n[]\n", '{"a": 1}\n' * 9, "a | b\nc | d\n", "2024-03-01 rain\n"):
        assert said(text).format == "unknown", text


@given(st.lists(st.sampled_from([*WRAPPINGS]), max_size=2), st.text(max_size=300), st.integers(0, 5))
def test_no_text_crashes_the_reader(names: list[str], noise: str, place: int) -> None:
    lines = [LINE] * 4
    lines[place % 4 : place % 4] = noise.splitlines()
    text = "\n".join(lines)
    for name in names:
        text = WRAPPINGS[name](text.splitlines())
    reading = said(text.encode("utf-8", "replace") + noise.encode("utf-8", "replace"))
    assert reading.format
    if not names and reading.format == "broker-log":
        assert reading.understood >= 1
