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
from parsers.details import Transition
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


class _Role(NamedTuple):
    """A role that state-change.log names.

    Attributes:
        time: microseconds since 1970 UTC, or None.
        row: of the line.
        epoch: leader epoch, or None.
        fetcher_later: the line about the fetcher follows this one.
    """

    time: int | None
    row: int
    epoch: int | None
    fetcher_later: bool = False


def roles_outside(found: Mapping[int, Ends], events: Mapping[int, Iterable[Event]]) -> Iterator[MissingLines]:
    """Yield the lines that are missing before or after those of server.log, for the replicas of one partition.

    Args:
        found: where the server.log of each broker begins and ends.
        events: each broker's own lines about its replica.
    """
    for broker in sorted(events.keys() & found.keys()):
        one = found[broker]
        roles = list(_without_fetcher(events[broker]))
        yield from _of_role(broker, _later(roles, one.log_until), ENDS_BEFORE_ROLE, ROLE_AFTER_END)
        yield from _of_role(broker, _earlier(roles, one.log_from), BEGINS_AFTER_ROLE, ROLE_BEFORE_BEGIN)


def _of_role(broker: int, role: _Role | None, *omissions: Omission) -> Iterator[MissingLines]:
    """Yield what a role outside of server.log shows, in each span that it concerns."""
    if role is not None:
        yield from (omission.of(broker, ref=Ref(row=role.row), epoch=role.epoch) for omission in omissions)


def _without_fetcher(events: Iterable[Event]) -> Iterator[_Role]:
    """Yield the roles of a replica before which no line is about its fetcher; as follower a later line may be.

    Brokers with ZooKeeper print in state-change.log that they received a request for a leader epoch, and that they are
    done with it: as leaders they have printed in server.log by then that the fetcher is gone. Followers whose leader is
    the same, or is not there, print nothing of it (ReplicaManager.makeLeaders, makeFollowers).
    """
    last: str | None = None
    requested: int | None = None
    for event in events:
        if event.kind in _FETCHER_KINDS:
            last = event.kind
        elif event.kind == Kind.LEADER_AND_ISR:
            requested = event.leader_epoch
        elif event.detail == Transition.LEADER_DONE and requested is not None:
            if last is None:
                yield _Role(event.time, event.row, requested)
            last = requested = None
        elif _is_role(event):
            follows = event.kind == Kind.BECOME_FOLLOWER
            if follows or last != Kind.FETCHER_REMOVED:
                yield _Role(event.time, event.row, event.leader_epoch, fetcher_later=follows)
            last = requested = None  # of a request that the same role carries out


def _is_role(event: Event) -> bool:
    return event.kind in _ROLES and event.message != TRACE and event.time is not None


def _later(roles: Sequence[_Role], end: int) -> _Role | None:
    """Return the first role after the end of server.log, or None. A follower's fetcher is removed after its role."""
    return next((one for one in roles if (one.time or 0) > end + _APART * one.fetcher_later), None)


def _earlier(roles: Sequence[_Role], begin: int) -> _Role | None:
    """Return the last role before the beginning of server.log, or None."""
    return next((one for one in reversed(roles) if (one.time or 0) < begin), None)
