"""The leader epochs of a partition, in their order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forensics.replay.facts.directory import Ref
from forensics.replay.interval import Interval
from forensics.replay.lineage import Lineage


@dataclass(slots=True)
class Epoch:
    """One leader epoch.

    Attributes:
        epoch: its number.
        leader: broker id; -1 for none; None if unknown.
        begins: log end offset of the leader when it began.
        lineage: the leader's log in this epoch, the epoch's own entry included where its start is known.
        isr: ISR at the beginning, and every later one that is known, in order: (isr, is it committed, ref).
        isrs_stated_by_others: every ISR that brokers other than the leader state.
        time: when it began, microseconds since 1970 UTC.
        refs: evidence of its leader and start.
        leader_took_up: whether any evidence shows that the leader took it up, or lines of it are missing.
        may_have_taken_up: no evidence shows that the leader took it up, but lines of it are missing.
        other_leaders: other leaders stated for the same epoch.
        leader_lines: where it has several leaders, evidence of each of them: one line of each log of each broker.
        two_by_one: brokers whose own role lines, of one process, name two leaders of it.
        led_by_node: of an epoch with several leaders, those that a node of ZooKeeper names.
        unclean: evidence that the leader was elected from outside the ISR.
        recovering: line of the leader that states that it was elected so, from 3.2 on.
        standing: the ISR that may have been valid to its end, if its leader proposed another and does not confirm it.
        isr_from_leader: the leader itself states the ISR. Whether it states every change is a question to the coverage
            (``elections.isr_stated_by_leader``).
        isr_from_others: controllers or metadata caches state it.
        isr_elected: its first ISR is the one it was elected with.
        elected: a line of the controller that elected the leader names this epoch.
        changed: such a line of a KRaft controller. It states that an election is unclean, if it is.
        by_request: controllers sent it to brokers by request, as with ZooKeeper.
        last_known: the controller logs that the leader was the last member of an empty ISR (KIP-966, lastKnownElr).
        safe: the controller's line shows that the leader has all committed records, though it was not in the ISR.
        forced: a leader from outside the ISR was elected though no setting allowed it, or because of a request.
        asked: line that shows this request.
    """

    epoch: int
    leader: int | None = None
    begins: Interval = field(default_factory=Interval)
    lineage: Lineage = field(default_factory=Lineage)
    isr: list[tuple[frozenset[int], Ref]] = field(default_factory=list)
    isrs_stated_by_others: set[frozenset[int]] = field(default_factory=set)
    time: int | None = None
    refs: list[Ref] = field(default_factory=list)
    leader_took_up: bool = False
    may_have_taken_up: bool = False
    other_leaders: dict[int, Ref] = field(default_factory=dict)
    leader_lines: dict[int, tuple[Ref, ...]] = field(default_factory=dict)
    two_by_one: set[int] = field(default_factory=set)
    led_by_node: set[int] = field(default_factory=set)
    unclean: list[Ref] = field(default_factory=list)
    recovering: Ref | None = None
    standing: frozenset[int] | None = None
    isr_from_leader: bool = False
    isr_from_others: bool = False
    isr_elected: bool = False
    elected: bool = False
    changed: bool = False
    by_request: bool = False
    last_known: bool = False
    safe: bool = False
    forced: bool = False
    asked: list[Ref] = field(default_factory=list)

    @property
    def start(self) -> int | None:
        """Log end offset of the leader when it began, if that is known exactly."""
        return self.begins.exact

    @property
    def first_isr(self) -> frozenset[int] | None:
        """The ISR the epoch began with."""
        return self.isr[0][0] if self.isr else None

    @property
    def last_isr(self) -> frozenset[int] | None:
        """The last ISR known of the epoch."""
        return self.isr[-1][0] if self.isr else None

    def elected_with(self, broker: int) -> bool:
        """Return whether the leader was elected with a replica in the ISR; False if that ISR is unknown."""
        return self.isr_elected and broker in (self.first_isr or ())

    def elected_without(self, broker: int) -> bool:
        """Return whether the leader was elected with a replica outside the ISR; False if that ISR is unknown."""
        return self.isr_elected and broker not in (self.first_isr or ())


class LeaderEpochs(dict[int, Epoch]):
    """The leader epochs of a partition by number, always in rising order.

    Nearly every question of replay is about the epochs before or after another one. A broker whose session ends again
    and again makes thousands of epochs, so these are found by bisection.
    """

    __slots__ = ("_contested", "_naming", "_numbers", "_rising")

    _numbers: Sequence[int]
    _rising: Sequence[Epoch]
    _contested: frozenset[int] | None
    _naming: Mapping[int, Sequence[Epoch]] | None

    def __init__(self, epochs: Mapping[int, Epoch] | None = None) -> None:
        """Take the epochs by number, in any order."""
        super().__init__()
        self._take({} if epochs is None else epochs)

    def __setitem__(self, number: int, epoch: Epoch) -> None:
        """Put an epoch in its place."""
        self._take({**self, number: epoch})

    def _take(self, epochs: Mapping[int, Epoch]) -> None:
        """Hold these epochs, in rising order."""
        self.clear()
        self.update(sorted(epochs.items()))
        self._numbers, self._rising, self._contested = tuple(self), tuple(self.values()), None
        self._naming = None

    @property
    def contested(self) -> frozenset[int]:
        """Those with two leaders."""
        if self._contested is None:
            self._contested = frozenset(one.epoch for one in self._rising if one.other_leaders)
        return self._contested

    @property
    def naming(self) -> Mapping[int, Sequence[Epoch]]:
        """By broker, the epochs that it led or in whose ISR it was, in rising order."""
        if self._naming is None:
            found: dict[int, list[Epoch]] = {}
            for one in self._rising:
                led = [one.leader] if one.leader is not None and one.leader >= 0 else []
                for broker in sorted(frozenset(led).union(*(isr for isr, _ in one.isr))):
                    found.setdefault(broker, []).append(one)
            self._naming = found
        return self._naming

    def before(self, number: int) -> Sequence[Epoch]:
        """Return the epochs below a number, in rising order."""
        return self._rising[: bisect_left(self._numbers, number)]

    def after(self, number: int) -> Sequence[Epoch]:
        """Return the epochs above a number, in rising order."""
        return self._rising[bisect_right(self._numbers, number) :]

    def between(self, after: int, before: int) -> Sequence[Epoch]:
        """Return the epochs above one number and below another, in rising order."""
        return self._rising[bisect_right(self._numbers, after) : bisect_left(self._numbers, before)]
