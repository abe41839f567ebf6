"""Complete traces whose truncations state no log end offset: the lines before show how long the log was."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.rules.finding import Severity, Verdict
from tests.rules.traced import LEADS, Line, judged, said

HEAD: Line = {"kind": "trace", "system": "kafka", "protocol": "epoch", "cluster": "one", "complete": True}
SECOND = said(4, 2, "become_leader", leader_epoch=4, leo=5, isr="1,2")
FOLLOWS = said(5, 1, "become_follower", leader=2, leader_epoch=4)


def uncommitted(folder: Path, lines: list[Line]) -> list[tuple[tuple[int, int], ...]]:
    """The offsets of each finding about records that had not been committed; nothing may be unknown."""
    found = judged(folder, [HEAD | {"replicas": [1, 2]}, *LEADS, *lines])
    assert Verdict.UNKNOWN not in {one.verdict for one in found.values()}
    return [finding.offsets for finding in found["uncommitted-truncation"].findings]


@pytest.mark.parametrize(
    "lines",
    [
        # Both logs are empty, and broker 1 truncates to 0.
        [said(4, 2, "become_leader", leader_epoch=4, leo=0, isr="1,2"), FOLLOWS, said(6, 1, "truncate", offset=0)],
        # The log of broker 1 ends where it truncates to, by a line of an earlier role.
        [
            said(1, 1, "append", offset=0, leo=5),
            said(2, 2, "append", offset=0, leo=5),
            SECOND,
            FOLLOWS | {"leo": 5},
            said(6, 2, "become_leader", leader_epoch=5, leo=5, isr="1,2"),
            said(7, 1, "become_follower", leader=2, leader_epoch=5),
            said(8, 1, "truncate", offset=5),
        ],
    ],
)
def test_a_truncation_that_removes_nothing_is_no_finding(lines: list[Line], tmp_path: Path) -> None:
    assert uncommitted(tmp_path, lines) == []


def test_near_miss_the_log_was_longer(tmp_path: Path) -> None:
    lines = [
        said(1, 1, "append", offset=0, leo=10),
        said(2, 2, "append", offset=0, leo=5),
        said(3, 1, "hw", hw=5),
        SECOND,
        FOLLOWS,
        said(6, 1, "truncate", offset=5),
    ]
    assert uncommitted(tmp_path, lines) == [((5, 10),)]


def test_below_its_log_start_a_replica_removes_nothing(tmp_path: Path) -> None:
    lines = [
        *(said(1, one, "append", offset=0, leo=10) for one in (1, 2)),
        said(2, 1, "hw", hw=10),
        said(3, 2, "log_start", log_start=5),
        said(4, 2, "truncate", offset=4),
        said(5, 2, "append", offset=4, leo=10),
    ]
    assert uncommitted(tmp_path, lines) == []


@pytest.mark.parametrize(("checksums", "removed"), [(("a", "b"), (5, 10)), ((None, None), (8, 10))])
def test_a_record_batch_is_removed_as_a_whole(
    checksums: tuple[str | None, str | None], removed: tuple[int, int], tmp_path: Path
) -> None:
    batches = [
        said(second, broker, "append", offset=offset, leo=offset + 5) | ({"checksum": checksum} if checksum else {})
        for broker in (1, 2)
        for second, offset, checksum in ((broker, 0, checksums[0]), (broker + 0.5, 5, checksums[1]))
    ]
    lines = [*sorted(batches, key=lambda line: line["time"]), said(4, 1, "hw", hw=5), said(5, 2, "truncate", offset=8)]
    assert uncommitted(tmp_path, lines) == [(removed,)]


@pytest.mark.parametrize("third", [None, 100])
def test_records_of_before_the_trace_are_lost_with_the_truncation_that_removed_them(
    third: int | None, tmp_path: Path
) -> None:
    """Their leader epoch is unknown in all logs, and they are taken as alike; a third replica may still have them."""
    begins = [line for broker, end, hw in ((1, 100, 98), (2, 95, 90), *(((3, third, 90),) if third else ()))
              for line in (said(1, broker, "log_loaded", leo=end), said(1, broker, "hw_loaded", hw=hw))]  # fmt: skip
    lines = [
        *begins,
        said(5, 2, "become_leader", leader_epoch=7, leo=95, hw=90, isr="2"),
        said(6, 1, "become_follower", leader=2, leader_epoch=7, leo=100, hw=98),
        said(7, 1, "truncate", offset=95),
    ]
    found = judged(tmp_path, [HEAD | {"replicas": [1, 2, 3] if third else [1, 2]}, *lines])
    (finding,) = found["truncation-below-committed"].findings
    assert (finding.offsets, finding.severity) == (((95, 98),), Severity.CRITICAL)
    assert finding.summary.endswith("the partition has lost them")
