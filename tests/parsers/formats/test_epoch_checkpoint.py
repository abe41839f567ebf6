"""``leader-epoch-checkpoint``."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.errors import NotThisFormat
from parsers.formats.epoch_checkpoint import read_epoch_checkpoint
from parsers.schema import OBSERVATIONS

GOOD = b"0\n3\n0 0\n2 80\n5 124\n"


def entries(data: bytes) -> list[tuple[int, int, int]]:
    return read_epoch_checkpoint(data, "orders", 0).observations.select("leader_epoch", "offset", "line").rows()


def test_first_row() -> None:
    found = read_epoch_checkpoint(GOOD, "my.topic-1", 7)
    assert found.observations.schema == pl.Schema(OBSERVATIONS)
    assert found.notices.is_empty()
    row = {name: value for name, value in found.observations.row(1, named=True).items() if value is not None}
    assert row == {
        "topic": "my.topic-1",
        "partition": 7,
        "kind": "epoch_entry",
        "message": "epoch-checkpoint",
        "leader_epoch": 2,
        "offset": 80,
        "line": 4,
    }


def test_real_files(evidence_case: Path) -> None:
    paths = sorted(evidence_case.glob("broker-*/data/*/leader-epoch-checkpoint"))
    if not paths:
        pytest.skip("no epochs in this version")
    for path in paths:
        found = read_epoch_checkpoint(path.read_bytes(), "t", 0)
        assert found.notices.is_empty(), path
        expected = [tuple(map(int, line.split())) for line in path.read_text().splitlines()[2:]]
        assert found.observations.select("leader_epoch", "offset").rows() == expected, path


def test_empty_files_are_legal() -> None:
    """Old message format, a fresh replica, or a cache that a downgrade cleared."""
    for data in (b"", b"0\n0\n"):
        found = read_epoch_checkpoint(data, "orders", 0)
        assert found.observations.is_empty()
        assert found.notices.is_empty()


def test_cut_at_every_byte() -> None:
    for cut in range(1, len(GOOD)):
        found = read_epoch_checkpoint(GOOD[:cut], "orders", 0)
        assert not found.notices.is_empty(), cut
        assert entries(GOOD[:cut]) == entries(GOOD)[: max(GOOD[:cut].count(b"\n") - 2, 0)], cut


@pytest.mark.parametrize(
    ("data", "rows", "lines"),
    [
        (b"0\n2\n0 0\n0 5\n", 2, [4]),  # one epoch twice
        (b"0\n2\n3 0\n2 5\n", 2, [4]),  # epochs fall
        (b"0\n2\n3 9\n4 5\n", 2, [4]),  # offsets fall
        (b"0\n2\n3 9\n4 9\n", 2, [4]),
        (b"0\n2\n3 9\nx 9\n", 1, [4]),
        (b"0\n2\n3 9\n4 -1\n", 1, [4]),
        (b"0\n2\n3 9\n4 10 11\n", 1, [2, 4]),
        (b"7\n0\n", 0, [1]),
    ],
)
def test_damage_is_noted_with_its_line(data: bytes, rows: int, lines: list[int]) -> None:
    found = read_epoch_checkpoint(data, "orders", 0)
    assert len(found.observations) == rows
    assert found.notices["line"].to_list() == lines


@pytest.mark.parametrize("data", [b"{}", b"version: 0\n", b"-\n", b"[2024-03-01 10:22:41,107] INFO x\n"])
def test_foreign_files_are_refused(data: bytes) -> None:
    with pytest.raises(NotThisFormat):
        read_epoch_checkpoint(data, "orders", 0)


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes(data: bytes, headed: bool) -> None:
    data = b"0\n2\n" + data if headed else data
    try:
        found = read_epoch_checkpoint(data, "orders", 0)
    except NotThisFormat:
        assert not headed
    else:
        assert not data or not found.notices.is_empty() or data.startswith(b"0")
