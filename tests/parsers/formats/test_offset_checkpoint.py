"""The four offset checkpoints: what real brokers wrote, and what a torn or garbled one still says."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.errors import NotThisFormat
from parsers.formats.offset_checkpoint import FILES, read_offset_checkpoint
from parsers.reading import Reading
from parsers.schema import NOTICES, OBSERVATIONS

HW = "replication-offset-checkpoint"
GOOD = b"0\n3\norders 0 124\nmy.topic-1 12 9\n__consumer_offsets 49 0\n"


def read(data: bytes) -> Reading:
    return read_offset_checkpoint(data, HW)


def values(found: Reading) -> list[tuple[str, int, int, int]]:
    return found.observations.select("topic", "partition", "hw", "line").rows()


@pytest.mark.parametrize(
    ("file_name", "kind", "message", "column"),
    [
        (HW, "hw_checkpoint", "hw-checkpoint", "hw"),
        ("recovery-point-offset-checkpoint", "recovery_point", "recovery-point", "offset"),
        ("log-start-offset-checkpoint", "log_start_checkpoint", "log-start-checkpoint", "log_start"),
        ("cleaner-offset-checkpoint", "cleaner_checkpoint", "cleaner-checkpoint", "offset"),
    ],
)
def test_first_row(file_name: str, kind: str, message: str, column: str) -> None:
    found = read_offset_checkpoint(GOOD, file_name)
    assert found.observations.schema == pl.Schema(OBSERVATIONS)
    assert found.notices.schema == pl.Schema(NOTICES)
    assert found.notices.is_empty()
    assert len(found.observations) == 3
    row = {name: value for name, value in found.observations.row(0, named=True).items() if value is not None}
    assert row == {"topic": "orders", "partition": 0, "kind": kind, "message": message, column: 124, "line": 3}


def test_real_files(evidence_case: Path) -> None:
    read_any = 0
    for name in FILES:
        for path in sorted(evidence_case.glob(f"broker-*/data/{name}")):
            data = path.read_bytes()
            found = read_offset_checkpoint(data, name)
            assert found.notices.is_empty(), path
            # An independent reading of the same bytes.
            expected = [line.rsplit(" ", 2) for line in data.decode().splitlines()[2:]]
            column = FILES[name].column
            rows = found.observations.select("topic", "partition", column).rows()
            assert rows == [(topic, int(partition), int(value)) for topic, partition, value in expected], path
            read_any += len(rows)
    if not read_any:
        pytest.skip("this case has no checkpoint with entries")


def test_an_empty_file_is_an_empty_checkpoint() -> None:
    """Brokers leave the file empty until they first write it."""
    for data in (b"", b"0\n0\n"):
        found = read(data)
        assert found.observations.is_empty()
        assert found.notices.is_empty()


def test_cut_at_every_byte() -> None:
    for cut in range(1, len(GOOD)):
        data = GOOD[:cut]
        found = read(data)
        ended = data.count(b"\n")
        assert len(found.notices) >= 1, cut
        # A value may have lost digits, so a line counts only with its end.
        assert values(found) == values(read(GOOD))[: max(ended - 2, 0)], cut


@pytest.mark.parametrize(
    ("data", "rows", "lines"),
    [
        (b"0\n2\norders 0 1\n", 1, [2]),  # fewer than announced
        (b"0\n1\norders 0 1\norders 1 1\n", 2, [2]),  # more
        (b"0\n2\norders 0 1\norders 0 7\n", 1, [4]),  # one partition twice
        (b"0\n2\norders 0 1\norders 1\n", 1, [2, 4]),
        (b"0\n2\norders 0 1\norders 1 2 3\n", 1, [2, 4]),
        (b"0\n2\norders 0 1\norders one 2\n", 1, [4]),
        (b"0\n2\norders 0 1\norders 1 99999999999999999999\n", 1, [4]),
        (b"0\n2\norders 0 1\norders 1 -2\n", 1, [4]),
        (b"0\n2\norders 0 1\norders 9999999999 2\n", 1, [4]),
        (b"0\n2\norders 0 1\nord\xffers 1 2\n", 1, [2, 4]),
        (b"0\n2\norders 0 1\n\norders 1 2\n", 2, [4]),
        (b"0\nmany\norders 0 1\n", 1, [2]),
        (b"1\n1\norders 0 1\n", 0, [1]),
        (b"\0" * 40, 0, [1]),
        (b"0\n2\norders 0 1\n" + b"\0" * 11, 1, [2, 4]),
    ],
)
def test_damage_is_noted_with_its_line(data: bytes, rows: int, lines: list[int]) -> None:
    found = read(data)
    assert len(found.observations) == rows
    assert found.notices["line"].to_list() == lines


def test_of_two_lines_for_one_partition_the_last_counts() -> None:
    found = read(b"0\n3\norders 0 9\npayments 0 5\norders 0 7\n")
    assert values(found) == [("payments", 0, 5, 4), ("orders", 0, 7, 5)]
    assert "line 3 does not count" in found.notices["reason"][0]


def test_windows_line_ends() -> None:
    assert values(read(GOOD.replace(b"\n", b"\r\n"))) == values(read(GOOD))


@pytest.mark.parametrize(
    ("data", "file_name"),
    [
        (GOOD, "leader-epoch-checkpoint"),
        (GOOD, HW + ".tmp"),
        (b"[2024-03-01 10:22:41,107] INFO x\n", HW),
        (b"version: 0\ntopic_id: JS7dasDgSdqRtsr8nIkGOw", HW),
        (b"\x1f\x8b\x08rest", HW),
        ("٠\n".encode(), HW),
    ],
)
def test_foreign_files_are_refused(data: bytes, file_name: str) -> None:
    with pytest.raises(NotThisFormat):
        read_offset_checkpoint(data, file_name)


@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=12))
def test_overwritten_bytes_never_stop_the_reader(place: int, garbage: bytes) -> None:
    data = GOOD[:place] + garbage + GOOD[place + len(garbage) :]
    try:
        found = read(data)
    except NotThisFormat:
        assert place < 2
    else:
        lines = data.split(b"\n")
        for topic, partition, hw, line in values(found):
            fields = lines[line - 1].split()
            assert (fields[0].decode(), int(fields[1]), int(fields[2])) == (topic, partition, hw)
        if found.notices.is_empty():
            assert int(lines[1]) == len(found.observations) == len(lines) - 3


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    try:
        found = read(data)
    except NotThisFormat:
        return
    assert not data or not found.notices.is_empty() or not found.observations.is_empty()
