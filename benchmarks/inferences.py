"""How often each inference is drawn: values and findings of recorded clusters that rest on it.

    python -m benchmarks.inferences [PATH ...]

Values are where leader epochs begin, high watermarks, truncations and shortened logs. An inference on which no value
rests has no case behind it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.same.corpus import recorded
from forensics.engines.local import scan
from forensics.replay.history import History
from forensics.replay.inferences import INFERENCES, Inferred
from forensics.result import Result


@dataclass(slots=True)
class Drawn:
    """How often each inference was drawn.

    Attributes:
        values, findings: that rest on it.
        clusters: that have such a value.
    """

    values: Counter[Inferred] = field(default_factory=Counter)
    findings: Counter[Inferred] = field(default_factory=Counter)
    clusters: Counter[Inferred] = field(default_factory=Counter)

    def add(self, result: Result) -> None:
        """Count those of one cluster."""
        found = Counter(one for partition in result.partitions for by in rests(partition.history) for one in by)
        self.values += found
        self.clusters.update(found.keys())
        self.findings.update(one for finding in result.findings for one in finding.rests_on)


def rests(history: History) -> Iterator[tuple[Inferred, ...]]:
    """Yield the inferences on which each value of a partition rests."""
    yield from (epoch.begins.by for epoch in history.epochs.values())
    yield from (one.by for one in history.statements)
    removed = (*history.truncations, *history.truncations_of_unknown_extent, *history.shortened_logs)
    yield from (one.before.by for one in removed)


def drawn(paths: Iterable[str]) -> Drawn:
    """Scan each path by itself, and count."""
    counted = Drawn()
    for path in paths:
        counted.add(scan([path]))
    return counted


def table(counted: Drawn) -> list[str]:
    """Return a row for each inference, in the order of the table."""
    head = f"{'inference':<30}{'values':>8}{'clusters':>10}{'findings':>10}"
    return [
        head,
        *(
            f"{one.id.value:<30}{counted.values[one.id]:>8,}{counted.clusters[one.id]:>10}{counted.findings[one.id]:>10}"
            for one in INFERENCES
        ),
    ]


def main(given: Sequence[str]) -> None:
    """Print the table."""
    print("\n".join(table(drawn(given or [one.path for one in recorded()]))))


if __name__ == "__main__":
    main(sys.argv[1:])
