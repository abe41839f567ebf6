"""The bounds of reading that a user may move: one table, each with its name, its value and what happens at it.

Damaged or hostile evidence must not take all memory or time, so everything that a file may demand is bounded. Most
bounds are far above what brokers write. If one is too low for sound evidence, it is moved by its name: on the command
line with ``--limit line=4MiB``, in the environment with ``FORENSICS_LIMITS="line=4MiB,members=500000"``. Processes
that this one starts inherit the environment, so they read within the same bounds.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

ENVIRONMENT: Final = "FORENSICS_LIMITS"
"""The variable of the environment: ``name=value`` pairs joined by ","."""

_BYTES: Final = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_VALUE: Final = re.compile(r"([1-9][0-9]{0,14})(|B|KiB|MiB|GiB|TiB)")
_MOST: Final = 1 << 50

_moved: dict[str, int] = {}


class WrongLimit(ValueError):
    """A limit has no such name, or its value is no number within reason."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound that a user may move.

    Attributes:
        name: how it is called on the command line and in notices.
        default: its value unless it is moved.
        of_bytes: it counts bytes; else things.
        bounds: what it bounds, for the documentation.
        beyond: what happens with what is beyond it.
    """

    name: str
    default: int
    of_bytes: bool
    bounds: str
    beyond: str

    @property
    def value(self) -> int:
        """The value that holds now."""
        return _moved.get(self.name, self.default)

    @property
    def shown(self) -> str:
        """The value as people write it, such as ``256 MiB`` or ``200,000``."""
        return shown(self.value) if self.of_bytes else f"{self.value:,}"

    def told(self, what: str) -> str:
        """Return what happened at this bound, with its value in place of ``{}`` and with how to move it."""
        return f"{what.format(self.shown)} ({self.moves})"

    @property
    def moves(self) -> str:
        """The option that moves this bound."""
        return f"--limit {self.name}=… moves this bound"


LINE: Final = Limit(
    "line",
    1 << 20,
    True,
    "one line of a log",
    "its first 2,000 characters are read, and the line is named; the rest of it is skipped",
)
LINES: Final = Limit(
    "lines", 2 << 20, False, "lines of a log that are held in memory at once", "the rest is read after them"
)
MEMBERS: Final = Limit("members", 200_000, False, "files of one archive", "they are left out, and the archive is named")
ARCHIVES: Final = Limit("archives", 2, False, "archives in one another", "the innermost is named and not opened")
LAYERS: Final = Limit("layers", 2, False, "compressions of one file", "the file is named and not read")
EXPANDED: Final = Limit(
    "expanded", 4 << 30, True, "what one compressed file gives before its ratio is asked", "see ratio"
)
RATIO: Final = Limit(
    "ratio",
    500,
    False,
    "how many times larger than stored a file may become, once it has given more than `expanded`",
    "it is not read on, and named: logs shrink 10- to 100-fold",
)
ZIP: Final = Limit("zip", 256 << 20, True, "a zip inside a compressed archive", "it is named and not opened")
WHOLE: Final = Limit("whole", 256 << 20, True, "a checkpoint or properties file", "it is named and not read")
METADATA: Final = Limit(
    "metadata", 1 << 31, True, "a segment of the metadata log", "the rest is not read, and the segment is named"
)
BATCH: Final = Limit("batch", 64 << 20, True, "one record batch, decompressed", "its records are not read, and named")
RECORDS: Final = Limit(
    "records", 1_000_000, False, "records of one batch that are decoded", "the rest is not read, and the batch is named"
)
ROWS: Final = Limit(
    "rows",
    1_000_000,
    False,
    "partitions in one checkpoint of offsets",
    "only the first are used, and the file is named",
)
EPOCHS: Final = Limit(
    "epochs", 20_000, False, "rows of a `leader-epoch-checkpoint`", "only the last are used, and the file is named"
)
TOPIC: Final = Limit(
    "topic",
    255,
    False,
    "characters of a topic's name: Kafka takes 249 since 0.10, and took 255 before (`Topic`)",
    "what states it is left out, and named",
)
BROKERS: Final = Limit("brokers", 1_000, False, "brokers of one ISR", "what states it is left out, and named")
ALIKE: Final = Limit(
    "alike", 100, False, "notices of one file that differ in numbers alone", "they become one, with their count"
)
REASON: Final = Limit("reason", 1_000, False, "characters of a notice", "the rest is left out")
STDIN: Final = Limit("stdin", 1 << 30, True, "standard input", "the rest is not read, and named")
EXCERPT: Final = Limit(
    "excerpt",
    256 << 10,
    True,
    "a text in which pasted pieces of logs and output are looked for",
    "it is read as one log, and named if nothing in it is recognised",
)
EXPORT: Final = Limit(
    "export", 16 << 20, True, "an export of a log store, as JSON or CSV", "it is named and not taken apart"
)
REORDERED: Final = Limit(
    "reordered",
    16 << 20,
    True,
    "a log that is put in order before it is read: the newest line first, blocks twice",
    "it is read as it is, and named if the times of its first lines fall",
)
WRITERS: Final = Limit(
    "writers",
    1_000,
    False,
    "writers of one text: processes, pods, or the files that `grep` names",
    "the text is named and not taken apart",
)
BASELINE: Final = Limit(
    "baseline", 1 << 30, True, "a `--baseline`, or a manifest of `forensics batch`", "exit code 2, and it is named"
)
SETTINGS: Final = Limit("settings", 16 << 20, True, "a file with settings", "exit code 2, and it is named")

LIMITS: Final = (
    LINE,
    LINES,
    MEMBERS,
    ARCHIVES,
    LAYERS,
    EXPANDED,
    RATIO,
    ZIP,
    WHOLE,
    METADATA,
    BATCH,
    RECORDS,
    ROWS,
    EPOCHS,
    TOPIC,
    BROKERS,
    ALIKE,
    REASON,
    STDIN,
    EXCERPT,
    EXPORT,
    REORDERED,
    WRITERS,
    BASELINE,
    SETTINGS,
)
"""Every bound that can be moved, in the order of the documentation."""

_BY_NAME: Final = {limit.name: limit for limit in LIMITS}


def shown(size: int) -> str:
    """Return bytes with the largest unit that divides them."""
    unit, worth = max(((u, w) for u, w in _BYTES.items() if u and size % w == 0), key=lambda pair: pair[1])
    return f"{size // worth:,} {unit}" if worth > 1 else f"{size:,} bytes"


def parse(settings: Iterable[str]) -> dict[str, int]:
    """Return the values by name of ``name=value`` settings.

    Raises:
        WrongLimit: a name that is none, or a value that is no whole number above 0 (with a unit, for bytes).
    """
    return dict(_one(setting) for setting in settings if setting.strip())


def _one(setting: str) -> tuple[str, int]:
    name, _, value = (part.strip() for part in setting.partition("="))
    limit = _BY_NAME.get(name)
    if limit is None:
        near = get_close_matches(name, _BY_NAME, 1)
        meant = f"did you mean {near[0]}?" if near else f"use {', '.join(_BY_NAME)}"
        raise WrongLimit(f"{name!r} is no limit; {meant}")
    found = _VALUE.fullmatch(value.replace("_", "").replace(" ", ""))
    if found is None or (found[2] and not limit.of_bytes):
        example = f"{limit.name}={shown(2 * limit.default).replace(' ', '')}" if limit.of_bytes else f"{name}=1000"
        raise WrongLimit(f"{setting.strip()!r}: {value!r} is no value of this limit; use one like {example}")
    number = int(found[1]) * _BYTES[found[2]]
    if number > _MOST:
        raise WrongLimit(f"{setting.strip()!r} is more than {shown(_MOST)}")
    return name, number


def said() -> str:
    """Return the limits that were moved, as the environment says them; "" for none."""
    return ",".join(f"{name}={value}" for name, value in sorted(_moved.items()))


def expands_too_far(given: int, stored: int) -> bool:
    """Return whether ``stored`` bytes that gave as many as ``given`` are not read on: such files exhaust a reader."""
    return given > EXPANDED.value and given > RATIO.value * stored


@contextlib.contextmanager
def moved(values: dict[str, int]) -> Iterator[None]:
    """Let these values hold, in this process and in those that it starts meanwhile."""
    before, outside = dict(_moved), os.environ.get(ENVIRONMENT)
    _moved.update(values)
    os.environ[ENVIRONMENT] = said()
    try:
        yield
    finally:
        _moved.clear()
        _moved.update(before)
        if outside is None:
            os.environ.pop(ENVIRONMENT, None)
        else:
            os.environ[ENVIRONMENT] = outside


def inherited() -> dict[str, int]:
    """Return the values of the environment.

    Raises:
        WrongLimit: the variable has a name or a value that is none.
    """
    return parse(os.environ.get(ENVIRONMENT, "").split(","))


with contextlib.suppress(WrongLimit):  # the command line names it; a process that it starts inherits what is right
    _moved.update(inherited())
