"""Requests that brokers received and that no controller's line sends: the lines of controllers are not complete.

Up to 2.5 a controller with ZooKeeper logs each request for each partition, and so does the broker that receives it.
From 2.6 on both log each request once. If a broker has received more requests than the controllers have sent to it
since a partition was created, lines of controllers are missing, and perhaps elections in them. No clock is compared.

A controller also logs each broker that starts. If one has started after all lines of controllers, these end too early.
They also do if the last line of a controller elects a leader and names no leader epoch: what it sends names that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Final, NamedTuple

import polars as pl

from forensics.case.speakers import OF_ITSELF
from forensics.replay.coverage import MissingLines, Omission, Span
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import Event
from forensics.replay.facts.lines_of_brokers import handles_request, of_controllers, sends_requests, starts_process
from forensics.replay.leadership.epochs import ELECTS
from parsers.messages.logs import WITH_ZOOKEEPER
from parsers.schema import ROLES, Kind

ELECTED_LAST = Omission(
    "elected-last",
    Span.AFTER,
    "a controller elected it last, but no line names the leader epoch",
    "PartitionStateMachine.electLeaderForPartition, ControllerBrokerRequestBatch up to 1.0, which logs each request",
)
OMISSIONS = (ELECTED_LAST,)

_PLACE: Final = ("topic", "partition", "incarnation")


class Requests(NamedTuple):
    """LeaderAndIsr requests of controllers with ZooKeeper.

    Attributes:
        sent: by receiver, rows and controllers of the lines that send one, about any partition.
        handled: by broker, rows of the lines that handle one, in order.
        unsent: topic, partition and incarnation of which a broker received more than were sent for it.
    """

    sent: Mapping[int, Sequence[tuple[int, int]]]
    handled: Mapping[int, Sequence[int]]
    unsent: frozenset[tuple[str, int, int]]

    def exceed(self, place: tuple[str, int, int], cluster: Iterable[Event], own: Mapping[int, Sequence[Event]]) -> bool:
        """Return whether brokers received more requests since a partition was created than controllers sent.

        Args:
            place: topic, partition and incarnation.
            cluster: statements of controllers and metadata about the partition.
            own: each broker's lines about its replica.
        """
        if place in self.unsent:
            return True
        if not self.sent:  # no controller with ZooKeeper logs what it sends once for each request
            return False
        first = (one for one in cluster if one.kind in ELECTS and one.leader_epoch == 0)
        created = next((one for one in first if one.message in WITH_ZOOKEEPER), None)
        return created is not None and any(self._exceed_at(broker, created, own[broker]) for broker in own)

    def _exceed_at(self, broker: int, created: Event, own: Sequence[Event]) -> bool:
        """Return whether a broker handled more requests after its first role than were sent to it after that one."""
        sent, handled = self.sent.get(broker, ()), self.handled.get(broker, ())
        role = next((one.row for one in own if one.kind in ROLES and one.leader_epoch == 0), None)
        if role is None or not sent:
            return False
        later = sum(row > created.row or controller != created.broker for row, controller in sent)
        return 1 + len(handled) - bisect_right(handled, role) > later  # one gave it that role


def requests(observations: pl.DataFrame, rows: pl.DataFrame) -> Requests:
    """Return the requests that the evidence names.

    Args:
        observations: of the case, in order.
        rows: those of partitions, with ``incarnation``.
    """
    sent: dict[int, list[tuple[int, int]]] = {}
    sending = observations.filter(sends_requests(), pl.col("replica").is_not_null()).sort("row")
    for receiver, row, controller in sending.select("replica", "row", "broker").iter_rows():
        sent.setdefault(receiver, []).append((row, controller))
    handled: dict[int, list[int]] = {}
    handling = _once(observations.filter(handles_request()).sort("row"), "broker")
    for broker, row in handling.select("broker", "row").iter_rows():
        handled.setdefault(broker, []).append(row)
    return Requests(sent, handled, _unsent(rows.filter(pl.col("kind") == Kind.LEADER_AND_ISR.value)))


def elected_last(cluster: Iterable[Event], replicas: Set[int]) -> Iterator[MissingLines]:
    """Yield the lines that are missing of a leader whose election is the last that its controller logs.

    It is another leader than that of the last line of the controller that names a leader epoch.

    Args:
        cluster: statements of controllers and metadata about the partition.
        replicas: brokers with lines or files of it.
    """
    named: dict[int, int | None] = {}
    last: dict[int, Event] = {}
    for event in sorted(cluster, key=lambda one: one.row):
        if event.leader_epoch is not None:
            named[event.broker] = event.leader
        if event.leader_epoch is not None or event.kind == Kind.ELECTION:
            last[event.broker] = event
    for controller, event in last.items():
        others = controller in named and event.leader not in (None, named[controller])
        if others and event.leader_epoch is None and event.leader in replicas:
            yield ELECTED_LAST.of(event.leader or 0, ref=Ref(row=event.row))


def starting(observations: pl.DataFrame) -> frozenset[int]:
    """Return brokers whose last process began after the last line of a controller that names no partition.

    A controller logs each broker that starts, and what it sends to it. Lines about partitions are left out: what is
    judged apart does not have them all. Clocks may differ: this proves nothing, it leaves open what may follow.

    Args:
        observations: of the case.

    Returns:
        The brokers; none if controllers have no such line.
    """
    last = observations.filter(of_controllers()).get_column("time").max()
    if last is None:
        return frozenset()
    begun = observations.filter(starts_process(), pl.col("time") > last)
    return frozenset(begun.get_column("broker"))


def _once(lines: pl.DataFrame, *same: str) -> pl.DataFrame:
    """Return the lines without those of the same time: a line may be in two copies of a log that overlap."""
    return lines.unique([*same, "time"], keep="first", maintain_order=True)


def _unsent(requests: pl.DataFrame) -> frozenset[tuple[str, int, int]]:
    """Return the partitions of which a broker logs more requests received than controllers log sent to it."""
    given = requests.filter(~OF_ITSELF) if requests.height else requests
    if given.is_empty():
        return frozenset()
    given = given.select(*_PLACE, pl.col("replica").alias("broker"), "leader_epoch")
    # The controllers' lines begin no later than the partition.
    given = given.filter((pl.col("leader_epoch") == 0).any().over(_PLACE))
    given = given.group_by(*_PLACE, "broker").len("sent")
    received = (
        _once(requests.filter(OF_ITSELF), *_PLACE, "broker", "leader_epoch").group_by(*_PLACE, "broker").len("received")
    )
    both = received.join(given, on=[*_PLACE], how="semi").join(given, on=[*_PLACE, "broker"], how="left")
    more = both.filter(pl.col("received") > pl.col("sent").fill_null(0))
    return frozenset(more.select(_PLACE).unique().iter_rows())
