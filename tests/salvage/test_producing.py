"""Salvaged records as lines and back, and what is sent of them: each record once, in order, and no other topic's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kafka
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from forensics.cli.produce import produce as command
from forensics.errors import UnreadableInput, UnusableOutput
from forensics.salvage import producing
from forensics.salvage.producing import NotProduced, NullHeaders, Report, produce
from forensics.salvage.records import Kept, Origin, line, read
from forensics.salvage.transactions import State
from parsers.formats.records import Record

DATA = st.none() | st.binary(max_size=20) | st.text(max_size=10).map(str.encode)
RECORD = st.builds(
    Record,
    offset=st.integers(0, 2**63 - 1),
    timestamp=st.integers(-1, 2**62),
    key=DATA,
    value=DATA,
    headers=st.lists(st.tuples(st.text(max_size=5), DATA), max_size=3).map(tuple),
)
STATE = st.none() | st.sampled_from(State)


def origin(state: State | None = None) -> Origin:
    return Origin("orders", 0, 3, 0, state, (1,), "broker-1/data/orders-0/0.log", 1840, "ab")


@given(record=RECORD, state=STATE)
def test_a_line_gives_the_record_back(record: Record, state: State | None) -> None:
    text = line(record, origin(state))
    assert text.count("\n") == 1
    (kept,) = read([text], "r.jsonl")
    assert kept == Kept(record, state, "r.jsonl:1")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "not",
        '{"offset": "x"}',
        "[" * 100_000,
        line(Record(1, 2, b"a", b"b"), origin()).replace('"a"', '{"base64": "!"}'),
        line(Record(1, 2, b"a", b"b"), origin()).replace('"offset": 1', '"offset": 1e400'),
        line(Record(1, 2, b"a", b"b"), origin()).replace('"timestamp": 2', '"timestamp": Infinity'),
        line(Record(1, 2, b"a", b"b"), origin()).replace('"offset": 1', f'"offset": {1 << 63}'),
    ],
)
def test_a_line_that_is_no_record_is_named(text: str) -> None:
    good = line(Record(1, 2, b"a", b"b"), origin())
    if not text:
        assert len([*read([good, text], "r.jsonl")]) == 1
        return
    with pytest.raises(UnreadableInput, match=r"r\.jsonl:2: is no record"):
        list(read([good, text], "r.jsonl"))


class Topic:
    """A partition that stops to acknowledge after some records.

    Attributes:
        holds: its records.
        stops: how many it takes.
    """

    def __init__(self, stops: int = 10**9) -> None:
        self.holds: list[Record] = []
        self.stops = stops

    def content(self) -> Iterator[tuple[int, Record]]:
        yield from enumerate(self.holds)

    def send(self, record: Record) -> Callable[[], int]:
        taken = len(self.holds) < self.stops
        if taken:
            self.holds.append(record)
        offset = len(self.holds) - 1

        def wait() -> int:
            if not taken:
                raise NotProduced("the broker is gone")
            return offset

        return wait


def some(count: int, state: State | None = None) -> list[Kept]:
    return [Kept(Record(50 + n, 1000 + n, None, b"v%d" % n), state, f"r.jsonl:{n}") for n in range(count)]


@pytest.mark.parametrize("stops", [0, 1, 29, 30])
def test_an_interrupted_run_is_continued_without_a_second_copy(stops: int) -> None:
    kept, topic, report = some(30), Topic(stops), Report()
    if stops < 30:
        with pytest.raises(NotProduced):
            produce(kept, topic, report)
    else:
        produce(kept, topic, report)
    assert [one.offset for one in report.acknowledged] == [50 + n for n in range(stops)]
    topic.stops, again = 10**9, Report()
    produce(kept, topic, again)
    assert topic.holds == [one.record for one in kept]
    assert [one.before for one in again.acknowledged] == [n < stops for n in range(30)]
    assert [(one.offset, one.there) for one in again.acknowledged] == [(50 + n, n) for n in range(30)]


def test_a_topic_with_other_records_is_refused() -> None:
    topic = Topic()
    topic.holds = [Record(0, 1000, None, b"v0"), Record(1, 1001, None, b"other")]
    with pytest.raises(UnusableOutput, match=r"another record than r\.jsonl:1 at offset 1"):
        produce(some(3), topic, Report())
    topic.holds = [one.record for one in some(4)]
    with pytest.raises(UnusableOutput, match="more records than these at offset 3"):
        produce(some(3), topic, Report())
    assert len(topic.holds) == 4


@pytest.mark.parametrize("field", ["key", "value", "timestamp", "headers"])
def test_a_record_that_differs_in_one_thing_is_another(field: str) -> None:
    other: dict[str, Any] = {"key": b"k", "value": b"x", "timestamp": 7, "headers": (("h", b""),)}
    topic = Topic()
    topic.holds = [some(1)[0].record._replace(**{field: other[field]})]
    with pytest.raises(UnusableOutput):
        produce(some(1), topic, Report())


def test_what_no_consumer_was_to_see_is_not_sent_unless_asked_for() -> None:
    kept = [*some(2), *some(3, State.ABORTED), *some(4, State.OPEN), *some(1, State.COMMITTED)]
    report, topic = Report(), Topic()
    produce(kept, topic, report)
    assert len(topic.holds) == 3
    assert report.left_out == {State.ABORTED: 3, State.OPEN: 4}
    every = Topic()
    produce(kept, every, Report(), uncommitted=True)
    assert len(every.holds) == 10


def with_null_header() -> list[Kept]:
    return [
        Kept(Record(0, 1, None, None), None, "r.jsonl:1"),
        Kept(Record(1, 1, b"k", None, (("g", b"x"), ("h", None))), None, "r.jsonl:2"),
        Kept(Record(2, -1, b"k", None), None, "r.jsonl:3"),
    ]


def test_a_header_without_a_value_is_not_sent_unless_it_is_said_how() -> None:
    """The record with neither key nor value is sent."""
    kept, topic = with_null_header(), Topic()
    with pytest.raises(NotProduced, match=r"^r\.jsonl:2: a header has no value"):
        produce(kept, topic, Report())
    assert topic.holds == []
    produce(kept, topic, skipping := Report(), null_headers=NullHeaders.SKIP)
    assert (skipping.skipped, skipping.emptied) == (["r.jsonl:2"], 0)
    assert [one.offset for one in topic.holds] == [0, 2]
    assert skipping.undated == 1
    # A record without a timestamp gets one there, and is the same nevertheless.
    topic.holds[1] = topic.holds[1]._replace(timestamp=99)
    produce(kept, topic, again := Report(), null_headers=NullHeaders.SKIP)
    assert [one.before for one in again.acknowledged] == [True, True]


def test_a_header_without_a_value_is_sent_with_an_empty_one_if_that_is_asked_for() -> None:
    kept, topic = with_null_header(), Topic()
    for before in (False, True):
        produce(kept, topic, report := Report(), null_headers=NullHeaders.EMPTY)
        assert (report.skipped, report.emptied) == ([], 1)
        assert [one.before for one in report.acknowledged] == [before] * 3
    assert topic.holds[1].headers == (("g", b"x"), ("h", b""))


def test_a_header_without_a_value_is_refused_before_a_broker_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = Topic()
    monkeypatch.setattr(producing, "KafkaTarget", lambda *_, **__: topic)
    monkeypatch.setattr(Topic, "close", lambda self: None, raising=False)
    file = tmp_path / "records.jsonl"
    file.write_text("".join(line(one.record, origin()) for one in with_null_header()), "utf-8")
    asked = [str(file), "--bootstrap-server", "localhost:1", "--topic", "back"]
    ran = CliRunner().invoke(command, asked)
    assert isinstance(ran.exception, NotProduced)
    assert f"{file}:2: a header has no value" in str(ran.exception)
    assert "it is so in 1 of 3 records." in str(ran.exception)
    assert topic.holds == []
    ran = CliRunner().invoke(command, [*asked, "--null-headers", "skip"])
    assert ran.exit_code == 1
    assert f"1 records not sent: a header has no value (--null-headers empty sends them)\n  {file}:2\n" in ran.output


def test_the_client_takes_a_record_with_neither_key_nor_value() -> None:
    """It asks the serializer after it looked for a value: that is what it does with the record that it is given."""
    serializer = producing._value_of_record()
    assert isinstance(serializer, kafka.serializer.Serializer)
    assert serializer.serialize("back", [], Record(0, 1, None, None)) is None
    assert serializer.serialize("back", [], Record(0, 1, None, b"x")) == b"x"


def test_a_line_is_json_without_control_characters() -> None:
    text = line(Record(0, 1, "a\x1b[2J\u202e".encode(), b"\n"), origin())
    assert json.loads(text)["key"] == "a\x1b[2J\u202e"
    assert text[:-1].isprintable()


def test_a_file_that_is_no_record_is_refused_before_a_broker_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: object, **__: object) -> None:
        raise AssertionError("a topic would be made")

    monkeypatch.setattr(producing, "KafkaTarget", asked)
    good = line(Record(1, 2, b"a", b"b"), origin())
    file = tmp_path / "records.jsonl"
    file.write_text(f"{good}{{}}\n", "utf-8")
    ran = CliRunner().invoke(command, [str(file), "--bootstrap-server", "localhost:1", "--topic", "back"])
    assert ran.exit_code != 0
    assert f"{file}:2: is no record" in f"{ran.output}{ran.exception}"
    file.write_text(good, "utf-8")
    ran = CliRunner().invoke(command, [str(file), "--bootstrap-server", "localhost:1", "--topic", "back"])
    assert isinstance(ran.exception, AssertionError)  # the test sees a broker that is asked
