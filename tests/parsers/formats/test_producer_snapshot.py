"""Producer state snapshots."""

from __future__ import annotations

import struct
from pathlib import Path

import google_crc32c
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.containers import expand
from parsers.errors import NotThisFormat
from parsers.formats.producer_snapshot import PRODUCERS, read_dump, read_producer_snapshot
from parsers.read import read
from tests.parsers.formats.building import DATA
from tests.parsers.handing_over import source

REAL = (DATA / "producers.snapshot").read_bytes()


def build(*producers: tuple[int, ...]) -> bytes:
    body = struct.pack(">i", len(producers)) + b"".join(struct.pack(">qhiqiqiq", *one) for one in producers)
    return struct.pack(">hI", 1, google_crc32c.value(body)) + body


def test_first_row() -> None:
    row = (4711, 2, 9, 120, 4, 1_700_000_000_000, 3, 116)
    found = read_producer_snapshot(build(row, (4712, 0, 0, -1, 0, 5, -1, -1)))
    assert found.producers.schema == pl.Schema(PRODUCERS)
    assert found.notices.is_empty()
    assert found.producers.row(0) == row
    assert len(found.producers) == 2


def test_a_real_snapshot() -> None:
    found = read_producer_snapshot(REAL)
    assert found.notices.is_empty()
    assert len(found.producers) == 60
    # The file is 00000000000000000300.snapshot: its state ends there.
    assert found.producers["last_offset"].max() == 299
    assert found.producers["producer_id"].is_unique().all()


def test_real_files(evidence_case: Path) -> None:
    paths = sorted(evidence_case.glob("broker-*/data/*/*.snapshot"))
    if not paths:
        pytest.skip("this version or this case has none")
    for path in paths:
        found = read_producer_snapshot(path.read_bytes())
        assert found.notices.is_empty(), path
        last = found.producers["last_offset"].max()
        assert last is None or last < int(path.stem)


def test_cut_at_every_byte() -> None:
    for cut in range(len(REAL)):
        found = read_producer_snapshot(REAL[:cut])
        assert found.producers.is_empty()
        assert len(found.notices) == 1, cut


@given(st.integers(2, len(REAL) - 1), st.integers(0, 7))
def test_one_flipped_bit_is_noticed(place: int, bit: int) -> None:
    damaged = bytearray(REAL)
    damaged[place] ^= 1 << bit
    found = read_producer_snapshot(bytes(damaged))
    assert found.producers.is_empty()
    assert len(found.notices) == 1


@pytest.mark.parametrize("data", [b"0\n1\n", b"\0\2" + REAL[2:], b"{}"])
def test_foreign_files_are_refused(data: bytes) -> None:
    with pytest.raises(NotThisFormat):
        read_producer_snapshot(data)


@given(st.binary(max_size=120))
def test_any_bytes(data: bytes) -> None:
    found = read_producer_snapshot(b"\0\1" + data)
    assert not found.notices.is_empty() or data == build()[2:]


@pytest.mark.parametrize("version", ["1.1.1", "4.1.1"])
def test_a_dump_says_what_the_snapshot_says(version: str) -> None:
    name = "orders-0/00000000000000000205.snapshot"
    plain = read(source((DATA / "rolling.snapshot").read_bytes(), name))
    text = (DATA / f"dump-{version}-producers.txt").read_bytes()
    (dumped,) = [read(file) for file in expand(source(text, "dump.txt")) if not file.container]
    assert dumped.format == plain.format == "producer-snapshot"
    assert plain.observations.height == 41
    place = ["byte", "line"]
    assert dumped.observations.drop(place).rows() == plain.observations.drop(place).rows()
    assert dumped.observations.get_column("line").to_list() == list(range(2, 43))
    assert (dumped.topic, dumped.partition, dumped.notices.height) == ("orders", 0, 0)


def test_a_dump_of_a_transaction_and_of_what_is_no_producer() -> None:
    found = read_dump(
        pl.Series(
            [
                "Dumping /d/orders-0/00000000000000000205.snapshot",
                (
                    "producerId: 7 producerEpoch: 1 coordinatorEpoch: 3 currentTxnFirstOffset: OptionalLong[12] "
                    "lastTimestamp: 5 firstSequence: 0 lastSequence: 4 lastOffset: 16 offsetDelta: 4 timestamp: 5"
                ),
                "producerId: 8 producerEpoch: 0 coordinatorEpoch: 2 currentTxnFirstOffset: Some(30) ",
                "producerId: 9 producerEp",
                "words",
            ]
        )
    )
    assert found.producers.drop("line").rows() == [(7, 1, 4, 16, 4, 5, 3, 12), (8, 0, -1, -1, 0, -1, 2, 30)]
    assert found.notices.get_column("line").to_list() == [4, 5]
