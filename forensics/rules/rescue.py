"""Advice about lost records: the copy to keep, the next safe steps, and what would destroy the last copy."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from forensics.case import Case, Origin
from forensics.replay.committed.failed_directories import FailedLog, failed_logs
from forensics.replay.committed.open_losses import more_lost
from forensics.replay.committed.proof import Loss
from forensics.replay.committed.surviving_copies import last_had, may_lack_segments, needed_copies
from forensics.replay.facts.deleted_segments import DeletedSegment, kept_in
from forensics.replay.facts.directory import StaleDir
from forensics.replay.facts.stale_dirs import left_behind, reaching
from forensics.replay.history import History, ShortenedBy
from forensics.replay.lineage import Range, intersect, merge, size, subtract
from forensics.rules.copying import stop_and_copy
from forensics.rules.failed_disks import do_not_discard, find_and_copy, kept, not_the_new
from forensics.rules.finding import (
    EVIDENCE,
    HERE,
    LOST,
    TOPIC,
    WHEN,
    Action,
    Advised,
    advised,
    brokers_text,
    offsets_text,
    sentence,
)
from forensics.rules.group_resets import NamedReset, any_reset, reset_to, steps_of_named, written_again
from forensics.rules.written import written_between

_REMOVED = {
    True: (
        "a restart truncates the log to its high watermark, which may be lower by then, and retention deletes these "
        "records"
    ),
    False: "to follow the current leader, a replica truncates these records",
}
"""Reasons for which the last copy would go, by whether followers truncate to their own high watermark."""

_REMOVES = "the broker removes it when it starts, or at most file.delete.delay.ms (1 minute by default) later"
"""The end of each segment or directory that a broker was about to remove."""

_GET = (
    "get the lost records out of the copy (--offsets A..B ends before B). The output ends with the command (forensics "
    "produce) that writes them to a new topic:"
)
"""The step that gets records out of a copy, before its command."""

_INFORM = f"inform the owners of consumers of {HERE}"
_OTHERS_THERE = (
    "other records are at the lost offsets now. A consumer that had read the lost ones skips the new ones, until its "
    "group is reset"
)
_END_BELOW = (
    "a consumer whose position is above the end of the log continues where its auto.offset.reset says. With latest it "
    "skips to the end, with earliest it reads everything again, and with none it stops with an error. Consumers of 2.3 "
    "or later may go back to the lost offsets by themselves (KIP-320)"
)
_CONSUMERS: Mapping[tuple[bool, bool], str] = MappingProxyType(
    {
        (
            False,
            False,
        ): f"{_INFORM}: {_END_BELOW}. Once the log has grown past that position, it skips what was written since",
        (True, False): f"{_INFORM}: {_OTHERS_THERE}. {sentence(_END_BELOW)[:-1]}",
        (True, True): f"{_INFORM}: {_OTHERS_THERE}",
    }
)
"""The step about consumers, by whether lost offsets are known to be written again, and whether all of them are."""

_PRODUCERS = ". Producers may continue: no step here removes what they write now"
"""The end of that step: a copy is read, and no other replica is made leader."""

Advice = tuple[str | None, tuple[str | Action, ...], tuple[str, ...]]
"""The copy to keep, the next steps, and actions that would destroy the last copy."""


def advice(
    history: History,
    case: Case,
    loss: Loss,
    stop: tuple[str, ...] = (),
    never: tuple[str, ...] = (),
    groups: Sequence[NamedReset] = (),
    last: Sequence[Action] = (),
) -> Advised:
    """Return advice about a loss, with or without a live copy of the records.

    Args:
        history: the partition.
        case: the case.
        loss: the loss.
        stop, never: what else to do before all of it, and what else not to do.
        groups: consumer groups that are to restart from another position.
        last: what to do after that, so that it does not happen again.
    """
    keep, next_steps, do_not = (_with_copy if loss.holders else _without_copy)(history, case, loss)
    resets = [*steps_of_named(history, case, loss, groups)]
    again, back_to = written_again(history, loss), None
    if again[0] and not resets:
        back_to = reset_to(history, loss)
        resets = any_reset(history, case, back_to)
    concerned: tuple[str | Action, ...] = (
        (f"{_CONSUMERS[again]}{'' if stop else _PRODUCERS}", *resets) if not history.incarnation else ()
    )  # no consumer reads a deleted topic
    freed = _freed_blocks(history, loss) if not loss.holders and keep is None else ()
    next_steps = (*next_steps, *concerned, *last, *freed) if history.origin.of_kafka else _of_other(history, case, loss)
    written = written_between(history, case, loss)
    return advised(
        history.name,
        keep=keep,
        next_steps=(*stop, *next_steps),
        do_not=(*never, *do_not),
        when=written.text if written is not None else "",
        written=(written.first, written.last) if written is not None else None,
        lost=_to_get(history, loss),
        reset_to=back_to if resets else None,
    )


def _to_get(history: History, loss: Loss) -> list[tuple[int, int | None]]:
    """Return the offsets to get out of a copy: what may be lost besides is among them, to the end if none is known."""
    more, (*before, (first, end)) = more_lost(history, loss), loss.ranges
    return [*before, (first, end if not more.any_near else more.end)]


def _of_other(history: History, case: Case, loss: Loss) -> tuple[str, ...]:
    """Return the next steps for another system than Kafka, of whose files and tools nothing is known."""
    if not loss.holders:
        had = last_had(history, loss.lineage, loss.ranges)
        return (
            *((stop_and_copy(tuple(had), Origin.OTHER_SYSTEM),) if had else ()),
            (
                f"look for other copies of {HERE}: backups, disk snapshots, or downstream systems that read these "
                "records"
            ),
            f"ask the clients for the records that they wrote {_when(history, case, loss)}",
        )
    needed = needed_copies(copies(loss))
    return (stop_and_copy(needed, Origin.OTHER_SYSTEM), "read the records from the copy")


def _with_copy(history: History, case: Case, loss: Loss) -> Advice:
    holders = copies(loss)
    needed = needed_copies(holders)
    others = [b for b in sorted(history.members) if b not in holders]
    # A complete trace states what the log of each replica holds.
    unseen = tuple(b for b in others if history.played is None and not on_disk(history, b))
    parts = tuple(b for b in others if on_disk(history, b) and may_lack_segments(history, b, loss.ranges))
    apart = (*unseen, *parts)
    live = [span for spans in holders.values() for span in spans]
    deleted = [left for left in _deleted(history, loss) if left[2] or subtract(left[1], live)]
    return (
        kept_text(history, holders, needed) + (_only(loss, unseen, parts) if len(holders) == 1 and not deleted else ""),
        (
            *(
                f"stop broker {broker} and copy its directory {HERE} to another disk{_in_evidence(history, broker)}"
                for broker in needed
            ),
            *(_copied(history, loss, left) for left in deleted),
            salvage(history, needed),
        ),
        (
            *_not_before(history, needed),
            *((f"touch {brokers_text(apart)}: the evidence does not show what their disks hold",) if apart else ()),
        ),
    )


def _not_before(history: History, brokers: tuple[int, ...]) -> tuple[str, ...]:
    """Return what not to do with brokers that have the records before these are copied."""
    what = f"restart or wipe {brokers_text(brokers)}, or move {HERE} to another broker, before you have the copy"
    return (f"{what}: {_REMOVED[history.protocol.truncates_to_hw]}",)


def copies(loss: Loss) -> dict[int, tuple[Range, ...]]:
    """Return replicas that still hold lost records, with the offsets; the one with the most comes first."""
    return dict(sorted(loss.holders.items(), key=lambda held: (-size(held[1]), held[0])))


def copies_text(history: History, loss: Loss) -> str:
    """Return which replica still has which lost records, in words."""
    groups: dict[tuple[Range, ...], list[int]] = {}
    for broker, ranges in copies(loss).items():
        groups.setdefault(ranges, []).append(broker)
    (most, first), *others = groups.items()
    whole = most == loss.ranges
    what = "them" if whole else f"only {offsets_text(most)} of them"
    return f"{brokers_text(first, history.controllers)} still {_have(first)} {what}" + "".join(
        f", {brokers_text(b, history.controllers)} {_have(b)} {'also ' if whole else ''}{offsets_text(r)}"
        for r, b in others
    )


def _have(brokers: Sequence[int]) -> str:
    return "has" if len(brokers) == 1 else "have"


def kept_text(history: History, holders: dict[int, tuple[Range, ...]], needed: tuple[int, ...]) -> str:
    """Return which copies to keep, in words, and which others have the same records or some of them."""
    nodes = history.controllers
    if len(needed) > 1:
        kept = (f"{brokers_text([b], nodes)}'s copy of {HERE} with {offsets_text(holders[b])}" for b in needed)
        return " and ".join(kept)
    alike = [b for b, ranges in holders.items() if b not in needed and ranges == holders[needed[0]]]
    also = f" ({brokers_text(alike, nodes)} {_have(alike)} the same records)" if alike else ""
    parts = [b for b in holders if b not in (*needed, *alike)]
    less = f" ({brokers_text(parts, nodes)} {_have(parts)} a part of the records)" if parts else ""
    return f"{brokers_text(needed, nodes)}'s copy of {HERE}{also}{less}"


def _in_evidence(history: History, broker: int) -> str:
    folder = history.replicas[broker].directory
    return f" (in this evidence: {_quoted(history, folder)})" if folder is not None else ""


def _quoted(history: History, folder: str) -> str:
    """Return a path for a shell; the partition's own directory at its end stands for that of any partition."""
    path = shlex.quote(folder)
    return f"{path.removesuffix(history.name)}{HERE}" if path.endswith(f"/{history.name}") else path


def outside_text(history: History, case: Case, loss: Loss) -> str:
    """Return where the records are if no live copy has them, in words."""
    found = left_behind(history, loss.lineage, loss.ranges)
    if not found and (deleted := _deleted(history, loss)):
        return f"no live copy in the evidence still has them. {_called(deleted)} {_has_deleted(loss, deleted)}"
    if not found:
        failed = failed_logs(history, case, loss.ranges[0][0])
        whole = [one.broker for one in failed if one.end >= loss.ranges[-1][1]]
        had = f". The log directory of broker {whole[0]} that failed had them" if whole else ""
        last = "" if had else _had_text(history, loss)
        return last or f"no replica in the evidence still has them{had}"
    what = _held_text(loss, (pieces for _, _, pieces in found))
    brokers = brokers_text(tuple(dict.fromkeys(broker for broker, _, _ in found)))
    return f"no live copy in the evidence still has them. A directory that {brokers} no longer uses has {what}"


_Deleted = tuple[DeletedSegment, list[Range], bool]
"""A segment or directory that a broker was about to remove, lost records in it, and whether leader epochs show them."""


def _deleted(history: History, loss: Loss) -> list[_Deleted]:
    """Return what brokers were about to remove and has lost records, or may have them."""
    return kept_in(history.facts.deleted_segments, loss.lineage, loss.ranges)


def _left(history: History, one: DeletedSegment) -> str:
    """Return the path of what a broker was about to remove, for a shell."""
    parent, _, name = one.path.rpartition("/")
    return f"{_quoted(history, parent)}/{shlex.quote(name)}" if parent else shlex.quote(name)


def _has_deleted(loss: Loss, deleted: Sequence[_Deleted]) -> str:
    """Return which lost records are in what brokers were about to remove, in words."""
    if any(shown for _, _, shown in deleted):
        return f"has {_held_text(loss, (spans for _, spans, shown in deleted if shown))}"
    return f"may have {_held_text(loss, (spans for _, spans, _ in deleted))}"


def _copied(history: History, loss: Loss, left: _Deleted) -> str:
    """Return the step that copies what a broker was about to remove."""
    return (
        f"copy {_left(history, left[0])} of broker {left[0].broker} to another disk. It {_has_deleted(loss, [left])}, "
        f"and {_REMOVES}"
    )


def _left_of_topic(history: History, deleted: Sequence[_Deleted]) -> tuple[str, ...]:
    """Return the steps that keep what is left of the other records of a deleted topic."""
    copied = {one.path for one, _, _ in deleted}
    left = [one for one in history.facts.deleted_segments if one.is_directory and one.path not in copied and one.pieces]
    return tuple(
        f"if the deleted topic is still wanted: keep {_left(history, one)}, which has {offsets_text(one.offsets)} of "
        f"it. On broker {one.broker}, {_REMOVES}"
        for one in left
        if history.incarnation
    )


def _on_disk_yet(history: History, loss: Loss, deleted: Sequence[_Deleted]) -> str | None:
    """Return what to keep if only what brokers were about to remove has the records, or may have them."""
    if not deleted:
        return None
    paths = ", ".join(f"{_left(history, one)} of broker {one.broker}" for one, _, _ in deleted)
    return f"{paths}. {_called(deleted)} {_has_deleted(loss, deleted)}"


def _called(deleted: Sequence[_Deleted]) -> str:
    """Return what brokers were about to remove, as the subject of a sentence."""
    whose = brokers_text(tuple(dict.fromkeys(one.broker for one, _, _ in deleted)))
    kinds = {one.is_directory for one, _, _ in deleted}
    what = "deleted directory" if kinds == {True} else "deleted segment" if kinds == {False} else "deleted file"
    return f"A {what} of {whose}" if len(deleted) == 1 else f"Together, what is deleted on {whose}"


def _had_text(history: History, loss: Loss) -> str:
    """Return which replicas had the records by their last lines, in words; "" for none."""
    had = last_had(history, loss.lineage, loss.ranges)
    if not had:
        return ""
    what = _held_text(loss, had.values())
    return f"no copy in the evidence has them, but by {_its(had)} last lines {brokers_text(tuple(had))} had {what}"


def _its(brokers: Collection[int]) -> str:
    return "its" if len(brokers) == 1 else "their"


def _last_copy(loss: Loss, had: Mapping[int, tuple[Range, ...]]) -> str | None:
    """Return the copy to keep, if replicas without files in the evidence had the records by their last lines."""
    if not had:
        return None
    whose = "copy" if len(had) == 1 else "copies"
    what = _held_text(loss, had.values())
    return f"the {whose} of {HERE} on {brokers_text(tuple(had))}: the last lines there state a log with {what}"


def _without_copy(history: History, case: Case, loss: Loss) -> Advice:
    holding, deleted = left_behind(history, loss.lineage, loss.ranges), _deleted(history, loss)
    left = [(broker, one) for broker, one, _ in holding]
    if not any(shown for _, _, shown in deleted):
        left = left or reaching(history, loss.ranges)
    places = [_place(history, broker, one) for broker, one in left]
    failed = failed_logs(history, case, loss.ranges[0][0])
    disks = find_and_copy(failed, [_had(loss.ranges, one.end) for one in failed])
    discard = (do_not_discard(failed),) if failed else ()
    held = f"has {_held_text(loss, (pieces for _, _, pieces in holding))}" if holding else "may have them"
    keep = f"the directory that is no longer used and {held}: {', '.join(places)}" if places else None
    keep = keep or _on_disk_yet(history, loss, deleted) or _on_failed(failed)
    had = {} if keep else last_had(history, loss.lineage, loss.ranges)
    keep = keep or _last_copy(loss, had)
    rest = _left_of_topic(history, deleted)
    still = "for records that are not in that copy, " if left or deleted or failed or had else ""
    return (
        keep,
        (
            *_put_back(history, loss),
            *_replaced(history, loss),
            *rest,
            *(f"stop broker {broker} and copy its directory {HERE} to another disk" for broker in had),
            *(_copied(history, loss, one) for one in deleted),
            *(f"copy {place}, which is not the live directory, to another disk" for place in places),
            *disks,
            *(salvage(history, (), elsewhere=bool(failed)) for _ in [*left, *deleted, *failed][:1]),
            (
                f"{still}look for other copies of {HERE}: backups, disk snapshots, mirrored clusters, or downstream "
                "systems that consumed these records"
            ),
            _send_again(history, case, loss, others=bool(still)),
        ),
        (
            *discard,
            *(f"start broker {one.broker} before you have copied {_left(history, one)}" for one, _, _ in deleted),
            *(_not_before(history, tuple(had)) if had else ()),
            *(
                f"wipe, mount for a broker or use again the disk with {place}: "
                f"{'it has' if holding else 'it may have'} the last copy"
                for place in places
            ),
            "delete this evidence, which was scanned: nothing else shows what was lost",
        ),
    )


def _freed_blocks(history: History, loss: Loss) -> tuple[Action, ...]:
    """Return the last resort where no copy may have the records: what a truncation freed on a disk."""
    freed: dict[int, list[Range]] = {}
    for cut in history.truncations:
        if lost := intersect(loss.ranges, [(cut.target, cut.end)]):
            freed[cut.replica] = merge([*freed.get(cut.replica, ()), *lost])
    if not freed:
        return ()
    had = {broker: size(ranges) for broker, ranges in freed.items()}
    whose = sorted(broker for broker, records in had.items() if records == max(had.values()))
    some = sorted(had.keys() - {*whose})
    less = f" ({brokers_text(some, history.controllers)} had fewer of them)" if some else ""
    disk, one = ("its disk", f"broker {whose[0]}") if len(whose) == 1 else ("their disks", "one of them")
    text = (
        f"the last resort, if it is worth an outage: {brokers_text(whose, history.controllers)} had "
        f"{_share(max(had.values()), size(loss.ranges))}{less}, "
        f"and freed blocks of {disk} may still have them, until they are written again. Stop {one} soon, once each "
        "partition that it leads has another broker in the ISR, and take an image of the whole disk: a copy of its "
        "files has no freed blocks"
    )
    return (Action(text, general=f"take an image of a disk of {brokers_text(whose)}"),)


def _share(had: int, lost: int) -> str:
    """Return how many of the lost records a log had."""
    return "the records" if had >= lost else f"{had:,} of the {lost:,} records"


def _replaced(history: History, loss: Loss) -> tuple[str, ...]:
    """Return the step that looks for a log in whose place a broker found another one after a clean stop."""
    return tuple(
        f"look for the data directory that broker {broker} used before its last clean stop: it had the lost records, "
        "and another one was in its place when the broker started. It may be a disk that is no longer mounted, a "
        "renamed folder, another folder in log.dirs, or a snapshot of the volume. Copy it, do not start a broker on "
        "it, and scan the copy with this evidence"
        for broker in _shortened(history, loss, ShortenedBy.CLEAN_RESTART)
    )


def _put_back(history: History, loss: Loss) -> tuple[str, ...]:
    """Return the step that looks for what was there before a copy was put back, if that may have happened.

    A copy of a running broker's directory has no clean stop, and loses the end of each log, as a loss of power does.
    Its lines are the same. What was in its place may have all records, until somebody uses that disk again. So this is
    the first step.
    """
    shorter = _shortened(history, loss, ShortenedBy.UNCLEAN_RESTART)
    if not shorter:
        return ()
    directory, it = ("directory of {}", "it") if len(shorter) == 1 else ("directories of {}", "each")
    whose = directory.format(brokers_text(shorter, history.controllers))
    return (
        (
            f"ask whether somebody put back the data {whose} from a backup or a snapshot before {it} started without "
            "the records. If so, keep what was there before, and copy it: it may have all of them"
        ),
    )


def _shortened(history: History, loss: Loss, by: ShortenedBy) -> list[int]:
    """Return the brokers whose logs lacked lost records after a start of one kind, unless their disk had failed."""
    return sorted(
        {
            one.replica
            for one in history.shortened_logs
            if one.cause is by and not one.dir_failed and intersect(loss.ranges, [(one.target, one.end)])
        }
    )


def _send_again(history: History, case: Case, loss: Loss, *, others: bool) -> str:
    """Return the step that gets lost records from the applications that wrote them.

    Args:
        history, case, loss: what was lost.
        others: steps before this one may have got some of them back.
    """
    if history.incarnation:
        return (
            f"ask who deleted the topic {TOPIC}, and whether its data is still wanted: applications that send it "
            "again write to the new topic of this name"
        )
    return (
        f"{'only for what no copy has, ' if others else ''}ask the owners of the applications that write to {HERE} to "
        f"send {'these' if others else 'the lost'} records again. "
        f"{_written(history, case, loss)}. What else they send arrives twice: do that only where it "
        "does no harm"
    )


def _written(history: History, case: Case, loss: Loss) -> str:
    """Return when the lost records were written, as a sentence without its full stop."""
    known = written_between(history, case, loss)
    return f"They wrote them {WHEN}" if known else "The evidence does not show when they wrote them"


def _had(ranges: Sequence[Range], end: int) -> str:
    """Return how many of the lost records a log with at least that log end offset had, in words."""
    if end >= ranges[-1][1]:
        return "it had all of these records"
    return "it had a part of these records" if end > ranges[0][0] else "it may have some of these records"


def _on_failed(failed: Sequence[FailedLog]) -> str | None:
    """Return what to keep if no live copy has the records: the log directories that failed."""
    if not failed:
        return None
    return f"{kept(failed)}{not_the_new(failed)}, with the log of {HERE}. No copy in the evidence has the records"


def _when(history: History, case: Case, loss: Loss) -> str:
    return WHEN if written_between(history, case, loss) else "then"


def _held_text(loss: Loss, found: Iterable[Sequence[Range]]) -> str:
    """Return the part of the lost records that some logs hold together, in words."""
    held = merge(itertools.chain.from_iterable(found))
    return "them" if held == list(loss.ranges) else f"{offsets_text(tuple(held))}"


def _place(history: History, broker: int, left: StaleDir) -> str:
    return f"{_quoted(history, left.directory)} of broker {broker} (log end offset {left.end})"


def salvage(
    history: History,
    brokers: Iterable[int],
    text: str = _GET,
    *,
    elsewhere: bool = False,
    ending: str = "",
) -> Action:
    """Return the step that gets the lost records out of a copy.

    Args:
        history: the partition.
        brokers: who has the records.
        text: the step in words, before the command.
        elsewhere: the copy is of what the evidence lacks.
        ending: of the name of the directory, as a pattern of a shell.
    """
    name = shlex.quote(history.name)
    here = HERE if name == history.name else name
    folder = _quoted(history, f"/path/to/copy/{history.name}")
    several = history.facts.lives > 1 and history.facts.topic_id is not None
    of_topic = f" --topic-id {shlex.quote(history.facts.topic_id or '')}" if several else ""
    there = f"forensics salvage {EVIDENCE} -p {here}{of_topic} -o recovered/{here}"
    return Action(
        text,
        f"forensics salvage {folder}{ending} -p {here}{of_topic} {LOST} -o recovered/{here}",
        there if not elsewhere and all(on_disk(history, broker) for broker in brokers) else None,
    )


def on_disk(history: History, broker: int) -> bool:
    """Return whether the segments of a replica are in the evidence."""
    return broker in history.replicas and history.replicas[broker].on_disk


def _only(loss: Loss, unseen: tuple[int, ...], parts: tuple[int, ...]) -> str:
    (held,) = loss.holders.values()
    records = "the lost records" if held == loss.ranges else f"{offsets_text(held)} of the lost records"
    lacking = [f"the evidence has no data of {brokers_text(unseen)}"] if unseen else []
    lacking += [f"the evidence may lack segments of {brokers_text(parts)}"] if parts else []
    if lacking:
        return f". It is the only one in the evidence with {records}; {' and '.join(lacking)}"
    return f". It is the only one with {records}"
