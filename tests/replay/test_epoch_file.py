"""Which batch of a replica contradicts its own epoch file, and where they cannot be compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.leadership.epoch_file import RefutedEntry, first_fall, refuted_entry
from forensics.replay.lineage import UNKNOWN, Lineage

LOG = Lineage(((0, 0), (2, 50)))
DISK = Disk(stated=LOG, end=80, refs={0: Ref(byte=0), 2: Ref(byte=2)})


def entries(*noted: tuple[int, int]) -> tuple[tuple[int, int, Ref], ...]:
    """Entries of an epoch file: (leader epoch, start offset), with its row as evidence."""
    return tuple((epoch, start, Ref(row=row)) for row, (epoch, start) in enumerate(noted))


@pytest.mark.parametrize(
    ("noted", "refuted"),
    [
        (((0, 0), (2, 50)), None),
        (((0, 0), (2, 60)), RefutedEntry(50, 2, 0, (Ref(byte=2), Ref(row=0)))),
        (((0, 0), (1, 20), (2, 50)), RefutedEntry(20, 0, 1, (Ref(byte=0), Ref(row=1)))),
        (((2, 50), (0, 0)), None),  # in whatever order the file has them
        (((2, 50),), None),  # it lacks its first epochs
        (((0, 0), (2, 50), (3, 80)), None),  # an epoch without records yet
        ((), None),
    ],
)
def test_the_first_offset_with_two_epochs_is_found(
    noted: tuple[tuple[int, int], ...], refuted: RefutedEntry | None
) -> None:
    assert refuted_entry(replace(DISK, entries=entries(*noted))) == refuted


WRONG = replace(DISK, entries=entries((0, 0), (2, 60)))
"""Its file gives offset 50 to epoch 0, its batches to epoch 2."""


@pytest.mark.parametrize(
    "disk",
    [
        replace(WRONG, end=None),
        replace(WRONG, end=50),
        replace(WRONG, stated=Lineage()),
        replace(WRONG, stated=Lineage(((0, 0), (UNKNOWN, 50)))),
        replace(WRONG, holes=((45, 61),)),
        replace(WRONG, log_start=70),
        replace(WRONG, entries=entries((0, 0)), entries_cut=True),  # the end of the file is missing
        replace(WRONG, stated=Lineage(((3, 0), (2, 50))), entries=entries((3, 0))),  # epochs fall at this offset
    ],
)
def test_what_has_no_batch_or_no_entry_refutes_nothing(disk: Disk) -> None:
    assert refuted_entry(WRONG) is not None
    assert refuted_entry(disk) is None


@pytest.mark.parametrize(
    ("log", "fall"), [(LOG, None), (Lineage(((3, 0), (2, 50), (1, 60))), 50), (Lineage(((3, 0), (UNKNOWN, 50))), None)]
)
def test_the_first_fall_of_epochs_is_found(log: Lineage, fall: int | None) -> None:
    assert first_fall(log) == fall
