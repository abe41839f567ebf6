"""Which copies of lost records are to be kept, and how that is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import take_in
from forensics.replay.committed import Loss
from forensics.replay.history import Epoch, History, Replica
from forensics.replay.interval import Interval
from forensics.replay.lineage import Lineage, Range
from forensics.rules.rescue import advice, copies_text

WHOLE = ((18, 28),)


def lost(**holders: tuple[Range, ...]) -> Loss:
    """[18, 28) is lost; ``b1=ranges`` are what broker 1 still holds of it."""
    held = {int(name[1:]): ranges for name, ranges in holders.items()}
    return Loss(WHOLE, Epoch(4, leader=3, begins=Interval.at(18)), (), held, Lineage(((0, 0),)))


@pytest.mark.parametrize(
    ("loss", "said", "kept", "stopped"),
    [
        (lost(b2=WHOLE), "still held by broker 2", "broker 2's copy of orders-0, the only one with the records", [2]),
        (
            lost(b1=WHOLE, b2=WHOLE),
            "still held by brokers 1 and 2",
            "broker 1's copy of orders-0 (also on broker 2)",
            [1],
        ),
        (
            lost(b1=((18, 23),), b2=WHOLE),
            "still held by broker 2, [18, 23) also by broker 1",
            "broker 2's copy of orders-0 (broker 1 has a part of the records)",
            [2],
        ),
        (
            lost(b1=((18, 20),), b2=((18, 25),), b4=((22, 28),)),
            "only [18, 25) still held by broker 2, [22, 28) by broker 4, [18, 20) by broker 1",
            "broker 2's copy of orders-0 with [18, 25) and broker 4's copy of orders-0 with [22, 28)",
            [2, 4],
        ),
    ],
)
def test_the_copies_to_keep_are_those_with_the_most(
    loss: Loss, said: str, kept: str, stopped: list[int], sample_traces: Path
) -> None:
    history = History("orders", 0, replicas={broker: Replica(broker, on_disk=True) for broker in loss.holders})
    found = advice(history, take_in([str(sample_traces / "unclean-0.10.2.2")]), loss)
    assert copies_text(loss) == said
    assert found["keep"] == kept
    assert [step.text.split()[2] for step in found["next_steps"] if step.text.startswith("stop")] == [
        str(broker) for broker in stopped
    ]
