"""Lines of brokers about their replicas that add nothing: counts, steps, requests repeated elsewhere.

Other lines have the same and more. These are recognised, so that no user has to ask whether one of them matters, and
give no row.
"""

from __future__ import annotations

from parsers.messages.catalogue import Message, Wording, routine
from parsers.messages.patterns import BROKER, FETCHER_OLD, PARTITION, PARTITION_OLD, REPLICA_MANAGER
from parsers.schema import Kind

MESSAGES: tuple[Message, ...] = (
    routine(
        "P-22a",
        Kind.REMOTE_LEO,
        " acks satisfied ",
        "TRACE",
        False,
        Wording(
            "0.8",
            "0.11",
            rf"^{PARTITION_OLD}[0-9]+(?:/-?[0-9]+)? acks satisfied ",
            "0.10.2.2 Partition:323",
            "Partition [orders,0] on broker 3: 1 acks satisfied for orders-0 with acks = -1",
            "real",
        ),
        Wording(
            "1.0",
            "1.1",
            rf"^{PARTITION}[0-9]+ acks satisfied ",
            "1.1.1 Partition:415",
            "[Partition orders-0 broker=2] 1 acks satisfied with acks = -1",
            "real",
        ),
    ),
    routine(
        "P-46",
        Kind.REMOTE_LEO,
        (
            "Lagging replicas for partition ",
            "Lagging replicas are ",
        ),
        "DEBUG",
        False,
        Wording(
            "0.9",
            "0.10",
            rf"^{PARTITION_OLD}Lagging replicas for partition ",
            "0.10.2.2 Partition:432",
            "Partition [orders,0] on broker 1: Lagging replicas for partition [orders,0] are 2,3",
        ),
        Wording(
            "0.11",
            "2.3",
            rf"^(?:{PARTITION_OLD}|\[Partition [^\]]+\] )Lagging replicas are ",
            "1.1.1 Partition:552",
            "[Partition orders-0 broker=1] Lagging replicas are 2,3",
        ),
    ),
    routine(
        "P-52",
        Kind.LOG_LOADED,
        " Skipping future replica creation",
        "INFO",
        True,
        Wording(
            "2.4",
            None,
            rf"^{PARTITION}Current log directory .* is same as requested log dir ",
            "2.4.1 Partition:285",
            (
                "[Partition orders-0 broker=1] Current log directory /d2 is same as requested log dir /d2. "
                "Skipping future replica creation."
            ),
            "real",
        ),
    ),
    routine(
        "R-05a",
        Kind.HW,
        "Updated HW of replica to ",
        "TRACE",
        False,
        Wording("2.4", "2.5", r"^Updated HW of replica to ", "2.4.1 Replica:99", "Updated HW of replica to 42"),
    ),
    routine(
        "F-21a",
        Kind.EPOCH_REQUEST,
        "Build leaderEpoch request ",
        "DEBUG",
        False,
        Wording(
            "0.11",
            "2.0",
            rf"^(?:{FETCHER_OLD}|\[ReplicaFetcher [^\]]+\] )Build leaderEpoch request ",
            "0.11.0.2 ReplicaFetcherThread:292, 1.1.1 ReplicaFetcherThread",
            (
                "[ReplicaFetcherThread-0-2]: Build leaderEpoch request Map(orders-0 -> 2) for broker "
                "BrokerEndPoint(2,h,9092)"
            ),
            "real",
        ),
    ),
    routine(
        "FM-6",
        Kind.FETCHER_ADDED,
        "Beginning/resuming copy of partition ",
        "INFO",
        True,
        Wording(
            "2.3",
            None,
            r"^Beginning/resuming copy of partition ",
            "3.6.2 LocalLeaderEndPoint:196",
            (
                "Beginning/resuming copy of partition orders-0 from offset 0. Including this partition, "
                "there are 1 remaining partitions to copy by this thread."
            ),
            "real",
        ),
    ),
    routine(
        "RM-4a",
        Kind.REMOTE_LEO,
        "While recording the replica LEO, the partition ",
        "WARN",
        True,
        Wording(
            "0.9",
            "3.2",
            rf"^{REPLICA_MANAGER}While recording the replica LEO, the partition ",
            "0.10.2.2 ReplicaManager, 2.4.1 ReplicaManager:1584",
            (
                "[Replica Manager on Broker 1]: While recording the replica LEO, the partition [orders,0] "
                "hasn't been created."
            ),
        ),
    ),
    routine(
        "RM-6a",
        Kind.DIR_FAILED,
        "Stopped serving replicas in dir ",
        "WARN",
        True,
        Wording(
            "1.0",
            None,
            rf"^{REPLICA_MANAGER}Stopped serving replicas in dir ",
            "2.4.1 ReplicaManager:1629",
            "[ReplicaManager broker=1] Stopped serving replicas in dir /d2",
            "real",
        ),
    ),
    routine(
        "RM-8",
        Kind.APPEND,
        "Fetching log segment for partition ",
        "TRACE",
        False,
        Wording(
            "0.10",
            None,
            rf"^{REPLICA_MANAGER}Fetching log segment for partition ",
            "2.4.1 ReplicaManager:972",
            (
                "[ReplicaManager broker=1] Fetching log segment for partition orders-0, offset 42, "
                "partition fetch size 1048576, remaining response limit 10485760, ignoring "
                "response/partition size limits"
            ),
        ),
    ),
    routine(
        "RM-9",
        Kind.SHUTDOWN_COMPLETE,
        "hut down completely",
        "INFO",
        True,
        Wording(
            "0.8",
            None,
            r"^\[[^\]]+\][:,]? [Ss]hut down completely",
            "0.10.2.2 ReplicaManager, 3.6.2 ReplicaManager:2383",
            "[Replica Manager on Broker 2]: Shut down completely",
            "real",
        ),
    ),
    routine(
        "S-28",
        Kind.TRANSITION,
        "Stopped fetchers as part of LeaderAndIsr request ",
        "INFO",
        True,
        Wording(
            "2.6",
            "3.9",
            rf"^{BROKER}Stopped fetchers as part of LeaderAndIsr request ",
            "3.6.2 ReplicaManager",
            (
                "[Broker id=2] Stopped fetchers as part of LeaderAndIsr request correlationId 3 from "
                "controller 9 epoch 1 as part of the become-leader transition for 1 partitions"
            ),
            "real",
        ),
    ),
    routine(
        "S-32a",
        Kind.TRANSITION,
        (
            "eceived StopReplica request ",
            "Handling StopReplica request correlationId ",
        ),
        "TRACE",
        True,
        Wording(
            "2.6",
            "3.9",
            rf"^{BROKER}Received StopReplica request ",
            "2.8.2 ReplicaManager",
            (
                "[Broker id=1] Received StopReplica request StopReplicaPartitionState(partitionIndex=0, "
                "leaderEpoch=3, deletePartition=true) correlation id 6 from controller 9 epoch 1 for "
                "partition orders-0"
            ),
        ),
        Wording(
            "2.6",
            "3.9",
            rf"^{BROKER}Handling StopReplica request correlationId ",
            "3.6.2 ReplicaManager:478",
            "[Broker id=1] Handling StopReplica request correlationId 6 from controller 9 for 1 partitions",
            "real",
        ),
    ),
    routine(
        "S-40a",
        Kind.TRANSITION,
        (
            " fetchers as part of controlled shutdown for ",
            " partition(s).",
        ),
        "INFO",
        True,
        Wording(
            "3.3",
            None,
            rf"^{BROKER}Stopped fetchers as part of controlled shutdown for ",
            "3.6.2 ReplicaManager:2682",
            "[Broker id=2] Stopped fetchers as part of controlled shutdown for 3 partitions",
            "real",
        ),
        Wording(
            "3.0",
            None,
            rf"^{BROKER}Deleting [0-9]+ partition",
            "3.6.2 ReplicaManager:2526",
            "[Broker id=1] Deleting 1 partition(s).",
            "real",
        ),
        # While a cluster moves from ZooKeeper to KRaft.
        Wording(
            "3.7",
            "3.9",
            rf"^{BROKER}While handling full LeaderAndIsr request from KRaft controller ",
            "3.9.1 ReplicaManager",
            "[Broker id=1] While handling full LeaderAndIsr request from KRaft controller 100 with correlation id 1, "
            "found 0 stray partition(s).",
            "real",
        ),
    ),
)
