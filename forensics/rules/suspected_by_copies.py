"""Differences between segments that suggest a fork at any high watermark: entries of ``suspected.SUSPECTS``."""

from __future__ import annotations

from forensics.replay.signs.sign import Sign
from forensics.rules.copying import KEEP_BOTH
from forensics.rules.suspect import TWO_TOPICS, Suspect

_TWO_MOMENTS = (
    "a directory has files of two moments: it was copied while its broker was running, or put back in part from a "
    "backup"
)

OF_COPIES: tuple[Suspect, ...] = (
    Suspect(
        Sign.COPIES_DIFFER_IN_ONE_EPOCH,
        "replica-divergence",
        "{odd} {have} other records than {others} at {offsets}, in the same leader epoch{in_epoch}. The leader of an "
        "epoch writes each offset once, and followers append what it wrote",
        "has a different record batch at {offsets}{in_epoch}",
        (
            (
                "the leader was killed, lost what it had not flushed, and wrote other records in the same leader "
                "epoch. Then one side was never committed"
            ),
            _TWO_MOMENTS,
            TWO_TOPICS,
        ),
        before="",
        after="",
        had="has its own record batch at {offsets}",
        do_not=(KEEP_BOTH,),
    ),
    Suspect(
        Sign.COPIES_DIFFER_WITHIN,
        "replica-divergence",
        "{odd} {have} other records than {others} at {offsets}, and the same records behind them. A replica that had "
        "truncated to follow its leader would have the same records at both",
        "has a different record batch at {offsets}{in_epoch}",
        (_TWO_MOMENTS,),
        before="",
        after="",
        had="has its own record batch at {offsets}",
        do_not=(KEEP_BOTH,),
    ),
)
"""In the order of ``Sign``."""
