"""How sure a conclusion is. This module alone decides between proven and inferred.

A conclusion is *proven* where nothing about it is weak; each weakness makes it *inferred*. Code that concludes
something only names what is weak. One weakness is found here and nowhere else: too few independent bearers. One file
can be damaged, cut off, or hold a block of lines twice, so it does not prove alone what happened in a cluster. Two
files that were written apart do: of two brokers, or two logs of one broker (``server.log`` and ``state-change.log``).
Each value on which a conclusion rests needs two such files: if one of the values is wrong, the conclusion is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import polars as pl


class Confidence(StrEnum):
    """How sure a conclusion is."""

    PROVEN = "proven"  # lines or bytes state it
    INFERRED = "inferred"  # something about it is weak, and named
    SUSPECTED = "suspected"  # a line or file is about it, and something else could explain that


class Weakness(StrEnum):
    """Why a conclusion is not proven."""

    HIGH_WATERMARK_IMPLIED = "no line or file states the high watermark, the protocol implies it"
    READ_BY_GROUP_ALONE = "the position of a consumer group alone shows that the records were committed"
    SCRAPED_ALONE = "metrics of an exporter alone show that the records were committed"
    EPOCH_START_IMPLIED = "no line or file states where the leader epoch began"
    END_IMPLIED = "no line or file states how long the log had been, the protocol implies it"
    END_BOUNDED = "no line states how long the log was before"
    EPOCHS_FROM_LINES = "no file states the leader epochs, they follow from the lines"
    UNCLEAN_IMPLIED = "no line says that the election was from outside the ISR"
    NOT_KNOWN_AS_COMMITTED = "nothing else shows that the records were committed"
    ONE_BATCH = "one batch alone states the leader epoch, and no checksum covers it"
    DAMAGED = "the log holds bytes that cannot be what the broker wrote"
    STRANGERS = "the two logs have no batch in common: one of them may be the log of another partition"
    TORN = "the log ends within a batch or in zeros: what followed may have been lost as it was copied"
    END_BY_SEGMENT = "a segment alone shows where the log ends: its end may have been lost as it was copied"
    MAYBE_CHANGED = "the value may have changed since the line that states it"
    MAYBE_RUNNING = "the broker may have run while its files were copied"
    ORDER_BY_CLOCK = "only the times of two files of one broker show which of their lines came first"
    LINES_BETWEEN = "lines may be missing between the two that are compared"
    MAYBE_NOT_COPIED = "a file may be missing from the copy alone"
    MAYBE_DELETED = "records may have been deleted from the start of the log before, in lines that are missing"
    ONE_LINE = "one line alone names one of the leaders: a second line, or another file, would prove it"
    ONE_BEARER = "one file alone shows it: another broker's lines, or another file, would prove it"
    OTHERWISE_EXPLAINED = "something else could explain it"


class Bearers(StrEnum):
    """The bearers that a proof of a rule's findings needs."""

    ONE = "one file"  # the finding is about that file
    TWO = "two files that were written apart"  # the finding is about what happened in the cluster
    AND_LINES = "two files that were written apart and two lines, for each value"  # the values contradict each other


TESTIMONY = frozenset({"trace"})
"""Formats whose values count as stated: the writer of a replication trace vouches for it."""

LOG_IN_TRACE = "broker-log in a trace"
"""Artefact of a line of a trace that repeats a line of a log. It proves what that line proves."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """The source of a value.

    Attributes:
        broker: the broker whose line or file it is, or None.
        artefact: format of the file, as in ``sources.format``.
        path: the file.
        excerpt: the file is a piece of an excerpt: somebody chose its lines and may have put together what does not
            belong together.
        part: what of its broker wrote it, whatever the file is called: the log of a line's logger, or the kind of a
            checkpoint. Empty where that is not known.
        beside: other files of its broker that hold the same line.
    """

    broker: int | None
    artefact: str
    path: str
    excerpt: bool = False
    part: str = ""
    beside: tuple[str, ...] = ()

    def apart_from(self, other: Bearer) -> bool:
        """Return whether the two were written apart, so that no mistake of one is in the other.

        A file without a known owner may be a copy of any other one. A log may be copied under another name, split into
        pieces, or written twice. So the names of files do not count: two lines of one logger are of one log, and two
        files that hold the same line of a broker are one.

        >>> log = Bearer(1, "broker-log", "server.log", part="server.log")
        >>> log.apart_from(Bearer(1, "broker-log", "copy.log", part="server.log"))
        False
        >>> log.apart_from(Bearer(1, "broker-log", "state-change.log", part="state-change.log"))
        True
        """
        if self.broker is None or other.broker is None:
            return False
        if self.excerpt and other.excerpt and self._whole == other._whole:
            return False
        if self.broker != other.broker:
            return True
        if self.artefact == other.artefact == LOG_IN_TRACE:
            return "" not in (self.part, other.part) and self.part != other.part
        if {self.path, *self.beside} & {other.path, *other.beside}:
            return False
        return self.artefact != other.artefact or ("" not in (self.part, other.part) and self.part != other.part)

    @property
    def _whole(self) -> str:
        """The file that an excerpt is a piece of."""
        return self.path.partition("!/")[0]


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


def weighed_rows(weak: Mapping[Weakness, pl.Expr]) -> pl.Expr:
    """The confidence of each row of a frame, by the same decision as ``weighed``.

    Args:
        weak: whether a row has each weakness; null counts as no.
    """
    found = pl.lit(weighed(()).value)
    for weakness, is_so in sorted(weak.items(), key=lambda one: _SUREST_FIRST.index(weighed((one[0],)))):
        found = pl.when(is_so).then(pl.lit(weighed((weakness,)).value)).otherwise(found)
    return found


_SUREST_FIRST = tuple(Confidence)


def weak_points(weak: Mapping[Weakness, bool]) -> tuple[Weakness, ...]:
    """The weaknesses that a conclusion has, of all that it may have.

    >>> weak_points({Weakness.END_BOUNDED: True, Weakness.DAMAGED: False})
    (<Weakness.END_BOUNDED: 'no line states how long the log was before'>,)
    """
    return tuple(weakness for weakness, is_so in weak.items() if is_so)


def borne(bearers: Iterable[Bearer], needed: Bearers, lines: Iterable[int] = ()) -> tuple[Weakness, ...]:
    """The weaknesses that a conclusion has because of the files that show it.

    Args:
        bearers: the files that show it.
        needed: what its proof needs.
        lines: how many lines show each value that the conclusion compares: one digit of one line may be damaged.

    >>> lines = Bearer(1, "broker-log", "b1/server.log")
    >>> borne([lines, lines], Bearers.TWO) == (Weakness.ONE_BEARER,)
    True
    >>> borne([lines, Bearer(2, "broker-log", "b2/server.log")], Bearers.TWO)
    ()

    Values of a trace count as stated. That does not count for what other files state beside it:

    >>> trace, node = Bearer(1, "trace", "t.jsonl"), Bearer(None, "zookeeper-nodes", "zk.txt")
    >>> borne([trace, node], Bearers.AND_LINES, [2, 1]) == (Weakness.ONE_LINE,)
    True
    >>> borne([trace, trace], Bearers.AND_LINES, [1, 1])
    ()
    """
    found = tuple(bearers)
    stated = [one.artefact in TESTIMONY for one in found]
    if needed is Bearers.ONE or (stated and all(stated)):
        return ()
    if not any(stated) and not any(one.apart_from(two) for one, two in combinations(found, 2)):
        return (Weakness.ONE_BEARER,)
    return (Weakness.ONE_LINE,) if needed is Bearers.AND_LINES and min(lines, default=0) < _LINES else ()


_LINES = 2
