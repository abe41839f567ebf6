"""The words of each version: what its brokers and its controller print about an event, at which level and where."""

from __future__ import annotations

from forensics.model.protocol import UnknownName
from forensics.model.wording.v0_10 import V010
from forensics.model.wording.v1_1 import V11
from forensics.model.wording.v2_0 import V20
from forensics.model.wording.v2_8 import V28
from forensics.model.wording.v3_9 import V39
from forensics.model.wording.words import Line, Scene, Words

WORDINGS: tuple[type[Words], ...] = (V010, V11, V20, V28, V39)


def wording_of(version: str) -> type[Words]:
    """Return the wording of a Kafka version.

    Raises:
        UnknownName: The model does not have that version's wording; the message lists those it has.
    """
    for words in WORDINGS:
        if words.version == version:
            return words
    raise UnknownName(f"no wording of Kafka {version}; there are {', '.join(words.version for words in WORDINGS)}")


__all__ = ["WORDINGS", "Line", "Scene", "Words", "wording_of"]
