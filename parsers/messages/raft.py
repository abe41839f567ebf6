"""The metadata quorum (``org.apache.kafka.raft``): the same facts about ``__cluster_metadata-0``."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import RAFT
from parsers.schema import Kind

MESSAGES: tuple[Message, ...] = (
    Message(
        id="Q-01",
        kind=Kind.BECOME_LEADER,
        literal="Completed transition to Leader",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=(
                    rf"^{RAFT}Completed transition to Leader(?:State)?\(.*? epoch=(?P<leader_epoch>[0-9]+), "
                    rf"epochStartOffset=(?P<leo>[0-9]+)"
                ),
                source_ref="3.6.2 QuorumState:485",
                fixed={"topic": "__cluster_metadata", "partition": 0},
                examples=(
                    Example(
                        "[RaftManager id=100] Completed transition to Leader(localReplicaKey=ReplicaKey(id=100, "
                        "directoryId=Optional[fSNIaWA3-kXg92RHOdaBHg]), epoch=1, epochStartOffset=0, "
                        "highWatermark=Optional.empty, voterStates={100=ReplicaState(replicaKey=ReplicaKey(id=100, "
                        "directoryId=Optional.empty), endOffset=Optional.empty, lastFetchTimestamp=-1, "
                        "lastCaughtUpTimestamp=-1, hasAcknowledgedLeader=true)}) from CandidateState(localId=100, "
                        "localDirectoryId=fSNIaWA3-kXg92RHOdaBHg,epoch=1, retries=1, "
                        "voteStates={100=org.apache.kafka.raft.CandidateState$VoterState@29c2c826}, "
                        "highWatermark=Optional.empty, electionTimeoutMs=1869)",
                        ({"topic": "__cluster_metadata", "partition": 0, "witness": 100, "leader_epoch": 1, "leo": 0},),
                        "real",
                    ),
                    Example(
                        "[RaftManager nodeId=1] Completed transition to Leader(localId=1, epoch=4, "
                        "epochStartOffset=7, highWatermark=Optional.empty, voterStates={})",
                        ({"topic": "__cluster_metadata", "partition": 0, "witness": 1, "leader_epoch": 4, "leo": 7},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="Q-01a",
        kind=Kind.BECOME_FOLLOWER,
        literal="Completed transition to Follower",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=(
                    rf"^{RAFT}Completed transition to FollowerState\(.*?epoch=(?P<leader_epoch>[0-9]+), "
                    r"(?:leader|leaderId)=(?:[^ ]+ \(id: )?(?P<leader>[0-9]+)[, ]"
                    r"(?:.*?voters=\[(?P<detail>[0-9, ]+)\])?"
                ),
                source_ref="3.6.2 QuorumState:485",
                fixed={"topic": "__cluster_metadata", "partition": 0},
                examples=(
                    Example(
                        "[RaftManager id=1] Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=1, "
                        "leader=127.0.0.1:31100 (id: 100 rack: null) voters=[100], highWatermark=Optional.empty, "
                        "fetchingSnapshot=Optional.empty) from null",
                        (
                            {
                                "topic": "__cluster_metadata",
                                "partition": 0,
                                "witness": 1,
                                "leader_epoch": 1,
                                "leader": 100,
                                "detail": "100",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[RaftManager id=2] Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=1, "
                        "leader=100, "
                        "leaderEndpoints=Endpoints(endpoints={ListenerName(CONTROLLER)=/127.0.0.1:19100}), "
                        "voters=[100], highWatermark=Optional.empty, fetchingSnapshot=Optional.empty) from null",
                        (
                            {
                                "topic": "__cluster_metadata",
                                "partition": 0,
                                "witness": 2,
                                "leader_epoch": 1,
                                "leader": 100,
                                "detail": "100",
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="Q-02",
        kind=Kind.HW,
        literal=(
            "] High watermark set to ",
            "eader high watermark updated to ",
            "Follower high watermark updated to ",
            "] High watermark updated to LogOffsetMetadata(",
        ),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=(
                    rf"^{RAFT}(?:High watermark set|(?:Leader |Follower )?[hH]igh watermark updated) to "
                    rf"(?:Optional\[)?LogOffsetMetadata\(offset=(?P<hw>[0-9]+)(?:.*? from "
                    rf"(?:Optional\[)?LogOffsetMetadata\(offset=(?P<hw_before>[0-9]+))?"
                ),
                source_ref="3.6.2 LeaderState:222, FollowerState:201",
                fixed={"topic": "__cluster_metadata", "partition": 0},
                examples=(
                    Example(
                        "[RaftManager id=2] High watermark set to Optional[LogOffsetMetadata(offset=13, "
                        "metadata=Optional.empty)] for the first time for epoch 1",
                        ({"topic": "__cluster_metadata", "partition": 0, "witness": 2, "hw": 13},),
                        "real",
                    ),
                    Example(
                        "[RaftManager id=100] Leader high watermark updated to LogOffsetMetadata(offset=14, "
                        "metadata=Optional.empty)",
                        ({"topic": "__cluster_metadata", "partition": 0, "witness": 100, "hw": 14},),
                    ),
                    Example(
                        "[RaftManager id=2] Follower high watermark updated to LogOffsetMetadata(offset=14, "
                        "metadata=Optional.empty)",
                        ({"topic": "__cluster_metadata", "partition": 0, "witness": 2, "hw": 14},),
                    ),
                    Example(
                        "[RaftManager nodeId=1] High watermark updated to LogOffsetMetadata(offset=14, "
                        "metadata=Optional.empty)",
                        ({"topic": "__cluster_metadata", "partition": 0, "witness": 1, "hw": 14},),
                    ),
                    Example(
                        "[RaftManager id=100] High watermark set to LogOffsetMetadata(offset=14, "
                        "metadata=Optional.empty) from LogOffsetMetadata(offset=13, metadata=Optional.empty) based "
                        "on indexOfHw 0 and voters []",
                        ({"topic": "__cluster_metadata", "partition": 0, "witness": 100, "hw": 14, "hw_before": 13},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="Q-04",
        kind=Kind.TRUNCATE,
        literal=" from Fetch response from leader ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=(
                    rf"^{RAFT}Truncated to offset (?P<offset>[0-9]+) from Fetch response from leader (?P<leader>[0-9]+)"
                ),
                source_ref="3.6.2 KafkaRaftClient:1136",
                fixed={"topic": "__cluster_metadata", "partition": 0},
                examples=(
                    Example(
                        "[RaftManager id=100] Truncated to offset 7 from Fetch response from leader 101",
                        ({"topic": "__cluster_metadata", "partition": 0, "witness": 100, "offset": 7, "leader": 101},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="Q-04a",
        kind=Kind.TRUNCATE_FULL,
        literal="Fully truncated the log at (",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.6",
                until=None,
                regex=(rf"^{RAFT}Fully truncated the log at \((?P<offset>(?P<leo>[0-9]+)), "),
                source_ref="3.6.2 KafkaRaftClient:1461",
                fixed={"topic": "__cluster_metadata", "partition": 0},
                examples=(
                    Example(
                        "[RaftManager id=100] Fully truncated the log at (70, 4) after downloading snapshot "
                        "OffsetAndEpoch(offset=70, epoch=4) from leader 101",
                        ({"topic": "__cluster_metadata", "partition": 0, "witness": 100, "offset": 70, "leo": 70},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="Q-05",
        kind=Kind.HW_REGRESSED,
        literal="The latest computed high watermark ",
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="3.0",
                until=None,
                regex=(
                    rf"^{RAFT}The latest computed high watermark (?P<hw>[0-9]+) is smaller than the current value "
                    rf"(?P<hw_before>[0-9]+), "
                ),
                source_ref="3.6.2 LeaderState:183",
                fixed={"topic": "__cluster_metadata", "partition": 0},
                examples=(
                    Example(
                        "[RaftManager id=100] The latest computed high watermark 7 is smaller than the current value "
                        "9, which suggests that one of the voters has lost committed data. Full voter replication "
                        "state: []",
                        ({"topic": "__cluster_metadata", "partition": 0, "witness": 100, "hw": 7, "hw_before": 9},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="Q-06",
        kind=Kind.REMOTE_LEO,
        literal="Detected non-monotonic update of fetch offset from nodeId ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="3.0",
                until=None,
                regex=(
                    rf"^{RAFT}Detected non-monotonic update of fetch offset from nodeId (?:ReplicaKey\(id=)?"
                    rf"(?P<replica>[0-9]+)[^:]*: [0-9]+ -> (?P<leo>[0-9]+)"
                ),
                source_ref="3.6.2 LeaderState:277",
                fixed={"topic": "__cluster_metadata", "partition": 0, "detail": "non-monotonic"},
                examples=(
                    Example(
                        "[RaftManager id=100] Detected non-monotonic update of fetch offset from nodeId 101: 9 -> 7",
                        (
                            {
                                "topic": "__cluster_metadata",
                                "partition": 0,
                                "witness": 100,
                                "replica": 101,
                                "leo": 7,
                                "detail": "non-monotonic",
                            },
                        ),
                    ),
                    Example(
                        "[RaftManager id=100] Detected non-monotonic update of fetch offset from nodeId "
                        "ReplicaKey(id=3, directoryId=Optional[GbNY9ZfLGqtkxViibQde6g]): 84 -> 53",
                        (
                            {
                                "topic": "__cluster_metadata",
                                "partition": 0,
                                "witness": 100,
                                "replica": 3,
                                "leo": 53,
                                "detail": "non-monotonic",
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="Q-07",
        kind=Kind.EPOCH_CONFLICT,
        literal=", which is smaller than last written epoch ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=(
                    rf"^{RAFT}Epoch from quorum[- ].*? is (?P<leader_epoch>[0-9]+), which is smaller than last "
                    rf"written epoch (?P<previous_epoch>[0-9]+) in the log"
                ),
                source_ref="3.6.2 QuorumState:143",
                fixed={"topic": "__cluster_metadata", "partition": 0},
                examples=(
                    Example(
                        "[RaftManager id=100] Epoch from quorum-state file is 3, which is smaller than last written "
                        "epoch 5 in the log",
                        (
                            {
                                "topic": "__cluster_metadata",
                                "partition": 0,
                                "witness": 100,
                                "leader_epoch": 3,
                                "previous_epoch": 5,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
)
"""Leadership and high watermark of the metadata log."""
