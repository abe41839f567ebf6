"""Wording of brokers of 2.0.0: as 1.1.1, except for the requests and answers of KIP-279, and some words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forensics.model.trace import Event
from forensics.model.wording.broker_1_1 import EPOCHS
from forensics.model.wording.v1_1 import V11
from forensics.model.wording.words import Line


class V20(V11):
    """2.0.0."""

    version = "2.0.0"
    commit = "3402a8361b734732"
    until, quote = "till", ""
    new_settings = "message.downconversion.enable -> true, "

    # -- pieces -------------------------------------------------------------------------------------------------------

    def at(self, broker: int, offset: int) -> str:
        """An offset with its place in the segment."""
        return f"(offset={offset} segment=[0:{self.scene.position(broker, offset)}])"

    def unplaced(self, offset: int) -> str:
        """An offset whose place a follower does not look up."""
        return f"(offset={offset} segment=[-1:-1])"

    def with_leader(self, leader: int) -> str:
        """Return the leader that a follower gets."""
        return f" with leader {leader}"

    # -- epochs and truncation ----------------------------------------------------------------------------------------

    def answers_epoch(self, event: Event) -> Iterator[Line]:
        """The leader's reply, now with the epoch it is about."""
        facts = event.facts
        yield Line(
            "DEBUG",
            EPOCHS,
            f"Processed offset for epoch request for partition {self.scene.tp} epoch:{facts['asked']} and returning "
            f"epoch {facts['epoch']} and offset {facts['end']} from epoch list of size {facts['size']}",
        )

    def hears_epoch(self, event: Event) -> Iterator[Line]:
        """The follower's reaction. If nothing needs to be truncated, this is no longer logged."""
        facts, tp, leader = event.facts, self.scene.tp, event.facts["leader"]
        yield self.fetcher(
            event,
            leader,
            "DEBUG",
            f"Receive leaderEpoch response Map({tp} -> EpochEndOffset{{error=NONE, leaderEpoch={facts['epoch']}, "
            f"endOffset={facts['end']}}})",
        )
        if facts["why"] == "unknown":
            yield self.fetcher(
                event,
                leader,
                "WARN",
                f"Based on follower's leader epoch, leader replied with an unknown offset in {tp}. The initial fetch "
                f"offset {facts['to']} will be used for truncation.",
            )
        elif facts["why"] == "unknown-epoch":
            yield self.fetcher(
                event,
                leader,
                "INFO",
                f"Based on follower's leader epoch, leader replied with epoch {facts['epoch']} unknown to the follower "
                f"for {tp}. Will truncate to {facts['to']} and send another leader epoch request to the leader.",
            )
        if facts["to"] < facts["hw"]:
            yield self.fetcher(
                event, leader, "WARN", f"Truncating {tp} to offset {facts['to']} below high watermark {facts['hw']}"
            )

    # -- replication, seen only with its loggers on -------------------------------------------------------------------

    def first(self, facts: dict[str, Any]) -> str:
        """The first offset of an append."""
        return f"Some({facts['first']})"

    def hw_held(self, event: Event) -> Iterator[Line]:
        """The HW does not move."""
        broker, facts = event.broker or 0, event.facts
        leos = ", ".join(f"replica {b}: {self.at(broker, leo)}" for b, leo in facts["leos"].items())
        yield self.partition(
            event,
            "DEBUG",
            f"Skipping update high watermark since new hw {self.at(broker, facts['new'])} is not larger than old hw "
            f"{self.at(broker, facts['hw'])}. All current LEOs are Set({leos})",
        )
