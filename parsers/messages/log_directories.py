"""Directories of logs: those that fail or do not let a broker start, and logs that move from one to another."""

from __future__ import annotations

from parsers.details import ALL_DIRS_FAILED, MOVED, NO_TOPIC_ID, NOT_FORMATTED, NOT_READABLE, TWO_DIRECTORIES
from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import LISTED, LOG, ORDERS, REPLICA_MANAGER, TP
from parsers.schema import Kind

_RUNNING = LOG.replace("{hw}", "(?P<hw>[0-9]+)")
_LISTED = Each(rf"(?:Partitions |,){TP}")
_TO_THE_END = r"(?P<log_dir>.+)"
_UNFORMATTED: dict[str, int | str | None] = {"detail": NOT_FORMATTED}
_TWICE: dict[str, int | str | None] = {"detail": TWO_DIRECTORIES, **ORDERS}

MESSAGES: tuple[Message, ...] = (
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
                regex=rf"^Stopping serving logs in dir {_TO_THE_END}",
                source_ref="2.4.1 LogManager:199",
                examples=(
                    Example(
                        "Stopping serving logs in dir /srv/kafka/broker-2/data",
                        ({"log_dir": "/srv/kafka/broker-2/data"},),
                        "real",
                    ),
                    Example("Stopping serving logs in dir C:\\my logs", ({"log_dir": "C:\\my logs"},)),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    r"^Logs for partitions [^ ]* are offline and logs for future partitions  are offline due to "
                    rf"failure on log directory {_TO_THE_END}"
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
                    rf"due to failure on log directory {_TO_THE_END}"
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
            # Logged by both managers.
            Variant(
                since="1.0",
                until="1.0",
                regex=(
                    rf"^(?:{REPLICA_MANAGER})?Partitions [^ ]* are offline due to failure on log directory "
                    rf"{_TO_THE_END}"
                ),
                source_ref="1.0.2 LogManager:190, ReplicaManager:1368",
                each=(_LISTED,),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Partitions orders-0,orders-1 are offline due to failure on log "
                        "directory /data",
                        (
                            {"witness": 1, **ORDERS, "log_dir": "/data"},
                            {"witness": 1, "topic": "orders", "partition": 1, "log_dir": "/data"},
                        ),
                    ),
                    Example(
                        "Partitions orders-0 are offline due to failure on log directory /data",
                        ({**ORDERS, "log_dir": "/data"},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=r"^Shutdown broker because all log dirs in [^ ,]+(?:, [^ ,]+)+ have failed",
                source_ref="1.0.2 LogManager:170, 3.6.2 LogManager:221",
                fixed={"detail": ALL_DIRS_FAILED},
                each=(Each(r"(?: dirs in|,) (?P<log_dir>[^ ,]+)"),),
                own_row=False,
                examples=(
                    Example(
                        "Shutdown broker because all log dirs in /data1, /data2 have failed",
                        (
                            {"log_dir": "/data1", "detail": ALL_DIRS_FAILED},
                            {"log_dir": "/data2", "detail": ALL_DIRS_FAILED},
                        ),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=r"^Shutdown broker because all log dirs in (?P<log_dir>.*) have failed",
                source_ref="2.4.1 LogManager:203",
                fixed={"detail": ALL_DIRS_FAILED},
                examples=(
                    Example(
                        "Shutdown broker because all log dirs in /srv/kafka/broker-2/data have failed",
                        ({"log_dir": "/srv/kafka/broker-2/data", "detail": ALL_DIRS_FAILED},),
                        "real",
                    ),
                    Example(
                        "Shutdown broker because all log dirs in C:\\my logs have failed",
                        ({"log_dir": "C:\\my logs", "detail": ALL_DIRS_FAILED},),
                    ),
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
    # KRaft: the directory was never formatted, or another one is mounted there.
    Message(
        id="M-17",
        kind=Kind.PROBLEM,
        literal=("No readable meta.properties files found", "No `meta.properties` found in "),
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="3.7",
                until=None,
                regex=r"^No readable meta\.properties files found",
                source_ref="3.9.1 MetaPropertiesEnsemble:verify",
                fixed={"detail": NOT_FORMATTED},
                examples=(Example("No readable meta.properties files found.", (_UNFORMATTED,)),),
            ),
            Variant(
                since="2.8",
                until="3.6",
                regex=r"^No `meta\.properties` found in (?P<log_dir>.+?) \(have you run",
                source_ref="3.6.2 BrokerMetadataCheckpoint",
                fixed={"detail": NOT_FORMATTED},
                examples=(
                    Example(
                        "No `meta.properties` found in /data (have you run `kafka-storage.sh` to format the "
                        "directory?)",
                        ({**_UNFORMATTED, "log_dir": "/data"},),
                    ),
                ),
            ),
        ),
    ),
    # Its partition.metadata is missing (KAFKA-16814).
    Message(
        id="M-19",
        kind=Kind.PROBLEM,
        literal=" does not have a topic ID, which is not allowed when running in KRaft mode",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="3.0",
                until="3.8",
                regex=rf"^The log dir {LOG.replace('{hw}', '-?[0-9]+')} does not have a topic ID, which is not allowed",
                source_ref="3.3.2 BrokerMetadataPublisher, 3.7.1 LogManager",
                fixed={"detail": NO_TOPIC_ID},
                examples=(
                    Example(
                        "The log dir Log(dir=/data/orders-0, topic=orders, partition=0, highWatermark=0, "
                        "lastStableOffset=0, logStartOffset=0, logEndOffset=50) does not have a topic ID, which is not "
                        "allowed when running in KRaft mode.",
                        ({**ORDERS, "log_dir": "/data", "log_start": 0, "leo": 50, "detail": NO_TOPIC_ID},),
                    ),
                ),
            ),
        ),
    ),
    # Before a file is opened it is asked whether the process may read it: its owner or its mode may forbid that.
    Message(
        id="M-20",
        kind=Kind.PROBLEM,
        literal="Could not read file ",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.8",
                until=None,
                regex=rf"^Could not read file (?:(?P<log_dir>.*?)[/\\])?{TP}[/\\][0-9]{{20}}",
                source_ref="0.8.2.2 Log:114, 3.9 LogLoader:226",
                fixed={"detail": NOT_READABLE},
                examples=(
                    Example(
                        "Could not read file /data/orders-0/00000000000000000042.log",
                        ({**ORDERS, "log_dir": "/data", "detail": NOT_READABLE},),
                    ),
                    Example(
                        "Could not read file C:\\my data\\orders-0\\00000000000000000042-0000000003.checkpoint",
                        ({**ORDERS, "log_dir": "C:\\my data", "detail": NOT_READABLE},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="M-18",
        kind=Kind.PROBLEM,
        literal="Duplicate log directories f",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="1.1",
                until=None,
                regex=rf"^Duplicate log directories for {TP} are found in both ",
                source_ref="2.4.1 LogManager:loadLog, 4.1.1 LogManager",
                fixed={"detail": TWO_DIRECTORIES},
                examples=(
                    Example(
                        "Duplicate log directories for orders-0 are found in both /data1/orders-0 and /data2/orders-0. "
                        "It is likely because log directory failure happened while broker was replacing current "
                        "replica with future replica.",
                        (_TWICE,),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until=None,
                regex=rf"^Duplicate log directories found: [^,]*[/\\]{TP}(?:\.[0-9a-f]{{32}}-future)?, ",
                source_ref="0.10.2.2 LogManager:loadLogs, 2.4.1 LogManager:loadLog",
                fixed={"detail": TWO_DIRECTORIES},
                examples=(
                    Example("Duplicate log directories found: /data1/orders-0, /data2/orders-0!", (_TWICE,)),
                    Example(
                        "Duplicate log directories found: /data1/orders-0.c7d1fa9df20c45be9acd4c915f764f90-future, "
                        "/data2/orders-0.3e6562b5baf34ee9b5a3cba2bb0a3d5b-future",
                        (_TWICE,),
                    ),
                ),
            ),
        ),
    ),
)
"""Directories of logs."""
