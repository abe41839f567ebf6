"""Leader epochs that went back, because the controller's state was restored from an older copy.

Kafka orders leaders by their epochs, and so does replay. A controller only raises them (PartitionStateMachine,
ReplicationControlManager), starting from what ZooKeeper or the metadata log holds. If that is restored from an older
copy, the controller assigns epochs again that it had assigned before. Then epochs do not show the order of leaders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from forensics.case.speakers import OF_ITSELF
from forensics.replay.coverage import Printed
from forensics.replay.facts.compaction import is_compacted
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.history import EpochRollback, History, HwSource, HwStatement, Role, TruncationReason
from forensics.replay.lineage import Range, intersect
from forensics.replay.roles.steps import RoleSpan, StepKind
from parsers.schema import Kind

_HANDED_OUT = (
    Kind.ELECTION,
    Kind.UNCLEAN_ELECTION,
    Kind.PARTITION_CHANGED,
    Kind.ISR_COMMIT,
    Kind.LEADER_AND_ISR,
)
"""Kinds of line that state a partition's state as it was written: each write raises the partition epoch (zkVersion)."""

_TAKEN_UP = (Kind.BECOME_LEADER, Kind.BECOME_FOLLOWER, Kind.FETCHER_ADDED)
"""Kinds of line that show that a broker accepted a leader for a leader epoch."""

_STATE = ("leader_epoch", "partition_epoch")

_PLACE = ("topic", "partition", "incarnation")

NO_LEADER = -1
"""Kafka's value for no leader (LeaderAndIsr.NoLeader)."""


def served_again(role_spans: Mapping[int, list[RoleSpan]]) -> list[EpochRollback]:
    """Return replicas that took up a role in a lower leader epoch than one in which they had a role before."""
    found = []
    for broker, spans in sorted(role_spans.items()):
        highest: RoleSpan | None = None
        for role_span in spans:
            if role_span.epoch < 0 or role_span.role is Role.OFFLINE:
                continue
            if highest is not None and role_span.epoch < highest.epoch:
                text = f"broker {broker} served leader epoch {role_span.epoch} after epoch {highest.epoch}"
                found.append(EpochRollback(text, role_span.epoch, role_span.time, (highest.refs[0], role_span.refs[0])))
                break
            highest = role_span
    return found


def written_before(history: History) -> list[EpochRollback]:
    """Return segments with records of an epoch at offsets below the one at which the epoch's leader began to write."""
    for number, epoch in history.epochs.items():
        disk = history.facts.disks.get(epoch.leader) if epoch.leader is not None else None
        # The leader's own segments must confirm the start: it may have begun before its lines do.
        if disk is None or epoch.start is None or (number, epoch.start) not in disk.lineage.entries:
            continue
        for broker, other in sorted(history.facts.disks.items()):
            start = dict(other.lineage.entries).get(number, epoch.start)
            if disk.cleaner_point is None and disk.log_start < start < epoch.start:
                text = (
                    f"broker {broker} has records of leader epoch {number} from offset {start} on, its leader "
                    f"{epoch.leader} began at {epoch.start}"
                )
                return [EpochRollback(text, number, None, (other.refs[number], disk.refs[number]))]
    return begun_twice(history)


def begun_twice(history: History) -> list[EpochRollback]:
    """Epochs whose first records are at two offsets.

    A leader begins its epoch once, and a replica with any record of it has the leader's records below it (KIP-101). A
    deletion of the topic leaves two beginnings as well, and lines show it. Only if the log of each member is known is
    it known that there was no deletion.
    """
    if is_compacted(history.facts):
        return []  # the cleaner may have removed the first records, on each replica others
    if not history.members <= history.coverage.replicas_with(Printed.LOG):
        return []
    first: dict[int, tuple[int, int, Ref]] = {}
    strangers = {fork.brokers for fork in history.facts.forks if fork.strangers}
    for broker, number, start, ref in _beginnings(history):
        other, at, earlier = first.setdefault(number, (broker, start, ref))
        if at != start and (other, broker) not in strangers:
            text = f"leader epoch {number} begins at offset {at} on broker {other}, at {start} on broker {broker}"
            return [EpochRollback(text, number, None, (earlier, ref))]
    return []


def _beginnings(history: History) -> Iterator[tuple[int, int, int, Ref]]:
    """Yield the offsets at which replicas' files have the first records of epochs: broker, epoch, offset and place."""
    disks = history.facts.disks
    # A leader that deleted older records knows epochs from there on only; its followers keep their own entries below.
    deleted = {disk.log_start for disk in disks.values() if disk.log_start > 0}
    for broker, disk in sorted(disks.items()):
        if disk.cleaner_point is not None or disk.damage or disk.skipped or disk.falls:
            continue  # whole epochs may be missing
        unfit = deleted | _fetched_blindly_from(history, broker)
        for number, start in _confirmed(disk):
            if start > disk.log_start and start not in unfit:
                yield broker, number, start, disk.refs[number]


def _fetched_blindly_from(history: History, broker: int) -> set[int]:
    """Return the offsets from which a follower fetched that had not truncated by leader epoch: what it has below may
    be records that its leader never had.
    """
    blind = (TruncationReason.HIGH_WATERMARK, TruncationReason.LEADER_END_OFFSET)
    steps = (step for role_span in history.role_spans.get(broker, ()) for step in role_span.steps)
    return {step.target for step in steps if step.kind is StepKind.TRUNCATED and step.reason in blind}


def _confirmed(disk: Disk) -> Iterator[tuple[int, int]]:
    """Yield epochs that begin in a log where its epoch file has them, if it has them: otherwise one of them is
    damaged.
    """
    stated = {epoch: start for epoch, start, _ in disk.entries}
    return ((number, start) for number, start in disk.begun() if stated.get(number, start) == start)


def stated_twice(rows: pl.DataFrame) -> dict[tuple[str, int, int], list[EpochRollback]]:
    """Return states of a partition that a controller assigned twice.

    A state is a leader epoch and a partition epoch, and has one leader. An epoch written without a leader has none:
    making a broker the leader raises the epoch (PartitionStateMachine, PartitionChangeBuilder).

    Args:
        rows: observations with their incarnation.

    Returns:
        By topic, partition and incarnation, the first of them.
    """
    place = ["topic", "partition", "incarnation"]
    written = pl.col("kind").is_in([kind.value for kind in _HANDED_OUT])
    led = pl.when(pl.col("kind") == Kind.BECOME_LEADER.value).then("broker")
    stated = (
        rows.filter(written | pl.col("kind").is_in([kind.value for kind in _TAKEN_UP]))
        .with_columns(pl.coalesce("leader", led).alias("leader"))
        .filter((pl.col("leader") >= NO_LEADER) & (pl.col("leader_epoch") >= 1))
    )
    # The same leader in every state is the most frequent answer.
    if not stated.select((pl.col("leader").n_unique().over(*place, "leader_epoch") > 1).any()).item():
        return {}
    leaderless = (written & (pl.col("leader") == NO_LEADER)).any().over(*place, "leader_epoch")
    twice = pl.concat(
        (
            _contradicting(stated.filter(written, pl.col("partition_epoch").is_not_null()), [*place, *_STATE]),
            _contradicting(stated.filter(leaderless), [*place, "leader_epoch"]),
        ),
        how="diagonal",
    )
    found: dict[tuple[str, int, int], list[EpochRollback]] = {}
    for (topic, partition, incarnation), group in twice.group_by(place, maintain_order=True):
        epoch, first = group.select("leader_epoch", "leader").row(0)
        second, time = group.select("leader", pl.col("time").cast(pl.Int64)).row(1)
        refs = tuple(Ref(row=row) for row in group.get_column("row").head(2))
        back = EpochRollback(_twice(epoch, first, second), epoch, time, refs)
        found[(str(topic), int(str(partition)), int(str(incarnation)))] = [back]
    return found


def states_fell(rows: pl.DataFrame) -> dict[tuple[str, int, int], list[EpochRollback]]:
    """Return states that one broker states, of which one has a higher leader epoch and no higher partition epoch.

    Each change of a partition raises the partition epoch, also one that raises the leader epoch
    (PartitionStateMachine, PartitionRegistration.merge). So the order of the lines does not count. Leader epochs that
    rose nevertheless, in the lines of all replicas, are in order.

    Args:
        rows: observations with their incarnation.

    Returns:
        By topic, partition and incarnation, the first of them.
    """
    kinds = [kind.value for kind in (*_HANDED_OUT, *_TAKEN_UP, Kind.ROLE_UNCHANGED)]
    stated = rows.filter(
        pl.col("kind").is_in(kinds), pl.col("leader_epoch") >= 0, pl.col("partition_epoch") >= 0, OF_ITSELF
    )
    own = [*_PLACE, "broker"]
    of_epochs = (
        stated.group_by(*own, "leader_epoch")
        .agg(pl.col("partition_epoch").min().alias("least"), pl.col("partition_epoch").max().alias("most"))
        .sort(*own, "leader_epoch")
        .with_columns(pl.col("most", "leader_epoch").shift(1).name.prefix("before_"))
    )
    same = pl.all_horizontal(pl.col(name) == pl.col(name).shift(1) for name in own)
    fell = of_epochs.filter(same & (pl.col("before_most") >= pl.col("least")))
    fell = fell.unique(_PLACE, keep="first", maintain_order=True)
    lines = (
        stated.join(fell, on=own, how="semi")
        .sort("row")
        .unique([*own, *_STATE], keep="first", maintain_order=True)
        .select(*own, *_STATE, "row", pl.col("time").cast(pl.Int64))
    )
    before = [*own, "before_leader_epoch", "before_most"]
    shown = fell.join(lines, left_on=before, right_on=[*own, *_STATE]).join(
        lines, left_on=[*own, "leader_epoch", "least"], right_on=[*own, *_STATE], suffix="_last"
    )
    return {(one["topic"], one["partition"], one["incarnation"]): [_fell(one)] for one in shown.iter_rows(named=True)}


def _fell(one: Mapping[str, Any]) -> EpochRollback:
    """Return the two states of one broker between which the partition epoch fell."""
    text = (
        f"broker {one['broker']} states partition epoch {one['before_most']} in leader epoch "
        f"{one['before_leader_epoch']}, and {one['least']} in leader epoch {one['leader_epoch']}"
    )
    refs = (Ref(row=one["row"]), Ref(row=one["row_last"]))
    return EpochRollback(text, one["leader_epoch"], one["time_last"], refs, of_lines=True)


def handed_out_again(rows: pl.DataFrame) -> dict[tuple[str, int, int], list[EpochRollback]]:
    """Return what shows by the states of a partition alone that its controller's state went back.

    Args:
        rows: observations with their incarnation.
    """
    fell, twice = states_fell(rows), stated_twice(rows)
    return {key: [*twice.get(key, ()), *fell.get(key, ())] for key in sorted({*fell, *twice})}


def _contradicting(stated: pl.DataFrame, state: list[str]) -> pl.DataFrame:
    """Return the first row for each leader of a state, for states with several leaders."""
    firsts = stated.group_by(*state, "leader").agg(pl.col("row").min(), pl.col("time").min()).sort(*state, "row")
    return firsts.filter(pl.len().over(state) > 1)


def _twice(epoch: int, *leaders: int) -> str:
    who = [f"with {'no leader' if leader < 0 else f'leader {leader}'}" for leader in leaders]
    return f"leader epoch {epoch} was used twice, {' and '.join(who)}"


@dataclass(frozen=True, slots=True)
class SteppedDown:
    """A leader that later followed another one whose epoch is not higher than its own was.

    Attributes:
        successor: the leader that the partition kept.
        epoch: leader epoch of the successor.
        time: when it was followed, microseconds since 1970 UTC, or None.
        refs: the line that shows it.
        ranges: committed records of the old leader at whose offsets its successor holds others.
        statement: the old leader's last high watermark.
    """

    successor: int
    epoch: int
    time: int | None
    refs: tuple[Ref, ...]
    ranges: tuple[Range, ...]
    statement: HwStatement


def stepped_down(history: History) -> list[SteppedDown]:
    """Return committed records lost to a leader with a lower or equal epoch.

    The order of epochs does not show this loss. A broker's own lines are in order, whatever the epochs: the old leader
    itself followed the successor later. The differences are read from the segments of both.
    """
    found = (_stepped_down(history, broker, spans) for broker, spans in sorted(history.role_spans.items()))
    return [one for one in found if one is not None]


def _stepped_down(history: History, broker: int, spans: Sequence[RoleSpan]) -> SteppedDown | None:
    """Return that loss for one old leader."""
    if not spans or spans[-1].role is not Role.FOLLOWER or spans[-1].leader in (None, broker):
        return None
    last, successor = spans[-1], spans[-1].leader
    led = [role_span for role_span in spans if role_span.role is Role.LEADER and role_span.epoch >= last.epoch >= 0]
    theirs = history.role_spans.get(successor, [])
    if not led or not theirs or theirs[-1].role is not Role.LEADER:
        return None
    # Its high watermark when it began to follow: later ones come from its leader.
    reached = [sample for sample in (led[-1].hw, last.start_hw) if sample is not None]
    sample = max(reached, key=lambda sample: sample.value, default=None)
    parted = history.facts.diverging_ranges(broker, successor)
    ranges = intersect(parted, [(0, sample.value)]) if sample is not None else []
    if sample is None or not ranges:
        return None
    how = sample.how or HwSource.STEPPED_DOWN
    lineage = led[-1].log.begin(led[-1].epoch, ranges[0][0])
    statement = HwStatement(broker, led[-1].epoch, lineage, sample.value, how, sample.time, (sample.ref,))
    return SteppedDown(successor, last.epoch, last.time, (last.refs[0],), tuple(ranges), statement)
