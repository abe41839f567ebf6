"""A case as lines of a trace: its statements, and what was read in the files of its brokers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Final

import polars as pl

from forensics.case.brokers import Broker, PartClaim, of_own_traces
from forensics.case.case import Case
from forensics.case.order import FIRST
from forensics.case.owners import by_folder
from parsers import read
from parsers.details import Claim
from parsers.filled import filled
from parsers.formats.segment import NAME as SEGMENT
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.formats.trace_jsonl import write_header, write_statements, write_trace
from parsers.schema import OBSERVATIONS, Kind
from parsers.takers import trace_files
from parsers.takers.metadata_files import TOPIC as METADATA_TOPIC

_OF_LINES: Final = ("broker-log", TRACE, "excerpt")
"""Formats whose statements become lines of their witness."""

_NOTHING: Final = ("unknown", "unreadable", "failed", "archive", "copy", "irrelevant", "gc-log")
_BESIDE: Final = re.compile(r"[0-9]{20}[.](?:index|timeindex|txnindex|snapshot)")
"""Files that count by their names."""

_OF_FIRST_LINE: Final = (pl.col("kind") == Kind.BROKER_CLUSTER.value) & pl.col("witness").is_null()
"""The cluster as the first line of a trace names it, and the first line of the written one again."""

_WITH_PROPERTIES: Final = ("server-properties", "meta-properties", "quorum-state")

LINES_LEFT_OUT: Final = "only a part of its log was in the evidence"


def written(
    case: Case, *, cluster: str | None, names: Collection[str] = (), setting: Callable[[str, str], str] | None = None
) -> Iterator[str]:
    """Yield the lines of the trace of a case, without line ends.

    Args:
        case: the evidence, of one cluster.
        cluster: its id, if known.
        names: partitions to write, as ``topic-partition``; all if empty.
        setting: gives what is written in place of the value of a setting; by default the value.
    """
    files = case.sources.filter(~pl.col("format").is_in([*_OF_LINES, *_NOTHING]) | _is_beside())
    rows = case.observations
    if names:
        of_broker = pl.col("topic").is_null() & pl.col("topic_id").is_null()
        rows = rows.filter(of_broker | filled("{}-{}", "topic", "partition").is_in(names))
        files = files.filter(
            pl.col("topic").is_null()
            | (pl.col("topic") == METADATA_TOPIC)
            | filled("{}-{}", "topic", "partition").is_in(names)
        )
    in_files = pl.col("source").is_in(files.get_column("id").implode())
    replicas = sorted(case.brokers)
    lines = _with_claims(case, rows.filter(~in_files & ~_OF_FIRST_LINE))
    parts = _parts(case, lines)
    for part in parts:
        with_files = bool(files.height) or len(parts) > 1
        yield from write_trace(part, cluster=cluster, replicas=replicas, with_files=with_files)
    yield from write_statements(_lines_left_out(case, lines))
    for source in files.sort("id").rows(named=True):
        yield from trace_files.write_file(_kept(case, source, rows, setting))


def _with_claims(case: Case, lines: pl.DataFrame) -> pl.DataFrame:
    """Return lines with those claims of first lines that count: what all traces of the evidence claim together."""
    is_claim = pl.col("kind") == Kind.TRACE.value
    claims = lines.filter(is_claim)
    if claims.is_empty():
        return lines
    own = of_own_traces(claims, lines.filter(~is_claim & (pl.col("message") == TRACE)))
    counted = [(broker.id, what) for broker in case.everyone for what in _counted(broker)]
    known = pl.DataFrame(counted, schema={"broker": claims.schema["broker"], "detail": pl.String}, orient="row")
    return pl.concat([own.join(known, on=["broker", "detail"], how="semi"), lines.filter(~is_claim)])


def _counted(broker: Broker) -> Iterator[str]:
    """Yield the details of the claims about a broker that count; those of a span may be about its log alone."""
    claim = PartClaim() if broker.complete else broker.claim
    if claim is None and broker.log_within is not None:
        claim = PartClaim()
    if claim is None:
        return
    yield from (Claim.SINCE, Claim.UNTIL)
    yield from (Claim.ALL,) if claim.everything else ()
    yield from (Claim.LOG,) if claim.log else ()
    yield from (Claim.ROLES,) if claim.roles else ()


def _parts(case: Case, lines: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the lines of each trace to write; one, unless traces have lines of a broker whose logs are there too.

    Both state what happened to the same log, so each remains a series of its own, in the order of equal times: roles as
    logs state them, traces, other lines of logs.
    """
    traces = case.sources.filter(pl.col("format") == TRACE).get_column("id")
    of_trace = pl.col("source").is_in(traces.implode())
    logged = lines.filter(~of_trace).get_column("broker").drop_nulls().unique()
    shared = lines.filter(of_trace & pl.col("broker").is_in(logged.implode())).get_column("source").unique().sort()
    if shared.is_empty():
        return [_as_written(case, lines)]
    names = case.sources.filter(pl.col("path").str.contains(FIRST, literal=True)).get_column("id")
    beside, roles = pl.col("source").is_in(shared.implode()), pl.col("source").is_in(names.implode())
    alone = lines.filter(~beside & ~roles)
    each = [lines.filter(pl.col("source") == trace).sort("line", maintain_order=True) for trace in shared]
    return [part for part in (lines.filter(~beside & roles), *each, _as_written(case, alone)) if part.height]


def _as_written(case: Case, lines: pl.DataFrame) -> pl.DataFrame:
    """Return the lines in the order of their traces, which counts where times are equal or absent.

    Lines of logs come before, broker by broker. If two traces have lines of one witness, only times order these.
    """
    traces = case.sources.filter(pl.col("format") == TRACE).get_column("id")
    of_trace = pl.col("source").is_in(traces.implode())
    traced = lines.filter(of_trace).sort("source", "line", maintain_order=True)
    in_order = traced.select((pl.col("row").diff().fill_null(1) > 0).over("broker").all()).item()
    return pl.concat([lines.filter(~of_trace), traced]) if in_order else lines


def _is_beside() -> pl.Expr:
    return (pl.col("format") == "irrelevant") & pl.col("path").str.contains(_BESIDE.pattern + "$")


def _lines_left_out(case: Case, lines: pl.DataFrame) -> pl.DataFrame:
    """Return a statement for each broker with lines of its log, of which only a part is in the evidence."""
    spoke = lines.filter(pl.col("message") != TRACE).get_column("broker").drop_nulls().unique().sort().to_list()
    known = (case.brokers[number] for number in spoke if number in case.brokers)
    partly = [broker.id for broker in known if not (broker.server_log or broker.state_log)]
    made = [{"kind": Kind.LINES_MISSING.value, "witness": broker, "detail": LINES_LEFT_OUT} for broker in partly]
    return pl.DataFrame(made, schema=OBSERVATIONS)


def _kept(
    case: Case, source: dict[str, Any], rows: pl.DataFrame, setting: Callable[[str, str], str] | None
) -> trace_files.Kept:
    number, mine = source["id"], pl.col("source") == source["id"]
    file = case.files[number]
    # A case keeps no settings by file, and these files are small.
    properties = read.read(file).properties if source["format"] in _WITH_PROPERTIES else {}
    if setting is not None:
        properties = {key: setting(key, value) for key, value in properties.items()}
    statements = rows.filter(mine)
    return trace_files.Kept(
        _path(source["path"], source["broker"], metadata=source["topic"] == METADATA_TOPIC),
        source,
        properties,
        statements,
        case.batches.filter(mine),
        case.notices.filter(mine),
        tuple(write_statements(statements, bytes_too=True)),
    )


def _path(path: str, broker: int | None, *, metadata: bool) -> str:
    """Return the path of a file in a trace: below a folder that is named after its broker."""
    parts = [part for part in PurePosixPath(path).parts if part != "/"]
    if metadata:  # by its own name a directory of the metadata log would be read as one
        parts.insert(-1, "as-read")
    if broker is None:
        return "/".join(parts)
    at = max((n for n, part in enumerate(parts[:-1]) if by_folder((part,)) == broker), default=None)
    return "/".join([f"broker-{broker}", *(parts if at is None else parts[at + 1 :])])


def of_files(case: Case, numbers: Collection[int], setting: Callable[[str, str], str] | None = None) -> Iterator[str]:
    """Yield the lines of a trace of some files, without line ends: what was read in them, and nothing else.

    Args:
        case: the evidence; the files of each cluster make a trace of their own.
        numbers: ids of the files; of segments only what their records state.
        setting: gives what is written in place of the value of a setting; by default the value.
    """
    files = case.sources.filter(pl.col("id").is_in(list(numbers))).sort("cluster", "id", nulls_last=True)
    for (cluster,), part in files.group_by("cluster", maintain_order=True):
        yield write_header(cluster=cluster, with_files=True)
        for source in part.rows(named=True):
            kept = _kept(case, source, case.observations, setting)
            yield from trace_files.write_file(_statements_alone(kept) if source["format"] == SEGMENT else kept)


def _statements_alone(kept: trace_files.Kept) -> trace_files.Kept:
    """Return what a segment states, without its batches and its place: another file shows what the log holds."""
    return replace(
        kept, placed={"format": "command-output"}, batches=kept.batches.clear(), notices=kept.notices.clear()
    )
