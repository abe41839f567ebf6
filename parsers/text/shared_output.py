"""Output of several processes in one text: ``docker compose logs``, ``kubectl logs --prefix``, a syslog.

Each line names its writer by a prefix, or by a member of its JSON object. The text is split into one source per writer,
with only the lines of that writer, numbered separately.
"""

from __future__ import annotations

import functools
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

import polars as pl

from parsers import limits
from parsers.files.sources import Source
from parsers.text import lines, logfmt
from parsers.text.filtered import Filtered
from parsers.text.frames import lines_with

_PART: Final = "shared output"
_ZONED: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})"
_DATED: Final = r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}|[0-9]{2} [A-Z][a-z]{2} [0-9]{4}"
_PROGRAM: Final = r"[^\s:\[]+(?:\[[0-9]+\])?: "

NAME: Final = r"^(?:> ?)*([A-Za-z0-9][A-Za-z0-9_.-]*): "
"""kafka-1: line: Ansible, pssh, clush, and a person who pastes lines."""

_STREAM: Final = rf"^{_ZONED} ([A-Za-z0-9][^\s:\[\]=\"{{}}|]*) "
"""2024-03-01T10:22:41.107000+00:00 stream line: aws logs tail, if the line begins with a time of its own."""

_LABELS: Final = (
    "pod",
    "pod_name",
    "kubernetes_pod_name",
    "statefulset_kubernetes_io_pod_name",
    "container_name",
    "instance",
    "host",
    "hostname",
    "node_name",
    "container",
)
"""Labels that name the writer, the most specific first."""

_LOGCLI: Final = rf"^{_ZONED} \{{[^}}]*\}} "
_IN_LABELS: Final = tuple(rf"^{_ZONED} \{{(?:[^}}]*[, ])?{label}=\"([^\"]+)\"[^}}]*\}} " for label in _LABELS)
_IN_PAIRS: Final = tuple(rf"{logfmt.BEFORE}{label}=\"?([^\" \n]+)\"?(?: |$)" for label in _LABELS)
_BY_LABEL: Final = {_LOGCLI: _IN_LABELS, logfmt.KEY: _IN_PAIRS}
"""Prefixes of one collector, by what all its lines begin with."""

_BEHIND: Final = {_STREAM: rf"^\[?(?:{_DATED})", **dict.fromkeys(_IN_PAIRS, "(?:^| )(?:msg|message)=")}
"""Text that must follow a prefix in any of its lines, if it is not a date."""

PREFIXES: Final[tuple[str, ...]] = (
    # [pod/kafka-0/kafka] line: kubectl logs --prefix
    r"^\[pod/([^\]]+)\] ",
    # kafka-1  | line: docker compose logs
    r"^(?:> ?)*([A-Za-z0-9][A-Za-z0-9_.-]*) +\| ",
    # kafka-0 kafka [2024-..: stern
    r"^([a-z0-9][a-z0-9.-]* [a-z0-9][a-z0-9-]*) ",
    # <30>1 2024-03-01T10:22:41.107+01:00 host kafka 123 - - line: syslog, RFC 5424
    rf"^<[0-9]+>1 {_ZONED} (\S+) \S+ \S+ \S+ ",
    # 2024-03-01T10:22:41.107+0000 host kafka[123]: line
    rf"^{_ZONED} (\S+) {_PROGRAM}",
    # 2024-03-01T10:22:41Z {app="kafka", pod="kafka-0"} line: logcli of Grafana Loki
    _LOGCLI,
    # 2024-03-01T10:22:41+00:00<tab>tag<tab>{...}: files of Fluentd
    rf"^{_ZONED}\t([^\t]+)\t\{{",
    _STREAM,
    # ts=2024-03-01T10:22:41.107Z level=info pod=kafka-0 msg="line": logfmt; the first line may be cut off within that
    logfmt.KEY,
    # Mar 01 10:22:41 host kafka[123]: line
    rf"^(?:<[0-9]+>)?[A-Z][a-z]{{2}} [ 0-9][0-9] [0-9:.]{{8,15}} (\S+) {_PROGRAM}",
    NAME,
)
"""Patterns of a prefix; the group is the writer, or ``_BY_LABEL`` has those that name it."""

WRITERS: Final = tuple(each for prefix in PREFIXES for each in _BY_LABEL.get(prefix, (prefix,)))
"""Patterns of a prefix, the group of each of which is the writer."""

_LEVELS: Final = ("TRACE", "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "FATAL")
"""Words before a colon that name no writer."""

MEMBERS: Final[tuple[tuple[str, ...], ...]] = (
    ("kubernetes", "pod_name"),
    ("kubernetes", "pod", "name"),
    ("kubernetes", "pod"),
    ("pod_name",),
    ("pod",),
    ("container_name",),
    ("container", "name"),
    ("host", "name"),
    ("host", "hostname"),
    ("hostname",),
    ("agent", "hostname"),
    ("_HOSTNAME",),
    ("host",),
    *(("labels", label) for label in _LABELS),
)
"""Members of a JSON object that name the writer, the most specific first."""

_NESTED: Final[tuple[tuple[str, ...], ...]] = ((), ("_source",), ("result",))
"""Within what a store puts around the object as it exports it: Elasticsearch, Splunk."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The way in which lines name their writer: a prefix, or a member of the object."""

    prefix: str = ""
    member: tuple[str, ...] = ()

    def writer(self) -> pl.Expr:
        """The writer of each line of column ``text``."""
        if self.prefix:
            return pl.col("text").str.extract(self.prefix)
        return pl.col("text").str.json_path_match("$" + "".join(f"['{name}']" for name in self.member))

    def others(self, writer: str) -> re.Pattern[bytes]:
        """A pattern of the lines that are not by a writer, with their line ends."""
        if self.prefix:
            before, behind = _halves(self.prefix)
            theirs = before.removeprefix("^") + re.escape(writer) + behind
        else:
            name, value = re.escape(self.member[-1]), re.escape(json.dumps(writer, ensure_ascii=False))
            theirs = rf'.*"{name}"\s*:\s*{value}'
        return re.compile(rb"(?m)^(?!" + theirs.encode() + rb").*\n?")


def _halves(pattern: str) -> tuple[str, str]:
    """Return what is before and behind the only capturing group of a pattern."""
    found = re.search(r"(?<!\\)\((?!\?)", pattern)
    assert found is not None
    depth, at = 0, found.start()
    for at in range(found.start(), len(pattern)):
        if pattern[at - 1] != "\\" and pattern[at] in "()":
            depth += 1 if pattern[at] == "(" else -1
            if not depth:
                break
    return pattern[: found.start()], pattern[at + 1 :]


def mark_of(head: bytes) -> Mark | None:
    """Return how the lines of a text name their writers, from its first bytes; None if they do not."""
    if b"\0" in head or re.search(_DATED.encode(), head) is None:
        return None
    sample = lines.sample(head)
    if sample is None:
        return None
    sample = sample.filter(sample != "")  # blank where an event is there again (``reordered``)
    if (prefix := _common_prefix(sample)) is not None:
        return Mark(prefix=prefix)
    if (member := _common_member(sample.head(50))) is not None:
        return Mark(member=member)
    return None


def _common_prefix(sample: pl.Series, prefixes: tuple[str, ...] = PREFIXES) -> str | None:
    """Return the pattern of a writer's name before most lines, if an event follows it in any of them."""
    for prefix, count in zip(prefixes, lines_with(sample, prefixes), strict=True):
        if 2 * count <= sample.len():
            continue
        if prefix not in _BY_LABEL:
            named = prefix if _follows(sample, prefix) else None
        else:
            named = _common_prefix(sample, _BY_LABEL[prefix])
        if named is not None:
            return named
    return None


def _follows(sample: pl.Series, prefix: str) -> bool:
    """Return whether an event follows a prefix in any line, and whether no level is in the place of the name."""
    marked = sample.filter(sample.str.contains(prefix))
    levels = marked.str.extract(prefix).is_in(_LEVELS)
    if levels.any() if prefix == _STREAM else levels.all():
        return False
    return bool(marked.str.replace(prefix, "").str.contains(_BEHIND.get(prefix, _DATED)).any())


def _common_member(sample: pl.Series) -> tuple[str, ...] | None:
    """Return the member that names the writer in all JSON objects among some lines, if most lines are objects."""
    objects = [found for line in sample.to_list() if (found := _object(line)) is not None]
    if 2 * len(objects) <= sample.len():
        return None
    members = (nest + name for nest in _NESTED for name in MEMBERS)
    return next((name for name in members if all(isinstance(_at(found, name), str) for found in objects)), None)


def _object(line: str | None) -> object | None:
    if not line or not line.startswith("{"):
        return None
    try:
        return json.loads(line)  # type: ignore[no-any-return]
    except (ValueError, RecursionError):
        return None


def _at(found: object, member: tuple[str, ...]) -> object:
    for name in member:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def is_part(source: Source) -> bool:
    """Return whether a source is the part of one of several writers of a text."""
    return source.stored.startswith(_PART)


def split(source: Source, mark: Mark) -> Iterator[Source]:
    """The text by writer; the text as it is where there is one writer alone."""
    sizes: dict[str, int] = {}
    nobody = 0
    try:
        with source.open() as stream:
            for block in lines.blocks(stream):
                counted = (
                    block.frame()
                    .select(mark.writer().alias("writer"), (pl.col("text").str.len_bytes() + 1).alias("bytes"))
                    .group_by("writer", maintain_order=True)
                    .agg(pl.col("bytes").sum(), pl.len())
                )
                for writer, size, count in counted.iter_rows():
                    if writer is None:
                        nobody += count
                    else:
                        sizes[writer] = sizes.get(writer, 0) + size
                if len(sizes) > limits.WRITERS.value:
                    break
    except OSError:
        sizes = {}
    if len(sizes) > limits.WRITERS.value:
        said = limits.WRITERS.told("more than {} processes or pods wrote it: not taken apart")
        yield replace(source, notes=(*source.notes, said))
        return
    if len(sizes) < 2:
        yield replace(source, writer=_shown(*sizes)) if len(sizes) == 1 and not nobody else source
        return
    notes = (f"{nobody} lines do not say who wrote them and are left out",) if nobody else ()
    yield replace(source, container="output of several", notes=(*source.notes, *notes))
    stored = f"{_PART} in {source.stored}" if source.stored else _PART
    for writer in sorted(sizes):
        yield Source(
            f"{source.path}!/{_shown(writer)}",
            sizes[writer],
            _Only(source, mark, writer),
            stored=stored,
            archive=source.archive,
            offset=source.offset,
        )


def _shown(writer: str) -> str:
    return "".join(c if c.isprintable() and c not in "/\\" else "-" for c in writer)


@dataclass(frozen=True, slots=True)
class _Only:
    source: Source
    mark: Mark
    writer: str

    def __call__(self) -> BinaryIO:
        return io.BufferedReader(
            Filtered(self.source.open(), functools.partial(self.mark.others(self.writer).sub, b"")), 1 << 16
        )
