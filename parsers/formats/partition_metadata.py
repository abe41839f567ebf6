"""``partition.metadata``: the topic id of a partition directory (2.8+).

Two lines, ``version: 0`` and ``topic_id: <22 characters>``, the last one without an end (``PartitionMetadataFile``,
KIP-516). It ties a directory to one incarnation of a topic name.
"""

from __future__ import annotations

import re
from typing import Final

from parsers.errors import NotThisFormat
from parsers.reading import Notices, Reading, observations
from parsers.schema import NO_TOPIC_ID, Kind

NAME: Final = "partition-metadata"
FILE: Final = "partition.metadata"

_LINE: Final = re.compile(r"(?P<key>[a-z_]+):\s+(?P<value>\S+)\s*")
_TOPIC_ID: Final = re.compile(r"[A-Za-z0-9_-]{22}")


def read_partition_metadata(data: bytes, topic: str, partition: int) -> Reading:
    """Read the topic id.

    Args:
        data: the whole file.
        topic: topic of the directory that holds the file.
        partition: partition of that directory.

    Returns:
        One TOPIC_ID row, or none and a notice if the id is incomplete, zero or of an unknown version.

    Raises:
        NotThisFormat: the content does not begin with ``version:``.
    """
    notices = Notices()
    if not data.strip(b"\0"):
        notices.add("the file is empty or zero bytes: the topic id was lost", line=1)
        return Reading(observations([]), notices.frame())
    lines = data.decode("utf-8", errors="replace").split("\n")
    if not lines[0].startswith("version:"[: len(lines[0])]):
        raise NotThisFormat("partition.metadata begins with 'version:'")
    values: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(lines, start=1):
        found = _LINE.fullmatch(line)
        if found:
            values[found["key"]] = found["value"], number
        elif line.strip():
            notices.add("not a line of 'key: value'", excerpt=line, line=number)
    version, version_line = values.get("version", ("", 1))
    topic_id, place = values.get("topic_id", ("", 2))
    if version != "0":
        notices.add(f"version {version!r} is unknown, only 0 is", excerpt=lines[0], line=version_line)
    elif not topic_id:
        notices.add("the topic id is missing", line=place)
    elif not _TOPIC_ID.fullmatch(topic_id) or topic_id == NO_TOPIC_ID:
        notices.add("the topic id is incomplete, zero or no id", excerpt=topic_id, line=place)
    else:
        row = {"topic": topic, "partition": partition, "topic_id": topic_id, "kind": Kind.TOPIC_ID, "message": NAME}
        return Reading(observations([{**row, "line": place}]), notices.frame())
    return Reading(observations([]), notices.frame())
