"""Salvaged records as text: what each copy holds of the wanted offsets, what is gone, and where it was written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forensics.case import Case
from forensics.outputs import plain
from forensics.replay.lineage import Range, intersect, subtract
from forensics.rules.finding import brokers_text, count_text, offsets_text, span_text
from forensics.salvage.asked import Lost
from forensics.salvage.copies import Holding
from forensics.salvage.recovered import RECORDS, Written
from forensics.salvage.transactions import State
from parsers.formats.log_directory import DELETED_SEGMENTS

_SHOWN = 5
"""Damaged batches, and batches whose records cannot be read, that are named."""

_STATES = {
    State.COMMITTED: "committed",
    State.ABORTED: "aborted: no consumer with read_committed saw them",
    State.OPEN: "of transactions without an end in these copies",
}


_MARKS = {"current": "", DELETED_SEGMENTS: " (deleted: its broker removes it when it starts)"}
"""Words about a copy by its state; for other states their names."""


def render(case: Case, holding: Holding, written: Sequence[Written], lost: Lost | None, into: str | None) -> str:
    """Return the text.

    Args:
        case: the evidence.
        holding: what was asked.
        written: each side.
        lost: what the sides hold of what the partition lost; None if no loss was asked for.
        into: the folder that was written; None if nothing was.
    """
    deleted = sum(copy.is_deleted_segment for copy in holding.copies)
    count = len(holding.copies) - deleted
    copies = f"{count:,} cop{'y' if count == 1 else 'ies'}" if count or not deleted else "no copy"
    also = f" and {_count(deleted, 'deleted segment')}" if deleted else ""
    there = f"{copies}{also} in the evidence{_without_records(holding)}"
    lines = [f"{holding.name}{_topic(holding)}: {_ranges(holding.wanted)} wanted; {there}"]
    for one in written:
        lines += ["", *_side(holding, one, into)]
    lines += ["", *_gone(holding, lost)]
    lines += _of_other_topics(holding)
    if len(written) > 1 and lost is None:
        lines.append("Copies hold different records at the same offsets: decide which ones count.")
    lines += _some(
        f"not taken: {case.path(one.source)}, byte {one.byte}: wrong checksum (offsets {one.first} to {one.last})"
        for _, one in holding.damaged
    )
    lines += _some(f"not readable: {place}: {why}" for side in written for place, why in side.unread)
    lines += ["", *_next(written, into)]
    return "".join(f"{plain(line)}\n" for line in lines)


def _topic(holding: Holding) -> str:
    """Return which of the topics that had the name in turn it is, in words; "" where there is one only."""
    if not holding.others and not holding.of.replaced:
        return ""
    topic_id = f" with topic id {holding.of.topic_id}" if holding.of.topic_id is not None else ""
    if holding.of.replaced:
        return f" of the deleted topic{topic_id}"
    return f" of the topic{topic_id or ' that was made last'}"


def _without_records(holding: Holding) -> str:
    """Return that copies have no records at all, in words."""
    empty = sum(copy.is_empty for copy in holding.copies)
    if not empty:
        return ""
    if empty == len(holding.copies):
        return ", without a record" if empty == 1 else ", all without a record"
    return f", {empty:,} of them without a record"


def _of_other_topics(holding: Holding) -> list[str]:
    """Return which copies are left out because they are of another topic, in words."""
    if not holding.others:
        return []
    lines = ["", "Left out, because they are of another topic of this name:"]
    for copy in holding.others:
        topic_id = f", topic id {copy.topic_id}" if copy.topic_id is not None else ""
        lines.append(f"    {copy.directory}{_MARKS.get(copy.state, f' ({copy.state})')}{topic_id}")
    return lines


def _side(holding: Holding, one: Written, into: str | None) -> list[str]:
    known = tuple(sorted({copy.broker for copy in one.side.copies if copy.broker is not None}))
    name = brokers_text(known) if known else "unknown broker"
    epochs = one.side.epochs
    written = f", leader epoch{'' if len(epochs) == 1 else 's'} {', '.join(map(str, epochs))}" if epochs else ""
    lines = [f"  {name}  {_ranges(one.held)}{written}{_lost(one)}"]
    for copy in one.side.copies:
        lines.append(f"    in {copy.directory}{_MARKS.get(copy.state, f' ({copy.state})')}")
    lines.append(f"    {_count(one.records, 'record')} in {_count(one.batches, 'batch')}, {one.bytes:,} bytes")
    if beyond := subtract(one.covered, holding.wanted):
        lines.append(
            f"    whole batches: the segment has {offsets_text(tuple(one.covered))}, so also {span_text(beyond)}, "
            f"which were not asked for; {RECORDS} leaves these out"
        )
    if one.without_record:
        lines.append(
            f"    without a record: {offsets_text(tuple(one.without_record))} (transaction markers, compaction)"
        )
    lines += [f"    {_count(count, 'record')} {_STATES[state]}" for state, count in sorted(one.transactions.items())]
    if into is not None:
        lines.append(f"    written to {into}/{one.folder}/: segments, and {RECORDS}")
    return lines


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 'es' if what.endswith('h') else 's'}"


def _ranges(ranges: Sequence[Range]) -> str:
    return f"{offsets_text(tuple(ranges))} ({count_text(tuple(ranges))})"


def _lost(one: Written) -> str:
    """Return whether a side holds what the partition lost, in words."""
    if one.lost is None:
        return ""
    if not one.lost and one.leader is not None:
        return f": the records that the partition serves now at these offsets (leader: broker {one.leader})"
    if not one.lost:
        return ": not known to be the lost records"
    return ": the lost records" if one.lost == one.held else f": with the lost records at {offsets_text(one.lost)}"


def _gone(holding: Holding, lost: Lost | None) -> list[str]:
    """Return which of the records no copy has, in words."""
    end = max((copy.end for copy in holding.copies), default=0)
    missing, beyond = intersect(holding.gone, [(0, end)]), subtract(holding.gone, [(0, end)])
    if not holding.sides and all(copy.is_empty for copy in holding.copies):
        return [f"In no copy of this evidence: {_ranges(holding.wanted)}."]
    lines = [f"In no copy of this evidence: {_ranges(missing)}."] if missing else []
    if beyond:
        lines.append(f"Beyond the end of every copy (the longest has log end offset {end}): {_ranges(beyond)}.")
    if lost is not None and (gone := subtract(lost.gone, holding.gone)):
        lines.append(
            f"No copy is known to have the lost records at {_ranges(gone)}. What copies have there may be others."
        )
    if lines and any(batch.first < end for _, batch in holding.damaged):
        lines.append("Damaged batches may hold some of them: they are named below.")
    return lines or [f"Each of the {'lost records' if lost is not None else 'offsets'} is in a copy."]


def _next(written: Sequence[Written], into: str | None) -> list[str]:
    """Return what to do next."""
    if into is None:
        return ["Nothing was written. Name a new folder with -o to write the records."]
    chosen = next((one for one in written if one.lost or one.lost is None), None)
    if chosen is None:
        return (
            ["No folder is known to have the lost records: look at what it has before you use it."] if written else []
        )
    command = f"forensics produce {into}/{chosen.folder}/{RECORDS} --bootstrap-server HOST:PORT --topic NEW-TOPIC"
    return [f"To write the records to a new topic: {command}"]


def _some(texts: Iterable[str]) -> list[str]:
    every = list(texts)
    more = len(every) - _SHOWN
    return [*every[:_SHOWN], *([f"and {more:,} more"] if more > 0 else [])]
