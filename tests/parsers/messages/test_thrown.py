"""What exceptions say: in lines that go on from an event, with the time of that event; and in no other lines."""

from __future__ import annotations

from datetime import datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.messages import MESSAGES
from parsers.messages.catalogue import Example, Message
from parsers.schema import NOTICES, empty
from parsers.text.extract import Extract, extract, extracts
from parsers.text.frames import STOCK
from parsers.text.lines import Block

THROWN = [
    (message, example)
    for message in MESSAGES
    if message.thrown
    for variant in message.variants
    for example in variant.examples
]
EVENT = (
    "[2026-11-21 05:31:28,430] ERROR [ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Unexpected error occurred "
    "while processing data for partition orders-0 at offset 40 (kafka.server.ReplicaFetcherThread)"
)
LATER = "[2026-11-21 05:31:29,430] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)"
WAYS = ("{}: {}", "Caused by: {}: {}", "  {}: {}", "\tSuppressed: {}: {}")
AT = datetime.fromisoformat("2026-11-21T05:31:28.430")
CLASS = "org.apache.kafka.common.errors.OffsetOutOfRangeException"
STACK = "\tat kafka.log.Log.append(Log.scala:842)"


def block(*lines: str) -> Block:
    return Block(pl.Series(lines), 1, empty(NOTICES))


def stated(found: Extract, message: Message) -> list[dict[str, object]]:
    rows = found.observations.filter(pl.col("message") == message.id)
    return [{name: value for name, value in row.items() if value is not None} for row in rows.iter_rows(named=True)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("message", "example"), THROWN, ids=lambda value: getattr(value, "id", None))
def test_an_exception_is_read_with_the_time_of_its_event(message: Message, example: Example, way: str) -> None:
    found = extract(block(EVENT, STACK, way.format(CLASS, example.text), STACK, LATER), STOCK)
    assert found.notices.is_empty()
    place = {"message": message.id, "time": AT, "line": 3}
    assert stated(found, message) == [{"kind": message.kind, **values, **place} for values in example.values]
    assert found.events == 2
    assert found.relevant == found.understood == 3


@pytest.mark.parametrize(("message", "example"), THROWN, ids=lambda value: getattr(value, "id", None))
def test_the_same_words_elsewhere_are_no_exception(message: Message, example: Example) -> None:
    """A line that does not name a class may be anything, such as a record that was printed."""
    for line in (example.text, f"value: {example.text}", f"see {CLASS}: {example.text}", f"\tat a.B: {example.text}"):
        found = extract(block(EVENT, line, LATER), STOCK)
        assert stated(found, message) == [], line
        assert found.notices.is_empty()
        assert found.relevant == 2


def test_an_exception_whose_event_is_not_at_hand_has_no_time() -> None:
    message, example = THROWN[0]
    found = extract(block(f"{CLASS}: {example.text}", LATER), STOCK)
    (row,) = stated(found, message)
    assert "time" not in row
    assert row["line"] == 1


def test_the_event_before_in_another_text_is_not_its_event() -> None:
    message, example = THROWN[0]
    found = extracts([block(EVENT), block(f"{CLASS}: {example.text}", LATER)], STOCK)
    (row,) = stated(found[1], message)
    assert "time" not in row
    assert [one.understood for one in found] == [1, 2]


def test_another_exception_is_nothing() -> None:
    found = extract(block(EVENT, f"{CLASS}: The requested offset is not within the range", LATER), STOCK)
    assert found.notices.is_empty()
    assert found.relevant == found.understood == 2


@given(st.data())
def test_a_changed_exception_is_read_or_noticed(data: st.DataObject) -> None:
    _, example = data.draw(st.sampled_from(THROWN))
    place = data.draw(st.integers(0, len(example.text)))
    gone = data.draw(st.integers(0, 20))
    put = data.draw(st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), max_size=8))
    text = example.text[:place] + put + example.text[place + gone :]
    found = extract(block(EVENT, f"{CLASS}: {text}", LATER), STOCK)
    claimed = [m for m in MESSAGES if m.thrown and any(literal in text for literal in m.literals)]
    assert found.relevant == 2 + bool(claimed)
    assert found.understood + found.notices.height == found.relevant


FULL = "java.io.IOException: No space left on device"


@pytest.mark.parametrize(
    "lines",
    [
        (f"[2026-11-21 05:31:28,430] ERROR Error while flushing log due to {FULL} (kafka.log.LogManager)",),
        (f"[2026-11-21 05:31:28,430] ERROR Error while flushing log (kafka.log.LogManager) {FULL}",),
        (EVENT, f"org.apache.kafka.common.errors.KafkaStorageException: I/O exception in append Caused by: {FULL}"),
    ],
)
def test_the_cause_inside_a_line_is_read(lines: tuple[str, ...]) -> None:
    rows = extract(block(*lines, LATER), STOCK).observations
    assert rows.filter(pl.col("kind") == "disk_full").get_column("time").to_list() == [AT]


@pytest.mark.parametrize(
    "line",
    [
        "[2026-11-21 05:31:28,430] WARN An alert of the host says: No space left on device (a.B)",
        f"[2026-11-21 05:31:28,430] INFO {FULL.replace('device', 'a shelf')} (a.B)",
    ],
)
def test_other_words_of_a_line_are_no_cause(line: str) -> None:
    assert extract(block(line, LATER), STOCK).observations.filter(pl.col("kind") == "disk_full").is_empty()
