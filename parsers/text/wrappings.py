"""Text that collectors put around the lines of a log: prefixes of container runtimes and syslog, JSON objects.

A wrapping is removed before a layout is chosen (``parsers.text.frames``), so that all later code works on the line
that the broker printed. A collector's own time is kept if it names its zone: it may show the zone of the printed time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol

import polars as pl

from parsers.schema import NOTICES, empty
from parsers.text import frames, json_wrapping, logfmt
from parsers.text.frames import Frame
from parsers.text.json_wrapping import Json
from parsers.text.lines import Block
from parsers.text.unwrapping import MOST_PIECES, added, inside, joined, trailing

_SAMPLE: Final = 500
_DEEPEST: Final = 2  # wrapped by the container runtime, then by a collector
_ZONED: Final = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})"
)


class Wrapping(Protocol):
    """One wrapping, ready to be taken off."""

    @property
    def name(self) -> str:
        """As shown in ``sources``."""

    def open(self, block: Block) -> Block:
        """The lines inside."""

    def unfinished(self, block: Block) -> int:
        """Return how many lines at the end are pieces of one that continues in the next block."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """A wrapping before each line.

    Attributes:
        name: as shown in ``sources``.
        pattern: the prefix, from the line's beginning; a group ``outer`` is its time, a group ``more`` is not empty if
            the line continues in the next one.
        end: what it puts behind the line, or "".
    """

    name: str
    pattern: str
    end: str = ""

    def open(self, block: Block) -> Block:
        """The lines without the prefix; a line that lacks it is kept as it is."""
        rows = block.frame().drop("outer", strict=False)
        inner = pl.col("text").str.replace(self.pattern, "")
        if self.end:
            inner = inner.str.replace(self.end, "")
        outer = more = pl.lit(None, dtype=pl.String)
        if "?P<outer>" in self.pattern:
            outer = pl.col("text").str.extract_groups(self.pattern).struct.field("outer")
        if "?P<more>" in self.pattern:
            more = pl.col("text").str.extract_groups(self.pattern).struct.field("more")
        rows = rows.select("line", inner.alias("inner"), added(outer).alias("outer"), (more != "").alias("more"))
        if rows.get_column("more").any():
            rows = joined(rows)
        return inside(block, rows)

    def unfinished(self, block: Block) -> int:
        """Return how many lines at the end are pieces of one that continues in the next block."""
        if "?P<more>" not in self.pattern:
            return 0
        last = block.lines.tail(MOST_PIECES).to_frame("text")
        more = pl.col("text").str.extract_groups(self.pattern).struct.field("more")
        return trailing(last.select((more != "").fill_null(False)).to_series())


_HOST: Final = r"\S+ [^\s:\[]+(?:\[[0-9]+\])?: "
_DAY: Final = "[A-Z][a-z]{2} [ 0-9][0-9] [0-9:.]{8,15}"
_PRI: Final = r"(?:[0-9]+ )?(?:<[0-9]+>)"  # with the length before it, as syslog over TCP frames its messages

PREFIXES: Final[tuple[Prefix, ...]] = (
    # 2024-03-01T10:22:41.107482915Z stdout F line: CRI, the files of Kubernetes
    Prefix("cri", rf"^(?P<outer>{_ZONED}) (?:stdout|stderr) (?:F|(?P<more>P)) "),
    # <30>1 2024-03-01T10:22:41.107+01:00 host kafka 123 - - line: syslog, RFC 5424
    Prefix(
        "syslog",
        rf"^(?:{_PRI})?1 (?P<outer>{_ZONED}) \S+ \S+ \S+ \S+ (?:-|(?:\[(?:[^\]]|\\\])*\])+) ?(?:\x{{FEFF}})?",
    ),
    # 2024-03-01T10:22:41.107+0000 host kafka[123]: line: journalctl -o short-iso, rsyslog
    Prefix("journal-iso", rf"^(?P<outer>{_ZONED}) {_HOST}"),
    # Fri 2024-03-01 10:22:41 CET host kafka[123]: line: journalctl -o short-full
    Prefix("journal-full", rf"^[A-Z][a-z]{{2}} [0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} [0-9:.]{{8,15}} [A-Z]{{2,5}} {_HOST}"),
    # 1709288561.107482 host kafka[123]: line: journalctl -o short-unix
    Prefix("journal-unix", rf"^(?P<outer>[0-9]{{10}}\.[0-9]{{6}}) {_HOST}"),
    # [ 1234.567890] host kafka[123]: line: journalctl -o short-monotonic
    Prefix("journal-monotonic", rf"^\[ *[0-9]+\.[0-9]{{6}}\] {_HOST}"),
    # Mar 01 10:22:41 host kafka[123]: line: journalctl, syslog of RFC 3164
    Prefix("journal", rf"^(?:{_PRI})?{_DAY} {_HOST}"),
    # 2024-03-01T10:22:41Z {app="kafka"} line: logcli of Grafana Loki
    Prefix("logcli", rf"^(?P<outer>{_ZONED}) \{{[^}}]*\}} "),
    # 2024-03-01T10:22:41+00:00<tab>tag<tab>{...}: files of Fluentd
    Prefix("fluentd", rf"^(?P<outer>{_ZONED})\t[^\t]*\t"),
    # tag: [1709288561.107482915, {...}]: files of Fluent Bit
    Prefix("fluent-bit", r"^\S+: \[(?P<outer>[0-9]{10}\.[0-9]{1,9}), ", end=r"\]$"),
    # [0] tag: [1709288561.107482915, {"log"=>"line"}]: Fluent Bit's output to the terminal, from 2.1 on with metadata
    Prefix(
        "fluent-bit-stdout",
        r"^\[[0-9]+\] [^\s:]+: \[\[?(?P<outer>[0-9]{10}\.[0-9]{1,9})(?:, \{[^}]*\}\])?, "
        r"\{(?:\"[^\"]+\"=>(?:\"[^\"]*\"|[^\"]*?), )*?\"(?:log|message|MESSAGE|msg)\"=>\"",
        end=r"(?:\\n)?\"(?:, \"[^\"]+\"=>.*)?\}\]$",
    ),
    # @4000000065e1aa3b0668a2a3 line: multilog, svlogd -t, s6-log
    Prefix("tai64n", r"^(?P<outer>@[0-9a-f]{24}) "),
    # kafka stdout | line: supervisor-stdout
    Prefix("supervisor", r"^[A-Za-z0-9][A-Za-z0-9_.:-]* (?:stdout|stderr) \| "),
    # 2024-03-01T10:22:41.107482915Z line: docker logs -t, kubectl logs --timestamps
    Prefix("timestamped", rf"^(?P<outer>{_ZONED}) "),
    # 2024-03-01T10:22:41.107000+00:00 stream line: aws logs tail
    Prefix("stream", rf"^(?P<outer>{_ZONED}) \S+ "),
    # 2024-03-01 10:22:41 line, Mar 01 10:22:41 line, 2024-03-01_10:22:41.10748 line (svlogd -tt): a second time that
    # names no zone
    Prefix("second time", rf"^(?:\[?[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T _][0-9:.,]{{8,18}}\]?|{_DAY}) +"),
    # [pod/kafka-0/kafka] line: kubectl logs --prefix
    Prefix("kubectl", r"^\[pod/[^\]]+\] "),
    # [kafka-0 kafka] line: kubetail
    Prefix("kubetail", r"^\[[a-z0-9][a-z0-9.-]*(?: [a-z0-9][a-z0-9-]*)?\] "),
    # INFO   | jvm 1    | 2024/03/01 10:22:41 | line, INFO|123/0|Service kafka|24-03-01 10:22:41|line: Java Service
    # Wrapper, YAJSW
    Prefix(
        "service wrapper",
        r"^(?:STATUS|DEBUG|INFO|WARN|ERROR|FATAL|ADVICE|NOTICE) *\|[^|]{1,40}\|(?:[^|]{1,80}\|)? *"
        r"(?:[0-9]{4}|[0-9]{2})[/-][0-9]{2}[/-][0-9]{2} [0-9:.]{8,12} *\| ?",
    ),
    # [  411514] [   104.777692] [service_kafka]    [I] line: logs of a simulated system
    Prefix("simulated", r"^\[ *[0-9]+\] \[ *[0-9]+\.[0-9]{6}\] \[[A-Za-z0-9_.-]+\] +\[[A-Z]\] "),
    # kafka-1  | line: docker compose logs; kafka.1.x5dq@node2    | line: docker service logs
    Prefix("compose", r"^[A-Za-z0-9][A-Za-z0-9_.-]*(?:@[A-Za-z0-9_.-]+)? +\| "),
    # kafka-1: line: Ansible, pssh, clush
    Prefix("named", r"^[A-Za-z0-9][A-Za-z0-9_.-]*: "),
    # > kafka-1 | line, > kafka-1: line: the same in a mail
    Prefix("quoted name", r"^(?:> ?)+[A-Za-z0-9][A-Za-z0-9_.-]*(?: +\||:) "),
    # MESSAGE=line: journalctl -o export, -o verbose
    Prefix("journal-export", r"^ *MESSAGE="),
    # data: {...}: journalctl -o json-sse
    Prefix("events", r"^data: "),
    # 12:line, 12-line: grep -n; cat -n
    Prefix("numbered", r"^ *[0-9]+[:\t-]"),
    # namespace kafka-0 kafka line: stern
    Prefix("stern", r"^(?:[a-z0-9][a-z0-9-]* )?[a-z0-9][a-z0-9.-]* (?:\x{203A} )?[a-z0-9][a-z0-9-]* "),
)
"""Prefixes, narrow ones first."""

COLLECTED: Final = tuple(
    one for one in PREFIXES if one.name not in ("numbered", "events", "journal-export", "named", "quoted name")
)
"""Those that show by themselves that a collector wrote them: a person may write the others, too."""


def choose(lines: pl.Series) -> tuple[tuple[Wrapping, ...], Frame | None]:
    """The wrappings around a source's lines, outermost first, and the layout inside; from its first lines."""
    frame, count = frames.fit(lines)
    if frame is frames.STOCK or frame is frames.MUTE:
        return (), frame
    best: tuple[tuple[Wrapping, ...], Frame | None] = ((), frame)
    sample = lines.head(_SAMPLE)
    for wrappings, inner in _ways(sample_block(sample), 0):
        found, fits = frames.fit(inner)
        if found is not None and fits > count:
            best, count = (wrappings, found), fits
    return best


def readable(lines: pl.Series) -> bool:
    """Return whether a source's first lines have a layout, inside any wrappings: like ``choose``, without choosing."""
    return frames.choose(lines) is not None or any(
        frames.choose(inner) is not None for _, inner in _ways(sample_block(lines.head(_SAMPLE)), 0)
    )


def whole(blocks: Iterable[Block], wrappings: tuple[Wrapping, ...]) -> Iterator[Block]:
    """Yield the blocks, split so that no line of several pieces continues in the next block."""
    kept: Block | None = None
    for block in blocks:
        if kept is not None:
            lines = pl.concat([kept.lines, block.lines])
            block = Block(lines, kept.first_line, pl.concat([kept.notices, block.notices]), unended=block.unended)
            kept = None
        count = wrappings[0].unfinished(block) if wrappings else 0
        if count and count < MOST_PIECES:
            at = block.lines.len() - count
            kept = Block(block.lines.slice(at), block.first_line + at, block.notices.clear(), unended=block.unended)
            block = replace(block, lines=block.lines.slice(0, at))
        if block.lines.len():
            yield block
    if kept is not None:
        yield kept


def unwrap(block: Block, wrappings: tuple[Wrapping, ...]) -> Block:
    """The lines inside all wrappings."""
    for wrapping in wrappings:
        outer, unended = block.outer, block.unended
        block = replace(wrapping.open(block), unended=unended)
        if block.outer is None and outer is not None and outer.len() == block.lines.len():
            block = replace(block, outer=outer)
    return block


def undated(lines: pl.Series) -> bool:
    """Return whether the lines inside print only the time of day, by which nothing can be ordered."""
    sample = sample_block(lines.head(_SAMPLE))
    return frames.undated(sample.lines) or any(frames.undated(inner) for _, inner in _ways(sample, 0))


def dated(wrappings: tuple[Wrapping, ...]) -> bool:
    """Return whether the lines inside are rewritten with times in UTC."""
    return any(isinstance(wrapping, Json) and wrapping.dated for wrapping in wrappings)


def _ways(block: Block, depth: int) -> Iterator[tuple[tuple[Wrapping, ...], pl.Series]]:
    if depth == _DEEPEST or not block.lines.len():
        return
    for wrapping in _candidates(block.lines):
        inner = wrapping.open(block)
        yield (wrapping,), inner.lines
        for more, lines in _ways(inner, depth + 1):
            yield (wrapping, *more), lines


def _candidates(lines: pl.Series) -> Iterator[Wrapping]:
    lines = lines.filter(lines != "")  # as people paste an output whose line ends were doubled
    for prefix, found in zip(PREFIXES, frames.lines_with(lines, [prefix.pattern for prefix in PREFIXES]), strict=True):
        if 2 * found > lines.len() or (found and prefix.name in ("journal-export", "events")):
            yield prefix
    if (pretty := json_wrapping.indented(lines)) is not None:
        yield pretty
    if logfmt.written(lines):
        yield logfmt.Logfmt()
    yield from json_wrapping.ways(lines.head(100).to_list())


def sample_block(lines: pl.Series) -> Block:
    """Return the first lines of a source as a block, without notices."""
    return Block(lines, 1, empty(NOTICES))
