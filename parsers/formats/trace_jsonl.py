"""Traces: one observation per line as a JSON object, so that any system with high watermarks and epochs can be judged.

``docs/trace-format.md`` is the full description, ``trace.schema.json`` beside this module is its JSON Schema. A line
has ``"schema": "forensics.trace/1"``, its time in UTC, and those columns of ``OBSERVATIONS`` that have a value, under
Kafka's names. The first line may be of kind ``trace`` and describes all the others: see ``trace_kinds``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, Final, NamedTuple

import polars as pl

from parsers.details import Claim
from parsers.encodings.json_lines import decode
from parsers.encodings.json_text import encode
from parsers.formats.trace_checks import BACKWARDS, OF_ALL, Header, header, type_of, unknown_kind, wrong
from parsers.formats.trace_kinds import (
    CLAIMED_BY,
    COLUMN_OF,
    FIELD_OF,
    FIELDS,
    FILE_LINES,
    OF_ITSELF,
    OF_PROCESS,
    PLACE,
    SCHEMA,
    TYPES,
)
from parsers.reading import EXCERPT
from parsers.schema import NOTICES, OBSERVATIONS, Kind, conform, empty

__all__ = ["FIELDS", "NAME", "SCHEMA", "Trace", "is_trace", "json_schema", "read_trace", "write_trace"]

NAME: Final = "trace"

_KINDS: Final = frozenset(kind.value for kind in Kind)
_SHAPE: Final = pl.Struct(
    {
        "schema": pl.String(),
        **{name: pl.Int64() if TYPES[name].is_integer() else pl.String() for name in FIELDS},
    }
)

_SETTINGS: Final = {
    "hw": (("inter.broker.protocol.version", "0.10.2"), ("log.message.format.version", "0.10.2")),
    "epoch": (("log.message.format.version", "0.11.0"),),
}
"""Settings that make followers of Kafka truncate so (KIP-101). What else differs by release they leave open: the
inter-broker protocol is at least that of the message format, and below 0.11 nothing else depends on it."""


_OF_HEADER: Final = (Kind.TRACE, Kind.BROKER_CLUSTER, Kind.BROKER_VERSION, Kind.BROKER_SYSTEM, Kind.BROKER_CONFIG)
BELOW_HEADER: Final[pl.Expr] = ~(
    (pl.col("message") == NAME) & pl.col("kind").is_in([kind.value for kind in _OF_HEADER]).fill_null(False)
).fill_null(False)
"""Of an observation: it is not the first line of a trace that states it. What that line states of a broker shows no
witness.
"""


class Trace(NamedTuple):
    """Some lines of a trace.

    Attributes:
        observations: rows of ``OBSERVATIONS``, times naive UTC.
        notices: rows of ``NOTICES``.
        unread: how many lines could not be read, or not with all that they may state.
        unplaced: how many more have a time that runs backwards, and replay cannot see that.
    """

    observations: pl.DataFrame
    notices: pl.DataFrame
    unread: int = 0
    unplaced: int = 0


_OURS: Final = re.compile(rb"""\{.*"forensics\.trace\\?/1\"""")
"""A line of a trace; a program may write the slash of its schema as ``\\/``."""


def is_line(line: bytes) -> bool:
    """Return whether a line is one of a trace."""
    return _OURS.match(line.removeprefix(b"\xef\xbb\xbf").lstrip()) is not None


def is_trace(head: bytes) -> bool:
    """Return whether a file begins with lines of a trace; the first ones may be damaged.

    Most lines have to be of a trace then, or the text begins as JSON does.
    """
    rows = [line for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    ours = [is_line(line) for line in rows]
    return any(ours) and (ours[0] or 2 * sum(ours) > len(ours) or rows[0].lstrip().startswith(b"{"))


_NAMES_SCHEMA: Final = re.compile(rb'"schema"\s*:\s*"forensics\.trace\\?/1"')


def is_reprinted(head: bytes) -> bool:
    """Return whether a file has the lines of a trace in an array, or each of them over several lines."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text[:1] in (b"[", b"{") and _NAMES_SCHEMA.search(text) is not None


def read_trace(lines: pl.DataFrame) -> Trace:
    """Read some lines of a file that ``is_trace``.

    Args:
        lines: columns line and text.
    """
    rows = lines.select(pl.col("line").cast(pl.Int64), "text").filter(pl.col("text").str.strip_chars() != "")
    found, broken = decode(rows, "text", _SHAPE)
    found = found.unnest("found")
    ours = pl.col("schema").eq_missing(pl.lit(SCHEMA))
    found = found.filter(~pl.col("kind").is_in(FILE_LINES).fill_null(False))  # ``takers.trace_files`` reads these
    known = pl.col("kind").is_in(list(_KINDS)).fill_null(False)
    time = (
        pl.col("time")
        .str.replace("T", " ", literal=True)
        .str.replace(r"Z$", "+00:00")
        .str.to_datetime("%Y-%m-%d %H:%M:%S%.f%:z", time_unit="us", time_zone="UTC", strict=False)
        .dt.replace_time_zone(None)
        .alias("_time")
    )
    heads = found.filter(ours & (pl.col("kind") == Kind.TRACE.value).fill_null(False))
    good = found.filter(ours & known & (pl.col("kind") != Kind.TRACE.value)).with_columns(time)
    undated = good.filter(pl.col("time").is_not_null() & pl.col("_time").is_null())
    notices = [
        *(
            _notes(broken.slice(n, 1), f"{type_of(text)}: the line is left out")
            for n, text in enumerate(broken["text"])
        ),
        _notes(found.filter(~ours), f'a line without "schema": "{SCHEMA}"'),
        *(
            _notes(odd, f"{unknown_kind(odd['text'][0])}: the line is left out")
            for odd in found.filter(ours & ~known).iter_slices(1)
        ),
        _notes(undated, "a time that is not ISO 8601 with a zone"),
    ]
    left_out: set[int] = set()
    unclaimed: set[int] = set()
    unplaced: set[int] = set()
    for one in wrong(good):
        notices.append(_notes(one.rows, one.reason if one.counts else f"{one.reason}: the line is left out"))
        left_out.update(() if one.counts else one.rows.get_column("line"))
        (unplaced if one.reason == BACKWARDS else unclaimed).update(one.rows["line"] if one.unclaimed else ())
    good = good.filter(~pl.col("line").is_in(list(left_out))).drop("time").rename({"_time": "time", **COLUMN_OF})
    good = good.with_columns(_as_states(), _least_hw(), *_of_replica(), *_without_place())
    good = good.with_columns(pl.col("message").fill_null(NAME), pl.col("kind").cast(OBSERVATIONS["kind"]))
    parts = [conform(good, OBSERVATIONS)]
    for line, text in heads.select("line", "text").iter_rows():
        said = header(text)
        parts.append(_of_header(said, line, good.get_column("witness").drop_nulls().unique().to_list()))
        notices += [_notes(heads.filter(pl.col("line") == line), reason) for reason in said.reasons]
    observations = pl.concat(parts).sort("line", maintain_order=True)
    unread = {*broken["line"], *undated["line"], *found.filter(~ours | ~known)["line"], *left_out, *unclaimed}
    notes = pl.concat(notices).sort("line", maintain_order=True)
    return Trace(observations, notes, len(unread), len(unplaced - unread))


def _as_states() -> pl.Expr:
    """Return the kind of each row. A state with a log end offset or a high watermark is read as one of that."""
    state = pl.col("kind") == Kind.STATE.value
    return (
        pl.when(state & pl.col("leo").is_not_null())
        .then(pl.lit(Kind.LEO.value))
        .when(state & pl.col("hw").is_not_null())
        .then(pl.lit(Kind.HW.value))
        .otherwise("kind")
        .alias("kind")
    )


def _least_hw() -> pl.Expr:
    """Return the high watermark of each row. What a consumer read is below it, and so is what acks=all acknowledges.

    Another acknowledgement shows none.
    """
    read = pl.col("kind") == Kind.CONSUMED.value
    acked = (pl.col("kind") == Kind.PRODUCED.value) & pl.col("message").is_null()
    least = (read | (acked & OF_ALL)) & pl.col("hw").is_null()
    return pl.when(least).then(pl.col("offset") + 1).when(~acked | OF_ALL).then("hw").alias("hw")


def _without_place() -> tuple[pl.Expr, ...]:
    """Return topic and partition of each row. A line about a process may name them, as a program adds them to all."""
    of_process = pl.col("message").is_null() & pl.col("kind").is_in(OF_PROCESS)
    return tuple(pl.when(~of_process).then(name).alias(name) for name in PLACE)


def _of_replica() -> tuple[pl.Expr, pl.Expr]:
    """Return the witness and the replica of each row. What somebody else states of a replica counts as its own line."""
    of_itself = pl.col("message").is_null() & pl.col("kind").is_in(OF_ITSELF) & pl.col("replica").is_not_null()
    witness = pl.when(of_itself).then("replica").otherwise("witness").alias("witness")
    return witness, pl.when(~of_itself).then("replica").alias("replica")


def _of_header(said: Header, line: int, witnesses: Sequence[int]) -> pl.DataFrame:
    """Return the statements of the first line, as if each replica had stated them itself.

    Where it names no replica, its release and settings are those of the witnesses of the lines.
    """
    rows: list[dict[str, Any]] = []
    replicas = sorted({*said.replicas, *(claim.replica for claim in said.complete)})
    if said.cluster is not None:
        stated = {"kind": Kind.BROKER_CLUSTER, "detail": said.cluster}
        rows += [{**stated, "witness": one} for one in replicas] or [stated]
    settings = list(said.settings)
    if said.protocol is not None:
        settings += _SETTINGS[said.protocol]
    for replica in replicas or sorted(witnesses):
        if said.system is not None:
            rows.append({"kind": Kind.BROKER_SYSTEM, "detail": said.system, "witness": replica})
        if said.release is not None:
            rows.append({"kind": Kind.BROKER_VERSION, "detail": said.release, "witness": replica})
        rows += [{"kind": Kind.BROKER_CONFIG, "detail": f"{k}={v}", "witness": replica} for k, v in settings]
        rows += _claims(said, replica)
    if not rows:
        return empty(OBSERVATIONS)
    told = [{**row, "kind": row["kind"].value, "message": NAME, "line": line} for row in rows]
    return conform(pl.DataFrame(told, infer_schema_length=None), OBSERVATIONS)


def _claims(said: Header, replica: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of the claims about one replica; one row that nothing is claimed if there are none."""
    stated = {"kind": Kind.TRACE, "witness": replica}
    own = [one for one in said.complete if one.replica == replica]
    if not own and not said.files:
        yield {**stated, "detail": Claim.NOTHING.value}
    for claim in own:
        yield from ({**stated, "detail": what.value} for what in claim.about)
        for end, text in ((Claim.SINCE, claim.since), (Claim.UNTIL, claim.until)):
            if text is not None:
                time = datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
                yield {**stated, "detail": end.value, "time": time}


def _notes(rows: pl.DataFrame, reason: str) -> pl.DataFrame:
    if rows.is_empty():
        return empty(NOTICES)
    found = rows.select(
        pl.lit(reason).alias("reason"),
        pl.col("text").str.slice(0, EXCERPT).alias("excerpt"),
        pl.col("line"),
    )
    return conform(found, NOTICES)


def write_header(
    *,
    system: str = "kafka",
    release: str | None = None,
    protocol: str | None = None,
    cluster: str | None = None,
    replicas: Sequence[int] = (),
    settings: dict[str, str] | None = None,
    complete: bool | Sequence[int | dict[str, Any]] = False,
    with_files: bool = False,
) -> str:
    """Return the first line of a trace, without its line end; ``trace_kinds.HEADER`` describes the fields."""
    said: dict[str, object] = {"release": release, "protocol": protocol, "cluster": cluster, "replicas": list(replicas)}
    claimed = complete if isinstance(complete, bool) else list(complete)
    said |= {"settings": settings, "files": with_files, "complete": claimed}
    kept = {name: value for name, value in said.items() if value}
    return _line({"kind": Kind.TRACE.value, "system": system, **kept})


def _line(content: dict[str, Any]) -> str:
    return encode({"schema": SCHEMA, **content})


def write_trace(
    observations: pl.DataFrame,
    *,
    cluster: str | None = None,
    replicas: Sequence[int] = (),
    with_files: bool = False,
) -> Iterator[str]:
    """Lines of a trace, without line ends.

    Args:
        observations: rows of ``OBSERVATIONS``; a column ``broker``, where there is one, names the witness of rows that
            name none. Times are in UTC.
        cluster: cluster id, if all are of one.
        replicas: ids of the brokers.
        with_files: the lines of ``parsers.takers.trace_files`` follow.
    """
    rows = observations
    if "broker" in rows.columns:
        rows = rows.with_columns(pl.coalesce("witness", "broker").alias("witness"))
    claims = rows.filter(pl.col("kind") == Kind.TRACE.value).select("witness", "detail", "time").drop_nulls("witness")
    claimed = [
        _claim_of(broker, part)
        for (broker,), part in sorted(claims.partition_by("witness", as_dict=True).items())
        if Claim.NOTHING.value not in part.get_column("detail")
    ]
    if claimed or replicas or cluster is not None or with_files:
        known = replicas or claims.get_column("witness").unique().sort().to_list()
        system = _system(rows)
        yield write_header(system=system, cluster=cluster, replicas=known, complete=claimed, with_files=with_files)
    of_header = (pl.col("kind") == Kind.BROKER_SYSTEM.value) & pl.col("message").eq_missing(pl.lit(NAME))
    yield from write_statements(rows.filter((pl.col("kind") != Kind.TRACE.value) & ~of_header))


def _system(rows: pl.DataFrame) -> str:
    """Return the system that wrote the traces of which rows are; Kafka if they do not name one, or name several."""
    named = rows.filter(pl.col("kind") == Kind.BROKER_SYSTEM.value).get_column("detail").drop_nulls().unique()
    return str(named[0]) if len(named) == 1 else "kafka"


def _claim_of(broker: int, claims: pl.DataFrame) -> int | dict[str, Any]:
    """Return the claim about a broker, as the first line of a trace has it.

    Args:
        broker: broker id.
        claims: ``detail`` and ``time`` of its rows of kind ``trace``.
    """
    stated = dict(claims.select("detail", pl.col("time").dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ")).iter_rows())
    claim: dict[str, Any] = {}
    if Claim.ALL.value not in stated:
        claim["kinds"] = [kind.value for what, kinds in CLAIMED_BY.items() if what.value in stated for kind in kinds]
    claim |= {name: stated[end.value] for name, end in (("from", Claim.SINCE), ("to", Claim.UNTIL)) if end in stated}
    return {"replicas": [broker], **claim} if claim else broker


def write_statements(rows: pl.DataFrame, *, bytes_too: bool = False) -> Iterator[str]:
    """Lines of a trace for observations, without line ends.

    Args:
        rows: rows of ``OBSERVATIONS``.
        bytes_too: also state the byte of a row from a binary file.
    """
    time = pl.col("time").dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
    # What was written as a trace states no message.
    message = pl.when(pl.col("message") != NAME).then("message").alias("message")
    names = [*FIELDS, "byte"] if bytes_too else FIELDS
    rows = rows.rename(FIELD_OF).select(*names).with_columns(time, message, pl.col("kind").cast(pl.String))
    for row in rows.iter_rows(named=True):
        yield _line({name: value for name, value in row.items() if value is not None})


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a line, as it is shipped."""
    found: dict[str, Any] = json.loads(files("parsers.formats").joinpath("trace.schema.json").read_text("utf-8"))
    return found
