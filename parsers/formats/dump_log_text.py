"""Output of ``kafka-dump-log`` for one segment (``DumpLogSegments``, 0.10 to 4.1): batch headers as text.

A batch line names base and last offset. Up to 0.10, and for message formats v0 and v1 later, a line names one message.
Lines of single records, with or without ``| `` before them, follow their batch and are skipped, except where 0.11 to
2.1 print records without batches (``--deep-iteration``). Text behind ``key:`` and ``payload:`` may be anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import polars as pl

from parsers.errors import NotThisFormat
from parsers.formats.log_directory import SegmentFile, split_segment_file
from parsers.reading import EXCERPT
from parsers.schema import BATCHES, NOTICES, OBSERVATIONS, DamageKind, Kind, beyond, conform, empty

NAME: Final = "dump-log"
HEAD: Final = re.compile(rb"(?:^|\n)(?:Dumping \S|baseOffset: [0-9]|offset: [0-9]+ position: [0-9])")

WHOLE: Final = re.compile(r"^baseOffset: .* isvalid: (?:true|false)$")
"""A complete batch line; no other line shows by itself that it is complete."""

_SAYS_SO: Final = "the dump says so"
"""Ends the notices that are about the segment, not about the text of its dump."""

DUMPING: Final = re.compile(r"^Dumping (?P<path>.*?)\r?$")
_ENTRY: Final = r"^(?:baseOffset|offset): [0-9]+ "
_INVALID: Final = r"^Found (?P<bytes>[0-9]+) invalid bytes at the end of "
_OTHER: Final = (
    r"^(?:\|| (?:key|payload): |(?:Log s|S)tarting offset: |Snapshot end offset: |KRaft bootstrap snapshot|Dumping "
    r"|log4j:|SLF4J:"
    r"|Found [0-9]+ invalid bytes|Mismatches in |Non-(?:con)?secutive offsets in|  [0-9]+ is followed by [0-9]+"
    r"|Found timestamp mismatch|The following |.* passed sanity check\.|.* is empty\.|Warning: |WARNING: |\s*$)"
)
_BEGUN: Final = re.compile(
    r"^(?:baseOffset: [0-9]+ |offset: [0-9]+ position: [0-9]|producerId: -?[0-9]+ producerEpoch: |"
    r"timestamp: -?[0-9]+ offset: [0-9]|version: [0-9]+ producerId: )"
)
_NEXT: Final = re.compile(
    r"^(?:\|\s*(?:offset|baseOffset|key|payload|isValid|crc): | (?:key|payload): |(?:Log s|S)tarting offset: |"
    r"Snapshot end offset: |Found [0-9]+ invalid bytes|Mismatches in |Non-(?:con)?secutive offsets in"
    r"|  [0-9]+ is followed by [0-9]+|Found timestamp mismatch|The following )"
)
"""Lines that follow others of a dump."""
_FLAGS: Final = {"true": True, "false": False}
_CODECS: Final = {"none": 0, "no": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


def is_entry(line: str) -> bool:
    """Return whether a line is that of a batch, of a message of 0.10, of a producer, or of an entry of an index."""
    return _BEGUN.match(line) is not None


def belongs(line: str) -> bool:
    """Return whether a line is certainly of a dump: an entry, or what is printed between entries and behind them."""
    return is_entry(line) or _NEXT.match(line) is not None


@dataclass(frozen=True, slots=True)
class Dump:
    """One dumped segment.

    Attributes:
        path: path of the segment where it was dumped, or "".
        batches: rows of ``BATCHES``; ``byte`` is the printed position.
        log_end: next offset after the last batch; None where there is none.
        notices: rows of ``NOTICES``.
        damaged: columns line and offset: batches that the dump calls not valid.
    """

    path: str
    batches: pl.DataFrame
    log_end: int | None
    notices: pl.DataFrame
    damaged: pl.DataFrame

    @property
    def file(self) -> SegmentFile | None:
        """Facts in the segment's name."""
        return split_segment_file(self.path.rpartition("/")[2])

    def not_valid(self, topic: str, partition: int | None) -> pl.DataFrame:
        """Return rows of ``OBSERVATIONS``: the batches of a partition that the dump calls not valid."""
        kind = pl.lit(Kind.RECORD_CORRUPT.value, dtype=OBSERVATIONS["kind"]).alias("kind")
        named = (pl.lit(topic).alias("topic"), pl.lit(partition, dtype=pl.Int32).alias("partition"))
        said = (pl.lit(NAME).alias("message"), pl.lit("kafka-dump-log calls its batch not valid").alias("detail"))
        return conform(self.damaged.with_columns(kind, *named, *said), OBSERVATIONS)


def read_dump_log(lines: pl.Series) -> Dump:
    """Read the dump of one segment.

    Args:
        lines: all of its lines.

    Raises:
        NotThisFormat: no line of a dump is among them.
    """
    rows = lines.alias("text").to_frame().with_row_index("line", offset=1)
    text = pl.col("text")
    entries = rows.filter(text.str.contains(_ENTRY))
    path = next((found["path"] for line in lines.head(10) if line and (found := DUMPING.match(line))), "")
    if entries.is_empty() and not path:
        raise NotThisFormat("no line of kafka-dump-log")
    header = text.str.replace(r" (?:payload|key): .*", "")

    def value(name: str, dtype: pl.DataType | type[pl.DataType] = pl.Int64) -> pl.Expr:
        found = header.str.extract(rf"(?:^|[ |]){name}: (\S+)")
        return found if dtype == pl.String else found.cast(dtype, strict=False)

    def flag(name: str) -> pl.Expr:
        return value(name, pl.String).replace_strict(_FLAGS, default=None, return_dtype=pl.Boolean)

    codec = value("compresscodec", pl.String).str.to_lowercase().str.replace("compressioncodec", "")
    listed = entries.select(
        pl.col("line").cast(pl.Int64),
        text,
        value("position").alias("byte"),
        pl.coalesce(value("size"), value("batchSize")).alias("size"),
        pl.coalesce(value("baseOffset"), value("offset")).alias("base_offset"),
        pl.coalesce(value("lastOffset"), value("offset")).alias("last_offset"),
        pl.when(value("partitionLeaderEpoch") >= 0).then(value("partitionLeaderEpoch")).alias("leader_epoch"),
        value("magic").alias("magic"),
        value("crc").alias("crc"),
        flag("isvalid").alias("crc_ok"),
        pl.coalesce(value("count"), pl.when(value("baseOffset").is_null()).then(1)).alias("records"),
        codec.replace_strict(_CODECS, default=None, return_dtype=pl.Int64).alias("codec"),
        pl.when(header.str.contains(" LogAppendTime: ", literal=True)).then(1).otherwise(0).alias("timestamp_type"),
        flag("isTransactional").alias("transactional"),
        flag("isControl").alias("control"),
        value("producerId").alias("producer_id"),
        value("producerEpoch").alias("producer_epoch"),
        pl.coalesce(value("baseSequence"), value("sequence")).alias("base_sequence"),
        pl.coalesce(value("CreateTime"), value("LogAppendTime"), value("NoTimestampType")).alias("max_timestamp"),
        header.str.extract(r" deleteHorizonMs: OptionalLong\[([0-9]+)\]")
        .cast(pl.Int64, strict=False)
        .alias("delete_horizon"),
    )
    # Records that 0.11 to 2.1 list without their batch have the batch's position, one line each.
    once = pl.col("base_offset").is_not_null() & pl.col("magic").is_not_null()
    odd = beyond(listed.columns, BATCHES)
    good = listed.filter(once & ~odd).with_columns(
        pl.coalesce("size", pl.col("byte").shift(-1) - pl.col("byte")).alias("size")
    )
    notices = [
        _notes(listed.filter(~once), "an entry of kafka-dump-log that is incomplete"),
        _notes(listed.filter(once & odd), "an entry of kafka-dump-log with a number that no batch has"),
        _notes(
            rows.filter(~text.str.contains(_ENTRY) & ~text.str.contains(_OTHER)).head(20),
            "no line of kafka-dump-log",
        ),
        _notes(rows.filter(text.str.contains(_INVALID)), f"{DamageKind.TORN_TAIL}: {_SAYS_SO}", DamageKind.TORN_TAIL),
        _notes(good.filter(~pl.col("crc_ok")), f"batch checksum does not match: {_SAYS_SO}", DamageKind.BAD_CRC),
    ]
    last = good.get_column("last_offset").max() if good.height else None
    return Dump(
        path,
        conform(good, BATCHES) if good.height else empty(BATCHES),
        last + 1 if isinstance(last, int) else None,
        pl.concat(notices).sort("line", maintain_order=True),
        good.filter(~pl.col("crc_ok")).select("line", pl.col("base_offset").alias("offset")),
    )


def _notes(rows: pl.DataFrame, reason: str, kind: DamageKind | None = None) -> pl.DataFrame:
    found = rows.select(
        pl.lit(kind, pl.String).alias("kind"),
        pl.lit(reason).alias("reason"),
        pl.col("text").str.slice(0, EXCERPT).alias("excerpt"),
        pl.col("line").cast(pl.Int64),
    )
    return conform(found, NOTICES)


__all__ = ["DUMPING", "HEAD", "NAME", "WHOLE", "Dump", "belongs", "is_entry", "read_dump_log"]
