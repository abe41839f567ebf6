"""Positions of consumer groups above the end of the log that the last leader left, as signs of a loss.

A commit that states no leader epoch proves nothing: somebody may have set the position. But a group whose commits moved
on to a position that the log does not reach has probably read what is not there any more.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from forensics.replay.facts.group_positions import GroupPosition
from forensics.replay.facts.scrapes import CLOCKS_APART
from forensics.replay.history import History, Role
from forensics.replay.signs.sign import Sign, Suspicion


def beyond_last_leader(history: History) -> Iterator[Suspicion]:
    """Yield the last positions of groups that moved on to above the end of the last leader's log, the highest alone.

    The leader must have stopped after the commit, so that its files were not copied while it ran. A position that
    one commit alone states may have been set.
    """
    stopped = _stopped(history)
    if stopped is None:
        return
    leader, end, since, until = stopped
    groups = itertools.groupby(history.facts.positions, key=lambda one: one.group)
    last = (found for _, commits in groups if (found := _moved_on([*commits], since, until)) is not None)
    above = [one for one in last if one.position > end]
    if above:
        most = max(above, key=lambda one: (one.position, one.group))
        yield Suspicion(
            Sign.GROUP_BEYOND_LAST_LEADER, leader, None, -1, -1, end, most.position, most.time, most.refs
        )  # fmt: skip


def _stopped(history: History) -> tuple[int, int, int, int] | None:
    """Return the last leader, its log end offset, and when its topic's first known epoch began and its process stopped.

    None if the leader's files may not show where its log ended when it stopped.
    """
    current = history.current
    if current is None or current.leader is None or history.epoch_rollbacks or history.contested:
        return None
    spans, replica = history.role_spans.get(current.leader, ()), history.replicas.get(current.leader)
    last, copy = (spans[-1] if spans else None), history.copies.get(current.leader)
    times = [epoch.time for epoch in history.epochs.values() if epoch.time is not None]
    if last is None or last.role is not Role.LEADER or last.epoch != current.epoch or not last.shut_down or last.steps:
        return None
    if replica is None or replica.end is None or not times or (copy is not None and copy.end is False):
        return None
    return current.leader, replica.end, min(times), last.shut_down


def _moved_on(commits: list[GroupPosition], since: int, until: int) -> GroupPosition | None:
    """Return the last position of a group, if its commits within a time moved on to it; else None."""
    within = [one for one in commits if one.time is not None and _is_within(one, one.time, since, until)]
    if len(within) < 2 or within[-1] is not commits[-1]:
        return None
    return within[-1] if within[-2].position < within[-1].position else None


def _is_within(position: GroupPosition, time: int, since: int, until: int) -> bool:
    """Return whether a position was committed within a time; of a scrape the clock may be apart from the brokers'."""
    apart = CLOCKS_APART if position.scraped else 0
    return since + apart <= time <= until - apart
