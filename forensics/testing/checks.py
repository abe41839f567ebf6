"""The checks of ``pytest --forensics-rule ID``. Each says in words what its author has to change."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forensics.errors import NothingUnderstood
from forensics.testing.kit import Examples, Scan

if TYPE_CHECKING:
    from forensics.rules.finding import Judgement, Rule

_LONGEST: Final = 25
"""Words of a sentence, at most."""
_HEALTHY: Final = ("two-replicas", "three-replicas", "rolling-restart", "controller-failover")
"""Stories in which nothing goes wrong."""
_START: Final = "from forensics.cli import main; main()"


def _answers(rule: Rule, scan: Scan, path: Path) -> list[Judgement]:
    """Return the answers of the rule for each partition of the evidence; none for evidence without any."""
    try:
        return [one.judgements[rule.id] for one in scan(path).partitions]
    except NothingUnderstood:
        return []


def _verdicts(rule: Rule, scan: Scan, path: Path) -> set[str]:
    return {one.verdict.value for one in _answers(rule, scan, path)}


def test_the_rule_is_explained(forensics_rule: Rule) -> None:
    """`forensics explain` has something to say under each heading, in short sentences."""
    parts = [("the summary", (forensics_rule.summary,)), *forensics_rule.help.parts.items()]
    for name, texts in parts:
        assert texts, f"{name}: has no text"
        for text in texts:
            said = " ".join(text.split())
            assert said.endswith((".", "?")), f"{name}: a sentence has no end: {said[-40:]!r}"
            long = [one for one in re.split(r"(?<=[.?:])\s", said) if len(one.split()) > _LONGEST]
            assert not long, f"{name}: more than {_LONGEST} words in a sentence: {long[0]!r}"


def test_its_severity_is_the_worst_of_its_findings(
    forensics_rule: Rule, forensics_examples: Examples, forensics_scan: Scan
) -> None:
    """No finding is worse than the rule says."""
    for path in (*forensics_examples.violated, *forensics_examples.clean):
        found = [one for answer in _answers(forensics_rule, forensics_scan, path) for one in answer.findings]
        worse = [one.severity.value for one in found if one.severity.rank < forensics_rule.severity.rank]
        assert not worse, f"{path}: a finding is {worse[:1]}, and the rule says {forensics_rule.severity.value}"


def test_it_is_violated_where_it_should_be(
    forensics_rule: Rule, forensics_examples: Examples, forensics_scan: Scan
) -> None:
    """Each example is found, with the line or byte that shows it."""
    assert forensics_examples.violated, f"put evidence that breaks the rule into {forensics_examples.folder}/violated"
    for path in forensics_examples.violated:
        answers = _answers(forensics_rule, forensics_scan, path)
        found = [one for answer in answers for one in answer.findings]
        assert "violated" in {one.verdict.value for one in answers}, f"{path}: the rule is not violated: {answers}"
        assert all(one.evidence for one in found), f"{path}: a finding names no line and no byte: give its facts refs"


def test_it_is_clean_where_it_should_be(
    forensics_rule: Rule, forensics_examples: Examples, forensics_scan: Scan
) -> None:
    """Each example that looks like a violation and is none is clean, not unknown."""
    assert forensics_examples.clean, f"put evidence that is legal into {forensics_examples.folder}/clean"
    for path in forensics_examples.clean:
        verdicts = _verdicts(forensics_rule, forensics_scan, path)
        assert "clean" in verdicts, f"{path}: clean for no partition: {sorted(verdicts)}"
        assert "violated" not in verdicts, f"{path}: the rule is violated"


def test_it_never_fails(forensics_rule: Rule, forensics_samples: list[Path], forensics_scan: Scan) -> None:
    """Whatever evidence there is, the code of the rule answers."""
    for path in forensics_samples:
        wants = [want for one in _answers(forensics_rule, forensics_scan, path) for want in one.missing]
        failed = [str(want.because.text) for want in wants if want.question == "program-repaired" and want.because]
        assert not failed, f"{path.name}: {failed[0]}"


def test_it_is_quiet_where_nothing_is_wrong(
    forensics_rule: Rule, forensics_stories: dict[str, Path], forensics_scan: Scan
) -> None:
    """Nothing but information is found in healthy clusters."""
    for name in _HEALTHY:
        answers = _answers(forensics_rule, forensics_scan, forensics_stories[name])
        loud = [one.summary for answer in answers for one in answer.findings if one.severity.value != "info"]
        assert not loud, f"{name}: {loud[0]}"


def test_two_runs_answer_alike(forensics_rule: Rule, forensics_examples: Examples) -> None:
    """The report has the same bytes in two processes, in which sets have other orders."""
    for path in (*forensics_examples.violated[:1], *forensics_examples.clean[:1]):
        one, other = (_report(path, seed) for seed in ("1", "2"))
        assert one == other, f"{path}: two runs of the rule answer differently: sort what comes from a set"


def _report(path: Path, seed: str) -> str:
    """Return the JSON report of a scan in a process of its own.

    Args:
        path: evidence.
        seed: decides the order of sets.
    """
    env = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", _START, "scan", str(path), "--format", "json", "--isolated"]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert ran.stdout, f"{path}: the scan failed: {ran.stderr}"
    return ran.stdout
