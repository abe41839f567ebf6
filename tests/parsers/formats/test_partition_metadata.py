"""``partition.metadata``."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.errors import NotThisFormat
from parsers.formats.partition_metadata import read_partition_metadata

GOOD = b"version: 0\ntopic_id: jr7ToJr8QGqdwL9PS_3LOg"


def test_first_row() -> None:
    found = read_partition_metadata(GOOD, "orders", 0)
    assert found.notices.is_empty()
    row = {name: value for name, value in found.observations.row(0, named=True).items() if value is not None}
    assert row == {
        "topic": "orders",
        "partition": 0,
        "topic_id": "jr7ToJr8QGqdwL9PS_3LOg",
        "kind": "topic_id",
        "message": "partition-metadata",
        "line": 2,
    }


def test_real_files(evidence_case: Path) -> None:
    paths = sorted(evidence_case.glob("broker-*/data/*/partition.metadata"))
    if not paths:
        pytest.skip("no topic ids in this version")
    for path in paths:
        found = read_partition_metadata(path.read_bytes(), "t", 0)
        assert found.notices.is_empty(), path
        assert found.observations["topic_id"].to_list() == [path.read_text().split()[-1]], path


def test_cut_at_every_byte() -> None:
    for cut in range(len(GOOD)):
        found = read_partition_metadata(GOOD[:cut], "orders", 0)
        assert found.observations.is_empty(), cut
        assert not found.notices.is_empty(), cut


@pytest.mark.parametrize(
    "data",
    [
        bytes(43),
        b"version: 1\ntopic_id: jr7ToJr8QGqdwL9PS_3LOg",
        b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
        b"version: 0\ntopic_id: jr7ToJr8QGqdwL9PS_3LOgX",
        b"version: 0\ntopic_id: jr7ToJr8QGqd\xff\xff9PS_3LOg",
        b"version: 0\n",
    ],
)
def test_damage_gives_a_notice_and_no_id(data: bytes) -> None:
    found = read_partition_metadata(data, "orders", 0)
    assert found.observations.is_empty()
    assert len(found.notices) == 1


@pytest.mark.parametrize("data", [b"0\n1\norders 0 1\n", b'{"version":0}', b"node.id=1\n"])
def test_foreign_files_are_refused(data: bytes) -> None:
    with pytest.raises(NotThisFormat):
        read_partition_metadata(data, "orders", 0)


@given(st.integers(9, len(GOOD) - 1), st.binary(min_size=1, max_size=9))
def test_overwritten_bytes_give_an_id_or_a_notice(place: int, garbage: bytes) -> None:
    found = read_partition_metadata(GOOD[:place] + garbage + GOOD[place + len(garbage) :], "orders", 0)
    assert len(found.observations) == 1 or not found.notices.is_empty()
