"""Lineages against the plainest model there is: a list that gives each offset its epoch."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.replay.lineage import (
    UNKNOWN,
    Lineage,
    Range,
    apart,
    at_least,
    differences,
    intersect,
    merge,
    size,
    subtract,
)

END = 24
"""Beyond every start that is tried; the last epoch of a lineage reaches on, as in a log that is still written."""


def offsets(lineage: Lineage) -> list[int]:
    """The epoch of each offset, UNKNOWN before the first entry."""
    found = [UNKNOWN] * END
    for epoch, start in lineage.entries:
        found[start:] = [epoch] * (END - start)
    return found


@st.composite
def lineages(draw: st.DrawFn) -> Lineage:
    """Starts rise strictly, epochs rise; some begin with records of unknown epoch."""
    starts = sorted(draw(st.sets(st.integers(0, END - 4), max_size=6)))
    epochs = sorted(draw(st.sets(st.integers(0, 9), min_size=len(starts), max_size=len(starts))))
    entries = list(zip(epochs, starts, strict=True))
    if entries and draw(st.booleans()):
        entries[0] = (UNKNOWN, entries[0][1])
    return Lineage(tuple(entries))


points = st.integers(0, END - 1)


@st.composite
def ranges(draw: st.DrawFn) -> list[Range]:
    """Any ranges, in any order, empty and overlapping ones too."""
    return draw(st.lists(st.tuples(points, points), max_size=6))


def inside(pieces: list[Range]) -> set[int]:
    return {offset for first, end in pieces for offset in range(first, end)}


# -- one log ---------------------------------------------------------------------------------------


@given(lineages(), points)
def test_epoch_at(lineage: Lineage, offset: int) -> None:
    assert lineage.epoch_at(offset) == offsets(lineage)[offset]


@given(lineages(), points)
def test_a_cut_leaves_what_is_below(lineage: Lineage, end: int) -> None:
    left = lineage.truncated(end)
    assert offsets(left)[:end] == offsets(lineage)[:end]
    assert all(start < end for _, start in left.entries)
    assert left.truncated(end) == left


@given(lineages(), st.integers(10, 12), points)
def test_a_new_epoch_writes_from_its_start_on(lineage: Lineage, epoch: int, start: int) -> None:
    begun = lineage.begin(epoch, start)
    assert offsets(begun) == offsets(lineage)[:start] + [epoch] * (END - start)
    assert begun.begin(epoch, start) == begun


@given(lineages(), st.integers(10, 12), points, points)
def test_an_epoch_that_goes_on_begins_nothing(lineage: Lineage, epoch: int, start: int, more: int) -> None:
    begun = lineage.begin(epoch, start)
    later = start + more % (END - start)
    assert begun.begin(epoch, later) == begun if later > start else begun


@given(lineages(), lineages(), points)
def test_a_follower_holds_its_own_below_and_its_leaders_above(own: Lineage, leader: Lineage, at: int) -> None:
    spliced = own.splice(leader, at)
    if leader.entries:
        assert offsets(spliced) == offsets(own)[:at] + offsets(leader)[at:]
    else:  # of a leader without a known log nothing can be fetched
        assert spliced == own.truncated(at)


@given(lineages(), lineages(), points, points)
def test_starts_rise_whatever_is_done(one: Lineage, two: Lineage, at: int, end: int) -> None:
    for lineage in (
        one.truncated(at),
        one.begin(11, at),
        one.splice(two, at),
        one.splice(two, at).truncated(end),
    ):
        starts = [start for _, start in lineage.entries]
        assert starts == sorted(set(starts))


# -- two logs --------------------------------------------------------------------------------------


def shared_below(left: Lineage, right: Lineage) -> int:
    """Where the last epoch begins that both logs have with the same start: one leader's one log lies below it."""
    return max((start for epoch, start in set(left.entries) & set(right.entries) if epoch != UNKNOWN), default=0)


@given(lineages(), lineages(), points, points)
def test_logs_differ_where_their_epochs_do(left: Lineage, right: Lineage, first: int, end: int) -> None:
    first, end = sorted((first, end))
    differ, unknown = differences(left, right, first, end)
    mine, theirs = offsets(left), offsets(right)
    span = range(first, end)
    dated = {o for o in span if UNKNOWN not in (mine[o], theirs[o])}
    assert inside(differ) == {o for o in dated if mine[o] != theirs[o]}
    assert inside(unknown) == {o for o in set(span) - dated if o >= shared_below(left, right)}


LATEST = 12
bounds = st.integers(0, LATEST).flatmap(lambda epoch: st.sampled_from([epoch, at_least(epoch)]))


def possible(epoch: int) -> set[int]:
    """Which leader epochs a record can be of, up to the latest that is tried."""
    return {epoch} if epoch >= 0 else {one for one in range(LATEST + 1) if epoch >= at_least(one)}


@given(bounds, bounds)
def test_records_differ_where_no_epoch_can_be_that_of_both(one: int, other: int) -> None:
    assert apart(one, other) == possible(one).isdisjoint(possible(other))
    assert at_least(0) == UNKNOWN


@given(st.lists(bounds, min_size=1, max_size=4), points)
def test_nothing_from_an_offset_on_is_older(epochs: list[int], offset: int) -> None:
    log = Lineage(tuple((epoch, 5 * at) for at, epoch in enumerate(epochs)))
    there = [epoch for at, epoch in enumerate(epochs) if 5 * at >= offset] + [log.epoch_at(offset)]
    assert log.oldest_from(offset) == min(min(possible(epoch)) for epoch in there)


def test_a_leader_that_began_nobody_knows_where_has_none_of_the_records_that_were_cut() -> None:
    """Broker 1 was cut to 16 and fetched epoch 2 from there on, then led epoch 3: from 16 on its log is of 2 or 3."""
    after = Lineage(((0, 0), (2, 16)))
    served = after.begin(at_least(after.oldest_from(16)), 16)
    assert differences(Lineage(((0, 0),)), served, 0, 22) == ([(16, 22)], [])
    assert differences(Lineage(((0, 0), (2, 13))), served, 0, 22) == ([(13, 16)], [(16, 22)])


@given(lineages(), points, points)
def test_a_log_is_the_same_as_itself_however_little_is_known_of_it(lineage: Lineage, first: int, end: int) -> None:
    assert differences(lineage, lineage, first, end) == ([], [])


@given(lineages(), lineages(), points, points)
def test_who_is_asked_first_does_not_matter(left: Lineage, right: Lineage, first: int, end: int) -> None:
    assert differences(left, right, first, end) == differences(right, left, first, end)


@given(lineages(), points, points)
def test_a_log_that_was_cut_and_grew_differs_from_there_on(lineage: Lineage, at: int, more: int) -> None:
    grown = lineage.truncated(at).begin(11, at)
    differ, _ = differences(lineage, grown, 0, END)
    assert inside(differ) <= set(range(at, END))
    dated = {offset for offset in range(at, END) if lineage.epoch_at(offset) != UNKNOWN}
    assert inside(differ) == dated


def test_the_same_offset_may_be_another_record() -> None:
    """The incident of KIP-101: both logs have offsets 50 to 79, written by other leaders."""
    old = Lineage(((0, 0),))
    new = Lineage(((0, 0), (2, 50)))
    assert differences(old, new, 0, 80) == ([(50, 80)], [])


def test_what_nobody_dates_is_neither_the_same_nor_another() -> None:
    assert differences(Lineage(((UNKNOWN, 0),)), Lineage(((3, 0),)), 0, 10) == ([], [(0, 10)])


# -- sets of offsets -------------------------------------------------------------------------------


@given(ranges())
def test_merge_keeps_every_offset_in_the_fewest_pieces(pieces: list[Range]) -> None:
    merged = merge(pieces)
    assert inside(merged) == inside(pieces)
    assert all(end < start for (_, end), (start, _) in pairwise(merged))
    assert all(first < end for first, end in merged)


@given(ranges(), ranges())
def test_what_is_in_both(left: list[Range], right: list[Range]) -> None:
    assert inside(intersect(left, right)) == inside(left) & inside(right)


@given(ranges(), ranges())
def test_what_is_in_one_and_not_in_the_other(left: list[Range], right: list[Range]) -> None:
    assert inside(subtract(left, right)) == inside(left) - inside(right)


class _Compared(int):
    """An offset that counts how often it is compared."""

    times = 0

    def __lt__(self, other: int) -> bool:
        _Compared.times += 1
        return super().__lt__(other)

    def __le__(self, other: int) -> bool:
        _Compared.times += 1
        return super().__le__(other)


@pytest.mark.parametrize("what", [intersect, subtract])
def test_many_ranges_cost_as_much_as_there_are(what: Callable[[list[Range], list[Range]], list[Range]]) -> None:
    """Two copies of a partition may differ at thousands of places."""
    cost = []
    for number in (200, 400, 800):
        left, right = ([(_Compared(at), _Compared(at + 4)) for at in range(first, number * 8, 8)] for first in (0, 2))
        _Compared.times = 0
        assert len(what(left, right)) == number
        cost.append(_Compared.times)
    assert cost[2] - cost[1] < 2.6 * (cost[1] - cost[0])


@given(ranges())
def test_size_counts_each_offset_once(pieces: list[Range]) -> None:
    assert size(merge(pieces)) == len(inside(pieces))
