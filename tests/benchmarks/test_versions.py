"""``make bench BASE=REV``: both versions judge the same evidence, in turn, each with its own code."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.same.corpus import ROOT
from benchmarks.same.sides import Side, copied
from benchmarks.scan import main
from benchmarks.versions import Timed, pairs, timed, told

BEFORE, AFTER = Side("base", "/base", "", ""), Side("tree", "/tree", "", "")


def test_both_take_turns_to_be_first() -> None:
    asked = []

    def measure(side: Side, evidence: Path) -> Timed:
        asked.append((side.name, evidence))
        return Timed(10, 1.0, *((0.2, 0.4) if side is BEFORE else (0.1, 0.2)), 100.0)

    evidence = Path("evidence")
    found = pairs(BEFORE, AFTER, evidence, 3, measure)
    assert asked == [(name, evidence) for name in ("base", "tree", "tree", "base", "base", "tree")]
    assert [(round(old.judging, 9), round(new.judging, 9)) for old, new in found] == [(60.0, 30.0)] * 3


def test_medians_and_ratios_are_told() -> None:
    pairs_of_three = [
        (Timed(10, 2.0, 0.2, 0.4, 100.0), Timed(10, 1.0, 0.2, 0.1, 200.0)),
        (Timed(10, 2.0, 0.2, 0.4, 100.0), Timed(10, 1.0, 0.2, 0.4, 200.0)),
        (Timed(10, 2.0, 0.2, 0.2, 100.0), Timed(10, 1.0, 0.6, 0.2, 200.0)),
    ]
    assert told("logs", pairs_of_three).splitlines() == [
        "logs: 10 partitions, 3 pairs",
        "  judging a partition  base    60.00 ms   working tree    60.00 ms   ratio  1.00 (0.50 to 2.00)",
        "    replay             base    20.00 ms   working tree    20.00 ms   ratio  1.00 (1.00 to 3.00)",
        "    rules              base    40.00 ms   working tree    20.00 ms   ratio  1.00 (0.25 to 1.00)",
        "  reading all          base     2.00 s    working tree     1.00 s    ratio  0.50 (0.50 to 0.50)",
        "  peak memory          base   100.00 MB   working tree   200.00 MB   ratio  2.00 (2.00 to 2.00)",
    ]


def test_a_version_judges_with_its_own_code(tmp_path: Path) -> None:
    side = copied("tree", tmp_path, None)
    evidence = ROOT / "sample_traces" / "kip101-0.10.2.2"
    found = timed(side, evidence)
    assert found.partitions == 1
    assert min(found.read, found.replay, found.rules, found.peak_mb) > 0
    rules = Path(side.folder, "forensics", "rules", "__init__.py")
    rules.write_text(rules.read_text() + '\n\ndef judgements(history, case):\n    raise SystemExit("this copy")\n')
    with pytest.raises(RuntimeError, match="tree failed: this copy"):
        timed(side, evidence)


def test_an_unknown_revision_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--base", "no-such-revision"]) == 2
    assert capsys.readouterr().err.startswith("make bench: ")
