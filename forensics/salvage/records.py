"""Records as JSON lines, and back: the form in which salvaged records are kept, read and produced again.

One line is one record. Its members are ``topic``, ``partition``, ``offset``, ``leader_epoch``, ``timestamp``,
``timestamp_type``, ``key``, ``value`` and ``headers``. ``transaction`` is committed, aborted, open or null. ``copies``
names the brokers that have the record, ``origin`` the path, byte and SHA-256 of the file that it was read from.

``timestamp`` is in milliseconds since 1970 UTC, or null where the message format has none. Keys, values and those of
headers are text where they are UTF-8, null where they are missing, and otherwise an object with base64.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from forensics.errors import UnreadableInput
from forensics.named_files import finite_json
from forensics.outputs import as_json
from forensics.salvage.transactions import State
from parsers.encodings.checkpoint_file import INT64_MAX
from parsers.formats.records import Record

_TIMESTAMPS: Final = {0: "create", 1: "append"}


class Origin(NamedTuple):
    """The place that a record comes from.

    Attributes:
        topic, partition: its log.
        leader_epoch: of its batch; None before message format v2.
        timestamp_type: 0 create time, 1 append time, None without.
        transaction: what became of its transaction; None if it is in none.
        copies: brokers whose copies have it.
        path, byte, sha256: file and place of its batch.
    """

    topic: str
    partition: int
    leader_epoch: int | None
    timestamp_type: int | None
    transaction: State | None
    copies: tuple[int, ...]
    path: str
    byte: int
    sha256: str


class Kept(NamedTuple):
    """A record as it is read back from a line.

    Attributes:
        record: the record.
        transaction: what became of its transaction; None if it was in none.
        where: file and line, for errors.
    """

    record: Record
    transaction: State | None
    where: str


def line(record: Record, origin: Origin) -> str:
    """Return a record as one line."""
    return (
        as_json(
            {
                "topic": origin.topic,
                "partition": origin.partition,
                "offset": record.offset,
                "leader_epoch": origin.leader_epoch,
                "timestamp": None if record.timestamp < 0 else record.timestamp,
                "timestamp_type": _TIMESTAMPS.get(-1 if origin.timestamp_type is None else origin.timestamp_type),
                "key": _said(record.key),
                "value": _said(record.value),
                "headers": [[name, _said(value)] for name, value in record.headers],
                "transaction": origin.transaction,
                "copies": list(origin.copies),
                "origin": {"path": origin.path, "byte": origin.byte, "sha256": origin.sha256},
            }
        )
        + "\n"
    )


def read(lines: Iterable[str], name: str) -> Iterator[Kept]:
    """Read records back.

    Args:
        lines: of the file.
        name: of the file, for errors.

    Raises:
        UnreadableInput: a line is no record.
    """
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        where = f"{name}:{number}"
        try:
            yield _kept(finite_json(text), where)
        except (ValueError, TypeError, KeyError, RecursionError, binascii.Error) as error:
            raise UnreadableInput(
                f"{where}: is no record as forensics salvage writes it ({type(error).__name__}: {error})"
            ) from None


def _kept(said: dict[str, Any], where: str) -> Kept:
    offset, stamp = int(said["offset"]), -1 if said["timestamp"] is None else int(said["timestamp"])
    if not 0 <= offset <= INT64_MAX or not -1 <= stamp <= INT64_MAX:
        raise ValueError("Kafka has no such offset or timestamp")
    headers = tuple((str(name), _bytes(value)) for name, value in said["headers"])
    record = Record(offset, stamp, _bytes(said["key"]), _bytes(said["value"]), headers)
    state = said["transaction"]
    return Kept(record, None if state is None else State(state), where)


def _said(data: bytes | None) -> str | dict[str, str] | None:
    r"""Return bytes as JSON has them.

    >>> _said(None), _said("ä".encode()), _said(b"\xff")
    (None, 'ä', {'base64': '/w=='})
    """
    if data is None:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _bytes(said: str | dict[str, str] | None) -> bytes | None:
    if said is None:
        return None
    return said.encode("utf-8") if isinstance(said, str) else base64.b64decode(said["base64"], validate=True)
