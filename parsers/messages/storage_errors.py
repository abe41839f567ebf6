"""``LogDirFailureChannel``, ``LogManager``: files and directories that cannot be read or written."""

from __future__ import annotations

from parsers.details import LOADING, REMOTE_COPY, REMOTE_READ
from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import ORDERS, REPLICA_MANAGER, TP
from parsers.schema import Kind

_DIRECTORY = r"(?P<log_dir>[^:]+(?::[^ :][^:]*)*)"
"""Up to a colon and a blank: layouts that print the exception in the same line put these before it."""

MESSAGES: tuple[Message, ...] = (
    # The directory goes offline with it (M-12), and with the last one the broker.
    Message(
        id="W-01",
        kind=Kind.STORAGE_ERROR,
        literal=(
            "Error while appending records to ",
            "Error while creating log for ",
            "Error while deleting all segments for ",
            "Error while deleting dir for ",
            "Error while deleting log for ",
            "Error while deleting producer state snapshot",
            "Error while deleting segments for ",
            "Error while fetching offset by timestamp for ",
            "Error while flushing log for ",
            "Error while renaming dir for ",
            "Error while rolling log segment for ",
            "Error while truncating log to offset ",
            "Error while truncating the entire log for ",
            "Exception while increasing log start offset for ",
            "Exception while reading from ",
            "Failed to clean up log for ",
        ),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^(?P<detail>Error while flushing log) for {TP} in dir (?P<log_dir>.+?) with offset "
                    r"(?P<offset>[0-9]+)"
                ),
                source_ref="1.0.2 Log, 3.2.3 UnifiedLog, 3.6.2 UnifiedLog",
                examples=(
                    Example(
                        "Error while flushing log for orders-0 in dir /data with offset 42",
                        ({"detail": "Error while flushing log", **ORDERS, "log_dir": "/data", "offset": 42},),
                    ),
                    Example(
                        "Error while flushing log for orders-0 in dir /my data with offset 42 (exclusive) and recovery "
                        "point 42",
                        ({"detail": "Error while flushing log", **ORDERS, "log_dir": "/my data", "offset": 42},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^(?P<detail>Error while truncating log to offset (?P<offset>[0-9]+)) for {TP} in dir "
                    rf"{_DIRECTORY}"
                ),
                source_ref="1.0.2 Log, 3.6.2 UnifiedLog",
                examples=(
                    Example(
                        "Error while truncating log to offset 42 for orders-0 in dir /data",
                        (
                            {
                                "detail": "Error while truncating log to offset 42",
                                "offset": 42,
                                **ORDERS,
                                "log_dir": "/data",
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^(?P<detail>Exception while increasing log start offset) for {TP} to (?P<log_start>[0-9]+) in "
                    rf"dir {_DIRECTORY}"
                ),
                source_ref="1.0.2 Log, 3.6.2 UnifiedLog",
                examples=(
                    Example(
                        "Exception while increasing log start offset for orders-0 to 42 in dir /data",
                        (
                            {
                                "detail": "Exception while increasing log start offset",
                                **ORDERS,
                                "log_start": 42,
                                "log_dir": "/data",
                            },
                        ),
                    ),
                ),
            ),
            # Compaction: the partition is no longer cleaned.
            Variant(
                since="1.0",
                until=None,
                regex=rf"^(?P<detail>Failed to clean up log) for {TP} in dir (?P<log_dir>.+) due to IOException",
                source_ref="1.1.1 LogCleaner:312, 3.6.2 LogCleaner:452",
                examples=(
                    Example(
                        "Failed to clean up log for orders-0 in dir C:\\my logs due to IOException",
                        ({"detail": "Failed to clean up log", **ORDERS, "log_dir": "C:\\my logs"},),
                    ),
                ),
            ),
            Variant(
                since="3.7",
                until=None,
                regex=(rf"^(?P<detail>Error while deleting producer state snapshot) .*for {TP} in dir {_DIRECTORY}"),
                source_ref="3.7.1 UnifiedLog",
                examples=(
                    Example(
                        "Error while deleting producer state snapshot SnapshotFile(offset=7, "
                        "file=/data/orders-0/00000000000000000007.snapshot) for orders-0 in dir /data",
                        ({"detail": "Error while deleting producer state snapshot", **ORDERS, "log_dir": "/data"},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=rf"^(?P<detail>[A-Z][a-z]+ [a-z ]+) (?:for|to|from) {TP} in (?:log )?dir {_DIRECTORY}",
                source_ref="1.0.2 Log, 2.3.1 Log:765, Log:782, Log:1484, 3.6.2 LocalLog:109, UnifiedLog:653",
                examples=(
                    Example(
                        "Error while renaming dir for orders-0 in log dir C:\\kafka\\data",
                        ({"detail": "Error while renaming dir", **ORDERS, "log_dir": "C:\\kafka\\data"},),
                    ),
                    Example(
                        "Error while renaming dir for orders-0 in dir /data",
                        ({"detail": "Error while renaming dir", **ORDERS, "log_dir": "/data"},),
                    ),
                    Example(
                        "Error while creating log for orders-0 in dir E:\\kafka",
                        ({"detail": "Error while creating log", **ORDERS, "log_dir": "E:\\kafka"},),
                    ),
                    Example(
                        "Error while deleting segments for orders-0 in dir /data",
                        ({"detail": "Error while deleting segments", **ORDERS, "log_dir": "/data"},),
                    ),
                    Example(
                        "Error while deleting all segments for orders-0 in dir /data",
                        ({"detail": "Error while deleting all segments", **ORDERS, "log_dir": "/data"},),
                    ),
                    Example(
                        "Error while deleting dir for orders-0 in dir /data",
                        ({"detail": "Error while deleting dir", **ORDERS, "log_dir": "/data"},),
                    ),
                    Example(
                        "Error while deleting log for orders-0 in dir /data",
                        ({"detail": "Error while deleting log", **ORDERS, "log_dir": "/data"},),
                    ),
                    Example(
                        "Error while appending records to orders-0 in dir /data",
                        ({"detail": "Error while appending records", **ORDERS, "log_dir": "/data"},),
                    ),
                    Example(
                        "Error while appending records to orders-0 in dir C:\\my logs: java.io.IOException: "
                        "Input/output error",
                        ({"detail": "Error while appending records", **ORDERS, "log_dir": "C:\\my logs"},),
                    ),
                    Example(
                        "Error while fetching offset by timestamp for orders-0 in dir /data",
                        ({"detail": "Error while fetching offset by timestamp", **ORDERS, "log_dir": "/data"},),
                    ),
                    Example(
                        "Error while rolling log segment for orders-0 in dir /data",
                        ({"detail": "Error while rolling log segment", **ORDERS, "log_dir": "/data"},),
                    ),
                    Example(
                        "Error while truncating the entire log for orders-0 in dir /data",
                        ({"detail": "Error while truncating the entire log", **ORDERS, "log_dir": "/data"},),
                    ),
                    Example(
                        "Exception while reading from orders-0 in dir /data",
                        ({"detail": "Exception while reading", **ORDERS, "log_dir": "/data"},),
                    ),
                ),
            ),
        ),
    ),
    # Without a partition.
    Message(
        id="W-02",
        kind=Kind.STORAGE_ERROR,
        literal=(
            "Error while loading log dir ",
            "Disk error while locking directory ",
            "Failed to create or validate data directory ",
            "Failed to access checkpoint file ",
            "Error while deleting the clean shutdown file ",
            "Shutdown broker because the metadata log dir ",
            " has failed during migration mode: ",
            "Shutdown broker because none of the specified log dirs from ",
        ),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until=None,
                regex=(
                    r"^(?P<detail>Error while loading log dir|Disk error while locking directory|Failed to create or "
                    rf"validate data directory) {_DIRECTORY}"
                ),
                source_ref="1.0.2 LogManager:153, LogManager:296, 2.6.3 LogManager:362",
                examples=(
                    Example(
                        "Error while loading log dir /data",
                        ({"detail": "Error while loading log dir", "log_dir": "/data"},),
                    ),
                    Example(
                        "Disk error while locking directory /data",
                        ({"detail": "Disk error while locking directory", "log_dir": "/data"},),
                    ),
                    Example(
                        "Failed to create or validate data directory C:\\my logs",
                        ({"detail": "Failed to create or validate data directory", "log_dir": "C:\\my logs"},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=rf"^(?P<detail>Failed to access checkpoint file(?: [^ ]+)?) in dir {_DIRECTORY}",
                source_ref="1.0.2 LogCleanerManager:92, 3.6.2 LogCleanerManager",
                examples=(
                    Example(
                        "Failed to access checkpoint file cleaner-offset-checkpoint in dir /data2",
                        (
                            {
                                "detail": "Failed to access checkpoint file cleaner-offset-checkpoint",
                                "log_dir": "/data2",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "Failed to access checkpoint file in dir /data2",
                        ({"detail": "Failed to access checkpoint file", "log_dir": "/data2"},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.7",
                regex=r"^(?P<detail>Error while deleting the clean shutdown file)(?: in dir (?P<log_dir>.+))?",
                source_ref="1.0.2 LogManager, 2.7.2 LogManager",
                examples=(
                    Example(
                        "Error while deleting the clean shutdown file in dir /data",
                        ({"detail": "Error while deleting the clean shutdown file", "log_dir": "/data"},),
                    ),
                    Example(
                        "Error while deleting the clean shutdown file /data/.kafka_cleanshutdown",
                        ({"detail": "Error while deleting the clean shutdown file"},),
                    ),
                ),
            ),
            Variant(
                since="3.7",
                until=None,
                regex=(
                    rf"^{REPLICA_MANAGER}(?P<detail>Shutdown broker) because (?:the metadata log dir (?P<log_dir>.+) "
                    rf"has "
                    r"failed)"
                ),
                source_ref="3.7.1 ReplicaManager:2613",
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Shutdown broker because the metadata log dir /data has failed",
                        ({"witness": 1, "detail": "Shutdown broker", "log_dir": "/data"},),
                    ),
                ),
            ),
            Variant(
                since="3.7",
                until="3.9",
                regex=(
                    rf"^{REPLICA_MANAGER}(?P<detail>Shutdown broker) because some log directory has failed during "
                    rf"migration mode: {_DIRECTORY}"
                ),
                source_ref="3.7.1 ReplicaManager:2619",
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Shutdown broker because some log directory has failed during "
                        "migration mode: /data",
                        ({"witness": 1, "detail": "Shutdown broker", "log_dir": "/data"},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=r"^Shutdown broker because (?P<detail>none of the specified log dirs from .+) can be created or ",
                source_ref="1.0.2 LogManager:157, 3.6.2 LogManager",
                examples=(
                    Example(
                        "Shutdown broker because none of the specified log dirs from /data1, /data2 can be created or "
                        "validated",
                        ({"detail": "none of the specified log dirs from /data1, /data2"},),
                    ),
                ),
            ),
        ),
    ),
    # A log that is not closed properly: its directory gets no clean-shutdown marker. Or one that is not loaded; if a
    # checkpoint is the reason, RM-11 reports it.
    Message(
        id="W-03",
        kind=Kind.STORAGE_ERROR,
        literal=(" threads during LogManager shutdown: ", f" threads during {LOADING}"),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until=None,
                regex=(
                    rf"^There was an error in one of the threads during (?:LogManager shutdown: |{LOADING}"
                    r"(?:java\.|scala\.|kafka\.|org\.apache\.kafka\.(?:common\.(?:[A-Z]|errors\.[A-JL-Z])|server\.|storage\.)))"
                ),
                source_ref="0.8.2.2 LogManager:164, LogManager:251, 2.2.2 LogManager:378, LogManager:482",
                each=(
                    Each(r"(?P<detail>LogManager shutdown: .*)", Kind.LOGS_NOT_CLOSED),
                    Each(rf"(?P<detail>{LOADING}.*)"),
                ),
                own_row=False,
                examples=(
                    Example(
                        "There was an error in one of the threads during LogManager shutdown: "
                        "org.apache.kafka.common.errors.KafkaStorageException: Error while flushing log for orders-0 "
                        "in dir /data with offset 42",
                        (
                            {
                                "kind": "logs_not_closed",
                                "detail": "LogManager shutdown: org.apache.kafka.common.errors.KafkaStorageException: "
                                "Error while flushing log for orders-0 in dir /data with offset 42",
                            },
                        ),
                    ),
                    Example(
                        "There was an error in one of the threads during logs loading: "
                        "java.lang.IllegalArgumentException: inconsistent range",
                        ({"detail": "logs loading: java.lang.IllegalArgumentException: inconsistent range"},),
                    ),
                    Example(
                        "There was an error in one of the threads during logs loading: kafka.common.KafkaException: "
                        "Mismatch",
                        ({"detail": "logs loading: kafka.common.KafkaException: Mismatch"},),
                    ),
                ),
            ),
        ),
    ),
    # Up to 0.11 a broker halts at the first error.
    Message(
        id="W-07",
        kind=Kind.STORAGE_ERROR,
        literal=(
            "Disk error while replicating data",
            "Halting due to unrecoverable I/O error while handling ",
            "because the underlying file system is inaccessible",
            "Error deleting the log for partition ",
        ),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    r"^\[ReplicaFetcherThread-[0-9]+-[0-9]+\][,:] (?P<detail>Disk error while replicating data)(?: for "
                    rf"{TP})?"
                ),
                source_ref="0.8.2.2 ReplicaFetcherThread:66, 0.10.2.2 ReplicaFetcherThread:146",
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-2], Disk error while replicating data.",
                        ({"detail": "Disk error while replicating data"},),
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-2]: Disk error while replicating data for orders-0",
                        ({"detail": "Disk error while replicating data", **ORDERS},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^{REPLICA_MANAGER}(?P<detail>Halting due to unrecoverable I/O error while handling "
                    r"[A-Za-z ]+request)"
                ),
                source_ref="0.9.0.1 ReplicaManager:425, 0.11.0.2 ReplicaManager:572",
                examples=(
                    Example(
                        "[Replica Manager on Broker 1]: Halting due to unrecoverable I/O error while handling produce "
                        "request: ",
                        (
                            {
                                "witness": 1,
                                "detail": "Halting due to unrecoverable I/O error while handling produce request",
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="0.10",
                until="0.11",
                regex=(
                    r"^(?P<detail>Halting writes to (?:offset )?checkpoint file(?: \([^)]*\))?) because the underlying "
                    r"file system is inaccessible"
                ),
                source_ref="0.10.0.1 OffsetCheckpoint:66, 0.11.0.2 CheckpointFile:62",
                examples=(
                    Example(
                        "Halting writes to checkpoint file (/data/replication-offset-checkpoint) because the "
                        "underlying file system is inaccessible: ",
                        ({"detail": "Halting writes to checkpoint file (/data/replication-offset-checkpoint)"},),
                    ),
                    Example(
                        "Halting writes to offset checkpoint file because the underlying file system is inaccessible : "
                        "",
                        ({"detail": "Halting writes to offset checkpoint file"},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    r"^Partition \[(?P<bracketed>[^\]]+)\] on broker (?P<witness>[0-9]+): (?P<detail>Error deleting "
                    r"the log) for partition "
                ),
                source_ref="0.8.2.2 Partition:146, 0.11.0.2 Partition:159",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 1: Error deleting the log for partition orders-0",
                        ({**ORDERS, "witness": 1, "detail": "Error deleting the log"},),
                    ),
                ),
            ),
        ),
    ),
    # An exception below the line names the cause; the task runs again.
    Message(
        id="U-09a",
        kind=Kind.PROBLEM,
        literal="Error occurred while copying log segments of partition: ",
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="3.6",
                until=None,
                regex=(
                    r"^\[RemoteLogManager=(?P<witness>[0-9]+) partition=[^\]]*\] Error occurred while copying log "
                    r"segments of partition: (?P<topic_id>[A-Za-z0-9_-]{22}):(?P<tp>[a-zA-Z0-9._-]+-[0-9]+)"
                ),
                source_ref="3.6.2 RemoteLogManager, 3.9.1 RemoteLogManager",
                fixed={"detail": REMOTE_COPY},
                examples=(
                    Example(
                        "[RemoteLogManager=1 partition=eQsSREvITgOLN7uKjScwFw:orders-0] Error occurred while copying "
                        "log segments of partition: eQsSREvITgOLN7uKjScwFw:orders-0",
                        ({**ORDERS, "topic_id": "eQsSREvITgOLN7uKjScwFw", "witness": 1, "detail": REMOTE_COPY},),
                    ),
                ),
            ),
        ),
    ),
    # What a consumer reads: its fetch gets the error.
    Message(
        id="U-09c",
        kind=Kind.PROBLEM,
        literal="Error occurred while reading the remote data for ",
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="3.6",
                until=None,
                regex=(
                    r"^(?:\[[^\]]*\] ?)?Error occurred while reading the remote data for "
                    rf"(?:(?P<topic_id>[A-Za-z0-9_-]{{22}}):)?{TP}"
                ),
                source_ref="3.6.2 RemoteLogReader, 4.1.1 RemoteLogReader",
                fixed={"detail": REMOTE_READ},
                examples=(
                    Example(
                        "Error occurred while reading the remote data for orders-0",
                        ({**ORDERS, "detail": REMOTE_READ},),
                    ),
                    Example(
                        "[remote-log-reader-4]Error occurred while reading the remote data for "
                        "eQsSREvITgOLN7uKjScwFw:orders-0",
                        ({**ORDERS, "topic_id": "eQsSREvITgOLN7uKjScwFw", "detail": REMOTE_READ},),
                    ),
                ),
            ),
        ),
    ),
)
"""Input and output that failed."""
