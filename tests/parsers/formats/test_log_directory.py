"""The names of directories and files in a log directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.formats.log_directory import (
    Directory,
    DirectoryState,
    MetadataSnapshot,
    SegmentFile,
    split_directory,
    split_metadata_snapshot,
    split_segment_file,
)
from parsers.read import read_unit
from tests.parsers.handing_over import source

HEX = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("orders-0", ("orders", 0, "current")),
        ("my.topic-1-12", ("my.topic-1", 12, "current")),
        ("-1", None),
        ("a--1", ("a-", 1, "current")),
        ("__cluster_metadata-0", ("__cluster_metadata", 0, "current")),
        ("x" * 249 + "-2147483647", ("x" * 249, 2147483647, "current")),
        ("x" * 253 + "-0", ("x" * 253, 0, "current")),
        ("x" * 254 + "-0", None),
        ("orders-2147483648", None),
        (f"orders-0.{HEX}-delete", ("orders", 0, "delete")),
        (f"a.b-c-3.{HEX}-future", ("a.b-c", 3, "future")),
        (f"orders-0.{HEX}-stray", ("orders", 0, "stray")),
        (f"orders-0.{HEX}-gone", None),
        (f"orders-0.{HEX[:-1]}-delete", None),
        (f"orders-0.{HEX.upper()}-delete", None),
        ("orders", None),
        ("orders-", None),
        ("orders-٣", None),
        ("or ders-0", None),
        ("logs", None),
        ("remote-log-index-cache", None),
        ("orders-0\n", None),
    ],
)
def test_directories(name: str, expected: tuple[str, int, str] | None) -> None:
    found = split_directory(name)
    assert (found if found is None else tuple(found)[:3]) == expected


def test_a_marked_name_of_full_length_may_have_lost_the_end_of_its_topic() -> None:
    suffix = f"-7.{HEX}-delete"
    long, fitting = "x" * (255 - len(suffix)) + suffix, "x" * (254 - len(suffix)) + suffix
    assert [name and name.topic_cut for name in map(split_directory, (long, fitting, "orders-0"))] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(("state", "cut"), [("delete", True), ("stray", True), ("future", False)])
def test_a_file_says_that_its_topic_may_have_lost_its_end(state: str, cut: bool) -> None:
    """Kafka does not shorten the name of a future directory."""
    suffix = f"-7.{HEX}-{state}"
    path = f"{'x' * (255 - len(suffix))}{suffix}/leader-epoch-checkpoint"
    reading = read_unit([source(b"0\n1\n0 0\n", path)])[0]
    assert (reading.directory_state, reading.partition) == (state, 7)
    assert any("cut off the end of the topic" in one for one in reading.notices["reason"]) is cut


@given(
    st.from_regex(r"[A-Za-z0-9._-]{1,200}", fullmatch=True),
    st.integers(0, 2**31 - 1),
    st.sampled_from(list(DirectoryState)),
)
def test_every_topic_name_comes_back(topic: str, partition: int, state: DirectoryState) -> None:
    suffix = "" if state is DirectoryState.CURRENT else f".{HEX}-{state}"
    assert split_directory(f"{topic}-{partition}{suffix}") == Directory(topic, partition, state)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("00000000000000000042.log", SegmentFile(42, "log", "")),
        ("00000000000000000042.timeindex", SegmentFile(42, "timeindex", "")),
        ("00000000000000000042.snapshot", SegmentFile(42, "snapshot", "")),
        ("00000000000000000042.log.deleted", SegmentFile(42, "log", "deleted")),
        ("00000000000000000042.index.swap", SegmentFile(42, "index", "swap")),
        ("00000000000000000042.log.cleaned", SegmentFile(42, "log", "cleaned")),
        ("42.log", None),
        ("server.log", None),
        ("00000000000000000042.log.gz", None),
        ("00000000000000000042.log\n", None),
    ],
)
def test_segment_files(name: str, expected: SegmentFile | None) -> None:
    assert split_segment_file(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("00000000000000000071-0000000003.checkpoint", MetadataSnapshot(71, 3, "")),
        ("00000000000000000071-0000000003.checkpoint.part", MetadataSnapshot(71, 3, "part")),
        ("00000000000000000071-0000000003.checkpoint.deleted", MetadataSnapshot(71, 3, "deleted")),
        ("bootstrap.checkpoint", None),
        ("leader-epoch-checkpoint", None),
    ],
)
def test_metadata_snapshots(name: str, expected: MetadataSnapshot | None) -> None:
    assert split_metadata_snapshot(name) == expected


def test_every_real_name_is_known(evidence_case: Path) -> None:
    others = {"leader-epoch-checkpoint", "partition.metadata", "quorum-state"}
    for folder in evidence_case.glob("broker-*/data/*/"):
        assert split_directory(folder.name), folder
        for path in folder.iterdir():
            assert path.name in others or split_segment_file(path.name), path
