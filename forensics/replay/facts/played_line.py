"""Lines of a complete trace, as they are played one by one."""

from __future__ import annotations

from typing import NamedTuple

from forensics.replay.facts.statement_lines import Key


class PlayedLine(NamedTuple):
    """The columns of an observation that a trace is played by."""

    topic: str
    partition: int
    incarnation: int
    broker: int
    replica: int | None
    row: int
    time: int | None
    kind: str
    message: str
    leader: int | None
    leader_epoch: int | None
    offset: int | None
    hw: int | None
    leo: int | None
    log_start: int | None
    checksum: str | None
    isr: str | None

    @property
    def key(self) -> Key:
        """The partition that it is about."""
        return self.topic, self.partition, self.incarnation
