"""The one place that may catch everything: a failure inside one file, cluster or partition stays there.

Evidence is damaged by definition. If a damaged file triggers a defect of this program, the results of the other files
must not be lost. What is caught here is still a defect: it is reported with its place in the code, never hidden.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_LONGEST = 120
_OWN = ("parsers", "forensics")


_KINDS: dict[type[BaseException], str] = {
    EOFError: "the data ends too early",
    MemoryError: "not enough memory",
    RecursionError: "nested too deep",
}
_WORD = re.compile(r"[A-Z][a-z]+|[A-Z]+(?![a-z])")


def worded(error: BaseException) -> str:
    """Return the text of an error in one line; of an error without text its kind, in words.

    >>> worded(ValueError("no header")), worded(EOFError()), worded(TimeoutError())
    ('no header', 'the data ends too early', 'timeout error')
    """
    said = " ".join(str(error).split())
    kind = _KINDS.get(type(error)) or " ".join(_WORD.findall(type(error).__name__)).lower()
    return said or kind


@dataclass(frozen=True, slots=True)
class Defect:
    """A failure of this program, or of a plugin.

    Attributes:
        error: type and text of the exception, at most 120 characters.
        place: the line of this program that failed, such as ``forensics/replay/facts/forks.py:160``.
        trace: the traceback, for developers.
        plugin: name and version of the plugin whose code failed; "" for this program's own.
    """

    error: str
    place: str
    trace: str = field(default="", compare=False, repr=False)
    plugin: str = ""

    @staticmethod
    def of(error: BaseException, plugin: str = "") -> Defect:
        """The defect that an exception shows.

        Args:
            error: the exception.
            plugin: the plugin whose code raised it, if it was one's.
        """
        if isinstance(error, Contained):
            return error.defect
        text = " ".join(f"{type(error).__name__}: {error}".split())
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
        places = [
            f"{'/'.join(parts[first:])}:{frame.lineno}"
            for frame in frames
            if (first := _first_own(parts := PurePath(frame.filename).parts)) is not None
        ]
        if plugin:
            places = [f"{'/'.join(PurePath(frame.filename).parts[-2:])}:{frame.lineno}" for frame in frames]
        said = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
        return Defect(said, places[-1] if places else "unknown", "".join(traceback.format_exception(error)), plugin)

    def __str__(self) -> str:
        if self.plugin:
            where = f"a defect of the plugin {self.plugin} at {self.place} ({self.error})"
            return f"{where}; report it to its authors, or use --no-plugins"
        if self.error.startswith(MemoryError.__name__):
            return f"memory was short at {self.place}; give the process more, or fewer files at once"
        return f"a defect of this program at {self.place} ({self.error}); please report it"


class Contained(Exception):
    """A failure that was caught, and is raised again because nothing else explains it.

    Args:
        defect: the failure.
    """

    def __init__(self, defect: Defect) -> None:
        super().__init__(str(defect))
        self.defect = defect


class PluginFailed(Contained):
    """The code of a plugin failed; the defect names the plugin."""


def _first_own(parts: tuple[str, ...]) -> int | None:
    """Return where the path inside this program begins in the path of a file; None for other programs' files."""
    return next((number for number in range(len(parts) - 1, -1, -1) if parts[number] in _OWN), None)


def contained(work: Callable[[], T], *, expected: tuple[type[BaseException], ...] = (), plugin: str = "") -> T | Defect:
    """Return the result of the work, or the defect that ended it.

    Args:
        work: what to do.
        expected: exceptions that are answers, not defects; they are raised unchanged. So are those that end the
            process: an interrupt, an exit.
        plugin: the plugin whose code it is, if it is one's.
    """
    try:
        return work()
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except expected:
        raise
    except BaseException as error:  # noqa: BLE001 - a panic inside polars is no Exception
        return Defect.of(error, plugin)


def guarded(work: Callable[P, T], plugin: str, *, expected: tuple[type[BaseException], ...] = ()) -> Callable[P, T]:
    """Return a function of a plugin as this program calls it: where it fails, the error names the plugin.

    It raises ``PluginFailed``, which ``contained`` turns into the defect.

    Args:
        work: the function.
        plugin: name and version of the plugin.
        expected: exceptions that are answers, not defects.
    """

    def guards(*given: P.args, **named: P.kwargs) -> T:
        found = contained(lambda: work(*given, **named), expected=expected, plugin=plugin)
        if isinstance(found, Defect):
            raise PluginFailed(found)
        return found

    return guards


def each(items: Iterable[T], *, expected: tuple[type[BaseException], ...] = ()) -> Iterator[T | Defect]:
    """The items as they come; a defect ends them, and is the last one."""
    iterator = iter(items)
    end = object()
    while (item := contained(lambda: next(iterator, end), expected=expected)) is not end:
        yield item  # type: ignore[misc]
        if isinstance(item, Defect):
            return
