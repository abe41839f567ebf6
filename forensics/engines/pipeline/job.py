"""Checks of a batch before there is a session, so that a wrong path fails at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import polars as pl

from forensics.case import Case, Reading
from forensics.engines import codec
from forensics.engines.inputs import named_by_user, nothing_understood
from forensics.engines.local import Progress
from forensics.engines.pipeline.finishing import Lines
from forensics.engines.pipeline.output import Output, judge_version, parser_version
from forensics.engines.pipeline.stored import Stored, answers_of
from forensics.engines.stages.listing import SPLIT, File, listed
from forensics.engines.stages.table import PARQUET
from forensics.errors import UnwritableOutput
from forensics.result import Result, ordered, problems_of

Say = Callable[[str], None]
"""Called with the progress of a batch, in sentences."""

NOTHING_NEW: Final = "nothing is new since the run before; its tables and texts stay as they are"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a user.

    Attributes:
        reading: zone and skew of printed times.
        topics: patterns; only topics that match one are judged. None means all.
        split: bytes of a read task, about.
        partitions: tasks of the replay; default: depends on the number of rows.
        format: of the tables observations, batches and notices, as Spark names it.
        timelines: write the table of states as well.
        settings: key of everything else that the texts depend on; if it is unchanged they are not written again.
        texts: further files to write beside the tables, by name.
        check: hash every file again, also those with the same path, size and time.
        each: called with partitions in groups; of their histories only with the names.
        note: returns more data for the manifest, called once all is done.
        hashed: hash every file, so that the next run knows what it has read; without it there is no next run.
        progress: called with how far it is, in place of ``say`` while tasks run.
        told: return the whole result, with the case that all reports need. Without it, only sources are returned, so
            that the driver's memory does not grow with the evidence.
    """

    reading: Reading = field(default_factory=Reading)
    topics: tuple[str, ...] = ()
    split: int = SPLIT
    partitions: int | None = None
    format: str = PARQUET
    timelines: bool = False
    settings: str = ""
    texts: Mapping[str, Lines] = field(default_factory=dict)
    check: bool = False
    each: Callable[[Result], None] = lambda _: None
    note: Callable[[], Mapping[str, Any]] = dict
    hashed: bool = True
    progress: Progress | None = None
    told: bool = True


@dataclass(frozen=True, slots=True)
class Job:
    """An archive and a folder.

    Attributes:
        paths: files and directories of evidence; only ever read.
        output: where the tables are written.
        files: of the archive, none of them opened.
    """

    paths: tuple[str, ...]
    output: Output
    files: list[File]


def prepared(paths: Sequence[str], folder: str) -> Job:
    """Check an archive and a folder; nothing is written.

    Raises:
        UnreadableInput: a path does not exist.
        UnusableOutput: the folder holds something else, is in the archive, or is in use by another batch.
        UnwritableOutput: the folder cannot be written.
        NothingUnderstood: there is no file at all.
    """
    output = output_in(folder)
    output.apart_from(paths)
    output.writable()
    output.manifest()
    files = archived(paths)
    if not files:
        raise nothing_understood(paths, 0)
    return Job(tuple(paths), output, files)


def asked(job: Job, options: Options) -> str:
    """Return a hash of everything that the outputs of a batch depend on, except file contents that changed without a
    new time.
    """
    files = [(one.path, one.real, one.size, one.changed, one.problem) for one in job.files]
    reading = options.reading
    how = (reading.zone, sorted(reading.skew.items()), reading.since, reading.until)
    chosen = (options.topics, options.format, options.timelines, options.settings, sorted(options.texts))
    versions = (parser_version(), judge_version(), codec.shape())
    return sha256(ascii((job.paths, files, how, chosen, versions)).encode()).hexdigest()


def unchanged(job: Job, options: Options) -> Result | None:
    """Return the result of the run before if nothing has changed since and all its files exist; else None.

    This needs no session, and nothing is written.
    """
    manifest = job.output.manifest()
    if manifest is None or options.check or manifest.get("asked") != asked(job, options):
        return None
    if job.output.left(manifest["generation"]) != manifest.get("made"):
        return None
    return told(job.output, manifest["generation"], job.paths, options)


def told(output: Output, generation: int, paths: Sequence[str], options: Options) -> Result:
    """Return the result of a completed batch."""
    nothing = pl.DataFrame()
    sources = output.read_table(generation, "sources")
    case = Case(sources, nothing, nothing, nothing, {}, options.reading)
    if not options.told:
        return ordered(paths, case, [])
    if options.format != PARQUET:
        return ordered(paths, case, answers_of(output, generation))
    case = Stored(output.folder).summary()
    return replace(ordered(paths, case, answers_of(output, generation)), problems=problems_of(case))


def output_in(folder: str) -> Output:
    """The folder of a batch.

    Raises:
        UnwritableOutput: it is no path of this machine.
    """
    if "://" in folder:
        raise UnwritableOutput(f"{folder}: not a path; mount it, so that driver and workers see it under one path")
    return Output(Path(folder).absolute())


def archived(paths: Sequence[str]) -> list[File]:
    """The files of an archive, none of them opened.

    Raises:
        UnreadableInput: a path does not exist, or cannot be reached.
    """
    with named_by_user():
        return listed(paths)
