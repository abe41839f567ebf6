"""Building blocks of the message patterns: how brokers print partitions, offsets, leaders and in-sync replicas.

All of them stay in what Python's ``re`` and Rust's ``regex`` both take. A pattern names a group after a column of
``OBSERVATIONS``, or ``tp`` (a directory name), ``bracketed`` ("topic,partition"), or ``last`` (the last offset held,
one less than ``leo``).
"""

from __future__ import annotations

NAME = r"@?[a-zA-Z0-9._-]+"
"""A topic, a directory name or a topic id. ``@metadata`` is the metadata log of KRaft in 2.8 (KafkaRaftServer)."""

TP = rf"(?P<tp>{NAME}-[0-9]+)"
"""``orders-0``."""

LISTED = rf"(?:partitions |,){TP}"
"""An entry of ``for partitions orders-0,orders-1``."""

BRACKETED = r"\[(?P<bracketed>[^\]]+)\]"
"""``[orders,0]``: TopicAndPartition.toString up to 1.0."""

EITHER = r"\[?(?P<topic>[a-zA-Z0-9._-]+)(?:-|, ?)(?P<partition>[0-9]+)\]?"
"""``orders-0`` or ``[orders,0]``, for lines that print one in some releases and the other in others."""

NUMBERS = r"[0-9, ]*"
"""Inside of a printed list of broker ids, may be empty."""

LIST = rf"[A-Za-z]*[(\[]{NUMBERS}[)\]]"
"""``List(1, 2)``, ``Set(1,2)``, ``[1, 2]``: the collection's name depends on its size and on the Scala version."""


def number(name: str) -> str:
    """A number that may be negative if that has a meaning (leader -1: none)."""
    return rf"(?P<{name}>-?[0-9]+)"


def known(name: str) -> str:
    """A number for which -1 means "not known": then the group is empty."""
    return rf"(?:-1|(?P<{name}>[0-9]+))"


def metadata(name: str) -> str:
    """A LogOffsetMetadata; the group is its offset, empty where that is -1.

    ``42 [0 : 2983]`` up to 1.1, ``(offset=42 segment=[0:2983])`` 2.0 to 3.4, ``(offset=42segment=[0:2983])`` in 3.5,
    ``(offset=42, segment=[0:2983])`` since 3.6 (LogOffsetMetadata.toString).
    """
    return rf"(?:\(offset=)?{known(name)},? ?(?:segment=)?\[-?[0-9]+ ?: ?-?[0-9]+\]\)?"


TOPIC_ID = rf"(?:Some\((?P<topic_id>{NAME})\)|None)"
"""``Some(Rh8JkKq4RPy1v6cF2f9x0A)`` or ``None``."""

LEADER_AND_ISR = (
    rf"LeaderAndIsr\(leader={number('leader')}, leaderEpoch={number('leader_epoch')}, "
    rf"isr(?:WithBrokerEpoch)?=(?P<isr>.*?), (?:leaderRecoveryState=[A-Z]+, )?"
    rf"(?:zkVersion|partitionEpoch)={number('partition_epoch')}\)"
)
"""LeaderAndIsr.toString since 1.1, with ``isrWithBrokerEpoch=List(BrokerState(..))`` since 3.5 (``[..]`` since 4.0)."""

LEADER_AND_ISR_JSON = (
    rf"\{{\"leader\":{number('leader')},\"leader_epoch\":{number('leader_epoch')},\"isr\":\[(?P<isr>{NUMBERS})\]\}}"
)
"""LeaderAndIsr.toString up to 1.0."""

LEADER_ISR_CONTROLLER_EPOCH = (
    rf"\(Leader:{number('leader')},ISR:(?P<isr>[0-9,]*),(?:LeaderRecoveryState:[A-Z]+,)?"
    rf"LeaderEpoch:{number('leader_epoch')},(?:ZkVersion:{number('partition_epoch')},)?ControllerEpoch:[0-9]+\)"
)
"""LeaderIsrAndControllerEpoch.toString: ``ZkVersion`` since 2.8, ``LeaderRecoveryState`` since 3.2."""

LEADER_AND_ISR_INFO = (
    rf"\(LeaderAndIsrInfo:{LEADER_ISR_CONTROLLER_EPOCH},ReplicationFactor:[0-9]+\),AllReplicas:[0-9,]*\)"
)
"""PartitionStateInfo.toString: in LeaderAndIsr requests up to 0.9, in what brokers cached up to 0.11."""

STATE = (
    rf"controllerEpoch=-?[0-9]+, leader={number('leader')}, leaderEpoch={number('leader_epoch')}, "
    rf"isr=(?P<isr>\[{NUMBERS}\]|[0-9,]*), (?:zkVersion|partitionEpoch)={number('partition_epoch')}"
)
"""Inside of the partition state of a LeaderAndIsr or UpdateMetadata request, after the topic where that is printed."""

PARTITION_STATE = rf"PartitionState\({STATE}[^)]*\)"
"""``PartitionState(controllerEpoch=1, ..)`` up to 2.3: the partition is elsewhere in the line."""

NAMED_STATE = (
    rf"[A-Za-z]*PartitionState\(topicName='(?P<topic>[^']*)', partitionIndex=(?P<partition>[0-9]+), {STATE}[^)]*\)"
)
"""``LeaderAndIsrPartitionState(topicName='orders', partitionIndex=0, ..)`` since 2.4: the partition is inside."""

REGISTRATION = (
    rf"PartitionRegistration\(replicas=\[{NUMBERS}\], directories=\[[^\]]*\], isr=\[(?P<isr>{NUMBERS})\], .*?"
    rf"leader={number('leader')}, leaderRecoveryState=[A-Z]+, leaderEpoch={number('leader_epoch')}, "
    rf"partitionEpoch={number('partition_epoch')}\)"
)
"""PartitionRegistration.toString, in lines of brokers since 4.2: the partition is elsewhere in the line."""

ANY_STATE = rf"[A-Za-z]*PartitionState\((?:topicName='[^']*', partitionIndex=[0-9]+, )?{STATE}[^)]*\)"
"""Either of them, in a line that prints the partition as well."""

BROKER_END_POINT = (
    r"BrokerEndPoint(?:\(id=[0-9]+, host=[^)]*\)|\[id=[0-9]+, host=[^,]*, port=[0-9]+\]|\([0-9]+,[^)]*\))"
)
"""``BrokerEndPoint(1,h,9092)`` up to 2.0, ``BrokerEndPoint(id=1, host=h:9092)`` up to 3.9, ``[..]`` since 4.0."""

LOG = (
    r"Log\(dir=(?P<log_dir>[^,]*)[/\\][^/\\,]+, (?:topicId=(?P<topic_id>[^,]+), )?topic=(?P<topic>[^,]+), "
    r"partition=(?P<partition>[0-9]+), highWatermark={hw}, lastStableOffset=-?[0-9]+, "
    r"logStartOffset=(?P<log_start>[0-9]+), logEndOffset=(?P<leo>[0-9]+)\)"
)
"""Log.toString since 2.4, with ``{hw}`` to be replaced by a pattern for its high watermark."""

FETCH_POSITION = (
    r"FetchPosition\{offset=(?P<offset>[0-9]+), offsetEpoch=(?:Optional\.empty|Optional\[(?P<previous_epoch>-?[0-9]+)\]"
    r"), currentLeader=LeaderAndEpoch\{leader=(?:Optional\[)?[^({}]*(?:\(id: (?P<leader>-?[0-9]+) rack: [^)]*\))?\]?, "
    r"epoch=(?:absent|(?P<leader_epoch>[0-9]+))\}\}"
)
"""A consumer's position, with the epoch of the record before it (SubscriptionState.FetchPosition since 2.3)."""

# -- prefixes of the classes that print (LogContext, logIdent) --------------------------------------------------------

PARTITION_OLD = r"Partition \[(?P<bracketed>[^\]]+)\] on broker (?P<witness>[0-9]+): "
"""kafka.cluster.Partition, 0.9 to 0.11."""

PARTITION = rf"\[Partition {TP} broker=(?P<witness>[0-9]+)\] "
"""kafka.cluster.Partition since 1.0."""

LOG_PREFIX = rf"\[[A-Za-z]*Log[A-Za-z]* partition={TP}(?:, dir=(?P<log_dir>[^\]]+))?\] "
"""kafka.log.Log (1.0 to 3.0), UnifiedLog, LocalLog, LogLoader (since 3.0)."""

FETCHER_OLD = r"\[ReplicaFetcherThread-[0-9]+-(?P<leader>[0-9]+)\][,:] "
"""kafka.server.ReplicaFetcherThread up to 0.11."""

FETCHER = r"\[ReplicaFetcher replicaId=(?P<witness>[0-9]+), leaderId=(?P<leader>[0-9]+)(?:, fetcherId=[0-9]+)?\] "
"""kafka.server.ReplicaFetcherThread, AbstractFetcherThread and RemoteLeaderEndPoint since 1.0."""

FETCHER_MANAGER = r"\[ReplicaFetcherManager on broker (?P<witness>[0-9]+)\] "
"""kafka.server.ReplicaFetcherManager."""

REPLICA_MANAGER = r"\[(?:Replica Manager on Broker |ReplicaManager broker=)(?P<witness>[0-9]+)\]:? "
"""kafka.server.ReplicaManager."""

EPOCH_CACHE = rf"\[LeaderEpochCache {TP}\] "
"""LeaderEpochFileCache since 2.0."""

BROKER_OLD = r"Broker (?P<witness>[0-9]+) "
"""state.change.logger of a broker up to 0.11."""

BROKER = r"\[Broker id=(?P<witness>[0-9]+)\] "
"""state.change.logger of a broker since 1.0."""

ANY_BROKER = r"(?:Broker |\[Broker id=)(?P<witness>[0-9]+)\]? "
"""Either of the two."""

STATE_CHANGE_CONTROLLER_OLD = r"Controller (?P<witness>[0-9]+) epoch [0-9]+ "
"""state.change.logger of a ZooKeeper-mode controller up to 0.11."""

STATE_CHANGE_CONTROLLER = r"\[Controller id=(?P<witness>[0-9]+) epoch=[0-9]+\] "
"""state.change.logger of a ZooKeeper-mode controller since 1.0."""

CONTROLLER = r"\[Controller (?:id=)?(?P<witness>[0-9]+)\]:? "
"""kafka.controller.KafkaController."""

QUORUM_CONTROLLER = r"\[(?:QuorumController id=|Controller )(?P<witness>[0-9]+)\] "
"""org.apache.kafka.controller: ``[Controller 1]`` 2.8 to 3.4, ``[QuorumController id=1]`` since 3.5."""

RAFT = r"\[RaftManager (?:nodeId|id)=(?P<witness>[0-9]+)\] "
"""org.apache.kafka.raft: ``nodeId`` 2.8 to 3.4."""

# -- for examples -----------------------------------------------------------------------------------------------------

ORDERS: dict[str, int | str | None] = {"topic": "orders", "partition": 0}
"""The partition in most examples."""
