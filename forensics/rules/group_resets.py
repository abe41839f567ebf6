"""Steps that set consumer groups back to where they read what they have not read: one for a group and partition.

A partition may have lost records more than once, and a group has one position in it: of several resets the last would
count. So there is one, to the lowest offset that any of the losses asks for.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forensics.case import Case
from forensics.replay.committed.affected_groups import AffectedGroup, affected_groups
from forensics.replay.committed.proof import Loss, losses
from forensics.replay.history import History
from forensics.rules.commands import Tool, filled, form_for, step
from forensics.rules.finding import FIRST, NUMBER, TOPIC, Action, GroupReset, offsets_text


@dataclass(frozen=True, slots=True)
class NamedReset:
    """The reset of a group that the evidence names.

    Attributes:
        group: the group, as one loss concerns it.
        restart: offset from which it reads what it has not read, whatever loss concerns it.
        at: the loss whose advice has the step: of those that concern the group, the one that asks for that offset.
    """

    group: AffectedGroup
    restart: int
    at: Loss

    @property
    def values(self) -> GroupReset:
        """The group with its position, and the offset from which it should restart."""
        return GroupReset(self.group.group, self.group.position, self.restart)


def named_resets(history: History, loss: Loss) -> tuple[NamedReset, ...]:
    """Return the resets of the groups that a loss concerns, by name."""
    mine = affected_groups(history, loss)
    if not mine:
        return ()
    every = [loss, *(one for one in losses(history)[0] if one != loss)]
    found: dict[str, list[tuple[int, Loss]]] = {}
    for one in every:
        for group in affected_groups(history, one):
            found.setdefault(group.group, []).append((_begun(history, one, group.restart), one))
    lowest = {name: min(asked, key=lambda one: (one[0], one[1].ranges)) for name, asked in found.items()}
    return tuple(NamedReset(one, *lowest[one.group]) for one in mine)


def _begun(history: History, loss: Loss, first: int) -> int:
    """Return the offset from which the leader without the lost records may have others, below the lost ones too."""
    start = loss.epoch.start if written_again(history, loss)[0] else None
    return first if start is None else min(first, start)


def steps_of_named(history: History, case: Case, loss: Loss, resets: Sequence[NamedReset]) -> Iterator[Action]:
    """Yield the step that sets each group to where it reads what it has not read, or where that step is."""
    for one in resets:
        if one.at == loss:
            yield _step(history, case, one)
        else:
            yield Action(
                f"consumer group {one.group.group} needs one reset for all losses of this partition, to offset "
                f"{one.restart}: it is among the steps for {offsets_text(one.at.ranges)}"
            )


def _step(history: History, case: Case, one: NamedReset) -> Action:
    form, _ = form_for(Tool.RESET_OFFSETS, history, case)
    stop = (
        f"stop consumer group {one.group.group}, which has committed position {one.group.position}, and set it to "
        f"offset {one.restart}, or it skips what is there now"
    )
    if form is None:
        return Action(f"{stop}. Before Kafka 0.11 only the application itself can do that, with a seek")
    command = filled(
        form.command,
        case,
        group=shlex.quote(one.group.group),
        topic=history.topic,
        partition=history.partition,
        offset=one.restart,
    )
    return Action(f"{stop}. First see what would change, then give --execute in place of --dry-run:", command)


def any_reset(history: History, case: Case, first: int) -> list[Action]:
    """Return the steps that show groups, whose names the evidence lacks, and set one to where its log parts from that
    it read.

    Args:
        history: the partition.
        case: the case.
        first: the offset to which a group is set.
    """
    form, _ = form_for(Tool.RESET_OFFSETS, history, case)
    if form is None:
        return []
    command = filled(form.command, case, group="GROUP", topic=TOPIC, partition=NUMBER, offset=FIRST)
    leave = f"is {FIRST} or below, or it skips records" if first else "is 0"
    return [
        _positions(history, case),
        Action(
            f"stop such a group, and set it back to offset {FIRST}, from which on it may have read other records. It "
            f"then reads all from there again. Leave alone a group whose CURRENT-OFFSET {leave}. Look at the result, "
            "then give --execute in place of --dry-run:",
            command,
        ),
    ]


def _positions(history: History, case: Case) -> Action:
    """Return the step that shows the positions of groups, in the column CURRENT-OFFSET."""
    text = f"see which groups read topic {TOPIC}, and their CURRENT-OFFSET in each partition"
    return step(text, form_for(Tool.SHOW_POSITIONS, history, case), case, group="GROUP")


def reset_to(history: History, loss: Loss) -> int:
    """Return the offset from which a group has to read again what it may have read otherwise.

    It is that of all losses of the partition. A leader may have begun below the records that are known to be lost, with
    others there.
    """
    every = [loss, *(one for one in losses(history)[0] if written_again(history, one)[0])]
    begun = (one.epoch.start for one in every)
    return min(*(one.ranges[0][0] for one in every), *(start for start in begun if start is not None))


def written_again(history: History, loss: Loss) -> tuple[bool, bool]:
    """Return whether a later leader wrote other records at lost offsets; and whether it did at all of them."""
    (first, _), (_, end), current = loss.ranges[0], loss.ranges[-1], history.current
    if loss.while_leading or loss.epoch.start is None or loss.epoch.start >= end:
        return False, False
    ends = [one.start for one in history.epochs.after(loss.epoch.epoch)]
    if current is not None and current.leader in history.replicas and current.leader not in loss.holders:
        ends.append(history.replicas[current.leader].held_end)
    reached = max((one for one in ends if one is not None), default=0)
    return reached > max(first, loss.epoch.start), reached >= end
