"""The in-sync replicas of a partition: from a column to a set, and to the text that Kafka prints."""

from __future__ import annotations

import functools


@functools.lru_cache(maxsize=4096)
def members(text: str) -> frozenset[int]:
    """Return the brokers of an ISR column.

    >>> sorted(members("3,1")), members("")
    ([1, 3], frozenset())
    """
    return frozenset(int(part) for part in text.split(",") if part)


def broker_set(text: str | None) -> frozenset[int] | None:
    """Return the brokers of an ISR column; None where nothing was printed."""
    return None if text is None else members(text)


def isr_text(isr: frozenset[int]) -> str:
    """An ISR as Kafka prints it.

    >>> isr_text(frozenset({3, 1})), isr_text(frozenset())
    ('[1,3]', '[]')
    """
    return f"[{','.join(map(str, sorted(isr)))}]"
