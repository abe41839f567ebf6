"""The log layer: files of a log that do not fit together."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import ORDERS, TP
from parsers.schema import Kind

MESSAGES: tuple[Message, ...] = (
    # Loading removes the index. The segment it belonged to was removed by somebody else, or a deletion was cut short.
    Message(
        id="W-10",
        kind=Kind.SEGMENT_MISSING,
        literal="Found an orphaned index file",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until=None,
                regex=(
                    rf"^(?:\[[^\]]*\] )*Found an orphaned index file,? (?P<log_dir>.*?)[/\\]{TP}[/\\](?P<offset>[0-9]+)"
                    r"\.(?P<detail>[a-z]+), with no corresponding log file"
                ),
                source_ref="0.8.2.2 Log, 1.1.1 Log, 3.0.2 LogLoader, 3.6.2 LogLoader",
                examples=(
                    Example(
                        "[LogLoader partition=orders-0, dir=/data] Found an orphaned index file "
                        "/data/orders-0/00000000000000000042.timeindex, with no corresponding log file.",
                        ({"log_dir": "/data", **ORDERS, "offset": 42, "detail": "timeindex"},),
                    ),
                    Example(
                        "Found an orphaned index file, /my data/orders-0/00000000000000000042.index, with no "
                        "corresponding log file.",
                        ({"log_dir": "/my data", **ORDERS, "offset": 42, "detail": "index"},),
                    ),
                ),
            ),
            # A log that is being removed or moved: not the replica.
            Variant(
                since="0.10",
                until=None,
                regex=r"^(?:\[[^\]]*\] )*Found an orphaned index file,? .*\.[0-9a-f]{32}-(?:delete|future|stray)[/\\]",
                source_ref="1.1.1 Log",
                own_row=False,
                examples=(
                    Example(
                        "[LogLoader partition=orders-0, dir=/data] Found an orphaned index file /data/orders-0."
                        "a8cfa1f6d87c4ffb816da974186a4271-delete/00000000000000000042.index, with no corresponding log "
                        "file.",
                        (),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="W-11",
        kind=Kind.SEGMENT_REPLACED,
        literal=" already exists; deleting it first",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="1.1",
                until=None,
                regex=(
                    rf"^(?:\[[^\]]*\] )?Newly rolled segment file (?P<log_dir>.*?)[/\\]{TP}[/\\](?P<offset>[0-9]+)\."
                    r"(?P<detail>[a-z]+) already exists"
                ),
                source_ref="1.1.1 Log:1344, 3.1.2 LocalLog:480",
                examples=(
                    Example(
                        "[LocalLog partition=orders-0, dir=/data] Newly rolled segment file "
                        "/data/orders-0/00000000000000000042.log already exists; deleting it first",
                        ({"log_dir": "/data", **ORDERS, "offset": 42, "detail": "log"},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="1.0",
                regex=(
                    rf"^(?:\[[^\]]*\],? )?Newly rolled segment file (?:.*[/\\]{TP}[/\\])?(?P<offset>[0-9]+)\."
                    r"(?P<detail>[a-z]+) already exists"
                ),
                source_ref="0.8.2.2 Log:557, 1.0.2 Log:1329",
                examples=(
                    Example(
                        "Newly rolled segment file 00000000000000000042.log already exists; deleting it first",
                        ({"offset": 42, "detail": "log"},),
                    ),
                ),
            ),
        ),
    ),
)
"""Segments without their files, and files without their segments."""
