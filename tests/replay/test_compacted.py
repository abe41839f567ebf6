"""Logs in which the cleaner took what stood on both sides of where a leader began.

A follower that fetches after that notes the first record it is given, so its epoch file and the leader's differ.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.replay.facts.directory import Disk
from forensics.replay.lineage import UNKNOWN, Lineage
from tests.incident import Incident

OLD = [(first, first, 0) for first in (0, 13, 44)]
NEW = [(first, first, 1) for first in (75, 82, 99)]


def compacted(folder: Path) -> Incident:
    """Leader 2 of epoch 1 began at 60; of [45, 75) nothing is left, and broker 3 got epoch 1 from 71 on."""
    incident = Incident(folder)
    incident.begins(60)
    incident.succeeds(20, 1, 2, 60, 3, 1)
    for broker, start in ((1, 60), (2, 60), (3, 71)):
        incident[broker].segment([*OLD, *NEW])
        incident[broker].epochs((0, 0), (1, start)).checkpoint(100).checkpoint(100, "cleaner")
    return incident


def test_what_is_not_there_contradicts_no_epoch_file(tmp_path: Path) -> None:
    incident = compacted(tmp_path)
    assert [finding.summary for finding in incident.scan().findings] == []
    assert incident.history().facts.disks[2].lineage == Lineage(((0, 0), (UNKNOWN, 45), (1, 75)))


def test_an_epoch_file_that_a_record_contradicts_is_told(tmp_path: Path) -> None:
    incident = compacted(tmp_path)
    incident[2].epochs((0, 0), (1, 44))
    (finding,) = incident.findings("epoch-divergence")
    assert "offset 44 has leader epoch 0 in the segments and leader epoch 1" in finding.summary


@pytest.mark.parametrize(("whose", "start"), [((), 60), ((2,), None), ((1, 2), None)])
def test_a_followers_note_of_an_epoch_is_no_more_than_a_bound(
    whose: tuple[int, ...], start: int | None, tmp_path: Path
) -> None:
    """Broker 1 noted 60 too, but the cleaner may have been there first as well."""
    incident = compacted(tmp_path)
    (incident[2].folder / "logs" / "state-change.log").unlink()
    for broker in whose:
        for file in incident[broker].data.rglob("*"):
            if file.is_file():
                file.unlink()
    epoch = incident.history().epochs[1]
    assert epoch.start == start
    if start is None:
        assert epoch.begins.high == (60 if 1 not in whose else 71)


def test_where_an_epoch_begins_is_sure_only_behind_the_record_before_it() -> None:
    log = Lineage(((0, 0), (1, 10), (UNKNOWN, 20), (2, 30)))
    assert list(Disk(lineage=log).begun()) == [(0, 0), (1, 10)]
    undated = Disk(lineage=Lineage(((3, 5), (4, 9))))
    assert list(undated.begun()) == [(3, 5), (4, 9)]


def test_what_the_cleaner_left_at_the_head_of_a_log_is_not_where_its_epoch_began(tmp_path: Path) -> None:
    """Without the checkpoints, only the logs' properties show that a cleaner worked here."""
    incident = Incident(tmp_path)
    incident.begins(60, "cleanup.policy=compact")
    incident.succeeds(20, 1, 2, 60, 3, 1)
    for broker, first in ((1, 75), (2, 75), (3, 71)):
        incident[broker].segment([(first, 81, 1), (82, 99, 1)])
        for file in incident[broker].data.rglob("leader-epoch-checkpoint"):
            file.unlink()
    assert [finding.summary for finding in incident.findings("epoch-divergence")] == []


NOTED = (
    "INFO Updated PartitionLeaderEpoch. New: {{epoch:{}, offset:{}}}, Current: {{epoch:{}, offset:{}}} for Partition: "
    "orders-0. Cache now contains 2 entries. (kafka.server.epoch.LeaderEpochFileCache)"
)


@pytest.mark.parametrize("properties", ["cleanup.policy=compact", None])
def test_a_follower_notes_epochs_where_the_first_batches_are_left(properties: str | None, tmp_path: Path) -> None:
    """Broker 3 fetched from a log of which a cleaner had removed the first batches of epochs 1 and 2, and led next.

    Perhaps no line states whether there was one.
    """
    incident = Incident(tmp_path)
    incident.begins(20, properties or "")
    incident.succeeds(10, 1, 2, 20, 1)
    incident.succeeds(20, 2, 1, 40, 2)
    incident[3].starts(30).loads(30, 20).follows(31, 2, 1, 20, 20)
    incident[3].says(32, NOTED.format(1, 35, 0, 0)).says(32, NOTED.format(2, 50, 1, 35))
    incident.succeeds(40, 3, 3, 60, 1, 2)
    for broker in (1, 2, 3):
        incident[broker].segment([(58, 59, 2), (60, 69, 3)], base=58)
        (incident[broker].folder / "data" / "orders-0" / f"{0:020}.log").unlink()
        left = ((1, 35), (2, 50)) if broker == 3 else ((1, 20), (2, 40))
        incident[broker].epochs((0, 0), *left, (3, 60)).checkpoint(70)
        if properties is None:
            log = incident[broker].folder / "logs" / "server.log"
            kept = [line for line in log.read_text().splitlines(keepends=True) if "Created log" not in line]
            log.write_text("".join(kept))
    assert not incident.findings("committed-data-lost")
