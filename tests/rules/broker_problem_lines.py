"""Lines of brokers that could not append or deleted files, and of a consumer that found a truncation."""

from __future__ import annotations

from tests.rules.shown_lines import FRAME, LOADED, STORED, Shown, event

_MARKED = f"{STORED}/sales-7.0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f-delete"
_RENAMED = event(
    f"Log for partition sales-7 is renamed to {_MARKED} and is scheduled for deletion", "kafka.log.LogManager"
)
_DELETED = event(f"Deleted log for partition sales-7 in {_MARKED}.", "kafka.log.LogManager")
_FAILED = event(
    "[ReplicaManager broker=2] Error processing append operation on partition sales-7",
    "kafka.server.ReplicaManager",
    "ERROR",
)
_OUT_OF_SEQUENCE = (
    "org.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence number for producer 4 at "
    "offset 18 in partition sales-7: 9 (incoming seq. number), 5 (current end sequence number)"
)


_DAMAGED = (
    "kafka.message.InvalidMessageException: Message is corrupt (stored crc = 1043522731, computed crc = 2761098450)"
)


def _position(offset: int) -> str:
    leader = "currentLeader=LeaderAndEpoch{leader=Optional[k2:9092 (id: 2 rack: null)], epoch=5}"
    return f"FetchPosition{{offset={offset}, offsetEpoch=Optional[4], {leader}}}"


def _found(end: int) -> str:
    return event(
        f"[Consumer clientId=c-1, groupId=g] Truncation detected for partition sales-7 at offset {_position(151)}, "
        f"resetting offset to the first offset known to diverge {_position(end)}",
        "org.apache.kafka.clients.consumer.internals.SubscriptionState",
    )


_LOCKED = (
    "java.nio.file.FileSystemException: C:\\kafka\\sales-7\\00000000000000000042.log -> "
    "C:\\kafka\\sales-7\\00000000000000000042.log.deleted: {}"
)

SHOWN: dict[str, Shown] = {
    "append-failed": Shown(
        [_FAILED, "java.lang.IllegalStateException: anything", FRAME], [_FAILED, _OUT_OF_SEQUENCE, FRAME], broker=2
    ),
    "corrupt-produce": Shown(
        [
            event(
                "[KafkaApi-2] Error processing ProducerRequest with correlation id 7 from client c on partition "
                "[sales,7]",
                "kafka.server.KafkaApis",
                "ERROR",
            ),
            _DAMAGED,
            FRAME,
        ],
        [_FAILED, "java.lang.IllegalStateException: anything", LOADED, _DAMAGED, FRAME],
        broker=2,
    ),
    "file-in-use": Shown(
        [_FAILED, _LOCKED.format("The process cannot access the file because it is being used by another process.")],
        [_FAILED, _LOCKED.format("Access is denied.")],
        broker=2,
    ),
    "system-limit": Shown(
        [_FAILED.replace(" (kafka", ": java.io.IOException: Map failed (kafka")],
        [_FAILED, "java.io.IOException: Broken pipe"],
        broker=2,
    ),
    "index-fault": Shown(
        [
            _FAILED,
            "java.lang.InternalError: a fault occurred in an unsafe memory access operation",
            "\tat org.apache.kafka.storage.internals.log.OffsetIndex.append(OffsetIndex.java:155)",
        ],
        [_FAILED, "java.io.IOException: Input/output error"],
        broker=2,
    ),
    "directory-deleted": Shown([_DELETED], [_RENAMED, _DELETED, LOADED]),
    "consumer-diverged": Shown([_found(130)], [_found(151)], offsets=((130, 151),)),
}
