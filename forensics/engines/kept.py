"""Histories that were judged: kept as JSON, and read again when a report asks for more than their names."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import Any, Final

from forensics.engines import codec
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History

_READ_AT_ONCE: Final = 64
"""Histories that stay read: a report takes one partition after another."""
_FIELDS: Final = frozenset(one.name for one in fields(History))


class KeptHistory(History):
    """A history of which only the names, and what reports ask of every partition, are in memory as values."""

    __slots__ = ("_holders", "_named", "_text")
    _holders: frozenset[int]
    _named: PartitionFacts
    _text: str

    def __new__(cls, *given: Any, **named: Any) -> History:  # type: ignore[misc]
        """Return a history with all values in memory: what ``dataclasses.replace`` makes of a kept one."""
        return History(*given, **named)

    @classmethod
    def of(cls, text: str, named: PartitionFacts, holders: frozenset[int]) -> KeptHistory:
        """Return the history that was encoded as ``text``.

        Args:
            text: what ``codec.encode`` returned.
            named: its facts, of which only the names count.
            holders: as of the history.
        """
        made: KeptHistory = object.__new__(cls)
        made._text, made._named, made._holders = text, named, holders
        return made

    def __getattr__(self, name: str) -> Any:
        """Return a value that is not in memory; Python asks here for fields that were not set."""
        if name not in _FIELDS:
            raise AttributeError(name)
        return getattr(_read(self._text), name)

    @property
    def holders(self) -> frozenset[int]:
        """As of the history."""
        return self._holders

    @property
    def topic(self) -> str:
        """As in the facts."""
        return self._named.topic

    @property
    def partition(self) -> int:
        """As in the facts."""
        return self._named.partition

    @property
    def topic_id(self) -> str | None:
        """As in the facts."""
        return self._named.topic_id

    @property
    def cluster(self) -> str | None:
        """As in the facts."""
        return self._named.cluster

    @property
    def incarnation(self) -> int:
        """As in the facts."""
        return self._named.incarnation

    @property
    def name(self) -> str:
        """As in the facts."""
        return self._named.name


@lru_cache(maxsize=_READ_AT_ONCE)
def _read(text: str) -> History:
    return codec.decode_history(text)
