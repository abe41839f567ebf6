"""Preview of a batch: what it would read."""

from __future__ import annotations

from dataclasses import dataclass

from forensics.engines.pipeline.batch import Batch, opener_of
from forensics.engines.pipeline.executor import Executor
from forensics.engines.pipeline.job import Job, Options, Say
from forensics.engines.stages import context as contexts
from forensics.engines.stages.context import NO_UNIT


@dataclass(frozen=True, slots=True)
class Explained:
    """Input of a batch.

    Attributes:
        files, bytes: of the archive as stored.
        sources: files and members of archives.
        known: read before; copies: duplicates; skipped: archives themselves, and unreadable files.
        new: sources to be read, in so many tasks.
        splits: logs that are read by ranges, with the number of ranges.
        giants: sources that take one task long: path, bytes to be processed, and why it is not split.
    """

    files: int
    bytes: int
    sources: int
    known: int
    copies: int
    skipped: int
    new: int
    tasks: int
    splits: tuple[tuple[str, int], ...]
    giants: tuple[tuple[str, int, str], ...]


def explained(executor: Executor, job: Job, options: Options | None = None, say: Say = lambda _: None) -> Explained:
    """Return what ``batch`` would read; nothing is written."""
    run = Batch(executor, job.paths, job.output, options or Options(), say)
    listing = run.listed(job.files, hashed=False)
    copied = contexts.twins(listing.flat, opener_of(listing))
    plan = run.plan(listing, copied, run.facts())
    new = sum(len(piece.units) for piece in plan.pieces if not piece.split)
    skipped = sum(unit == NO_UNIT for unit in listing.flat_units) - len(copied)
    return Explained(
        files=len(listing.files),
        bytes=sum(file.size for file in listing.files),
        sources=len(listing.flat),
        known=len(listing.flat) - new - skipped - len(copied),
        copies=len(copied),
        skipped=skipped,
        new=new,
        tasks=len(plan.tasks),
        splits=tuple(sorted(plan.splits.items())),
        giants=tuple((piece.units[0].look.path, piece.weight, piece.why_whole) for piece in plan.giants),
    )
