"""Traces that name no cluster: one with a witness of other evidence is of a cluster of its own."""

from __future__ import annotations

import itertools
import os.path
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import polars as pl

from parsers.file_reading import FileReading, note
from parsers.files.sources import Source, folder_of, folders_of
from parsers.formats.trace_jsonl import BELOW_HEADER
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.takers.trace_files import CONTAINER as OF_FILES
from parsers.text.broker_log import NAME as LOG

_OF_BROKERS: Final = frozenset((LOG, "segment", "dump-log", "metadata-log", "offset-checkpoint", "epoch-checkpoint"))
"""Formats of logs and data of brokers. Settings alone are no rival of a trace, as they may be given along with it."""

OTHER_FILES: Final = "other files"
"""Cluster of all files that name none, if a trace that names none is told apart from them."""


_FOLDER, _FILE = "folder", "file"


def cluster_text(cluster: str | None) -> str:
    """Return a cluster in words: by its id, or by the place of its traces if they name none.

    >>> cluster_text("c1"), cluster_text("folder a"), cluster_text(None)
    ('cluster c1', 'folder a', 'cluster unknown')
    """
    if cluster is not None and (cluster == OTHER_FILES or cluster.startswith((f"{_FOLDER} ", f"{_FILE} "))):
        return cluster
    return f"cluster {cluster or 'unknown'}"


class ToldApart(NamedTuple):
    """Clusters of files, once traces without a cluster are told apart.

    Attributes:
        clusters: of each file, or None.
        alone: positions of traces whose cluster is that of no other file.
        named: positions of traces with a cluster that no file names.
    """

    clusters: list[str | None]
    alone: frozenset[int]
    named: frozenset[int]


def told_apart(
    files: Sequence[tuple[Source, FileReading]], brokers: Sequence[int | None], clusters: Sequence[str | None]
) -> ToldApart:
    """Return the cluster of each file; a trace without one gets its own if other evidence is of its witnesses.

    Brokers of one cluster have different ids, and each writes one trace. So if the same witness states lines in two
    traces, these are of two clusters. Each is named after the highest folder (or archive) of its trace in which no
    witness has two traces. The traces of its other brokers are there too. If one folder has both traces, each is named
    after its file. The pieces of a trace that was rotated are one trace. The same holds for a trace with a witness
    whose logs or data are in the evidence, unless it was made from logs. Each such trace gets a notice. If all
    witnesses differ, the files are of one cluster. A broker that only the first line names is no witness.

    Args:
        files: sources with their contents; notices are added.
        brokers, clusters: of each file, if known.
    """
    writers = _rotated(files, _writers(files, brokers))
    rivals = _Rivals.of(writers)
    result, named, alone = list(clusters), set(), set()
    nameless = {n: writer for n, writer in enumerate(writers) if writer.trace and clusters[n] is None}
    common = os.path.commonpath({f"/{source.folder}" for source, _ in files}) if nameless else ""
    taken = {rivals.home(writer) for writer in nameless.values() if rivals.of_trace(writer) is not None}
    for number, writer in nameless.items():
        if (named_after := _named_after(writer, rivals, taken)) is None:
            continue
        what, place = named_after
        named.add(number)
        if what == _FILE:
            alone.add(number)
        result[number] = f"{what} {_shown(place, common)}"
        if (rival := rivals.of_trace(writer)) is not None:
            found = files[number][1]
            found.notices = pl.concat([found.notices, _notice(rival, what, common)])
    return ToldApart(result, frozenset(alone), frozenset(named))


def _named_after(writer: _Writer, rivals: _Rivals, taken: Collection[str | None]) -> tuple[str, str] | None:
    """Return after what the cluster of a trace is named; None if it is not told apart.

    Args:
        writer: the trace.
        rivals: the files of each witness.
        taken: the folders after which clusters of other traces are named.

    Returns:
        Whether it is a file or a folder, and its path.
    """
    home = rivals.home(writer)
    if rivals.of_trace(writer) is None:
        return (_FOLDER, home) if home is not None and home in taken else None
    return (_FILE, writer.path) if rivals.within_folder(writer) else (_FOLDER, home or writer.folder)


def _shown(place: str, common: str) -> str:
    """Return a path below the folder of all files; an archive without the mark of its inside."""
    return os.path.relpath(f"/{place}", common).removesuffix("!")


def witnesses(rows: pl.DataFrame) -> list[int]:
    """Return the witnesses of the lines of a trace but the first one."""
    own = rows.filter(BELOW_HEADER)
    return own.get_column("witness").drop_nulls().unique().to_list()


class _Writer(NamedTuple):
    """A file, and the brokers that it is of.

    Attributes:
        path: where it is.
        brokers: those that state its lines, or whose file it is.
        trace: it is a trace.
        made: the trace was made from logs and files.
    """

    path: str
    brokers: frozenset[int] = frozenset()
    trace: bool = False
    made: bool = False

    @property
    def folder(self) -> str:
        """The folder of the file."""
        return folder_of(self.path)


def _writers(files: Sequence[tuple[Source, FileReading]], brokers: Sequence[int | None]) -> list[_Writer]:
    """Return the brokers of each file."""
    made = tuple(f"{source.path}!/" for source, _ in files if source.container == OF_FILES)
    found: list[_Writer] = []
    for (source, reading), broker in zip(files, brokers, strict=True):
        if reading.format == TRACE:
            named, parent = frozenset(witnesses(reading.observations)), next(filter(source.path.startswith, made), None)
            # All parts of a trace that was made from evidence are of one cluster.
            found.append(_Writer(parent or source.path, named, True, parent is not None))
        elif reading.format in _OF_BROKERS:
            own = witnesses(reading.observations) if broker is None else [broker]
            found.append(_Writer(source.path, frozenset(own)))
        else:
            found.append(_Writer(source.path))
    return found


def _rotated(files: Sequence[tuple[Source, FileReading]], writers: Sequence[_Writer]) -> list[_Writer]:
    """Return the writers, those of the pieces of a trace that was rotated as one and the same.

    The pieces are in one folder, and their names differ in a number or a date behind the name of the trace. Each piece
    begins when the one before has ended. If a number is missing, so are lines: what the trace claims does not count.
    """
    pieces: dict[str, list[int]] = {}
    for number, writer in ((n, one) for n, one in enumerate(writers) if one.trace and not one.made):
        pieces.setdefault(_TURNED.sub("", writer.path), []).append(number)
    found = list(writers)
    for path, numbers in pieces.items():
        brokers = frozenset[int]().union(*(writers[n].brokers for n in numbers))
        for n in _one_trace(files, numbers):
            found[n] = _Writer(path, brokers, True, writers[n].made)
    return found


def _one_trace(files: Sequence[tuple[Source, FileReading]], numbers: Sequence[int]) -> list[int]:
    """Return the positions of the pieces of one trace, the oldest first; nothing if the files are no such pieces."""
    ordered = _following([(files[n][1], n) for n in numbers]) if len(numbers) > 1 else []
    if ordered and _lacks_one([_index(files[n][0].path) for n in ordered]):
        _without_claim(files[n][1] for n in ordered)
    return ordered


def _without_claim(pieces: Iterable[FileReading]) -> None:
    """Note of the pieces of a trace that one is missing."""
    for reading in pieces:
        reading.unread += 1
        reading.notices = pl.concat([reading.notices, note(_LACKING)])


_TURNED: Final = re.compile(r"(?:[.-][0-9]{1,14}(?:[-_T][0-9]{1,14})*)?(?:\.(?:gz|bz2|xz|zst|lz4|zip))?$")
"""The end of the name of a file of a rotated trace: ``.1``, ``.2026-01-01``, ``-20260101.gz``, or nothing."""

_LACKING: Final = (
    "a piece of this trace is missing, by the numbers in their names: what the trace claims does not count"
)


def _following(pieces: Sequence[tuple[FileReading, int]]) -> list[int]:
    """Return the positions of the pieces of a trace in the order of their times; nothing if these overlap."""
    spans = [(first, last, n) for one, n in pieces for first, last in [(one.first_time, one.last_time)]]
    timed = sorted((first, last, n) for first, last, n in spans if first is not None and last is not None)
    follow = all(one[1] <= two[0] for one, two in itertools.pairwise(timed))
    return [n for *_, n in timed] if follow and len(timed) == len(pieces) else []


def _index(path: str) -> int | None:
    """Return the number at the end of the name of a piece, 0 without one; None for a date."""
    end = _TURNED.search(path)
    digits = re.fullmatch(r"[.-]([0-9]{1,4})(?:\.[a-z0-9]+)?", end[0]) if end is not None else None
    if digits is not None:
        return int(digits[1])
    return 0 if end is None or not re.match(r"[.-][0-9]", end[0]) else None


def _lacks_one(numbers: Sequence[int | None]) -> bool:
    """Return whether a piece is missing between others, by their numbers in the order of time.

    The numbers rise or fall with time. Where they rise, the piece without a number is the oldest or the newest one.
    """
    known = [number for number in numbers if number is not None]
    older = known[:-1] if known[-1:] == [0] else known
    falling = {two - one for one, two in itertools.pairwise(known)} <= {-1}
    rising = {two - one for one, two in itertools.pairwise(older)} == {1}
    return len(known) == len(numbers) and not (falling or rising)


@dataclass(slots=True)
class _Rivals:
    """Files by broker.

    Attributes:
        traces, others: paths of traces and of other files, by broker, in order.
        within: how many of each there are below a folder, by broker, folder and whether they are traces.
        repeated: folders below which a witness has two traces, or a trace and files from which it was not made.
    """

    traces: dict[int, list[str]] = field(default_factory=dict)
    others: dict[int, list[str]] = field(default_factory=dict)
    within: Counter[tuple[int, str, bool]] = field(default_factory=Counter)
    repeated: set[str] = field(default_factory=set)

    @staticmethod
    def of(writers: Iterable[_Writer]) -> _Rivals:
        """Collect the files of each witness of a trace."""
        writers = sorted({*writers}, key=lambda one: (one.path, sorted(one.brokers)))
        named = {broker for one in writers if one.trace for broker in one.brokers}
        found = _Rivals()
        for one in writers:
            for broker in one.brokers & named:
                (found.traces if one.trace else found.others).setdefault(broker, []).append(one.path)
                for folder in folders_of(folder_of(one.path)):
                    found.within[broker, folder, one.trace] += 1
        for one in (one for one in writers if one.trace):
            above = folders_of(folder_of(one.path))
            found.repeated.update(folder for folder in above if found._has_another(one, folder))
        return found

    def home(self, writer: _Writer) -> str | None:
        """Return the highest folder of a trace that is not ``repeated``; None if its own folder is."""
        above = folders_of(folder_of(writer.path))
        return next(reversed([*itertools.takewhile(lambda folder: folder not in self.repeated, above)]), None)

    def of_trace(self, writer: _Writer) -> tuple[int, str] | None:
        """Return a witness of a trace, and the path of another file of it; None without any."""
        return min(((broker, path) for broker in writer.brokers for path in self._beside(writer, broker)), default=None)

    def _beside(self, writer: _Writer, broker: int) -> Iterator[str]:
        yield from [path for path in self.traces[broker][:2] if path != writer.path][:1]
        yield from [] if writer.made else self.others.get(broker, [])[:1]

    def within_folder(self, writer: _Writer) -> bool:
        """Return whether the folder of a trace has another file of one of its witnesses."""
        return self._has_another(writer, writer.folder)

    def _has_another(self, writer: _Writer, folder: str) -> bool:
        return any(
            self.within[broker, folder, True] > 1 or (not writer.made and self.within[broker, folder, False] > 0)
            for broker in writer.brokers
        )


def _notice(rival: tuple[int, str], what: str, common: str) -> pl.DataFrame:
    broker, path = rival
    taken = "it is taken as a cluster of its own"
    if what == _FOLDER:
        taken = "the traces of each folder are taken as those of a cluster of their own"
    where = _shown(path, common)
    return note(
        f"this trace names no cluster, and other evidence of broker {broker} is in {where}: {taken}. If they are of "
        'one cluster, name it in the first line ("cluster")'
    )
