"""The folder of salvaged records: for each side a segment as a broker reads it, and the records as JSON lines.

The folder has ``manifest.json``: what was asked for, what each side holds, and what no copy has. Each side has a folder
of its own, such as ``broker-1``. In it are ``orders-0/00000000000000000050.log``, whole batches byte for byte in a file
that is named by their first offset, and ``records.jsonl``, the records of the wanted offsets (``records``).

The folder is made beside its place and renamed once it is complete. Nothing is ever written over.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from forensics.case import Case
from forensics.errors import UnusableOutput
from forensics.outputs import as_json, evidence_around, new_folder
from forensics.replay.lineage import Range, merge, size, subtract
from forensics.salvage import records
from forensics.salvage.asked import Lost
from forensics.salvage.content import Content
from forensics.salvage.copies import Batch, Copy, Holding, Side
from forensics.salvage.transactions import State, Transactions
from forensics.version import __version__
from parsers.formats.records import Decoded, Record, decode_batch

SCHEMA: Final = "forensics.salvage/1"
MANIFEST: Final = "manifest.json"
RECORDS: Final = "records.jsonl"
_LARGEST: Final = 1 << 30
"""Bytes of a segment, at most: ``log.segment.bytes`` by default."""
_FURTHEST: Final = (1 << 31) - 1
"""Offsets of a segment above its base, at most: its index has them as int32."""


@dataclass(frozen=True, slots=True)
class Written:
    """The records and segments of one side.

    Attributes:
        side: the side.
        folder: name of its folder.
        lost: the offsets at which it has what the partition lost; None if no loss was asked for.
        leader: the partition's last leader, if this is what it serves at these offsets; else, or if unknown, None.
        held: the wanted offsets that its batches cover.
        found: offsets of records that could be read.
        batches, bytes: batches in its segments, and their size.
        transactions: how many records were in a transaction, by what became of it.
        unread: batches whose records could not be read, and why: place, reason.
    """

    side: Side
    folder: str
    lost: tuple[Range, ...] | None
    leader: int | None
    held: tuple[Range, ...]
    found: tuple[Range, ...]
    batches: int
    bytes: int
    transactions: dict[State, int]
    unread: tuple[tuple[str, str], ...]

    @property
    def records(self) -> int:
        """How many records could be read."""
        return size(self.found)

    @property
    def covered(self) -> list[Range]:
        """Offsets of the segments: whole batches reach beyond the offsets that are wanted."""
        return merge(one.offsets for one in self.side.batches)

    @property
    def without_record(self) -> list[Range]:
        """Wanted offsets within its batches that are no record: markers of transactions, or removed by compaction."""
        return subtract(self.held, self.found)


def recover(
    case: Case, holding: Holding, into: Path | None, lost: Lost | None = None, inputs: Sequence[str] = ()
) -> list[Written]:
    """Read what each side holds, and write it.

    Args:
        case: the evidence.
        holding: the sides.
        into: a new folder; None to read only, and write nothing.
        lost: what each side holds of what the partition lost.
        inputs: paths of the evidence, which are never written to.

    Raises:
        UnreadableInput: the evidence changed since it was read.
        UnusableOutput: the folder is not new, or is in the evidence.
        UnwritableOutput: it cannot be written.
    """
    content = Content(case)
    unknown = (None,) * len(holding.sides)
    told = zip(lost.held, lost.leaders, strict=True) if lost is not None else zip(unknown, unknown, strict=True)
    of_sides = list(zip(holding.sides, _names(holding.sides), told, strict=True))

    def each(folder: Path | None) -> list[Written]:
        one = _Recovery(case, holding, content, folder)
        return [one.of(side, name, held, leader) for side, name, (held, leader) in of_sides]

    with contextlib.closing(content):
        if into is None:
            return each(None)
        refuse(into, inputs)
        with new_folder(into) as folder:
            written = each(folder)
            manifest = as_json(document(case, holding, written, lost), indent=1) + "\n"
            (folder / MANIFEST).write_text(manifest, encoding="utf-8")
        return written


def _names(sides: Iterable[Side]) -> list[str]:
    """Return a name for the folder of each side: that of the broker whose copy has the most."""
    counts: Counter[str] = Counter()
    names = []
    for side in sides:
        broker = side.copies[0].broker
        name = "broker-unknown" if broker is None else f"broker-{broker}"
        counts[name] += 1
        names.append(name if counts[name] == 1 else f"{name}-{counts[name]}")
    return names


class _Recovery:
    """Reads, and writes, one side.

    Args:
        case: the evidence.
        holding: what was asked.
        content: gives the bytes of batches.
        folder: of all sides, or None to write nothing.
    """

    def __init__(self, case: Case, holding: Holding, content: Content, folder: Path | None) -> None:
        self.case = case
        self.holding = holding
        self.content = content
        self.folder = folder

    def of(self, side: Side, name: str, lost: tuple[Range, ...] | None, leader: int | None) -> Written:
        """Recover one side into the folder of its name."""
        ends = Transactions((one for copy in side.copies for one in copy.batches), self.content)
        whose = self._whose(side)
        tally = _Tally()
        with contextlib.ExitStack() as open_:
            target = self.folder / name if self.folder is not None else None
            writer = _Writer(target, self.holding.name, open_) if target is not None else None
            for batch in side.batches:
                data = self.content.of(batch)
                decoded = Decoded() if batch.control else decode_batch(data)
                origin = self._origin(batch, ends.state(batch), whose[batch.identity])
                chosen = list(self._wanted(decoded.records))
                tally.add(batch, decoded.problem, chosen, origin)
                if writer is not None:
                    writer.segments.add(batch, data)
                    writer.lines.writelines(records.line(record, origin) for record in chosen)
        return Written(
            side=side,
            folder=name,
            lost=lost,
            leader=leader,
            held=tuple(side.held(self.holding.wanted)),
            found=tuple(merge(tally.found)),
            batches=len(side.batches),
            bytes=sum(one.size for one in side.batches),
            transactions=dict(tally.transactions),
            unread=tuple(tally.unread),
        )

    def _wanted(self, found: Iterable[Record]) -> Iterator[Record]:
        for record in found:
            if any(first <= record.offset < end for first, end in self.holding.wanted):
                yield record

    def _whose(self, side: Side) -> dict[tuple[int, int, int | None, int], tuple[int, ...]]:
        """Return the brokers that have each batch of a side."""
        found: dict[tuple[int, int, int | None, int], set[int]] = {}
        for copy in side.copies:
            for one in copy.within(self.holding.wanted):
                brokers = found.setdefault(one.identity, set())
                if one.intact and copy.broker is not None:
                    brokers.add(copy.broker)
        return {identity: tuple(sorted(brokers)) for identity, brokers in found.items()}

    def _origin(self, batch: Batch, state: State | None, brokers: tuple[int, ...]) -> records.Origin:
        return records.Origin(
            self.holding.topic,
            self.holding.partition,
            batch.leader_epoch,
            batch.timestamp_type,
            state,
            brokers,
            self.case.path(batch.source),
            batch.byte,
            self.content.sha256(batch.source) if self.folder is not None else "",
        )


class _Tally:
    """Counts what a side gives.

    Attributes:
        found: offsets of records.
        transactions: records in a transaction, by its outcome.
        unread: place of batches whose records could not all be read, and why.
    """

    def __init__(self) -> None:
        self.found: list[Range] = []
        self.transactions: Counter[State] = Counter()
        self.unread: list[tuple[str, str]] = []

    def add(self, batch: Batch, problem: str | None, chosen: Sequence[Record], origin: records.Origin) -> None:
        """Count one batch, and those of its records that are wanted."""
        if problem is not None:
            self.unread.append((f"{origin.path}, byte {batch.byte}", problem))
        if origin.transaction is not None and chosen:
            self.transactions[origin.transaction] += len(chosen)
        for record in chosen:
            if self.found and self.found[-1][1] == record.offset:
                self.found[-1] = (self.found[-1][0], record.offset + 1)
            else:
                self.found.append((record.offset, record.offset + 1))


class _Writer:
    """The files of one side.

    Args:
        folder: of the side.
        name: ``topic-partition``.
        open_: closes the files.
    """

    def __init__(self, folder: Path, name: str, open_: contextlib.ExitStack) -> None:
        self.segments = _Segments(folder / name, open_)
        self.lines = open_.enter_context((folder / RECORDS).open("w", encoding="utf-8"))


class _Segments:
    """Writes batches as segments of a log.

    Args:
        folder: the partition's directory.
        open_: closes the files.
    """

    def __init__(self, folder: Path, open_: contextlib.ExitStack) -> None:
        self._folder = folder
        self._open = open_
        self._base = -1
        self._size = 0
        self._file: BinaryIO | None = None
        folder.mkdir(parents=True)

    def add(self, batch: Batch, data: bytes) -> None:
        """Append a batch, to a new segment where the one before is full."""
        full = self._size + len(data) > _LARGEST or batch.last - self._base > _FURTHEST
        if self._file is None or full:
            if self._file is not None:
                self._file.close()
            self._base, self._size = batch.first, 0
            path = self._folder / f"{batch.first:020}.log"
            self._file = self._open.enter_context(path.open("wb"))
        self._file.write(data)
        self._size += len(data)


def refuse(into: Path, inputs: Iterable[str]) -> None:
    """Make sure that a folder is new, and not in the evidence: the next scan would take it for a broker's.

    Raises:
        UnusableOutput: it is not.
    """
    if into.exists() and (not into.is_dir() or any(into.iterdir())):
        raise UnusableOutput(f"{into}: is there already; name a new folder: nothing is ever written over")
    if (path := evidence_around(into, inputs)) is not None:
        raise UnusableOutput(
            f"{into}: is in the evidence {path}, which is never written to; name a folder outside of it"
        )


# -- for programs -----------------------------------------------------------------------------------------------------


def document(case: Case, holding: Holding, written: Sequence[Written], lost: Lost | None = None) -> dict[str, Any]:
    """The contract ``forensics.salvage/1`` as plain values; ranges are half-open."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "forensics", "version": __version__},
        "cluster": holding.cluster or _only_value(copy.cluster for copy in holding.copies),
        "topic": holding.topic,
        "partition": holding.partition,
        "topic_id": holding.of.topic_id or _only_value(copy.topic_id for copy in holding.copies),
        "offsets": _pairs(holding.wanted),
        "gone": _pairs(holding.gone),
        "lost": None if lost is None else {"offsets": _pairs(lost.offsets), "gone": _pairs(lost.gone)},
        "sides": [_side(case, one) for one in written],
        "damaged": [
            {
                "broker": copy.broker,
                "path": case.path(batch.source),
                "byte": batch.byte,
                "offsets": [batch.first, batch.last + 1],
            }
            for copy, batch in holding.damaged
        ],
        "other_topics": [{**_copy(copy), "topic_id": copy.topic_id} for copy in holding.others],
    }


def _only_value(values: Iterable[str | None]) -> str | None:
    """Return the value of all that have one, where it is one and the same."""
    named = {one for one in values if one is not None}
    return named.pop() if len(named) == 1 else None


def _copy(copy: Copy) -> dict[str, Any]:
    return {"cluster": copy.cluster, "broker": copy.broker, "directory": copy.directory, "state": copy.state}


def _side(case: Case, one: Written) -> dict[str, Any]:
    return {
        "folder": one.folder,
        "lost": None if one.lost is None else _pairs(one.lost),
        "served_by": one.leader,
        "copies": [_copy(copy) for copy in one.side.copies],
        "leader_epochs": list(one.side.epochs),
        "offsets": _pairs(one.held),
        "segment_offsets": _pairs(one.covered),
        "records": one.records,
        "without_record": _pairs(one.without_record),
        "transactions": {state.value: count for state, count in sorted(one.transactions.items())},
        "batches": one.batches,
        "bytes": one.bytes,
        "unread": [{"place": place, "reason": reason} for place, reason in one.unread],
    }


def _pairs(ranges: Iterable[Range]) -> list[list[int]]:
    return [[first, end] for first, end in ranges]
