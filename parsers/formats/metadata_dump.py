"""Output of ``kafka-dump-log --cluster-metadata-decoder`` for the metadata log: the same records, as JSON.

``DumpLogSegments.ClusterMetadataLogMessageParser`` (3.0+) prints a record's value as ``{"type": .., "version": ..,
"data": {..}}`` behind ``payload:``, with the names of Kafka's schema. A tagged field with its default is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import polars as pl

from parsers.encodings.kraft_records import LAYOUTS, NOT_READ, MetadataRecord
from parsers.formats.dump_log_text import Dump
from parsers.formats.metadata_log import NAME, MetadataScan, MetadataState, Reader
from parsers.schema import Kind

Printed = tuple[int, str | None, bool]
"""Offset of a printed record, its payload (None if it is not decoded), and whether it is a change of the leader."""

_RECORD: Final = re.compile(r"^\| offset: (?P<offset>[0-9]{1,19}) .*? payload: (?P<payload>\{\"type\":.*)$")
_BATCH: Final = re.compile(r"^baseOffset: (?P<offset>[0-9]{1,19}) ")
_LEADER: Final = re.compile(r"^\| offset: (?P<offset>[0-9]{1,19}) .*? LeaderChange: (?P<payload>\{.*)$")
_CONTROL: Final = re.compile(
    r"^\| offset: (?P<offset>[0-9]{1,19}) .*? (?:controlType|SnapshotHeader|SnapshotFooter|\w+): ?"
)

_TYPES: Final = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper(): name
    for name in (*(layout.name for layout in LAYOUTS.values()), *NOT_READ.values())
}
"""Names of the records as the dump prints them: ``PARTITION_CHANGE_RECORD``."""
_FIELDS: Final = {layout.name: layout for layout in LAYOUTS.values()}
_OTHERS: Final = {"last_known_elr": "lastKnownELR"}  # as 3.7 printed it


def has_records(lines: pl.Series) -> bool:
    """Return whether records of the metadata log were decoded."""
    return bool(lines.str.contains(r'^(?:\| offset: [0-9]+ .*)? payload: \{"type":"[A-Z_]+","version":').any())


def read_metadata_dump(lines: pl.Series, dump: Dump) -> MetadataScan:
    """Read the records of one dumped segment.

    Args:
        lines: all lines of the dump.
        dump: its batches.

    Returns:
        The same as for the segment itself; ``byte`` is the position that the dump prints for a batch.
    """
    reader = _DumpReader()
    reader.run_dump(list(_records(lines)), dump)
    return reader.scan()


def _records(lines: pl.Series) -> Iterator[Printed]:
    """Offset of each record, its JSON, and whether it is a change of the quorum's leader."""
    follows = 0
    for line in lines.to_list():
        if begun := _BATCH.match(line):
            follows = int(begun["offset"])
        elif line.startswith(" payload: {"):  # --skip-record-metadata: records in the order of their batch
            yield follows, line.removeprefix(" payload: "), False
            follows += 1
        elif not line:
            yield follows, None, False
            follows += 1
        elif found := _RECORD.match(line):
            yield int(found["offset"]), found["payload"], False
        elif found := _LEADER.match(line):
            yield int(found["offset"]), found["payload"], True
        elif found := _CONTROL.match(line):
            yield int(found["offset"]), None, False


def _by_batch(records: list[Printed], dump: Dump) -> Iterator[tuple[tuple[Any, ...], list[Printed]]]:
    """Yield each sound batch with the records between its offsets.

    Yields:
        byte, base_offset, last_offset, leader_epoch and max_timestamp of a batch, and its records.
    """
    at = 0
    columns = ("byte", "base_offset", "last_offset", "leader_epoch", "max_timestamp")
    for batch in dump.batches.filter(pl.col("crc_ok").ne_missing(False)).select(columns).iter_rows():
        _, first, last, *_ = batch
        while at < len(records) and records[at][0] < first:
            at += 1
        begin = at
        while at < len(records) and records[at][0] <= last:
            at += 1
        yield batch, records[begin:at]


class _DumpReader(Reader):
    """Applies records that were printed."""

    def __init__(self) -> None:
        super().__init__(b"", MetadataState(), NAME, None, 0)

    def run_dump(self, records: list[Printed], dump: Dump) -> None:
        """Apply every record, batch by batch; a batch that lacks one breaks what epochs are derived from."""
        follows: int | None = None
        for (byte, first, last, epoch, time), mine in _by_batch(records, dump):
            self.byte, self.time, self.controller_epoch = byte, time, -1 if epoch is None else epoch
            if follows is not None and first > follows:
                self.forget(f"records {follows} to {first - 1} are missing")
            due = first
            for offset, payload, leads in mine:
                due += offset == due
                if payload is not None:
                    self._printed(offset, payload, leads)
            if due <= last:
                self.forget(f"records {due} to {last} are not in the dump")
            follows = last + 1

    def _printed(self, offset: int, payload: str, leads: bool) -> None:
        try:
            found = json.loads(payload)
            if leads:
                leader = int(found["leaderId"])
                self.row(Kind.CONTROLLER_ACTIVE, replica=leader, detail=str(self.controller_epoch))
                return
            record = _record(found)
        except (ValueError, KeyError, TypeError, RecursionError):
            self.notices.add(f"record {offset}: not as kafka-dump-log prints it", excerpt=payload, byte=self.byte)
            if "PARTITION" in payload[:40]:
                self.state.partitions.clear()
            return
        self.take(record)


def _record(found: dict[str, Any]) -> MetadataRecord:
    """A printed record with the names and types of the binary one.

    Raises:
        KeyError, TypeError: another type, or a field that must be there is not.
    """
    name, data = _TYPES[found["type"]], found["data"]
    layout = _FIELDS.get(name)
    fields: dict[str, Any] = {}
    for field in layout.fields if layout is not None else ():
        head, *rest = field.name.split("_")
        printed = head + "".join(part.capitalize() for part in rest)
        value = data.get(printed, data.get(_OTHERS.get(field.name, printed)))
        if value is None and printed not in data and field.tag is None and field.since == 0:
            raise KeyError(printed)
        default = field.default if value is None else value
        fields[field.name] = tuple(default) if isinstance(default, list) else default
    return MetadataRecord(name, int(found["version"]), fields)
