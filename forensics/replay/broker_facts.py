"""Facts about brokers that change how their lines are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from forensics.replay.coverage import ALL_LINES, LinesAtHand
from forensics.replay.protocol import UNKNOWN_BROKER, Answer, Protocol


@dataclass(frozen=True, slots=True)
class BrokerFacts:
    """Facts about a broker that change how its lines are read.

    Attributes:
        protocol: its behaviour where releases differ.
        lines: what is known of its lines, for any replica.
        other_system: its trace names another system, of which it is not known what a clean stop stores.
    """

    protocol: Protocol = UNKNOWN_BROKER
    lines: LinesAtHand = ALL_LINES
    other_system: bool = False


NO_FACTS: Final = BrokerFacts()
"""Of a broker of which nothing is known."""


def fences(facts: Mapping[int, BrokerFacts], broker: int) -> bool:
    """Return whether a broker refuses every fetch that is of another leader epoch (KIP-320)."""
    return facts.get(broker, NO_FACTS).protocol.fences_fetch_sessions is Answer.YES


def truncates_to_hw(facts: Mapping[int, BrokerFacts], broker: int) -> bool:
    """Return whether a broker, as a new follower, truncates to its own high watermark, by its last known release."""
    return facts.get(broker, NO_FACTS).protocol.truncates_by_epoch is Answer.NO
