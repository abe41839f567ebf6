"""Plugins: what other installed packages add to the tables of formats, messages, rules and reports.

A package names what it adds as entry points in the groups of ``Group``. This is the one place that looks for them, once
in a process. What they name comes in a total order: by the name of the distribution, the group, and the name of the
entry point. So a process that judges a part of the evidence has the same tables as the one that started it.
"""

from __future__ import annotations

import functools
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar, overload

from parsers.containment import Defect, contained
from parsers.errors import ParserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENVIRONMENT: Final = "FORENSICS_NO_PLUGINS"
"""The variable of the environment that leaves plugins out, here and in processes that this one starts."""

ID: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""The form of the id of a format, a rule or a report: it is printed, and typed by users."""

T = TypeVar("T")


class Group(StrEnum):
    """The groups of entry points; an entry point names one entry, or a tuple of them."""

    FORMATS = "forensics.formats"
    MESSAGES = "forensics.messages"
    RULES = "forensics.rules"
    REPORTS = "forensics.reports"

    @property
    def word(self) -> str:
        """One entry of it in words, such as ``format``."""
        return self.value.partition(".")[2].removesuffix("s")


class Unfit(ParserError):
    """An entry point names something that cannot be an entry of the table; the text says why, as in ``is no Rule``."""


class OtherPlugins(ParserError):
    """This process has other plugins than the one that started the work, so its answers would be others."""


class Point(NamedTuple):
    """An entry point.

    Attributes:
        name, version: of its distribution.
        group: the table to which it adds.
        entry: the entry point.
    """

    name: str
    version: str
    group: Group
    entry: EntryPoint

    @property
    def plugin(self) -> str:
        """Name and version of its distribution, such as ``forensics-acme 1.0``."""
        return f"{self.name} {self.version}"

    @property
    def what(self) -> str:
        """The kind and the name of it, such as ``rule acme``."""
        return f"{self.group.word} {self.entry.name}"


@dataclass(frozen=True, slots=True)
class Plugin:
    """An installed distribution that adds something.

    Attributes:
        name, version: of the distribution.
        adds: kind and name of each of its entry points, such as ``rule acme``.
        problems: a sentence for each that is left out.
    """

    name: str
    version: str
    adds: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}"


_left_out: dict[Point, list[str]] = {}
"""Sentences on what is wrong with entry points, as far as their tables were asked for."""


def off() -> bool:
    """Return whether the user leaves plugins out."""
    return os.environ.get(ENVIRONMENT, "").strip().lower() not in ("", "0", "false", "no", "off")


def leave_out() -> None:
    """Leave plugins out, in this process and in those that it starts."""
    os.environ[ENVIRONMENT] = "1"


def points() -> tuple[Point, ...]:
    """Return all entry points in their order; none where plugins are left out."""
    return () if off() else _looked_up()


@functools.cache
def _looked_up() -> tuple[Point, ...]:
    """Look at the installed distributions. One with damaged metadata hides the plugins; it ends nothing."""
    found = contained(_entry_points)
    return () if isinstance(found, Defect) else found


def _entry_points() -> tuple[Point, ...]:
    from importlib.metadata import entry_points

    every = entry_points()
    found = [
        Point(one.dist.name, one.dist.version, group, one)
        for group in Group
        for one in every.select(group=group.value)
        if one.dist is not None
    ]
    groups = list(Group)

    def order(point: Point) -> tuple[object, ...]:
        name = re.sub(r"[-_.]+", "-", point.name).lower()
        return name, groups.index(point.group), point.entry.name, point.entry.value

    return tuple(sorted(found, key=order))


def installed() -> tuple[Plugin, ...]:
    """Return the plugins of this process, with what is known to be wrong with them."""
    by_plugin: dict[tuple[str, str], list[Point]] = {}
    for point in points():
        by_plugin.setdefault((point.name, point.version), []).append(point)
    return tuple(
        Plugin(
            name,
            version,
            adds=tuple(point.what for point in found),
            problems=tuple(said for point in found for said in _left_out.get(point, ())),
        )
        for (name, version), found in by_plugin.items()
    )


def said() -> str:
    """Return names and versions of the plugins, joined by ", "; "" without any. Answers depend on them."""
    return ", ".join(dict.fromkeys(point.plugin for point in points()))


def require(expected: str) -> None:
    """Make sure that this process has the plugins of the one that started the work, which decides.

    Args:
        expected: what ``said`` returned there.

    Raises:
        OtherPlugins: it has not, or has worked with others: what it loaded cannot be loaded again.
    """
    if _required[-1:] == [expected]:
        return
    if expected:
        os.environ.pop(ENVIRONMENT, None)
    else:
        leave_out()  # what is installed here alone must not change an answer
    if _required or said() != expected:
        here = _required[-1] if _required else said()
        raise OtherPlugins(
            f"this worker has {f'the plugins {here}' if here else 'no plugins'}, and the driver "
            f"{f'has {expected}' if expected else 'has none'}: install the same on all workers, or use --no-plugins"
        )
    _required.append(expected)


_required: list[str] = []
"""The plugins that were required of this process, once they were."""


class Table(Sequence[T], Generic[T]):
    """The entries of a built-in tuple, and those of plugins. They are looked for when the table is first used.

    So a module of a plugin can import the module of the table: nothing of the plugin is imported by that.

    Args:
        built_in: the tuple.
        group: the group of entry points.
        name: gives the id of an entry; no two entries have the same.
        admit: returns an entry as it is used, given what an entry point names and the plugin; raises ``Unfit``.
        behind: how many of the last built-in entries stay behind those of plugins.
    """

    def __init__(
        self,
        built_in: tuple[T, ...],
        group: Group,
        *,
        name: Callable[[T], str],
        admit: Callable[[object, str], T],
        behind: int = 0,
    ) -> None:
        self.built_in = built_in
        self._group = group
        self._name = name
        self._admit = admit
        self._place = len(built_in) - behind
        self._with_plugins: tuple[T, ...] | None = None
        self._lock = threading.RLock()

    @property
    def entries(self) -> tuple[T, ...]:
        """All entries, in their order."""
        if off():
            return self.built_in
        if self._with_plugins is None:
            with self._lock:
                if self._with_plugins is None:
                    self._with_plugins = self.built_in  # what a plugin sees that uses the table as it is imported
                    self._with_plugins = self._joined()
        return self._with_plugins

    @property
    def added(self) -> tuple[T, ...]:
        """The entries of plugins."""
        entries = self.entries
        return entries[self._place : self._place + len(entries) - len(self.built_in)]

    def _joined(self) -> tuple[T, ...]:
        taken = {self._name(one): "forensics itself" for one in self.built_in}
        added: list[T] = []
        for point in points():
            if point.group is self._group:
                added += self._of(point, taken)
        return (*self.built_in[: self._place], *added, *self.built_in[self._place :])

    def _of(self, point: Point, taken: dict[str, str]) -> list[T]:
        """Return the entries of an entry point, and note their ids as taken; what is wrong is kept as a sentence."""
        said = _left_out[point] = []

        def wrong(why: str) -> None:
            said.append(f"plugin {point.plugin}: {point.what} is left out: {why}")

        loaded = contained(lambda: _loaded(point), plugin=point.plugin)
        if isinstance(loaded, Defect):
            wrong(f"{point.entry.value} cannot be imported ({loaded.error})")
            return []
        entries: list[T] = []
        for one in loaded if isinstance(loaded, tuple) else (loaded,):
            entry = self._admitted(one, point.plugin)
            if isinstance(entry, Unfit):
                wrong(f"{point.entry.value} {entry}")
            elif (owner := taken.get(name := self._name(entry))) is not None:
                wrong(f"the id {name} is taken by {owner}")
            else:
                taken[name] = point.plugin
                entries.append(entry)
        return entries

    def _admitted(self, one: object, plugin: str) -> T | Unfit:
        """Return the entry, or why there is none."""
        try:
            found = contained(lambda: self._admit(one, plugin), expected=(Unfit,), plugin=plugin)
        except Unfit as error:
            return error
        return Unfit(f"cannot be used ({found.error})") if isinstance(found, Defect) else found

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[T]:
        """Return the entries one after another."""
        return iter(self.entries)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        """Return an entry, or some of them."""
        return self.entries[index]


def _loaded(point: Point) -> object:
    """Return what an entry point names.

    Raises:
        ImportError: its module ends the process.
    """
    try:
        return point.entry.load()
    except SystemExit as error:
        raise ImportError(f"{point.entry.module} ends the process") from error


def fitting(entry: object, kind: type[T], name: Callable[[T], object]) -> T:
    """Return the entry, which is of the kind and has an id.

    Raises:
        Unfit: it is not, or has none.
    """
    if not isinstance(entry, kind):
        raise Unfit(f"is {type(entry).__name__}, not {kind.__name__}")
    if not (isinstance(said := name(entry), str) and ID.fullmatch(said)):
        raise Unfit(f"has the id {said!r}: small letters, digits and single hyphens are allowed")
    return entry


def returned(found: object, kind: type[T], who: str) -> T:
    """Return what the code of a plugin returned, which is of the kind.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(found, kind):
        raise TypeError(f"{who} returned {type(found).__name__}, not {kind.__name__}")
    return found
