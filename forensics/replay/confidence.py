"""How sure a conclusion is, decided in one place: from what is weak about it, and what bears it.

Proven takes lines or bytes for every value. What counts as enough of them is for this module to say; whoever concludes
something only names what is weak about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from forensics.replay.history import Confidence


class Weakness(StrEnum):
    """Why a conclusion is not proven."""

    HIGH_WATERMARK_IMPLIED = "no line or file states the high watermark, the protocol implies it"
    EPOCH_START_IMPLIED = "no line or file states where the leader epoch began"
    END_BOUNDED = "no line states how long the log was before"
    UNCLEAN_IMPLIED = "no line says that the election was from outside the ISR"
    NOT_KNOWN_AS_COMMITTED = "nothing else shows that the records were committed"
    ONE_BATCH = "one batch alone states the leader epoch, and no checksum covers it"
    DAMAGED = "the log holds bytes that cannot be what the broker wrote"
    MAYBE_RUNNING = "the broker may have run while its files were copied"
    LINES_BETWEEN = "lines may be missing between the two that are compared"
    MAYBE_NOT_COPIED = "a file may be missing from the copy alone"


@dataclass(frozen=True, slots=True)
class Bearer:
    """What bears a value.

    Attributes:
        broker: the broker whose word or file it is, or None.
        artefact: format of the file, as in ``sources.format``.
        path: the file.
    """

    broker: int | None
    artefact: str
    path: str


def weighed(weak: Mapping[Weakness, bool]) -> Confidence:
    """The confidence of a conclusion.

    Args:
        weak: what may be weak about it, and whether it is.

    >>> weighed({Weakness.END_BOUNDED: False}).value, weighed({Weakness.END_BOUNDED: True}).value
    ('proven', 'inferred')
    """
    return Confidence.INFERRED if any(weak.values()) else Confidence.PROVEN
