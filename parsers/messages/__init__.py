"""The message catalogue: every sentence of a broker that states a fact about replication, in every version's words."""

from __future__ import annotations

from parsers.messages import (
    cleaner,
    controller_kraft,
    controller_log,
    controller_zk,
    epoch_cache,
    fetcher,
    fetcher_epochs,
    fetcher_manager,
    log_layer,
    log_manager,
    log_segments,
    partition,
    partition_isr,
    process,
    raft,
    replica,
    replica_manager,
    state_change,
    state_change_requests,
)
from parsers.messages.catalogue import Message

MESSAGES: tuple[Message, ...] = (
    *partition.MESSAGES,
    *partition_isr.MESSAGES,
    *replica.MESSAGES,
    *log_layer.MESSAGES,
    *log_segments.MESSAGES,
    *log_manager.MESSAGES,
    *epoch_cache.MESSAGES,
    *fetcher.MESSAGES,
    *fetcher_epochs.MESSAGES,
    *fetcher_manager.MESSAGES,
    *replica_manager.MESSAGES,
    *state_change.MESSAGES,
    *state_change_requests.MESSAGES,
    *controller_zk.MESSAGES,
    *controller_log.MESSAGES,
    *controller_kraft.MESSAGES,
    *raft.MESSAGES,
    *process.MESSAGES,
    *cleaner.MESSAGES,
)
"""All messages. A line that has the literal of several is read by the one whose wording fits."""
