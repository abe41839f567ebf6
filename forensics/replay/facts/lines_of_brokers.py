"""The lines that name no partition and that the replay of each partition reads.

The partitions of a cluster may be judged apart: in several processes, or as tasks of a batch. Each of them then needs
these lines besides its own, and no other line without a partition may be read by the replay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from forensics.replay.facts.dir_failures import of_directory
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.messages.logs import LOG_OF, Log
from parsers.schema import Kind

_OF_CONTROLLERS: Final = sorted(message for message, log in LOG_OF.items() if log is Log.CONTROLLER)
_HANDLED: Final = "S-43"
"""Message of a broker that handles a LeaderAndIsr request of a controller with ZooKeeper."""


def of_process() -> pl.Expr:
    """Filter for lines about a broker's process as a whole, which apply to each of its replicas.

    These are: it started, it began to shut down or had done so, a directory failed, and in a trace that it had not
    stopped cleanly. In logs the last one is reported for a directory, and for each replica in its recovery lines.
    Traces made from logs do the same.
    """
    kind = pl.col("kind")
    whole = (pl.col("message") == TRACE) & pl.col("log_dir").is_null()
    unclean = (kind == Kind.UNCLEAN_RESTART.value) & whole
    of_process = kind.is_in([Kind.PROCESS_STARTED.value, Kind.SHUTDOWN_BEGIN.value, Kind.SHUTDOWN_COMPLETE.value])
    return (of_process | unclean | of_directory()) & pl.col("broker").is_not_null()


def starts_process() -> pl.Expr:
    """Filter for the first line of each process of a broker."""
    return pl.col("starts_run") & pl.col("broker").is_not_null()


def reports_start() -> pl.Expr:
    """Filter for lines that report the start of a process, also those after its first: ``quorum`` reads them."""
    return (pl.col("kind") == Kind.PROCESS_START.value) & pl.col("broker").is_not_null()


def prints_cluster_id() -> pl.Expr:
    """Filter for lines in which a broker names its cluster."""
    return pl.col("kind") == Kind.BROKER_CLUSTER.value


def sends_requests() -> pl.Expr:
    """Filter for lines of a controller with ZooKeeper that sends LeaderAndIsr requests to one broker (2.6 on)."""
    return (pl.col("kind") == Kind.ROLE_SENT.value) & pl.col("topic").is_null() & pl.col("broker").is_not_null()


def handles_request() -> pl.Expr:
    """Filter for lines of a broker that handles a LeaderAndIsr request of a controller with ZooKeeper (2.6 on)."""
    return (pl.col("message") == _HANDLED) & pl.col("topic").is_null() & pl.col("broker").is_not_null()


def reads_metadata_log() -> pl.Expr:
    """Filter for lines of a process of KRaft about its metadata log, which ``put_back_dirs`` and ``quorum`` read."""
    kinds = [Kind.METADATA_LOADED.value, Kind.BROKER_CAUGHT_UP.value]
    return pl.col("kind").is_in(kinds) & pl.col("broker").is_not_null()


def removes_topic() -> pl.Expr:
    """Filter for lines and records of the deletion of a topic (KRaft): ``stray_replicas`` reads them."""
    return (pl.col("kind") == Kind.TOPIC_REMOVED.value) & pl.col("topic_id").is_not_null()


def removed_topics(observations: pl.DataFrame) -> frozenset[str]:
    """Return the ids of the topics that controllers removed."""
    return frozenset(observations.filter(removes_topic()).get_column("topic_id"))


_SESSIONS: Final = (Kind.BROKER_FENCED, Kind.BROKER_UNFENCED, Kind.BROKER_REGISTERED)


def sees_broker_session() -> pl.Expr:
    """Filter for lines of a controller that a broker's session ended (it is gone, or fenced in KRaft) or began."""
    of_session = pl.col("kind").is_in([kind.value for kind in _SESSIONS])
    return of_session & pl.col("topic").is_null() & pl.col("broker").is_not_null()


def of_controllers() -> pl.Expr:
    """Filter for lines of controllers that name no partition: of these the replay asks only for the last time."""
    logged = pl.col("message").cast(pl.String).is_in(_OF_CONTROLLERS) | (pl.col("kind") == Kind.ROLE_SENT.value)
    return logged & pl.col("topic").is_null()


READ: Final[tuple[Callable[[], pl.Expr], ...]] = (
    of_process,
    starts_process,
    reports_start,
    prints_cluster_id,
    sends_requests,
    handles_request,
    sees_broker_session,
    reads_metadata_log,
    removes_topic,
)
"""Lines of which the replay reads each one. Of ``of_controllers`` the last line is enough."""


def lines_of_brokers(observations: pl.DataFrame, cluster: Sequence[str] = ()) -> pl.DataFrame:
    """Return the lines without a topic that the replay of any partition needs, in their order.

    Args:
        observations: of one case, or of several.
        cluster: columns that tell clusters apart.
    """
    last = pl.when(of_controllers()).then("time").max()
    ends = of_controllers() & (pl.col("time") == (last.over(cluster) if cluster else last))
    wanted = pl.any_horizontal(ends, *(read() for read in READ))
    return observations.filter(pl.col("topic").is_null() & wanted)
