"""How sure a conclusion is. This module alone decides between proven and inferred.

A conclusion is *proven* where nothing about it is weak; each weakness makes it *inferred*. Code that concludes
something only names what is weak. One weakness is found here and nowhere else: too few independent bearers. One file
can be damaged, cut off, or hold a block of lines twice, so it does not prove alone what happened in a cluster. Two
files that were written apart do: of two brokers, or two logs of one broker (``server.log`` and ``state-change.log``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Confidence(StrEnum):
    """How sure a conclusion is."""

    PROVEN = "proven"  # lines or bytes state it
    INFERRED = "inferred"  # something about it is weak, and named
    SUSPECTED = "suspected"  # a line or file is about it, and something else could explain that


class Weakness(StrEnum):
    """Why a conclusion is not proven."""

    HIGH_WATERMARK_IMPLIED = "no line or file states the high watermark, the protocol implies it"
    EPOCH_START_IMPLIED = "no line or file states where the leader epoch began"
    END_IMPLIED = "no line or file states how long the log had been, the protocol implies it"
    END_BOUNDED = "no line states how long the log was before"
    EPOCHS_FROM_LINES = "no file states the leader epochs, they follow from the lines"
    UNCLEAN_IMPLIED = "no line says that the election was from outside the ISR"
    NOT_KNOWN_AS_COMMITTED = "nothing else shows that the records were committed"
    ONE_BATCH = "one batch alone states the leader epoch, and no checksum covers it"
    DAMAGED = "the log holds bytes that cannot be what the broker wrote"
    MAYBE_RUNNING = "the broker may have run while its files were copied"
    LINES_BETWEEN = "lines may be missing between the two that are compared"
    MAYBE_NOT_COPIED = "a file may be missing from the copy alone"
    ONE_BEARER = "one file alone shows it: another broker's lines, or another file, would prove it"
    OTHERWISE_EXPLAINED = "something else could explain it"


class Bearers(StrEnum):
    """The bearers that a proof of a rule's findings needs."""

    ONE = "one file"  # the finding is about that file
    TWO = "two files that were written apart"  # the finding is about what happened in the cluster


TESTIMONY = frozenset({"trace"})
"""Formats whose values count as stated: the writer of a replication trace vouches for it."""

_LOG_NAME = re.compile(r"[^/]*?\.(?:log|out|txt|json)(?=[.-]|$)")


@dataclass(frozen=True, slots=True)
class Bearer:
    """The source of a value.

    Attributes:
        broker: the broker whose line or file it is, or None.
        artefact: format of the file, as in ``sources.format``.
        path: the file.
        excerpt: the file is a piece of an excerpt: somebody chose its lines and may have put together what does not
            belong together.
    """

    broker: int | None
    artefact: str
    path: str
    excerpt: bool = False

    @property
    def written_as(self) -> tuple[object, ...]:
        """A key, equal for bearers that are not independent: one excerpt, or one log of one broker, rotated or not.

        >>> Bearer(1, "broker-log", "b1/server.log.2024-05-01-10").written_as
        (1, 'broker-log', 'server.log')
        >>> Bearer(1, "broker-log", "ticket.txt!/broker1", excerpt=True).written_as
        ('excerpt', 'ticket.txt')
        """
        if self.excerpt:
            return ("excerpt", self.path.partition("!/")[0])
        name = self.path.rpartition("/")[2]
        found = _LOG_NAME.match(name)
        return (self.broker, self.artefact, found.group() if found else name)


def weighed(weak: Iterable[Weakness]) -> Confidence:
    """The confidence of a conclusion.

    Args:
        weak: what is weak about it.

    >>> [weighed(weak).value for weak in ([], [Weakness.END_BOUNDED], [Weakness.OTHERWISE_EXPLAINED])]
    ['proven', 'inferred', 'suspected']
    """
    found = frozenset(weak)
    if Weakness.OTHERWISE_EXPLAINED in found:
        return Confidence.SUSPECTED
    return Confidence.INFERRED if found else Confidence.PROVEN


def decides(confidence: Confidence) -> bool:
    """Return whether a conclusion answers its question; what is only suspected leaves it open."""
    return confidence is not Confidence.SUSPECTED


def weak_points(weak: Mapping[Weakness, bool]) -> tuple[Weakness, ...]:
    """The weaknesses that a conclusion has, of all that it may have.

    >>> weak_points({Weakness.END_BOUNDED: True, Weakness.DAMAGED: False})
    (<Weakness.END_BOUNDED: 'no line states how long the log was before'>,)
    """
    return tuple(weakness for weakness, is_so in weak.items() if is_so)


def borne(bearers: Iterable[Bearer], needed: Bearers) -> tuple[Weakness, ...]:
    """The weaknesses that a conclusion has because of the files that show it.

    Args:
        bearers: the files that show it.
        needed: what its proof needs.

    >>> lines = Bearer(1, "broker-log", "b1/server.log")
    >>> borne([lines, lines], Bearers.TWO) == (Weakness.ONE_BEARER,)
    True
    >>> borne([lines, Bearer(1, "broker-log", "b1/state-change.log")], Bearers.TWO)
    ()
    """
    found = tuple(bearers)
    if needed is Bearers.ONE or any(one.artefact in TESTIMONY for one in found):
        return ()
    return () if len({one.written_as for one in found}) > 1 else (Weakness.ONE_BEARER,)
