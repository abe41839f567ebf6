"""High watermarks that fell, and what could explain it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forensics.replay.coverage import Coverage, Printed, Span
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.high_watermarks.regressions import may_have_followed
from forensics.replay.history import History, Regression, RegressionKind, Role
from forensics.replay.roles.steps import RoleSpan
from tests.covering import LINES_MISSING, whole, without

ENDS_EARLY = whole(1).lowered([replace(LINES_MISSING, span=Span.AFTER).of(1, ref=Ref(row=9))])
FELL = Regression(1, 3, 80, 50, RegressionKind.LEADER, None, (Ref(row=5),))


@pytest.mark.parametrize(
    ("regression", "coverage", "may"),
    [
        (FELL, whole(1), False),
        (FELL, ENDS_EARLY, True),
        (FELL, without(whole(1), 1, Printed.ROLES), True),
        (replace(FELL, epoch=2), ENDS_EARLY, False),  # lines name a later role, so they show what came next
        (replace(FELL, kind=RegressionKind.CHECKPOINT), ENDS_EARLY, False),
    ],
)
def test_a_leader_whose_lines_end_may_have_followed(regression: Regression, coverage: Coverage, may: bool) -> None:
    found = History(PartitionFacts("orders", 0), coverage=coverage)
    found.role_spans = {1: [RoleSpan(1, 2, 0, Role.LEADER), RoleSpan(1, 3, 0, Role.LEADER)]}
    assert may_have_followed(found, regression) is may
