"""What a table of lines that state known problems is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FETCHER = "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0]"
STORED = "/srv/kafka/data"
FRAME = "\tat kafka.log.Log.append(Log.scala:842)"
RAN = "[2026-03-01 10:22:41,107] {level} {message} ({logger})"


def event(message: str, logger: str = "kafka.server.ReplicaFetcherThread", level: str = "INFO") -> str:
    """A line of server.log."""
    return RAN.format(level=level, message=message, logger=logger)


@dataclass(frozen=True)
class Shown:
    """Lines that state a known problem, and what must be read from them.

    Attributes:
        lines: as a broker prints them.
        broker, name, offsets: of the problem.
        near: lines that look like it, and are not of it.
    """

    lines: Sequence[str]
    near: Sequence[str]
    broker: int | None = None
    name: str | None = "sales-7"
    offsets: tuple[tuple[int, int], ...] = ()


LOADED = event(
    f"[Log partition=sales-7, dir={STORED}] Completed load of log with 1 segments, log start offset 0 and log end "
    "offset 18 in 3 ms",
    "kafka.log.Log",
)
FELL = event(
    f"[Log partition=sales-7, dir={STORED}] Non-monotonic update of high watermark from (offset=151 "
    "segment=[0:9060]) to (offset=130 segment=[-1:-1])",
    "kafka.log.Log",
    "WARN",
)
TO_EPOCH = event(
    f"{FETCHER} Truncating partition sales-7 with TruncationState(offset=130, completed=true) due to leader epoch "
    "and offset EpochEndOffset(errorCode=0, partition=7, leaderEpoch=4, endOffset=130)"
)
CAUGHT_UP = event("[Partition sales-7 broker=2] Expanding ISR from 2 to 2,3", "kafka.cluster.Partition")


def opened(partition: str, *, stored: str = "C:\\kafka\\data", at: int = 41) -> str:
    """A line of a broker that opens a log."""
    line = (
        f"[Log partition={partition}, dir={stored}] Loading producer state till offset 3 with message format version 2"
    )
    return event(line, "kafka.log.Log").replace(":41,", f":{at},")
