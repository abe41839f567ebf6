"""A sign of the loss that KIP-101 describes: a member of the ISR truncated its log, and led before it fetched again."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.replay.committed.led_next import led_next
from forensics.replay.history import History
from forensics.replay.signs.sign import Sign, Suspicion


def led_after_truncating(history: History) -> Iterator[Suspicion]:
    """Yield members of the ISR that truncated to their own high watermark as followers, and led next.

    What they truncated may be committed.
    """
    for one in history.truncations:
        after = led_next(history, one)
        if after is None:
            continue
        first = max(one.target, after.begins.low)
        if first < one.end:
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
