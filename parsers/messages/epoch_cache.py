"""The leader epoch cache: which epoch begins at which offset (INFO up to 1.1, then DEBUG except for conflicts)."""

from __future__ import annotations

from parsers.details import EPOCH_REWRITTEN
from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import EPOCH_CACHE, LOG_PREFIX, ORDERS, TP, number
from parsers.schema import Kind

_NEW = rf"New: \{{epoch:{number('leader_epoch')}, offset:{number('offset')}\}}, "
_CURRENT = rf"Current: \{{epoch:{number('previous_epoch')}, offset:?-?[0-9]+\}}"
_ENTRY = rf"EpochEntry[(\[]epoch={number('leader_epoch')}, startOffset={number('offset')}[)\]]"
"""With square brackets since 4.2, where it is a record."""

MESSAGES: tuple[Message, ...] = (
    Message(
        id="E-01",
        kind=Kind.EPOCH_ASSIGNED,
        literal="Updated PartitionLeaderEpoch. New: ",
        level="INFO",
        stock=True,
        variants=(
            # 0.11 and 1.0 print "offset0" without a colon.
            Variant(
                since="0.11",
                until="1.1",
                regex=rf"^Updated PartitionLeaderEpoch\. {_NEW}{_CURRENT} for Partition: {TP}\. ",
                source_ref="0.11.0.2 LeaderEpochFileCache:62, 1.1.1 LeaderEpochFileCache:62",
                examples=(
                    Example(
                        "Updated PartitionLeaderEpoch. New: {epoch:2, offset:112}, Current: {epoch:0, offset0} for "
                        "Partition: orders-0. Cache now contains 1 entries.",
                        ({"leader_epoch": 2, "offset": 112, "previous_epoch": 0, **ORDERS},),
                        "real",
                    ),
                    Example(
                        "Updated PartitionLeaderEpoch. New: {epoch:1, offset:25}, Current: {epoch:0, offset:0} for "
                        "Partition: orders-2. Cache now contains 1 entries.",
                        ({"leader_epoch": 1, "offset": 25, "previous_epoch": 0, "topic": "orders", "partition": 2},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="E-03",
        kind=Kind.EPOCH_ASSIGNED,
        literal="Appended new epoch entry ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="2.0",
                until=None,
                regex=rf"^{EPOCH_CACHE}Appended new epoch entry {_ENTRY}",
                source_ref="2.4.1 LeaderEpochFileCache:84, 3.6.2 LeaderEpochFileCache:74",
                examples=(
                    Example(
                        "[LeaderEpochCache orders-0] Appended new epoch entry EpochEntry(epoch=0, startOffset=0). "
                        "Cache now contains 1 entries.",
                        ({**ORDERS, "leader_epoch": 0, "offset": 0},),
                        "real",
                    ),
                    Example(
                        "[LeaderEpochCache orders-0] Appended new epoch entry EpochEntry[epoch=0, startOffset=0]. "
                        "Cache now contains 1 entries.",
                        ({**ORDERS, "leader_epoch": 0, "offset": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # Up to 2.3 also for the harmless replacement of an epoch without records. The log had reached the first of them.
    Message(
        id="E-04",
        kind=Kind.EPOCH_CONFLICT,
        literal=" caused truncation of conflicting entries ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="2.0",
                until=None,
                regex=(
                    rf"^{EPOCH_CACHE}New epoch entry {_ENTRY} caused truncation of conflicting entries "
                    r"(?P<detail>[A-Za-z]*[(\[]EpochEntry[(\[]epoch=[0-9]+, startOffset=(?P<leo>[0-9]+).*[)\]])\."
                ),
                source_ref="2.0.1 LeaderEpochFileCache:82, 2.4.1 LeaderEpochFileCache:85",
                examples=(
                    Example(
                        "[LeaderEpochCache orders-0] New epoch entry EpochEntry(epoch=3, startOffset=40) caused "
                        "truncation of conflicting entries ListBuffer(EpochEntry(epoch=2, startOffset=50)). Cache now "
                        "contains 3 entries.",
                        (
                            {
                                **ORDERS,
                                "leader_epoch": 3,
                                "offset": 40,
                                "detail": "ListBuffer(EpochEntry(epoch=2, startOffset=50))",
                                "leo": 50,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="E-05",
        kind=Kind.EPOCH_CONFLICT,
        literal=("Received a PartitionLeaderEpoch assignment for an ", "Received leader epoch assignment EpochEntry("),
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.11",
                until="1.1",
                regex=(
                    r"^Received a PartitionLeaderEpoch assignment for an (?:epoch < latestEpoch|offset < latest "
                    r"offset) ?"
                    rf".*?{_NEW}{_CURRENT} for Partition: {TP}"
                ),
                source_ref="0.11.0.2 LeaderEpochFileCache:188",
                fixed={"detail": "not stored"},
                examples=(
                    Example(
                        "Received a PartitionLeaderEpoch assignment for an epoch < latestEpoch. This implies messages "
                        "have arrived out of order. New: {epoch:1, offset:50}, Current: {epoch:2, offset:40} for "
                        "Partition: orders-0",
                        ({"leader_epoch": 1, "offset": 50, "previous_epoch": 2, **ORDERS, "detail": "not stored"},),
                    ),
                ),
            ),
            Variant(
                since="2.0",
                until="2.6",
                regex=rf"^{EPOCH_CACHE}Received leader epoch assignment {_ENTRY} which has ",
                source_ref="2.4.1 LeaderEpochFileCache:252",
                fixed={"detail": "stored, later entries removed"},
                examples=(
                    Example(
                        "[LeaderEpochCache orders-0] Received leader epoch assignment EpochEntry(epoch=1, "
                        "startOffset=50) which has an epoch less than the epoch of the latest entry "
                        "EpochEntry(epoch=2, startOffset=40). This implies messages have arrived out of order.",
                        ({**ORDERS, "leader_epoch": 1, "offset": 50, "detail": "stored, later entries removed"},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="E-07",
        kind=Kind.EPOCH_CUT,
        literal=(
            " entries from epoch cache based on passed offset ",
            " from epoch cache after truncating to end offset ",
        ),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.11",
                until="1.1",
                regex=(
                    r"^Cleared latest (?P<detail>.*) entries from epoch cache based on passed offset "
                    r"(?P<offset>[0-9]+) "
                    rf"leaving [0-9]+ in EpochFile for partition {TP}"
                ),
                source_ref="0.11.0.2 LeaderEpochFileCache:121",
                examples=(
                    Example(
                        "Cleared latest Set(EpochEntry(2,30)) entries from epoch cache based on passed offset 30 "
                        "leaving 1 in EpochFile for partition orders-0",
                        ({"detail": "Set(EpochEntry(2,30))", "offset": 30, **ORDERS},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="2.0",
                until=None,
                regex=(
                    rf"^{EPOCH_CACHE}Cleared entries (?P<detail>.*) from epoch cache after truncating to end offset "
                    r"(?P<offset>[0-9]+)"
                ),
                source_ref="2.4.1 LeaderEpochFileCache:181",
                examples=(
                    Example(
                        "[LeaderEpochCache orders-0] Cleared entries [EpochEntry(epoch=2, startOffset=30)] from epoch "
                        "cache after truncating to end offset 30, leaving 2 entries in the cache.",
                        ({**ORDERS, "detail": "[EpochEntry(epoch=2, startOffset=30)]", "offset": 30},),
                    ),
                ),
            ),
            Variant(
                since="0.11",
                until="1.1",
                regex=r"^Cleared earliest [0-9]+ entries from epoch cache based on passed offset ",
                source_ref="0.11.0.2 LeaderEpochFileCache:145",
                own_row=False,  # the log start moved: L-34 reports it
                examples=(
                    Example(
                        "Cleared earliest 0 entries from epoch cache based on passed offset 144 leaving 1 in "
                        "EpochFile for partition orders-0",
                        (),
                        "real",
                    ),
                    Example(
                        "Cleared earliest 1 entries from epoch cache based on passed offset 30 leaving 2 in EpochFile "
                        "for partition orders-0",
                        (),
                    ),
                ),
            ),
        ),
    ),
    # The whole cache: afterwards the broker truncates to the high watermark again, legitimately.
    Message(
        id="L-36",
        kind=Kind.EPOCH_CUT,
        literal=(
            "Clearing leader epoch cache after unexpected append with message format v",
            "Deleting non-empty leader epoch cache due to incompatible message format ",
        ),
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="2.1",
                until="3.9",
                regex=(
                    rf"^{LOG_PREFIX}(?:Clearing|Deleting non-empty) leader epoch cache "
                    r"(?P<detail>(?:after unexpected append with|due to incompatible) message format [^ ]+)"
                ),
                source_ref="2.4.1 Log:518, Log:1152",
                fixed={"offset": 0},
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/data] Deleting non-empty leader epoch cache due to "
                        "incompatible message format V1",
                        (
                            {
                                "offset": 0,
                                **ORDERS,
                                "log_dir": "/data",
                                "detail": "due to incompatible message format V1",
                            },
                        ),
                    ),
                    Example(
                        "[Log partition=orders-0, dir=/data] Clearing leader epoch cache after unexpected append with "
                        "message format v1",
                        (
                            {
                                "offset": 0,
                                **ORDERS,
                                "log_dir": "/data",
                                "detail": "after unexpected append with message format v1",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="E-10",
        kind=Kind.LOG_START,
        literal=" and rewrote first entry EpochEntry(",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="2.0",
                until=None,
                regex=(
                    rf"^{EPOCH_CACHE}Cleared entries .* and rewrote first entry {_ENTRY} after truncating to start "
                    rf"offset "
                    r"(?P<log_start>[0-9]+)"
                ),
                source_ref="2.4.1 LeaderEpochFileCache:206",
                fixed={"detail": EPOCH_REWRITTEN},
                examples=(
                    Example(
                        "[LeaderEpochCache orders-0] Cleared entries [EpochEntry(epoch=0, startOffset=0)] and rewrote "
                        "first entry EpochEntry(epoch=0, startOffset=0) after truncating to start offset 0, leaving 1 "
                        "in the cache.",
                        (
                            {
                                **ORDERS,
                                "leader_epoch": 0,
                                "offset": 0,
                                "log_start": 0,
                                "detail": EPOCH_REWRITTEN,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="E-12",
        kind=Kind.EPOCH_REPLY,
        literal=("Processed offset for epoch request for partition ", "Processed end offset request for epoch "),
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="0.11",
                until="1.1",
                regex=(
                    rf"^Processed offset for epoch request for partition {TP} epoch:{number('leader_epoch')} and "
                    rf"returning "
                    rf"offset {number('offset')} "
                ),
                source_ref="0.11.0.2 LeaderEpochFileCache:105",
                examples=(
                    Example(
                        "Processed offset for epoch request for partition orders-0 epoch:2 and returning offset 30 "
                        "from epoch list of size 2",
                        ({**ORDERS, "leader_epoch": 2, "offset": 30},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="2.0",
                until=None,
                regex=(
                    rf"^{EPOCH_CACHE}Processed end offset request for (?P<detail>epoch -?[0-9]+) and returning "
                    rf"epoch {number('leader_epoch')} with end offset {number('offset')} "
                ),
                source_ref="2.4.1 LeaderEpochFileCache:164, 3.6.2 LeaderEpochFileCache:293",
                examples=(
                    Example(
                        "[LeaderEpochCache orders-0] Processed end offset request for epoch 0 and returning epoch 0 "
                        "with end offset 10 from epoch cache of size 2}",
                        ({**ORDERS, "detail": "epoch 0", "leader_epoch": 0, "offset": 10},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
)
"""Epochs assigned, truncated and requested."""
