"""Which batches of a segment contradict the others by their offsets."""

from __future__ import annotations

import numpy as np
import pytest

from parsers.encodings.segment_neighbours import misplaced

Spans = list[tuple[int, int]]
EACH_3 = [(start, start + 2) for start in range(0, 30, 3)]


def wrong(spans: Spans, base_offset: int | None = 0, epochs: list[int] | None = None) -> list[int]:
    first, last = (np.array([span[end] for span in spans], dtype=np.int64) for end in (0, 1))
    of_each = None if epochs is None else np.array(epochs, dtype=np.int32)
    return [int(place) for place in np.flatnonzero(misplaced(first, last, base_offset, of_each))]


@pytest.mark.parametrize("bit", [*range(8), 20, 40, 62])
@pytest.mark.parametrize("position", range(len(EACH_3)))
@pytest.mark.parametrize("size", [1, 3])
def test_one_flipped_bit_is_found_wherever_it_is(bit: int, position: int, size: int) -> None:
    spans = [(start * size, start * size + size - 1) for start in range(10)]
    start, end = spans[position]
    moved = (start ^ 1 << bit) - start
    spans[position] = (start + moved, end + moved)
    assert wrong(spans) == [position]


def test_what_rises_is_right_whether_it_has_gaps_or_not() -> None:
    assert wrong(EACH_3) == []
    assert wrong([(0, 0), (7, 9), (12, 12), (40, 41)]) == []
    assert wrong([(5, 9)]) == []
    assert wrong([(0, 4), (9, 9)]) == []  # of two, either may be the one
    assert wrong([]) == []


def test_a_last_batch_behind_a_gap_is_right_if_it_begins_a_leader_epoch() -> None:
    """A follower that truncated within a batch went on at its target (KIP-279). One flipped bit is no such gap."""
    spans = [(0, 2), (3, 5), (6, 8), (14, 15)]
    assert wrong(spans) == [3]
    assert wrong(spans, epochs=[0, 0, 0, 0]) == [3]
    assert wrong(spans, epochs=[0, 0, 0, 4]) == []
    assert wrong([*spans[:3], (9 ^ 4, 14)], epochs=[0, 0, 0, 4]) == [3]


def test_a_block_that_stands_there_twice_counts_once() -> None:
    assert wrong([*EACH_3[:6], *EACH_3[3:]]) in ([3, 4, 5], [6, 7, 8])


def test_of_two_that_claim_one_place_the_name_of_the_file_tells() -> None:
    assert wrong([(64, 64), (1, 1)]) == [0]
    assert wrong([(0, 0), (0, 0)]) == [1]
