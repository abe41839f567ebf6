"""Where a process of a node begins in its lines about the metadata log."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from forensics.replay.facts.events import COLUMNS, Event
from forensics.replay.quorum.nodes import terms_of
from forensics.replay.quorum.voting import Quorum
from parsers.schema import Kind


def line(kind: Kind, message: str) -> Event:
    """A line of broker 1 that states nothing yet."""
    values = dict.fromkeys(COLUMNS) | {"row": 0, "broker": 1, "run": 1, "kind": kind, "message": message}
    return Event._make(values.values())


def start(message: str) -> Event:
    return line(Kind.PROCESS_START, message)


def hw(offset: int) -> Event:
    return line(Kind.HW, "Q-02")._replace(hw=offset)


FOLLOWS = line(Kind.BECOME_FOLLOWER, "Q-01a")._replace(leader_epoch=1, leader=100)
LOADS = line(Kind.METADATA_LOADED, "L-15")._replace(leo=132)


@pytest.mark.parametrize(
    ("lines", "terms"),
    [
        # The last line of a broker's start comes when it follows a leader already.
        ([start("V-03"), LOADS, FOLLOWS, start("V-04"), hw(161)], [(0, [161])]),
        ([start("V-04"), start("V-03"), FOLLOWS, hw(9)], [(0, [9])]),
        # Each start has each of its lines once.
        (
            [start("V-03"), FOLLOWS, start("V-04"), hw(27), start("V-03"), LOADS, FOLLOWS, start("V-04"), hw(161)],
            [(0, [27]), (1, [161])],
        ),
        ([start("V-03"), FOLLOWS, hw(27), start("V-03"), FOLLOWS, hw(161)], [(0, [27]), (1, [161])]),
        # Lines that begin in the middle of a process have none of its start.
        ([FOLLOWS, hw(27), start("V-04"), LOADS, FOLLOWS, hw(161)], [(0, [27]), (1, [161])]),
    ],
)
def test_a_process_begins_with_the_first_line_of_its_start(
    lines: Sequence[Event], terms: list[tuple[int, list[int]]]
) -> None:
    found, _ = terms_of({1: [one._replace(row=row) for row, one in enumerate(lines)]})
    assert [(term.process, [mark.offset for mark in term.high_watermarks]) for term in found[1]] == terms


@pytest.mark.parametrize(
    ("voters", "listed", "sole"), [({100}, True, 100), ({100}, False, None), ({100, 101}, True, None), ((), True, None)]
)
def test_a_voter_is_the_only_one_if_lines_list_no_other(voters: Sequence[int], listed: bool, sole: int | None) -> None:
    assert Quorum(frozenset(voters), listed).sole_voter == sole
