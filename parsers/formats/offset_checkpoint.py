"""The offset checkpoints of a log directory: one offset for each partition.

A line is ``topic partition offset`` (``OffsetCheckpointFile``, ``OffsetCheckpoint`` to 0.10). Which offset it is comes
from the file's name alone. The files are written at different times, so a set of them is no snapshot of one moment;
order of lines is arbitrary.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from parsers import limits
from parsers.encodings.checkpoint_file import INT32_MAX, entries, integer
from parsers.errors import NotThisFormat
from parsers.reading import Notices, Reading, observations
from parsers.schema import Kind

NAME: Final = "offset-checkpoint"


class Meaning(NamedTuple):
    """Meaning of the offsets of one file.

    Attributes:
        kind: kind of the rows.
        message: their ``message``.
        column: the column for the offset.
    """

    kind: Kind
    message: str
    column: str


FILES: Final = {
    # high watermark of each replica, written every 5 s (replica.high.watermark.checkpoint.interval.ms)
    "replication-offset-checkpoint": Meaning(Kind.HW_CHECKPOINT, "hw-checkpoint", "hw"),
    # everything below is flushed to disk; written every 60 s, at truncation and at shutdown
    "recovery-point-offset-checkpoint": Meaning(Kind.RECOVERY_POINT, "recovery-point", "offset"),
    # only if the log start is above the first segment's base (0.11+)
    "log-start-offset-checkpoint": Meaning(Kind.LOG_START_CHECKPOINT, "log-start-checkpoint", "log_start"),
    # first offset not yet compacted
    "cleaner-offset-checkpoint": Meaning(Kind.CLEANER_CHECKPOINT, "cleaner-checkpoint", "offset"),
}
"""Meaning of each file, by its name."""


def read_offset_checkpoint(data: bytes, file_name: str) -> Reading:
    """Read one of the four offset checkpoints.

    Args:
        data: the whole file.
        file_name: its name without folders; it decides what the offsets mean.

    Returns:
        One row for each partition, with its line; of two lines for one partition the last counts, as for Kafka.

    Raises:
        NotThisFormat: the name is none of ``FILES``, or the content is no checkpoint.
    """
    meaning = FILES.get(file_name)
    if meaning is None:
        raise NotThisFormat(f"{file_name!r} is not the name of an offset checkpoint")
    notices = Notices()
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for line, fields in entries(data, 3, notices):
        topic, number, value = fields
        if len(rows) >= limits.ROWS.value:
            notices.add(limits.ROWS.told("only the first {} partitions are used"), line=line)
            break
        partition = integer(number, most=INT32_MAX)
        offset = integer(value)
        if partition is None or offset is None:
            what = "partition" if partition is None else "offset"
            notices.add(f"the {what} is not a number that can be", excerpt=" ".join(fields), line=line)
            continue
        earlier = rows.pop((topic, partition), None)
        if earlier is not None:
            reason = f"{topic}-{partition} stands here again; line {earlier['line']} does not count"
            notices.add(reason, excerpt=" ".join(fields), line=line)
        rows[topic, partition] = {
            "topic": topic,
            "partition": partition,
            "kind": meaning.kind,
            "message": meaning.message,
            meaning.column: offset,
            "line": line,
        }
    return Reading(observations(list(rows.values())), notices.frame())
