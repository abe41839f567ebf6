"""The origin of the evidence of a partition: it decides what an operator can still collect, and what can be done."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    """The origin of the evidence of a partition."""

    FILES = "logs and files of brokers"
    TRACE = "traces alone"
    OTHER_SYSTEM = "traces alone, of a system that is not Kafka"

    @property
    def of_kafka(self) -> bool:
        """Return whether the brokers are of Kafka, as far as the evidence shows."""
        return self is not Origin.OTHER_SYSTEM
