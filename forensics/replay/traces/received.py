"""High watermarks of a leader, as a follower received them.

A follower has one fetch in flight, so the responses are in order. The high watermark of a leader only rises in one role
(Partition.maybeIncrementLeaderHW).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.trace_lines import TraceLine
from forensics.replay.history import Regression, RegressionKind

if TYPE_CHECKING:
    from forensics.replay.traces.replica import Replica


class Received(NamedTuple):
    """A high watermark in a response.

    Attributes:
        leader: the leader.
        role: row of the line in which it took up its role.
        high_watermark: the value.
        ref: the line.
    """

    leader: int
    role: int | None
    high_watermark: int
    ref: Ref


def received(replica: Replica, leader: Replica | None, line: TraceLine, hw: int) -> Received | None:
    """Return what a follower received; None unless its leader leads in the leader epoch of its role."""
    number = line.leader if line.leader is not None else replica.leader
    if number is None or leader is None or not leader.leads or leader.epoch != replica.epoch:
        return None
    return Received(number, leader.took_up[1].row, hw, Ref(row=line.row, note=f"high watermark {hw}"))


def fell(leader: Replica, before: Received, now: Received, time: int | None) -> Regression | str | None:
    """Return the regression of a leader that two responses in a row show; None for none.

    If the leader itself states that its own has not fallen, the two contradict each other, as the text states.
    """
    if before.role != now.role or now.high_watermark >= before.high_watermark:
        return None
    own = leader.led_at[0] if leader.led_at is not None else 0
    if own <= now.high_watermark:
        values = before.high_watermark, now.high_watermark
        return Regression(now.leader, leader.epoch, *values, RegressionKind.LEADER, time, (before.ref, now.ref))
    return (
        f"received high watermark {now.high_watermark} of broker {now.leader}, its leader, after "
        f"{before.high_watermark}; by the lines before, that of broker {now.leader} is {own}"
    )
