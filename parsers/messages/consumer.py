"""Clients (``org.apache.kafka.clients``, librdkafka): a position that its leader does not have, and what is done then.

Most of these lines are in the logs of applications. A consumer reads only committed records. If its position is beyond
the end of a log, that log was once longer.
"""

from __future__ import annotations

from parsers.details import NO_POSITION
from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import FETCH_POSITION, ORDERS, TP
from parsers.schema import Kind

_CONSUMER = r"(?:\[[^\]]*\] )?"
_PYTHON = r"TopicPartition\(topic=u?'(?P<topic>[a-zA-Z0-9._-]+)', partition=(?P<partition>[0-9]+)\)"
"""A partition as kafka-python prints it."""
_RDKAFKA = (
    r"^(?:%[0-7]\|[0-9.]+\|OFFSET\|[^|]*\| )?(?:\[thrd:[^\]]*\]: )?"
    r"(?P<topic>[a-zA-Z0-9._-]+) \[(?P<partition>[0-9]+)\]: offset reset "
    r"\(at offset (?P<offset>[0-9]+)(?: \(leader epoch (?:-1|(?P<previous_epoch>[0-9]+))\))?"
    r"(?:, broker (?:-1|(?P<leader>[0-9]+)))?\) to "
)
"""A consumer of librdkafka, which C, Go, Python, .NET and others use (rdkafka_offset.c)."""

MESSAGES: tuple[Message, ...] = (
    Message(
        id="CO-1",
        kind=Kind.CONSUMER_OUT_OF_RANGE,
        literal=(
            " is out of range, resetting offset",
            " is out of range for partition ",
            " is out of range for topic-partition ",
            "Broker: Offset out of range",
        ),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.10",
                until="2.5",
                regex=rf"^{_CONSUMER}Fetch offset (?P<offset>[0-9]+) is out of range for partition {TP}, resetting ",
                source_ref="0.10.2.2 Fetcher:835, 2.5.1 Fetcher:1274",
                examples=(
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Fetch offset 50 is out of range for partition orders-0, "
                        "resetting offset",
                        ({**ORDERS, "offset": 50},),
                    ),
                    Example(
                        "Fetch offset 50 is out of range for partition orders-0, resetting offset",
                        ({**ORDERS, "offset": 50},),
                    ),
                ),
            ),
            # Names no partition.
            Variant(
                since="0.9",
                until="0.10",
                regex=r"^Fetch offset [0-9]+ is out of range, resetting offset",
                source_ref="0.9.0.1 Fetcher:595",
                own_row=False,
                examples=(Example("Fetch offset 50 is out of range, resetting offset", ()),),
            ),
            Variant(
                since="2.6",
                until=None,
                regex=rf"^{_CONSUMER}Fetch position {FETCH_POSITION} is out of range for partition {TP}",
                source_ref="2.8.2 Fetcher:1358, 3.6.2 AbstractFetch:656",
                examples=(
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Fetch position FetchPosition{offset=50, "
                        "offsetEpoch=Optional[4], currentLeader=LeaderAndEpoch{leader=Optional[h:9092 (id: 1 rack: "
                        "null)], epoch=5}} is out of range for partition orders-0, resetting offset",
                        ({**ORDERS, "offset": 50, "previous_epoch": 4, "leader": 1, "leader_epoch": 5},),
                    ),
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Fetch position FetchPosition{offset=50, "
                        "offsetEpoch=Optional.empty, currentLeader=LeaderAndEpoch{leader=Optional[h:9092 (id: 1 rack: "
                        "r1 isFenced: false)], epoch=absent}} is out of range for partition orders-0, resetting offset",
                        ({**ORDERS, "offset": 50, "leader": 1},),
                    ),
                ),
            ),
            Variant(
                since="0.9",
                until=None,
                regex=rf"^Fetch offset (?P<offset>[0-9]+) is out of range for topic-partition {_PYTHON}",
                source_ref="kafka-python 1.3 and 2.2, Fetcher",
                examples=(
                    Example(
                        "Fetch offset 50 is out of range for topic-partition TopicPartition(topic='orders', "
                        "partition=0)",
                        ({**ORDERS, "offset": 50},),
                    ),
                    Example(
                        "Fetch offset 50 is out of range for topic-partition TopicPartition(topic=u'orders', "
                        "partition=0)",
                        ({**ORDERS, "offset": 50},),
                    ),
                ),
            ),
            # As proposed with KAFKA-9580, and pasted from a patched consumer.
            Variant(
                since="2.5",
                until="2.5",
                regex=(
                    rf"^{_CONSUMER}Fetch offset (?P<offset>[0-9]+) is out of range for partition {TP}\. We only "
                    rf"have log "
                    r"segments in the range from (?P<log_start>[0-9]+) to (?P<leo>[0-9]+)\."
                ),
                source_ref="KAFKA-9580, proposed for Fetcher",
                examples=(
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Fetch offset 50 is out of range for partition orders-0. We "
                        "only have log segments in the range from 7 to 42. Resetting offset",
                        ({**ORDERS, "offset": 50, "log_start": 7, "leo": 42},),
                    ),
                ),
            ),
            Variant(
                since="0.9",
                until=None,
                regex=rf"{_RDKAFKA}[^:]+: .*Broker: Offset out of range",
                source_ref="librdkafka 1.8 and 2.3, rd_kafka_offset_reset",
                examples=(
                    Example(
                        "%4|1646810899.013|OFFSET|rdkafka#consumer-2| [thrd:main]: orders [0]: offset reset (at offset "
                        "50) to END: fetch failed due to requested offset not available on the broker: Broker: Offset "
                        "out of range",
                        ({**ORDERS, "offset": 50},),
                    ),
                    Example(
                        "%4|1713771122.301|OFFSET|rdkafka#consumer-1| [thrd:main]: orders [0]: offset reset (at offset "
                        "50 (leader epoch 4), broker 2) to cached BEGINNING offset 0: fetch failed due to requested "
                        "offset not available on the broker: Broker: Offset out of range",
                        ({**ORDERS, "offset": 50, "previous_epoch": 4, "leader": 2},),
                    ),
                ),
            ),
        ),
    ),
    # KIP-320: it asked its leader where the epoch of its last record ends.
    Message(
        id="CO-2",
        kind=Kind.CONSUMER_TRUNCATED,
        literal=("Truncation detected for partition ", "Partition log truncation detected at offset "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.3",
                until=None,
                regex=(
                    rf"^{_CONSUMER}Truncation detected for partition {TP} at offset {FETCH_POSITION}, resetting offset "
                    rf"to "
                    r"the first offset known to diverge FetchPosition\{offset=(?P<leo>[0-9]+),"
                ),
                source_ref="2.3.1 SubscriptionState:414, 2.8.2 SubscriptionState:506",
                examples=(
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Truncation detected for partition orders-0 at offset "
                        "FetchPosition{offset=50, offsetEpoch=Optional[4], currentLeader=LeaderAndEpoch{leader="
                        "Optional[h:9092 (id: 1 rack: null)], epoch=5}}, resetting offset to the first offset known to "
                        "diverge FetchPosition{offset=42, offsetEpoch=Optional[4], currentLeader=LeaderAndEpoch{"
                        "leader=Optional[h:9092 (id: 1 rack: null)], epoch=5}}",
                        (
                            {
                                **ORDERS,
                                "offset": 50,
                                "previous_epoch": 4,
                                "leader": 1,
                                "leader_epoch": 5,
                                "leo": 42,
                            },
                        ),
                    ),
                ),
            ),
            # 2.3 to 2.5 print EpochEndOffset{error=NONE, leaderEpoch=4, endOffset=42} here, others with parentheses.
            Variant(
                since="2.3",
                until=None,
                regex=(
                    rf"^{_CONSUMER}Truncation detected for partition {TP} at offset {FETCH_POSITION} \(the end offset "
                    rf"from "
                    r"the broker is [A-Za-z]+[{(].*?(?:[oO]ffset)=(?P<leo>-?[0-9]+)[,})]"
                ),
                source_ref="2.4.1 SubscriptionState:454, 2.8.2 SubscriptionState:512",
                examples=(
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Truncation detected for partition orders-0 at offset "
                        "FetchPosition{offset=50, offsetEpoch=Optional[4], currentLeader=LeaderAndEpoch{leader="
                        "Optional[h:9092 (id: 1 rack: null)], epoch=5}} (the end offset from the broker is "
                        "OffsetAndMetadata{offset=42, leaderEpoch=4, metadata=''}), but no reset policy is set",
                        (
                            {
                                **ORDERS,
                                "offset": 50,
                                "previous_epoch": 4,
                                "leader": 1,
                                "leader_epoch": 5,
                                "leo": 42,
                            },
                        ),
                    ),
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Truncation detected for partition orders-0 at offset "
                        "FetchPosition{offset=50, offsetEpoch=Optional[4], currentLeader=LeaderAndEpoch{leader=h:9092 "
                        "(id: 1 rack: null), epoch=5}} (the end offset from the broker is EpochEndOffset{error=NONE, "
                        "leaderEpoch=4, endOffset=42}), but no reset policy is set",
                        (
                            {
                                **ORDERS,
                                "offset": 50,
                                "previous_epoch": 4,
                                "leader": 1,
                                "leader_epoch": 5,
                                "leo": 42,
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="2.1",
                until=None,
                regex=(
                    rf"{_RDKAFKA}[^:]+: Partition log truncation detected at offset [^:]*: broker end offset is "
                    r"(?P<leo>[0-9]+)"
                ),
                source_ref="librdkafka 2.3, rd_kafka_toppar_handle_OffsetForLeaderEpoch",
                examples=(
                    Example(
                        "%4|1713771122.301|OFFSET|rdkafka#consumer-1| [thrd:main]: orders [0]: offset reset (at offset "
                        "50 (leader epoch 4), broker 2) to offset INVALID (leader epoch 5): Partition log truncation "
                        "detected at offset 50 (leader epoch 4): broker end offset is 42 (offset leader epoch 4). "
                        "Reset to INVALID.: Local: Partition log truncation detected",
                        ({**ORDERS, "offset": 50, "previous_epoch": 4, "leader": 2, "leo": 42},),
                    ),
                ),
            ),
            # Its leader knows no such epoch.
            Variant(
                since="2.6",
                until=None,
                regex=rf"^{_CONSUMER}Truncation detected for partition {TP} at offset {FETCH_POSITION},",
                source_ref="2.8.2 SubscriptionState:493, SubscriptionState:497",
                examples=(
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Truncation detected for partition orders-0 at offset "
                        "FetchPosition{offset=50, offsetEpoch=Optional[4], currentLeader=LeaderAndEpoch{leader="
                        "Optional[h:9092 (id: 1 rack: null)], epoch=5}}, resetting offset",
                        ({**ORDERS, "offset": 50, "previous_epoch": 4, "leader": 1, "leader_epoch": 5},),
                    ),
                ),
            ),
        ),
    ),
    # An idempotent producer: its leader does not have what it wrote before.
    Message(
        id="PR-1",
        kind=Kind.PRODUCER_UNKNOWN,
        literal="This indicates data loss on the broker, and should be investigated",
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until="2.4",
                regex=(
                    rf"^{_CONSUMER}The broker returned (?P<detail>[A-Za-z.]+)(?:: .*?)? for topic-partition {TP} at "
                    r"offset (?:-1|(?P<offset>[0-9]+))\."
                ),
                source_ref="1.0.2 Sender:608, 2.3.1 Sender",
                examples=(
                    Example(
                        "[Producer clientId=p-1] The broker returned "
                        "org.apache.kafka.common.errors.UnknownProducerIdException: Found no record of producerId=7 on "
                        "the broker. It is possible that the last message with the producerId=7 has been removed due "
                        "to hitting the retention limit. for topic-partition orders-0 at offset -1. This indicates "
                        "data loss on the broker, and should be investigated.",
                        ({**ORDERS, "detail": "org.apache.kafka.common.errors.UnknownProducerIdException"},),
                    ),
                    Example(
                        "The broker returned org.apache.kafka.common.errors.OutOfOrderSequenceException: The broker "
                        "received an out of order sequence number. for topic-partition orders-0 at offset 42. This "
                        "indicates data loss on the broker, and should be investigated.",
                        (
                            {
                                **ORDERS,
                                "detail": "org.apache.kafka.common.errors.OutOfOrderSequenceException",
                                "offset": 42,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    # Also of a consumer that begins without a committed position.
    Message(
        id="CO-3",
        kind=Kind.CONSUMER_RESET,
        literal="Resetting offset for partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.11",
                until="2.6",
                regex=rf"^{_CONSUMER}Resetting offset for partition {TP} to offset (?P<offset>[0-9]+)\.",
                source_ref="0.11.0.2 Fetcher:420, 2.6.3 SubscriptionState:397",
                examples=(
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Resetting offset for partition orders-0 to offset 42.",
                        ({**ORDERS, "offset": 42},),
                    ),
                ),
            ),
            Variant(
                since="2.7",
                until=None,
                regex=rf"^{_CONSUMER}Resetting offset for partition {TP} to position {FETCH_POSITION}\.",
                source_ref="2.7.2 SubscriptionState:396, 3.6.2 SubscriptionState:398",
                examples=(
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Resetting offset for partition orders-0 to position "
                        "FetchPosition{offset=42, offsetEpoch=Optional.empty, currentLeader=LeaderAndEpoch{leader="
                        "Optional[h:9092 (id: 1 rack: null)], epoch=5}}.",
                        ({**ORDERS, "offset": 42, "leader": 1, "leader_epoch": 5},),
                    ),
                ),
            ),
            Variant(
                since="0.9",
                until=None,
                regex=rf"^Resetting offset for partition {_PYTHON} to offset (?P<offset>[0-9]+)\.",
                source_ref="kafka-python 2.1, Fetcher",
                examples=(
                    Example(
                        "Resetting offset for partition TopicPartition(topic='orders', partition=0) to offset 42.",
                        ({**ORDERS, "offset": 42},),
                    ),
                ),
            ),
            # At DEBUG, and without an offset.
            Variant(
                since="0.9",
                until=None,
                regex=rf"^{_CONSUMER}Resetting offset for partition [^ ]+ to (?:the committed |[a-z]+ offset)",
                source_ref="0.9.0.1 Fetcher:170, Fetcher:290",
                own_row=False,
                examples=(
                    Example("Resetting offset for partition orders-0 to latest offset.", ()),
                    Example("Resetting offset for partition orders-0 to the committed offset 42", ()),
                ),
            ),
        ),
    ),
    # The application sets the position: it has not read up to there.
    Message(
        id="CO-4",
        kind=Kind.CONSUMER_SET,
        literal=("Seeking to offset ", "Seeking to EARLIEST offset of ", "Seeking to LATEST offset of "),
        level="INFO",
        stock=True,
        variants=(
            # To the start or the end, as Kafka Connect and MirrorMaker read topics of their own.
            Variant(
                since="2.4",
                until=None,
                regex=rf"^{_CONSUMER}Seeking to [A-Z]+ offset of partition {TP}",
                source_ref="2.8.2 SubscriptionState:requestOffsetReset",
                examples=(
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Seeking to EARLIEST offset of partition orders-0", (ORDERS,)
                    ),
                    Example("Seeking to LATEST offset of partition orders-0", (ORDERS,)),
                ),
            ),
            Variant(
                since="0.9",
                until=None,
                regex=rf"^{_CONSUMER}Seeking to offset (?P<offset>[0-9]+) for partition {TP}",
                source_ref="KafkaConsumer.seek",
                examples=(
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Seeking to offset 50 for partition orders-0",
                        ({**ORDERS, "offset": 50},),
                    ),
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Seeking to offset 50 for partition orders-0 with epoch 4",
                        ({**ORDERS, "offset": 50},),
                    ),
                ),
            ),
        ),
    ),
    # A new group, or one whose positions were removed.
    Message(
        id="CO-5",
        kind=Kind.PROBLEM,
        literal=("Found no committed offset for partition ", "no previously committed offset available"),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.3",
                until=None,
                regex=rf"^{_CONSUMER}Found no committed offset for partition {TP}",
                source_ref="2.8.2 ConsumerCoordinator:1372, 3.6.2 ConsumerCoordinator",
                fixed={"detail": NO_POSITION},
                examples=(
                    Example(
                        "[Consumer clientId=c-1, groupId=g] Found no committed offset for partition orders-0",
                        ({**ORDERS, "detail": NO_POSITION},),
                    ),
                ),
            ),
            Variant(
                since="0.9",
                until=None,
                regex=(
                    r"^(?:%[0-7]\|[0-9.]+\|OFFSET\|[^|]*\| |(?:[0-9.]+ )?RDKAFKA-[0-9]-OFFSET: ?[^: ]+: ?)?"
                    r"(?:\[thrd:[^\]]*\]: )?(?P<topic>[a-zA-Z0-9._-]+) \[(?P<partition>[0-9]+)\]: offset reset "
                    r"\(at offset .*?: no previously committed offset available"
                ),
                source_ref="librdkafka 0.9 and 2.3, rd_kafka_offset_reset",
                fixed={"detail": NO_POSITION},
                examples=(
                    Example(
                        "%7|1449648058.492|OFFSET|rdkafka#consumer-1| [thrd:main]: orders [0]: offset reset (at offset "
                        "INVALID) to END: no previously committed offset available: Local: No offset stored",
                        ({**ORDERS, "detail": NO_POSITION},),
                    ),
                    Example(
                        "%7|1713771122.301|OFFSET|rdkafka#consumer-1| [thrd:main]: orders [0]: offset reset (at offset "
                        "INVALID (leader epoch -1), broker 2) to offset BEGINNING (leader epoch -1): no previously "
                        "committed offset available: Local: No offset stored",
                        ({**ORDERS, "detail": NO_POSITION},),
                    ),
                    Example(
                        "RDKAFKA-7-OFFSET:rdkafka#consumer-0:orders [0]: offset reset (at offset ERROR) to END: no "
                        "previously committed offset available: Local: No offset stored",
                        ({**ORDERS, "detail": NO_POSITION},),
                    ),
                ),
            ),
        ),
    ),
)
"""Positions and what became of them."""
