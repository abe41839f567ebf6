"""Failures of the metadata quorum: a node that cannot continue with its own data, or that does not lead any longer."""

from __future__ import annotations

from parsers.details import (
    ID_IN_USE,
    QUORUM_CONTRADICTS,
    QUORUM_EVENT,
    QUORUM_FEATURE,
    QUORUM_KEY,
    QUORUM_LEFT,
    QUORUM_OTHER_CLUSTER,
    QUORUM_RECORD,
    QUORUM_REFUSED,
    QUORUM_SNAPSHOT,
    QUORUM_TRUNCATION,
    QUORUM_UNLED,
    QUORUM_VOTES,
    QUORUM_WAITS,
)
from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import QUORUM_CONTROLLER, RAFT
from parsers.schema import Kind

_METADATA: dict[str, int | str] = {"topic": "__cluster_metadata", "partition": 0}
_TRUNCATION = {**_METADATA, "detail": QUORUM_TRUNCATION}
_CONTRADICTS = {**_METADATA, "detail": QUORUM_CONTRADICTS}
_RECORD: dict[str, int | str | None] = {**_METADATA, "detail": QUORUM_RECORD}
_LEFT = {**_METADATA, "detail": QUORUM_LEFT}
_EVENT = {**_METADATA, "detail": QUORUM_EVENT}
_VOTES = {**_METADATA, "detail": QUORUM_VOTES}
_UNLED = {**_METADATA, "detail": QUORUM_UNLED}
_WAITS = {**_METADATA, "detail": QUORUM_WAITS}
_OTHER_CLUSTER = {**_METADATA, "detail": QUORUM_OTHER_CLUSTER}
_LIFECYCLE = r"\[BrokerLifecycleManager id=(?P<witness>[0-9]+)[^\]]*\] Unable to register broker [0-9]+ because the "
_FEATURE: dict[str, int | str | None] = {"detail": QUORUM_FEATURE}
_SNAPSHOT: dict[str, int | str | None] = {**_METADATA, "detail": QUORUM_SNAPSHOT}
_REFUSED = {**_METADATA, "detail": QUORUM_REFUSED}
_KEY = {**_METADATA, "detail": QUORUM_KEY}
_NO_LEADER = r"(?:Candidate|Prospective|Resigned|Unattached|Voted)"

MESSAGES: tuple[Message, ...] = (
    # A follower whose leader lacks records that the follower knows to be committed.
    Message(
        id="Q-20",
        kind=Kind.PROBLEM,
        literal=", which is below the current high watermark",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=(
                    r"^(?:The leader requested truncation|Attempt to truncate) to offset (?P<offset>[0-9]+), which is "
                    r"below the current high watermark (?:[A-Za-z]*\(offset=)?(?P<hw>[0-9]+)"
                ),
                source_ref="3.6.2 KafkaRaftClient:handleFetchResponse, KafkaMetadataLog:truncateTo",
                fixed=_TRUNCATION,
                examples=(
                    Example(
                        "The leader requested truncation to offset 40, which is below the current high watermark "
                        "LogOffsetMetadata(offset=51, metadata=Optional[(segmentBaseOffset=0,"
                        "relativePositionInSegment=3742)])",
                        ({**_TRUNCATION, "offset": 40, "hw": 51},),
                    ),
                    Example(
                        "Attempt to truncate to offset 40, which is below the current high watermark 51",
                        ({**_TRUNCATION, "offset": 40, "hw": 51},),
                    ),
                ),
            ),
        ),
    ),
    # A node that has another epoch or leader than the others.
    Message(
        id="Q-21",
        kind=Kind.PROBLEM,
        literal=(" which is inconsistent with current leader ", " since the current epoch "),
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=(
                    r"^Received request or response with leader [^ ]+ and epoch (?P<leader_epoch>[0-9]+) which is "
                    r"inconsistent with current leader [^ ]+ and epoch (?P<previous_epoch>[0-9]+)"
                ),
                source_ref="3.6.2 KafkaRaftClient:maybeTransition",
                fixed=_CONTRADICTS,
                examples=(
                    Example(
                        "Received request or response with leader OptionalInt[1] and epoch 5 which is inconsistent "
                        "with current leader OptionalInt.empty and epoch 0",
                        ({**_CONTRADICTS, "leader_epoch": 5, "previous_epoch": 0},),
                    ),
                ),
            ),
            Variant(
                since="2.7",
                until=None,
                regex=(
                    r"^Cannot transition to [A-Z][a-z]+ with .*?epoch[= ](?P<leader_epoch>[0-9]+) since the current "
                    r"epoch (?P<previous_epoch>[0-9]+) is larger"
                ),
                source_ref="3.6.2 QuorumState:transitionToFollower, 4.0.0 QuorumState:transitionToFollower",
                fixed=_CONTRADICTS,
                examples=(
                    Example(
                        "Cannot transition to Follower with leaderId=2 and epoch=5 since the current epoch 7 is larger",
                        ({**_CONTRADICTS, "leader_epoch": 5, "previous_epoch": 7},),
                    ),
                    Example(
                        "Cannot transition to Follower with leader 2 and epoch 5 since the current epoch 7 is larger",
                        ({**_CONTRADICTS, "leader_epoch": 5, "previous_epoch": 7},),
                    ),
                ),
            ),
        ),
    ),
    # A record of the metadata log that contradicts what the node has: the fault handler prints this as the cause.
    Message(
        id="Q-24",
        kind=Kind.PROBLEM,
        literal=("Found duplicate TopicRecord for ", ", did not match the current broker epoch, "),
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="3.0",
                until=None,
                regex=r"^Found duplicate TopicRecord for [^ ]+ with a different ID than before",
                source_ref="3.6.2 ReplicationControlManager:443",
                fixed={**_METADATA, "detail": QUORUM_RECORD},
                examples=(
                    Example(
                        "Found duplicate TopicRecord for orders with a different ID than before. Previous ID was "
                        "Rh8JkKq4RPy1v6cF2f9x0A and new ID is eQsSREvITgOLN7uKjScwFw",
                        (_RECORD,),
                    ),
                ),
            ),
            Variant(
                since="3.1",
                until=None,
                regex=(
                    r"^Tried to change broker [0-9]+, but the given epoch, [0-9]+, did not match the current broker "
                    r"epoch, [0-9]+"
                ),
                source_ref="3.6.2 ClusterDelta:89",
                fixed={**_METADATA, "detail": QUORUM_RECORD},
                examples=(
                    Example(
                        "Tried to change broker 3, but the given epoch, 99, did not match the current broker epoch, 97",
                        (_RECORD,),
                    ),
                ),
            ),
        ),
    ),
    # States of a node: only those that follow leadership, or a lost election, state anything.
    Message(
        id="Q-01b",
        kind=Kind.PROBLEM,
        literal=("Completed transition to ", "Attempting durable transition to "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=(
                    rf"^{RAFT}Completed transition to {_NO_LEADER}[A-Za-z]*\(.*?epoch=(?P<leader_epoch>[0-9]+).*? from "
                    r"Leader(?:State)?\(.*? epoch=(?P<previous_epoch>[0-9]+)"
                ),
                source_ref="3.6.2 QuorumState:485",
                fixed=_LEFT,
                examples=(
                    Example(
                        "[RaftManager id=100] Completed transition to ResignedState(localId=100, epoch=4, voters=[100, "
                        "101, 102], electionTimeoutMs=1561, unackedVoters=[101, 102], preferredSuccessors=[101]) from "
                        "Leader(localId=100, epoch=4, epochStartOffset=70, highWatermark=Optional[LogOffsetMetadata("
                        "offset=90, metadata=Optional.empty)], voterStates={})",
                        ({**_LEFT, "witness": 100, "leader_epoch": 4, "previous_epoch": 4},),
                    ),
                    Example(
                        "[RaftManager id=100] Completed transition to Unattached(epoch=5, voters=[100, 101, 102], "
                        "electionTimeoutMs=1598) from Leader(localId=100, epoch=4, epochStartOffset=70, "
                        "highWatermark=Optional.empty, voterStates={})",
                        ({**_LEFT, "witness": 100, "leader_epoch": 5, "previous_epoch": 4},),
                    ),
                ),
            ),
            Variant(
                since="2.7",
                until="3.9",
                regex=(
                    rf"^{RAFT}Completed transition to CandidateState\(.*?epoch=(?P<leader_epoch>[0-9]+), "
                    r"retries=(?:[2-9]|[1-9][0-9]+)[,)]"
                ),
                source_ref="3.6.2 CandidateState:toString",
                fixed=_VOTES,
                examples=(
                    Example(
                        "[RaftManager id=100] Completed transition to CandidateState(localId=100, epoch=7, retries=3, "
                        "voteStates={100=GRANTED, 101=UNRECORDED, 102=UNRECORDED}, highWatermark=Optional.empty, "
                        "electionTimeoutMs=1863) from CandidateState(localId=100, epoch=6, retries=2, voteStates={}, "
                        "highWatermark=Optional.empty, electionTimeoutMs=1701)",
                        ({**_VOTES, "witness": 100, "leader_epoch": 7},),
                    ),
                ),
            ),
            # It knows no leader of either epoch, and did not vote in the first.
            Variant(
                since="2.7",
                until=None,
                regex=(
                    rf"^{RAFT}Completed transition to Unattached(?:State)?\(epoch=(?P<leader_epoch>[0-9]+), .*? from "
                    r"Unattached(?:State)?\(epoch=(?P<previous_epoch>[0-9]+), (?:leaderId=OptionalInt\.empty|vot)"
                ),
                source_ref="3.6.2 UnattachedState:toString, 4.1.1 UnattachedState:toString",
                fixed=_UNLED,
                examples=(
                    Example(
                        "[RaftManager id=1] Completed transition to Unattached(epoch=8, voters=[1, 2, 3], "
                        "electionTimeoutMs=1109) from Unattached(epoch=7, voters=[1, 2, 3], electionTimeoutMs=1348)",
                        ({**_UNLED, "witness": 1, "leader_epoch": 8, "previous_epoch": 7},),
                    ),
                    Example(
                        "[RaftManager id=1] Completed transition to UnattachedState(epoch=8, "
                        "leaderId=OptionalInt.empty, votedKey=Optional.empty, voters=[1, 2, 3], "
                        "electionTimeoutMs=1893, highWatermark=Optional.empty) from UnattachedState(epoch=7, "
                        "leaderId=OptionalInt.empty, votedKey=Optional.empty, voters=[1, 2, 3], "
                        "electionTimeoutMs=1601, highWatermark=Optional.empty)",
                        ({**_UNLED, "witness": 1, "leader_epoch": 8, "previous_epoch": 7},),
                    ),
                ),
            ),
            Variant(
                since="2.7",
                until=None,
                regex=rf"^{RAFT}Completed transition to {_NO_LEADER}",
                source_ref="3.6.2 QuorumState:485",
                own_row=False,
                examples=(
                    Example(
                        "[RaftManager id=1] Completed transition to Unattached(epoch=0, votedKey=null, voters=[100], "
                        "electionTimeoutMs=1642, highWatermark=Optional.empty) from null",
                        (),
                        "real",
                    ),
                    Example(
                        "[RaftManager id=100] Completed transition to CandidateState(localId=100, epoch=5, retries=1, "
                        "voteStates={}, highWatermark=Optional.empty, electionTimeoutMs=1399)",
                        (),
                    ),
                ),
            ),
            Variant(
                since="3.9",
                until=None,
                regex=rf"^{RAFT}Attempting durable transition to ",
                source_ref="3.9.0 QuorumState",
                own_row=False,
                examples=(
                    Example(
                        "[RaftManager id=1] Attempting durable transition to Unattached(epoch=0, votedKey=null, "
                        "voters=[100], electionTimeoutMs=1642, highWatermark=Optional.empty) from null",
                        (),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # The active controller, as QuorumController logs it.
    Message(
        id="Q-22",
        kind=Kind.PROBLEM,
        literal=("Renouncing the leadership due to a metadata log event", "Renouncing the leadership at oldEpoch "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.3",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}Renouncing the leadership due to a metadata log event\. We were the leader "
                    r"at epoch (?P<previous_epoch>[0-9]+), but in the new epoch (?P<leader_epoch>[0-9]+), the leader "
                    r"is (?:(?P<leader>[0-9]+)|\(none\))\.(?: Reverting to last (?:committed|stable) offset "
                    r"(?P<offset>[0-9]+))?"
                ),
                source_ref="3.3.2 QuorumController:1072",
                fixed=_LEFT,
                examples=(
                    Example(
                        "[QuorumController id=100] Renouncing the leadership due to a metadata log event. We were the "
                        "leader at epoch 1, but in the new epoch 2, the leader is 101. Reverting to last committed "
                        "offset 53.",
                        (
                            {
                                **_LEFT,
                                "witness": 100,
                                "previous_epoch": 1,
                                "leader_epoch": 2,
                                "leader": 101,
                                "offset": 53,
                            },
                        ),
                    ),
                    Example(
                        "[QuorumController id=100] Renouncing the leadership due to a metadata log event. We were the "
                        "leader at epoch 1, but in the new epoch 2, the leader is (none). Reverting to last stable "
                        "offset 53.",
                        ({**_LEFT, "witness": 100, "previous_epoch": 1, "leader_epoch": 2, "offset": 53},),
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until="3.2",
                regex=(
                    rf"^{QUORUM_CONTROLLER}Renouncing the leadership at oldEpoch (?P<previous_epoch>[0-9]+) due to a "
                    r"metadata log event\. Reverting to last committed offset (?P<offset>[0-9]+)"
                ),
                source_ref="3.0.2 QuorumController:786",
                fixed=_LEFT,
                examples=(
                    Example(
                        "[Controller 1] Renouncing the leadership at oldEpoch 1 due to a metadata log event. Reverting "
                        "to last committed offset 9.",
                        ({**_LEFT, "witness": 1, "previous_epoch": 1, "offset": 9},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="Q-23",
        kind=Kind.PROBLEM,
        literal=(" failed with unknown server exception ", " (treated as UnknownServerException)"),
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until="3.5",
                regex=(
                    rf"^{QUORUM_CONTROLLER}.*?: failed with unknown server exception [A-Za-z]+(?: at epoch "
                    r"(?P<leader_epoch>[0-9]+))?(?:.*? last committed offset (?P<offset>[0-9]+))?"
                ),
                source_ref="2.8.2 QuorumController, 3.5.2 QuorumController",
                fixed=_EVENT,
                examples=(
                    Example(
                        "[Controller 1] registerBroker: failed with unknown server exception RuntimeException at epoch "
                        "1 in 7 us. Reverting to last committed offset 9.",
                        ({**_EVENT, "witness": 1, "leader_epoch": 1, "offset": 9},),
                    ),
                    Example(
                        "[Controller 1] maybeFenceReplicas: failed with unknown server exception NotLeaderException at "
                        "epoch 26 in 19 us.  Renouncing leadership and reverting to the last committed offset 90.",
                        ({**_EVENT, "witness": 1, "leader_epoch": 26, "offset": 90},),
                    ),
                ),
            ),
            Variant(
                since="3.6",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}.*?: event failed with [A-Za-z]+ \(treated as UnknownServerException\)"
                    r"(?: at epoch (?P<leader_epoch>[0-9]+))?(?:.*? last committed offset (?P<offset>[0-9]+))?"
                ),
                source_ref="3.6.2 EventHandlerExceptionInfo:failureMessage",
                fixed=_EVENT,
                examples=(
                    Example(
                        "[QuorumController id=100] maybeFenceReplicas: event failed with NotLeaderException (treated "
                        "as UnknownServerException) at epoch 26 in 19 microseconds. Renouncing leadership and "
                        "reverting to the last committed offset 90. Exception message: Append failed because the "
                        "replica is not the current leader",
                        ({**_EVENT, "witness": 100, "leader_epoch": 26, "offset": 90},),
                    ),
                ),
            ),
        ),
    ),
    # A candidate that cannot win any more. Since 4.0 a node asks first whether it may become one (KIP-996).
    Message(
        id="Q-26",
        kind=Kind.PROBLEM,
        literal="Insufficient remaining votes to become ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=rf"^{RAFT}Insufficient remaining votes to become (?:leader|candidate)",
                source_ref="3.6.2 KafkaRaftClient:handleVoteResponse, 4.1.1 KafkaRaftClient",
                fixed=_REFUSED,
                examples=(
                    Example(
                        "[RaftManager id=100] Insufficient remaining votes to become leader (rejected by [101, 102]). "
                        "We will backoff before retrying election again",
                        ({**_REFUSED, "witness": 100},),
                    ),
                    Example(
                        "[RaftManager id=100] Insufficient remaining votes to become candidate. Current epoch "
                        "election state is EpochElection(voterStates={100=VoterState(replicaKey=ReplicaKey(id=100, "
                        "directoryId=Rh8JkKq4RPy1v6cF2f9x0A), state=GRANTED)}). ",
                        ({**_REFUSED, "witness": 100},),
                    ),
                ),
            ),
        ),
    ),
    # Since kraft.version 1 a voter is a node id and a directory id (KIP-853).
    Message(
        id="Q-25",
        kind=Kind.PROBLEM,
        literal=(" request that doesn't match the local key (", " request didn't match the receiver's replica key: "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.9",
                until=None,
                regex=(
                    rf"^{RAFT}(?:Candidate|Leader) sent a voter key \(.*?\) in the [A-Z_]+ request that doesn't match "
                    r"the local key \("
                ),
                source_ref="3.9.0 KafkaRaftClient:handleVoteRequest, KafkaRaftClient:handleBeginQuorumEpochRequest",
                fixed=_KEY,
                examples=(
                    Example(
                        "[RaftManager id=101] Candidate sent a voter key (Optional[ReplicaKey(id=101, "
                        "directoryId=Optional[q7JxVn2kTbW0dYh5sLr3Ag])]) in the VOTE request that doesn't match the "
                        "local key (OptionalInt[101], Rh8JkKq4RPy1v6cF2f9x0A); rejecting the vote",
                        ({**_KEY, "witness": 101},),
                    ),
                    Example(
                        "[RaftManager id=101] Leader sent a voter key (Optional[ReplicaKey(id=101, "
                        "directoryId=q7JxVn2kTbW0dYh5sLr3Ag)]) in the BEGIN_QUORUM_EPOCH request that doesn't match "
                        "the local key (OptionalInt[101], Rh8JkKq4RPy1v6cF2f9x0A); returning INVALID_VOTER_KEY",
                        ({**_KEY, "witness": 101},),
                    ),
                ),
            ),
            # The other side of the same.
            Variant(
                since="3.9",
                until=None,
                regex=(
                    rf"^{RAFT}Voter key for VOTE or BEGIN_QUORUM_EPOCH request didn't match the receiver's replica "
                    r"key: "
                ),
                source_ref="3.9.0 KafkaRaftClient:handleUnexpectedError",
                own_row=False,
                examples=(
                    Example(
                        "[RaftManager id=100] Voter key for VOTE or BEGIN_QUORUM_EPOCH request didn't match the "
                        "receiver's replica key: controller-101:9093 (id: 101 rack: null)",
                        (),
                    ),
                ),
            ),
        ),
    ),
    # A node of an older release than its cluster: a downgrade, or an image of another tag.
    Message(
        id="Q-27",
        kind=Kind.PROBLEM,
        literal=(
            "No MetadataVersion with ",
            "Tried to apply FeatureLevelRecord ",
            "Unable to register because the broker does not support ",
        ),
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="3.0",
                until=None,
                regex=r"^No MetadataVersion with (?:metadata version|feature level) [0-9]+",
                source_ref="3.3.2 MetadataVersion:fromFeatureLevel, 4.1.1 MetadataVersion",
                fixed={"detail": QUORUM_FEATURE},
                examples=(
                    Example("No MetadataVersion with metadata version 11", (_FEATURE,)),
                    Example(
                        "No MetadataVersion with feature level 25. Valid feature levels are from 7 to 24.", (_FEATURE,)
                    ),
                ),
            ),
            Variant(
                since="3.3",
                until=None,
                regex=(
                    r"^Tried to apply FeatureLevelRecord .*?, but this controller only supports versions [0-9]+-[0-9]+"
                ),
                source_ref="3.6.2 FeatureControlManager:replay",
                fixed={"detail": QUORUM_FEATURE},
                examples=(
                    Example(
                        "Tried to apply FeatureLevelRecord FeatureLevelRecord(name='metadata.version', "
                        "featureLevel=22), but this controller only supports versions 1-21",
                        (_FEATURE,),
                    ),
                ),
            ),
            Variant(
                since="3.3",
                until=None,
                regex=r"^Unable to register because the broker does not support (?:finalized )?version [0-9]+ ",
                source_ref="3.6.2 ClusterControlManager, 3.9.1 ClusterControlManager",
                fixed={"detail": QUORUM_FEATURE},
                examples=(
                    Example(
                        "Unable to register because the broker does not support version 14 of metadata.version. It "
                        "wants a version between 1 and 11, inclusive.",
                        (_FEATURE,),
                    ),
                ),
            ),
        ),
    ),
    # The same, as the active controller logs it.
    Message(
        id="Q-28",
        kind=Kind.PROBLEM,
        literal="Exception message: Unable to register because the broker does not support ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.6",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}registerBroker: event failed with [A-Za-z]+ in [0-9]+ microseconds\. "
                    r"Exception message: Unable to register because the broker does not support (?:finalized )?version "
                ),
                source_ref="3.9.1 ClusterControlManager, EventHandlerExceptionInfo:failureMessage",
                fixed={"detail": QUORUM_FEATURE},
                examples=(
                    Example(
                        "[QuorumController id=100] registerBroker: event failed with UnsupportedVersionException in "
                        "310 microseconds. Exception message: Unable to register because the broker does not support "
                        "finalized version 21 of metadata.version. The broker wants a version between 1 and 14, "
                        "inclusive.",
                        ({**_FEATURE, "witness": 100},),
                    ),
                ),
            ),
        ),
    ),
    # KAFKA-12465: a node that was formatted with another cluster id.
    Message(
        id="Q-30",
        kind=Kind.PROBLEM,
        literal=("Unexpected error INCONSISTENT_CLUSTER_ID in ", "controller returned error INCONSISTENT_CLUSTER_ID"),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="3.0",
                until=None,
                regex=rf"^{RAFT}Unexpected error INCONSISTENT_CLUSTER_ID in [A-Z0-9_]+ response",
                source_ref="3.6.2 KafkaRaftClient:handleUnexpectedError",
                fixed=_OTHER_CLUSTER,
                examples=(
                    Example(
                        "[RaftManager id=2] Unexpected error INCONSISTENT_CLUSTER_ID in FETCH response: "
                        "InboundResponse(correlationId=7, data=FetchResponseData(throttleTimeMs=0, errorCode=104, "
                        "sessionId=0, responses=[]), source=k1:9093 (id: 1 rack: null))",
                        ({**_OTHER_CLUSTER, "witness": 2},),
                    ),
                    Example(
                        "[RaftManager nodeId=2] Unexpected error INCONSISTENT_CLUSTER_ID in VOTE response: "
                        "InboundResponse(correlationId=7, data=VoteResponseData(errorCode=104, topics=[]), sourceId=1)",
                        ({**_OTHER_CLUSTER, "witness": 2},),
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until=None,
                regex=rf"^{_LIFECYCLE}controller returned error INCONSISTENT_CLUSTER_ID",
                source_ref="3.6.2 BrokerLifecycleManager",
                fixed=_OTHER_CLUSTER,
                examples=(
                    Example(
                        "[BrokerLifecycleManager id=2] Unable to register broker 2 because the controller returned "
                        "error INCONSISTENT_CLUSTER_ID",
                        ({**_OTHER_CLUSTER, "witness": 2},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="Q-31",
        kind=Kind.PROBLEM,
        literal="controller returned error DUPLICATE_BROKER_REGISTRATION",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until=None,
                regex=rf"^{_LIFECYCLE}controller returned error DUPLICATE_BROKER_REGISTRATION",
                source_ref="3.6.2 BrokerLifecycleManager",
                fixed={"detail": ID_IN_USE},
                examples=(
                    Example(
                        "[BrokerLifecycleManager id=2] Unable to register broker 2 because the controller returned "
                        "error DUPLICATE_BROKER_REGISTRATION",
                        ({"detail": ID_IN_USE, "witness": 2},),
                    ),
                    Example(
                        "[BrokerLifecycleManager id=2 isZkBroker=true] Unable to register broker 2 because the "
                        "controller returned error DUPLICATE_BROKER_REGISTRATION",
                        ({"detail": ID_IN_USE, "witness": 2},),
                    ),
                ),
            ),
        ),
    ),
    # Ten times a second, until a leader of the quorum states its high watermark.
    Message(
        id="Q-32",
        kind=Kind.PROBLEM,
        literal="because we still don't know the high water mark yet",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.4",
                until=None,
                regex=(
                    r"^\[MetadataLoader (?:nodeId|id)=(?P<witness>[0-9]+)\] [A-Za-z]+: ?[a-z ]*still catching up "
                    r"because we still don't know the high water mark"
                ),
                source_ref="3.6.2 MetadataLoader:stillNeedToCatchUp",
                fixed=_WAITS,
                examples=(
                    Example(
                        "[MetadataLoader id=1] initializeNewPublishers: the loader is still catching up because we "
                        "still don't know the high water mark yet.",
                        ({**_WAITS, "witness": 1},),
                    ),
                ),
            ),
        ),
    ),
    # Since 3.3 a node does not start from a log without its beginning (KAFKA-14240).
    Message(
        id="Q-29",
        kind=Kind.PROBLEM,
        literal="Inconsistent snapshot state: there must be a snapshot ",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="3.3",
                until=None,
                regex=(
                    r"^Inconsistent snapshot state: there must be a snapshot at an offset larger then the current log "
                    r"start offset (?P<log_start>[0-9]+), but the latest snapshot is "
                    r"(?:.*?offset=(?P<offset>[0-9]+))?"
                ),
                source_ref="3.6.2 KafkaMetadataLog:recoverSnapshots, 4.1.1 KafkaRaftLog",
                fixed={**_METADATA, "detail": QUORUM_SNAPSHOT},
                examples=(
                    Example(
                        "Inconsistent snapshot state: there must be a snapshot at an offset larger then the current "
                        "log start offset 90, but the latest snapshot is Some(OffsetAndEpoch(offset=70, epoch=4))",
                        ({**_SNAPSHOT, "log_start": 90, "offset": 70},),
                    ),
                    Example(
                        "Inconsistent snapshot state: there must be a snapshot at an offset larger then the current "
                        "log start offset 90, but the latest snapshot is None",
                        ({**_SNAPSHOT, "log_start": 90},),
                    ),
                ),
            ),
        ),
    ),
)
"""Contradictions between a node and its quorum, and what a controller says that does not lead any longer."""
