"""Suspicions are told once for each range of offsets, as comparing each with all before it would tell them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from forensics.replay.lineage import Range, intersect, subtract
from forensics.replay.signs.each_once import Cover, each_once
from forensics.replay.signs.sign import Sign, Suspicion

BEGUN = Sign.EPOCH_BELOW_HIGH_WATERMARK
RANGES = st.tuples(st.integers(0, 12), st.integers(0, 12))


def said(sign: Sign, replica: int, epoch: int, first: int, end: int | None) -> Suspicion:
    return Suspicion(sign, replica, 1, epoch, 0, first, end, None, ())


SUSPICIONS = st.builds(
    said,
    st.sampled_from([BEGUN, Sign.LED_AFTER_TRUNCATING]),
    st.integers(1, 2),
    st.integers(1, 2),
    st.integers(0, 12),
    st.none() | st.integers(0, 12),
)


def one_by_one(found: Sequence[Suspicion], known: Sequence[Range]) -> list[Suspicion]:
    """Compare each suspicion with all that were taken before it."""
    kept: list[Suspicion] = []
    for one in found:
        others = [other for other in kept if {one.sign, other.sign} != {BEGUN} or one.epoch == other.epoch]
        told = [piece for other in others for piece in other.offsets]
        covered = bool(one.offsets) and not subtract(one.offsets, told)
        if one.end is None:
            covered = any((of.replica, of.epoch, of.first) == (one.replica, one.epoch, one.first) for of in kept)
        if not intersect(one.offsets, known) and not covered:
            kept.append(one)
    return kept


@given(st.lists(SUSPICIONS, max_size=12), st.lists(RANGES, max_size=2))
def test_each_is_taken_that_adds_something(found: list[Suspicion], known: list[Range]) -> None:
    assert each_once(found, known) == one_by_one(found, known)


@given(st.lists(RANGES, max_size=8), RANGES)
def test_a_cover_answers_as_its_offsets_do(added: list[Range], asked: Range) -> None:
    cover = Cover(added[:3])
    for one in added[3:]:
        cover.add(one)
    held, wanted = {n for one in added for n in range(*one)}, set(range(*asked))
    assert cover.holds(asked) == (wanted <= held)
    assert cover.meets(asked) == bool(wanted & held)
    assert {n for one in cover.within(asked) for n in range(*one)} == wanted & held
