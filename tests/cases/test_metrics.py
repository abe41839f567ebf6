"""Recorded clusters with the scrapes that an exporter would have had: what was true there decides more."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.result import Partition

LOSS, CUT = "committed-data-lost", "truncation-below-committed"
LEADER, END = "kafka_topic_partition_leader", "kafka_topic_partition_current_offset"
CRASH = 1795538727
"""When all brokers were killed, seconds since 1970 UTC. Leaders were elected at 30 seconds later."""

BEFORE = {"orders-0": (1, 213), "audit-2": (3, 219), "audit-3": (1, 219), "click-0": (1, 216)}
"""Leader, and the high watermark at the power loss: clients had read, or had an acknowledgement of, all below."""
AFTER = {"orders-0": 201, "audit-2": 204, "audit-3": 217, "click-0": 209}
"""The high watermark at the first scrape after broker 2 began to lead, below that before."""


def scraped(folder: Path, apart: int = 0) -> str:
    """Write scrapes of the partitions.

    Args:
        folder: where.
        apart: seconds that the clock of the server is ahead.
    """
    lines = []
    for name, (leader, end) in BEFORE.items():
        topic, _, partition = name.rpartition("-")
        place = f'topic="{topic}",partition="{partition}"'
        for at, value, led_by in ((-10, 90, leader), (0, end, leader), (33, AFTER[name], 2), (48, 279, 2)):
            time = (CRASH + at + apart) * 1000
            lines.append(f"{LEADER}{{{place}}} {led_by} {time}")
            lines.append(f"{END}{{{place}}} {value} {time}")
    path = folder / "kafka_exporter.prom"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("apart", [0, -180, 240])
def test_a_loss_that_was_unknown_is_found_to_the_offset(evidence: Path, tmp_path: Path, apart: int) -> None:
    case = evidence.parent / "incidents" / "rackloss-3.9.1"
    if not case.is_dir():
        pytest.skip("the recorded incident is not here")
    found = partitions(str(case), scraped(tmp_path, apart))
    lost = {name: [one.offsets for one in found[name].judgements[LOSS].findings] for name in BEFORE}
    assert lost == {
        "orders-0": [((201, 213),)],
        "audit-2": [((201, 204),), ((204, 219),)],
        "audit-3": [((216, 219),)],
        "click-0": [((207, 216),)],
    }
    assert {found[name].judgements[CUT].verdict.value for name in BEFORE} == {"violated"}


@pytest.mark.parametrize("apart", [0, -240, 240])
@pytest.mark.parametrize(
    ("name", "topic", "at", "values"),
    [
        # 12 records of the leader that died were uncommitted, and the next one wrote others in their place.
        ("acks1-3.9.1", "orders", 1795234426, ((1, 30), (2, 31), (2, 41), (2, 46))),
        # The topic was created again: its values fall.
        ("traps-3.9.1", "orders", 1795234459, ((1, 30), (2, 5), (2, 20), (3, 20), (2, 25))),
    ],
)
def test_healthy_clusters_have_no_finding(
    evidence: Path, tmp_path: Path, name: str, topic: str, at: int, values: tuple[tuple[int, int], ...], apart: int
) -> None:
    """Whatever the clock of the server is, and with values that are older than their scrapes."""
    place = f'topic="{topic}",partition="0"'
    lines = [
        f"{series}{{{place}}} {value} {(at + 12 * number + apart) * 1000}"
        for number, (leader, end) in enumerate(values)
        for series, value in ((LEADER, leader), (END, end))
    ]
    (tmp_path / "scrapes.prom").write_text("\n".join(lines) + "\n")
    found = partitions(str(evidence / name), str(tmp_path / "scrapes.prom"))
    assert found[f"{topic}-0"].judgements[LOSS].verdict.value == "clean"
    assert not [one.summary for part in found.values() for one in part.judgements[LOSS].findings]


def partitions(*paths: str) -> dict[str, Partition]:
    """The partitions of a scan, by name."""
    return {one.history.name: one for one in scan(paths).partitions}
