"""``kafka.log.LogCleaner`` (log-cleaner.log): up to where a log is being compacted."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import TP
from parsers.schema import Kind

MESSAGES: tuple[Message, ...] = (
    # Never beyond the high watermark: explains gaps between offsets, and batches that are gone.
    Message(
        id="LC-1",
        kind=Kind.COMPACTED,
        literal="Building offset map for log ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until=None,
                regex=(
                    rf"^(?:\[[^\]]*\] )?Cleaner [0-9]+: Building offset map for log {TP} for [0-9]+ segments in "
                    rf"offset range \[[0-9]+, (?P<offset>[0-9]+)\)"
                ),
                source_ref="1.1.1 LogCleaner",
                examples=(
                    Example(
                        "Cleaner 0: Building offset map for log compacted-0 for 1 segments in offset range [0, 40).",
                        ({"topic": "compacted", "partition": 0, "offset": 40},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
)
"""Compaction."""
