"""Runs of the model that are compared: how many of each kind, drawn as in the oracle's tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

TOGETHER = 125
"""Runs that are judged by one scan; each has brokers, a controller and a topic of its own."""
PROTOCOLS = ("hw", "epoch", "epoch-279-2.0", "epoch-279", "fetch-14704", "fetch")
"""Protocols and variants of ``forensics.model.protocol.EVERY``."""
LOGGINGS = ("default", "replication")


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to draw runs.

    Attributes:
        name: what it is.
        seeds: its first seed.
        share: runs of each protocol and logging, of 10,000 in all.
        loggings: loggings, or ``trace`` for the trace alone.
        weights: name of the table in ``forensics.model.random_runs``.
        settled: all faults end at last.
        cut: a part of the evidence of each run is taken away.
    """

    name: str
    seeds: int
    share: int
    loggings: tuple[str, ...] = LOGGINGS
    weights: str = "CRUEL"
    settled: bool = True
    cut: bool = False


KINDS: tuple[Kind, ...] = (
    Kind("random", 0, 375),
    Kind("less-evidence", 200_000, 125, cut=True),
    Kind("damaged", 400_000, 200, loggings=("default",), weights="RUINOUS"),
    Kind("in-the-middle", 600_000, 100, settled=False),
    Kind("transactions", 800_000, 75, weights="OPEN_ENDED"),
    Kind("trace", 1_000_000, 117, loggings=("trace",)),
)


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs that are judged by one scan."""

    kind: Kind
    protocol: str
    logging: str
    seeds: tuple[int, int]

    @property
    def name(self) -> str:
        """Such as ``model/random-fetch-default-0``."""
        return f"model/{self.kind.name}-{self.protocol}-{self.logging}-{self.seeds[0]}"


def batches(count: int) -> list[Batch]:
    """At least so many runs, in batches."""
    found = []
    for kind in KINDS:
        for number, protocol in enumerate(PROTOCOLS):
            for place, logging in enumerate(kind.loggings):
                first = kind.seeds + 10_000 * (2 * number + place)
                after = first + math.ceil(kind.share * count / 10_000)
                starts = range(first, after, TOGETHER)
                found += [Batch(kind, protocol, logging, (at, min(at + TOGETHER, after))) for at in starts]
    return found
