"""Recorded clusters whose consumer groups committed: ``groupspower`` lost its power, ``groupscalm`` lost nothing.

In ``groupspower`` brokers 1 and 2 are killed right after group ``billing`` has read offsets 10 to 14 of ``orders-0``.
Broker 2 returns without them and leads, and broker 1 follows it. The last checkpoint of the high watermark was older.
Positions of other groups are set by hand, beyond the end of a log too, and a topic is created again.
"""

from __future__ import annotations

import shutil
import tarfile
from functools import cache
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.confidence import Weakness
from forensics.result import Result
from forensics.rules.finding import GroupReset

DATA = Path(__file__).parent / "data"
LOSS, CUT = "committed-data-lost", "truncation-below-committed"
POWER = ("groupspower-2.8.2", "groupspower-3.8.1")


@cache
def scanned(case: str) -> Result:
    return scan([str(DATA / f"{case}.tar.xz")])


def verdicts(result: Result, rule: str) -> dict[str, set[str]]:
    """The verdicts of a rule on the partitions of applications."""
    found: dict[str, set[str]] = {}
    for one in result.partitions:
        if not one.history.topic.startswith("__"):
            found.setdefault(one.history.name, set()).add(one.judgements[rule].verdict.value)
    return found


@pytest.mark.parametrize("case", POWER)
def test_a_group_shows_what_was_lost_after_the_last_checkpoint(case: str) -> None:
    result = scanned(case)
    for rule, replicas in ((LOSS, ()), (CUT, (1,))):
        assert verdicts(result, rule) == {"again-0": {"clean"}, "calm-0": {"clean"}, "orders-0": {"violated"}}
        (found,) = [one for one in result.findings if one.rule == rule]
        assert (found.topic, found.offsets, found.replicas) == ("orders", ((10, 15),), replicas)
        assert Weakness.READ_BY_GROUP_ALONE in found.weak
    loss = next(one for one in result.findings if one.rule == LOSS)
    assert loss.groups == (GroupReset("billing", 15, 10),)
    critical = {(one.rule, one.topic) for one in result.findings if one.severity.rank == 0}
    assert critical == {(LOSS, "orders"), (CUT, "orders")}


@pytest.mark.parametrize("case", POWER[1:])
def test_without_the_positions_of_the_groups_the_loss_is_unknown(case: str, tmp_path: Path) -> None:
    with tarfile.open(DATA / f"{case}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    for folder in tmp_path.glob("*/broker-*/data/__consumer_offsets-*"):
        shutil.rmtree(folder)
    result = scan([str(tmp_path)])
    assert verdicts(result, LOSS)["orders-0"] == verdicts(result, CUT)["orders-0"] == {"unknown"}


def test_nothing_is_found_where_groups_lag_and_are_reset_and_a_topic_is_created_again() -> None:
    result = scanned("groupscalm-3.6.1")
    assert [one for one in result.findings if one.severity.rank < 3] == []
    for rule in (LOSS, CUT):
        assert verdicts(result, rule) == {"again-0": {"clean"}, "orders-0": {"clean"}}
    groups = {one.group for partition in result.partitions for one in partition.history.facts.positions}
    assert groups == {"ahead", "billing", "lagging", "mover"}
