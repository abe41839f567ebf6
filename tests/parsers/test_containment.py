"""A failure stays where it happens, and what is handed over satisfies its schema."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from parsers import details, limits, read
from parsers.admission import BOUNDS, admitted
from parsers.containment import Defect, contained, each
from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.formats.offset_checkpoint import read_offset_checkpoint
from parsers.messages import MESSAGES
from parsers.reading import observations
from parsers.schema import OBSERVATIONS, Kind
from parsers.walk import walk
from tests.conftest import EVERYTHING


def wrong() -> int:
    raise KeyError("offset")


def test_what_fails_becomes_a_defect_with_its_place() -> None:
    assert contained(lambda: 1) == 1
    found = contained(lambda: read.printed(10**30))
    assert isinstance(found, Defect)
    assert found.place.startswith("parsers/read.py:")
    assert found.error.startswith("OverflowError: ")
    assert "please report it" in str(found)


def test_a_panic_is_a_defect_and_an_interrupt_is_none() -> None:
    def panics() -> None:
        raise pl.exceptions.PanicException("no such column")

    def interrupted() -> None:
        raise KeyboardInterrupt

    found = contained(panics)
    assert isinstance(found, Defect)
    assert found.error == "PanicException: no such column"
    with pytest.raises(KeyboardInterrupt):
        contained(interrupted)
    with pytest.raises(KeyError):
        contained(wrong, expected=(KeyError,))


def test_items_before_a_defect_are_kept() -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2
        yield wrong()

    *good, last = each(items())
    assert good == [1, 2]
    assert isinstance(last, Defect)


def test_a_failing_reader_costs_its_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broker.id.properties").write_text("broker.id=1\n")
    line = "[2026-11-21 04:11:01,000] INFO Truncating log orders-0 to offset 3. (kafka.log.Log)\n"
    (tmp_path / "server.log").write_text(line)
    monkeypatch.setattr("parsers.takers.data_files.read_server_properties", lambda _data: wrong())
    properties, log = (read.read(source) for source in walk([str(tmp_path)]))
    assert properties.format == read.FAILED
    (reason,) = properties.notices["reason"].to_list()
    assert reason.startswith("not read: a defect of this program at ")
    assert "KeyError: 'offset'" in reason
    assert log.format == "broker-log"


def test_short_memory_is_no_defect() -> None:
    def short() -> None:
        raise MemoryError

    found = contained(short)
    assert isinstance(found, Defect)
    assert str(found).startswith("memory was short at ")
    assert "report it" not in str(found)


def test_numbers_that_kafka_cannot_have_written_are_left_out() -> None:
    rows = observations(
        [
            {"kind": Kind.HW, "topic": "orders", "partition": 0, "hw": 5, "line": 1},
            {"kind": Kind.HW, "topic": "orders", "partition": 0, "hw": -7, "line": 2},
            {"kind": Kind.HW, "topic": "orders", "partition": 0, "hw": 10**20, "line": 3},
            {"kind": Kind.ISR_COMMIT, "topic": "orders", "partition": 0, "isr": "1,99999999999", "line": 4},
            {"kind": Kind.LEADER_AND_ISR, "topic": "orders", "partition": 2**40, "leader": -2, "line": 5},
            {"kind": Kind.LEADER_AND_ISR, "topic": "orders", "partition": 0, "leader": -2, "isr": "", "line": 6},
        ]
    )
    found = admitted(FileReading("broker-log", observations=rows))
    assert found.observations["line"].to_list() == [1, 6]
    assert found.notices.select("reason", "line").rows() == [
        ("1 statement is left out: a number that is far too large is no partition that can be", 5),
        ("2 statements are left out: -7 is no hw that can be", 2),
        ("1 statement is left out: 1,99999999999 is no isr that can be", 4),
    ]


def test_every_bound_is_of_a_column() -> None:
    assert set(BOUNDS) <= set(OBSERVATIONS)


@pytest.mark.parametrize("name", BOUNDS)
def test_a_row_is_left_out_for_each_bound(name: str) -> None:
    """One number alone in a table whose others are sound; what is at the bound stays."""
    row = {"kind": Kind.LEADER_AND_ISR, "topic": "orders", "partition": 0, "line": 1}
    bound, lowest = BOUNDS[name], -(1 << 31)
    outside = [bound.least - 1, lowest] + [bound.most + 1] * (OBSERVATIONS[name] == pl.Int64)
    for value, kept in ((bound.least, 1), (bound.most, 1), *((one, 0) for one in outside)):
        table = observations([{**row, name: value}, row])
        found = admitted(FileReading("broker-log", observations=table))
        assert found.observations.height == 1 + kept, value
        assert found.notices.height == 1 - kept, value


@pytest.mark.parametrize("isr", ["1,2147483648", "1,x", "99999999999", ","])
def test_a_list_that_holds_no_broker_is_left_out(isr: str) -> None:
    for name in ("isr", "isr_before"):
        rows = [
            {"kind": Kind.ISR_SHRINK, "topic": "orders", "partition": 0, name: one} for one in (isr, "1,2147483647")
        ]
        assert admitted(FileReading("broker-log", observations=observations(rows))).observations[name].len() == 1


def test_a_table_of_another_schema_is_a_defect() -> None:
    with pytest.raises(TypeError, match="other columns than its schema"):
        admitted(FileReading("broker-log", observations=pl.DataFrame({"topic": ["orders"]})))
    other = observations([]).with_columns(pl.col("hw").cast(pl.Int32))
    with pytest.raises(TypeError, match="other columns than its schema"):
        admitted(FileReading("broker-log", observations=other))


def test_a_defect_while_looking_into_an_archive_costs_that_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.log").write_text("one\n")
    (tmp_path / "b.log").write_text("two\n")
    head = Source.head

    def failing(source: Source) -> bytes:
        if source.name == "a.log":
            raise IndexError("index out of range")
        return head(source)

    monkeypatch.setattr(Source, "head", failing)
    one, two = walk([str(tmp_path)])
    assert one.problem.startswith("cannot be looked into: a defect of this program at ")
    assert not two.problem


@pytest.mark.parametrize(("length", "kept"), [(249, 1), (255, 1), (256, 0), (1_000_000, 0)])
def test_a_topic_has_a_name_that_kafka_can_have_given(length: int, kept: int) -> None:
    """A checkpoint that was damaged or made up, of a name of a megabyte: each text and table would repeat it."""
    data = f"0\n2\n{'t' * length} 0 5\n{'t' * length} 0 7\n".encode()
    reading = read_offset_checkpoint(data, "replication-offset-checkpoint")
    found = admitted(FileReading("hw-checkpoint", reading.observations, notices=reading.notices))
    assert found.observations.height == kept
    reasons = found.notices.get_column("reason").to_list()
    left_out = f"1 statement is left out: a name of {length:,} characters is no topic that can be, as more than 255"
    assert any(reason.startswith(left_out) for reason in reasons) == (not kept)
    assert max(map(len, reasons)) <= limits.REASON.value + len(f"… ({limits.REASON.moves})")


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 19])
def test_a_number_that_is_too_long_costs_no_log_more_than_its_line(number: str) -> None:
    """Each message has each of its numbers changed once, in one log."""
    texts = [one.text.partition("\n")[0] for message in MESSAGES for made in message.variants for one in made.examples]
    changed = [
        f"{text[: found.start()]}{number}{text[found.end() :]}"
        for text in texts
        for found in list(re.finditer("[0-9]+", text))[:: 1 if EVERYTHING else 7]
    ]
    sound = "Truncating log orders-0 to offset 50."
    log = "".join(f"[2026-11-21 04:05:49,991] INFO {text} (kafka.log.Log)\n" for text in [*changed, sound]).encode()
    found = read.read(Source("server.log", len(log), lambda: io.BytesIO(log)))
    assert found.format == "broker-log"
    assert found.observations.filter(pl.col("line") == len(changed) + 1).select("topic", "offset").row(0) == (
        "orders",
        50,
    )


@pytest.mark.parametrize(
    ("reads", "detail"),
    [
        (details.assigned, "AllReplicas:1,{}"),
        (details.against_settings, f"{details.AGAINST_SETTINGS}{{}}"),
        (details.counted_ends, "{} [0 : 1840]"),
        (details.answered_end, "EpochEndOffset(leaderEpoch=4, endOffset={})"),
        (details.epoch_entries, "Set(EpochEntry(2,{}))"),
        (details.segments, "{}"),
    ],
)
def test_a_number_that_is_too_long_in_a_detail_is_none(reads: Callable[[str], object], detail: str) -> None:
    assert reads(detail.format(7))
    assert not reads(detail.format("9" * 5000))
