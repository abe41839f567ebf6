"""Which copies of lost records are to be kept, and how that is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from forensics.engines.local import take_in
from forensics.replay.committed.open_losses import MoreLost
from forensics.replay.committed.proof import Loss
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History, Replica, ShortenedBy, ShortenedLog, Truncation, TruncationReason
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import Lineage, Range
from forensics.rules.rescue import _freed_blocks, _put_back, _replaced, advice, copies_text

WHOLE = ((18, 28),)


def lost(**holders: tuple[Range, ...]) -> Loss:
    """[18, 28) is lost; ``b1=ranges`` are what broker 1 still holds of it."""
    held = {int(name[1:]): ranges for name, ranges in holders.items()}
    return Loss(WHOLE, Epoch(4, leader=3, begins=Interval.at(18)), (), held, Lineage(((0, 0),)))


@pytest.mark.parametrize(
    ("loss", "said", "kept", "stopped"),
    [
        (
            lost(b2=WHOLE),
            "broker 2 still has them",
            "broker 2's copy of orders-0. It is the only one with the lost records",
            [2],
        ),
        (
            lost(b1=WHOLE, b2=WHOLE),
            "brokers 1 and 2 still have them",
            "broker 1's copy of orders-0 (broker 2 has the same records)",
            [1],
        ),
        (
            lost(b1=((18, 23),), b2=WHOLE),
            "broker 2 still has them, broker 1 has also offsets 18 to 22",
            "broker 2's copy of orders-0 (broker 1 has a part of the records)",
            [2],
        ),
        (
            lost(b1=((18, 20),), b2=((18, 25),), b4=((22, 28),)),
            (
                "broker 2 still has only offsets 18 to 24 of them, broker 4 has offsets 22 to 27, "
                "broker 1 has offsets 18 to 19"
            ),
            "broker 2's copy of orders-0 with offsets 18 to 24 and broker 4's copy of orders-0 with offsets 22 to 27",
            [2, 4],
        ),
    ],
)
def test_the_copies_to_keep_are_those_with_the_most(
    loss: Loss, said: str, kept: str, stopped: list[int], sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forensics.rules.rescue.more_lost", lambda *_: MoreLost())
    history = History(
        PartitionFacts("orders", 0), replicas={broker: Replica(broker, on_disk=True) for broker in loss.holders}
    )
    found = advice(history, take_in([str(sample_traces / "unclean-0.10.2.2")]), loss)
    assert copies_text(history, loss) == said
    assert found["keep"] == kept
    assert [step.text.split()[2] for step in found["next_steps"] if step.text.startswith("stop")] == [
        str(broker) for broker in stopped
    ]


def test_where_a_log_was_replaced_the_former_one_is_looked_for_first() -> None:
    """A broker that had stopped cleanly loads a shorter log: the one that it had used before has the lost records."""
    history = History(PartitionFacts("orders", 0))
    shorter = ShortenedLog(3, 0, Interval.at(28), 18, Lineage(((0, 0),)), None, ())
    history.shortened_logs[:] = [shorter]
    (step,) = _replaced(history, lost())
    assert step.startswith("look for the data directory that broker 3 used before its last clean stop")
    for other in (replace(shorter, cause=ShortenedBy.UNCLEAN_RESTART), replace(shorter, dir_failed=True)):
        history.shortened_logs[:] = [other]
        assert _replaced(history, lost()) == ()


def test_a_log_without_its_end_may_be_a_copy_from_before() -> None:
    """The directory of a running broker that was copied and put back loads like one after a loss of power."""
    history = History(PartitionFacts("orders", 0))
    shorter = ShortenedLog(3, 0, Interval.at(28), 18, Lineage(((0, 0),)), None, (), cause=ShortenedBy.UNCLEAN_RESTART)
    history.shortened_logs[:] = [shorter]
    assert _put_back(history, lost()) == (
        (
            "ask whether somebody put back the data directory of broker 3 from a backup or a snapshot before it "
            "started without the records. If so, keep what was there before, and copy it: it may have all of them"
        ),
    )
    history.shortened_logs[:] = [shorter, replace(shorter, replica=4)]
    (step,) = _put_back(history, lost())
    assert "the data directories of brokers 3 and 4 from a backup or a snapshot before each started" in step
    for other in (replace(shorter, cause=ShortenedBy.CLEAN_RESTART), replace(shorter, dir_failed=True)):
        history.shortened_logs[:] = [other]
        assert _put_back(history, lost()) == ()


def test_an_image_is_taken_of_the_disk_that_had_most() -> None:
    """Broker 1 truncated all of the lost records, broker 2 the first of them."""
    log, history = Lineage(((0, 0),)), History(PartitionFacts("orders", 0))
    history.truncations[:] = [
        Truncation(broker, 4, 3, 18, Interval.at(end), log, TruncationReason.LEADER_EPOCH, None, ())
        for broker, end in ((1, 28), (2, 20))
    ]
    (step,) = _freed_blocks(history, lost())
    assert "broker 1 had the records (broker 2 had fewer of them), and freed blocks of its disk" in step.text
    history.truncations[1] = replace(history.truncations[1], before=Interval.at(28))
    (step,) = _freed_blocks(history, lost())
    assert "brokers 1 and 2 had the records, and freed blocks of their disks" in step.text
