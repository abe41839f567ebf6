"""Spans of a log, one broker's part of it, or files, missing at random: no answer turns wrong.

Rotation takes the middle of one log as well as its beginning, and collectors forget single files. Every file is read
once; each selection is put together, replayed and judged as a scan would. ``FORENSICS_CUT_RUNS`` sets how many
selections are made of each case.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path, PurePosixPath
from random import Random

import polars as pl

from benchmarks.accuracy import LOUD, find
from forensics.engines.local import read_files
from forensics.replay.lineage import Range, merge, subtract
from forensics.result import Result
from forensics.rules.finding import Severity, Verdict
from tests.cases.test_cut_evidence import truth_of, wrong
from tests.cases.test_cut_kinds import SEGMENT, judged
from tests.cases.test_cut_lines import Files
from tests.conftest import EVERYTHING

RUNS = int(os.environ.get("FORENSICS_CUT_RUNS", "4" if EVERYTHING else "2"))
RULES = (
    "committed-data-lost",
    "truncation-below-committed",
    "replica-divergence",
    "leo-regression",
    "unclean-election",
)


@dataclass(frozen=True)
class Missing:
    """What is left out.

    Attributes:
        spans: by broker folder, seconds since 1970 between which its logs lack all lines.
        files: paths below the trace's folder.
    """

    spans: tuple[tuple[str, float, float], ...]
    files: tuple[str, ...]

    @property
    def hides_the_past(self) -> bool:
        """Logs begin later, or end earlier: of what happened then nothing need be told."""
        return any(first == 0 or last > FOREVER / 2 for _, first, last in self.spans)


FOREVER = 1e11


def moments(trace: Path) -> list[float]:
    """Times between things that were done to the cluster."""
    times = sorted(action["at"] for action in truth_of(trace).get("actions", []))
    return [(a + b) / 2 for a, b in pairwise(times) if b - a > 0.3]


def missing(trace: Path, names: list[str], random: Random) -> Missing:
    brokers = sorted({PurePosixPath(name).parts[0] for name in names if "/logs/" in name})
    times = moments(trace)
    what = random.choice(["span", "span", "files", "both", "host"])
    spans, files = [], []
    if what == "host" and len(times) > 1:
        # A machine that is gone with its disks, and of its logs, or of all, what was shipped elsewhere.
        host = random.choice(brokers)
        first, last = sorted(random.sample(times, 2))
        spans = [(broker, first, last) for broker in random.choice([[host], brokers])]
        return Missing(tuple(spans), tuple(name for name in names if name.startswith(f"{host}/data/")))
    if what != "files" and len(times) > 1:
        chosen = [broker for broker in brokers if random.random() < 0.5] or [random.choice(brokers)]
        common = sorted(random.sample(times, 2))
        for broker in chosen if random.random() < 0.7 else brokers:
            first, last = common if random.random() < 0.6 else sorted(random.sample(times, 2))
            edge = random.random()
            spans.append((broker, 0.0 if edge < 0.15 else first, FOREVER if edge > 0.85 else last))
    if what != "span" or not spans:
        share = random.choice([0.1, 0.3])
        # A log that lacks a segment is another story: what is gone from the middle is told as damage.
        files = [name for name in names if not SEGMENT.search("/" + name) and random.random() < share]
    return Missing(tuple(spans), tuple(files))


def left(files: Files, trace: Path, gone: Missing) -> Files:
    kept = []
    for source, reading in files:
        name = str(PurePosixPath(source.path).relative_to(trace))
        if name in gone.files:
            continue
        rows = reading.observations
        if reading.format == "broker-log":
            for broker, first, last in gone.spans:
                if name.startswith(f"{broker}/"):
                    inside = pl.col("time").is_between(_time(first), _time(last), closed="left")
                    rows = rows.filter(~inside.fill_null(False))
        kept.append((source, replace(reading, observations=rows)))
    return kept


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(min(seconds, 4e9), UTC).replace(tzinfo=None)


def loud(result: Result, topic: str, rule: str, severities: tuple[Severity, ...] = LOUD) -> tuple[Verdict, list[Range]]:
    partition = find(result, topic)
    if partition is None:
        return Verdict.UNKNOWN, []
    judgement = partition.judgements[rule]
    heard = [f for f in judgement.findings if f.severity in severities]
    # An election has no offsets; its leader epoch stands for them.
    return judgement.verdict, merge(piece for f in heard for piece in f.offsets or [(e, e + 1) for e in f.epochs])


def worse(trace: Path, whole: Result, part: Result, gone: Missing) -> list[str]:
    """Answers that the whole evidence contradicts; unknown contradicts nothing."""
    said = []
    topic = truth_of(trace)["topic"]
    for rule in RULES:
        known, there = loud(whole, topic, rule)
        given, here = loud(part, topic, rule)
        if there and given is Verdict.CLEAN and not gone.hides_the_past:
            said.append(f"{rule} clean, though it happened")
        # That a log has its records again, so that it is a warning, may be told in what is left out.
        mended = (Severity.WARNING,) if rule == "leo-regression" else ()
        happened = loud(whole, topic, rule, (*LOUD, *mended))[1]
        if known is not Verdict.UNKNOWN and subtract(here, happened):
            said.append(f"{rule} at {subtract(here, happened)}, where nothing happened")
    return said


def test_missing_spans_and_files_make_no_answer_wrong(some_trace: Path) -> None:
    trace = some_trace
    files = read_files([str(trace)])
    names = [str(PurePosixPath(source.path).relative_to(trace)) for source, _ in files]
    whole = judged(files)
    random = Random(trace.name)
    said = {}
    for _ in range(RUNS):
        gone = missing(trace, names, random)
        kept = left(files, trace, gone)
        if any(reading.observations.height or reading.batches.height for _, reading in kept):
            part = judged(kept)
            said[gone] = [*wrong(trace, part), *worse(trace, whole, part, gone)]
    assert {gone: answers for gone, answers in said.items() if answers} == {}
