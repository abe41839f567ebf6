"""High watermark statements by leader epoch: of thousands, few reach above an offset and are early enough."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Sequence

from forensics.replay.history import History, HwStatement, once
from forensics.replay.lineage import UNKNOWN


class StatementsByEpoch:
    """The high watermark statements of a partition.

    Attributes:
        statements: all of them, in their order.
    """

    def __init__(self, statements: Sequence[HwStatement]) -> None:
        self.statements = statements
        known = sorted((one.epoch, place) for place, one in enumerate(statements) if one.epoch > UNKNOWN)
        self._epochs, self._places = [epoch for epoch, _ in known], [place for _, place in known]
        reached = (statements[place].high_watermark for place in self._places)
        self._most = [*itertools.accumulate(reached, max)]
        self._of_unknown_epoch: dict[int, list[int]] = {}
        for place, one in enumerate(statements):
            if one.epoch == UNKNOWN:
                self._of_unknown_epoch.setdefault(one.replica, []).append(place)

    def about(self, replica: int | None, above: int, before: int | None) -> list[HwStatement]:
        """Return the statements that may show that records from an offset on were committed, in their order.

        Args:
            replica: whose statements of unknown epoch count, or None.
            above: the offset: the high watermark is above it.
            before: the leader epoch is below it; None for any epoch, known or not.
        """
        if before is None:
            return [one for one in self.statements if one.high_watermark > above]
        at = bisect_left(self._epochs, before)
        found = list(self._of_unknown_epoch.get(replica, ())) if replica is not None else []
        while at and self._most[at - 1] > above:
            at -= 1
            found.append(self._places[at])
        return [one for place in sorted(found) if (one := self.statements[place]).high_watermark > above]


@once
def statements_by_epoch(history: History) -> StatementsByEpoch:
    """Return the statements of a history by their epochs."""
    return StatementsByEpoch(history.statements)
