"""Selections of recorded clusters' evidence, as ``make same`` makes them: no answer is denied by the whole evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.same.corpus import recorded
from benchmarks.same.cuts import planned
from benchmarks.withheld.trial import answers, last_line, wrong
from forensics.engines.local import scan

SELECTIONS = [
    # Without lines of broker 2, which led two epochs, its high watermark is of no known log.
    ("data/chaos51-0.10.2.2", "random 0: span of one broker", "orders-0 committed-data-lost", "unknown"),
    # Without the segments of a replica whose log was loaded shorter, its leader's ISR shows that it has the records.
    ("data/twice-3.8.1-replication", "without data of broker-3", "pay-0 leo-regression", "violated warning"),
    # A log came back in another directory, and the lines of a member of the ISR are missing.
    ("data/mvdir-2.8.2", "without logs of broker-1", "pay-0 hw-regression", "unknown"),
    # The leader was alone in the ISR, and nothing of it is in the evidence.
    ("data/wipelead-3.9.1", "without broker-1", "payments.eu-west_1-0 committed-data-lost", "unknown"),
    # A loss is found although the lines of one replica are missing, and a cluster that lost nothing is called clean.
    ("data/fates-1.1.1", "without logs of broker-2", "orders-1 committed-data-lost", "violated critical"),
    ("data/frozenled-1.1.1", "random 28: span of all", "orders-0 committed-data-lost", "clean"),
]


@pytest.mark.parametrize(("unit", "cut", "place", "expected"), SELECTIONS, ids=[one[0] for one in SELECTIONS])
def test_an_answer_to_a_part_is_not_denied_by_the_whole(
    unit: str, cut: str, place: str, expected: str, tmp_path: Path
) -> None:
    (case,) = (one for one in recorded() if one.name == unit)
    files = case.files()
    (selected,) = (one for one in planned(files, unit, quick=False) if one.name == cut)
    left = selected.left(files)
    whole, part = (answers(evidence, tmp_path / "evidence") for evidence in (files, left))
    assert not [str(one) for one in wrong(whole, part, last_line(left)) if one.kind.isupper()]
    (judged,) = (judgement for where, judgement in part.items() if str(where) == place)
    assert " ".join([judged.verdict, *sorted({one.severity.value for one in judged.findings})]) == expected


def test_an_epoch_begins_where_segments_part_only_if_every_role_of_its_leader_is_known(tmp_path: Path) -> None:
    """All of the evidence shows that broker 3 began epoch 8 at 63. Its segments differ from 24 on: it had fetched
    another log in epochs 4 to 6, of which its lines are missing.
    """
    (case,) = (one for one in recorded() if one.name == "data/chaos7-0.10.2.2")
    files = case.files()
    (selected,) = (one for one in planned(files, case.name, quick=True) if one.name == "random 4: span of all")
    for path, content in selected.left(files).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    (orders,) = (one.history for one in scan([str(tmp_path)]).partitions if one.history.name == "orders-1")
    begins = orders.epochs[8].begins
    assert (begins.exact, begins.high) == (None, None)
    assert begins.low <= 63
