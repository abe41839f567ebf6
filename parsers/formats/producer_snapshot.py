"""Producer state snapshots, ``<offset>.snapshot``: what the broker knew of idempotent and transactional producers.

int16 version, CRC-32C of what follows it, then the entries (``ProducerStateManager``, ProducerSnapshot schema, 0.11+).
The file's name is the offset up to which the state holds, so the log reached that offset when it was written.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

import google_crc32c
import numpy as np
import polars as pl

from parsers.errors import NotThisFormat
from parsers.reading import Notices, observations
from parsers.schema import OBSERVATIONS, Kind, beyond, empty

NAME: Final = "producer-snapshot"

PRODUCERS: Final[dict[str, pl.DataType]] = {
    "producer_id": pl.Int64(),
    "producer_epoch": pl.Int16(),
    "last_sequence": pl.Int32(),
    "last_offset": pl.Int64(),  # of the last batch; -1 when only a marker is known
    "offset_delta": pl.Int32(),  # that batch begins at last_offset - offset_delta
    "timestamp": pl.Int64(),  # of that batch or of the marker after it, milliseconds since 1970 UTC; -1: none
    "coordinator_epoch": pl.Int32(),  # -1: none
    "transaction_offset": pl.Int64(),  # first offset of the open transaction; -1: none
}
"""One producer."""

_HEAD: Final = struct.Struct(">hIi")
_ENTRY: Final = np.dtype(
    [
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("last_sequence", ">i4"),
        ("last_offset", ">i8"),
        ("offset_delta", ">i4"),
        ("timestamp", ">i8"),
        ("coordinator_epoch", ">i4"),
        ("transaction_offset", ">i8"),
    ]
)


class ProducerSnapshot(NamedTuple):
    """Contents of a snapshot.

    Attributes:
        producers: rows of ``PRODUCERS``; none if the checksum fails, since any of them may be wrong.
        notices: rows of ``NOTICES``.
    """

    producers: pl.DataFrame
    notices: pl.DataFrame


def read_producer_snapshot(data: bytes) -> ProducerSnapshot:
    """Read a producer state snapshot.

    Raises:
        NotThisFormat: the version is not 1, unless the file is empty or zero bytes, which is damage.
    """
    notices = Notices()
    none = pl.DataFrame(schema=PRODUCERS)
    if not data.strip(b"\0"):
        notices.add(f"the file is {len(data)} zero bytes: its content was lost", byte=0)
        return ProducerSnapshot(none, notices.frame())
    if data[:2] != b"\0\1"[: len(data)]:
        raise NotThisFormat("a producer snapshot begins with version 1")
    if len(data) < _HEAD.size:
        notices.add(f"torn: {len(data)} bytes, the head has {_HEAD.size}", excerpt=data.hex(), byte=0)
        return ProducerSnapshot(none, notices.frame())
    _, crc, count = _HEAD.unpack_from(data)
    size = _HEAD.size + count * _ENTRY.itemsize
    if count < 0 or size != len(data):
        reason = f"{count} producers are announced, {len(data) - _HEAD.size} bytes are there for them"
        notices.add(reason, excerpt=data[:61].hex(), byte=6)
        return ProducerSnapshot(none, notices.frame())
    if google_crc32c.value(data[6:]) != crc:
        notices.add("bad CRC: nothing in the snapshot can be trusted", excerpt=data[:61].hex(), byte=2)
        return ProducerSnapshot(none, notices.frame())
    if not count:
        return ProducerSnapshot(none, notices.frame())
    entries = np.frombuffer(data, dtype=_ENTRY, offset=_HEAD.size)
    columns = {name: entries[name].astype(entries[name].dtype.newbyteorder("=")) for name in PRODUCERS}
    return ProducerSnapshot(pl.DataFrame(columns, schema=PRODUCERS), notices.frame())


def read_dump(lines: pl.Series) -> ProducerSnapshot:
    """Read what ``kafka-dump-log`` prints of a snapshot (``DumpLogSegments.dumpProducerIdSnapshot``, 0.11+).

    Args:
        lines: all of its lines.

    Returns:
        Producers with a column ``line`` beside those of ``PRODUCERS``.
    """
    rows = lines.alias("text").to_frame().with_row_index("line", offset=1).with_columns(pl.col("line").cast(pl.Int64))
    text = pl.col("text")
    entries = rows.filter(text.str.contains(r"^producerId: "))

    def value(name: str) -> pl.Expr:
        return text.str.extract(rf"(?:^| ){name}: (?:Some\(|OptionalLong\[)?(-?[0-9]+)\b").cast(pl.Int64, strict=False)

    found = entries.select(
        "line",
        value("producerId").alias("producer_id"),
        value("producerEpoch").alias("producer_epoch"),
        value("lastSequence").fill_null(-1).alias("last_sequence"),
        value("lastOffset").fill_null(-1).alias("last_offset"),
        value("offsetDelta").fill_null(0).alias("offset_delta"),
        # Older ones print it with the batch alone; a snapshot holds one for both.
        pl.coalesce(value("lastTimestamp"), value("timestamp"), -1).alias("timestamp"),
        value("coordinatorEpoch").alias("coordinator_epoch"),
        value("currentTxnFirstOffset").fill_null(-1).alias("transaction_offset"),
    )
    named = pl.all_horizontal(pl.col("producer_id", "producer_epoch", "coordinator_epoch").is_not_null())
    whole = named & ~beyond(PRODUCERS, PRODUCERS)
    other = rows.filter(~text.str.contains(_DUMPED) & (text.str.strip_chars() != ""))
    cut = entries.join(found.filter(~whole), on="line", how="semi")
    notices = Notices()
    for number, line in pl.concat([other, cut]).sort("line").iter_rows():
        notices.add("no line of a dumped producer snapshot", excerpt=line, line=number)
    kept = found.filter(whole).with_columns(pl.col(name).cast(dtype) for name, dtype in PRODUCERS.items())
    return ProducerSnapshot(kept, notices.frame())


_DUMPED: Final = r"^(?:producerId: |Dumping |log4j:|SLF4J:|Warning: |WARNING: )"


def statements(producers: pl.DataFrame, topic: str, partition: int, end: int) -> pl.DataFrame:
    """Return the contents of a snapshot as rows of ``OBSERVATIONS``, one per producer.

    Args:
        producers: rows of ``PRODUCERS``, with ``line`` if they were printed.
        topic, partition: of the directory that holds the file.
        end: offset in the file's name, up to which the state holds.
    """
    if producers.is_empty():  # most snapshots: no producer wrote idempotently
        return empty(OBSERVATIONS)
    printed = "line" in producers.columns
    return observations(
        [
            {
                "topic": topic,
                "partition": partition,
                "kind": Kind.PRODUCER_STATE,
                "message": NAME,
                "offset": row["last_offset"] if row["last_offset"] >= 0 else None,
                "leo": end,
                "detail": (
                    f"producer_id={row['producer_id']} producer_epoch={row['producer_epoch']} "
                    f"last_sequence={row['last_sequence']} first_offset={row['last_offset'] - row['offset_delta']} "
                    f"timestamp={row['timestamp']} coordinator_epoch={row['coordinator_epoch']} "
                    f"transaction_offset={row['transaction_offset']}"
                ),
                "line": row["line"] if printed else None,
                "byte": None if printed else _HEAD.size + number * _ENTRY.itemsize,
            }
            for number, row in enumerate(producers.iter_rows(named=True))
        ]
    )
