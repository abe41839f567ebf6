"""Format and contents of each file, file by file; or how much of each was understood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import polars as pl

from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.formats.log_directory import DELETED_SEGMENTS
from parsers.ledger import CLASSES, Bytes, ledger
from parsers.read import BUILT_IN, TAKERS
from parsers.schema import OBSERVATIONS

SCHEMA: Final = "forensics.coverage/1"
_WIDE: Final = dict.fromkeys(CLASSES, 12) | {CLASSES[0]: 16}
EXAMPLES: Final = 10  # notices shown of a file
_WHAT: Final = {taker.format: taker.what for taker in BUILT_IN} | {
    "archive": "holds the files that follow",
    "copy": "the same bytes as another file, or as its beginning",
    "irrelevant": "nothing about replication",
    "unknown": "format not recognised",
    "unreadable": "could not be read",
    "failed": "this program failed to read it",
    "metadata-snapshot": "state of the metadata log at one offset",
}
_END: Final = 253_402_300_800_000  # milliseconds; a producer may have set any number
_CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")


_STATES: Final = {"current": "", DELETED_SEGMENTS: ", deleted: no part of its log, and removed when the broker starts"}
"""Words about a file of a partition by the state of its directory; for other states their names."""


def render(files: Sequence[tuple[Source, FileReading]], *, rows: int = 20, records: int = 0) -> str:
    """A paragraph a file, ending with a line end.

    Args:
        files: sources with their readings.
        rows: observations and leader epochs shown of each.
        records: record batches shown of each, beside those with a wrong checksum; 0 shows none.
    """
    return "\n".join("\n".join(_paragraph(source, found, rows, records)) + "\n" for source, found in files)


def _paragraph(source: Source, found: FileReading, rows: int, records: int) -> Iterator[str]:
    yield printable(source.path)
    added = (taker.what for taker in TAKERS.added if taker.format == found.format)
    what = _WHAT.get(found.format) or next(added, "")
    stored = source.container or source.stored
    about = [f"{found.format}{f' ({what})' if what else ''}", f"{source.size:,} bytes", *([stored] if stored else [])]
    yield f"  {', '.join(about)}"
    if found.topic is not None:
        state = _STATES.get(found.directory_state or "", f", directory marked {found.directory_state}")
        yield f"  partition {found.topic}-{found.partition}{state}"
    if found.lines:
        prose = f" {found.prose:,} of prose and fences," if found.prose else ""
        yield f"  {found.lines:,} lines,{prose} {found.events:,} events; {_share(found)}"
    if found.frame is not None:
        yield f"  layout {found.frame}; times {f'in {found.zone}' if found.zone else 'without a zone'}"
    if found.first_time is not None:
        yield f"  from {_time(found.first_time)} to {_time(found.last_time)}"
    for key, value in sorted(found.properties.items()):
        yield f"  {printable(key) if key != '#' else 'comment'} = {printable(value)}"
    yield from _batches(found, rows)
    yield from _listed(found.batches, records)
    yield from _observations(found.observations, rows)
    yield from _notices(found.notices)


def _share(found: FileReading) -> str:
    if not found.relevant:
        return "none is about replication"
    return f"{found.relevant:,} may be about replication, {found.understood:,} understood ({percent(found)})"


def percent(found: FileReading) -> str:
    """Share of the relevant lines that were understood, never rounded up to all."""
    if not found.relevant:
        return "-"
    return f"{int(10_000 * found.understood / found.relevant) / 100:.2f} %"


def _batches(found: FileReading, rows: int) -> Iterator[str]:
    table = found.batches
    if found.base_offset is not None:
        end = found.log_end if found.log_end is not None else "unknown"
        yield f"  offsets from {found.base_offset}, log end offset {end}, {table.height:,} batches"
    if table.is_empty():
        return
    lineage = (
        table.filter(pl.col("leader_epoch").is_not_null())
        .group_by("leader_epoch")
        .agg(pl.col("base_offset").min())
        .sort("base_offset", "leader_epoch")
    )
    if lineage.height:
        shown = [f"{epoch} from offset {start}" for epoch, start in lineage.head(max(rows, 1)).iter_rows()]
        more = f" and {lineage.height - len(shown)} more" if lineage.height > len(shown) else ""
        yield f"  leader epoch{'' if lineage.height == 1 else 's'} {', '.join(shown)}{more}"
    formats = sorted({f"v{magic}" for magic in table.get_column("magic").drop_nulls().unique().to_list()})
    codecs = [
        _CODECS[codec] if 0 <= codec < len(_CODECS) else str(codec)
        for codec in sorted(table.get_column("codec").drop_nulls().unique().to_list())
    ]
    bad = int(table.get_column("crc_ok").eq(False).sum())
    wrong = f"{bad:,} wrong checksum{'' if bad == 1 else 's'}"
    yield f"  message format {', '.join(formats)}; compression {', '.join(codecs)}; {wrong}"


def _listed(table: pl.DataFrame, most: int) -> Iterator[str]:
    """Yield a line for each of the first record batches, and for each one whose checksum is wrong."""
    if not most or table.is_empty():
        return
    wrong = pl.col("crc_ok").eq(False).fill_null(False)
    numbered = table.with_row_index("number")
    shown = numbered.filter((pl.col("number") < most) | wrong)
    yield f"  {_some(shown.height, table.height)} record batches"
    yield f"    {'byte':>12} {'offsets':>22} {'records':>8} {'epoch':>6} {'bytes':>9}  {'CRC':<17}  newest record, UTC"
    for row in shown.iter_rows(named=True):
        first = row["base_offset"] if row["base_offset"] is not None else "?"
        offsets = f"{first}" if first == row["last_offset"] else f"{first} to {row['last_offset']}"
        values = [_cell(row["byte"]), offsets, _cell(row["records"]), _cell(row["leader_epoch"]), _cell(row["size"])]
        columns = (12, 22, 8, 6, 9)
        cells = " ".join(f"{value:>{width}}" for value, width in zip(values, columns, strict=True))
        yield f"    {cells}  {_crc(row):<17}  {_marks(row)}".rstrip()
    if shown.height < table.height:
        yield f"    {table.height - shown.height:,} more; --records {table.height} shows all"


def _some(shown: int, total: int) -> str:
    return f"{total:,}" if shown == total else f"{shown:,} of {total:,}"


def _cell(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _crc(row: dict[str, Any]) -> str:
    if row["crc"] is None:
        return ""
    return f"{row['crc']:08x}" + {True: " ok", False: " WRONG", None: ""}[row["crc_ok"]]


def _marks(row: dict[str, Any]) -> str:
    """Return the time of a batch, and what it is beside a plain one."""
    stamp = row["max_timestamp"]
    time = [] if stamp is None or stamp < 0 else [_time(stamp * 1000) if stamp < _END else f"{stamp} ms"]
    codec = row["codec"] or 0
    marks = [_CODECS[codec] if codec < len(_CODECS) else str(codec)] if codec else []
    marks += [name for name in ("transactional", "control") if row[name]]
    return ", ".join([*time, *marks])


def _observations(table: pl.DataFrame, rows: int) -> Iterator[str]:
    if table.is_empty():
        return
    kinds = table.group_by("kind").agg(pl.len()).sort("len", "kind", descending=[True, False])
    yield "  it states: " + ", ".join(f"{count:,} {kind}" for kind, count in kinds.iter_rows())
    columns = [name for name in OBSERVATIONS if name not in ("line", "byte", "kind", "time", "message")]
    for row in table.head(rows).iter_rows(named=True):
        place = f"line {row['line']}" if row["line"] is not None else f"byte {row['byte']}"
        values = " ".join(f"{name}={printable(str(row[name]))}" for name in columns if row[name] is not None)
        yield f"    {place:>12}  {row['kind']} {values}".rstrip()
    if table.height > rows:
        yield f"    {table.height - rows:,} more; --rows {table.height} shows all"


def _notices(table: pl.DataFrame) -> Iterator[str]:
    if table.height:
        yield f"  {table.height:,} notice{'' if table.height == 1 else 's'}"
    for reason, excerpt, line, byte in table.head(EXAMPLES).select("reason", "excerpt", "line", "byte").iter_rows():
        place = f"line {line}: " if line is not None else f"byte {byte}: " if byte is not None else ""
        yield f"    {place}{printable(reason)}" + (f": {printable(excerpt)}" if excerpt else "")
    if table.height > EXAMPLES:
        yield f"    {table.height - EXAMPLES:,} more"


def render_coverage(files: Sequence[tuple[Source, FileReading]]) -> str:
    """A line a file, and the sum, ending with a line end."""
    lines = [
        f"{'events':>10} {'relevant':>10} {'understood':>10} {'%':>9} {'notices':>8}  "
        + " ".join(f"{'bytes ' * (name == CLASSES[0]) + name:>{_WIDE[name]}}" for name in CLASSES)
        + f"  {'format':<18} file"
    ]
    total = Bytes()
    for source, found in files:
        counts = [f"{count:,}" if found.events else "-" for count in (found.events, found.relevant, found.understood)]
        told = ledger(source, found)
        if not source.container:
            total = Bytes(*(a + b for a, b in zip(total, told, strict=True)))
        lines.append(
            " ".join(f"{count:>10}" for count in counts) + f" {percent(found):>9} "
            f"{found.notices.height:>8,}  {_classes(told)}  {found.format:<18} {printable(source.path)}"
        )
    whole = FileReading(
        "",
        events=sum(found.events for _, found in files),
        relevant=sum(found.relevant for _, found in files),
        understood=sum(found.understood for _, found in files),
    )
    notices = sum(found.notices.height for _, found in files)
    lines.append(
        f"{whole.events:>10,} {whole.relevant:>10,} {whole.understood:>10,} {percent(whole):>9} {notices:>8,}  "
        f"{_classes(total)}  {len(files):,} files"
    )
    return "\n".join(lines) + "\n"


def coverage_document(files: Sequence[tuple[Source, FileReading]]) -> dict[str, Any]:
    """The same as ``render_coverage`` for programs: the contract ``forensics.coverage/1``."""
    return {
        "schema": SCHEMA,
        "files": [
            {
                "path": source.path,
                "format": found.format,
                "container": bool(source.container),
                "events": found.events,
                "relevant": found.relevant,
                "understood": found.understood,
                "notices": found.notices.height,
                "bytes": ledger(source, found)._asdict(),
            }
            for source, found in files
        ],
    }


def _classes(told: Bytes) -> str:
    return " ".join(f"{count:>{width},}" for count, width in zip(told, _WIDE.values(), strict=True))


def printable(text: str) -> str:
    """The text without what could steer a terminal."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def _time(time: int | None) -> str:
    if time is None:
        return "unknown"
    return datetime.fromtimestamp(time / 1e6, UTC).replace(tzinfo=None).isoformat(" ", "milliseconds")
