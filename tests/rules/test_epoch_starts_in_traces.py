"""Complete traces in which one leader epoch has entries with two start offsets, and what may explain a second one."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.rules.finding import Verdict
from tests.rules.traced import Line, judged, said

HEAD: Line = {"kind": "trace", "system": "kafka", "protocol": "epoch", "cluster": "one", "complete": True}
HELD = [
    *(said(0, one, "log_loaded", leo=9, log_start=0) for one in (1, 2)),
    *(said(1, one, "hw_loaded", hw=9) for one in (1, 2)),
]
UNKNOWN_START = [{name: value for name, value in one.items() if name != "log_start"} for one in HELD]


def starts(second: int, broker: int, *entries: tuple[int, int], kind: str = "epoch_entry") -> list[Line]:
    """Epoch entries of a replica: leader epoch and offset."""
    return [said(second, broker, kind, leader_epoch=epoch, offset=offset) for epoch, offset in entries]


def restart(second: int, broker: int, how: str) -> list[Line]:
    return [
        said(second, broker, "process_start"),
        said(second, broker, how),
        said(second, broker, "log_loaded", leo=9),
        said(second, broker, "hw_loaded", hw=9),
    ]


OWN = starts(2, 1, (4, 0), (5, 7))


def found(folder: Path, lines: list[Line]) -> list[tuple[tuple[int, int], ...]]:
    """The offsets of each epoch with two starts."""
    answer = judged(folder, [HEAD | {"replicas": [1, 2]}, *lines])["epoch-divergence"]
    assert (answer.verdict is Verdict.CLEAN) == (not answer.findings)
    return [one.offsets for one in answer.findings if one.subject == "two starts"]


@pytest.mark.parametrize(
    ("lines", "offsets"),
    [
        ([*HELD, *starts(2, 1, (4, 0), (4, 3), (5, 7))], (0, 3)),
        ([*HELD, *starts(2, 1, (4, 1), (4, 3), (5, 7))], (1, 3)),
        ([*UNKNOWN_START, *starts(2, 1, (4, 0), (4, 3))], (0, 3)),  # no epoch file has an epoch twice
        ([*HELD, *starts(2, 1, (4, 0)), *starts(2, 2, (4, 3))], (0, 3)),
        ([*HELD, *OWN, *starts(2, 2, (4, 3), (5, 7))], (0, 3)),
        # The beginning of the log is removed, and the entry is above that.
        ([*HELD, *OWN, said(2, 2, "log_start", log_start=2), *starts(3, 2, (4, 3), (5, 7))], (0, 3)),
        # A clean stop leaves the file as it is.
        ([*HELD, *OWN, *restart(3, 1, "clean_restart"), *starts(4, 1, (4, 3), (5, 7))], (0, 3)),
        ([*HELD, *OWN, *restart(3, 1, "unclean_restart"), *starts(4, 1, (4, 3), (4, 4), (5, 7))], (0, 4)),
    ],
)
def test_one_leader_epoch_with_two_starts(lines: list[Line], offsets: tuple[int, int], tmp_path: Path) -> None:
    assert found(tmp_path, lines) == [(offsets,)]


@pytest.mark.parametrize(
    "lines",
    [
        # The first entry begins at the log start offset.
        [*HELD, *OWN, said(2, 2, "log_start", log_start=3), *starts(3, 2, (4, 3), (5, 7))],
        # Where its log begins is not stated, so it may be there.
        [*UNKNOWN_START, *OWN, *starts(2, 2, (4, 3), (5, 7))],
        # A process that was killed may have lost the file, and built it of what it recovered.
        [*HELD, *OWN, *restart(3, 1, "unclean_restart"), *starts(4, 1, (4, 3), (5, 7))],
        # The file was lost, and the next record of the epoch is noted.
        [*HELD, *OWN, *restart(3, 1, "clean_restart"), *starts(4, 1, (5, 8), kind="epoch_assigned")],
        # Then the file lists that entry.
        [
            *(*HELD, *OWN, *restart(3, 1, "clean_restart"), *starts(4, 1, (5, 8), kind="epoch_assigned")),
            *starts(5, 1, (5, 8)),
        ],
    ],
)
def test_near_miss_a_second_start_that_something_explains(lines: list[Line], tmp_path: Path) -> None:
    assert found(tmp_path, lines) == []
