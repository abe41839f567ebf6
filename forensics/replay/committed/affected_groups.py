"""Consumer groups whose position is beyond where a leader without committed records began.

Such a group read records that are gone. The records that the new leader wrote at these offsets, the group has not read:
it skips them if it continues at its position. It reads each record that is there now once it restarts from the first
lost offset. A consumer that finds its position beyond the log's end resets it (``auto.offset.reset``); from then on its
commits state the new leader epoch.
"""

from __future__ import annotations

from dataclasses import dataclass

from forensics.replay.committed.proof import Loss, losses
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.group_positions import GroupPosition
from forensics.replay.history import History
from forensics.replay.leader_epochs import Epoch


@dataclass(frozen=True, slots=True)
class AffectedGroup:
    """A group that is to restart from another position.

    Attributes:
        group: its name.
        position: that it committed last.
        restart: offset from which it reads what it has not read.
        time: of that commit, microseconds since 1970 UTC, or None.
        refs: the commit.
    """

    group: str
    position: int
    restart: int
    time: int | None
    refs: tuple[Ref, ...]


def affected_groups(history: History, loss: Loss) -> tuple[AffectedGroup, ...]:
    """Return the groups that a loss concerns, by name.

    The last commit of a group counts. If it states the epoch of the leader without the records, or a later one, or was
    made later, the group has read on since. The clocks of two brokers may differ, so a group may have read on too.
    """
    others = (one for one in losses(history)[0] if one.epoch.epoch == loss.epoch.epoch)
    first = min(one.ranges[0][0] for one in (loss, *others))
    last = {one.group: one for one in history.facts.positions}
    return tuple(
        AffectedGroup(name, one.position, first, one.time, one.refs)
        for name, one in sorted(last.items())
        if one.position > first and _is_before(one, loss.epoch)
    )


def _is_before(position: GroupPosition, epoch: Epoch) -> bool:
    """Return whether a commit was made before a leader epoch began, as far as it shows. Some clients state an epoch
    that they have not read, so its time counts too.
    """
    if position.epoch is not None and position.epoch >= epoch.epoch:
        return False
    if position.time is None or epoch.time is None:
        return position.epoch is not None
    return position.time < epoch.time
