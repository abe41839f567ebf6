"""One segment of a healthy partition is damaged: that proves nothing about what happened in the cluster."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import google_crc32c
import pytest

from forensics.engines.local import scan
from forensics.model import schedule
from forensics.replay.confidence import Confidence
from forensics.rules.finding import Finding, Severity

Batches = list[bytes]
AT = 20
"""The first batch that is damaged."""


def swapped(batches: Batches) -> Batches:
    """Two adjacent batches change places."""
    return [*batches[:AT], batches[AT + 1], batches[AT], *batches[AT + 2 :]]


def headless(batches: Batches) -> Batches:
    """The first batch is missing."""
    return batches[1:]


def without_one(batches: Batches) -> Batches:
    """A batch is missing."""
    return [*batches[:AT], *batches[AT + 1 :]]


def moved(by: int, count: int) -> Callable[[Batches], Batches]:
    """The base offsets of some batches, which no checksum covers, are changed."""

    def change(batches: Batches) -> Batches:
        bases = (struct.unpack_from(">q", one)[0] + by for one in batches[AT : AT + count])
        found = [struct.pack(">q", base) + one[8:] for base, one in zip(bases, batches[AT:], strict=False)]
        return [*batches[:AT], *found, *batches[AT + count :]]

    change.__name__ = f"{count} moved by {by}"
    return change


def shifted(batches: Batches) -> Batches:
    """The base offsets of all batches from one on are changed by the same number."""
    return moved(10, len(batches))(batches)


def other(batch: bytes) -> bytes:
    """Another batch with a right checksum and at the right offset, as after a write to a wrong place."""
    changed = bytearray(batch)
    changed[-3] ^= 1
    struct.pack_into(">I", changed, 17, google_crc32c.value(bytes(changed[21:])))
    return bytes(changed)


def foreign(batches: Batches) -> Batches:
    """A batch is another one."""
    return [*batches[:AT], other(batches[AT]), *batches[AT + 1 :]]


def foreign_tail(batches: Batches) -> Batches:
    """The last batches are others: no equal one follows."""
    return [*batches[:AT], *map(other, batches[AT:])]


DAMAGES = (
    swapped,
    headless,
    without_one,
    shifted,
    foreign,
    foreign_tail,
    *(moved(by, count) for by in (-5, -1, 5) for count in (1, 2, 3)),
)


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three brokers that hold the same 40 batches of five records."""
    folder = tmp_path_factory.mktemp("healthy")
    steps = [step for _ in range(40) for step in ({"produce": {"count": 5}}, {"catch-up": {}})]
    (folder / "mine.json").write_text(json.dumps({"brokers": [1, 2, 3], "steps": [*steps, {"wait": {"ms": 10_000}}]}))
    schedule(folder / "mine.json").scenario().run("fetch").write(folder / "left")
    return folder / "left"


def scanned(folder: Path) -> list[Finding]:
    return scan([str(path) for path in sorted(folder.glob("broker-*"))]).findings


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("broker", [1, 2])
def test_it_proves_nothing_but_the_damage(
    broker: int, damage: Callable[[Batches], Batches], healthy: Path, tmp_path: Path
) -> None:
    for source in (path for path in healthy.rglob("*") if path.is_file()):
        copy = tmp_path / source.relative_to(healthy)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes())
    (segment,) = (tmp_path / f"broker-{broker}" / "data").rglob("*.log")
    data, batches = segment.read_bytes(), []
    while data:
        end = 12 + struct.unpack_from(">i", data, 8)[0]
        batches.append(data[:end])
        data = data[end:]
    assert len(batches) == 40
    segment.write_bytes(b"".join(damage(batches)))
    found = [one for one in scanned(tmp_path) if one.severity in (Severity.CRITICAL, Severity.ERROR)]
    assert found, "the damage itself"
    proven = {one.rule for one in found if one.confidence is Confidence.PROVEN}
    assert proven <= {"segment-damage"}


def test_without_damage_nothing_is_found(healthy: Path) -> None:
    assert [one.rule for one in scanned(healthy) if one.severity is not Severity.INFO] == []
