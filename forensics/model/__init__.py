"""The reference model: Kafka's replication in its old form and its new ones, written down so that it runs.

It teaches (named scenarios, walk-through pages), writes traces (evidence as brokers of each version leave it) and is
the oracle for replay and rules. It imports nothing of the tool it judges.
"""

from __future__ import annotations

from forensics.model.outcomes import Outcomes, telling_seeds, what_if
from forensics.model.protocol import EVERY, PROTOCOLS, VARIANTS, Protocol
from forensics.model.run import Run, Scenario
from forensics.model.scenarios import SCENARIOS, scenario
from forensics.model.schedule import BadSchedule, Schedule, StepRefused, schedule

__all__ = [
    "EVERY",
    "PROTOCOLS",
    "SCENARIOS",
    "VARIANTS",
    "BadSchedule",
    "Outcomes",
    "Protocol",
    "Run",
    "Scenario",
    "Schedule",
    "StepRefused",
    "scenario",
    "schedule",
    "telling_seeds",
    "what_if",
]
