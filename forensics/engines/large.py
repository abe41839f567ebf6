"""Scans of evidence that does not fit into memory: the pipeline of a batch, run by processes of this machine."""

from __future__ import annotations

from collections.abc import Sequence

from forensics.case import Reading
from forensics.engines.local import Progress, Step
from forensics.engines.memory import OF_PROCESS
from forensics.engines.pipeline import batch
from forensics.engines.pipeline.job import Options, prepared
from forensics.engines.processes import Processes
from forensics.engines.temporary import temporary
from forensics.result import Result


def scan(
    paths: Sequence[str],
    *,
    reading: Reading | None = None,
    topics: Sequence[str] = (),
    progress: Progress | None = None,
    jobs: int,
    memory: int,
    inside: str | None = None,
) -> Result:
    """Do what ``local.scan`` does, in bounded memory.

    Args:
        paths, reading, topics, progress: as for ``local.scan``.
        jobs: how many processes work, this one among them.
        memory: bytes that all of them may take; fewer work if they would take more.
        inside: folder for temporary files. None means the one that the system has for this.

    Raises:
        UnreadableInput: a path does not exist.
        NothingUnderstood: nothing in the input is a broker's.
        UnwritableOutput: the temporary files cannot be written.
        TaskFailed: there is no room for them, or a process ended.
    """
    options = Options(reading=reading or Reading(), topics=tuple(topics), hashed=False, progress=progress or _nothing)
    with temporary(inside, paths) as folder:
        job = prepared(paths, str(folder))
        with Processes(max(1, min(jobs, memory // OF_PROCESS)), folder / ".shuffled") as executor:
            return batch.scanned(executor, job, options)


def _nothing(_step: Step) -> None:
    """Show no progress."""
