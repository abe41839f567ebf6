"""Matches single lines of text against the message catalogue.

Logs are read with expressions over frames (``parsers.text.extract``). An excerpt has few lines. Each is matched
many times: here the same patterns are used with Python's ``re``.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from typing import Final

from parsers.messages import MESSAGES
from parsers.messages.catalogue import Message, Variant

LOGGER: Final = re.compile(r" \([A-Za-z_][A-Za-z0-9_.$]*(?::[0-9]+)?\)(?: \[[^\]]+\])?$")
"""The logger at the end of a line, as the stock layout prints it."""

_QUALIFIED: Final = r"\[?[A-Za-z_][A-Za-z0-9_]*(?:[.][A-Za-z0-9_$]+)+\]?(?: \([^)]*\))?"
_BEFORE: Final = re.compile(
    rf"^ *(?:[0-9]+ +--- +)?(?:\[[^\]=]*\] +)?(?P<logger>{_QUALIFIED}(?::[0-9]+)?(?: *:| --?)? +)?"
)
"""Process, thread and logger, where a layout prints them before the message; the process is Spring Boot's."""


def bare(text: str) -> str:
    """A message without the logger behind it.

    >>> bare("Truncating log orders-0 to offset 50. (kafka.log.Log)")
    'Truncating log orders-0 to offset 50.'
    """
    return LOGGER.sub("", text)


def logger_first(message: str) -> bool:
    """Return whether a layout prints the logger before the message, so that nothing shows where the message ends.

    >>> [logger_first(one) for one in ("o.a.k.c.c.internals.Fetcher - [Consumer clientId=c] Resetting", "Moved")]
    [True, False]
    """
    found = _BEFORE.match(message)
    return found is not None and found["logger"] is not None


def fits(message: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Return the entry that a message fits and the values it states; None if it fits none.

    Args:
        message: without time and level; thread and logger may precede it, the logger may follow it.
    """
    message = bare(message)
    for text in dict.fromkeys((message, _BEFORE.sub("", message))):
        for entry in _candidates(text):
            for variant in entry.variants:
                found = _compiled(variant.regex).match(text)
                if found is not None:
                    return entry.id, _values(found, text, variant)
    return None


def _candidates(text: str) -> Iterator[Message]:
    """Entries of which a text holds what all their wordings hold."""
    return itertools.chain.from_iterable(_by_literal()[literal] for literal in _held(text))


def _held(text: str) -> list[str]:
    """Literals that a text holds, in their order. Asked of each line many times: of few it holds a word."""
    by_word, without = _by_word()
    found = {one for word in by_word.keys() & set(text.split(" ")) for one in by_word[word]}
    return [literal for _, literal in sorted(found.union(without)) if literal in text]


def _values(found: re.Match[str], text: str, variant: Variant) -> tuple[tuple[str, str], ...]:
    parts = (part for each in variant.each for part in _compiled(each.regex).finditer(text))
    return tuple(pair for part in (found, *parts) for pair in _stated(part))


def _stated(found: re.Match[str]) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in found.groupdict().items() if value is not None)


EXCEPTION: Final = re.compile(
    r"^\s*(?:Caused by: |Suppressed: )?(?:[A-Za-z_][A-Za-z0-9_]*\.)+[A-Za-z_][A-Za-z0-9_$]*: (?=\S)"
)
"""The class of an exception, at the beginning of its line."""


def thrown(text: str) -> str | None:
    """Return the message of an exception in the catalogue, without its class; None if the text is none.

    >>> thrown("java.io.IOException: No space left on device")
    'No space left on device'
    """
    said = bare(EXCEPTION.sub("", text, count=1))
    entries = (entry for entry in _candidates(said) if entry.thrown)
    fitting = (entry for entry in entries if any(_compiled(one.regex).match(said) for one in entry.variants))
    return said if next(fitting, None) is not None else None


def known(message: str) -> bool:
    """Return whether a message fits an entry of the catalogue."""
    return fits(message) is not None


def speaks(text: str) -> bool:
    """Return whether a text contains what only lines about replication contain."""
    return any(literal in text for literal in _by_literal())


@functools.cache
def _by_literal() -> dict[str, tuple[Message, ...]]:
    found: dict[str, list[Message]] = {}
    for message in MESSAGES:
        for literal in message.literals:
            found.setdefault(literal, []).append(message)
    return {literal: tuple(messages) for literal, messages in found.items()}


@functools.cache
def _by_word() -> tuple[dict[str, list[tuple[int, str]]], list[tuple[int, str]]]:
    """All literals with their places among all: by the longest word that has a space on both sides; and those without
    such a word.
    """
    by_word: dict[str, list[tuple[int, str]]] = {}
    without = []
    for place, literal in enumerate(_by_literal()):
        word = max(literal.split(" ")[1:-1], key=len, default="")
        if word:
            by_word.setdefault(word, []).append((place, literal))
        else:
            without.append((place, literal))
    return by_word, without


@functools.cache
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex)
