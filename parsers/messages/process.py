"""A broker process: its version, its start, its registration, its end."""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Says, Variant
from parsers.schema import Kind

MESSAGES: tuple[Message, ...] = (
    # Up to 0.10 on standard output alone. Clients inside the same process print it too.
    Message(
        id="V-01",
        kind=Kind.BROKER_VERSION,
        literal=("Kafka version : ", "Kafka version: "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until=None,
                # What shows or copies a log may put control characters around a word.
                regex=r"^Kafka version ?: [^0-9A-Za-z]*(?P<detail>[0-9A-Za-z][0-9A-Za-z.+_-]*)",
                source_ref="0.10.2.2 AppInfoParser:83, 3.6.2 AppInfoParser:119",
                examples=(
                    Example("Kafka version : 0.10.2.2", ({"detail": "0.10.2.2"},), "real"),
                    Example("Kafka version: 3.9.1", ({"detail": "3.9.1"},), "real"),
                    Example("Kafka version: \x07\u202e7.4.0-ccs\x9b", ({"detail": "7.4.0-ccs"},), "rendered"),
                ),
            ),
        ),
    ),
    # The id of the cluster, at each start: with ZooKeeper, of a broker and of a controller with KRaft.
    Message(
        id="V-02a",
        kind=Kind.BROKER_CLUSTER,
        literal="Cluster ID = ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.10",
                until="3.9",
                regex=r"^Cluster ID = (?P<detail>[^ ]+)",
                source_ref="0.10.2.2 KafkaServer.startup, 3.9.1 KafkaServer.startup",
                examples=(
                    Example("Cluster ID = qaMtww-_RCSJPe73SLH_JA", ({"detail": "qaMtww-_RCSJPe73SLH_JA"},), "real"),
                ),
            ),
        ),
    ),
    Message(
        id="V-02b",
        kind=Kind.BROKER_CLUSTER,
        literal=(" is now STARTING.", "Creating new QuorumController with clusterId "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until=None,
                regex=(
                    r"^\[BrokerLifecycleManager id=(?P<witness>(?P<replica>[0-9]+))(?: [^\]]*)?\] Incarnation [^ ]+ of "
                    r"broker [0-9]+ in cluster (?P<detail>[^ ]+) is now STARTING"
                ),
                source_ref="3.6.1 BrokerLifecycleManager, 4.1.1 BrokerLifecycleManager",
                examples=(
                    Example(
                        "[BrokerLifecycleManager id=1] Incarnation ZizaQ2FxTI2ABSDq1tbOhw of broker 1 in cluster "
                        "rE4JkgYFTMihsEwCOS2wkQ is now STARTING.",
                        ({"witness": 1, "replica": 1, "detail": "rE4JkgYFTMihsEwCOS2wkQ"},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="3.2",
                until=None,
                regex=(
                    r"^\[(?:QuorumController id=|Controller )(?P<witness>(?P<replica>[0-9]+))\] Creating new "
                    r"QuorumController with clusterId (?P<detail>[A-Za-z0-9_-]+)"
                ),
                source_ref="3.3.2 QuorumController, 4.1.1 QuorumController",
                examples=(
                    Example(
                        "[Controller 100] Creating new QuorumController with clusterId 2ZLaCxP2S4-rjbIq9N3uQA, "
                        "authorizer Optional.empty.",
                        ({"witness": 100, "replica": 100, "detail": "2ZLaCxP2S4-rjbIq9N3uQA"},),
                        "real",
                    ),
                    Example(
                        "[QuorumController id=100] Creating new QuorumController with clusterId 4ABWvv65Q9-lt_WP8x_7Ag",
                        ({"witness": 100, "replica": 100, "detail": "4ABWvv65Q9-lt_WP8x_7Ag"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # Once a process: with ZooKeeper, and with KRaft since 3.4.
    Message(
        id="V-03",
        kind=Kind.PROCESS_START,
        literal=("Connecting to zookeeper on ", "], Connecting to ZK: ", "] Starting SharedServer"),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="3.9",
                regex=(r"^(?:\[Kafka Server [0-9]+\], )?Connecting to zookeeper on "),
                source_ref="0.10.2.2 KafkaServer, 2.8.2 KafkaServer",
                examples=(
                    Example("Connecting to zookeeper on 127.0.0.1:19000", ({},), "real"),
                    Example("[Kafka Server 1], Connecting to zookeeper on 127.0.0.1:31000", ({},), "real"),
                ),
            ),
            Variant(
                since="0.8",
                until="0.8",
                regex=r"^\[Kafka Server (?P<witness>(?P<replica>[0-9]+))\], Connecting to ZK: ",
                source_ref="0.8.0 KafkaServer:84",
                examples=(
                    Example("[Kafka Server 1], Connecting to ZK: 127.0.0.1:31000", ({"witness": 1, "replica": 1},)),
                ),
            ),
            Variant(
                since="3.4",
                until=None,
                regex=(r"^\[SharedServer id=(?P<witness>(?P<replica>[0-9]+))\] Starting SharedServer"),
                source_ref="3.4.1 SharedServer",
                examples=(
                    Example("[SharedServer id=100] Starting SharedServer", ({"witness": 100, "replica": 100},), "real"),
                ),
            ),
        ),
    ),
    # KRaft, once for each role of a process; since 3.4 after V-03.
    Message(
        id="V-04",
        kind=Kind.PROCESS_START,
        literal=("] Starting broker", "] Starting controller"),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until=None,
                regex=(
                    r"^\[(?:BrokerServer|ControllerServer) (?:id|nodeId)=(?P<witness>(?P<replica>[0-9]+))\] Starting "
                    r"(?P<detail>broker|controller)"
                ),
                source_ref="3.6.2 BrokerServer:154",
                examples=(
                    Example(
                        "[BrokerServer id=2] Starting broker",
                        ({"witness": 2, "replica": 2, "detail": "broker"},),
                        "real",
                    ),
                    Example(
                        "[ControllerServer id=100] Starting controller",
                        ({"witness": 100, "replica": 100, "detail": "controller"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="V-03a",
        kind=Kind.PROCESS_STARTED,
        literal=("], started", "] started", "Kafka Server started"),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(r"^\[Kafka Server (?P<witness>(?P<replica>[0-9]+))\], started"),
                source_ref="0.10.2.2 KafkaServer:282",
                examples=(Example("[Kafka Server 3], started", ({"witness": 3, "replica": 3},), "real"),),
            ),
            Variant(
                since="1.0",
                until="3.9",
                regex=(r"^\[KafkaServer id=(?P<witness>(?P<replica>[0-9]+))\] started"),
                source_ref="2.4.1 KafkaServer",
                examples=(Example("[KafkaServer id=3] started", ({"witness": 3, "replica": 3},), "real"),),
            ),
            Variant(
                since="2.8",
                until=None,
                regex=(r"^(?:\[KafkaRaftServer nodeId=(?P<witness>(?P<replica>[0-9]+))\] )?Kafka Server started"),
                source_ref="3.6.2 KafkaRaftServer",
                examples=(
                    Example(
                        "[KafkaRaftServer nodeId=100] Kafka Server started", ({"witness": 100, "replica": 100},), "real"
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="V-04a",
        kind=Kind.BROKER_REGISTERED,
        says=Says.OWN_EPOCH,
        literal="Successfully registered broker ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until=None,
                regex=(
                    r"^\[BrokerLifecycleManager id=(?P<witness>[0-9]+)[^\]]*\] Successfully registered broker "
                    r"(?P<replica>[0-9]+) with broker epoch (?P<offset>-?[0-9]+)"
                ),
                source_ref="3.6.2 BrokerLifecycleManager:346",
                examples=(
                    Example(
                        "[BrokerLifecycleManager id=2] Successfully registered broker 2 with broker epoch 13",
                        ({"witness": 2, "replica": 2, "offset": 13},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # The record of a registration is at the offset that is its broker epoch (KIP-631).
    Message(
        id="V-04c",
        kind=Kind.BROKER_CAUGHT_UP,
        literal="The broker has caught up. Transitioning from STARTING to RECOVERY",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until=None,
                regex=(
                    r"^\[BrokerLifecycleManager id=(?P<witness>(?P<replica>[0-9]+))[^\]]*\] The broker has caught up\. "
                    r"Transitioning from STARTING to RECOVERY"
                ),
                source_ref="3.6.2 BrokerLifecycleManager:404",
                examples=(
                    Example(
                        "[BrokerLifecycleManager id=2] The broker has caught up. Transitioning from STARTING to "
                        "RECOVERY.",
                        ({"witness": 2, "replica": 2},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # After a start, or after its ZooKeeper session expired.
    Message(
        id="V-05",
        kind=Kind.BROKER_REGISTERED,
        says=Says.OWN_EPOCH,
        literal=" at path /brokers/ids/",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="3.9",
                regex=(
                    r"^Registered broker (?P<replica>[0-9]+) at path /brokers/ids/[0-9]+ with address(?:es)?:? "
                    r"(?:.*czxid "
                    r"\(broker epoch\): (?P<offset>[0-9]+))?"
                ),
                source_ref="0.10.2.2 ZkUtils:396, 2.4.1 KafkaZkClient:94",
                examples=(
                    Example(
                        "Registered broker 3 at path /brokers/ids/3 with addresses: "
                        "EndPoint(127.0.0.1,19003,ListenerName(PLAINTEXT),PLAINTEXT)",
                        ({"replica": 3},),
                        "real",
                    ),
                    Example(
                        "Registered broker 1 at path /brokers/ids/1 with address 127.0.0.1:31001.",
                        ({"replica": 1},),
                        "real",
                    ),
                    Example(
                        "Registered broker 2 at path /brokers/ids/2 with addresses: PLAINTEXT://127.0.0.1:19002, "
                        "czxid (broker epoch): 62",
                        ({"replica": 2, "offset": 62},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="V-06",
        kind=Kind.SHUTDOWN_BEGIN,
        literal=(
            "] Starting controlled shutdown",
            "], Starting controlled shutdown",
            "] Beginning controlled shutdown",
            "Terminating process due to signal ",
        ),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(r"^\[Kafka Server (?P<witness>(?P<replica>[0-9]+))\], (?P<detail>Starting controlled shutdown)"),
                source_ref="0.10.2.2 KafkaServer:442",
                examples=(
                    Example(
                        "[Kafka Server 3], Starting controlled shutdown",
                        ({"witness": 3, "replica": 3, "detail": "Starting controlled shutdown"},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    r"^\[(?:KafkaServer|BrokerLifecycleManager) id=(?P<witness>(?P<replica>[0-9]+))[^\]]*\] "
                    r"(?P<detail>(?:Starting|Beginning) controlled shutdown)"
                ),
                source_ref="3.6.2 KafkaServer:818, BrokerLifecycleManager:230",
                examples=(
                    Example(
                        "[KafkaServer id=3] Starting controlled shutdown",
                        ({"witness": 3, "replica": 3, "detail": "Starting controlled shutdown"},),
                        "real",
                    ),
                    Example(
                        "[BrokerLifecycleManager id=3] Beginning controlled shutdown.",
                        ({"witness": 3, "replica": 3, "detail": "Beginning controlled shutdown"},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(r"^Terminating process due to signal (?P<detail>SIG[A-Z]+)"),
                source_ref="2.8.2 LoggingSignalHandler",
                examples=(Example("Terminating process due to signal SIGTERM", ({"detail": "SIGTERM"},), "real"),),
            ),
        ),
    ),
    Message(
        id="V-06a",
        kind=Kind.SHUTDOWN_COMPLETE,
        literal="hut down completed",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(r"^\[Kafka Server (?P<witness>(?P<replica>[0-9]+))\], [sS]hut down completed"),
                source_ref="0.8.0 KafkaServer:225, 0.10.2.2 KafkaServer:612",
                examples=(
                    Example("[Kafka Server 3], shut down completed", ({"witness": 3, "replica": 3},), "real"),
                    Example("[Kafka Server 3], Shut down completed", ({"witness": 3, "replica": 3},)),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(r"^\[(?:KafkaServer|BrokerServer) id=(?P<witness>(?P<replica>[0-9]+))\] shut down completed"),
                source_ref="3.6.2 KafkaServer:890",
                examples=(
                    Example("[KafkaServer id=3] shut down completed", ({"witness": 3, "replica": 3},), "real"),
                    Example("[BrokerServer id=2] shut down completed", ({"witness": 2, "replica": 2},), "real"),
                ),
            ),
            # It stopped before it knew its id, which it reads before its logs are opened (in 0.9 after). It does not
            # show how the process before it ended.
            Variant(
                since="0.9",
                until="3.9",
                regex=r"^shut down completed",
                source_ref="0.9.0.1 KafkaServer:555, 2.3.1 KafkaServer:217, KafkaServer:656",
                each=(Each(r"shut down completed", Kind.START_FAILED),),
                own_row=False,
                examples=(Example("shut down completed", ({"kind": "start_failed"},)),),
            ),
            # A consumer's, in the same words.
            Variant(
                since="0.8",
                until="1.1",
                regex=r"^(?:\[[^\]]*\],? )?ZKConsumerConnector shut down completed",
                source_ref="0.8.2.2 ZookeeperConsumerConnector:182",
                own_row=False,
                examples=(Example("[group_host-1-ab], ZKConsumerConnector shut down completed", ()),),
            ),
        ),
    ),
)
"""From start to end."""
