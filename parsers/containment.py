"""The one place that may catch everything: a failure inside one file, cluster or partition stays there.

Evidence is damaged by definition. If a damaged file triggers a defect of this program, the results of the other files
must not be lost. What is caught here is still a defect: it is reported with its place in the code, never hidden.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TypeVar

T = TypeVar("T")

_LONGEST = 120
_OWN = ("parsers", "forensics")


@dataclass(frozen=True, slots=True)
class Defect:
    """A failure of this program.

    Attributes:
        error: type and text of the exception, at most 120 characters.
        place: the line of this program that failed, such as ``forensics/replay/facts/forks.py:160``.
        trace: the traceback, for developers.
    """

    error: str
    place: str
    trace: str = field(default="", compare=False, repr=False)

    @staticmethod
    def of(error: BaseException) -> Defect:
        """The defect that an exception shows."""
        text = " ".join(f"{type(error).__name__}: {error}".split())
        own = [
            f"{'/'.join(parts[-(len(parts) - first) :])}:{frame.lineno}"
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename != __file__ and (first := _first_own(parts := PurePath(frame.filename).parts)) is not None
        ]
        said = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
        return Defect(said, own[-1] if own else "unknown", "".join(traceback.format_exception(error)))

    def __str__(self) -> str:
        return f"a defect of this program at {self.place} ({self.error}); please report it"


def _first_own(parts: tuple[str, ...]) -> int | None:
    """Return where the path inside this program begins in the path of a file; None for other programs' files."""
    return next((number for number in range(len(parts) - 1, -1, -1) if parts[number] in _OWN), None)


def contained(work: Callable[[], T], *, expected: tuple[type[BaseException], ...] = ()) -> T | Defect:
    """Return the result of the work, or the defect that ended it.

    Args:
        work: what to do.
        expected: exceptions that are answers, not defects; they are raised unchanged. So are those that end the
            process: an interrupt, an exit.
    """
    try:
        return work()
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except expected:
        raise
    except BaseException as error:  # noqa: BLE001 - a panic inside polars is no Exception
        return Defect.of(error)


def each(items: Iterable[T], *, expected: tuple[type[BaseException], ...] = ()) -> Iterator[T | Defect]:
    """The items as they come; a defect ends them, and is the last one."""
    iterator = iter(items)
    end = object()
    while (item := contained(lambda: next(iterator, end), expected=expected)) is not end:
        yield item  # type: ignore[misc]
        if isinstance(item, Defect):
            return
