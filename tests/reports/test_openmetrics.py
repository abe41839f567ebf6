"""OpenMetrics text: what a parser of the format reads, and that the numbers are those of the result."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from forensics.replay.confidence import Confidence
from forensics.reports.openmetrics import METRICS, render
from forensics.result import Result
from forensics.rules import RULES
from forensics.rules.finding import Verdict
from forensics.tuning import Tuning, tune

Scanned = Callable[[Path], Result]
SERIES = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (-?[0-9.e+]+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"')


def series_of(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Each series once, in families that are not mixed; the last line ends the text."""
    *lines, end, rest = text.split("\n")
    assert (end, rest) == ("# EOF", "")
    found: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    family, families = "", list[str]()
    for line in lines:
        if line.startswith("# TYPE "):
            family = line.split(" ")[2]
            families.append(family)
        elif line.startswith("# "):
            assert line.split(" ")[2] == family
        else:
            match = SERIES.fullmatch(line)
            assert match is not None, line
            assert match[1] == family
            key = family, tuple(LABEL.findall(match[2] or ""))
            assert key not in found
            found[key] = float(match[3])
    assert families == [metric.name for metric in METRICS]
    return found


def test_numbers_are_those_of_the_result(trace: Path, scanned: Scanned) -> None:
    result = scanned(trace)
    found = series_of(render(result))
    for rule in RULES:
        for verdict in Verdict:
            count = sum(rule.id in one.verdicts(verdict) for one in result.partitions)
            assert found["forensics_partitions", (("rule", rule.id), ("verdict", verdict.value))] == count
    assert sum(value for (name, _), value in found.items() if name == "forensics_findings") == len(result.findings)
    for confidence in Confidence:
        counted = sum(count for (name, labels), count in found.items() if ("confidence", confidence.value) in labels)
        assert counted == sum(one.confidence is confidence for one in result.findings)
    violated = sum(len(one.verdicts(Verdict.VIOLATED)) for one in result.partitions)
    assert sum(name == "forensics_violated" for name, _ in found) == violated
    assert found["forensics_files", ()] == result.case.sources.height


def test_a_loss_is_counted_where_it_happened(sample_traces: Path, scanned: Scanned) -> None:
    found = series_of(render(scanned(sample_traces / "kip101-0.10.2.2")))
    ((labels, count),) = [
        (dict(labels), value) for (name, labels), value in found.items() if name == "forensics_lost_records"
    ]
    assert (labels["topic"], labels["partition"], count) == ("orders", "0", 30)
    healthy = series_of(render(scanned(sample_traces / "txn-4.1.1")))
    assert not [name for name, _ in healthy if name == "forensics_lost_records"]


def test_a_rule_that_is_switched_off_has_no_series_of_its_own(sample_traces: Path, scanned: Scanned) -> None:
    tuned = tune(scanned(sample_traces / "kip101-0.10.2.2"), Tuning(disabled=frozenset({"committed-data-lost"})))
    found = series_of(render(tuned))
    assert not [name for name, _ in found if name == "forensics_lost_records"]


def test_names_cannot_steer_who_looks_at_them(sample_traces: Path, scanned: Scanned) -> None:
    result = scanned(sample_traces / "kip101-0.10.2.2")
    history = copy.copy(result.partitions[0].history)
    history.facts = replace(history.facts, topic='a\x1b[2J\u202e"b')
    worst = replace(result.partitions[0], history=history)
    text = render(replace(result, partitions=[worst]))
    assert all(line.isprintable() for line in text.splitlines())
    (topic,) = {dict(labels)["topic"] for name, labels in series_of(text) if name == "forensics_violated"}
    assert topic == r"a\\x1b[2J\\u202e\"b"
