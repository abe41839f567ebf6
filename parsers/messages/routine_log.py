"""Lines of the log layer (``kafka.log``) that add nothing: steps of loading, of shutting down, of deleting.

Other lines have the same and more. These are recognised, so that no user has to ask whether one of them matters, and
give no row.
"""

from __future__ import annotations

from parsers.messages.catalogue import Message, Wording, routine
from parsers.messages.patterns import LOG_PREFIX
from parsers.schema import Kind

MESSAGES: tuple[Message, ...] = (
    routine(
        "L-16",
        Kind.LOG_LOADED,
        (
            "Reloading from producer snapshot and rebuilding ",
            "Producer state recovery took ",
        ),
        "INFO",
        True,
        Wording(
            "3.0",
            None,
            rf"^{LOG_PREFIX}Reloading from producer snapshot and rebuilding ",
            "3.6.2 UnifiedLog:2144",
            (
                "[UnifiedLog partition=orders-0, dir=/d] Reloading from producer snapshot and rebuilding "
                "producer state from offset 42"
            ),
            "real",
        ),
        Wording(
            "3.0",
            None,
            rf"^{LOG_PREFIX}Producer state recovery took ",
            "3.6.2 UnifiedLog:2183",
            (
                "[UnifiedLog partition=orders-0, dir=/d] Producer state recovery took 2ms for snapshot "
                "load and 0ms for segment recovery from offset 42"
            ),
            "real",
        ),
    ),
    routine(
        "L-33",
        Kind.LEO,
        "First unstable offset ",
        "DEBUG",
        False,
        Wording(
            "0.11",
            "0.11",
            r"^First unstable offset for ",
            "0.11.0.2 Log",
            "First unstable offset for orders-0 updated to Some(42 [0 : 2983])",
        ),
        Wording(
            "1.0",
            None,
            rf"^{LOG_PREFIX}First unstable offset updated to ",
            "2.4.1 Log:1260",
            "[Log partition=orders-0, dir=/d] First unstable offset updated to None",
        ),
    ),
    routine(
        "L-41",
        Kind.SEGMENTS_DELETED,
        "Deleting segment ",
        "INFO",
        True,
        Wording(
            "2.7",
            None,
            rf"^{LOG_PREFIX}Deleting segment files ",
            "3.6.2 LocalLog:946",
            (
                "[UnifiedLog partition=orders-0, dir=/d] Deleting segment files LogSegment(baseOffset=0, "
                "size=1371, lastModifiedTime=1795234476230, largestRecordTimestamp=1795234476223)"
            ),
            "real",
        ),
        Wording(
            "0.8",
            "0.11",
            r"^Deleting segment [0-9]+ from log ",
            "0.10.2.2 Log",
            "Deleting segment 0 from log orders-0.",
            "real",
        ),
        Wording(
            "1.0",
            "2.3",
            rf"^{LOG_PREFIX}Deleting segment [0-9]+",
            "1.1.1 Log",
            "[Log partition=orders-0, dir=/d] Deleting segment 0",
            "real",
        ),
    ),
    routine(
        "M-01",
        Kind.LOG_LOADED,
        "Loading logs",
        "INFO",
        True,
        Wording("0.8", "2.5", r"^Loading logs\.", "0.10.2.2 LogManager:116", "Loading logs.", "real"),
        Wording(
            "2.6",
            None,
            r"^Loading logs from log dirs ",
            "2.8.2 LogManager:302",
            "Loading logs from log dirs ArrayBuffer(/d)",
            "real",
        ),
    ),
    routine(
        "M-07",
        Kind.LOG_LOADED,
        (
            "Logs loading complete in ",
            " logs in ",
        ),
        "INFO",
        True,
        Wording(
            "0.8",
            "2.5",
            r"^Logs loading complete in ",
            "0.10.2.2 LogManager:189",
            "Logs loading complete in 2 ms.",
            "real",
        ),
        Wording(
            "2.6",
            None,
            r"^Loaded [0-9]+ logs in [0-9]+ms",
            "2.8.2 LogManager, 3.6.2 LogManager:498",
            "Loaded 1 logs in 13ms",
            "real",
        ),
        Wording(
            "2.6",
            None,
            r"^Error while loading logs in ",
            "3.9.1 LogManager",
            "Error while loading logs in /d/orders-0 in 5ms (1/1 completed in /d)",
            "real",
        ),
        Wording(
            "1.1",
            None,
            r"^Stopping cleaning logs in dir ",
            "2.8.2 LogCleaner",
            "Stopping cleaning logs in dir /d2",
            "real",
        ),
    ),
    routine(
        "M-14",
        Kind.SHUTDOWN_BEGIN,
        (
            "Writing clean shutdown marker at ",
            "Updating recovery points at ",
        ),
        "DEBUG",
        False,
        Wording(
            "0.8",
            None,
            r"^Writing clean shutdown marker at ",
            "2.4.1 LogManager:485, 3.9.1 LogManager",
            "Writing clean shutdown marker at /d with broker epoch=11",
            "real",
        ),
        Wording(
            "0.8",
            None,
            r"^Updating recovery points at ",
            "2.4.1 LogManager:478",
            "Updating recovery points at /d",
            "real",
        ),
    ),
    routine(
        "M-15",
        Kind.SHUTDOWN_BEGIN,
        (
            "Shutting down.",
            "Shutdown complete.",
        ),
        "INFO",
        True,
        Wording("0.8", None, r"^(?:\[[^\]]+\]:? )?Shutting down\.", "2.4.1 LogManager:436", "Shutting down.", "real"),
        Wording(
            "0.8", None, r"^(?:\[[^\]]+\]:? )?Shutdown complete\.", "2.4.1 LogManager", "Shutdown complete.", "real"
        ),
    ),
    routine(
        "RM-11a",
        Kind.CHECKPOINT_ERROR,
        "Malformed line in ",
        "ERROR",
        True,
        Wording(
            "0.9",
            None,
            r"^(?:java\.io\.IOException: )?Malformed line in (?:offset )?checkpoint file ",
            "2.4.1 CheckpointFile, 3.6.2 CheckpointFile",
            "Malformed line in checkpoint file [/d/replication-offset-checkpoint]: orders 0",
        ),
    ),
    routine(
        "M-05a",
        Kind.CHECKPOINT_ERROR,
        "Resetting the recovery checkpoint to 0",
        "WARN",
        True,
        Wording(
            "0.8",
            "2.5",
            r"^Resetting the recovery checkpoint to 0",
            "0.10.2.2 LogManager:142",
            "Resetting the recovery checkpoint to 0",
        ),
    ),
)
