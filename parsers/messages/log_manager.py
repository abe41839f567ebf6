"""``kafka.log.LogManager``: clean or unclean start, logs loaded, made and removed, directories and checkpoints that fail."""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import LOG, NAME, TP
from parsers.schema import Kind

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
                        "Found clean shutdown file. Skipping recovery for all logs in data directory: /data",
                        ({"log_dir": "/data"},),
                    ),
                ),
            ),
            Variant(
                since="2.6",
                until=None,
                regex=(
                    rf"^Skipping recovery (?:for all logs in|of [0-9]+ logs from) {_DIRECTORY} since clean shutdown file "
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
                    rf"^(?:Attempting recovery for all logs in|Recovering [0-9]+ logs from) {_DIRECTORY} since no clean "
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
                regex=rf"^Completed load of {_LOADED} with ",
                source_ref="2.6.3 LogManager:357, 3.3.2 LogManager:415, 3.6.2 LogManager:456",
                examples=(
                    Example(
                        "Completed load of Log(dir=/srv/kafka/broker-2/data/orders-0, topic=orders, partition=0, "
                        "highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=10) with 1 segments in "
                        "59ms (1/1 loaded in /srv/kafka/broker-2/data)",
                        (
                            {
                                "log_dir": "/srv/kafka/broker-2/data",
                                "topic": "orders",
                                "partition": 0,
                                "log_start": 0,
                                "leo": 10,
                            },
                        ),
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
                regex=rf"^Disk error (?P<detail>while writing [a-z ]+ checkpoint) in directory (?P<log_dir>[^ :]+)",
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
                regex=rf"^Created log for partition \[(?P<bracketed>[^\]]+)\] in {_DIRECTORY} with properties ",
                source_ref="0.10.2.2 LogManager:367",
                examples=(
                    Example(
                        "Created log for partition [orders,0] in /data with properties {compression.type -> producer}.",
                        ({"topic": "orders", "partition": 0, "log_dir": "/data"},),
                    ),
                ),
            ),
            Variant(
                since="1.1",
                until=None,
                regex=rf"^Created log for partition {NAME} in [^ ]*-(?:future|delete|stray) with properties ",
                source_ref="3.6.2 LogManager:1026",
                own_row=False,
                examples=(
                    Example(
                        "Created log for partition orders-0 in /data2/orders-0.3e6562b5baf34ee9b5a3cba2bb0a3d5b-future "
                        "with properties {}",
                        (),
                    ),
                ),
            ),
            # Prints the directory of logs in some releases and the log's own in others.
            Variant(
                since="1.1",
                until=None,
                regex=rf"^Created log for partition {TP} in [^ ]+ with properties ",
                source_ref="3.6.2 LogManager:1026",
                examples=(
                    Example(
                        "Created log for partition orders-0 in /srv/kafka/broker-2/data/orders-0 with properties "
                        "{min.insync.replicas=1}",
                        ({"topic": "orders", "partition": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="M-09",
        kind=Kind.LOG_DELETED,
        literal="Log for partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.10",
                until=None,
                regex=(
                    rf"^Log for partition (?:\[[^\]]+\]|{NAME}) is (?:marked as stray and )?renamed to [^ ]*"
                    r"-future\.?[^ ]*(?: |$)"
                ).replace("(?: |$)", " "),
                source_ref="2.4.1 LogManager:929",
                own_row=False,
                examples=(
                    Example(
                        "Log for partition orders-0 is renamed to /data2/orders-0.3e6562b5baf34ee9b5a3cba2bb0a3d5b-"
                        "future.7bd7-delete and is scheduled for deletion",
                        (),
                    ),
                ),
            ),
        ),
    ),
)
