"""Less evidence may make an answer unknown. It must never make it wrong.

Each trace is scanned again without the logs of one broker, without its data, without all of it, with that of one broker
alone, and with logs that begin or end in the middle of the story, as rotation and late copies leave them. Without CI=1
each trace is cut in a sixth of these ways, the next one in another sixth.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks.accuracy import LOUD, QUESTIONS, find
from forensics.engines.local import scan
from forensics.replay.lineage import subtract
from forensics.result import Result
from forensics.rules.finding import Verdict
from tests.conftest import EVERYTHING, SHARE
from tools.samples import unpacked

STAMP = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]")
MOMENTS = 4  # at which logs are made to begin or end

# -- making less of it -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """A way to leave evidence out.

    ``make`` takes the trace and an empty folder that it may write to, and gives the paths that are left.
    """

    name: str
    make: Callable[[Path, Path], list[str]]


def brokers(trace: Path) -> list[Path]:
    return sorted(folder for folder in trace.iterdir() if folder.is_dir())


def without(*dropped: Path) -> Callable[[Path, Path], list[str]]:
    def make(trace: Path, _room: Path) -> list[str]:
        parts = [part for broker in brokers(trace) for part in sorted(broker.iterdir())]
        return [str(part) for part in parts if part not in dropped and part.parent not in dropped]

    return make


def during(first: float | None, last: float | None) -> Callable[[Path, Path], list[str]]:
    """Logs of a span of time alone, the data as it is; times are seconds since 1970."""

    def make(trace: Path, room: Path) -> list[str]:
        paths = without(*(broker / "logs" for broker in brokers(trace)))(trace, room)
        for log in sorted(trace.glob("*/logs/*")):
            kept = room / log.relative_to(trace)
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(b"".join(lines_during(log.read_bytes(), first, last)))
        return [*paths, str(room)]

    return make


def lines_during(log: bytes, first: float | None, last: float | None) -> Iterator[bytes]:
    """Events of a span of time; a line without a time belongs to the event before it."""
    inside = first is None
    for line in log.splitlines(keepends=True):
        if found := STAMP.match(line):
            time = datetime.strptime(found[1].decode(), "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC).timestamp()
            inside = (first is None or time >= first) and (last is None or time < last)
        if inside:
            yield line


def cuts(trace: Path) -> list[Cut]:
    """Every way in which a trace is cut."""
    folders = brokers(trace)
    found = []
    for folder in folders:
        for part in ("logs", "data"):
            found.append(Cut(f"without {part} of {folder.name}", without(folder / part)))
        found.append(Cut(f"without {folder.name}", without(folder)))
        found.append(Cut(f"{folder.name} alone", without(*(other for other in folders if other != folder))))
    for part in ("logs", "data"):
        found.append(Cut(f"without all {part}", without(*(folder / part for folder in folders))))
    for number, moment in enumerate(moments(trace), start=1):
        found.append(Cut(f"logs before moment {number} gone", during(moment, None)))
        found.append(Cut(f"logs from moment {number} on gone", during(None, moment)))
    return found


def moments(trace: Path) -> list[float]:
    """Times between things that were done to the cluster once it had a topic, spread over the story."""
    actions = truth_of(trace)["actions"]
    created = next(action["at"] for action in actions if action["what"] == "create topic")
    between = [
        (a + b) / 2 for a, b in pairwise(sorted(action["at"] for action in actions)) if a >= created and b - a > 0.5
    ]
    step = max(1, len(between) // MOMENTS)
    return between[::step][:MOMENTS]


# -- what is wrong ---------------------------------------------------------------------------------


@cache
def truth_of(trace: Path) -> dict[str, Any]:
    return dict(json.loads((trace / "truth.json").read_text(encoding="utf-8")))


def wrong(trace: Path, result: Result) -> list[str]:
    """Answers that contradict the truth; unknown contradicts nothing."""
    truth = truth_of(trace)
    said = []
    partition = find(result, truth["topic"])
    for key, (rule, offsets_key) in QUESTIONS.items():
        expected = truth["expect"].get(key, False)
        if partition is None or expected is None:
            continue
        judgement = partition.judgements[rule]
        loud = [finding for finding in judgement.findings if finding.severity in LOUD]
        if expected and judgement.verdict is Verdict.CLEAN:
            said.append(f"{rule} clean, though it happened")
        if not expected:
            said += [f"{rule} violated, though nothing happened: {finding.summary}" for finding in loud]
        elif offsets_key is not None:
            true = [(first, end) for first, end in truth[offsets_key]]
            beyond = subtract([piece for finding in loud for piece in finding.offsets], true)
            said += [f"{rule} at {beyond}, where nothing happened"] if beyond else []
    if not any(truth["expect"].values()):
        due = truth.get("rules", ())  # what must be told of a trace in which nothing was lost
        said += [f"alarm: {f.rule}: {f.summary}" for f in result.findings if f.severity in LOUD and f.rule not in due]
    return said


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "cut" not in metafunc.fixturenames:
        return
    samples = sorted(truth.parent for truth in unpacked().glob("*/truth.json"))
    metafunc.parametrize(
        ("whole", "cut"),
        [
            pytest.param(
                sample,
                cut,
                id=f"{sample.name}: {cut.name}",
            )
            for number, sample in enumerate(samples)
            for cut in (cuts(sample) if EVERYTHING else cuts(sample)[number % SHARE :: SHARE])
        ],
    )


def test_less_evidence_never_makes_an_answer_wrong(whole: Path, cut: Cut, tmp_path: Path) -> None:
    paths = cut.make(whole, tmp_path)
    assert wrong(whole, scan(paths)) == []


# -- the checks can fail, and the cuts cut ---------------------------------------------------------


def test_a_wrong_answer_is_seen(sample_traces: Path) -> None:
    lost, healthy = sample_traces / "kip101-0.10.2.2", sample_traces / "flap-3.9.1"
    assert wrong(lost, scan([str(lost)])) == []
    seen = wrong(healthy, scan([str(lost)]))
    assert len(seen) == 3 + 1 + 4  # three questions, one of them twice, and every alarm
    assert len(wrong(lost, scan([str(healthy)]))) == 3


@pytest.mark.parametrize("name", ["kip101-0.10.2.2", "flap-3.9.1"])
def test_logs_are_cut_where_they_should_be(name: str, sample_traces: Path, tmp_path: Path) -> None:
    trace = sample_traces / name
    whole = scan([str(trace)]).case.sources
    logs = whole.filter(whole["format"] == "broker-log")
    for number, moment in enumerate(moments(trace)):
        at = datetime.fromtimestamp(moment, UTC)
        assert logs["first_time"].min() < at < logs["last_time"].max(), "a moment within the logs"
        for first, last in ((moment, None), (None, moment)):
            room = tmp_path / f"{number}-{first is None}"
            kept = scan(during(first, last)(trace, room)).case.sources
            kept = kept.filter(kept["format"] == "broker-log")
            assert 0 < kept["lines"].sum() < logs["lines"].sum()
            assert first is None or kept["first_time"].min() >= at
            assert last is None or kept["last_time"].max() < at


def test_halves_of_a_log_make_the_log(sample_traces: Path) -> None:
    log = (sample_traces / "kip101-0.10.2.2" / "broker-1" / "logs" / "server.log").read_bytes()
    moment = moments(sample_traces / "kip101-0.10.2.2")[2]
    assert b"".join([*lines_during(log, None, moment), *lines_during(log, moment, None)]) == log
