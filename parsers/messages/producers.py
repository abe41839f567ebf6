"""Idempotent producers (KIP-98): a leader whose log does not continue what a producer wrote, in the words of both."""

from __future__ import annotations

from parsers.details import OUT_OF_SEQUENCE
from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import ORDERS, TP
from parsers.schema import Kind

_UNKNOWN = "UnknownProducerIdException"

MESSAGES: tuple[Message, ...] = (
    # Thrown by the leader. It had the producer's records, and has them no longer.
    Message(
        id="PR-2",
        kind=Kind.PRODUCER_UNKNOWN,
        literal="Found no record of producerId=",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="2.2",
                until="2.4",
                regex=(
                    r"^Found no record of producerId=[0-9]+ on the broker at offset (?P<offset>[0-9]+) ?in partition "
                    rf"{TP}\."
                ),
                source_ref="2.3.1 ProducerStateManager:checkSequence",
                fixed={"detail": _UNKNOWN},
                examples=(
                    Example(
                        "Found no record of producerId=7 on the broker at offset 42in partition orders-0. It is "
                        "possible that the last message with the producerId=7 has been removed due to hitting the "
                        "retention limit.",
                        ({**ORDERS, "detail": _UNKNOWN, "offset": 42},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.4",
                regex=r"^Found no record of producerId=[0-9]+ on the broker\.",
                source_ref="1.0.2 ProducerStateManager, 2.1.1 ProducerStateManager:checkSequence",
                fixed={"detail": _UNKNOWN},
                examples=(
                    Example(
                        "Found no record of producerId=7 on the broker. It is possible that the last message with the "
                        "producerId=7 has been removed due to hitting the retention limit.",
                        ({"detail": _UNKNOWN},),
                    ),
                ),
            ),
        ),
    ),
    # Thrown by the leader. A batch is missing between what it has and what it received.
    Message(
        id="PR-3",
        kind=Kind.PRODUCER_UNKNOWN,
        literal="Out of order sequence number",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="2.1",
                until=None,
                regex=(
                    r"^Out of order sequence number for producer(?:Id)? [0-9]+ at offset (?P<offset>[0-9]+) in "
                    rf"partition {TP}: "
                ),
                source_ref="2.2.2 ProducerStateManager:checkSequence, 3.9.1 ProducerAppendInfo:checkSequence",
                fixed={"detail": OUT_OF_SEQUENCE},
                examples=(
                    Example(
                        "Out of order sequence number for producer 7 at offset 42 in partition orders-0: 9 (incoming "
                        "seq. number), 4 (current end sequence number)",
                        ({**ORDERS, "detail": OUT_OF_SEQUENCE, "offset": 42},),
                    ),
                ),
            ),
            Variant(
                since="0.11",
                until="2.1",
                regex=r"^Out of order sequence number(?: for producerId [0-9]+)?: [0-9]+ \((?:incoming|pid)",
                source_ref="0.11.0.3 ProducerStateManager, 2.0.1 ProducerStateManager:checkSequence",
                fixed={"detail": OUT_OF_SEQUENCE},
                examples=(
                    Example(
                        "Out of order sequence number for producerId 7: 9 (incoming seq. number), 4 (current end "
                        "sequence number)",
                        ({"detail": OUT_OF_SEQUENCE},),
                    ),
                    Example(
                        "Out of order sequence number: 7 (pid), 9 (incoming seq. number), 4 (current end sequence "
                        "number)",
                        ({"detail": OUT_OF_SEQUENCE},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.4",
                regex=r"^Out of order sequence number for producerId [0-9]+: found [0-9]+ \(incoming",
                source_ref="1.1.1 ProducerStateManager:checkSequence",
                fixed={"detail": OUT_OF_SEQUENCE},
                examples=(
                    Example(
                        "Out of order sequence number for producerId 7: found 9 (incoming seq. number), but expected 0",
                        ({"detail": OUT_OF_SEQUENCE},),
                    ),
                ),
            ),
        ),
    ),
    # The producer throws this then.
    Message(
        id="PR-4",
        kind=Kind.PRODUCER_UNKNOWN,
        literal="The broker received an out of order sequence number for topic-partition ",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.11",
                until="0.11",
                regex=(
                    rf"^The broker received an out of order sequence number for topic-partition {TP} at offset "
                    r"(?:-1|(?P<offset>[0-9]+))\."
                ),
                source_ref="0.11.0.3 Sender:failBatch",
                fixed={"detail": OUT_OF_SEQUENCE},
                examples=(
                    Example(
                        "The broker received an out of order sequence number for topic-partition orders-0 at offset "
                        "42. This indicates data loss on the broker, and should be investigated.",
                        ({**ORDERS, "detail": OUT_OF_SEQUENCE, "offset": 42},),
                    ),
                ),
            ),
        ),
    ),
)
"""Producers that their leader does not know, or knows otherwise."""
