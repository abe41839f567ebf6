"""The outcome of the transactions in a log, by the markers behind their records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum

from forensics.salvage.content import Content
from forensics.salvage.copies import Batch
from parsers.formats.records import decode_batch


class State(StrEnum):
    """The outcome of a transaction."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    OPEN = "open"  # the copies hold no marker of it


_ENDS = {"COMMIT": State.COMMITTED, "ABORT": State.ABORTED}


class Transactions:
    """The markers of a log. A marker ends what its producer wrote since its marker before (KIP-98).

    Args:
        batches: of the log, in any order.
        content: gives the bytes of batches.
    """

    def __init__(self, batches: Iterable[Batch], content: Content) -> None:
        self._markers: dict[int, list[tuple[int, State]]] = defaultdict(list)
        each_once = {one.identity: one for one in batches if one.control and one.intact}
        for one in sorted(each_once.values()):
            for control in decode_batch(content.of(one)).controls:
                if control.type in _ENDS:
                    self._markers[control.producer_id].append((control.offset, _ENDS[control.type]))
        for markers in self._markers.values():
            markers.sort()

    def state(self, batch: Batch) -> State | None:
        """Return what became of the transaction to which a batch belongs; None if it belongs to none."""
        if not batch.transactional or batch.producer_id is None:
            return None
        markers = self._markers.get(batch.producer_id, [])
        return next((state for offset, state in markers if offset > batch.last), State.OPEN)
