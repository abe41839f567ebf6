"""Logs and high watermarks from before the moment from which a trace claims to be complete: no line shows them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from forensics.replay.facts.trace_lines import TraceLine
from forensics.replay.traces.replica import Replica
from forensics.replay.traces.replica_log import BEFORE, Piece, Undecided


def first_end(line: TraceLine, since: Collection[int]) -> int:
    """Return the log end offset with which a replica begins: 0 if its first line states none.

    Args:
        line: the first line about its log.
        since: brokers of which a trace claims something from a moment on.

    Raises:
        Undecided: the log is from before that moment, so it may have records.
    """
    if line.leo is None and line.broker in since:
        raise Undecided('states no log end offset; its log may have records from before the "from" of the claim')
    return line.leo or 0


def check_removed(
    line: TraceLine, removed: Iterable[Piece], replicas: Iterable[Replica], since: Collection[int]
) -> None:
    """Check that the lines show which records from before the claim were committed, where they are truncated.

    Raises:
        Undecided: no replica has stated a high watermark so far.
    """
    unknown = line.broker in since and any(piece.writer == BEFORE for piece in removed)
    if unknown and all(one.had_hw is None for one in replicas):
        raise Undecided('truncates records from before the "from" of the claim; no line states a high watermark so far')
