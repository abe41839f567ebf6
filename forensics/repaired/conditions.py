"""Conditions that must hold before producers go back to a partition, in a table.

Each looks at the copies as they are now, not at what happened: files of replicas, or the last state of each in a trace.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.history import History, Replica
from forensics.replay.leadership.epoch_file import refuted_entry
from forensics.replay.lineage import Lineage, Range, differences, intersect, merge
from forensics.rules.finding import Finding, Severity, all_of, brokers_text, offsets_text


class Met(StrEnum):
    """The state of a condition."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"  # the evidence does not show it
    NOT_APPLICABLE = "not applicable"  # the evidence has nothing of the kind


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a condition for one partition.

    Attributes:
        met: whether it holds.
        text: why, in words, without the name of the partition; "" if there is nothing to add.
        refs: places in the evidence that show it.
    """

    met: Met
    text: str = ""
    refs: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """Facts about a partition that are not in its own history.

    Attributes:
        new: findings that neither the earlier scan has, nor its finding of the same rule at these offsets continues.
        replicas: brokers that the earlier findings concern.
        changed: whether the evidence has a file that the earlier scan did not read as it is now; None if that scan does
            not list its files.
    """

    new: tuple[Finding, ...] = ()
    replicas: frozenset[int] = frozenset()
    changed: bool | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition.

    Attributes:
        id: its name for programs.
        text: what must hold.
        ask: the answer for the history of a partition; None where there is no copy to look at.
    """

    id: str
    text: str
    ask: Callable[[History, Known], Answer | None]


# -- the copies -----------------------------------------------------------------------------------------------------


def _copies(history: History) -> dict[int, Replica]:
    """Return the replicas whose log is in the evidence, by broker."""
    return {broker: replica for broker, replica in sorted(history.replicas.items()) if replica.held_end is not None}


def _end(replica: Replica) -> int:
    return replica.held_end or 0


def _high_watermark(history: History) -> tuple[int, Ref] | None:
    """Return the highest high watermark that a copy's checkpoint names."""
    marks = [replica.checkpoint for replica in _copies(history).values() if replica.checkpoint is not None]
    return max(marks, key=lambda mark: mark[0], default=None)


def _different(history: History, left: int, right: int) -> list[Range]:
    """Return the offsets at which two copies hold different records."""
    own, other = history.replicas[left], history.replicas[right]
    if own.on_disk and other.on_disk:
        return history.facts.diverging_ranges(left, right)
    first, end = max(own.log_start, other.log_start), min(_end(own), _end(other))
    return differences(own.lineage, other.lineage, first, end)[0] if first < end else []


def _unlike(history: History) -> Iterator[tuple[int, int, list[Range]]]:
    """Yield pairs of copies that hold different records, with the offsets."""
    for left, right in itertools.combinations(_copies(history), 2):
        if ranges := _different(history, left, right):
            yield left, right, ranges


def _batches(history: History, left: int, right: int) -> tuple[Ref, ...]:
    """Return the first differing batch of each of two copies."""
    found = [fork for fork in history.facts.forks if (fork.left, fork.right) == (left, right)]
    return tuple(ref for fork in found for ref in (fork.left_ref, fork.right_ref))


def _disks(history: History) -> dict[int, Disk]:
    """Return the files of each copy that is read from files, by broker."""
    return {broker: history.facts.disks[broker] for broker in _copies(history) if broker in history.facts.disks}


# -- the conditions -------------------------------------------------------------------------------------------------


def _nothing_new(_history: History, known: Known) -> Answer:
    """Return whether something critical is new. Milder things may be of the repair, such as a log that was emptied."""
    critical = [one for one in known.new if one.severity is Severity.CRITICAL]
    rules = ", ".join(dict.fromkeys(one.rule for one in critical or known.new))
    if critical:
        return Answer(Met.NO, f"new are {rules}", tuple(one.refs[0] for one in critical if one.refs))
    return Answer(Met.YES, f"new, but not critical: {rules}" if rules else "")


def _new_copies(history: History, known: Known) -> Answer | None:
    """Return whether the evidence can show a change at all.

    One replica's files may well be as before, as of one that was not touched. If all files are, they may be the same
    copies again, or a part of them.
    """
    if not _copies(history):
        return None
    if known.changed is None:
        return Answer(
            Met.NOT_APPLICABLE, "the earlier output does not list the files that were read: use --format json"
        )
    if known.changed:
        return Answer(Met.YES)
    return Answer(
        Met.UNKNOWN,
        "each file has the size, and the hash where it is known, of one before, so the evidence does not show that "
        "anything changed: copy all again after the repair",
    )


def _every_copy(history: History, known: Known) -> Answer:
    copies = _copies(history)
    if not copies:
        return Answer(
            Met.UNKNOWN, "no copy of the partition is in the evidence: add the data directories of its brokers"
        )
    if absent := sorted((history.members | known.replicas) - set(copies)):
        return Answer(
            Met.UNKNOWN,
            f"the copy of {brokers_text(absent)} is not in the evidence: add it, unless the replica was reassigned",
        )
    return Answer(Met.YES, brokers_text(list(copies)))


def _same_records(history: History, _known: Known) -> Answer | None:
    copies, mark = _copies(history), _high_watermark(history)
    if not copies:
        return None
    bound = mark[0] if mark is not None else max(map(_end, copies.values()))
    below = [(left, right, piece) for left, right, ranges in _unlike(history) if (piece := _below(ranges, bound))]
    if below:
        left, right, ranges = below[0]
        more = f", and {len(below) - 1} more pair{'' if len(below) == 2 else 's'} of copies" if below[1:] else ""
        return Answer(
            Met.NO,
            f"{brokers_text([left, right])} hold different records at {offsets_text(ranges)}{_marked(mark)}{more}",
            _batches(history, left, right),
        )
    return _same_as_far_as_shown(history, copies, mark, bound)


def _same_as_far_as_shown(
    history: History, copies: dict[int, Replica], mark: tuple[int, Ref] | None, bound: int
) -> Answer:
    """Return whether copies that do not differ are shown to be the same, up to an offset."""
    if mark is None and len(set(map(_end, copies.values()))) > 1:
        return Answer(Met.UNKNOWN, "no copy has a high watermark: add replication-offset-checkpoint of its brokers")
    if short := {broker: _end(copy) for broker, copy in copies.items() if _end(copy) < bound}:
        ends = all_of([f"{end:,} on broker {broker}" for broker, end in short.items()])
        return Answer(
            Met.UNKNOWN,
            f"the log ends at {ends}, below the high watermark {bound:,}: it lacks records, or was copied before the "
            "others were. Stop the producers, wait until it is in the ISR, and copy again",
            (mark[1],) if mark is not None else (),
        )
    if lacking := [broker for broker, disk in _disks(history).items() if disk.holes or disk.damage]:
        return Answer(Met.UNKNOWN, f"records are missing or damaged within the log of {brokers_text(lacking)}")
    start = max(copy.log_start for copy in copies.values())
    return Answer(Met.YES, f"{offsets_text([(start, bound)])} in {_all(copies)}" if start < bound else "there are none")


def _all(copies: dict[int, Replica]) -> str:
    number = len(copies)
    return "the only copy" if number == 1 else f"{'both' if number == 2 else f'all {number}'} copies"


def _below(ranges: Sequence[Range], bound: int) -> list[Range]:
    return merge(intersect(ranges, [(0, bound)]))


def _marked(mark: tuple[int, Ref] | None) -> str:
    return f", below the high watermark {mark[0]:,}" if mark is not None else ""


def _continuous_epochs(history: History, _known: Known) -> Answer | None:
    copies, disks = _copies(history), _disks(history)
    if not copies:
        return None
    for broker, disk in disks.items():
        if disk.falls:
            return Answer(Met.NO, f"leader epochs fall along the log of broker {broker}", (disk.falls[0].ref,))
        if (refuted := _refuted(broker, disk)) is not None:
            return refuted
    if (unlike := _unlike_starts(history)) is not None:
        return unlike
    epochs = [epoch for lineage in _lineages(history).values() for epoch, _ in lineage.entries if epoch >= 0]
    if epochs:
        return Answer(Met.YES, f"up to leader epoch {max(epochs)}")
    if not any(map(_end, copies.values())):
        return Answer(Met.YES, "the logs are empty")
    return Answer(Met.NOT_APPLICABLE, "these records have no leader epochs: their message format is before v2")


def _lineages(history: History) -> dict[int, Lineage]:
    """Return the leader epochs of each copy as its own records state them, by broker."""
    disks = _disks(history)
    return {b: disks[b].lineage if b in disks else copy.lineage for b, copy in _copies(history).items()}


def _refuted(broker: int, disk: Disk) -> Answer | None:
    """Return that the batches of a replica contradict its epoch file, if they do."""
    refuted = refuted_entry(disk)
    if refuted is None:
        return None
    if refuted.epoch not in {epoch for epoch, _, _ in disk.entries}:
        has = f"lacks leader epoch {refuted.epoch}"
    else:
        has = f"has leader epoch {refuted.noted} at offset {refuted.offset:,}, its records have {refuted.epoch}"
    return Answer(Met.NO, f"broker {broker}: leader-epoch-checkpoint {has}", refuted.refs)


def _unlike_starts(history: History) -> Answer | None:
    """Return that an epoch starts at two offsets, above the log start of both copies and where both have records."""
    copies, lineages = _copies(history), _lineages(history)
    for left, right in itertools.combinations(copies, 2):
        first = max(copies[left].log_start, copies[right].log_start)
        end = min(_end(copies[left]), _end(copies[right]))
        starts = dict(lineages[right].entries)
        for epoch, start in lineages[left].entries:
            low, high = sorted((start, starts.get(epoch, start)))
            if epoch >= 0 and first < low < min(high, end):
                where = f"offset {start:,} on broker {left} and at {starts[epoch]:,} on broker {right}"
                refs = _epoch_refs(history, (left, right), epoch)
                return Answer(Met.NO, f"leader epoch {epoch} starts at {where}", refs)
    return None


def _epoch_refs(history: History, brokers: Sequence[int], epoch: int) -> tuple[Ref, ...]:
    disks = (history.facts.disks[broker] for broker in brokers if broker in history.facts.disks)
    return tuple(disk.refs[epoch] for disk in disks if epoch in disk.refs)


def _nothing_alone(history: History, _known: Known) -> Answer | None:
    """Return whether a replica has records that others lack.

    A follower of the current leader truncates what the leader's log does not have (KIP-101), so such records go when it
    returns. A follower in the ISR cannot be ahead of its leader: then the copies are of different moments.
    """
    copies = _copies(history)
    if not copies:
        return None
    current = history.current
    leader = current.leader if current is not None and current.leader in copies else None
    alone = next(_alone(history, leader), None)
    if alone is None:
        return Answer(Met.YES)
    broker, other, ranges = alone
    whose = f"broker {other}, the leader," if other == leader else f"broker {other}"
    text = f"broker {broker} has records at {offsets_text(ranges)} that {whose} does not have"
    pair = (min(broker, other), max(broker, other))
    isr = current.last_isr if current is not None and leader is not None else None
    if _different(history, *pair) or (isr is not None and broker not in isr):
        refs = _batches(history, *pair) or _ends(history, broker)
        return Answer(Met.NO, f"{text}. Copy its directory before it follows a leader", refs)
    return Answer(
        Met.UNKNOWN,
        f"{text}: it was copied later, or is ahead. Stop the producers and copy all again",
        _ends(history, broker),
    )


def _ends(history: History, broker: int) -> tuple[Ref, ...]:
    disk = history.facts.disks.get(broker)
    return (disk.end_ref,) if disk is not None and disk.end_ref is not None else ()


def _alone(history: History, leader: int | None) -> Iterator[tuple[int, int, list[Range]]]:
    """Yield copies with records that the leader's, or any other if the leader's is not in the evidence, does not have.

    With each comes the copy that lacks them, and their offsets.
    """
    copies = _copies(history)
    for broker in copies:
        for other in copies if leader is None else (leader,):
            if lacked := _lacked(history, broker, other):
                yield broker, other, lacked


def _lacked(history: History, broker: int, other: int) -> list[Range]:
    """Return the offsets at which a copy has records that another copy does not have."""
    if broker == other:
        return []
    own, theirs = history.replicas[broker], history.replicas[other]
    beyond = (max(_end(theirs), own.log_start), _end(own))
    return merge([*_different(history, min(broker, other), max(broker, other)), beyond])


def _sound_segments(history: History, _known: Known) -> Answer | None:
    disks = _disks(history)
    if not disks:
        return None if not _copies(history) else Answer(Met.NOT_APPLICABLE, "a trace has no segments")
    for broker, disk in disks.items():
        if disk.damage:
            return Answer(Met.NO, f"broker {broker}: {disk.damage[0].text}", (disk.damage[0].ref,))
        if disk.holes:
            return Answer(
                Met.NO, f"the log of broker {broker} lacks {offsets_text(disk.holes)}", _ends(history, broker)
            )
    return Answer(Met.YES)


def _one_directory(history: History, _known: Known) -> Answer | None:
    disks = _disks(history)
    if not disks:
        return None if not _copies(history) else Answer(Met.NOT_APPLICABLE, "a trace has no directories")
    for broker, disk in disks.items():
        if left := disk.left_by_this_topic():
            return Answer(
                Met.NO,
                f"broker {broker} has another directory of the partition, {left[0].directory}: it may load "
                "that one when it restarts. Move it away",
                (left[0].ref,),
            )
    return Answer(Met.YES)


CONDITIONS: Final[tuple[Condition, ...]] = (
    Condition("nothing-new", "Nothing critical is new since the earlier scan", _nothing_new),
    Condition("new-copies", "The evidence is not the same as at the earlier scan", _new_copies),
    Condition("every-copy", "The copy of each replica is in the evidence", _every_copy),
    Condition(
        "same-records", "All replicas hold the same records from the log start to the high watermark", _same_records
    ),
    Condition("continuous-epochs", "Leader epochs are continuous, and the same in all copies", _continuous_epochs),
    Condition("nothing-alone", "No replica has records that others lack", _nothing_alone),
    Condition("sound-segments", "No segment is damaged", _sound_segments),
    Condition("one-directory", "No broker has a second directory of the partition", _one_directory),
)
"""All conditions, in the order in which reports show them."""
