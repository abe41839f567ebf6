"""A sign of the loss that KIP-101 describes: a member of the ISR truncated its log, and led before it fetched again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forensics.replay.history import Epoch, History, Truncation, TruncationReason
from forensics.replay.signs.sign import Sign, Suspicion

_MINUTE: Final = 60_000_000
"""Microseconds. A member of the ISR fetches within replica.lag.time.max.ms, 10 or 30 s; so after a minute it had."""


def led_after_truncating(history: History) -> Iterator[Suspicion]:
    """Yield members of the ISR that truncated to their own high watermark as followers, and led next.

    The high watermark of a follower is behind that of its leader by one fetch. What it truncates may be committed, and
    it is lost if the leader fails before the follower has fetched it again (KIP-101).
    """
    for one in history.truncations:
        after = _led_next(history, one.epoch)
        if one.reason is not TruncationReason.HIGH_WATERMARK or after is None or after.leader != one.replica:
            continue
        first = max(one.target, after.begins.low)
        if first < one.end and _stayed_in_isr(history.epochs.get(one.epoch), one) and _soon(one, after):
            refs = (*one.before.because[:1], *one.refs, *after.refs[:1])
            yield Suspicion(
                Sign.LED_AFTER_TRUNCATING, one.replica, one.replica, after.epoch, one.epoch, first, one.end, after.time,
                tuple(dict.fromkeys(refs)), target=one.target,
            )  # fmt: skip


def led_after_unnamed_role(history: History) -> Iterator[Suspicion]:
    """Yield the same where no line names a leader epoch, by what another replica then removed to follow it."""
    for one in history.truncated_then_led:
        yield Suspicion(
            Sign.LED_AFTER_UNNAMED_ROLE, one.replica, one.other, -1, -1, one.target, one.end, one.time, one.refs,
            target=one.target,
        )  # fmt: skip


def _led_next(history: History, number: int) -> Epoch | None:
    """Return the first later epoch that a broker led; None if there is none, or if one in between may be missing."""
    after = next((one for one in history.taken_up if one.epoch > number), None)
    return after if after is not None and after.leader is not None else None


def _stayed_in_isr(epoch: Epoch | None, one: Truncation) -> bool:
    """Return whether each ISR that is known of an epoch has the replica, which followed another one in it."""
    if epoch is None or epoch.leader in (None, -1, one.replica):
        return False
    return bool(epoch.isr) and all(one.replica in isr for isr, _ in epoch.isr)


def _soon(one: Truncation, after: Epoch) -> bool:
    """Return whether it led less than a minute later, by its own clock, or no time is known."""
    return one.time is None or after.time is None or after.time - one.time < _MINUTE
