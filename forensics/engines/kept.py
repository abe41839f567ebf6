"""Histories that were judged: kept as JSON, and read again when a report asks for more than their names."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import Any, Final

from forensics.engines import codec
from forensics.replay.history import History

_READ_AT_ONCE: Final = 64
"""Histories that stay read: a report takes one partition after another."""
_FIELDS: Final = frozenset(one.name for one in fields(History))


class KeptHistory(History):
    """A history of which only the names are in memory as values."""

    __slots__ = ("_text",)
    _text: str

    def __new__(cls, *_given: object, **_named: object) -> KeptHistory:
        """Return one without any value."""
        return object.__new__(cls)

    @classmethod
    def of(cls, text: str, **names: Any) -> KeptHistory:
        """Return the history that was encoded as ``text``.

        Args:
            text: what ``codec.encode`` returned.
            names: the values that are asked for most often, by field.
        """
        made = cls.__new__(cls)
        made._text = text
        for name, value in names.items():
            setattr(made, name, value)
        return made

    def __getattr__(self, name: str) -> Any:
        """Return a value that is not in memory; Python asks here for fields that were not set."""
        if name not in _FIELDS:
            raise AttributeError(name)
        return getattr(_read(self._text), name)


@lru_cache(maxsize=_READ_AT_ONCE)
def _read(text: str) -> History:
    return codec.decode_history(text)
