"""Progress of a running stage."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from forensics.engines.local import Progress, Step
from forensics.engines.stages.table import Table

EVERY: Final = 10.0
"""Seconds between two looks, where each is reported in a sentence."""
SHOWN_EVERY: Final = 0.5
"""Seconds between two looks, where a line shows the last one."""


@contextlib.contextmanager
def watched(look: Callable[[], Step], shown: Progress, every: float = EVERY, *, at_end: bool = False) -> Iterator[None]:
    """While the block runs, call ``look`` at intervals, and report what has changed.

    Args:
        look: returns how far the stage is.
        shown: called with it once something is done.
        every: seconds between two calls.
        at_end: look once more when the block ends.
    """
    done = threading.Event()

    def watch() -> None:
        last = None
        while not done.wait(every):
            with contextlib.suppress(OSError, pl.exceptions.PolarsError):  # files come and go while tasks run
                step = look()
                if step.done and step != last:
                    shown(step)
                last = step

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    if at_end:
        shown(look())


def sentence(step: Step) -> str:
    """Return how far a stage is, in words."""
    if step.judging:
        return f"judged {step.done:,} of {step.total:,} partitions, {step.found:,} findings so far"
    return f"reading: {step.done:,} files, {step.size / 1e6:,.1f} of {step.whole / 1e6:,.1f} MB of this wave"


@dataclass(slots=True)
class Judged:
    """How many partitions are judged by now, from the files of tasks that are done.

    Attributes:
        table: where judged partitions are stored.
        total: how many there are to judge.
        seen: partitions and findings of the files that were looked at.
    """

    table: Table
    total: int
    seen: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __call__(self) -> Step:
        """Look at the files that are new."""
        for path in self.table.files() if self.table.folder.is_dir() else ():
            # Spark's writer has a folder for files of tasks, in it one for those of tasks that are not done.
            if path.name not in self.seen and path.parts.count("_temporary") < 2:
                findings = pl.read_parquet(path, columns=["findings"], hive_partitioning=False, glob=False)
                self.seen[path.name] = (findings.height, int(findings.get_column("findings").sum()))
        done, found = (sum(counts) for counts in zip(*self.seen.values(), strict=True)) if self.seen else (0, 0)
        return Step(done, self.total, judging=True, found=found)
