"""The local engine: files are read side by side in threads, then replayed and judged, a large case part by part."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from forensics.case import Case, Reading, assemble
from forensics.case.topics import matches
from forensics.case.twins import as_copy, copies
from forensics.engines.inputs import named_by_user, nothing_understood
from forensics.engines.left_out import Judged, replayed, without_culprits
from forensics.engines.workers import cores
from forensics.errors import DefectOfProgram, ForensicsError
from forensics.replay.history import History
from forensics.replay.partitions import histories
from forensics.result import Result, finish
from forensics.rules import Shared, judgements
from forensics.rules.finding import Severity
from parsers import read
from parsers.containment import Defect, contained
from parsers.file_reading import FileReading, Packing
from parsers.files.sources import Source
from parsers.walk import STDIN, walk

WORTH_PARTS = 500_000
"""Weight of a case's partitions below which they are judged at once: it takes little memory, and less time than
starting workers.
"""


class Step(NamedTuple):
    """How far a scan is.

    Attributes:
        done, total: files that are read, or partitions that are judged, and how many there are.
        size, whole: bytes of these files; both 0 while partitions are judged.
        judging: whether all files are read.
        findings: of the partitions that are judged, by severity; empty where only their number is known.
        found: how many findings these partitions have.
    """

    done: int
    total: int
    size: int = 0
    whole: int = 0
    judging: bool = False
    findings: Mapping[Severity, int] = MappingProxyType({})
    found: int = 0


Progress = Callable[[Step], None]
"""Called after each file, and after some partitions."""


def scan(
    paths: Sequence[str],
    *,
    reading: Reading | None = None,
    topics: Sequence[str] = (),
    progress: Progress | None = None,
    jobs: int | None = None,
    memory: int | None = None,
    temporary: str | None = None,
    lasting: bool = False,
) -> Result:
    """Read, replay and judge.

    Args:
        paths: files and directories of evidence; only ever read.
        reading: zone and skew of printed times.
        topics: patterns; only topics that match one are judged. None means all.
        progress: called after each file, and after some partitions.
        jobs: how many files are read side by side, and how many processes judge if there is enough to judge. None
            means one for each processor.
        memory: bytes that all processes together may take. If the evidence needs more, its rows wait on disk. None
            means no bound.
        temporary: folder for these rows. None means the one that the system has for this.
        lasting: the result is needed until the process ends, so the collector never walks it.

    Raises:
        UnreadableInput: a path does not exist.
        NothingUnderstood: nothing in the input is a broker's.
    """
    sources = _listed(paths)
    if memory is not None and STDIN not in paths:  # which can be read only once
        from forensics.engines.memory import is_large

        if is_large(sources, memory):
            from forensics.engines import large  # with all of the pipeline, which small evidence does not need

            return large.scan(
                paths,
                reading=reading,
                topics=topics,
                progress=progress,
                jobs=jobs or cores(),
                memory=memory,
                inside=temporary,
            )
    case = take_in(paths, sources=sources, reading=reading, progress=progress, jobs=jobs)
    with no_cycles(lasting=lasting):
        return finish(paths, case, _judged_by(jobs or cores(), case, topics, progress))


def _judged_by(jobs: int, case: Case, topics: Sequence[str], progress: Progress | None = None) -> list[Judged]:
    """Return what ``judged`` returns. A large case is judged part by part, by workers where there are several jobs."""
    from forensics.engines.parts import Division, weight_at_most

    if sum(map(weight_at_most, case.parts)) < WORTH_PARTS:
        return judged(case, topics)
    divisions = [Division(part, topics) for part in case.parts]
    if sum(one.weight for one in divisions) < WORTH_PARTS:
        return judged(case, topics)
    from forensics.engines import pool

    return pool.judged(divisions, jobs, progress)


def judged(case: Case, topics: Sequence[str] = ()) -> list[Judged]:
    """Replay every partition of a case and ask every rule.

    Args:
        case: what was taken in.
        topics: patterns; only topics that match one are judged. None means all.
    """
    found: list[Judged] = []
    for part in case.parts:
        good, failed = replayed(part, histories)
        shared = Shared()
        judged = [(one, judgements(one, part, shared)) for one in good if _asked(one, topics)]
        judged += [one for one in failed if _asked(one[0], topics)]
        found += sorted(judged, key=lambda one: (one[0].topic, one[0].partition, one[0].incarnation))
    return found


def _asked(history: History, topics: Sequence[str]) -> bool:
    return not topics or matches(history.topic, topics)


@contextlib.contextmanager
def no_cycles(*, lasting: bool = False) -> Iterator[None]:
    """Keep the collector from walking millions of young objects again and again: replay makes no cycles.

    Args:
        lasting: it passes over all objects of this process from now on, too.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if lasting:
            gc.freeze()
        if enabled:
            gc.enable()


def take_in(
    paths: Sequence[str],
    *,
    sources: Sequence[Source] | None = None,
    reading: Reading | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> Case:
    """Read every file into a case.

    Args:
        paths: files and directories of evidence; only ever read.
        sources: what is below the paths. None means that it is listed.
        reading: zone and skew of printed times.
        progress: called after each file.
        jobs: how many files are read side by side. None means one for each processor.

    Raises:
        UnreadableInput: a path does not exist.
        NothingUnderstood: nothing in the input is a broker's.
    """
    sources = _listed(paths) if sources is None else sources
    files = read_sources(sources, progress=progress, jobs=jobs)
    with no_cycles():
        case = contained(lambda: assemble(files, reading), expected=(ForensicsError,))
    if isinstance(case, Defect):
        case = without_culprits(lambda: read_sources(sources, jobs=jobs), reading, case)
    if isinstance(case, Defect):
        raise DefectOfProgram(f"this case cannot be put together: {case}")
    if case.observations.is_empty() and case.batches.is_empty() and not case.sources.get_column("understood").sum():
        raise nothing_understood(paths, len(files), _why(case))
    return case


def _why(case: Case) -> str:
    """Return why the first files were not understood."""
    first = case.notices.unique("source", keep="first", maintain_order=True).head(_REASONS)
    return "".join(f"; {case.path(source)}: {why}" for source, why in first.select("source", "reason").iter_rows())


_REASONS = 5
"""Number of files whose reasons are reported if nothing was understood."""


def read_files(paths: Sequence[str], *, progress: Progress | None = None) -> list[tuple[Source, FileReading]]:
    """Read every file by itself, in the order of the paths and names; what was handed in twice is read once.

    Raises:
        UnreadableInput: a path does not exist.
    """
    return read_sources(_listed(paths), progress=progress)


def _listed(paths: Sequence[str]) -> list[Source]:
    with named_by_user(), no_cycles():
        return list(walk(paths))


def read_sources(
    sources: Sequence[Source], *, progress: Progress | None = None, jobs: int | None = None
) -> list[tuple[Source, FileReading]]:
    """Read every source by itself; what was handed in twice is read once.

    Args:
        sources: what is read.
        progress: called after each group of files.
        jobs: how many groups are read side by side. None means one for each processor.
    """
    twins = copies(sources)
    found = {number: as_copy(sources[twin.of], twin) for number, twin in twins.items()}
    units = [unit for group in read.units(sources) if (unit := [number for number in group if number not in twins])]
    units = _largest_first(sources, read.with_neighbours(sources, units))
    sizes = [_size(sources, unit) for unit in units]
    say = progress if progress is not None else lambda _: None
    size, whole = 0, sum(sizes)
    packing = Packing()
    pool = ThreadPoolExecutor(max_workers=jobs or cores())
    try:
        tasks = _tasks(sizes)
        results = pool.map(partial(_read_units, sources), [[units[number] for number in task] for task in tasks])
        for task, several in zip(tasks, results, strict=True):
            for number, readings in zip(task, several, strict=True):
                found.update(zip(units[number], readings, strict=True))
                for reading in readings:
                    packing.add(reading)
                size += sizes[number]
            say(Step(len(found), len(sources), size, whole))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # an interrupt does not wait for the remaining work
    packing.finish()
    return [(source, found[number]) for number, source in enumerate(sources)]


def _read_units(sources: Sequence[Source], units: Sequence[Sequence[int]]) -> list[list[FileReading]]:
    return [read.read_unit([sources[number] for number in unit]) for unit in units]


def _tasks(sizes: Sequence[int]) -> list[list[int]]:
    """Return the positions of groups in tasks of a thread: groups of a few bytes are read one after another by one.

    >>> _tasks([5 << 20, 10, 20])
    [[0], [1, 2]]
    """
    tasks: list[list[int]] = []
    size = _TASK + 1
    for number, more in enumerate(sizes):
        if size + more > _TASK or len(tasks[-1]) == _MOST_IN_TASK:
            tasks.append([])
            size = 0
        tasks[-1].append(number)
        size += more
    return tasks


_TASK = 64 << 10
"""Bytes of the groups of a task, about."""
_MOST_IN_TASK = 64


def _size(sources: Sequence[Source], unit: Sequence[int]) -> int:
    return sum(sources[number].size for number in unit)


def _largest_first(sources: Sequence[Source], units: Sequence[list[int]]) -> list[list[int]]:
    """Return groups of files in an order that keeps all threads busy to the end. Archives are read forwards, first."""

    def order(unit: list[int]) -> tuple[bool, int]:
        loose = not sources[unit[0]].archive
        return loose, -_size(sources, unit) if loose else 0

    return sorted(units, key=order)
