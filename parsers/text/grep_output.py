"""Output of ``grep``, ``zgrep`` or ``rg`` on several files: each line begins with the path of its file.

``path:line`` is a match, ``path-line`` is its context (``-A``, ``-B``, ``-C``), with ``-n`` a line number follows, and
``--`` separates groups (GNU grep 3.11, "Output Line Prefix Control"). The text is split into one source per file,
without the prefixes, under the path that it names. The path shows the broker and the kind of log.

A search leaves lines out. Gaps between line numbers show that. Without numbers, the dump of settings shows it, because
a broker prints it at start and only a search for everything keeps it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import BinaryIO, Final

import polars as pl

from parsers import limits
from parsers.files.sources import Source
from parsers.text import lines
from parsers.text.filtered import Filtered

PART: Final = "part of a log, by grep"
_PATH: Final = r"""[^\s:\[\]{}<>"'|()]*[./][^\s:\[\]{}<>"'|()]*"""
_NO_PATH: Final = r"^(?:[0-9]{4}[-/.][0-9]{2}[-/.]|[0-9.]+$|`)"  # a date, an address, a line in marks of Markdown
_EVENT: Final = r"^(?:\S.{0,60}?)?(?:[0-9]{2}:[0-9]{2}:[0-9]{2}|[0-9]{10})"  # "tag: [1709288561.1, {}]" is Fluent Bit's
_ANY: Final = re.compile(rf"(?m)^{_PATH}:{_EVENT.removeprefix('^')}".encode())  # most files have none: looked for first
_SETTING: Final = r"^\s+[a-z][a-z0-9._]* = "
_SETTINGS: Final = 20  # of a dump; a search may keep some
_BINARY: Final = r"^(?:grep: .*: binary file matches|Binary file .* matches)$"
_COMPRESSED: Final = re.compile(r"\.(?:gz|zst|bz2|xz|lz4)$")


@dataclass(frozen=True, slots=True)
class Grep:
    """How the lines are prefixed.

    Attributes:
        numbered: with line numbers.
    """

    numbered: bool

    @property
    def match(self) -> str:
        """The prefix of a line that matched, with the path as its group."""
        return rf"^({_PATH}):{'([0-9]+):' if self.numbered else ''}"

    def of(self, paths: list[str]) -> str:
        """The prefix of any line of these files, with groups for path and number."""
        known = "|".join(re.escape(path) for path in sorted(paths, key=len, reverse=True))
        return rf"^({known})" + (r"(?::([0-9]+):|-([0-9]+)-)" if self.numbered else "[:-]")


def grep_of(head: bytes) -> Grep | None:
    """How a text's lines are prefixed, from its first bytes; None where they are not."""
    head = lines.plain(head)
    if b"\0" in head or _ANY.search(head) is None:
        return None
    sample = lines.sample(head)
    if sample is None:
        return None
    sample = sample.filter((sample != "--") & (sample != "") & ~sample.str.contains(_BINARY))
    for numbered in (True, False):
        grep = Grep(numbered)
        paths = _paths(sample, grep)
        if paths and 2 * int(sample.str.contains(grep.of(paths)).sum()) > sample.len():
            return grep
    return None


def _paths(rows: pl.Series, grep: Grep) -> list[str]:
    """Return files with a match that begins an event; others may be words with a colon behind them."""
    found = pl.DataFrame({"text": rows}).select(
        pl.col("text").str.extract(grep.match).alias("path"),
        pl.col("text").str.replace(grep.match, "").str.contains(_EVENT).alias("event"),
    )
    paths = found.filter(pl.col("event") & pl.col("path").is_not_null()).get_column("path").unique(maintain_order=True)
    return [path for path in paths.to_list() if not re.match(_NO_PATH, path)]


@dataclass(slots=True)
class _File:
    """State of one file: bytes and lines here, lowest and highest number."""

    size: int = 0
    count: int = 0
    first: int | None = None
    last: int | None = None

    @property
    def whole(self) -> bool:
        """True if the numbers run from 1 without a gap."""
        return self.first == 1 and self.last == self.count


def split(source: Source, grep: Grep) -> Iterator[Source]:
    """The text by file; the text as it is where none or too many are named."""
    found = _counts(source, grep)
    files = found.files
    if not files:
        said = (limits.WRITERS.told("grep names more than {} files in it: not taken apart"),) if found.many else ()
        yield replace(source, notes=(*source.notes, *said))
        return
    everything = found.settings >= _SETTINGS and not found.parted
    kept = {path: file.whole if grep.numbered else everything for path, file in files.items()}
    yield replace(source, container="output of grep", notes=(*source.notes, *_notes(found, kept)))
    for path in sorted(files):
        shown = _COMPRESSED.sub("", "/".join(part for part in path.split("/") if part not in ("", ".", "..")))
        stored = "output of grep" if kept[path] else PART
        yield Source(
            f"{source.path}!/{shown}",
            files[path].size,
            _Only(source, re.compile(_prefix(path, files, grep), re.MULTILINE)),
            stored=f"{stored} in {source.stored}" if source.stored else stored,
            archive=source.archive,
            offset=source.offset,
        )


@dataclass(slots=True)
class _Counts:
    """State of the whole text.

    Attributes:
        files: state of each file, by its path.
        nobody: lines that name no file.
        binary: files that grep treated as binary.
        settings: lines with a setting of a broker.
        parted: grep separated groups of lines, so it left lines out.
        many: it names more files than are taken apart.
    """

    files: dict[str, _File] = field(default_factory=dict)
    nobody: int = 0
    binary: int = 0
    settings: int = 0
    parted: bool = False
    many: bool = False

    def add(self, rows: pl.DataFrame) -> None:
        """Count more lines."""
        _count(self.files, rows)
        strangers = rows.filter(pl.col("path").is_null()).get_column("text")
        self.parted = self.parted or bool((strangers == "--").any())
        self.binary += int(strangers.str.contains(_BINARY).sum())
        self.nobody += int(((strangers != "--") & (strangers != "") & ~strangers.str.contains(_BINARY)).sum())
        self.settings += int(rows.get_column("rest").str.contains(_SETTING).sum())


def _counts(source: Source, grep: Grep) -> _Counts:
    """Read the text twice: for the files that it names, then for their lines. No files if it cannot be read."""
    found = _Counts()
    try:
        paths: dict[str, None] = {}
        with source.open() as stream:
            for block in lines.blocks(stream):
                paths |= dict.fromkeys(_paths(block.lines, grep))
        found.many = len(paths) > limits.WRITERS.value
        if paths and not found.many:
            prefix = grep.of(list(paths))
            with source.open() as stream:
                for block in lines.blocks(stream):
                    found.add(_told(block, prefix, grep))
    except OSError:
        return _Counts()
    return found


def _notes(found: _Counts, kept: dict[str, bool]) -> list[str]:
    """Return what is missing from the text, in words; ``kept`` holds whether all lines of a file are here."""
    notes = []
    if found.nobody:
        notes.append(f"{found.nobody} lines do not name their file and are left out")
    if found.binary:
        notes.append(f"grep took {found.binary} files for binary and printed none of their lines: grep -a does")
    if not all(kept.values()):
        count = f"{sum(not whole for whole in kept.values())} of {len(kept)} files"
        notes.append(f"lines of {count} were left out by grep, or may have been: give the logs, or grep -rn '' of them")
    return notes


def _prefix(path: str, files: dict[str, _File], grep: Grep) -> bytes:
    """Return the prefix of one file's lines, which is not the prefix of a longer path."""
    longer = "".join(f"(?!{re.escape(other)}[:-])" for other in files if other != path and other.startswith(f"{path}-"))
    return f"^{longer}{grep.of([path]).removeprefix('^')}".encode()


def _told(block: lines.Block, prefix: str, grep: Grep) -> pl.DataFrame:
    text = pl.col("text")
    number = pl.lit(None, dtype=pl.Int64)
    if grep.numbered:
        number = pl.coalesce(text.str.extract(prefix, 2), text.str.extract(prefix, 3)).cast(pl.Int64, strict=False)
    return block.frame().select(
        "text",
        text.str.extract(prefix, 1).alias("path"),
        text.str.replace(prefix, "").alias("rest"),
        number.alias("at"),
    )


def _count(files: dict[str, _File], rows: pl.DataFrame) -> None:
    counted = (
        rows.filter(pl.col("path").is_not_null())
        .group_by("path", maintain_order=True)
        .agg(
            (pl.col("rest").str.len_bytes() + 1).sum().alias("size"),
            pl.len(),
            pl.col("at").min().alias("first"),
            pl.col("at").max().alias("last"),
        )
    )
    for path, size, count, first, last in counted.iter_rows():
        file = files.setdefault(path, _File())
        file.size += size
        file.count += count
        if first is not None:
            file.first = first if file.first is None else min(file.first, first)
            file.last = last if file.last is None else max(file.last, last)


@dataclass(frozen=True, slots=True)
class _Only:
    source: Source
    prefix: re.Pattern[bytes]

    def __call__(self) -> BinaryIO:
        return io.BufferedReader(Filtered(self.source.open(), self._mine), 1 << 16)

    def _mine(self, data: bytes) -> bytes:
        found = (
            self.prefix.sub(b"", line, count=1)
            for line in re.findall(rb"[^\n]*\n|[^\n]+", data)
            if self.prefix.match(line)
        )
        return b"".join(found)
