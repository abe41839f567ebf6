"""Lines of a trace that cannot be, by the lines before: requests of a leader, log start offsets, and beliefs.

Each is a contradiction in words, without the name of the broker that states the line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.statement_lines import Key
from forensics.replay.facts.trace_lines import TraceLine
from forensics.replay.traces.leader_epochs import epoch_ends
from forensics.replay.traces.results import Contradiction
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind

if TYPE_CHECKING:
    from forensics.replay.traces.replica import Replica

_PLACE: Final = ("topic", "partition", "incarnation")
_RUNNING: Final = (Kind.LOG_START, Kind.STATE)
"""Kinds in which a running replica states its log start offset."""


def of_request(replica: Replica, line: TraceLine) -> str | None:
    """Return what is wrong with a request to a leader; None for nothing.

    A leader sends none, and a follower sends them to the leader of its role, in the leader epoch of its role.
    """
    if replica.leads:
        return f"asks a leader as a follower does; it leads in leader epoch {replica.epoch}"
    if None not in (line.leader, replica.leader) and line.leader != replica.leader:
        return f"asks broker {line.leader}; in leader epoch {replica.epoch} it follows broker {replica.leader}"
    fetched = line.kind == Kind.FOLLOWER_FETCHED and line.leader_epoch is not None
    if fetched and 0 <= replica.epoch != line.leader_epoch:
        return f"fetches in leader epoch {line.leader_epoch}; its last role is of leader epoch {replica.epoch}"
    return None


def of_answer(replica: Replica, leader: Replica, line: TraceLine) -> str | None:
    """Return what is wrong with an answer of a leader to a replica, where a leader epoch ends; None for nothing.

    A process that was killed may have lost the last entries of its epoch file: then its leader epochs end later.
    """
    epoch, offset = line.leader_epoch, line.offset
    if epoch is None or offset is None or epoch < 0 or offset < 0:
        return None
    number = line.leader if line.leader is not None else replica.leader
    least, most = epoch_ends(leader.log, epoch, replica.leader_end)
    if least <= offset <= (leader.log.end if leader.reloaded else most):
        return None
    stated = f"states that leader epoch {epoch} ends at {offset} in the log of broker {number}"
    return f"{stated}; by the lines before, it ends at {most}"


def of_log_start(replica: Replica, line: TraceLine, committed: int | None) -> str | None:
    """Return what is wrong with a log start offset; None for nothing.

    A running replica only raises it, a leader up to its high watermark (UnifiedLog.maybeIncrementLogStartOffset).

    Args:
        replica: as it was before the line.
        line: the line.
        committed: high watermark of the replica as leader; None if it does not lead, or may delete more.
    """
    start, log = line.log_start, replica.log
    if start is None or line.kind not in _RUNNING:
        return None
    stated = f"states log start offset {start}"
    if start > log.end:
        return f"{stated}; by the lines before, its log ends at {log.end}"
    if start < log.start and not replica.reloaded:
        return f"{stated}; by the lines before, its log starts at {log.start}"
    if committed is not None and start > max(committed, log.start):
        return f"{stated}; by the lines before, its high watermark is {committed}"
    return None


def beliefs(rows: pl.DataFrame) -> dict[Key, Contradiction]:
    """Return where a leader believes that the log of a follower ends above all that the follower states.

    A leader learns it from the offset that the follower asks from.

    Args:
        rows: observations of partitions, with ``broker``, ``row`` and ``incarnation``.

    Returns:
        The first such line, by incarnation of each partition.
    """
    traced = rows.filter(pl.col("message") == TRACE)
    believed = (pl.col("kind") == Kind.REMOTE_LEO.value) & (pl.col("replica") != pl.col("broker"))
    remote = traced.filter(believed.fill_null(False))
    if remote.is_empty():
        return {}
    own = traced.filter(pl.col("replica").is_null() | (pl.col("replica") == pl.col("broker")))
    most = own.group_by(*_PLACE, pl.col("broker").alias("replica")).agg(pl.col("leo").max().alias("_most"))
    compared = remote.join(most.with_columns(pl.col("replica").cast(remote.schema["replica"])), on=[*_PLACE, "replica"])
    above = compared.filter(pl.col("leo") > pl.col("_most")).sort("row")
    found: dict[Key, Contradiction] = {}
    columns = (*_PLACE, "broker", "replica", "leo", "_most", "line", "row")
    for *place, broker, replica, leo, end, line, row in above.select(columns).iter_rows():
        stated = f"broker {broker} states that the log of broker {replica} ends at {leo}"
        text = f"line {line}: {stated}; by its own lines, it never ended above {end}"
        key: Key = (place[0], place[1], place[2])
        found.setdefault(key, Contradiction(broker, text, None, Ref(row=row, note=text)))
    return found
