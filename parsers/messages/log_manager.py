"""``kafka.log.LogManager``: clean or unclean start, logs loaded, made and removed."""

from __future__ import annotations

from parsers.details import STRAY, STRAY_TOPIC
from parsers.messages.catalogue import Each, Example, Message, Says, Variant
from parsers.messages.patterns import LOG, NAME, ORDERS, TP
from parsers.schema import Kind

_LOADED = LOG.replace("{hw}", "-?[0-9]+")
_REMOVED = _LOADED.replace(r"[^/\\,]+, ", r"[^/\\,]+-(?:delete|stray), ", 1)
_PRESENT = _LOADED.replace(r"[^/\\,]+, ", r"[^/\\,]*-[0-9]+, ", 1)
_DIRECTORY = r"(?P<log_dir>.+?)"
_TO_THE_END = r"(?P<log_dir>.+)"
_MARKED = r".*\.[0-9a-f]{32}-"
_STRAY = (
    "Log(dir=/data/orders-0, topicId=gVALHyhWRNOLVG3R7J71Bg, topic=orders, partition=0, highWatermark=0, "
    "lastStableOffset=0, logStartOffset=0, logEndOffset=50)"
)
_STRAY_LOG: dict[str, int | str | None] = {
    "log_dir": "/data", "topic_id": "gVALHyhWRNOLVG3R7J71Bg", **ORDERS, "log_start": 0, "leo": 50,
}  # fmt: skip

MESSAGES: tuple[Message, ...] = (
    Message(
        id="M-03",
        kind=Kind.CLEAN_RESTART,
        literal=(
            "Found clean shutdown file. Skipping recovery for all logs in data directory",
            " since clean shutdown file was found",
        ),
        level="INFO",
        stock=True,
        variants=(
            # At DEBUG up to 2.5: by default a clean start then shows in nothing but the absence of recovery lines.
            Variant(
                since="0.8",
                until="2.5",
                regex=(
                    r"^Found clean shutdown file\. Skipping recovery for all logs in data directory: "
                    rf"{_TO_THE_END}"
                ),
                source_ref="0.8.2.2 LogManager:121, 2.4.1 LogManager:324",
                examples=(
                    Example(
                        "Found clean shutdown file. Skipping recovery for all logs in data directory: "
                        "/srv/kafka/broker-3/data",
                        ({"log_dir": "/srv/kafka/broker-3/data"},),
                        "real",
                    ),
                    Example(
                        "Found clean shutdown file. Skipping recovery for all logs in data directory: /data",
                        ({"log_dir": "/data"},),
                    ),
                ),
            ),
            # At INFO in 0.8.1, with the directory in quotes.
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    r"^Found clean shutdown file\. Skipping recovery for all logs in data directory "
                    r"'(?P<log_dir>[^']+)'"
                ),
                source_ref="0.8.1.1 LogManager:112",
                examples=(
                    Example(
                        "Found clean shutdown file. Skipping recovery for all logs in data directory '/tmp/kafka-logs'",
                        ({"log_dir": "/tmp/kafka-logs"},),
                    ),
                ),
            ),
            Variant(
                since="2.6",
                until=None,
                regex=(
                    rf"^Skipping recovery (?:for all logs in|of [0-9]+ logs from) {_DIRECTORY} since clean shutdown "
                    r"file was found"
                ),
                source_ref="2.8.2 LogManager:318, 3.6.2 LogManager:429",
                examples=(
                    Example(
                        "Skipping recovery for all logs in /data since clean shutdown file was found",
                        ({"log_dir": "/data"},),
                    ),
                    Example(
                        "Skipping recovery for all logs in C:\\Program Files\\kafka\\logs since clean shutdown file "
                        "was found",
                        ({"log_dir": "C:\\Program Files\\kafka\\logs"},),
                    ),
                    Example(
                        "Skipping recovery of 3 logs from /srv/kafka/broker-3/data since clean shutdown file was found",
                        ({"log_dir": "/srv/kafka/broker-3/data"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="M-03a",
        kind=Kind.DIR_EMPTY,
        literal="No logs found to be loaded in ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.5",
                until=None,
                regex=rf"^No logs found to be loaded in {_TO_THE_END}",
                source_ref="3.5.2 LogManager.loadLogs",
                examples=(
                    Example(
                        "No logs found to be loaded in /srv/kafka/broker-3/data",
                        ({"log_dir": "/srv/kafka/broker-3/data"},),
                        "real",
                    ),
                    Example(
                        "No logs found to be loaded in C:\\kafka\\kafka-logs", ({"log_dir": "C:\\kafka\\kafka-logs"},)
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="M-04",
        kind=Kind.UNCLEAN_RESTART,
        literal=" since no clean shutdown file was found",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.6",
                until=None,
                regex=(
                    rf"^(?:Attempting recovery for all logs in|Recovering [0-9]+ logs from) {_DIRECTORY} since no "
                    r"clean shutdown file was found"
                ),
                source_ref="2.8.2 LogManager:325, 3.6.2 LogManager:432",
                examples=(
                    Example(
                        "Attempting recovery for all logs in /srv/kafka/broker-2/data since no clean shutdown file was "
                        "found",
                        ({"log_dir": "/srv/kafka/broker-2/data"},),
                        "real",
                    ),
                    Example(
                        "Recovering 1 logs from /srv/kafka/broker-2/data since no clean shutdown file was found",
                        ({"log_dir": "/srv/kafka/broker-2/data"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # Lines of the loader before this one name the partition alone, as those about its present log do.
    Message(
        id="L-05a",
        kind=Kind.REMOVED_LOG_LOADED,
        literal="Completed load of Log(dir=",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.6",
                until=None,
                regex=rf"^Completed load of {_REMOVED} with (?P<detail>[0-9]+) segments",
                source_ref="2.6.3 LogManager:357, 3.6.2 LogManager:456",
                examples=(
                    Example(
                        "Completed load of "
                        "Log(dir=/srv/kafka/broker-2/data2/orders-0.a734b284d9de4b03809b540398cc4077-delete, "
                        "topic=orders, partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, "
                        "logEndOffset=0) with 1 segments in 45ms (1/1 loaded in /srv/kafka/broker-2/data2)",
                        ({"log_dir": "/srv/kafka/broker-2/data2", **ORDERS, "log_start": 0, "leo": 0, "detail": "1"},),
                        "real",
                    ),
                    Example(
                        "Completed load of Log(dir=/data/orders-0.a734b284d9de4b03809b540398cc4077-stray, "
                        "topicId=gVALHyhWRNOLVG3R7J71Bg, topic=orders, partition=0, highWatermark=0, "
                        "lastStableOffset=0, logStartOffset=0, logEndOffset=50) with 1 segments, "
                        "local-log-start-offset 0 and log-end-offset 50 in 22ms (6/13 completed in /data)",
                        ({**_STRAY_LOG, "detail": "1"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # The high watermark printed here is not one: it is set from the checkpoint later (P-02), and is the log start now.
    Message(
        id="L-05",
        kind=Kind.LOG_LOADED,
        literal="Completed load of Log(dir=",
        level="INFO",
        stock=True,
        says=Says.NAMES_DIRECTORY,
        variants=(
            Variant(
                since="2.6",
                until=None,
                regex=r"^Completed load of Log\(dir=[^,]*-future, ",
                source_ref="3.6.2 LogManager:456",
                own_row=False,
                examples=(
                    Example(
                        "Completed load of Log(dir=/data2/orders-0.3e6562b5baf34ee9b5a3cba2bb0a3d5b-future, "
                        "topic=orders, partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, "
                        "logEndOffset=10) with 1 segments in 59ms (1/1 loaded in /data2)",
                        (),
                    ),
                ),
            ),
            Variant(
                since="2.6",
                until=None,
                regex=rf"^Completed load of {_PRESENT} with (?P<detail>[0-9]+) segments",
                source_ref="2.6.3 LogManager:357, 3.3.2 LogManager:415, 3.6.2 LogManager:456",
                examples=(
                    Example(
                        "Completed load of Log(dir=/srv/kafka/broker-2/data/orders-0, topic=orders, partition=0, "
                        "highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=10) with 1 segments in "
                        "59ms (1/1 loaded in /srv/kafka/broker-2/data)",
                        ({"log_dir": "/srv/kafka/broker-2/data", **ORDERS, "log_start": 0, "leo": 10, "detail": "1"},),
                        "real",
                    ),
                    Example(
                        "Completed load of Log(dir=/srv/kafka/broker-2/data/purged-0, "
                        "topicId=gVALHyhWRNOLVG3R7J71Bg, topic=purged, partition=0, highWatermark=30, "
                        "lastStableOffset=30, logStartOffset=30, logEndOffset=50) with 1 segments, "
                        "local-log-start-offset 30 and log-end-offset 50 in 5ms (1/3 completed in "
                        "/srv/kafka/broker-2/data)",
                        (
                            {
                                "log_dir": "/srv/kafka/broker-2/data",
                                "topic_id": "gVALHyhWRNOLVG3R7J71Bg",
                                "topic": "purged",
                                "partition": 0,
                                "log_start": 30,
                                "leo": 50,
                                "detail": "1",
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="M-05",
        kind=Kind.CHECKPOINT_ERROR,
        literal=(
            " while reading recovery-point-offset-checkpoint file of directory ",
            " while reading log-start-offset-checkpoint file of directory ",
            "Disk error while writing ",
        ),
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until=None,
                regex=(
                    r"^Error occur?red (?P<detail>while reading [a-z-]+-offset-checkpoint) file of directory "
                    r"(?P<log_dir>[^,]+)"
                ),
                source_ref="0.10.2.2 LogManager:142, 2.8.2 LogManager:333",
                examples=(
                    Example(
                        "Error occured while reading recovery-point-offset-checkpoint file of directory /data",
                        ({"detail": "while reading recovery-point-offset-checkpoint", "log_dir": "/data"},),
                    ),
                    Example(
                        "Error occurred while reading log-start-offset-checkpoint file of directory /data, resetting "
                        "to the base offset of the first segment",
                        ({"detail": "while reading log-start-offset-checkpoint", "log_dir": "/data"},),
                    ),
                ),
            ),
            Variant(
                since="2.7",
                until=None,
                regex=(
                    r"^Disk error (?P<detail>while writing [a-z ]+ checkpoint) in directory "
                    r"(?P<log_dir>(?:[A-Za-z]:)?[^:]+)"
                ),
                source_ref="2.8.2 LogManager:645",
                examples=(
                    Example(
                        "Disk error while writing recovery offsets checkpoint in directory /data: No space left",
                        ({"detail": "while writing recovery offsets checkpoint", "log_dir": "/data"},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.6",
                regex=(r"^Disk error (?P<detail>while writing to [A-Za-z ]+ file) in directory (?P<log_dir>.+)"),
                source_ref="1.0.2 LogManager:549, 2.4.1 LogManager",
                examples=(
                    Example(
                        "Disk error while writing to recovery point file in directory /data",
                        ({"detail": "while writing to recovery point file", "log_dir": "/data"},),
                    ),
                    Example(
                        "Disk error while writing to logStartOffset file in directory /data",
                        ({"detail": "while writing to logStartOffset file", "log_dir": "/data"},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="M-08",
        kind=Kind.LOG_CREATED,
        literal="Created log for partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="1.0",
                regex=rf"^Created log for partition \[(?P<bracketed>[^\]]+)\] in {_DIRECTORY} with properties "
                r"(?:\{(?P<detail>[^}]*)\})?",
                source_ref="0.10.2.2 LogManager:367",
                examples=(
                    Example(
                        "Created log for partition [orders,0] in /srv/kafka/broker-3/data with properties "
                        "{compression.type -> producer, message.format.version -> 0.10.2-IV0, file.delete.delay.ms "
                        "-> 60000, max.message.bytes -> 1000012, min.compaction.lag.ms -> 0, message.timestamp.type "
                        "-> CreateTime, min.insync.replicas -> 2, preallocate -> false, segment.jitter.ms -> 0, "
                        "index.interval.bytes -> 4096, min.cleanable.dirty.ratio -> 0.5, "
                        "unclean.leader.election.enable -> false, delete.retention.ms -> 86400000, retention.bytes "
                        "-> -1, cleanup.policy -> [delete], flush.ms -> 9223372036854775807, segment.bytes -> 5000, "
                        "retention.ms -> 604800000, segment.ms -> 604800000, message.timestamp.difference.max.ms -> "
                        "9223372036854775807, segment.index.bytes -> 10485760, flush.messages -> 9223372036854775807}.",
                        (
                            {
                                **ORDERS,
                                "log_dir": "/srv/kafka/broker-3/data",
                                "detail": "compression.type -> producer, message.format.version -> 0.10.2-IV0, "
                                "file.delete.delay.ms -> 60000, max.message.bytes -> 1000012, min.compaction.lag.ms "
                                "-> 0, message.timestamp.type -> CreateTime, min.insync.replicas -> 2, preallocate "
                                "-> false, segment.jitter.ms -> 0, index.interval.bytes -> 4096, "
                                "min.cleanable.dirty.ratio -> 0.5, unclean.leader.election.enable -> false, "
                                "delete.retention.ms -> 86400000, retention.bytes -> -1, cleanup.policy -> [delete], "
                                "flush.ms -> 9223372036854775807, segment.bytes -> 5000, retention.ms -> 604800000, "
                                "segment.ms -> 604800000, message.timestamp.difference.max.ms -> "
                                "9223372036854775807, segment.index.bytes -> 10485760, flush.messages -> "
                                "9223372036854775807",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "Created log for partition [orders,0] in /data with properties {compression.type -> producer}.",
                        ({**ORDERS, "log_dir": "/data", "detail": "compression.type -> producer"},),
                    ),
                ),
            ),
            Variant(
                since="1.1",
                until=None,
                regex=rf"^Created log for partition {NAME} in {_MARKED}(?:future|delete|stray) with properties ",
                source_ref="3.6.2 LogManager:1026",
                own_row=False,
                each=(Each(rf"for partition {TP} in {_MARKED}future ", Kind.LOG_COPIED),),
                examples=(
                    Example(
                        "Created log for partition orders-0 in "
                        "/srv/kafka/broker-2/data/orders-0.f24be10f5f7d47d0971c9a0252c8bacb-future with properties "
                        "{min.insync.replicas=2}",
                        ({**ORDERS, "kind": "log_copied"},),
                        "real",
                    ),
                    Example(
                        "Created log for partition orders-0 in /data2/orders-0.3e6562b5baf34ee9b5a3cba2bb0a3d5b-future "
                        "with properties {}",
                        ({**ORDERS, "kind": "log_copied"},),
                    ),
                ),
            ),
            # Prints the directory of logs in some releases and the log's own in others.
            Variant(
                since="1.1",
                until=None,
                regex=rf"^Created log for partition {TP} in .+? with properties (?:\{{(?P<detail>[^}}]*)\}})?",
                source_ref="3.6.2 LogManager:1026",
                examples=(
                    Example(
                        "Created log for partition orders-0 in /srv/kafka/broker-2/data/orders-0 with properties "
                        "{min.insync.replicas=1}",
                        ({**ORDERS, "detail": "min.insync.replicas=1"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # A move between directories also ends with the old log renamed: its directory shows that.
    Message(
        id="M-09",
        kind=Kind.LOG_DELETED,
        literal=" is scheduled for deletion",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.10",
                until="1.0",
                regex=r"^Log for partition \[(?P<bracketed>[^\]]+)\] is renamed to (?P<log_dir>.*)[/\\][^/\\]+ "
                r"and is ",
                source_ref="0.10.2.2 LogManager",
                fixed={"detail": "renamed"},
                examples=(
                    Example(
                        "Log for partition [orders,0] is renamed to /data/orders-0.c7d1fa9df20c45be9acd4c915f764f90-"
                        "delete and is scheduled for deletion",
                        ({**ORDERS, "log_dir": "/data", "detail": "renamed"},),
                    ),
                ),
            ),
            Variant(
                since="0.10",
                until=None,
                regex=rf"^Log for partition {TP} is renamed to (?P<log_dir>.*)[/\\][^/\\]+ and is ",
                source_ref="0.10.2.2 LogManager, 2.4.1 LogManager:929",
                fixed={"detail": "renamed"},
                examples=(
                    Example(
                        "Log for partition orders-0 is renamed to /srv/kafka/broker-3/data/orders-0."
                        "c7d1fa9df20c45be9acd4c915f764f90-delete and is scheduled for deletion",
                        ({**ORDERS, "log_dir": "/srv/kafka/broker-3/data", "detail": "renamed"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="M-09a",
        kind=Kind.LOG_DELETED,
        literal="Deleted log for partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.10",
                regex=r"^Deleted log for partition \[(?P<bracketed>[^\]]+)\] in ",
                source_ref="0.9.0.1 LogManager",
                examples=(Example("Deleted log for partition [orders,0] in /data/orders-0.", ({**ORDERS},)),),
            ),
        ),
    ),
    # A minute after the renaming; by then the topic may be another one.
    Message(
        id="M-09b",
        kind=Kind.DIRECTORY_DELETED,
        literal="Deleted log for partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.10",
                until=None,
                regex=rf"^Deleted log for partition {TP} in (?P<log_dir>.*)[/\\][^/\\]+\.[0-9a-f]{{32}}-delete",
                source_ref="2.4.1 LogManager:827",
                examples=(
                    Example(
                        "Deleted log for partition orders-0 in /srv/kafka/broker-3/data/orders-0."
                        "c7d1fa9df20c45be9acd4c915f764f90-delete.",
                        ({**ORDERS, "log_dir": "/srv/kafka/broker-3/data"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="M-10",
        kind=Kind.LOG_DELETED,
        literal=(
            " is marked as stray and renamed to ",
            "Found stray log dir Log(dir=",
            " marked stray and renamed to ",
            "Loaded stray log: ",
            "Found stray partitions ",
            ", treat it as a stray log",
        ),
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="3.6",
                until=None,
                regex=rf"^Log for partition {TP} is marked as stray and renamed to (?P<log_dir>.*)[/\\][^/\\]+",
                source_ref="3.6.2 LogManager:1200",
                fixed={"detail": STRAY},
                examples=(
                    Example(
                        "Log for partition orders-0 is marked as stray and renamed to "
                        "/data/orders-0.c7d1fa9df20c45be9acd4c915f764f90-stray",
                        ({**ORDERS, "log_dir": "/data", "detail": STRAY},),
                    ),
                ),
            ),
            Variant(
                since="3.7",
                until=None,
                regex=rf"^Log in .*?[/\\]{TP} marked stray and renamed to (?P<log_dir>.*)[/\\][^/\\]+",
                source_ref="3.7.1 LogManager:365",
                fixed={"detail": STRAY},
                examples=(
                    Example(
                        "Log in /data/orders-0 marked stray and renamed to "
                        "/data/orders-0.c7d1fa9df20c45be9acd4c915f764f90-stray",
                        ({**ORDERS, "log_dir": "/data", "detail": STRAY},),
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until=None,
                regex=rf"^Found stray log dir {_LOADED}: the topic(?:Id [A-Za-z0-9_-]+)? does not exist in ",
                source_ref="3.3.2 BrokerMetadataPublisher, 3.6.2 LogManager:1482",
                fixed={"detail": STRAY_TOPIC},
                examples=(
                    Example(
                        f"Found stray log dir {_STRAY}: the topic does not exist in the new metadata image",
                        ({**_STRAY_LOG, "detail": STRAY_TOPIC},),
                    ),
                    Example(
                        f"Found stray log dir {_STRAY}: the topicId gVALHyhWRNOLVG3R7J71Bg does not exist in the "
                        "metadata image",
                        ({**_STRAY_LOG, "detail": STRAY_TOPIC},),
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until=None,
                regex=rf"^Found stray log dir {_LOADED}: ",
                source_ref="3.6.2 LogManager:1482",
                fixed={"detail": STRAY},
                examples=(
                    Example(
                        f"Found stray log dir {_STRAY}: the current replica assignment [1, 2] does not contain the "
                        "local brokerId 3.",
                        ({**_STRAY_LOG, "detail": STRAY},),
                    ),
                ),
            ),
            # KAFKA-16814: its partition.metadata is missing.
            Variant(
                since="3.7",
                until=None,
                regex=rf"^The topicId does not exist in {_LOADED}, treat it as a stray log",
                source_ref="4.0.0 LogManager:isStrayKraftReplica",
                fixed={"detail": STRAY},
                examples=(
                    Example(
                        "The topicId does not exist in Log(dir=/data/orders-0, topic=orders, partition=0, "
                        "highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=0), treat it as a stray "
                        "log",
                        ({"log_dir": "/data", **ORDERS, "log_start": 0, "leo": 0, "detail": STRAY},),
                    ),
                ),
            ),
            # ReplicaManager stops them; LogManager renames their directories.
            Variant(
                since="3.6",
                until=None,
                regex=r"^Found stray partitions ",
                source_ref="3.6.1 ReplicaManager:401, 3.9 ReplicaManager:412",
                fixed={"detail": STRAY},
                own_row=False,
                each=(Each(rf"[ ,]{TP}"),),
                examples=(
                    Example(
                        "Found stray partitions orders-0,my-topic-12",
                        (
                            {**ORDERS, "detail": STRAY},
                            {"topic": "my-topic", "partition": 12, "detail": STRAY},
                        ),
                    ),
                ),
            ),
            # Set aside at an earlier start.
            Variant(
                since="3.6",
                until=None,
                regex=r"^Loaded stray log: ",
                source_ref="3.6.2 LogManager, 4.1.1 LogManager",
                own_row=False,
                examples=(Example("Loaded stray log: /data/orders-0.c7d1fa9df20c45be9acd4c915f764f90-stray", ()),),
            ),
        ),
    ),
)
"""Messages about logs as a whole."""
