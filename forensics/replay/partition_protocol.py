"""Behaviour of the brokers of one partition together, where releases of Kafka differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from forensics.replay.broker_facts import BrokerFacts, truncates_to_hw
from forensics.replay.protocol import Answer, every, some


class TruncatesTo(StrEnum):
    """The offset that the followers of a partition truncate to. Its value is what reports in JSON call the protocol."""

    HIGH_WATERMARK = "hw"  # each to its own
    LEADER_EPOCH = "epoch"  # to where their last leader epoch ends in their leader's log (KIP-101)


@dataclass(frozen=True, slots=True)
class PartitionProtocol:
    """Behaviour of the brokers of a partition, as their releases and kinds show it; see ``replay.protocol``.

    Attributes:
        truncates_to: where followers truncate to: to their high watermark if one of the brokers does.
        truncation_known: versions or batches show how followers truncate; else 0.11 or later is assumed.
        kraft: the brokers follow the metadata log.
        maybe_kraft: they may: nothing shows of one of them that it does not.
        may_elect_from_elr: leaders may come from the eligible leader replicas (KIP-966).
        joins_below_epoch_start: whether a leader adds a follower to the ISR that early (KAFKA-7128).
        hw_needs_min_isr: whether no leader raises its high watermark while the ISR is that small (KIP-966).
    """

    truncates_to: TruncatesTo = TruncatesTo.LEADER_EPOCH
    truncation_known: bool = True
    kraft: bool = False
    maybe_kraft: bool = False
    may_elect_from_elr: bool = False
    joins_below_epoch_start: Answer = Answer.NO
    hw_needs_min_isr: Answer = Answer.OPEN

    @classmethod
    def of(cls, brokers: Mapping[int, BrokerFacts], replicas: Iterable[int]) -> PartitionProtocol:
        """Return the behaviour of some brokers.

        Args:
            brokers: what is known of each.
            replicas: those that have a replica.
        """
        known = [fact.protocol for fact in brokers.values()]
        by_hw = any(truncates_to_hw(brokers, broker) for broker in replicas)
        return cls(
            truncates_to=TruncatesTo.HIGH_WATERMARK if by_hw else TruncatesTo.LEADER_EPOCH,
            truncation_known=not known or any(one.truncates_by_epoch is not Answer.OPEN for one in known),
            kraft=any(one.kraft is Answer.YES for one in known),
            maybe_kraft=any(one.kraft is not Answer.NO for one in known),
            may_elect_from_elr=any(one.elects_from_elr is not Answer.NO for one in known),
            joins_below_epoch_start=some(one.joins_below_epoch_start for one in known),
            hw_needs_min_isr=every(one.hw_needs_min_isr for one in known) if known else Answer.OPEN,
        )

    @property
    def truncates_to_hw(self) -> bool:
        """Return whether followers truncate to their own high watermark, not to the leader's epochs."""
        return self.truncates_to is TruncatesTo.HIGH_WATERMARK


AS_NOW: Final = PartitionProtocol()
"""Behaviour of present releases, as far as it does not depend on the kind of cluster."""
