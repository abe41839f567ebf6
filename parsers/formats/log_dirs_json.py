"""Output of ``kafka-log-dirs --describe``: size and lag of each replica by log directory (1.0+, KIP-113).

One line of JSON after two lines of words (``kafka.admin.LogDirsCommand``). ``offsetLag`` is how far the log end offset
is below the partition's high watermark, or, for a future log, below the end of the current one. 0 shows nothing about
the log end offset.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from parsers.encodings.checkpoint_file import integer
from parsers.errors import NotThisFormat
from parsers.reading import Notices, Reading, observations
from parsers.schema import Kind

NAME: Final = "log-dirs"
_INT32: Final = 1 << 31


def read_log_dirs(data: bytes) -> Reading:
    """Read the whole output.

    Raises:
        NotThisFormat: there is no such JSON in it.
    """
    notices = Notices()
    text = data.decode("utf-8", errors="replace")
    line, content = _json(text)
    rows = [
        {"line": line, "message": NAME, **row}
        for broker in _dicts(content.get("brokers"))
        for directory in _dicts(broker.get("logDirs"))
        for row in _described(_number(broker.get("broker")), directory, line, notices)
    ]
    return Reading(observations(rows), notices.frame())


def _described(witness: int | None, directory: dict[str, Any], line: int, notices: Notices) -> Iterator[dict[str, Any]]:
    """Yield the failure of a log directory, then each replica in it; an entry without a partition is noted.

    Args:
        witness: broker whose directory it is.
        directory: its description.
        line: its number in the file.
        notices: where damage goes.
    """
    path, error = directory.get("logDir"), directory.get("error")
    base = {"witness": witness, "log_dir": path if isinstance(path, str) else None}
    if error:
        yield {**base, "kind": Kind.DIR_FAILED, "detail": str(error)}
    for entry in _dicts(directory.get("partitions")):
        place = _partition(str(entry.get("partition", "")))
        if place is None:
            notices.add("an entry without a partition", excerpt=str(entry), line=line)
            continue
        topic, partition = place
        replica = {"topic": topic, "partition": partition, "replica": witness}
        yield {**base, **replica, "kind": Kind.LOG_DIR_DESCRIBED, "detail": _detail(entry)}


def _partition(name: str) -> tuple[str, int] | None:
    """Return topic and partition of a name such as ``orders-0``; None for another text."""
    topic, _, partition = name.rpartition("-")
    number = integer(partition, most=_INT32 - 1)
    return (topic, number) if topic and number is not None else None


def _detail(entry: dict[str, Any]) -> str:
    state = " future" if entry.get("isFuture") is True else ""
    return f"size={entry.get('size')} offsetLag={entry.get('offsetLag')}{state}"


def _json(text: str) -> tuple[int, dict[str, Any]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("{"):
            continue
        try:
            content = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict) and any("logDirs" in broker for broker in _dicts(content.get("brokers"))):
            return number, content
    raise NotThisFormat("no JSON of kafka-log-dirs --describe")


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and -1 < value < _INT32 else None
