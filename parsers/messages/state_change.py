"""``state.change.logger`` of a broker: the roles it takes, with offset, high watermark and ISR since 2.6."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import (
    BROKER,
    ORDERS,
    TOPIC_ID,
    TP,
    number,
)
from parsers.schema import Kind

_IDS = r"[0-9, ]*"
_START = rf"starts at leader epoch {number('leader_epoch')} from offset (?P<leo>[0-9]+) with "
_PREVIOUS = r"Previous leader (?:(?:Some\(-?[0-9]+\)|None) and previous leader )?epoch was (?P<previous_epoch>-?[0-9]+)"

MESSAGES: tuple[Message, ...] = (
    # 2.6 to 3.2 print it at every becomeLeader, the epoch known or not; 3.3+ for a new epoch alone (S-08 otherwise).
    Message(
        id="S-01",
        kind=Kind.BECOME_LEADER,
        literal=" starts at leader epoch ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.6",
                until="3.2",
                regex=(
                    rf"^{BROKER}Leader {TP} {_START}high watermark (?P<hw>[0-9]+) ISR \[(?P<isr>{_IDS})\] "
                    rf"addingReplicas \[{_IDS}\] removingReplicas \[{_IDS}\] ?\. {_PREVIOUS}"
                ),
                source_ref="2.6.3 Partition:503, 3.2.3 Partition:577",
                examples=(
                    Example(
                        "[Broker id=1] Leader orders-0 starts at leader epoch 2 from offset 30 with high watermark 30 "
                        "ISR [1] addingReplicas [] removingReplicas []. Previous leader epoch was 0.",
                        (
                            {
                                "witness": 1,
                                **ORDERS,
                                "leader_epoch": 2,
                                "leo": 30,
                                "hw": 30,
                                "isr": "1",
                                "previous_epoch": 0,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="3.3",
                until=None,
                regex=(
                    rf"^{BROKER}Leader {TP} with topic id {TOPIC_ID} {_START}partition epoch "
                    rf"{number('partition_epoch')}, high watermark (?P<hw>[0-9]+), ISR \[(?P<isr>{_IDS})\], "
                    rf"adding replicas \[{_IDS}\] and removing replicas \[{_IDS}\] ?(?:\(under-min-isr\))?\. "
                    rf"{_PREVIOUS}"
                ),
                source_ref="3.3.2 Partition:620, 3.5.2 Partition, 3.6.2 Partition:734",
                examples=(
                    Example(
                        "[Broker id=1] Leader orders-0 with topic id Some(LkVWPW8-R2adfpyJVoFwRg) starts at leader "
                        "epoch "
                        "6 from offset 90 with partition epoch 11, high watermark 88, ISR [1,3], adding replicas [] "
                        "and removing replicas []. Previous leader epoch was 5.",
                        (
                            {
                                "witness": 1,
                                **ORDERS,
                                "topic_id": "LkVWPW8-R2adfpyJVoFwRg",
                                "leader_epoch": 6,
                                "leo": 90,
                                "partition_epoch": 11,
                                "hw": 88,
                                "isr": "1,3",
                                "previous_epoch": 5,
                            },
                        ),
                    ),
                    Example(
                        "[Broker id=3] Leader orders-1 with topic id Some(NfAogHojQdanhIkLA2kzpA) starts at leader "
                        "epoch "
                        "1 from offset 85 with partition epoch 3, high watermark 80, ISR [3,1], adding replicas [] "
                        "and removing replicas [] . Previous leader Some(2) and previous leader epoch was 0.",
                        (
                            {
                                "witness": 3,
                                "topic": "orders",
                                "partition": 1,
                                "topic_id": "NfAogHojQdanhIkLA2kzpA",
                                "leader_epoch": 1,
                                "leo": 85,
                                "partition_epoch": 3,
                                "hw": 80,
                                "isr": "3,1",
                                "previous_epoch": 0,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Broker id=1] Leader orders-0 with topic id None starts at leader epoch 6 from offset 90 with "
                        "partition epoch 11, high watermark 88, ISR [1], adding replicas [] and removing replicas [] "
                        "(under-min-isr). Previous leader None and previous leader epoch was -1.",
                        (
                            {
                                "witness": 1,
                                **ORDERS,
                                "leader_epoch": 6,
                                "leo": 90,
                                "partition_epoch": 11,
                                "hw": 88,
                                "isr": "1",
                                "previous_epoch": -1,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    # Its own log end and high watermark before it has reconciled with the leader.
    Message(
        id="S-05",
        kind=Kind.BECOME_FOLLOWER,
        literal=" starts at leader epoch ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.6",
                until="3.2",
                regex=rf"^{BROKER}Follower {TP} {_START}high watermark (?P<hw>[0-9]+)\. {_PREVIOUS}",
                source_ref="2.6.3 Partition:574, 2.8.2 Partition:656",
                examples=(
                    Example(
                        "[Broker id=3] Follower orders-0 starts at leader epoch 1 from offset 80 with high watermark "
                        "50. Previous leader epoch was 0.",
                        ({"witness": 3, **ORDERS, "leader_epoch": 1, "leo": 80, "hw": 50, "previous_epoch": 0},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="3.3",
                until=None,
                regex=(
                    rf"^{BROKER}Follower {TP} {_START}partition epoch {number('partition_epoch')} and high watermark "
                    rf"(?P<hw>[0-9]+)\. Current leader is {number('leader')}\. {_PREVIOUS}"
                ),
                source_ref="3.3.2 Partition:714, 3.6.2 Partition:835",
                examples=(
                    Example(
                        "[Broker id=2] Follower orders-0 starts at leader epoch 6 from offset 95 with partition epoch "
                        "11 and high watermark 93. Current leader is 1. Previous leader epoch was 5.",
                        (
                            {
                                "witness": 2,
                                **ORDERS,
                                "leader_epoch": 6,
                                "leo": 95,
                                "partition_epoch": 11,
                                "hw": 93,
                                "leader": 1,
                                "previous_epoch": 5,
                            },
                        ),
                    ),
                    Example(
                        "[Broker id=2] Follower orders-0 starts at leader epoch 2 from offset 10 with partition "
                        "epoch 2 "
                        "and high watermark 10. Current leader is -1. Previous leader Some(-1) and previous leader "
                        "epoch was 2.",
                        (
                            {
                                "witness": 2,
                                **ORDERS,
                                "leader_epoch": 2,
                                "leo": 10,
                                "partition_epoch": 2,
                                "hw": 10,
                                "leader": -1,
                                "previous_epoch": 2,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="S-10",
        kind=Kind.RECOVERING,
        literal=" was marked as RECOVERING. ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.2",
                until=None,
                regex=rf"^{BROKER}The topic partition {TP} was marked as RECOVERING\. ",
                source_ref="3.2.3 Partition:554, 3.6.2 Partition:704",
                examples=(
                    Example(
                        "[Broker id=2] The topic partition orders-0 was marked as RECOVERING. Marking the topic "
                        "partition as RECOVERED.",
                        ({"witness": 2, **ORDERS},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="S-40",
        kind=Kind.TOPIC_ID,
        literal=("] Creating new partition ", "] Expected partition "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.0",
                until=None,
                regex=(
                    rf"^{BROKER}(?:Creating new|Expected) partition {TP} with topic id (?:Some\()?"
                    r"(?P<topic_id>[A-Za-z0-9_-]+)"
                ),
                source_ref="3.6.2 ReplicaManager:2526",
                examples=(
                    Example(
                        "[Broker id=2] Creating new partition orders-0 with topic id LkVWPW8-R2adfpyJVoFwRg.",
                        ({"witness": 2, **ORDERS, "topic_id": "LkVWPW8-R2adfpyJVoFwRg"},),
                        "real",
                    ),
                    Example(
                        "[Broker id=3] Expected partition moved-0 with topic id 1Q7G7JiBQNqcXRAlKJt-Lw to exist, but "
                        "it was missing. Creating...",
                        ({"witness": 3, "topic": "moved", "partition": 0, "topic_id": "1Q7G7JiBQNqcXRAlKJt-Lw"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
)
"""Roles taken, in words of the broker that takes them."""
