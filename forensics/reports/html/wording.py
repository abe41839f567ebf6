"""How numbers, offsets, times and foreign text look on the page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from posixpath import commonpath
from typing import TYPE_CHECKING
from urllib.parse import quote

from forensics.case.trace_clusters import cluster_text
from forensics.replay.lineage import Range
from forensics.reports.titles import earlier
from parsers.encodings.json_text import STEERING

if TYPE_CHECKING:
    from forensics.replay.history import History
    from forensics.rules.finding import Finding

LONGEST, NAME, PATH = 1_500, 300, 300
"""Characters that are shown of any foreign text, of a partition's name and of a path. Kafka allows no longer names, and
a page must stay small whatever a damaged file contains.
"""

THIN = "\u202f"
"""Between groups of three digits: a comma would be read as the one inside an interval."""

_INVISIBLE = re.compile(rf"[\x00-\x08\x0b-\x1f{STEERING}\ufff9-\uffff]")


def number(value: int) -> str:
    """Digits in groups.

    >>> number(1234567).replace(THIN, "_")
    '1_234_567'
    """
    return f"{value:,}".replace(",", THIN)


def brief(value: int) -> str:
    """A count for a narrow place.

    >>> brief(999), brief(2_000), brief(12_345)
    ('999', '2k', '12k')
    """
    return (
        str(value)
        if value < 1_000
        else f"{value / 1_000:.1f}".removesuffix(".0") + "k"
        if value < 10_000
        else (f"{value // 1_000}k")
    )


def offsets(ranges: Sequence[Range]) -> str:
    r"""Ranges of offsets with both ends, at most four of them; a line never ends within one.

    >>> offsets([(50, 80), (90, 91)]).replace("\xa0", " ")
    '50 to 79, 90'
    """
    shown = ", ".join(_range(first, end) for first, end in ranges[:4])
    return f"{shown} and {number(len(ranges) - 4)} more ranges" if len(ranges) > 4 else shown


def open_offsets(finding: Finding) -> str:
    """Return from which offset on a finding is about offsets, if their end is unknown; else ""."""
    return f"from {number(finding.open_from)} on" if finding.open_from is not None else ""


def _range(first: int, end: int) -> str:
    return number(first) if end - first <= 1 else f"{number(first)}\u00a0to\u00a0{number(end - 1)}"


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun.

    >>> plural(1, "partition"), plural(2, "partition"), plural(2, "copy", "copies")
    ('1 partition', '2 partitions', '2 copies')
    """
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def sentence(text: str) -> str:
    """With a capital and a full stop; "" for no text.

    >>> sentence("broker 1 truncated its log")
    'Broker 1 truncated its log.'
    >>> sentence("")
    ''
    """
    return text[:1].upper() + text[1:] + ("" if not text or text.endswith(".") else ".")


def iso(time: int) -> str:
    """Microseconds since 1970 UTC as ISO 8601 to the millisecond."""
    return datetime.fromtimestamp(time / 1e6, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def clock(time: int, *, date: bool = False) -> str:
    """Microseconds since 1970 UTC as time of day, with the date where the case is longer than a day.

    >>> clock(1_795_233_996_540_000), clock(1_795_233_996_540_000, date=True)
    ('04:06:36.540', '2026-11-21 04:06:36.540')
    """
    moment = datetime.fromtimestamp(time / 1e6, UTC)
    of_day = moment.time().isoformat("milliseconds")
    return f"{moment.date().isoformat()} {of_day}" if date else of_day


def micros(time: datetime | None) -> int | None:
    """A time of a frame as microseconds since 1970 UTC."""
    return None if time is None else round(time.timestamp() * 1_000_000)


def plain(text: str) -> str:
    r"""Return foreign text with invisible characters made visible: control characters, and those that change reading
    order.

    Very long text is shortened, and ends in an ellipsis.

    >>> plain("a\x1b[31mb\u202ec")
    'a\\x1b[31mb\\u202ec'
    """
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]} …"
    return _INVISIBLE.sub(_visible, unicodedata.normalize("NFC", text))


def in_code(text: str) -> tuple[str, ...]:
    r"""A paragraph of a rule's help in one line, in pieces: every second is code.

    >>> in_code("A ``.log``\nfile.")
    ('A ', '.log', ' file.')
    """
    return tuple(" ".join(text.split()).split("``"))


def _visible(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def shortener(inputs: Sequence[str]) -> Callable[[str], str]:
    """Return a function that shortens paths by what all of them begin with.

    >>> shortener(["/evidence/case"])("/evidence/case/broker-1/server.log")
    'broker-1/server.log'
    """
    prefix = f"{inputs[0].rstrip('/')}/" if len(inputs) == 1 else _shared(inputs)

    def short(path: str) -> str:
        if prefix and path.startswith(prefix) and len(path) > len(prefix):
            path = path[len(prefix) :]
        return path if len(path) <= PATH else f"{path[: PATH // 3]}…{path[-2 * PATH // 3 :]}"

    return short


def _shared(inputs: Sequence[str]) -> str:
    """Return the folder that holds all of several inputs, with a slash at its end; "" without one."""
    try:
        folder = commonpath([path.rsplit("/", 1)[0] for path in inputs]) if inputs else ""
    except ValueError:
        return ""  # some are absolute, others are not
    return f"{folder.rstrip('/')}/" if folder else ""


def human_bytes(size: int) -> str:
    """A size.

    >>> human_bytes(512), human_bytes(34_800), human_bytes(2_048_000), human_bytes(3_100_000_000)
    ('512 B', '35 kB', '2.0 MB', '3.1 GB')
    """
    if size < 1_000:
        return f"{size} B"
    if size < 1e6:
        return f"{size / 1e3:.0f} kB" if size >= 10_000 else f"{size / 1e3:.1f} kB"
    return f"{size / 1e6:,.1f} MB" if size < 1e9 else f"{size / 1e9:,.1f} GB"


Namer = Callable[["Finding | History"], str]
"""Names the partition of a finding or of a history."""


def namer(clusters: Sequence[str | None]) -> Namer:
    """Return a function that names partitions, with their cluster if the evidence has several."""
    several = len(set(clusters)) > 1

    def name(one: Finding | History) -> str:
        where = f" of {plain(cluster_text(one.cluster))}" if several else ""
        return named(f"{one.topic}-{one.partition}", one.incarnation) + where

    return name


Anchorer = Callable[["Finding | History"], str]
"""Gives the id of the element about a partition, for links from elsewhere."""


def anchorer(clusters: Sequence[str | None]) -> Anchorer:
    """Return a function that gives the ids of partitions, with their cluster if the evidence has several."""
    several = len(set(clusters)) > 1

    def anchor(one: Finding | History) -> str:
        where = f"@{one.cluster or 'unknown'}" if several else ""
        return anchored(f"{one.topic}-{one.partition}{where}", one.incarnation)

    return anchor


def anchored(name: str, life: int = 0) -> str:
    """Return an id that holds a name; a link to it needs no other escapes.

    >>> anchored("orders-0"), anchored("a b-1@c", 2)
    ('partition/orders-0', 'partition/a%20b-1@c~2')
    """
    if len(name) > NAME:
        name = f"{name[: NAME // 2]}~{sha256(name.encode('utf-8', 'replace')).hexdigest()[:16]}"
    told = quote(name, safe="@", errors="replace")
    return f"partition/{told}" + (f"~{life}" if life else "")


def named(name: str, life: int) -> str:
    """Return the name of a partition; for a deleted topic, with the number of incarnations since.

    >>> named("orders-0", 0), named("orders-0", 1), named("orders-0", 2)
    ('orders-0', 'orders-0 (earlier topic)', 'orders-0 (earlier topic, 2 topics ago)')
    """
    name = plain(name if len(name) <= NAME else f"{name[: NAME // 2]}…{name[-NAME // 2 :]}")
    return name + earlier(life)
