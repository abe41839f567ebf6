"""The message catalogue: every sentence of a broker that states a fact about replication, in every version's words."""

from __future__ import annotations

from parsers.messages import (
    epoch_cache,
    log_layer,
    log_manager,
    log_segments,
    partition,
    partition_isr,
    replica,
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
    *state_change.MESSAGES,
    *state_change_requests.MESSAGES,
)
"""All messages. A line that has the literal of several is read by the one whose wording fits."""
