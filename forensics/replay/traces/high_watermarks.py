"""Lines of a trace that state a high watermark, and the replica that it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple

from forensics.replay.facts.trace_lines import TraceLine
from parsers.schema import Kind


class Whose(Enum):
    """The owner of a high watermark that a field states, and the moment."""

    OWN = "of the replica, at this moment"
    WRITTEN = "of the replica, in a checkpoint file"
    KEPT = "of the replica, as the role or the process before left it"
    LEADERS = "of the leader that the replica follows"
    LEAST = "the least that the high watermark of the replica can be"


class Field(NamedTuple):
    """A field of a kind of line that states a high watermark.

    Attributes:
        kind: the kind.
        column: the column of ``OBSERVATIONS`` that holds it.
        whose: whose it is.
    """

    kind: Kind
    column: str
    whose: Whose


STATING: Final = (
    Field(Kind.BECOME_LEADER, "hw", Whose.OWN),
    Field(Kind.BECOME_FOLLOWER, "hw", Whose.KEPT),
    Field(Kind.ROLE_UNCHANGED, "hw", Whose.OWN),
    Field(Kind.HW, "hw", Whose.OWN),
    Field(Kind.LEO, "hw", Whose.OWN),
    Field(Kind.STATE, "hw", Whose.OWN),
    Field(Kind.APPEND, "hw", Whose.OWN),
    Field(Kind.ISR_SHRINK, "hw", Whose.OWN),
    Field(Kind.ISR_EXPAND, "hw", Whose.OWN),
    Field(Kind.HW_REGRESSED, "hw", Whose.OWN),
    Field(Kind.LEADER_HW, "leader_hw", Whose.LEADERS),
    Field(Kind.LEADER_HW, "hw", Whose.OWN),
    Field(Kind.FOLLOWER_FETCHED, "leader_hw", Whose.LEADERS),
    Field(Kind.HW_LOADED, "hw", Whose.KEPT),
    Field(Kind.HW_CHECKPOINT, "hw", Whose.WRITTEN),
    Field(Kind.PRODUCED, "hw", Whose.LEAST),
    Field(Kind.CONSUMED, "hw", Whose.LEAST),
)
"""Every field that states a high watermark, in the order in which those of one line are taken."""

_OF_KIND: Final[Mapping[str, tuple[Field, ...]]] = MappingProxyType(
    {kind.value: tuple(one for one in STATING if one.kind is kind) for kind in {one.kind: None for one in STATING}}
)

ABOUT_HW: Final = tuple(_OF_KIND)
"""Kinds of line that state a high watermark."""

MAY_RAISE: Final = frozenset(
    one.kind.value for one in STATING if one.whose in (Whose.LEADERS, Whose.WRITTEN, Whose.LEAST)
)
"""Kinds after which a replica may have a higher high watermark than it has stated."""

AT_LEAST = frozenset(one.kind.value for one in STATING if one.whose is Whose.LEAST)
"""Kinds that state the least that the high watermark of a replica can be."""


def stated(line: TraceLine) -> Iterator[tuple[Whose, int]]:
    """Yield each high watermark that a line states."""
    for one in _OF_KIND.get(line.kind, ()):
        value = line.leader_hw if one.column == "leader_hw" else line.hw
        if value is not None:
            yield one.whose, value
