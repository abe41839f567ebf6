"""The guarantee of a majority: a leader has all that was committed before it, if no voter lost anything.

A record is committed once a majority of the voters has it on disk. A candidate gets the vote of a voter only if its log
is at least as far (KIP-595). Two majorities share a voter, so a leader has each committed record, unless a voter's log
became shorter in between: its disk was replaced, or its directory was put back from an older copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from forensics.replay.lineage import differences, same

if TYPE_CHECKING:
    from forensics.replay.history import History, ShortenedLog, Truncation
    from forensics.replay.leader_epochs import Epoch
    from forensics.replay.quorum.nodes import Nodes


@dataclass(frozen=True, slots=True)
class Quorum:
    """The voters of the metadata log, and what their lines show.

    Attributes:
        voters: node ids.
        listed: lines list the voters, so none of them is missing here.
        since: the leader epoch from which on a node's lines are there; ``ALWAYS`` if its log was empty before them.
            Nodes of which lines are missing in between are left out.
        shortened: voters whose log became shorter than it had been, each with the leader epoch after which it was so.
        whole: nodes whose lines show no truncation and no shorter log, and whose copy is in the evidence: it has each
            record that was in their log since.
        older: nodes whose copy ends below what their lines show, so that it does not count.
        early: voters whose lines end before records that their copy has, with the last leader epoch in the lines.
        controllers: nodes that are controllers and no brokers.
    """

    voters: frozenset[int]
    listed: bool = True
    since: Mapping[int, int] = field(default_factory=dict)
    shortened: frozenset[tuple[int, int]] = frozenset()
    whole: frozenset[int] = frozenset()
    older: frozenset[int] = frozenset()
    early: Mapping[int, int] = field(default_factory=dict)
    controllers: frozenset[int] = frozenset()

    @property
    def sole_voter(self) -> int | None:
        """The only voter, which elects itself with what it has; None if there are others, or may be."""
        return next(iter(self.voters)) if self.listed and len(self.voters) == 1 else None

    @staticmethod
    def of(nodes: Nodes, history: History, replaced: Iterable[tuple[int, int]], older: Iterable[int] = ()) -> Quorum:
        """Return what the lines and copies of the nodes show.

        Args:
            nodes: the nodes.
            history: with the truncations and shorter logs that were found.
            replaced: nodes whose log is known to have been replaced, with the leader epoch after which it was.
            older: nodes whose copy ends below what their lines show.
        """
        truncated = [*history.truncations, *history.truncations_of_unknown_extent]
        removed: list[ShortenedLog | Truncation] = [*history.shortened_logs]
        removed += [one for one in truncated if _removed_committed(history, one)]
        cut = {one.replica for one in history.shortened_logs} | {one.replica for one in truncated}
        shorter = {*replaced, *((one.replica, one.epoch) for one in removed)}
        held = {node for node, disk in nodes.disks.items() if disk.end is not None and not disk.holes}
        return Quorum(
            nodes.voters,
            nodes.lists_voters,
            {
                node: since
                for node in nodes.last_loads
                if nodes.whole(node) and (since := _since(nodes, node)) is not None
            },
            shortened=frozenset(one for one in shorter if one[0] in nodes.voters),
            whole=frozenset(node for node in held & nodes.terms.keys() if node not in cut and nodes.whole(node)),
            older=frozenset(older),
            early={
                node: max(term.epoch for term in nodes.terms[node])
                for node in sorted(nodes.voters)
                if nodes.ends_early(node)
            },
        )

    @property
    def without_lines(self) -> list[int]:
        """Voters of which lines about the log are missing in the evidence."""
        return sorted(self.voters - self.since.keys())

    @property
    def first(self) -> int | None:
        """The first leader epoch that lines name; of what was before them nothing is asked. None without lines."""
        return min(self.since.values(), default=None)

    @property
    def late(self) -> Mapping[int, int]:
        """Voters whose lines begin after the first of another node, with the leader epoch in which they begin."""
        first = self.first
        return {voter: since for voter, since in sorted(self.since.items()) if voter in self.voters and since != first}

    def shortened_before(self, epoch: int) -> frozenset[int]:
        """Return the voters whose log had become shorter when a leader was elected for an epoch."""
        return frozenset(voter for voter, after in self.shortened if after < epoch)

    def guarantees(self, before: int, after: int) -> bool:
        """Return whether the leader of an epoch had all that was committed in one before, by the votes that it got."""
        covered = self.listed and all(self.since.get(voter, after) <= before for voter in self.voters)
        return covered and not self.shortened_before(after)

    def kept_its_log(self, node: int | None, before: int, after: int) -> bool:
        """Return whether the lines of a node show that its log lost nothing from one epoch to another."""
        return node is not None and self.since.get(node, after) <= before and node not in self.shortened_before(after)


ALWAYS: Final = -1
"""An epoch before all others."""


def _since(nodes: Nodes, node: int) -> int | None:
    """Return the epoch from which on the lines of a node are there; None without a line of a role or a load."""
    own = nodes.terms.get(node, ())
    loads = own[0].loads if own else nodes.last_loads[node]
    if loads and loads[0].offset == 0:
        return ALWAYS
    return own[0].epoch if own else None


def _removed_committed(history: History, truncation: Truncation) -> bool:
    """Return whether a truncation removed records below a high watermark, which no leader of an intact quorum asks for.

    What was not committed a node truncates whenever it follows a leader that lacks it.
    """
    target, end = truncation.target, truncation.end
    above = (one for one in history.statements if one.high_watermark > target) if target < end else ()
    return any(same(truncation.lineage, one.lineage, [(target, min(end, one.high_watermark))]) for one in above)


def has_all(history: History, quorum: Quorum, before: Epoch, after: Epoch) -> bool | None:
    """Return whether the leader of a later epoch had every record committed in an earlier one; None if undecided.

    It had if the votes guarantee it, or if it has all that the earlier leader ever had: that one's log never became
    shorter, and what it holds is the same.
    """
    if history.contested or history.epoch_rollbacks:
        return None
    if quorum.guarantees(before.epoch, after.epoch):
        return True
    if after.leader == before.leader and quorum.kept_its_log(after.leader, before.epoch, after.epoch):
        return True
    if before.leader not in quorum.whole or quorum.since.get(before.leader, after.epoch) > before.epoch:
        return None
    disk = history.facts.disks[before.leader]
    return True if differences(disk.lineage, after.lineage, 0, disk.end or 0) == ([], []) else None
