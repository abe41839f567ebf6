"""Wants as values: their reasons and their order."""

from __future__ import annotations

import itertools

from forensics.replay.coverage import MissingLines, Span
from forensics.replay.facts.directory import Ref
from forensics.rules.wants import Artefact, Question, Reason, Shows, Want, anywhere, copy_lacks, lines_missing, of


def test_a_reason_names_what_shows_it_and_no_line() -> None:
    """So that wants of two partitions are equal where the same omission shows that lines are missing."""
    missing = [
        MissingLines(1, Span.AFTER, "role-without-epoch", "its last line is a role", Ref(row=row)) for row in (3, 9)
    ]
    one, two = map(lines_missing, missing)
    assert one == two == Reason(Shows.LINES, "role-without-epoch", "its last line is a role")
    assert (copy_lacks(""), copy_lacks("no listing")) == (None, Reason(Shows.COPY, text="no listing"))


def test_wants_have_one_order_whatever_is_known_of_them() -> None:
    """Each field may lack a value that another want has."""
    ways = [(), (anywhere(Artefact.SEGMENTS),), (of([1], Artefact.SERVER_LOG),), (of([2], Artefact.SERVER_LOG),)]
    offsets: list[tuple[tuple[int, int | None], ...]] = [(), ((0, None),), ((0, 9),)]
    because = [None, Reason(Shows.DAMAGE, "gap"), Reason(Shows.LINES, text="a")]
    wants = [
        Want(question, way, offsets=span, epochs=span, because=reason)
        for question, way, span, reason in itertools.product(
            (Question.ITS_FILES, Question.ITS_LINES), ways, offsets, because
        )
    ]
    ordered = sorted(wants, key=lambda want: want.order)
    backwards = wants[::-1]
    assert ordered == sorted(backwards, key=lambda want: want.order)
    assert len({repr(want.order) for want in wants}) == len(wants)
    assert ordered[0].question is Question.ITS_LINES
