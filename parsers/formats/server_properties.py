"""``server.properties``: the configuration a broker was started with.

Java properties. Only what is written is given: a missing key means the default of that broker's version, which this
reader does not know. Dynamic configuration overrides it (``Kind.BROKER_CONFIG`` of the metadata log, ZooKeeper before).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from parsers.encodings import java_properties
from parsers.encodings.checkpoint_file import INT64_MAX, integer
from parsers.errors import NotThisFormat
from parsers.reading import Notices

NAME: Final = "server-properties"
FILE: Final = "server.properties"

_TELLING: Final = frozenset(
    {"broker.id", "node.id", "process.roles", "zookeeper.connect", "log.dirs", "log.dir", "controller.quorum.voters"}
)


@dataclass(frozen=True, slots=True)
class ServerProperties:
    """Contents of ``server.properties``.

    Attributes:
        values: every key with its value as written. May hold passwords: not for reports.
        lines: line of each key, 1-based.
        notices: rows of ``NOTICES``.
    """

    values: dict[str, str]
    lines: dict[str, int]
    notices: pl.DataFrame

    @property
    def broker_id(self) -> int | None:
        """``node.id`` or ``broker.id``; None where it is not set, or -1 (generated, see ``meta.properties``)."""
        for key in ("node.id", "broker.id"):
            value = self.integer(key)
            if value is not None and value >= 0:
                return value
        return None

    @property
    def roles(self) -> tuple[str, ...]:
        """``process.roles``: broker, controller, or both; empty with ZooKeeper."""
        return self.items("process.roles")

    @property
    def log_dirs(self) -> tuple[str, ...]:
        """``log.dirs``, else ``log.dir``; empty where neither is set."""
        return self.items("log.dirs") or self.items("log.dir")

    @property
    def metadata_log_dir(self) -> str | None:
        """``metadata.log.dir``, else the first log directory, which contains ``__cluster_metadata-0``."""
        return self.values.get("metadata.log.dir") or next(iter(self.log_dirs), None)

    def integer(self, key: str) -> int | None:
        """The key's number, or None where it is not set or no number."""
        value = self.values.get(key)
        return None if value is None else integer(value, least=-INT64_MAX)

    def boolean(self, key: str) -> bool | None:
        """The key as true or false, or None where it is not set or neither."""
        return {"true": True, "false": False}.get(self.values.get(key, "").strip().lower())

    def items(self, key: str) -> tuple[str, ...]:
        """The key's comma-separated parts."""
        return tuple(part.strip() for part in self.values.get(key, "").split(",") if part.strip())


def read_server_properties(data: bytes) -> ServerProperties:
    """Read ``server.properties``.

    Raises:
        NotThisFormat: no key shows that this is a Kafka server's configuration.
    """
    notices = Notices()
    entries, _ = java_properties.entries(data, notices)
    if _TELLING.isdisjoint(entries):
        raise NotThisFormat(f"none of {', '.join(sorted(_TELLING))} is set")
    for key in ("node.id", "broker.id"):
        if key in entries and integer(entries[key].value, least=-1) is None:
            notices.add(f"{key} is not a number that can be", excerpt=entries[key].value, line=entries[key].line)
    return ServerProperties(
        values={key: entry.value for key, entry in entries.items()},
        lines={key: entry.line for key, entry in entries.items()},
        notices=notices.frame(),
    )
