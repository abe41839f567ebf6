"""High watermarks below which a replica cannot go, and those that go below.

In one process a high watermark only falls with the end of the log, or as a follower takes over that of its leader: not
after it has received one in the same role, because that of the leader only rises (Partition.maybeIncrementLeaderHW,
ReplicaFetcherThread.processPartitionData). A process begins with the one in its checkpoint file, which a clean stop
writes (ReplicaManager.shutdown).
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, NamedTuple

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.trace_lines import TraceLine
from forensics.replay.history import Regression, RegressionKind
from forensics.replay.traces.high_watermarks import Whose
from parsers.schema import Kind

if TYPE_CHECKING:
    from forensics.replay.traces.replica import Replica


class Least(NamedTuple):
    """The least that the high watermark of a replica can be.

    Attributes:
        value: the high watermark.
        ref: the line that shows it.
        role: of a follower, the row of the line in which its leader took up the role in which it received the value.
        read: of a process that has stated none so far, in which way one that is lower went back.
        followed: the replica followed since it stated it, and may have taken over a lower one from its leader.
    """

    value: int
    ref: Ref
    role: int | None = None
    read: RegressionKind | None = None
    followed: bool = False


def ref_of(line: TraceLine, hw: int) -> Ref:
    """Return a line that states a high watermark."""
    return Ref(row=line.row, note=f"high watermark {hw}")


def begin_process(replica: Replica, line: TraceLine, clean: Set[tuple[int, int]]) -> None:
    """Forget what the process before had, if a line about a replica is the first one of its process.

    Args:
        replica: the replica.
        line: the line.
        clean: brokers and processes that began after a clean stop.
    """
    if replica.process not in (None, line.run):
        replica.least = _written(replica, line, clean)
        replica.led_at, replica.reached, replica.asked = None, None, []
    replica.process = line.run


def _written(replica: Replica, line: TraceLine, clean: Set[tuple[int, int]]) -> Least | None:
    """Return what the checkpoint file has as a process reads it; None for none."""
    stopped = (line.broker, line.run) in clean
    written = [replica.checkpoint] if replica.checkpoint is not None else []
    if replica.had_hw is not None and replica.had_hw[1] == line.run - 1 and stopped:
        written.append((replica.had_hw[0], replica.had_hw[2]))
    if not written:
        return None
    kind = RegressionKind.CHECKPOINT if stopped else RegressionKind.CHECKPOINT_FILE
    return Least(*max(written, key=lambda one: one[0]), read=kind)


def states(replica: Replica, leader: Replica | None, line: TraceLine, hw: int, whose: Whose) -> Regression | None:
    """Keep the high watermark that a replica states as the least that it can be; return how it fell, None for not.

    That of a role or process before is compared before the line counts.
    """
    if line.kind == Kind.HW_LOADED:
        replica.least = Least(hw, ref_of(line, hw))
        if replica.checkpoint is None and hw > 0:
            replica.checkpoint = hw, ref_of(line, hw)  # the file has it until a line states that it is written
    elif whose is Whose.OWN and replica.leads:
        wrong = fall(replica, line, hw)
        replica.least, replica.reached = Least(hw, ref_of(line, hw)), None
        return wrong
    elif whose is Whose.OWN and replica.epoch < 0:
        replica.least = Least(hw, ref_of(line, hw))
    elif whose is Whose.OWN:
        before, now = replica.least, _received_in_role(replica, leader, line, hw)
        wrong = fall(replica, line, hw) if before is not None and now is not None and before.role == now.role else None
        replica.least = now if now is not None else Least(hw, ref_of(line, hw))
        return wrong
    return None


def _received_in_role(replica: Replica, leader: Replica | None, line: TraceLine, hw: int) -> Least | None:
    """Return the high watermark of a follower, if it received that in its role; else None.

    It is so if it has received any in that role, or if it has risen since the role began.
    """
    if replica.kept is not None or leader is None or not leader.leads or leader.epoch != replica.epoch:
        return None
    role = leader.took_up[1].row
    answered = replica.received is not None and replica.received.role == role
    risen = hw > replica.began_at or (replica.had_hw is not None and hw > replica.had_hw[0])
    return Least(hw, ref_of(line, hw), role) if answered or risen else None


def fall(replica: Replica, line: TraceLine, hw: int) -> Regression | None:
    """Return the regression that a stated high watermark of a replica shows; None for none.

    Args:
        replica: as it was before the line; only its role is that of the line.
        line: the line.
        hw: its high watermark.
    """
    known = _known(replica, line)
    if known is None:
        return None
    before, first, kind = known
    refs = (first, ref_of(line, hw))
    return Regression(line.broker, replica.epoch, before, hw, kind, line.time, refs) if hw < before else None


def _known(replica: Replica, line: TraceLine) -> tuple[int, Ref, RegressionKind] | None:
    """Return the least that the high watermark of a replica can be, its line, and how a lower one went back."""
    if replica.leads and replica.led_at is not None:
        leads_on = line.kind == Kind.BECOME_LEADER
        return *replica.led_at, RegressionKind.LED_ON if leads_on else RegressionKind.LEADER
    least = replica.least
    if least is None or (least.followed and line.kind == Kind.BECOME_LEADER):
        return None
    before = least.value
    if least.read is not None:  # a process keeps what it reads within its log
        before = min(before, replica.log.end, before if line.leo is None else line.leo)
    following = least.role is not None and not replica.leads
    return before, least.ref, least.read or (RegressionKind.FOLLOWER if following else RegressionKind.PROCESS)


def reads_none(replica: Replica, line: TraceLine) -> Regression | None:
    """A process finds no high watermark; return the regression, if the checkpoint file had one and the log has records.

    A log without records has no high watermark to lose.
    """
    before, replica.least = replica.least, None
    if before is None or before.read is None or replica.log.end == 0:
        return None
    refs = before.ref, Ref(row=line.row, note="no checkpointed high watermark")
    return Regression(line.broker, replica.epoch, before.value, 0, RegressionKind.CHECKPOINT, line.time, refs)
