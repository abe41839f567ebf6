"""Progress of a running stage, from the files that its tasks have finished."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl

EVERY: Final = 10.0
"""Seconds between two looks."""


@contextlib.contextmanager
def watched(look: Callable[[], str], say: Callable[[str], None], every: float = EVERY) -> Iterator[None]:
    """While the block runs, call ``look`` at intervals, and report what has changed.

    Args:
        look: returns a sentence; "" for nothing.
        say: called with the sentence.
        every: seconds between two calls.
    """
    done = threading.Event()

    def watch() -> None:
        last = ""
        while not done.wait(every):
            with contextlib.suppress(OSError, pl.exceptions.PolarsError):  # files come and go while tasks run
                said = look()
                if said and said != last:
                    say(said)
                last = said

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@dataclass(slots=True)
class Judged:
    """How many partitions are judged by now.

    Attributes:
        folder: where tasks write them.
        seen: partitions and findings of the files that were looked at.
    """

    folder: Path
    seen: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __call__(self) -> str:
        """A sentence."""
        for path in self.folder.glob("*.parquet") if self.folder.is_dir() else ():
            if path.name not in self.seen:
                findings = pl.read_parquet(path, columns=["findings"], hive_partitioning=False, glob=False)
                self.seen[path.name] = (findings.height, int(findings.get_column("findings").sum()))
        partitions, found = (sum(counts) for counts in zip(*self.seen.values(), strict=True)) if self.seen else (0, 0)
        return f"judged {partitions:,} partitions, {found:,} findings so far" if self.seen else ""
