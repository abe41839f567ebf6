"""Lines of followers whose leader refused a fetch or sent what they could not take, and lines that look like them."""

from __future__ import annotations

from tests.rules.shown_lines import FETCHER, STORED, Shown, event

_REFUSED = event(f"{FETCHER} Error for partition sales-7 at offset 130", level="ERROR")
_ERRORS = "org.apache.kafka.common.errors"
_STORAGE = f"{_ERRORS}.KafkaStorageException: Disk error when trying to access log file on the disk."
_CORRUPT = (
    f"{_ERRORS}.CorruptRecordException: This message has failed its CRC checksum, exceeds the valid size, has a null "
    "key for a compacted topic, or is otherwise corrupt."
)
_UNKNOWN = f"{_ERRORS}.UnknownServerException: The server experienced an unexpected error when processing the request."
_DENIED = f"{_ERRORS}.ClusterAuthorizationException: Cluster authorization failed."
_MOVED = f"{_ERRORS}.NotLeaderOrFollowerException: This server is not the leader for that topic-partition."


def _log_start_refused(log_start: int) -> list[str]:
    return [
        event("Error due to", level="ERROR"),
        "kafka.common.KafkaException: Error processing data for partition sales-7 offset 130",
        (
            f"Caused by: {_ERRORS}.OffsetOutOfRangeException: Cannot increment the log start offset to {log_start} of "
            "partition sales-7 since it is larger than the high watermark 131"
        ),
    ]


SHOWN: dict[str, Shown] = {
    "leader-storage-error": Shown([_REFUSED, _STORAGE], [_REFUSED, _CORRUPT], broker=3),
    "leader-log-damaged": Shown([_REFUSED, _CORRUPT], [_REFUSED, _STORAGE], broker=3),
    "fetch-not-authorized": Shown([_REFUSED, _DENIED], [_REFUSED, _UNKNOWN], broker=3),
    "leader-error": Shown([_REFUSED, _UNKNOWN], [_REFUSED, _MOVED], broker=3),
    "leader-error-unnamed": Shown([_REFUSED], [_REFUSED, _MOVED], broker=3),
    "fetch-refused": Shown(
        [
            _REFUSED,
            _MOVED,
        ],
        [
            event(
                f"{FETCHER} Unexpected error occurred while processing data for partition sales-7 at offset 130",
                level="ERROR",
            )
        ],
        broker=3,
    ),
    "log-start-impossible": Shown(_log_start_refused(8459296551737491457), _log_start_refused(140)),
    "log-start-above-high-watermark": Shown(
        _log_start_refused(140),
        [event(f"[Log partition=sales-7, dir={STORED}] Incrementing log start offset to 140", "kafka.log.Log")],
    ),
}
