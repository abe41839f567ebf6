"""OpenMetrics text, for alerts on the answers of a scan that runs again and again: gauges, the last of them ``# EOF``.

Partitions without a violation are counted and not named, so that the number of series does not grow with the cluster.
Source of the format: OpenMetrics 1.0.0.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from forensics.outputs import plain
from forensics.replay.confidence import Confidence
from forensics.result import Partition, Result
from forensics.rules import RULES
from forensics.rules.finding import Severity, Verdict
from forensics.version import __version__

Sample = tuple[dict[str, str], float]
"""Labels and value."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One family of series.

    Attributes:
        name: its name.
        help: what it is.
        samples: gives its series, in order.
        unit: its unit, with which the name ends; "" for none.
    """

    name: str
    help: str
    samples: Callable[[Result], Iterable[Sample]]
    unit: str = ""


def _info(_: Result) -> Iterator[Sample]:
    yield {"version": __version__}, 1


def _verdicts(result: Result) -> Iterator[Sample]:
    counts = Counter(
        (rule, judgement.verdict) for one in result.partitions for rule, judgement in one.judgements.items()
    )
    for rule in RULES:
        for verdict in Verdict:
            yield {"rule": rule.id, "verdict": verdict.value}, counts[rule.id, verdict]


def _findings(result: Result) -> Iterator[Sample]:
    counts = Counter((one.rule, one.severity, one.confidence) for one in result.findings)
    for rule in RULES:
        for severity, confidence in itertools.product(Severity, Confidence):
            if count := counts[rule.id, severity, confidence]:
                yield {"rule": rule.id, "severity": severity.value, "confidence": confidence.value}, count


def _violated(result: Result) -> Iterator[Sample]:
    for one in result.partitions:
        for rule in one.verdicts(Verdict.VIOLATED):
            yield {**_place(one), "rule": rule}, 1


def _lost(result: Result) -> Iterator[Sample]:
    for one in result.partitions:
        judgement = one.judgements.get("committed-data-lost")
        if judgement is not None and judgement.verdict is Verdict.VIOLATED:
            yield _place(one), sum(f.records[0] for f in judgement.findings if f.records is not None)


def _place(one: Partition) -> dict[str, str]:
    history = one.history
    return {
        "cluster": history.cluster or "",
        "topic": history.topic,
        "partition": str(history.partition),
        "incarnation": str(history.incarnation),
    }


def _problems(result: Result) -> Iterator[Sample]:
    counts = Counter((one.known.severity, one.known.id) for one in result.problems)
    for (severity, name), count in sorted(counts.items()):
        yield {"problem": name, "severity": severity.value}, count


def _files(result: Result) -> Iterator[Sample]:
    yield {}, result.case.sources.height


def _notices(result: Result) -> Iterator[Sample]:
    yield {}, result.case.notices.height + len(result.left_out)


def _failures(result: Result) -> Iterator[Sample]:
    files, partitions = result.failures
    yield {"of": "files"}, files
    yield {"of": "partitions"}, partitions


def _end(result: Result) -> Iterator[Sample]:
    last = result.case.sources.get_column("last_time").max()
    if isinstance(last, datetime):
        yield {}, last.timestamp()


METRICS: Final = (
    Metric("forensics_build", "Version that made the scan; always 1.", _info),
    Metric("forensics_partitions", "Partitions by rule and verdict.", _verdicts),
    Metric(
        "forensics_findings",
        "Findings by rule, severity and confidence, without those that a baseline hides.",
        _findings,
    ),
    Metric("forensics_violated", "1 for each rule that a partition violates.", _violated),
    Metric("forensics_lost_records", "Committed records that a partition lost, at least.", _lost),
    Metric("forensics_known_problems", "Known problems that log lines state.", _problems),
    Metric("forensics_files", "Files that were read.", _files),
    Metric("forensics_notices", "Places that are damaged or were not understood.", _notices),
    Metric("forensics_failures", "Files and partitions on which the program failed.", _failures),
    Metric("forensics_evidence_end_seconds", "Time of the last log line, since 1970 UTC.", _end, "seconds"),
)
"""Every family, in the order in which they are written."""


def render(result: Result) -> str:
    """Return the text."""
    return "".join(f"{line}\n" for line in _lines(result))


def _lines(result: Result) -> Iterator[str]:
    for metric in METRICS:
        yield f"# TYPE {metric.name} gauge"
        if metric.unit:
            yield f"# UNIT {metric.name} {metric.unit}"
        yield f"# HELP {metric.name} {metric.help}"
        for labels, value in metric.samples(result):
            yield f"{metric.name}{_labels(labels)} {value:.15g}"
    yield "# EOF"


def _labels(labels: dict[str, str]) -> str:
    r"""Return labels as the format has them.

    >>> _labels({}), _labels({"topic": 'a"b\\'})
    ('', '{topic="a\\"b\\\\"}')
    """
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"'})


def _escaped(value: str) -> str:
    return plain(value).translate(_ESCAPES)
