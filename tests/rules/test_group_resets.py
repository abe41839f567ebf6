"""A group has one position in a partition, so it gets one reset for all losses of the partition."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.rules.finding import GroupReset, advised
from forensics.rules.group_resets import any_reset
from tests.committed import Commit, commit
from tests.incident import Incident

LOSS = "committed-data-lost"


def two_losses(folder: Path) -> Incident:
    """Both brokers lose power twice. First offsets 10 to 29 of epoch 0 are lost, then 15 to 19 of epoch 1."""
    incident = Incident(folder, brokers=2)
    incident.begins(10)
    recovers = "INFO [Log partition=orders-0, dir=/d] Recovering unflushed segment 0 (kafka.log.Log)"
    incident[2].starts(100, killed=True).says(100, recovers).loads(100, 10)
    incident.elects(101, 1, 2, [2])
    incident[2].leads(101, 1, 10, 10, [2])
    incident[1].starts(120, killed=True).says(120, recovers).loads(120, 30).follows(121, 1, 2, 30, 30).cuts(122, 10)
    incident[1].starts(200, killed=True).says(200, recovers).loads(200, 15)
    incident.elects(201, 2, 1, [1])
    incident[1].leads(201, 2, 15, 15, [1])
    incident[2].starts(220, killed=True).says(220, recovers).loads(220, 20).follows(221, 2, 1, 20, 20).cuts(222, 15)
    for number in (1, 2):
        incident[number].segment([(0, 9, 0), (10, 14, 1), (15, 40, 2)])
        incident[number].epochs((0, 0), (1, 10), (2, 15)).checkpoint(41)
    return incident


@pytest.mark.parametrize(
    ("first", "said"), [(30, "CURRENT-OFFSET is 30 or below, or it skips records."), (0, "CURRENT-OFFSET is 0.")]
)
def test_a_group_that_the_evidence_does_not_name_is_shown_first(first: int, said: str, tmp_path: Path) -> None:
    """No position is below 0."""
    incident = two_losses(tmp_path)
    show, reset = any_reset(incident.history(), incident.scan().case, first)
    assert show.command is not None
    assert show.command.endswith("--describe --all-groups")
    filled = advised("orders-0", next_steps=[reset], reset_to=first)["next_steps"]
    assert f"Leave alone a group whose {said}" in filled[0].text


def test_a_group_gets_one_reset_to_the_lowest_offset_of_all_losses(tmp_path: Path) -> None:
    incident = two_losses(tmp_path)
    commit(tmp_path, Commit(20, 5, 0), Commit(60, 30, 0), Commit(130, 18, 1, "later"), Commit(140, 19, 1, "later"))
    first, second = sorted(incident.findings(LOSS), key=lambda one: one.epochs[-1])
    assert (first.offsets, second.offsets) == (((10, 30),), ((15, 20),))
    assert first.groups == (GroupReset("billing", 30, 10),)
    assert second.groups == (GroupReset("billing", 30, 10), GroupReset("later", 19, 15))
    commands = [
        step.command for one in (first, second) for step in one.next_steps if step.command and "--reset" in step.command
    ]
    assert [command.split(" --group ")[1] for command in commands] == [
        "billing --topic orders:0 --reset-offsets --to-offset 10 --dry-run",
        "later --topic orders:0 --reset-offsets --to-offset 15 --dry-run",
    ]
    assert (
        "consumer group billing needs one reset for all losses of this partition, to offset 10: it is among the steps "
        "for offsets 10 to 29"
    ) in [step.text for step in second.next_steps]
