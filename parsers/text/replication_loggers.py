"""Loggers of the parts of a broker that replicate, and message prefixes for layouts without a logger.

Names of Kafka 0.8 to 4.2. A warning of one of these loggers is reported even if its wording is unknown.
"""

from __future__ import annotations

from typing import Final

import polars as pl

_PACKAGES: Final = (
    r"kafka\.(?:log|cluster|controller|raft)\.",
    r"kafka\.server\.(?:epoch|checkpoints)\.",
    r"org\.apache\.kafka\.(?:raft|controller)\.",
    r"org\.apache\.kafka\.(?:storage\.internals|server\.log\.internals)\.",
    r"state\.change\.logger$",
)
"""All classes of these packages."""

_CLASSES: Final = (
    r"[A-Za-z]*Replica[A-Za-z]*",
    r"[A-Za-z]*Fetcher[A-Za-z]*",
    r"[A-Za-z]*LeaderEndPoint",
    r"[A-Za-z]*TierStateMachine",
    r"[A-Za-z]*Alter(?:Isr|Partition)Manager[A-Za-z]*",
    r"LogDirFailureChannel",
    r"OffsetCheckpoint",
)
"""Classes of ``kafka.server``, which holds others too."""

_SHORT: Final = (
    *_CLASSES,
    r"Partition|UnifiedLog|LocalLog|LogLoader|LogManager|LogSegment|LogCleaner|LogCleanerManager",
    r"ProducerStateManager|LeaderEpochFileCache|KafkaController|ReplicationControlManager|RequestSendThread",
    r"KafkaRaftClient|QuorumState|LeaderState|FollowerState",
)
"""The same and others where a layout prints the class alone (``%c{1}``); names that other programs use are left out."""

_PREFIXES: Final = (
    r"\[(?:Partition|[A-Za-z]*Log[A-Za-z]*|ProducerStateManager|LeaderEpochCache) (?:partition=)?[^ ]+-[0-9]+",
    r"\[(?:ReplicaManager broker=|Replica Manager on Broker |ReplicaFetcherManager on broker )",
    r"\[(?:ReplicaFetcher replicaId=|ReplicaFetcherThread-|ReplicaAlterLogDirsThread-)",
    r"\[(?:Broker id=|Controller id=|QuorumController id=|RaftManager (?:nodeId|id)=)",
    r"Partition \[[^\]]+\] on broker [0-9]+: ",
)
"""How messages of these loggers begin."""

_LOGGER: Final = rf"^(?:{'|'.join(_PACKAGES)}|kafka\.server\.(?:{'|'.join(_CLASSES)})\$?$|(?:{'|'.join(_SHORT)})\$?$)"
_PREFIX: Final = rf"^(?:{'|'.join(_PREFIXES)})"


def replicates(logger: pl.Expr, message: pl.Expr) -> pl.Expr:
    """Return whether an event is of a part that replicates.

    Args:
        logger: its logger, null if none is printed.
        message: its message.
    """
    return logger.str.contains(_LOGGER).fill_null(message.str.contains(_PREFIX))
