"""Messages of plugins: they are data, so what is wrong with one shows before any line is read."""

from __future__ import annotations

import re

from parsers.messages.catalogue import Message
from parsers.plugins import Unfit, fitting
from parsers.schema import OBSERVATIONS, Kind

_MORE = frozenset({"tp", "bracketed"})


def admitted(entry: object, plugin: str) -> Message:
    """Return the message.

    Raises:
        Unfit: it is no ``Message``, or one of its patterns cannot be used.
    """
    message = fitting(entry, Message, lambda one: str(one.id).lower())
    if message.kind not in {*Kind} or not message.variants or not all(message.literals):
        raise Unfit(f"{message.id} has no kind, no literal or no variant")
    for variant in message.variants:
        for pattern in (variant.regex, *(one.regex for one in variant.each)):
            _usable(message.id, pattern)
        _columns(message.id, variant.fixed)
    return message


def _usable(name: str, pattern: str) -> None:
    """Make sure that both engines of patterns take it, and that its groups are columns.

    Raises:
        Unfit: they do not.
    """
    import polars as pl

    try:
        groups = re.compile(pattern).groupindex
        pl.Series([""]).str.contains(pattern)
    except (re.error, TypeError, pl.exceptions.PolarsError) as error:
        raise Unfit(f"{name} has a pattern that cannot be used ({' '.join(str(error).split())[:80]})") from None
    _columns(name, groups)


def _columns(name: str, named: object) -> None:
    strange = sorted(set(named) - {*OBSERVATIONS, *_MORE})  # type: ignore[call-overload]
    if strange:
        raise Unfit(f"{name} names {strange[0]}, which is no column of OBSERVATIONS")
