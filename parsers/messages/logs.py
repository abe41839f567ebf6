"""The log that each message goes to, by the part of Kafka that prints it.

Kafka's own ``config/log4j.properties`` (``log4j2.yaml`` since 4.0) sends three loggers to files of their own:
``state.change.logger`` to state-change.log, ``kafka.controller`` (with KRaft also ``org.apache.kafka.controller``) to
controller.log, and ``kafka.log.LogCleaner`` to log-cleaner.log. All others go to server.log. A file may have another
name, and one file may hold them all; a message has the same logger everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from parsers.messages import (
    announced_roles,
    cleaner,
    controller_brokers,
    controller_kraft,
    controller_kraft_brokers,
    controller_kraft_elections,
    controller_log,
    controller_requests,
    controller_zk,
    epoch_cache,
    fetcher,
    fetcher_epochs,
    fetcher_failures,
    fetcher_manager,
    fetcher_resets,
    log_directories,
    log_layer,
    log_manager,
    log_recovery,
    log_segments,
    offline_replicas,
    partition,
    partition_isr,
    partition_isr_rejected,
    partition_progress,
    process,
    raft,
    release_0_8,
    release_0_8_changes,
    replica,
    replica_manager,
    segment_files,
    state_change,
    state_change_requests,
    state_change_skipped,
    state_change_steps,
    storage_errors,
)
from parsers.messages.catalogue import Message, Says
from parsers.schema import Kind


class Log(StrEnum):
    """A log of a broker. The value is its name in Kafka's own configuration."""

    SERVER = "server.log"
    STATE_CHANGE = "state-change.log"
    CONTROLLER = "controller.log"
    CLEANER = "log-cleaner.log"


LOGS: Final[tuple[tuple[Log, tuple[tuple[Message, ...], ...]], ...]] = (
    (
        Log.SERVER,
        (
            partition.MESSAGES,
            partition_progress.MESSAGES,
            partition_isr.MESSAGES,
            partition_isr_rejected.MESSAGES,
            replica.MESSAGES,
            log_layer.MESSAGES,
            log_recovery.MESSAGES,
            log_segments.MESSAGES,
            log_manager.MESSAGES,
            log_directories.MESSAGES,
            storage_errors.MESSAGES,
            segment_files.MESSAGES,
            epoch_cache.MESSAGES,
            fetcher.MESSAGES,
            fetcher_resets.MESSAGES,
            fetcher_epochs.MESSAGES,
            fetcher_failures.MESSAGES,
            fetcher_manager.MESSAGES,
            replica_manager.MESSAGES,
            raft.MESSAGES,
            process.MESSAGES,
            release_0_8.MESSAGES,
        ),
    ),
    (
        Log.STATE_CHANGE,
        (
            state_change.MESSAGES,
            state_change_skipped.MESSAGES,
            state_change_requests.MESSAGES,
            state_change_steps.MESSAGES,
            announced_roles.MESSAGES,
            controller_zk.MESSAGES,
            controller_requests.MESSAGES,
            offline_replicas.MESSAGES,
            release_0_8_changes.MESSAGES,
        ),
    ),
    (
        Log.CONTROLLER,
        (
            controller_log.MESSAGES,
            controller_brokers.MESSAGES,
            controller_kraft.MESSAGES,
            controller_kraft_elections.MESSAGES,
            controller_kraft_brokers.MESSAGES,
        ),
    ),
    (Log.CLEANER, (cleaner.MESSAGES,)),
)
"""The log of each family of messages. Exceptions and failures are in none: any part of a broker may log them."""

_OTHERWISE: Final[Mapping[str, Log]] = {
    "C-03c": Log.SERVER,  # AdminUtils and ZkAdminManager: the broker that is asked to create a topic
    "C-04b": Log.CONTROLLER,
    "V-02": Log.SERVER,  # settings, which are read without an entry of the catalogue
    "V-09": Log.SERVER,  # KafkaApis
    "W-06": Log.CONTROLLER,  # ReplicationControlManager
}
"""Messages of other loggers than most of their family."""

LOG_OF: Final[Mapping[str, Log]] = {
    **{message.id: log for log, families in LOGS for messages in families for message in messages},
    **_OTHERWISE,
}
"""The log of each message, by its id."""

WITH_ZOOKEEPER: Final = frozenset(
    message.id
    for messages in (
        controller_zk.MESSAGES,
        controller_requests.MESSAGES,
        controller_log.MESSAGES,
        controller_brokers.MESSAGES,
        release_0_8_changes.MESSAGES,
    )
    for message in messages
    if message.kind not in (Kind.TRANSITION, Kind.STALE_REQUEST)
)
"""Messages of a controller that keeps its state in ZooKeeper. A new one repeats the decisions of the former one.

In 0.8 a broker's own transitions and refusals are in the same family.
"""

SAYS: Final[Mapping[Says, frozenset[str]]] = {
    says: frozenset(
        message.id for _, families in LOGS for messages in families for message in messages if message.says is says
    )
    for says in Says
}
"""The ids of the messages that say each of these."""
