"""Signs in the segments of two replicas: they differ where an old leader's uncommitted tail cannot explain it.

An old leader may keep records that were never committed, up to the end of its log, until it follows the new leader.
So a difference up to the end of one log shows nothing. But the leader of an epoch writes each offset once, and a
follower appends only behind what it shares with its leader. These two hold at any high watermark, known or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from forensics.replay.committed.divergence import suspected_divergences, weighed_forks
from forensics.replay.facts.partition_facts import Fork, ForkPart
from forensics.replay.history import History
from forensics.replay.signs.sign import Sign, Suspicion


def differ_in_one_epoch(history: History) -> Iterator[Suspicion]:
    """Yield groups of replicas with other record batches of one leader epoch at the same offsets."""
    yield from _found(Sign.COPIES_DIFFER_IN_ONE_EPOCH, history, lambda fork: fork.in_one_epoch)


def differ_within(history: History) -> Iterator[Suspicion]:
    """Yield groups of replicas that differ at offsets, and have the same record batch behind them."""
    yield from _found(Sign.COPIES_DIFFER_WITHIN, history, lambda fork: fork.enclosed)


def _found(sign: Sign, history: History, part: Callable[[Fork], ForkPart | None]) -> Iterator[Suspicion]:
    for one in suspected_divergences(history, weighed_forks(history), part):
        odd, others = sorted(one.sides, key=lambda side: (len(side), side))
        (*_, epoch), ref = one.first_batch(odd[0])
        (*_, since), witnessed = one.first_batch(others[0])
        yield Suspicion(
            sign, odd[0], others[0], _known(epoch), _known(since), one.ranges[0][0], one.ranges[-1][1], None,
            (witnessed, ref), sides=(others, odd), pieces=one.ranges,
        )  # fmt: skip


def _known(epoch: int | None) -> int:
    return -1 if epoch is None else epoch
