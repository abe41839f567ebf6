"""Recorded clusters of more kinds, whole and with a part of them gone.

What each is: ``retained-2.4.1``, healthy, with retention by size and a follower that was away longer than it keeps;
``moved-2.8.2`` and ``moved-3.5.2``, healthy, a partition that is reassigned away and back under ZooKeeper;
``heldcopy-0.10.2.2``, a loss by an unclean election, taken while the old leader is down; ``retloss-2.6.3``, the same
with the old leader back and retention at work; ``flaps-0.10.2.2``, healthy, brokers frozen beyond their session and
lag; ``ibpup-2.4.1``, healthy, an upgrade of the inter-broker protocol from 0.10.2; ``rf1-0.10.2.2``, one replica that
loses its unflushed tail.
"""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.result import Result

DATA = Path(__file__).parent / "data"
LOSS = "committed-data-lost"
UNKNOWN = "unknown"
BEFORE_011 = (LOSS, "truncation-below-committed", "leo-regression", "uncommitted-truncation")
"""What logs at their stock level leave open before leader epochs: how far a log went, and what was committed."""

WHOLE: dict[str, tuple[set[tuple[str, tuple[tuple[int, int], ...]]], tuple[str, ...]]] = {
    "retained-2.4.1": (set(), ()),
    "moved-2.8.2": (set(), ()),
    "moved-3.5.2": (set(), ()),
    "heldcopy-0.10.2.2": (
        {(LOSS, ((21, 38),)), ("replica-divergence", ((21, 37),)), ("unclean-election", ())},
        (),
    ),
    "retloss-2.6.3": (
        {(LOSS, ((20, 33),)), ("truncation-below-committed", ((20, 33),)), ("unclean-election", ())},
        (),
    ),
    "flaps-0.10.2.2": (set(), BEFORE_011),
    "ibpup-2.4.1": (set(), ()),
    "rf1-0.10.2.2": (set(), (LOSS, "leo-regression")),
}


def unpacked(name: str, folder: Path) -> Path:
    with tarfile.open(DATA / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / name


def open_questions(result: Result) -> set[str]:
    found = (one.judgements.items() for one in result.partitions)
    return {rule for judgements in found for rule, judged in judgements if judged.verdict == UNKNOWN}


@pytest.mark.parametrize("name", WHOLE)
def test_whole(name: str) -> None:
    result = scan([str(DATA / f"{name}.tar.xz")])
    findings, unknown = WHOLE[name]
    assert {(finding.rule, finding.offsets) for finding in result.findings} == findings
    assert open_questions(result) == {*unknown}
    assert {finding.cause for finding in result.findings} <= {"unclean-election"}


def test_the_copy_of_a_leader_that_is_down_is_the_one_to_keep() -> None:
    (loss,) = (f for f in scan([str(DATA / "heldcopy-0.10.2.2.tar.xz")]).findings if f.rule == LOSS)
    assert loss.replicas == (1,)
    assert loss.keep is not None
    assert loss.keep.startswith("broker 1's copy of orders-0, the only one")
    assert any("restart broker 1" in never for never in loss.do_not)


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("retained-2.4.1", "broker-1/logs/server.log"),
        ("retained-2.4.1", "broker-1/data/orders-0/00000000000000000207.log"),
        ("retained-2.4.1", "broker-2/data/orders-0/00000000000000000207.log"),
        ("moved-2.8.2", "broker-9/logs/state-change.log"),
        ("flaps-0.10.2.2", "broker-9/logs/controller.log"),
        ("ibpup-2.4.1", "broker-2/logs/state-change.log"),
    ],
)
def test_a_file_that_was_not_collected_makes_no_finding_of_a_healthy_cluster(
    name: str, gone: str, tmp_path: Path
) -> None:
    folder = unpacked(name, tmp_path)
    (folder / gone).unlink()
    result = scan([str(folder)])
    # That something is missing may be said.
    assert {f.rule for f in result.findings} <= {"evidence-gap", "segment-damage"}
    assert open_questions(result)


def test_who_printed_all_is_not_asked_for_more(tmp_path: Path) -> None:
    """Where the leader began its epoch is in its own log, which is gone; the others fetched as they say."""
    folder = unpacked("retained-2.4.1", tmp_path)
    (folder / "broker-1" / "logs" / "server.log").unlink()
    (partition,) = (one for one in scan([str(folder)]).partitions if one.history.name == "orders-0")
    assert {*partition.history.gaps} == {1}


TIME = re.compile(r"\[2026-11-22 ([0-9:,]+)\]")


@pytest.mark.parametrize(
    ("name", "begin", "end", "why"),
    [
        ("retained-2.4.1", "20:32:03,510", "20:32:21,379", "broker 3's .*it had fetched up to 210 in epoch 0"),
        ("ibpup-2.4.1", "20:43:44,043", "20:43:56,585", "broker 2's .*its log reached 748 before its first role"),
    ],
)
def test_lines_of_a_time_that_are_missing_make_no_finding_of_a_healthy_cluster(
    name: str, begin: str, end: str, why: str, tmp_path: Path
) -> None:
    folder = unpacked(name, tmp_path)
    for log in folder.rglob("logs/*.log"):
        kept, gone = [], False
        for line in log.read_text().splitlines(keepends=True):
            found = TIME.match(line)
            gone = begin <= found[1] < end if found else gone
            kept += [] if gone else [line]
        log.write_text("".join(kept))
    result = scan([str(folder)])
    assert {f.rule for f in result.findings} <= {"evidence-gap"}
    (partition,) = (one for one in result.partitions if one.history.name == "orders-0")
    assert partition.judgements[LOSS].verdict == UNKNOWN
    wishes = [wish for judged in partition.judgements.values() for wish in judged.missing]
    assert any(re.match(why, wish) for wish in wishes)
