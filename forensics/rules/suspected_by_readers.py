"""Positions of consumers and followers that suggest a loss: entries of ``suspected.SUSPECTS``."""

from __future__ import annotations

from forensics.replay.signs.sign import Sign
from forensics.rules.suspect import LATE, REMADE, STALE_EPOCH, Suspect

OF_READERS: tuple[Suspect, ...] = (
    Suspect(
        Sign.READER_DIVERGES,
        "committed-data-lost",
        "a consumer had read {written} up to offset {end}, but {asked}{in_epoch} answered that this epoch ends at "
        "{first} in its log: committed {offsets} may be lost",
        "answered a consumer that had read {written} up to offset {end}: in its log this epoch ends at {first}",
        (
            "an application set the position and its leader epoch, and read nothing there",
            "the position comes from another cluster or topic",
            REMADE,
        ),
        before="position",
        after="epoch_end_offset",
        settle=("find out whether that consumer, or another one of its group, had read up to offset {end}",),
    ),
    Suspect(
        Sign.READER_BEYOND_LOG_END,
        "committed-data-lost",
        "a consumer or follower fetched from offset {end}, beyond the log end offset of {asked}, which is {first}: "
        "committed {offsets} may be lost",
        "answered a fetch from offset {end}, beyond its log end offset, {first}",
        (
            "the position was set by hand, or comes from another cluster or topic",
            "the answer came from a follower that was behind its leader",
            REMADE,
        ),
        before="position",
        settle=("find out which client fetched from offset {end}, and whether it had read up to there before",),
    ),
    Suspect(
        Sign.READER_SET_BACK,
        "committed-data-lost",
        "a consumer fetched from offset {end}, and {asked} answered that it is out of range. It was set back to "
        "{first}, the end of the log or its start: committed records among {offsets} may be lost",
        "answered a consumer that offset {end} is out of range; the consumer was set back to {first}",
        (
            STALE_EPOCH,
            "the position was set by hand, or comes from another cluster or topic",
            "the answer came from a follower that was behind its leader",
            REMADE,
        ),
        before="position",
        settle=(
            "find out whether that consumer had read up to offset {end} before",
            "collect log start and log end of {name} at that time, and auto.offset.reset of the consumer",
        ),
    ),
    Suspect(
        Sign.POSITION_BEYOND_LOG_END,
        "committed-data-lost",
        "a consumer group has committed position {end}, but the log ends at {first}: committed {offsets} may be lost",
        "a consumer group has committed position {end}, and the log ends at {first}",
        (
            "the position was set by hand, or copied from another cluster",
            LATE,
            REMADE,
        ),
        before="position",
        settle=("find out whether the group had read up to offset {end}, or its position was set",),
    ),
    Suspect(
        Sign.GROUP_BEYOND_LAST_LEADER,
        "committed-data-lost",
        "a consumer group moved on to position {end}, but the log of broker {replica}, which led last, ends at "
        "{first}: committed {offsets} may be lost",
        "a consumer group committed position {end}",
        (
            "its positions were set by hand, or copied from another cluster",
            "a later leader, of which the evidence has no line, had more records",
            REMADE,
        ),
        before="position",
        settle=("find out whether the group had read up to offset {end}, or its position was set",),
    ),
)
"""In the order of ``Sign``."""
