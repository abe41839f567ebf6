"""``kafka.cluster.Partition``: what the leader of a partition prints, and what every replica prints on loading.

Inside one follower fetch the class updates the follower's state, then the ISR, then the high watermark, and prints the
recorded log end offset last: a high watermark line comes *before* the line that explains it.
"""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import NAME, ORDERS, PARTITION, PARTITION_OLD, number
from parsers.schema import Kind

MESSAGES: tuple[Message, ...] = (
    Message(
        id="P-01",
        kind=Kind.HW_MISSING,
        literal="No checkpointed highwatermark is found for partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=rf"^{PARTITION_OLD}No checkpointed highwatermark is found for partition ",
                source_ref="0.10.2.2 Partition:113",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 3: No checkpointed highwatermark is found for partition "
                        "orders-0",
                        ({**ORDERS, "witness": 3},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=rf"^{PARTITION}No checkpointed highwatermark is found for partition ",
                source_ref="3.6.2 Partition:456",
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] No checkpointed highwatermark is found for partition orders-0",
                        ({**ORDERS, "witness": 2},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-02",
        kind=Kind.HW_LOADED,
        literal="Log loaded for partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.4",
                until=None,
                regex=rf"^{PARTITION}Log loaded for partition [^ ]+ with initial high watermark (?P<hw>[0-9]+)",
                source_ref="2.4.1 Partition:332, 3.6.2 Partition:460",
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] Log loaded for partition orders-0 with initial high watermark 0",
                        ({**ORDERS, "witness": 2, "hw": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-03",
        kind=Kind.BECOME_LEADER,
        literal=" starts at Leader Epoch ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.11",
                until="0.11",
                regex=(
                    rf"^{PARTITION_OLD}{NAME} starts at Leader Epoch {number('leader_epoch')} "
                    rf"from offset (?P<leo>[0-9]+)\. Previous Leader Epoch was: {number('previous_epoch')}"
                ),
                source_ref="0.11.0.2 Partition:184",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 3: orders-0 starts at Leader Epoch 2 from offset 112. "
                        "Previous Leader Epoch was: 1",
                        ({**ORDERS, "witness": 3, "leader_epoch": 2, "leo": 112, "previous_epoch": 1},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.3",
                regex=(
                    rf"^{PARTITION}{NAME} starts at Leader Epoch {number('leader_epoch')} "
                    rf"from offset (?P<leo>[0-9]+)\. Previous Leader Epoch was: {number('previous_epoch')}"
                ),
                source_ref="2.0.1 Partition:298",
                examples=(
                    Example(
                        "[Partition orders-2 broker=3] orders-2 starts at Leader Epoch 1 from offset 25. "
                        "Previous Leader Epoch was: 0",
                        (
                            {
                                "topic": "orders",
                                "partition": 2,
                                "witness": 3,
                                "leader_epoch": 1,
                                "leo": 25,
                                "previous_epoch": 0,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-04",
        kind=Kind.BECOME_LEADER,
        literal=" starts at leader epoch ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.4",
                until="2.5",
                regex=(
                    rf"^{PARTITION}{NAME} starts at leader epoch {number('leader_epoch')} from offset (?P<leo>[0-9]+) "
                    rf"with high watermark (?P<hw>[0-9]+)\. Previous leader epoch was {number('previous_epoch')}\."
                ),
                source_ref="2.4.1 Partition:509, 2.5.1 Partition:493",
                examples=(
                    Example(
                        "[Partition orders-0 broker=1] orders-0 starts at leader epoch 3 from offset 42 with high "
                        "watermark 40. Previous leader epoch was 2.",
                        ({**ORDERS, "witness": 1, "leader_epoch": 3, "leo": 42, "hw": 40, "previous_epoch": 2},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-50",
        kind=Kind.TRUNCATE_FULL,
        literal="first record to be appended to the ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{PARTITION}Unexpected offset in append to {NAME}\. First offset [0-9]+ is less than log start "
                    r"offset [0-9]+\. Since this is the first record to be appended to the follower's log, "
                    r"will start the log from offset (?P<offset>[0-9]+)\."
                ),
                source_ref="1.1.1 Partition:586, 3.6.2 Partition:1289",
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] Unexpected offset in append to orders-0. First offset 40 is "
                        "less than log start offset 42. Since this is the first record to be appended to the "
                        "follower's log, will start the log from offset 40.",
                        ({**ORDERS, "witness": 2, "offset": 40},),
                    ),
                ),
            ),
            Variant(
                since="1.1",
                until=None,
                regex=rf"^{PARTITION}Unexpected offset in append to .* to be appended to the future replica's log",
                source_ref="3.6.2 Partition:1289",
                own_row=False,
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] Unexpected offset in append to orders-0. First offset 40 is "
                        "less than log start offset 42. Since this is the first record to be appended to the "
                        "future replica's log, will start the log from offset 40.",
                        (),
                    ),
                ),
            ),
        ),
    ),
)
"""High watermark, log end offsets and leadership, in the order of the knowledge they give."""
