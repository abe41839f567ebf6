"""Writes commits of consumer groups as segments of ``__consumer_offsets``."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import google_crc32c

from tests.incident import ZERO
from tests.parsers.formats.building import record


class Commit(NamedTuple):
    """A commit; ``at`` is in seconds of an incident. Without a position it is a tombstone."""

    at: float
    position: int | None
    epoch: int = -1
    group: str = "billing"
    topic: str = "orders"


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def offsets_segment(commits: Iterable[Commit]) -> bytes:
    """Return a batch for each commit."""
    found = b""
    for offset, one in enumerate(commits):
        at = int(ZERO.timestamp() * 1000 + one.at * 1000)
        key = struct.pack(">h", 1) + _text(one.group) + _text(one.topic) + struct.pack(">i", 0)
        value = None
        if one.position is not None:
            value = struct.pack(">hqi", 3, one.position, one.epoch) + _text("") + struct.pack(">q", at)
        covered = struct.pack(">hiqqqhii", 0, 0, at, at, -1, -1, -1, 1) + record(0, value, key)
        head = struct.pack(">qiibI", offset, 9 + len(covered), 0, 2, google_crc32c.value(covered))
        found += head + covered
    return found


def commit(folder: Path, *commits: Commit, brokers: Iterable[int] = (1, 2), partition: int = 0) -> None:
    """Write commits into the data directories of some brokers of an incident."""
    for broker in brokers:
        path = folder / f"broker-{broker}" / "data" / f"__consumer_offsets-{partition}"
        path.mkdir(parents=True, exist_ok=True)
        (path / f"{0:020}.log").write_bytes(offsets_segment(commits))
