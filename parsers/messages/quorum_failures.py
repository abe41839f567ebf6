"""``KafkaRaftClient``: a node of the metadata quorum that cannot continue with its own data."""

from __future__ import annotations

from parsers.details import QUORUM_CONTRADICTS, QUORUM_TRUNCATION
from parsers.messages.catalogue import Example, Message, Variant
from parsers.schema import Kind

_METADATA: dict[str, int | str] = {"topic": "__cluster_metadata", "partition": 0}
_TRUNCATION = {**_METADATA, "detail": QUORUM_TRUNCATION}
_CONTRADICTS = {**_METADATA, "detail": QUORUM_CONTRADICTS}

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
)
"""Contradictions between a node and its quorum, as exceptions that end the process."""
