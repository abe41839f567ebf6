"""The states of a partition, by partition epoch (zkVersion), which numbers every change of leader and ISR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forensics.replay.by_epoch import ByEpoch


@dataclass(frozen=True, slots=True)
class PartitionState:
    """A state of a partition, as far as lines state it.

    Attributes:
        leader_epoch: its leader epoch, or None.
        isr: its ISR, or None.
    """

    leader_epoch: int | None = None
    isr: frozenset[int] | None = None


class PartitionStates(dict[int, PartitionState]):
    """The states of a partition that any line states, by partition epoch, in rising order."""

    __slots__ = ("_numbers",)

    _numbers: ByEpoch[int]

    def __init__(self, states: Mapping[int, PartitionState] | None = None) -> None:
        """Take the states by partition epoch, in any order."""
        super().__init__()
        self._take({} if states is None else states)

    def __setitem__(self, number: int, state: PartitionState) -> None:
        """Put a state in its place."""
        self._take({**self, number: state})

    def _take(self, states: Mapping[int, PartitionState]) -> None:
        """Hold these states, in rising order."""
        self.clear()
        self.update((number, states[number]) for number in sorted(states))
        self._numbers = ByEpoch([*self], lambda number: self[number].leader_epoch)

    @property
    def leader_epochs(self) -> Sequence[int]:
        """The leader epochs of all these states, in rising order."""
        return self._numbers.epochs

    def of(self, leader_epoch: int) -> Sequence[int]:
        """Return the partition epochs that any line states for a leader epoch, in rising order."""
        return self._numbers.of(leader_epoch)

    def last_before(self, leader_epoch: int) -> int | None:
        """Return the highest partition epoch that any line states for a lower leader epoch, or None."""
        return self._numbers.last_before(leader_epoch)

    def first_from(self, leader_epoch: int) -> int | None:
        """Return the lowest partition epoch that any line states for a leader epoch or a later one, or None."""
        return self._numbers.first_from(leader_epoch)
