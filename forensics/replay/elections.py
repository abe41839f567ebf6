"""What is known of the ISR just before each election: the partition epoch (zkVersion) numbers every change of it.

Each write of a partition's state raises the partition epoch by one (PartitionStateStore, PartitionChangeBuilder), be it
an election or a change of the ISR alone. So the state before an election is the one numbered one less than the first
state of its leader epoch, whoever tells of it; and a number that nobody tells is a change that nobody tells.
"""

from __future__ import annotations

from collections.abc import Iterable

from forensics.replay.events import Event
from forensics.replay.history import Epoch, History
from forensics.replay.tenures import broker_set

States = dict[int, tuple[int | None, frozenset[int] | None]]
"""Leader epoch and ISR as far as they are told, by partition epoch."""


def states(events: Iterable[Event]) -> States:
    """Every state of a partition that anybody tells."""
    found: States = {}
    for event in events:
        if event.partition_epoch is None or event.partition_epoch < 0:
            continue
        epoch, isr = found.get(event.partition_epoch, (None, None))
        found[event.partition_epoch] = (
            epoch if epoch is not None else event.leader_epoch,
            isr if isr is not None else broker_set(event.isr),
        )
    return found


def isr_before(history: History, epoch: Epoch) -> frozenset[int] | None:
    """The ISR at the moment at which an epoch's leader was elected; None where nobody tells it."""
    first = min((n for n, (number, _) in history.states.items() if number == epoch.epoch), default=None)
    told = history.states.get(first - 1) if first is not None else None
    if told is not None and told[0] is not None and told[0] >= epoch.epoch:
        return None  # epochs that ran backwards
    return told[1] if told is not None else None


def kept_company(epoch: Epoch) -> bool:
    """Whether a leader began with others in the ISR: an election from outside it leaves the leader alone in it."""
    return epoch.isr_elected and epoch.first_isr is not None and len(epoch.first_isr) > 1
