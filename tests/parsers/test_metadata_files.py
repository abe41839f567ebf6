"""The files of one node's metadata log, read as one."""

from __future__ import annotations

import struct

import polars as pl
import pytest

from parsers import read
from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.takers.metadata_files import belongs
from tests.parsers.formats.building import batch, change_record, partition_record, record, topic_record
from tests.parsers.handing_over import source

FOLDER = "broker-1/data/__cluster_metadata-0"


def log(first: int, *values: bytes, epoch: int = 1) -> bytes:
    """A segment with one record a batch."""
    return b"".join(batch(first + number, [value], epoch=epoch) for number, value in enumerate(values))


def snapshot(*values: bytes) -> bytes:
    """A snapshot with its header and footer."""
    edges = [
        batch(place, [b""], body=record(0, b"\0\0\1", struct.pack(">hh", 0, kind)), attributes=0x20)
        for place, kind in ((0, 3), (len(values) + 1, 4))
    ]
    return edges[0] + log(1, *values) + edges[1]


BASE = (topic_record("orders"), partition_record(0, (1, 2, 3), 1, 4, 20))


def directory(files: dict[str, bytes]) -> dict[str, FileReading]:
    sources = [source(data, f"{FOLDER}/{name}") for name, data in files.items()]
    units = read.units(sources)
    assert len(units) == 1
    return {sources[n].name: r for n, r in zip(units[0], read.read_unit([sources[n] for n in units[0]]), strict=True)}


def epochs(readings: dict[str, FileReading]) -> list[tuple[object, ...]]:
    rows = pl.concat([readings[name].observations for name in sorted(readings)])
    return rows.select("kind", "topic", "leader_epoch", "partition_epoch").rows()


def test_segments_go_on_from_each_other() -> None:
    readings = directory(
        {
            "00000000000000000002.log": log(2, change_record(0, leader=2), change_record(0, isr=(2,))),
            "00000000000000000000.log": log(0, *BASE),
        }
    )
    assert {reading.format for reading in readings.values()} == {"metadata-log"}
    assert epochs(readings) == [
        ("partition_created", "orders", 4, 20),
        ("partition_changed", "orders", 5, 21),
        ("partition_changed", "orders", 5, 22),
    ]
    assert all(reading.notices.is_empty() and reading.zone == "UTC" for reading in readings.values())
    assert [readings[name].log_end for name in sorted(readings)] == [2, 4]


def test_a_log_without_its_beginning_starts_from_a_snapshot() -> None:
    # Offsets 50 and 51 stand before the snapshot's end: their epochs cannot be known, but they are not lost.
    readings = directory(
        {
            "00000000000000000050.log": log(50, change_record(0, isr=(1, 2)), change_record(0, leader=3)),
            "00000000000000000052.log": log(52, change_record(0, leader=2)),
            "00000000000000000052-0000000001.checkpoint": snapshot(*BASE),
            "00000000000000000053-0000000001.checkpoint": snapshot(*BASE),
        }
    )
    assert epochs(readings) == [
        ("partition_changed", None, None, None),
        ("partition_changed", None, None, None),
        ("partition_created", "orders", 4, 20),
        ("partition_changed", "orders", 5, 21),
    ]
    assert [readings[name].format for name in sorted(readings)] == [
        "metadata-log", "metadata-snapshot", "metadata-log", "metadata-snapshot",
    ]  # fmt: skip
    # the second snapshot repeats what the log says
    assert readings["00000000000000000053-0000000001.checkpoint"].observations.is_empty()


def test_a_snapshot_alone_is_read() -> None:
    older, newer = (partition_record(0, (1, 2, 3), 1, epoch, epoch) for epoch in (4, 9))
    readings = directory(
        {
            "00000000000000000052-0000000001.checkpoint": snapshot(topic_record("orders"), older),
            "00000000000000000090-0000000001.checkpoint": snapshot(topic_record("orders"), newer),
        }
    )
    assert epochs(readings) == [("partition_created", "orders", 9, 9)]


def test_the_batches_of_a_segment_are_kept() -> None:
    readings = directory({"00000000000000000000.log": log(0, *BASE)})
    (reading,) = readings.values()
    assert reading.batches.get_column("base_offset").to_list() == [0, 1]
    assert (reading.topic, reading.partition) == ("__cluster_metadata", 0)


@pytest.mark.parametrize(
    ("path", "does"),
    [
        (f"{FOLDER}/00000000000000000000.log", True),
        (f"{FOLDER}/00000000000000000009-0000000001.checkpoint", True),
        (f"{FOLDER}/00000000000000000009-0000000001.checkpoint.part", False),
        (f"{FOLDER}/00000000000000000000.log.deleted", False),
        (f"{FOLDER}/quorum-state", False),
        ("data/orders-0/00000000000000000000.log", False),
        ("data/bootstrap.checkpoint", False),
    ],
)
def test_what_belongs_together(path: str, does: bool) -> None:
    assert belongs(source(b"", path)) is does


def test_files_of_two_nodes_are_two_groups() -> None:
    sources = [
        source(b"", f"broker-{n}/__cluster_metadata-0/0000000000000000000{m}.log") for n in (1, 2) for m in (0, 5)
    ]
    assert read.units(sources) == [[0, 1], [2, 3]]


def test_records_of_another_kind_are_a_segment_still() -> None:
    data = log(0, b"not metadata")
    (reading,) = directory({"00000000000000000000.log": data}).values()
    assert (reading.format, reading.log_end) == ("segment", 1)
    assert any("no metadata log" in reason for reason in reading.notices.get_column("reason"))


def test_a_file_that_cannot_be_read_is_told() -> None:
    def broken() -> object:
        raise PermissionError(13, "Permission denied")

    gone = Source(f"{FOLDER}/00000000000000000000.log", 5, broken)  # type: ignore[arg-type]
    (reading,) = read.read_unit([gone])
    assert reading.format == "unreadable"
    assert "Permission denied" in reading.notices.item(0, "reason")
