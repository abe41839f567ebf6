"""High watermarks above the log end offset of the same replica, by the lines of a trace that is played."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.trace_lines import TraceLine
from forensics.replay.traces.broken_invariants import HwAboveLeo
from forensics.replay.traces.high_watermarks import Whose
from forensics.replay.traces.replica import Replica
from forensics.replay.traces.replica_log import BEFORE, Piece
from parsers.schema import Kind


def stated_above(replica: Replica, line: TraceLine, hw: int, whose: Whose, *, begun_late: bool) -> HwAboveLeo | None:
    """Return a high watermark above the log end offset of its replica, which the lines before state.

    That in a checkpoint file may be from before a truncation: it counts if the log never had so much.

    Args:
        replica, line: the replica and the line.
        hw, whose: the high watermark that the line states.
        begun_late: the replica begins with records.
    """
    end = replica.log.end
    allowed = {Whose.OWN: replica.kept or 0, Whose.WRITTEN: replica.longest}.get(whose)
    if allowed is None or not replica.known or (whose is Whose.WRITTEN and begun_late):
        return None
    if whose is Whose.OWN and hw <= end:
        replica.kept = None
    return _above(replica, line, hw, Ref(row=line.row, note=f"high watermark {hw}")) if hw > max(end, allowed) else None


def kept_above(replica: Replica, line: TraceLine) -> HwAboveLeo | None:
    """Return the last high watermark that a replica stated in its process, if its log has become shorter than that."""
    if replica.had_hw is None or line.hw is not None or replica.had_hw[1] != line.run:
        return None
    hw, _, stated_by = replica.had_hw
    return _above(replica, line, hw, stated_by) if hw > replica.log.end else None


def _above(replica: Replica, line: TraceLine, hw: int, stated_by: Ref) -> HwAboveLeo:
    refs = stated_by, replica.ended
    return HwAboveLeo(line.broker, line.broker, replica.epoch, hw, replica.log.end, False, line.time, refs)


def gone_before(replica: Replica, line: TraceLine, hw: int) -> Iterator[Piece]:
    """Yield the records that a replica had lost as the trace began: it had kept a high watermark above its log.

    It states that before its first role, or with it. This does not hold of a broker up to 2.3: a truncation there may
    have left the high watermark where it was.
    """
    before = line.kind in (Kind.HW_LOADED, Kind.HW_CHECKPOINT) and replica.epoch < 0
    with_it = line.kind == Kind.BECOME_FOLLOWER and replica.had_hw is None
    if (before or with_it) and hw > replica.log.end:
        yield Piece(replica.log.end, hw, BEFORE, whole=False)
