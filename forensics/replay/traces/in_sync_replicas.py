"""The in-sync replicas of a complete trace: elections from outside the ISR, and members behind the high watermark.

The ISR is the one that the controller elected from, and that each leader committed since. If a trace states no commits,
the changes that leaders propose count as committed. An election is judged by the ISR right before it.

A leader that only its followers name was elected too. It is judged once a later election or the end of the trace shows
that no other line states its election: that may come after theirs.

Two leaders of one leader epoch have an ISR each, by which each of them raises its own high watermark
(Partition.maybeIncrementLeaderHW). What none of its lines states of the second one's ISR is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.isr import members
from forensics.replay.facts.trace_lines import TraceLine
from forensics.replay.history import HwAboveIsrMember
from parsers.schema import Kind


@dataclass(frozen=True, slots=True)
class OutsideIsr:
    """A leader that was elected from outside the ISR.

    Attributes:
        leader, epoch: the leader and its leader epoch.
        isr: the ISR before, or None if a line calls the election unclean and the ISR is not known.
        ref: the line of the election.
    """

    leader: int
    epoch: int
    isr: frozenset[int] | None
    ref: Ref


@dataclass(slots=True)
class LeadersIsr:
    """The ISR of one leader as its lines have stated it so far.

    Attributes:
        committed: the committed one; None before any is stated.
        proposed: the one that the leader proposed last.
        sure: if not all of these are known to be in it, those that are: an election that no line states may have left
            others out.
    """

    committed: frozenset[int] | None = None
    proposed: frozenset[int] | None = None
    sure: frozenset[int] | None = None

    def commit(self, isr: frozenset[int]) -> None:
        """Set the committed one."""
        self.committed, self.sure = isr, None

    @property
    def known(self) -> frozenset[int]:
        """The replicas that are known to be in it."""
        return (self.committed or frozenset()) if self.sure is None else self.sure


@dataclass(slots=True)
class InSync:
    """The ISR of one partition as its lines have stated it so far.

    Attributes:
        commits: the trace states when a change of the ISR is committed.
        refused: rows of lines that propose an ISR which is refused afterwards.
        since: brokers of which a trace claims something from a moment on.
        isr: that of the leader.
        epoch: the newest leader epoch that somebody was elected in.
        stated: a line has stated the ISR in that epoch.
        leader: who leads in it; of two leaders the one that took it up last.
        others: the ISRs of the other leaders of that epoch.
        outside: elections from outside the ISR.
        open: leader epochs whose election cannot be judged: no ISR was stated before. For the first one of a trace that
            is so if its leader begins with fewer records than another replica.
        behind: the first line after which a leader's high watermark is above a member's log.
        named: by leader epoch, the leader that a follower names first, and that line, until a line states the election.
        partition_epoch: the highest one of a change so far.
        unstated: members among ``since`` of whose log no line states anything, with the first line that compares it.
        before: what is wrong with the order of the changes, in words, with the first line; None for nothing.
    """

    commits: bool
    refused: Collection[int] = ()
    since: Collection[int] = ()
    isr: LeadersIsr = field(default_factory=LeadersIsr)
    epoch: int = -1
    stated: bool = False
    leader: int | None = None
    others: dict[int, LeadersIsr] = field(default_factory=dict)
    outside: dict[int, OutsideIsr] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    behind: dict[tuple[int, int, int], HwAboveIsrMember] = field(default_factory=dict)
    named: dict[int, tuple[int, TraceLine]] = field(default_factory=dict)
    partition_epoch: int = -1
    unstated: dict[int, TraceLine] = field(default_factory=dict)
    before: tuple[TraceLine, str] | None = None

    def take(self, line: TraceLine, ends: Mapping[int, int], leading: Mapping[int, int | None]) -> None:
        """Take one line.

        Args:
            line: an observation.
            ends: log end offset of each replica after the line.
            leading: replicas that lead after the line, with the least that the high watermark of each is, if known.
        """
        if self.epoch < 0:
            self._judge_first(line, ends)
        handler = _HANDLERS.get(line.kind)
        if handler is not None:
            handler(self, line)
        if line.kind in _CHANGES and line.partition_epoch is not None:
            self._order(line, line.partition_epoch)
        self._compare(line, ends, leading)
        if line.kind == Kind.ISR_SHRINK:
            self._propose(line)

    def _order(self, line: TraceLine, number: int) -> None:
        """Compare the partition epoch of a change with those before: each change raises it."""
        if number < self.partition_epoch and self.before is None:
            self.before = line, f"states partition epoch {number}, after {self.partition_epoch} in the lines before"
        self.partition_epoch = max(self.partition_epoch, number)

    def _elected(self, line: TraceLine) -> None:
        leads = line.kind == Kind.BECOME_LEADER
        leader, epoch = line.broker if leads else line.leader, line.leader_epoch
        if epoch is None or epoch < self.epoch:
            return
        self.judge_named(epoch)
        self.named.pop(epoch, None)
        again = leads and line.broker == self.leader and epoch == self.epoch
        if epoch > self.epoch:
            self._judge(leader, epoch, line)
            self.stated, self.others = False, {}
        elif leads and not again and self.leader is not None:
            self.others[self.leader] = self.isr
            self.isr, self.stated = self.others.pop(line.broker, LeadersIsr()), False
        if line.kind == Kind.UNCLEAN_ELECTION and leader is not None:
            self._unclean(leader, epoch, line)
        if line.isr is not None and (again or not leads or not self.stated):
            self.isr, self.stated = LeadersIsr(members(line.isr)), True
        elif not self.stated and leader is not None and epoch in self.outside:
            self.isr = LeadersIsr(frozenset({leader}))  # an unclean election leaves no other broker in it
        self.epoch = epoch
        self._takes_up(leader, leads=leads)

    def _name(self, line: TraceLine) -> None:
        """Keep the leader that a follower names."""
        epoch, leader = line.leader_epoch, line.leader
        if epoch is not None and epoch > self.epoch and leader is not None and leader >= 0:
            self.named.setdefault(epoch, (leader, line))

    def judge_named(self, until: int | None = None) -> None:
        """Judge the leaders that only their followers name.

        Args:
            until: the leader epoch below which they are; None at the end of the trace.
        """
        for epoch in sorted(one for one in self.named if until is None or one < until):
            leader, line = self.named.pop(epoch)
            self._judge(leader, epoch, line)
            self.stated, self.others, self.epoch, self.leader = False, {}, epoch, None
            sure = frozenset({leader})
            self.isr = LeadersIsr(sure if epoch in self.outside else self.isr.committed, sure=sure)

    def _unclean(self, leader: int, epoch: int, line: TraceLine) -> None:
        before = self.outside[epoch].isr if epoch in self.outside else None
        self.outside[epoch] = OutsideIsr(leader, epoch, before, self._ref(line, leader))

    def _takes_up(self, leader: int | None, *, leads: bool) -> None:
        """Set who leads. One that was elected does not lead until it takes the epoch up."""
        if leads:
            self.leader = leader
        elif leader is not None and leader != self.leader:
            self.leader = None

    def _judge(self, leader: int | None, epoch: int, line: TraceLine) -> None:
        """Judge the first line about a leader epoch."""
        if leader is None or leader < 0 or line.kind == Kind.PARTITION_CREATED or self.epoch < 0:
            return
        isr = self.isr.committed
        if isr is None:
            self.open.add(epoch)
        elif leader not in isr:
            self.outside[epoch] = OutsideIsr(leader, epoch, isr, self._ref(line, leader))
        elif leader not in self.isr.known:
            self.open.add(epoch)

    def _judge_first(self, line: TraceLine, ends: Mapping[int, int]) -> None:
        """Judge the first leader of a trace that begins with records."""
        leads = line.kind == Kind.BECOME_LEADER and line.leader_epoch is not None
        if leads and ends.get(line.broker, 0) < max(ends.values(), default=0):
            self.open.add(line.leader_epoch or 0)

    @staticmethod
    def _ref(line: TraceLine, leader: int) -> Ref:
        return Ref(row=line.row, note=f"leader epoch {line.leader_epoch}: broker {leader}")

    def _of(self, broker: int) -> LeadersIsr | None:
        """Return the ISR of a leader of the epoch; None of another broker."""
        return self.isr if broker == self.leader else self.others.get(broker)

    def _propose(self, line: TraceLine) -> None:
        isr = self._of(line.broker)
        if isr is None or line.isr is None:
            return
        isr.proposed = members(line.isr)
        if not self.commits and line.row not in self.refused:
            isr.commit(isr.proposed)

    def _commit(self, line: TraceLine) -> None:
        isr = self.others.get(line.broker, self.isr)
        if line.isr is not None:
            isr.commit(members(line.isr))
            self.stated |= isr is self.isr
        elif isr.proposed is not None:
            isr.commit(isr.proposed)
        isr.proposed = None

    def _reject(self, line: TraceLine) -> None:
        self.others.get(line.broker, self.isr).proposed = None

    def _state(self, line: TraceLine) -> None:
        isr = self._of(line.broker)
        if line.isr is not None and isr is not None:
            isr.commit(members(line.isr))
            self.stated |= isr is self.isr

    def _compare(self, line: TraceLine, ends: Mapping[int, int], leading: Mapping[int, int | None]) -> None:
        """Compare the high watermark of each leader with the log of each member, as they are after a line."""
        for leader, isr in ((self.leader, self.isr), *self.others.items()):
            hw = leading.get(leader) if leader is not None else None
            if leader is not None and hw is not None:
                self._compare_with(leader, hw, isr.known, line, ends)

    def _compare_with(
        self, leader: int, hw: int, isr: frozenset[int], line: TraceLine, ends: Mapping[int, int]
    ) -> None:
        for member in isr - {leader}:
            end = ends.get(member, 0)  # a member without a line has no log yet
            if hw > end and member not in ends and member in self.since:
                self.unstated.setdefault(member, line)
            elif hw > end:
                ref = Ref(row=line.row, note=f"high watermark {hw}, log end offset of broker {member} {end}")
                found = HwAboveIsrMember(
                    leader, self.epoch, member, hw, end, line.time, (ref,), removed=line.kind == Kind.ISR_SHRINK
                )
                self.behind.setdefault((leader, self.epoch, member), found)


_CHANGES: Final = (Kind.PARTITION_CREATED, Kind.ELECTION, Kind.UNCLEAN_ELECTION, Kind.ISR_COMMIT)
"""Kinds that state a change of leader or ISR as it was made."""

_OUTCOMES: Final = (Kind.ISR_SHRINK, Kind.ISR_EXPAND, Kind.ISR_COMMIT, Kind.ISR_REJECTED)


def refused(lines: Iterable[TraceLine]) -> frozenset[int]:
    """Return the rows of lines that propose an ISR, where the next line of the leader about it states a refusal."""
    last: dict[int, TraceLine] = {}
    found: set[int] = set()
    for line in lines:
        if line.kind in _OUTCOMES:
            before = last.get(line.broker)
            if line.kind == Kind.ISR_REJECTED and before is not None and before.kind in _OUTCOMES[:2]:
                found.add(before.row)
            last[line.broker] = line
    return frozenset(found)


_HANDLERS: Final[dict[str, Callable[[InSync, TraceLine], None]]] = {
    Kind.BECOME_LEADER: InSync._elected,
    Kind.BECOME_FOLLOWER: InSync._name,
    Kind.ELECTION: InSync._elected,
    Kind.UNCLEAN_ELECTION: InSync._elected,
    Kind.PARTITION_CREATED: InSync._elected,
    Kind.PARTITION_CHANGED: InSync._elected,
    Kind.ISR_EXPAND: InSync._propose,
    Kind.ISR_COMMIT: InSync._commit,
    Kind.ISR_REJECTED: InSync._reject,
    Kind.HW: InSync._state,
    Kind.LEO: InSync._state,
    Kind.STATE: InSync._state,
}
"""Handler of a line of each kind. A smaller ISR counts after the high watermark in the same line is compared."""

ABOUT_ISR: Final = tuple(Kind(kind).value for kind in (*_HANDLERS, Kind.ISR_SHRINK))
"""Kinds of line that this module reads."""
