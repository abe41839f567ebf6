"""``kafka.log.LogManager``: clean or unclean start, logs loaded, made and removed, directories that fail."""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import LISTED, LOG, NAME, ORDERS, TP
from parsers.schema import MOVED, Kind

_LOADED = LOG.replace("{hw}", "-?[0-9]+")
_RUNNING = LOG.replace("{hw}", "(?P<hw>[0-9]+)")
_DIRECTORY = r"(?P<log_dir>[^ ,]+)"

MESSAGES: tuple[Message, ...] = (
    Message(
        id="M-03",
        kind=Kind.CLEAN_RESTART,
        literal=(
            "Found clean shutdown file. Skipping recovery for all logs in data directory: ",
            " since clean shutdown file was found",
        ),
        level="INFO",
        stock=True,
        variants=(
            # At DEBUG up to 2.5: by default a clean start then shows in nothing but the absence of recovery lines.
            Variant(
                since="0.8",
                until="2.5",
                regex=rf"^Found clean shutdown file\. Skipping recovery for all logs in data directory: {_DIRECTORY}",
                source_ref="2.4.1 LogManager:324",
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
            Variant(
                since="2.6",
                until=None,
                regex=(
                    rf"^Skipping recovery (?:for all logs in|of [0-9]+ logs from) {_DIRECTORY} since clean shutdown "
                    rf"file "
                    r"was found"
                ),
                source_ref="2.8.2 LogManager:318, 3.6.2 LogManager:429",
                examples=(
                    Example(
                        "Skipping recovery for all logs in /data since clean shutdown file was found",
                        ({"log_dir": "/data"},),
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
                    rf"clean "
                    r"shutdown file was found"
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
    # The high watermark printed here is not one: it is set from the checkpoint later (P-02), and is the log start now.
    Message(
        id="L-05",
        kind=Kind.LOG_LOADED,
        literal="Completed load of Log(dir=",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.6",
                until=None,
                regex=r"^Completed load of Log\(dir=[^,]*-(?:delete|future|stray), ",
                source_ref="3.6.2 LogManager:456",
                own_row=False,
                examples=(
                    Example(
                        "Completed load of "
                        "Log(dir=/srv/kafka/broker-2/data2/orders-0.a734b284d9de4b03809b540398cc4077-delete, "
                        "topic=orders, partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, "
                        "logEndOffset=0) with 1 segments in 45ms (1/1 loaded in /srv/kafka/broker-2/data2)",
                        (),
                        "real",
                    ),
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
                regex=rf"^Completed load of {_LOADED} with (?P<detail>[0-9]+) segments",
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
                    rf"{_DIRECTORY}"
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
                regex=r"^Disk error (?P<detail>while writing [a-z ]+ checkpoint) in directory (?P<log_dir>[^ :]+)",
                source_ref="2.8.2 LogManager:645",
                examples=(
                    Example(
                        "Disk error while writing recovery offsets checkpoint in directory /data: No space left",
                        ({"detail": "while writing recovery offsets checkpoint", "log_dir": "/data"},),
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
                regex=rf"^Created log for partition {NAME} in [^ ]*-(?:future|delete|stray) with properties ",
                source_ref="3.6.2 LogManager:1026",
                own_row=False,
                each=(Each(rf"for partition {TP} in [^ ]*-future ", Kind.LOG_COPIED),),
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
                regex=rf"^Created log for partition {TP} in [^ ]+ with properties (?:\{{(?P<detail>[^}}]*)\}})?",
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
    # A move between directories also ends with the old log renamed: its directory tells.
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
                regex=r"^Log for partition \[(?P<bracketed>[^\]]+)\] is renamed to (?P<log_dir>[^ ]*)[/\\][^ /\\]+ "
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
                regex=rf"^Log for partition {TP} is renamed to (?P<log_dir>[^ ]*)[/\\][^ /\\]+ and is ",
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
            # A minute after the renaming; by then the topic may be another one.
            Variant(
                since="0.10",
                until=None,
                regex=r"^Deleted log for partition [^ ]+ in [^ ]*-delete",
                source_ref="2.4.1 LogManager:827",
                own_row=False,
                examples=(
                    Example(
                        "Deleted log for partition orders-0 in /srv/kafka/broker-3/data/orders-0."
                        "c7d1fa9df20c45be9acd4c915f764f90-delete.",
                        (),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.10",
                regex=r"^Deleted log for partition \[(?P<bracketed>[^\]]+)\] in ",
                source_ref="0.9.0.1 LogManager",
                examples=(Example("Deleted log for partition [orders,0] in /data/orders-0.", ({**ORDERS},)),),
            ),
        ),
    ),
    Message(
        id="M-10",
        kind=Kind.LOG_DELETED,
        literal=(" is marked as stray and renamed to ", "Found stray log dir Log(dir="),
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="3.6",
                until=None,
                regex=rf"^Log for partition {TP} is marked as stray and renamed to (?P<log_dir>[^ ]*)[/\\][^ /\\]+",
                source_ref="3.6.2 LogManager:1200",
                fixed={"detail": "stray"},
                examples=(
                    Example(
                        "Log for partition orders-0 is marked as stray and renamed to "
                        "/data/orders-0.c7d1fa9df20c45be9acd4c915f764f90-stray",
                        ({**ORDERS, "log_dir": "/data", "detail": "stray"},),
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until=None,
                regex=rf"^Found stray log dir {_LOADED}: ",
                source_ref="3.6.2 LogManager:1482",
                fixed={"detail": "stray"},
                examples=(
                    Example(
                        "Found stray log dir Log(dir=/data/orders-0, topicId=gVALHyhWRNOLVG3R7J71Bg, topic=orders, "
                        "partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=50): the "
                        "topic does not exist in the new metadata image",
                        (
                            {
                                "log_dir": "/data",
                                "topic_id": "gVALHyhWRNOLVG3R7J71Bg",
                                **ORDERS,
                                "log_start": 0,
                                "leo": 50,
                                "detail": "stray",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="M-12",
        kind=Kind.DIR_FAILED,
        literal=(
            "Stopping serving logs in dir ",
            " due to failure on log directory ",
            "Shutdown broker because all log dirs in ",
        ),
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until=None,
                regex=r"^Stopping serving logs in dir (?P<log_dir>[^ ]+)",
                source_ref="2.4.1 LogManager:199",
                examples=(
                    Example(
                        "Stopping serving logs in dir /srv/kafka/broker-2/data",
                        ({"log_dir": "/srv/kafka/broker-2/data"},),
                        "real",
                    ),
                    Example("Stopping serving logs in dir /data", ({"log_dir": "/data"},)),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    r"^Logs for partitions [^ ]* are offline and logs for future partitions  are offline due to "
                    r"failure on log directory (?P<log_dir>[^ ]+)"
                ),
                source_ref="2.4.1 LogManager:234",
                each=(Each(LISTED),),
                own_row=False,
                examples=(
                    Example(
                        "Logs for partitions orders-1,orders-2 are offline and logs for future partitions  are "
                        "offline due to failure on log directory /srv/kafka/broker-1/data2",
                        (
                            {"topic": "orders", "partition": 1, "log_dir": "/srv/kafka/broker-1/data2"},
                            {"topic": "orders", "partition": 2, "log_dir": "/srv/kafka/broker-1/data2"},
                        ),
                        "real",
                    ),
                ),
            ),
            # Future partitions are logs that were being moved there, not the replicas yet.
            Variant(
                since="1.0",
                until=None,
                regex=(
                    r"^Logs for partitions (?P<detail>.*) are offline and logs for future partitions .* are offline "
                    r"due to failure on log directory (?P<log_dir>[^ ]+)"
                ),
                source_ref="2.4.1 LogManager:234",
                examples=(
                    Example(
                        "Logs for partitions orders-0 are offline and logs for future partitions orders-1 are offline "
                        "due to failure on log directory /data",
                        ({"detail": "orders-0", "log_dir": "/data"},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=r"^Shutdown broker because all log dirs in (?P<log_dir>.*) have failed",
                source_ref="2.4.1 LogManager:203",
                examples=(
                    Example(
                        "Shutdown broker because all log dirs in /srv/kafka/broker-2/data have failed",
                        ({"log_dir": "/srv/kafka/broker-2/data"},),
                        "real",
                    ),
                    Example("Shutdown broker because all log dirs in /data have failed", ({"log_dir": "/data"},)),
                ),
            ),
        ),
    ),
    # Both logs are in use: their high watermarks are real here. Afterwards the second one is the replica's.
    Message(
        id="M-13",
        kind=Kind.LOG_LOADED,
        literal="Attempting to replace current log Log(",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.4",
                until=None,
                regex=r"^Attempting to replace current log Log\(dir=",
                source_ref="2.4.1 LogManager:864",
                fixed={"detail": MOVED},
                each=(Each(rf" with {_RUNNING}"),),
                own_row=False,
                examples=(
                    Example(
                        "Attempting to replace current log Log(dir=/srv/kafka/broker-3/data/orders-1, topic=orders, "
                        "partition=1, highWatermark=50, lastStableOffset=50, logStartOffset=0, logEndOffset=50) with "
                        "Log(dir=/srv/kafka/broker-3/data2/orders-1.bd8ed398ecc7407b9fa4c2577e8f43aa-future, "
                        "topic=orders, partition=1, highWatermark=50, lastStableOffset=50, logStartOffset=0, "
                        "logEndOffset=50) for orders-1",
                        (
                            {
                                "detail": "moved between directories",
                                "log_dir": "/srv/kafka/broker-3/data2",
                                "topic": "orders",
                                "partition": 1,
                                "hw": 50,
                                "log_start": 0,
                                "leo": 50,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "Attempting to replace current log Log(dir=/data1/orders-0, topic=orders, partition=0, "
                        "highWatermark=40, lastStableOffset=40, logStartOffset=0, logEndOffset=42) with "
                        "Log(dir=/data2/orders-0.3e6562b5baf34ee9b5a3cba2bb0a3d5b-future, topic=orders, partition=0, "
                        "highWatermark=40, lastStableOffset=40, logStartOffset=0, logEndOffset=42) for orders-0",
                        (
                            {
                                "detail": "moved between directories",
                                "log_dir": "/data2",
                                **ORDERS,
                                "hw": 40,
                                "log_start": 0,
                                "leo": 42,
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="1.1",
                until="2.3",
                regex=r"^Attempting to replace current log Log\((?P<log_dir>[^ ]*)\) with Log\([^ ]*\) for ",
                source_ref="2.3.1 LogManager",
                own_row=False,
                examples=(
                    Example(
                        "Attempting to replace current log Log(/data1/orders-0) with Log(/data2/orders-0."
                        "3e6562b5baf34ee9b5a3cba2bb0a3d5b-future) for orders-0",
                        (),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="M-13a",
        kind=Kind.LOG_MOVED,
        literal="The current replica is successfully replaced with the future replica for ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="1.1",
                until=None,
                regex=rf"^The current replica is successfully replaced with the future replica for {TP}",
                source_ref="2.4.1 LogManager:900",
                examples=(
                    Example(
                        "The current replica is successfully replaced with the future replica for orders-0",
                        (ORDERS,),
                        "real",
                    ),
                ),
            ),
        ),
    ),
)
"""What happens to logs as a whole."""
