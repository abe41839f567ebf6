"""Failures that a line or an exception states by itself: damage, a refused start, a disk that fails.

``forensics.rules.known_problems`` says what each of them means. Replay concludes nothing from them.
"""

from __future__ import annotations

from parsers.details import CHECKPOINT_DAMAGED, FILE_IN_USE, MAPPED_FILE, NOT_PAUSED, SEGMENT_NOT_RENAMED
from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import EITHER, ORDERS, REPLICA_MANAGER, TP
from parsers.schema import Kind

_FILE = rf"(?P<log_dir>[^()]*?)[/\\]{TP}[/\\][0-9]+\.[a-z]+"
_STORED = r"(?:Some\()?[A-Za-z0-9_-]+\)?"
_IN_DATA: dict[str, int | str | None] = {**ORDERS, "log_dir": "/data"}

MESSAGES: tuple[Message, ...] = (
    # A directory of another cluster, or a cluster whose ZooKeeper lost its data: the broker does not start.
    Message(
        id="KP-01",
        kind=Kind.CLUSTER_ID_MISMATCH,
        literal=(" in meta.properties. The broker is trying to join the wrong cluster", "Invalid cluster.id in: "),
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="2.4",
                until="3.9",
                regex=(
                    rf"^(?P<detail>The Cluster ID [A-Za-z0-9_-]+ doesn't match stored clusterId {_STORED}) in "
                    r"meta\.properties\. The broker is trying to join the wrong cluster"
                ),
                source_ref="2.4.1 KafkaServer:220, 3.6.2 KafkaServer",
                examples=(
                    Example(
                        "The Cluster ID hXk2Qn7bR1uVd0sT5yWz3A doesn't match stored clusterId "
                        "Some(b8LmPq4cS6eFg1hJ9kNr2Q) in meta.properties. The broker is trying to join the wrong "
                        "cluster. Configured zookeeper.connect may be wrong.",
                        (
                            {
                                "detail": "The Cluster ID hXk2Qn7bR1uVd0sT5yWz3A doesn't match stored clusterId "
                                "Some(b8LmPq4cS6eFg1hJ9kNr2Q)"
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="2.8",
                until=None,
                regex=(
                    r"^(?P<detail>Invalid cluster\.id in: (?P<log_dir>.+?)(?:[/\\]meta\.properties)?\. "
                    r"Expected [A-Za-z0-9_-]+, but read [A-Za-z0-9_-]+)"
                ),
                source_ref="3.9.1 MetaPropertiesEnsemble:verify",
                examples=(
                    Example(
                        "Invalid cluster.id in: /data/meta.properties. Expected hXk2Qn7bR1uVd0sT5yWz3A, but read "
                        "b8LmPq4cS6eFg1hJ9kNr2Q",
                        (
                            {
                                "detail": "Invalid cluster.id in: /data/meta.properties. Expected "
                                "hXk2Qn7bR1uVd0sT5yWz3A, but read b8LmPq4cS6eFg1hJ9kNr2Q",
                                "log_dir": "/data",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    # A directory of another broker.
    Message(
        id="KP-02",
        kind=Kind.BROKER_ID_MISMATCH,
        literal=" doesn't match stored broker.id ",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.8",
                until="3.9",
                regex=r"^(?P<detail>Configured broker\.id (?P<replica>[0-9]+) doesn't match stored broker\.id [^ ]+)",
                source_ref="0.8.2.2 KafkaServer, 3.6.2 KafkaServer",
                examples=(
                    Example(
                        "Configured broker.id 3 doesn't match stored broker.id 2 in meta.properties. If you moved your "
                        "data, make sure your configured broker.id matches.",
                        ({"detail": "Configured broker.id 3 doesn't match stored broker.id 2", "replica": 3},),
                    ),
                ),
            ),
        ),
    ),
    # Thrown, an index ends the start of the broker; in a warning (L-14) it is rebuilt.
    Message(
        id="KP-03",
        kind=Kind.INDEX_CORRUPT,
        literal="Corrupt index found, index file (",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.8",
                until=None,
                regex=(
                    rf"^(?:requirement failed: )?Corrupt index found, index file \({_FILE}\) has non-zero size but "
                    r"the last offset is (?P<offset>-?[0-9]+)"
                ),
                source_ref="0.8.1.1 OffsetIndex:sanityCheck, 3.6.2 OffsetIndex:sanityCheck",
                examples=(
                    Example(
                        "requirement failed: Corrupt index found, index file "
                        "(/data/orders-0/00000000000000000040.index) has non-zero size but the last offset is 40 and "
                        "the base offset is 40",
                        ({**_IN_DATA, "offset": 40},),
                    ),
                    Example(
                        "Corrupt index found, index file (/data/orders-0/00000000000000000040.index) has non-zero size "
                        "but the last offset is 40 which is no greater than the base offset 40.",
                        ({**_IN_DATA, "offset": 40},),
                    ),
                ),
            ),
        ),
    ),
    # While an index is rebuilt or written: the log holds offsets that go back.
    Message(
        id="KP-04",
        kind=Kind.OFFSETS_GO_BACK,
        literal=" no larger than the last offset appended (",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.8",
                until=None,
                regex=(
                    r"^Attempt to append an offset \((?P<offset>[0-9]+)\) to (?:position|slot) [0-9]+ no larger than "
                    rf"the last offset appended \((?P<last>[0-9]+)\) to {_FILE}"
                ),
                source_ref="0.9.0.1 OffsetIndex:append, 3.6.2 OffsetIndex:append",
                examples=(
                    Example(
                        "Attempt to append an offset (40) to position 12 no larger than the last offset appended (51) "
                        "to /data/orders-0/00000000000000000000.index.",
                        ({**_IN_DATA, "offset": 40, "leo": 52},),
                    ),
                ),
            ),
        ),
    ),
    # A batch whose own offsets go back.
    Message(
        id="KP-05",
        kind=Kind.APPEND_OUT_OF_ORDER,
        literal="Out of order offsets found in ",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="2.0",
                until=None,
                regex=rf"^Out of order offsets found in append to {TP}(?:: ?[A-Za-z]*\((?P<offset>[0-9]+)|)",
                source_ref="2.0.1 Log, 3.6.2 UnifiedLog",
                examples=(
                    Example(
                        "Out of order offsets found in append to orders-0: ArrayBuffer(40, 41, 40, 41)",
                        ({**ORDERS, "offset": 40},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="1.1",
                regex=r"^Out of order offsets found in [A-Za-z]",
                source_ref="0.9.0.1 Log:329, 1.1.1 Log",
                examples=(Example("Out of order offsets found in List(40, 41, 40)", ({},)),),
            ),
        ),
    ),
    # The file ends before the place that the index names.
    Message(
        id="KP-06",
        kind=Kind.SEGMENT_TOO_SHORT,
        literal="Failed to read `log header` from file channel ",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="1.0",
                until=None,
                regex=(
                    r"^(?:java\.io\.EOFException: )?Failed to read `log header` from file channel .*Expected to read "
                    r"[0-9]+ bytes, but reached end of file after reading [0-9]+ bytes?\. Started read from "
                    r"(?P<detail>position [0-9]+)"
                ),
                source_ref="1.0.2 Utils:readFullyOrFail, 3.6.2 Utils:readFullyOrFail",
                examples=(
                    Example(
                        "Failed to read `log header` from file channel `sun.nio.ch.FileChannelImpl@1b2c3d4`. Expected "
                        "to read 17 bytes, but reached end of file after reading 0 bytes. Started read from position "
                        "4096.",
                        ({"detail": "position 4096"},),
                    ),
                ),
            ),
        ),
    ),
    # By a consumer, or by code that checks a batch.
    Message(
        id="KP-07",
        kind=Kind.RECORD_CORRUPT,
        literal=(
            "Record is corrupt (stored crc = ",
            "Message is corrupt (stored crc = ",
            "Found record size ",
            " is less than the minimum record overhead (",
            "Received exception when fetching the next record from ",
            "Encountered corrupt message when fetching offset ",
        ),
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            # A size that no record has: zeros that a file system put behind the end, or bytes that changed.
            Variant(
                since="0.10",
                until=None,
                regex=(
                    r"^(?P<detail>Found record size -?[0-9]+ smaller than minimum record overhead(?: \([0-9]+\))?) in "
                    rf"(?:file )?{_FILE}"
                ),
                source_ref="0.11.0.2 FileLogInputStream:74, 3.6.2 FileLogInputStream:80",
                examples=(
                    Example(
                        "Found record size 0 smaller than minimum record overhead (14) in file "
                        "/data/orders-0/00000000000000000040.log.",
                        ({**_IN_DATA, "detail": "Found record size 0 smaller than minimum record overhead (14)"},),
                    ),
                    # As people shorten it.
                    Example(
                        "Found record size 0 smaller than minimum record overhead in "
                        "/data/orders-0/00000000000000000040.log",
                        ({**_IN_DATA, "detail": "Found record size 0 smaller than minimum record overhead"},),
                    ),
                ),
            ),
            Variant(
                since="0.10",
                until=None,
                regex=(
                    r"^(?P<detail>Record size -?[0-9]+ is less than the minimum record overhead "
                    r"\([0-9]+\))"
                ),
                source_ref="0.11.0.2 ByteBufferLogInputStream:72, 3.6.2 ByteBufferLogInputStream:66",
                examples=(
                    Example(
                        "Record size 0 is less than the minimum record overhead (14)",
                        ({"detail": "Record size 0 is less than the minimum record overhead (14)"},),
                    ),
                ),
            ),
            # By a consumer; the cause is the next exception, or the leader's answer (CORRUPT_MESSAGE).
            Variant(
                since="1.0",
                until=None,
                regex=rf"^(?P<detail>Received exception when fetching the next record) from {TP}\. If needed",
                source_ref="1.0.2 Fetcher:1096, 3.6.2 CompletedFetch",
                examples=(
                    Example(
                        "Received exception when fetching the next record from orders-0. If needed, please seek past "
                        "the record to continue consumption.",
                        ({**ORDERS, "detail": "Received exception when fetching the next record"},),
                    ),
                ),
            ),
            Variant(
                since="2.6",
                until=None,
                regex=(
                    r"^(?P<detail>Encountered corrupt message) when fetching offset (?P<offset>[0-9]+) for "
                    rf"topic-partition {TP}"
                ),
                source_ref="2.6.3 Fetcher, 3.6.2 AbstractFetch (KAFKA-9206)",
                examples=(
                    Example(
                        "Encountered corrupt message when fetching offset 42 for topic-partition orders-0",
                        ({**ORDERS, "offset": 42, "detail": "Encountered corrupt message"},),
                    ),
                ),
            ),
            Variant(
                since="0.10",
                until=None,
                regex=(
                    rf"^Record (?:batch )?for partition {TP} at offset (?P<offset>[0-9]+) is invalid, cause: "
                    r"(?P<detail>Record is corrupt \(stored crc = [0-9]+, computed crc = [0-9]+\))"
                ),
                source_ref="0.10.2.2 Fetcher:parseRecord, 3.6.2 CompletedFetch",
                examples=(
                    Example(
                        "Record for partition orders-0 at offset 42 is invalid, cause: Record is corrupt (stored crc = "
                        "1043522731, computed crc = 2761098450)",
                        (
                            {
                                **ORDERS,
                                "offset": 42,
                                "detail": "Record is corrupt (stored crc = 1043522731, computed crc = 2761098450)",
                            },
                        ),
                    ),
                ),
            ),
            # Of records that a producer or a leader sent; they are not appended.
            Variant(
                since="1.0",
                until=None,
                regex=(
                    r"^(?P<detail>Record is corrupt \(stored crc = [0-9]+(?:, computed crc = [0-9]+)?\)) in topic "
                    rf"partition {TP}"
                ),
                source_ref="2.4.1 Log:analyzeAndValidateRecords, 3.6.2 UnifiedLog",
                examples=(
                    Example(
                        "Record is corrupt (stored crc = 1043522731) in topic partition orders-0.",
                        ({**ORDERS, "detail": "Record is corrupt (stored crc = 1043522731)"},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until=None,
                regex=r"^(?P<detail>(?:Record|Message) is corrupt \(stored crc = [0-9]+, computed crc = [0-9]+\))",
                source_ref="0.8.2.2 Message:ensureValid, 3.6.2 DefaultRecordBatch:ensureValid",
                examples=(
                    Example(
                        "Record is corrupt (stored crc = 1043522731, computed crc = 2761098450)",
                        ({"detail": "Record is corrupt (stored crc = 1043522731, computed crc = 2761098450)"},),
                    ),
                    Example(
                        "Message is corrupt (stored crc = 1043522731, computed crc = 2761098450)",
                        ({"detail": "Message is corrupt (stored crc = 1043522731, computed crc = 2761098450)"},),
                    ),
                ),
            ),
        ),
    ),
    # The words of the operating system.
    Message(
        id="KP-08",
        kind=Kind.DISK_FULL,
        literal=("No space left on device", "Disk quota exceeded"),
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.8",
                until=None,
                regex=r"^(?P<detail>(?:[^ ]+ \()?(?:No space left on device|Disk quota exceeded))",
                source_ref="errno ENOSPC and EDQUOT in a java.io.IOException",
                examples=(
                    Example("No space left on device", ({"detail": "No space left on device"},)),
                    Example("Disk quota exceeded", ({"detail": "Disk quota exceeded"},)),
                ),
            ),
        ),
    ),
    Message(
        id="KP-09",
        kind=Kind.DISK_ERROR,
        literal=(
            "Input/output error",
            "Read-only file system",
            "Stale file handle",
            " unsafe memory access operation",
            "Too many open files",
            "Map failed",
            " being used by another process",
            "另一个程序正在使用此文件",
        ),
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.8",
                until=None,
                regex=r"^(?:[^ ]+ \(|[^ ]+: )?(?P<detail>Input/output error|Read-only file system|Stale file handle)",
                source_ref="errno EIO, EROFS, ESTALE in a java.io.IOException",
                examples=(
                    Example("Input/output error", ({"detail": "Input/output error"},)),
                    Example(
                        "/data/orders-0/00000000000000000000.log (Read-only file system)",
                        ({"detail": "Read-only file system"},),
                    ),
                    Example("Stale file handle", ({"detail": "Stale file handle"},)),
                ),
            ),
            # EMFILE and ENFILE; ENOMEM of mmap, mostly for vm.max_map_count (FileChannelImpl.map).
            Variant(
                since="0.8",
                until=None,
                regex=r"^(?:[^ ]+ \(|[^ ]+: )?(?P<detail>Too many open files|Map failed)",
                source_ref="errno EMFILE, ENFILE, ENOMEM in a java.io.IOException",
                examples=(
                    Example("Map failed", ({"detail": "Map failed"},)),
                    Example(
                        "/data/orders-0/00000000000000000042.index (Too many open files)",
                        ({"detail": "Too many open files"},),
                    ),
                    Example("Too many open files in system", ({"detail": "Too many open files"},)),
                ),
            ),
            # ERROR_SHARING_VIOLATION of Windows, in its language.
            Variant(
                since="0.8",
                until=None,
                regex=(
                    r"^[A-Za-z]:.*?: ?(?:The process cannot access the file because it is being used by another process"
                    r"|另一个程序正在使用此文件)"
                ),
                source_ref="java.nio.file.FileSystemException for ERROR_SHARING_VIOLATION",
                fixed={"detail": FILE_IN_USE},
                examples=(
                    Example(
                        "C:\\tmp\\kafka-logs\\orders-0\\00000000000000000000.timeindex.cleaned: The process cannot "
                        "access the file because it is being used by another process.",
                        ({"detail": FILE_IN_USE},),
                    ),
                    Example(
                        "D:\\kafka\\orders-0\\00000000000000000000.log -> D:\\kafka\\orders-0\\"
                        "00000000000000000000.log.deleted: 另一个程序正在使用此文件，进程无法访问。",
                        ({"detail": FILE_IN_USE},),
                    ),
                ),
            ),
            # The JVM makes this of a SIGBUS: a page of a mapped index could not be read or written.
            Variant(
                since="0.8",
                until=None,
                regex=r"^a fault occurred in an? (?:recent )?unsafe memory access operation",
                source_ref="java.lang.InternalError of the JVM, for a SIGBUS in a memory-mapped file (AbstractIndex)",
                fixed={"detail": MAPPED_FILE},
                examples=(
                    Example(
                        "a fault occurred in a recent unsafe memory access operation in compiled Java code",
                        ({"detail": MAPPED_FILE},),
                    ),
                    Example("a fault occurred in an unsafe memory access operation", ({"detail": MAPPED_FILE},)),
                ),
            ),
        ),
    ),
    # The broker loads each directory within its log directories as a partition.
    Message(
        id="KP-11",
        kind=Kind.FOREIGN_DIRECTORY,
        literal="' is not in the form of topic-partition",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.10",
                until=None,
                regex=r"^Found directory (?P<detail>.+), '[^']+' is not in the form of topic-partition",
                source_ref="0.10.2.2 Log:parseTopicPartitionName, 2.4.1 Log:2611, 3.6.2 LocalLog",
                examples=(
                    Example(
                        "Found directory /data/lost+found, 'lost+found' is not in the form of topic-partition or "
                        "topic-partition.uniqueId-delete (if marked for deletion).",
                        ({"detail": "/data/lost+found"},),
                    ),
                ),
            ),
        ),
    ),
    # A write with acks=all, or of a coordinator, to a partition with too few replicas in sync.
    Message(
        id="KP-12",
        kind=Kind.BELOW_MIN_ISR,
        literal=("Number of insync replicas for partition ", " is insufficient to satisfy the min.isr requirement of "),
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.8",
                until="2.3",
                regex=(
                    rf"^Number of insync replicas for partition {EITHER} is \[[0-9]+\], below required minimum "
                    r"\[(?P<detail>[0-9]+)\]"
                ),
                source_ref="0.8.2.2 Partition:appendMessagesToLeader, 1.1.1 Partition:appendRecordsToLeader",
                examples=(
                    Example(
                        "Number of insync replicas for partition orders-0 is [1], below required minimum [2]",
                        ({**ORDERS, "detail": "2"},),
                    ),
                    Example(
                        "Number of insync replicas for partition [orders,0] is [1], below required minimum [2]",
                        ({**ORDERS, "detail": "2"},),
                    ),
                ),
            ),
            Variant(
                since="2.4",
                until=None,
                regex=(
                    r"^The size of the current ISR .* is insufficient to satisfy the min\.isr requirement of "
                    rf"(?P<detail>[0-9]+) for partition {TP}"
                ),
                source_ref="2.4.1 Partition:appendRecordsToLeader, 3.6.2 Partition:appendRecordsToLeader",
                examples=(
                    Example(
                        "The size of the current ISR Set(3) is insufficient to satisfy the min.isr requirement of 2 "
                        "for partition orders-0",
                        ({**ORDERS, "detail": "2"},),
                    ),
                ),
            ),
        ),
    ),
    # A KRaft process that cannot continue with the metadata log ends itself.
    Message(
        id="KP-13",
        kind=Kind.FATAL_FAULT,
        literal=("Encountered fatal fault: ", "] Got exception while starting SharedServer"),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="3.3",
                until=None,
                regex=r"^Encountered fatal fault: (?P<detail>.+)",
                source_ref="3.6.2 ProcessTerminatingFaultHandler:handleFault",
                examples=(
                    Example(
                        "Encountered fatal fault: Error loading metadata log record from offset 42",
                        ({"detail": "Error loading metadata log record from offset 42"},),
                    ),
                ),
            ),
            Variant(
                since="3.4",
                until=None,
                regex=r"^\[SharedServer id=(?P<witness>[0-9]+)\] (?P<detail>Got exception while starting SharedServer)",
                source_ref="3.6.2 SharedServer:start",
                examples=(
                    Example(
                        "[SharedServer id=3] Got exception while starting SharedServer",
                        ({"witness": 3, "detail": "Got exception while starting SharedServer"},),
                    ),
                ),
            ),
        ),
    ),
    # A leader, or any broker, that serves from a log and cannot.
    Message(
        id="KP-10",
        kind=Kind.PROBLEM,
        literal=("Error processing fetch operation on partition ", "Error processing fetch with max size "),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="2.4",
                until=None,
                regex=(
                    rf"^{REPLICA_MANAGER}Error processing fetch with max size [0-9]+ from [a-z]+(?: [^ ]+)? on "
                    rf"partition {TP}: (?:PartitionData)?\(.*?fetchOffset=(?P<offset>-?[0-9]+)"
                ),
                source_ref="2.4.1 ReplicaManager:1027, 3.6.2 ReplicaManager",
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Error processing fetch with max size 1048576 from consumer on "
                        "partition orders-0: PartitionData(topicId=Rh8JkKq4RPy1v6cF2f9x0A, fetchOffset=42, "
                        "logStartOffset=-1, maxBytes=1048576, currentLeaderEpoch=Optional[5], "
                        "lastFetchedEpoch=Optional.empty)",
                        ({"witness": 1, **ORDERS, "offset": 42},),
                    ),
                    Example(
                        "[ReplicaManager broker=1] Error processing fetch with max size 1048576 from replica [2] on "
                        "partition orders-0: (fetchOffset=42, logStartOffset=0, maxBytes=1048576, "
                        "currentLeaderEpoch=Optional[5])",
                        ({"witness": 1, **ORDERS, "offset": 42},),
                    ),
                ),
            ),
            Variant(
                since="0.9",
                until="2.3",
                regex=(
                    rf"^{REPLICA_MANAGER}Error processing fetch operation on partition {EITHER},? offset "
                    r"(?P<offset>[0-9]+)"
                ),
                source_ref="0.10.2.2 ReplicaManager, 1.1.1 ReplicaManager:readFromLocalLog",
                examples=(
                    Example(
                        "[Replica Manager on Broker 1]: Error processing fetch operation on partition [orders,0] "
                        "offset 42",
                        ({"witness": 1, **ORDERS, "offset": 42},),
                    ),
                    Example(
                        "[ReplicaManager broker=1] Error processing fetch operation on partition orders-0, offset 42",
                        ({"witness": 1, **ORDERS, "offset": 42},),
                    ),
                    Example(
                        "[ReplicaManager broker=1] Error processing fetch operation on partition orders-0 offset 42",
                        ({"witness": 1, **ORDERS, "offset": 42},),
                    ),
                ),
            ),
        ),
    ),
    # Compaction of a partition ends until the next start.
    Message(
        id="KP-14",
        kind=Kind.PROBLEM,
        literal="Unexpected exception thrown when cleaning log ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="2.1",
                until=None,
                regex=(
                    r"^(?:\[[^\]]*\]:? )?(?P<detail>Unexpected exception thrown when cleaning log) .*\. Marking its "
                    rf"partition \({TP}\) as uncleanable"
                ),
                source_ref="2.1.1 LogCleaner:343, 3.6.2 LogCleaner",
                examples=(
                    Example(
                        "[kafka-log-cleaner-thread-0]: Unexpected exception thrown when cleaning log "
                        "Log(/data/orders-0). Marking its partition (orders-0) as uncleanable",
                        ({**ORDERS, "detail": "Unexpected exception thrown when cleaning log"},),
                    ),
                ),
            ),
        ),
    ),
    # While a follower resets its log.
    Message(
        id="KP-16",
        kind=Kind.PROBLEM,
        literal=" cannot be aborted and paused since it is in ",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.9",
                until=None,
                regex=rf"^Compaction for partition {EITHER} cannot be aborted and paused since it is in [^ ]+ state",
                source_ref="0.9.0.1 LogCleanerManager:149, 3.6.2 LogCleanerManager",
                fixed={"detail": NOT_PAUSED},
                examples=(
                    Example(
                        "Compaction for partition [orders,0] cannot be aborted and paused since it is in "
                        "LogCleaningPaused state.",
                        ({**ORDERS, "detail": NOT_PAUSED},),
                    ),
                ),
            ),
        ),
    ),
    # On Windows a file that is open cannot be renamed.
    Message(
        id="KP-17",
        kind=Kind.PROBLEM,
        literal="Failed to change the ",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    r"^Failed to change the (?:log|index|time index) file suffix from [^ ]* ?to [^ ]* ?for log segment "
                    r"(?P<offset>[0-9]+)"
                ),
                source_ref="0.8.1.1 LogSegment:changeFileSuffixes, 0.10.2.2 LogSegment",
                fixed={"detail": SEGMENT_NOT_RENAMED},
                examples=(
                    Example(
                        "Failed to change the log file suffix from  to .deleted for log segment 42",
                        ({"detail": SEGMENT_NOT_RENAMED, "offset": 42},),
                    ),
                ),
            ),
        ),
    ),
    # A file of offsets or epochs, after a crash or a full disk.
    Message(
        id="KP-18",
        kind=Kind.PROBLEM,
        literal=(
            "Malformed line in offset checkpoint file",
            "Malformed line in checkpoint file",
            " entries in checkpoint file",
        ),
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.8",
                until=None,
                regex=(r"^Malformed line in (?:offset )?checkpoint file(?: \((?P<log_dir>.+)[/\\][^/\\]+\))?: "),
                source_ref="0.8.2.2 OffsetCheckpoint, 1.1.1 CheckpointFile, 3.9.1 CheckpointFile",
                fixed={"detail": CHECKPOINT_DAMAGED},
                examples=(
                    Example(
                        "Malformed line in checkpoint file (/data/replication-offset-checkpoint): 'orders'",
                        ({"detail": CHECKPOINT_DAMAGED, "log_dir": "/data"},),
                    ),
                    Example("Malformed line in offset checkpoint file: ''", ({"detail": CHECKPOINT_DAMAGED},)),
                ),
            ),
            Variant(
                since="0.8",
                until=None,
                regex=(
                    r"^Expected [0-9]+ entries in checkpoint file(?: \((?P<log_dir>.+)[/\\][^/\\]+\))?, but found only "
                ),
                source_ref="1.1.1 CheckpointFile, 3.9.1 CheckpointFile",
                fixed={"detail": CHECKPOINT_DAMAGED},
                examples=(
                    Example(
                        "Expected 12 entries in checkpoint file (/data/recovery-point-offset-checkpoint), but found "
                        "only 7",
                        ({"detail": CHECKPOINT_DAMAGED, "log_dir": "/data"},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="KP-15",
        kind=Kind.PROBLEM,
        literal="Couldn't build the state from remote store for partition",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="3.5",
                until=None,
                regex=rf"^(?P<detail>Couldn't build the state from remote store) for partition:? {TP}[, ]",
                source_ref="3.6.2 ReplicaFetcherTierStateMachine:buildRemoteLogAuxState",
                examples=(
                    Example(
                        "Couldn't build the state from remote store for partition: orders-0, currentLeaderEpoch: 7, "
                        "leaderLocalLogStartOffset: 90, leaderLogStartOffset: 0, epoch: 6as the previous remote log "
                        "segment metadata was not found",
                        ({**ORDERS, "detail": "Couldn't build the state from remote store"},),
                    ),
                ),
            ),
        ),
    ),
)
"""Failures without an observation kind of their own."""
