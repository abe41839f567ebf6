"""A server.log that begins after, or ends before, a role that the state-change.log of the same broker names.

A copy that broke off leaves such an end, and rotation such a beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import polars as pl

from forensics.case.order import FIRST as OF_ROLES
from forensics.case.order import is_fixed
from forensics.replay.coverage import MissingLines, Omission, Span
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import Event
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind
from parsers.text.broker_log import NAME as LOG

_FETCHERS: Final = "ReplicaManager.makeLeaders and makeFollowers remove fetchers, which AbstractFetcherManager prints"
"""Why a role in state-change.log has a line in server.log too."""

ENDS_BEFORE_ROLE = Omission(
    "ends-before-role",
    Span.AFTER,
    "its server.log ends before its state-change.log names a role in leader epoch {epoch}",
    _FETCHERS,
)
ROLE_AFTER_END = Omission(
    "role-after-end",
    Span.WITHIN,
    "no line of its server.log is as late as a role in leader epoch {epoch} in its state-change.log",
    _FETCHERS,
)
BEGINS_AFTER_ROLE = Omission(
    "begins-after-role",
    Span.WITHIN,
    "its server.log begins after its state-change.log names a role in leader epoch {epoch}",
    _FETCHERS,
)
ROLE_BEFORE_BEGIN = Omission(
    "role-before-begin",
    Span.BEFORE,
    "no line of its server.log is as early as a role in leader epoch {epoch} in its state-change.log",
    _FETCHERS,
)
OMISSIONS = (ENDS_BEFORE_ROLE, ROLE_AFTER_END, BEGINS_AFTER_ROLE, ROLE_BEFORE_BEGIN)

_OF_LOG: Final = "server"
"""In the name of the file of a broker's other lines."""

_OF_OTHERS: Final = "controller|cleaner|request|authorizer"
"""In the names of a broker's files that have neither."""

_APART: Final = 10_000_000
"""Microseconds between the first role of one request, which may have many partitions, and the line about fetchers."""

_FETCHER_KINDS: Final = (Kind.FETCHER_ADDED, Kind.FETCHER_REMOVED)
_ROLES: Final = (Kind.BECOME_LEADER, Kind.BECOME_FOLLOWER)


class Ends(NamedTuple):
    """Times of the first and the last line of a broker's server.log, microseconds since 1970 UTC."""

    log_from: int
    log_until: int


def ends(sources: pl.DataFrame) -> Mapping[int, Ends]:
    """Return where each broker's server.log begins and ends, if its roles have a file of their own."""
    logs = sources.filter(pl.col("format") == LOG, pl.col("broker").is_not_null(), pl.col("last_time").is_not_null())
    # While clocks are put back, the time at which a file ends may be an hour off.
    logs = logs.filter(pl.col("zone").map_elements(is_fixed, return_dtype=pl.Boolean))
    name = pl.col("path").str.extract(r"([^/!\\]*)$")
    logs = logs.with_columns(
        name.str.contains(OF_ROLES, literal=True).alias("roles"),
        name.str.contains(_OF_LOG).alias("log"),
        name.str.contains(_OF_OTHERS).alias("other"),
    )
    # A file of another name may be a piece of the log.
    unknown = logs.filter(~pl.any_horizontal("roles", "log", "other")).get_column("broker").unique().to_list()
    apart = logs.filter("roles", ~pl.col("broker").is_in(unknown)).get_column("broker").unique().to_list()
    found = logs.filter("log", ~pl.col("roles"), pl.col("broker").is_in(apart)).group_by("broker")
    spans = found.agg(pl.col("first_time").min().cast(pl.Int64), pl.col("last_time").max().cast(pl.Int64))
    return {broker: Ends(first, last) for broker, first, last in spans.iter_rows()}


def roles_outside(found: Mapping[int, Ends], events: Mapping[int, Iterable[Event]]) -> Iterator[MissingLines]:
    """Yield the lines that are missing before or after those of server.log, for the replicas of one partition.

    Args:
        found: where the server.log of each broker begins and ends.
        events: each broker's own lines about its replica.
    """
    for broker in sorted(events.keys() & found.keys()):
        one = found[broker]
        roles = list(_without_removal(events[broker]))
        yield from _of_role(broker, _later(roles, one.log_until), ENDS_BEFORE_ROLE, ROLE_AFTER_END)
        yield from _of_role(broker, _earlier(roles, one.log_from), BEGINS_AFTER_ROLE, ROLE_BEFORE_BEGIN)


def _of_role(broker: int, event: Event | None, *omissions: Omission) -> Iterator[MissingLines]:
    """Yield what a role outside of server.log shows, in each span that it concerns."""
    if event is not None:
        ref, epoch = Ref(row=event.row), event.leader_epoch
        yield from (omission.of(broker, ref=ref, epoch=epoch) for omission in omissions)


def _without_removal(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the roles of a replica; as leader only those before which no line shows that its fetcher was removed."""
    removed = False
    for event in events:
        if event.kind in _FETCHER_KINDS:
            removed = event.kind == Kind.FETCHER_REMOVED
        if _is_role(event):
            if event.kind == Kind.BECOME_FOLLOWER or not removed:
                yield event
            removed = False


def _is_role(event: Event) -> bool:
    return event.kind in _ROLES and event.message != TRACE and event.time is not None


def _later(roles: Sequence[Event], end: int) -> Event | None:
    """Return the first role after the end of server.log, or None. A follower's fetcher is removed after its role."""
    return next((one for one in roles if (one.time or 0) > end + _APART * (one.kind == Kind.BECOME_FOLLOWER)), None)


def _earlier(roles: Sequence[Event], begin: int) -> Event | None:
    """Return the last role before the beginning of server.log, or None."""
    return next((one for one in reversed(roles) if (one.time or 0) < begin), None)
