"""``meta.properties``: which broker and cluster a log directory belongs to.

Java properties. Version 0 (``BrokerMetadataCheckpoint``): ``broker.id``, and ``cluster.id`` in newer brokers (2.8.2
writes it, 1.1.1 does not). Version 1 (KRaft, ``MetaProperties``): ``node.id``, ``cluster.id``, ``directory.id`` (3.7+).
A missing version is 0. The comment gives the time of the last write, in the broker's zone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from parsers.encodings import java_properties
from parsers.encodings.checkpoint_file import INT32_MAX, integer
from parsers.errors import NotThisFormat
from parsers.reading import Notices

NAME: Final = "meta-properties"
FILE: Final = "meta.properties"

WRITTEN: Final = "#"
"""Key of the date in the comment among the values; no key begins with it (java.util.Properties)."""

_KNOWN: Final = frozenset({"version", "broker.id", "node.id", "cluster.id", "directory.id"})


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """Contents of ``meta.properties``; a missing value is None.

    Attributes:
        values: every key with its value as written.
        version: layout version; 0 and 1 are known.
        broker_id: ``node.id`` or ``broker.id``.
        cluster_id: ``cluster.id``.
        directory_id: ``directory.id``, the id of this log directory.
        written: the date comment as printed, with its zone.
        notices: rows of ``NOTICES``.
    """

    values: dict[str, str]
    version: int | None
    broker_id: int | None
    cluster_id: str | None
    directory_id: str | None
    written: str | None
    notices: pl.DataFrame


def read_meta_properties(data: bytes) -> MetaProperties:
    """Read ``meta.properties``.

    Raises:
        NotThisFormat: the content has none of its keys. An empty or zero-filled file is damage, not another format.
    """
    notices = Notices()
    entries, comments = java_properties.entries(data, notices)
    if data.strip(b"\0 \r\n") and _KNOWN.isdisjoint(entries) and not _cut(entries, comments):
        raise NotThisFormat(f"none of {', '.join(sorted(_KNOWN))} is set")

    def number(key: str, least: int) -> int | None:
        entry = entries.get(key)
        if entry is None:
            return None
        value = integer(entry.value, least=least, most=INT32_MAX)
        if value is None:
            notices.add(f"{key} is not a number that can be", excerpt=entry.value, line=entry.line)
        return value

    version = number("version", 0) if "version" in entries else 0
    if version not in (0, 1, None):
        notices.add(f"version {version} is unknown, 0 and 1 are known", line=entries["version"].line)
    # -1 asks for a generated id and is never what a broker stores.
    node_id, broker_id = number("node.id", 0), number("broker.id", 0)
    if "node.id" not in entries and "broker.id" not in entries:
        notices.add("neither node.id nor broker.id is set: the file is incomplete or was written by hand", line=1)
    if data and not data.endswith(b"\n"):
        notices.add("the last line has no line end, so it may be incomplete", line=data.count(b"\n") + 1)
    return MetaProperties(
        values={key: entry.value for key, entry in entries.items()},
        version=version,
        broker_id=node_id if node_id is not None else broker_id,
        cluster_id=_text(entries, "cluster.id"),
        directory_id=_text(entries, "directory.id"),
        written=next((comment for comment in comments if comment), None),
        notices=notices.frame(),
    )


def _text(entries: dict[str, java_properties.Entry], key: str) -> str | None:
    entry = entries.get(key)
    return entry.value if entry and entry.value else None


def _cut(entries: dict[str, java_properties.Entry], comments: list[str]) -> bool:
    """Return whether the file may be incomplete: nothing but comments, or a truncated key."""
    return all(any(known.startswith(key) for known in _KNOWN) for key in entries) and bool(entries or comments)
