"""``kafka.server.ReplicaManager``: appends, fetches of followers, checkpoints and directories that fail."""

from __future__ import annotations

from parsers.details import BY_REQUEST
from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import EITHER, LISTED, NAME, ORDERS, PARTITION, REPLICA_MANAGER, TP, known
from parsers.schema import Kind

_READ_OLD = Each(
    r"[\[( ]\[(?P<bracketed>[a-zA-Z0-9._-]+,[0-9]+)\] -> Fetch Data: \[FetchDataInfo\((?:-1|(?P<leo>[0-9]+)).*? HW: "
    r"\[(?:-1|(?P<leader_hw>[0-9]+))\]"
)
_READ = Each(
    rf"\((?P<tp>{NAME}-[0-9]+),Fetch Data: \[FetchDataInfo\((?:\(offset=)?(?:-1|(?P<leo>[0-9]+)).*? HW: "
    r"\[(?:-1|(?P<leader_hw>[0-9]+))\]"
)

_WITH_ID = r" with uuid (?:Some\([^ ]+\)|None) because the log directory has failed"
"""The rest of a line that names a log directory with its id (KIP-858)."""

MESSAGES: tuple[Message, ...] = (
    # Prints the last offset, one less than the end.
    Message(
        id="RM-1",
        kind=Kind.APPEND,
        literal=" beginning at offset ",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="0.9",
                until=None,
                regex=(
                    rf"^{REPLICA_MANAGER}[0-9]+ (?:bytes )?written to log {TP} beginning at offset "
                    rf"(?:\(offset=)?(?P<offset>-?[0-9]+).*? and ending at offset (?P<last>-?[0-9]+)"
                ),
                source_ref="0.10.2.2 ReplicaManager:406, 2.4.1 ReplicaManager:814, 3.6.2 ReplicaManager:1287",
                fixed={"detail": BY_REQUEST},
                examples=(
                    Example(
                        "[Replica Manager on Broker 1]: 70 bytes written to log orders-0 beginning at offset 40 and "
                        "ending at offset 41",
                        ({"witness": 1, **ORDERS, "offset": 40, "leo": 42, "detail": BY_REQUEST},),
                    ),
                    Example(
                        "[ReplicaManager broker=1] 70 written to log orders-0 beginning at offset (offset=40 "
                        "segment=[0:2800]) and ending at offset 41",
                        ({"witness": 1, **ORDERS, "offset": 40, "leo": 42, "detail": BY_REQUEST},),
                    ),
                ),
            ),
        ),
    ),
    # Any exception that the broker does not expect: the next line is the exception. Later releases name the topic id.
    Message(
        id="RM-10",
        kind=Kind.APPEND_FAILED,
        literal=(
            "Error processing append operation on partition ",
            "Error processing ProducerRequest with correlation id ",
        ),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until=None,
                regex=(
                    rf"^{REPLICA_MANAGER}Error processing append operation on partition "
                    rf"(?:(?P<topic_id>[A-Za-z0-9_-]{{22}}):)?{EITHER}"
                ),
                source_ref="2.4.1 ReplicaManager:787",
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Error processing append operation on partition orders-0",
                        ({"witness": 1, **ORDERS},),
                    ),
                    Example(
                        "[ReplicaManager broker=1] Error processing append operation on partition "
                        "Rh8JkKq4RPy1v6cF2f9x0A:orders-0",
                        ({"witness": 1, "topic_id": "Rh8JkKq4RPy1v6cF2f9x0A", **ORDERS},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    r"^\[KafkaApi-(?P<witness>[0-9]+)\] Error processing ProducerRequest with correlation id [0-9]+ "
                    r"from client .* on partition \[(?P<bracketed>[^\]]+)\]"
                ),
                source_ref="0.8.1.1 KafkaApis:appendToLocalLog, 0.8.2.2 KafkaApis:appendToLocalLog",
                examples=(
                    Example(
                        "[KafkaApi-1] Error processing ProducerRequest with correlation id 2 from client c on "
                        "partition [orders,0]",
                        ({"witness": 1, **ORDERS},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    r"^\[KafkaApi-(?P<witness>[0-9]+)\] Error processing ProducerRequest with correlation id [0-9]+ "
                    r"from client .* on (?P<topic>[A-Za-z0-9._-]+):(?P<partition>[0-9]+)"
                ),
                source_ref="0.8.0 KafkaApis:appendToLocalLog",
                examples=(
                    Example(
                        "[KafkaApi-1] Error processing ProducerRequest with correlation id 2 from client c on orders:0",
                        ({"witness": 1, **ORDERS},),
                    ),
                ),
            ),
        ),
    ),
    # Its fetch offset, and the high watermark it is sent.
    Message(
        id="RM-2",
        kind=Kind.REMOTE_LEO,
        literal="Recording follower broker ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="0.9",
                until="2.3",
                regex=(
                    rf"^{REPLICA_MANAGER}Recording follower broker (?P<replica>[0-9]+) log (?:read results|end "
                    rf"offsets): "
                ),
                source_ref="0.10.2.2 ReplicaManager:914, 1.1.1 ReplicaManager",
                each=(_READ, _READ_OLD),
                own_row=False,
                examples=(
                    Example(
                        "[Replica Manager on Broker 3]: Recording follower broker 2 log read results: "
                        "ArrayBuffer((orders-0,Fetch Data: [FetchDataInfo(50 [0 : 1840],[],false)], HW: [50], "
                        "leaderLogEndOffset: [50], readSize: [1048576], error: [NONE])) ",
                        ({"witness": 3, "replica": 2, **ORDERS, "leo": 50, "leader_hw": 50},),
                        "real",
                    ),
                    Example(
                        "[ReplicaManager broker=2] Recording follower broker 1 log end offsets: "
                        "ArrayBuffer((orders-0,Fetch Data: [FetchDataInfo((offset=40 "
                        "segment=[0:2820]),[],false,None)], HW: [40], leaderLogStartOffset: [0], leaderLogEndOffset: "
                        "[40], followerLogStartOffset: [0], fetchTimeMs: [1795239045993], readSize: [1048576], "
                        "error: [NONE]))",
                        ({"witness": 2, "replica": 1, **ORDERS, "leo": 40, "leader_hw": 40},),
                    ),
                ),
            ),
        ),
    ),
    # In 0.9 and 0.10 kafka.cluster.Partition logs it (P-10).
    Message(
        id="RM-2a",
        kind=Kind.REMOTE_LEO,
        literal="Recorded follower ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    rf"^{REPLICA_MANAGER}Recorded follower (?P<replica>[0-9]+) position {known('leo')} for partition "
                    rf"{EITHER}\."
                ),
                source_ref="0.8.2.2 ReplicaManager",
                examples=(
                    Example(
                        "[Replica Manager on Broker 1]: Recorded follower 2 position 30 for partition [orders,0].",
                        ({"witness": 1, "replica": 2, "leo": 30, **ORDERS},),
                        "real",
                    ),
                    Example(
                        "[Replica Manager on Broker 2]: Recorded follower 1 position -1 for partition [orders,0].",
                        ({"witness": 2, "replica": 1, **ORDERS},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="RM-3",
        kind=Kind.REMOTE_LEO,
        literal=" failed to record follower ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="3.2",
                regex=(
                    rf"^{REPLICA_MANAGER}Leader (?:[0-9]+) failed to record follower (?P<replica>[0-9]+)'s position "
                    rf"(?P<leo>[0-9]+).* for partition {EITHER}[. ]"
                ),
                source_ref="2.4.1 ReplicaManager:1577",
                fixed={"detail": "not an assigned replica"},
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Leader 1 failed to record follower 3's position 40 since the "
                        "replica is not recognized to be one of the assigned replicas 1,2 for partition orders-0. "
                        "Empty records will be returned for this partition.",
                        ({"witness": 1, "replica": 3, "leo": 40, **ORDERS, "detail": "not an assigned replica"},),
                    ),
                ),
            ),
            Variant(
                since="3.3",
                until=None,
                regex=(
                    rf"^{PARTITION}Leader [0-9]+ failed to record follower (?P<replica>[0-9]+)'s position "
                    rf"(?P<leo>[0-9]+),? "
                ),
                source_ref="3.6.2 Partition:1414",
                fixed={"detail": "not an assigned replica"},
                examples=(
                    Example(
                        "[Partition orders-0 broker=1] Leader 1 failed to record follower 3's position 40, and last "
                        "sent high watermark since the replica is not recognized to be one of the assigned replicas "
                        "1,2 for leader epoch 3 with partition epoch 7",
                        ({"witness": 1, "replica": 3, "leo": 40, **ORDERS, "detail": "not an assigned replica"},),
                    ),
                ),
            ),
        ),
    ),
    # Names no partition.
    Message(
        id="RM-4",
        kind=Kind.EPOCH_REPLY,
        literal=" since the log read returned diverging epoch ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=(
                    rf"^{REPLICA_MANAGER}Skipping update of fetch state for follower (?P<replica>[0-9]+) since the "
                    rf"log read returned diverging epoch .*?EpochEndOffset\((?:errorCode=-?[0-9]+, "
                    rf"partition=-?[0-9]+, )?(?:epoch|leaderEpoch)=(?P<leader_epoch>-?[0-9]+), "
                    rf"endOffset=(?P<offset>-?[0-9]+)\)"
                ),
                source_ref="2.8.2 ReplicaManager",
                examples=(
                    Example(
                        "[ReplicaManager broker=2] Skipping update of fetch state for follower 1 since the log read "
                        "returned diverging epoch Some(EpochEndOffset(epoch=0, endOffset=10))",
                        ({"witness": 2, "replica": 1, "leader_epoch": 0, "offset": 10},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="RM-5",
        kind=Kind.CHECKPOINT_ERROR,
        literal="riting to highwatermark file",
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until=None,
                regex=(
                    rf"^{REPLICA_MANAGER}Error (?P<detail>(?:while )?writing to highwatermark file)(?: in directory "
                    rf"(?P<log_dir>.+)|: )"
                ),
                source_ref="0.10.2.2 ReplicaManager:949, 3.6.2 ReplicaManager:2299",
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Error while writing to highwatermark file in directory "
                        "/srv/kafka/broker-1/data2",
                        (
                            {
                                "witness": 1,
                                "detail": "while writing to highwatermark file",
                                "log_dir": "/srv/kafka/broker-1/data2",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Replica Manager on Broker 1]: Error writing to highwatermark file: ",
                        ({"witness": 1, "detail": "writing to highwatermark file"},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="RM-6",
        kind=Kind.DIR_FAILED,
        literal=(
            "Stopping serving replicas in dir ",
            " because they are in the failed log directory ",
            " because they are in the failed log dir /",
            "Halting broker because dir ",
        ),
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="3.7",
                until=None,
                regex=rf"^{REPLICA_MANAGER}Stopping serving replicas in dir (?P<log_dir>.+){_WITH_ID}",
                source_ref="3.9.1 ReplicaManager",
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Stopping serving replicas in dir /srv/kafka/broker-1/data2 with "
                        "uuid Some(qvcrO2CSt1qpEXUEVJ4F_Q) because the log directory has failed.",
                        ({"witness": 1, "log_dir": "/srv/kafka/broker-1/data2"},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=rf"^{REPLICA_MANAGER}Stopping serving replicas in dir (?P<log_dir>.+)",
                source_ref="2.4.1 ReplicaManager:1629, 3.6.2 ReplicaManager:2321",
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Stopping serving replicas in dir /srv/kafka/broker-1/data2",
                        ({"witness": 1, "log_dir": "/srv/kafka/broker-1/data2"},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{REPLICA_MANAGER}Broker [0-9]+ stopped fetcher for partitions [^ ]* and stopped moving logs "
                    rf"for partitions  because they are in the failed log directory (?P<log_dir>.+)\."
                ),
                source_ref="1.1.1 ReplicaManager:1430, 2.4.1 ReplicaManager",
                each=(Each(LISTED),),
                own_row=False,
                examples=(
                    # A directory that held no replica.
                    Example(
                        "[ReplicaManager broker=1] Broker 1 stopped fetcher for partitions  and stopped moving logs "
                        "for partitions  because they are in the failed log directory C:\\my logs.",
                        (),
                    ),
                    Example(
                        "[ReplicaManager broker=1] Broker 1 stopped fetcher for partitions orders-1,orders-2 and "
                        "stopped moving logs for partitions  because they are in the failed log directory "
                        "/srv/kafka/broker-1/data2.",
                        (
                            {"witness": 1, "topic": "orders", "partition": 1, "log_dir": "/srv/kafka/broker-1/data2"},
                            {"witness": 1, "topic": "orders", "partition": 2, "log_dir": "/srv/kafka/broker-1/data2"},
                        ),
                        "real",
                    ),
                ),
            ),
            # Logs that were being moved to the failed directory are not the replicas yet: their names show no loss.
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{REPLICA_MANAGER}Broker [0-9]+ stopped fetcher for partitions (?P<detail>[^ ]*) .*because "
                    rf"they are in the failed log directory (?P<log_dir>.+)\."
                ),
                source_ref="2.4.1 ReplicaManager",
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Broker 1 stopped fetcher for partitions orders-1 and stopped moving "
                        "logs for partitions orders-0 because they are in the failed log directory /data2.",
                        ({"witness": 1, "detail": "orders-1", "log_dir": "/data2"},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="1.0",
                regex=(
                    rf"^{REPLICA_MANAGER}Broker [0-9]+ stopped fetcher for partitions .* because they are in the "
                    rf"failed "
                    r"log dir (?P<log_dir>/.*)"
                ),
                source_ref="1.0.2 ReplicaManager:1383",
                each=(Each(rf"(?:partitions|,) {TP}"),),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Broker 1 stopped fetcher for partitions orders-0, orders-1 because "
                        "they are in the failed log dir /data",
                        (
                            {"witness": 1, **ORDERS, "log_dir": "/data"},
                            {"witness": 1, "topic": "orders", "partition": 1, "log_dir": "/data"},
                        ),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(rf"^(?:{REPLICA_MANAGER})?Halting broker because dir (?P<log_dir>.+) is offline"),
                source_ref="2.4.1 ReplicaManager:224",
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Halting broker because dir /data is offline",
                        ({"witness": 1, "log_dir": "/data"},),
                    ),
                ),
            ),
            # As people write it, without the prefix.
            Variant(
                since="1.0",
                until=None,
                regex=r"^Stopping serving replicas in dir (?P<log_dir>.+)",
                quoted=True,
                source_ref="3.6.2 ReplicaManager:2321",
                examples=(Example("Stopping serving replicas in dir /data", ({"log_dir": "/data"},)),),
            ),
        ),
    ),
    # A leader's line about a fetch that it refused; 0.8.0 and 0.8.1 give the reason in the exception alone.
    Message(
        id="RM-12",
        kind=Kind.OUT_OF_RANGE,
        literal="Error when processing fetch request for partition ",
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    rf"^{REPLICA_MANAGER}Error when processing fetch request for partition \[(?P<bracketed>[^\]]+)\] "
                    r"offset (?P<offset>-?[0-9]+) from (?P<detail>[a-z]+) with correlation id -?[0-9]+\. Possible "
                    r"cause: Request for offset -?[0-9]+ but we only have log segments in the range "
                    r"(?P<log_start>[0-9]+) to (?P<leo>[0-9]+)\."
                ),
                source_ref="0.8.2.2 ReplicaManager:273, Log:437",
                examples=(
                    Example(
                        "[Replica Manager on Broker 2]: Error when processing fetch request for partition [orders,0] "
                        "offset 50 from follower with correlation id 0. Possible cause: Request for offset 50 but we "
                        "only have log segments in the range 0 to 40.",
                        ({"witness": 2, **ORDERS, "offset": 50, "detail": "follower", "log_start": 0, "leo": 40},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.8",
                regex=r"^\[[^\]]*\]:? Error when processing fetch request for partition \[",
                source_ref="0.8.0 KafkaApis:359, 0.8.1.1 KafkaApis:501",
                own_row=False,
                examples=(
                    Example(
                        "[KafkaApi-1] Error when processing fetch request for partition [orders,0] offset 50 from "
                        "consumer with correlation id 0",
                        (),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="RM-11",
        kind=Kind.CHECKPOINT_ERROR,
        literal=("Error while writing to checkpoint file ", "Error while reading checkpoint file "),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until=None,
                regex=(
                    r"^(?:\[[^\]]*\] |There was an error in one of the threads during logs loading: [A-Za-z.]+: )?"
                    r"Error (?P<detail>while (?:writing to|reading) checkpoint file .+)"
                ),
                source_ref="2.4.1 CheckpointFile, 3.6.2 CheckpointFile",
                examples=(
                    Example(
                        "There was an error in one of the threads during logs loading: "
                        "org.apache.kafka.common.errors.KafkaStorageException: Error while reading checkpoint file "
                        "/srv/kafka/broker-2/data/orders-0/leader-epoch-checkpoint",
                        (
                            {
                                "detail": "while reading checkpoint file "
                                "/srv/kafka/broker-2/data/orders-0/leader-epoch-checkpoint"
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "Error while reading checkpoint file /srv/kafka/broker-2/data/orders-0/leader-epoch-checkpoint",
                        (
                            {
                                "detail": "while reading checkpoint file "
                                "/srv/kafka/broker-2/data/orders-0/leader-epoch-checkpoint"
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "Error while writing to checkpoint file /data/replication-offset-checkpoint",
                        ({"detail": "while writing to checkpoint file /data/replication-offset-checkpoint"},),
                    ),
                ),
            ),
        ),
    ),
)
"""Replicas of one broker."""
