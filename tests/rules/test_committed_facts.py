"""Which high watermarks a story quotes as the reason why records had been committed."""

from __future__ import annotations

import pytest

from forensics.replay.facts.directory import Ref
from forensics.replay.history import HwSource, HwStatement
from forensics.replay.lineage import Lineage
from forensics.rules.story import committed_facts

LOG = Lineage(((0, 0),))
STATED, READ_BACK, ALONE = HwSource.PRINTED_BY_LEADER, HwSource.READ_BACK, HwSource.ALONE_IN_ISR


@pytest.mark.parametrize(
    ("sources", "quoted"),
    [((STATED, READ_BACK), 2), ((READ_BACK, ALONE), 1), ((ALONE, ALONE), 2), ((ALONE,), 1)],
)
def test_what_is_implied_adds_nothing_to_what_a_line_states(sources: tuple[HwSource, ...], quoted: int) -> None:
    made = [HwStatement(1, 0, LOG, 50, how, row, (Ref(row=row),)) for row, how in enumerate(sources)]
    assert len(committed_facts(made, 50)) == quoted
