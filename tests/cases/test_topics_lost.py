"""``topicslost-4.1.1``, ``topicslost-3.3.2``: the only controller is formatted again, and all topics are gone.

All nodes are stopped before that, the brokers cleanly, and nobody deletes a topic. In 4.1.1 the brokers lack their
copies of the metadata log too, and keep the replicas as ``-stray``; topics ``on`` and ``off`` are created again. In
3.3.2 the brokers have the metadata log of before, and delete the replicas of which they learn that the topic is gone.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.reports import markdown
from forensics.result import Result
from forensics.rules.finding import Severity

DATA = Path(__file__).parent / "data"
LOSS, SHORTER = "committed-data-lost", "leo-regression"


@cache
def scanned(version: str) -> Result:
    return scan([str(DATA / f"topicslost-{version}.tar.xz")])


def lost(version: str) -> dict[str, tuple[int, tuple[tuple[int, int], ...], bool]]:
    """By partition: which life of its topic it is, the offsets, and whether a copy is left."""
    found = (one for one in scanned(version).findings if one.rule == LOSS and one.topic in ("on", "off", "safe"))
    return {f"{one.topic}-{one.partition}": (one.incarnation, one.offsets, not one.no_copy) for one in found}


def test_each_partition_of_a_lost_topic_is_suspected_and_its_copies_are_to_be_kept() -> None:
    again = {f"{topic}-{number}": (1, ((0, 120),), True) for topic in ("on", "off") for number in range(4)}
    assert lost("4.1.1") == again | {f"safe-{number}": (0, ((0, 120),), True) for number in range(4)}


def test_brokers_of_an_earlier_release_leave_no_copy() -> None:
    assert lost("3.3.2") == {
        f"{topic}-{number}": (0, ((0, 120),), False) for topic in ("off", "safe") for number in range(4)
    }


@pytest.mark.parametrize("topic", ["on", "off"])
def test_topics_that_were_created_again_lost_nothing(topic: str) -> None:
    present = [one for one in scanned("4.1.1").partitions if one.history.topic == topic and not one.history.incarnation]
    assert {one.judgements[LOSS].verdict.value for one in present} == {"clean"}


def test_the_only_controller_has_nobody_to_fetch_from_and_its_new_log_proves_nothing_of_the_old_one() -> None:
    """A high watermark of 72 was stated 31 seconds after the restart, in leader epoch 1 of the new log."""
    (finding,) = (one for one in scanned("4.1.1").findings if one.rule == SHORTER)
    assert (finding.topic, finding.offsets, finding.severity) == ("__cluster_metadata", ((0, 28),), Severity.ERROR)
    assert "fetched" not in finding.summary
    assert not [step for step in finding.do_not if "start controller" in step]


@pytest.mark.parametrize("version", ["4.1.1", "3.3.2"])
def test_a_ticket_has_no_empty_sentence(version: str) -> None:
    assert "." not in markdown.render(scanned(version)).splitlines()
