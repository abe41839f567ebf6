"""Did Kafka's replication lose or fork committed data? An answer from what the brokers left behind."""

from __future__ import annotations

__version__ = "0.1.0"
