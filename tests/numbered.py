"""States of a partition by partition epoch, for tests that set what lines state of them."""

from __future__ import annotations

from collections.abc import Mapping

from forensics.replay.partition_states import PartitionState, PartitionStates


def numbered(states: Mapping[int, tuple[int | None, frozenset[int] | None]]) -> PartitionStates:
    """Return states of which the leader epoch and the ISR are given, by partition epoch."""
    return PartitionStates({number: PartitionState(*state) for number, state in states.items()})
