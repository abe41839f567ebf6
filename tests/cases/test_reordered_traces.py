"""Traces whose lines somebody sorted, grouped or shuffled: they are read in the order of their times."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forensics.cli.simulate import simulate
from forensics.engines.local import scan
from forensics.result import Result
from parsers.formats.trace_checks import BACKWARDS
from parsers.takers.trace_order import AT_ONE_TIME, REMARK
from tests.cases.test_traces_of_evidence import answers, written
from tests.conftest import in_full
from tests.engines.without_spark import run
from tests.rules.traced import Line, said, text

Reorder = Callable[[list[Line]], list[Line]]


def sorted_by(*fields: str) -> Reorder:
    def reorder(lines: list[Line]) -> list[Line]:
        return sorted(lines, key=lambda line: [str(line.get(field, "")) for field in fields])

    return reorder


def shuffled(seed: int) -> Reorder:
    return lambda lines: random.Random(seed).sample(lines, len(lines))


def numbered(field: str) -> Reorder:
    return lambda lines: sorted(lines, key=lambda line: line.get(field, -1))


def reordered(path: Path, to: Path, reorder: Reorder) -> Path:
    first, *lines = path.read_text().splitlines()
    rows = reorder([json.loads(line) for line in lines])
    to.write_text(first + "\n" + "".join(json.dumps(row) + "\n" for row in rows))
    return to


def shown(result: Result) -> set[tuple[str, Any]]:
    """Rules with what they found, without what is only suspected."""
    return {
        (rule, finding.offsets)
        for one in result.partitions
        for rule, judgement in one.judgements.items()
        for finding in judgement.findings
        if finding.confidence.value != "suspected" and rule != "evidence-gap"
    }


def clean(result: Result) -> set[str]:
    (one,) = result.partitions
    return {rule for rule, judgement in one.judgements.items() if judgement.verdict.value == "clean"}


def reasons(result: Result) -> set[str]:
    return set(result.case.notices.get_column("reason"))


@pytest.fixture(scope="module", params=["lost-disk epoch", "unclean-election hw", "fork epoch"])
def simulated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    name, protocol = request.param.split()
    path = tmp_path_factory.mktemp("simulated") / "trace.jsonl"
    CliRunner().invoke(simulate, [name, "--protocol", protocol, "--trace", str(path)], catch_exceptions=False)
    return path


@pytest.mark.parametrize("reorder", [sorted_by("topic"), sorted_by("witness", "topic")])
def test_lines_sorted_by_topic_answer_as_in_their_order(reorder: Reorder, simulated: Path, tmp_path: Path) -> None:
    """Lines about a process have no topic; a restart is still between the lines before and after it."""
    found = scan([str(reordered(simulated, tmp_path / "t.jsonl", reorder))])
    if AT_ONE_TIME not in reasons(found):
        assert answers(found) == answers(scan([str(simulated)]))
    assert shown(found) <= shown(scan([str(simulated)]))
    assert reasons(found) <= {REMARK, AT_ONE_TIME}


@pytest.mark.parametrize(
    "reorder",
    [
        sorted_by("kind"),
        sorted_by("witness", "kind"),
        numbered("offset"),
        numbered("leader_epoch"),
        numbered("log_end_offset"),
        numbered("high_watermark"),
        shuffled(1),
        shuffled(2),
        lambda lines: lines[::-1],
    ],
)
def test_nothing_is_shown_that_the_order_of_the_times_refutes(
    reorder: Reorder, simulated: Path, tmp_path: Path
) -> None:
    found, wanted = scan([str(reordered(simulated, tmp_path / "t.jsonl", reorder))]), scan([str(simulated)])
    assert shown(found) <= shown(wanted)
    assert clean(found) <= clean(wanted)
    assert reasons(found) & {REMARK, BACKWARDS}


@pytest.mark.parametrize("reorder", [shuffled(1), sorted_by("kind"), sorted_by("topic")])
@pytest.mark.parametrize("case", ["traps-0.10.2.2", "kip101-0.10.2.2"])
def test_a_trace_of_evidence_shows_nothing_else(
    case: str, reorder: Reorder, sample_traces: Path, tmp_path: Path
) -> None:
    """Lines of brokers come to stand among those of files; no line states of which file another one is."""
    whole = written(sample_traces / case, tmp_path / "whole.jsonl")
    found = scan([str(reordered(whole, tmp_path / "t.jsonl", reorder))])
    assert shown(found) <= shown(scan([str(whole)]))
    assert any("is left out" in reason or reason == REMARK for reason in reasons(found))


@in_full("scans of such traces are tried without it")
def test_a_batch_answers_as_a_scan(sample_traces: Path, tmp_path: Path) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    whole = written(sample_traces / "traps-0.10.2.2", tmp_path / "whole.jsonl")
    reordered(whole, folder / "t.jsonl", shuffled(3))
    assert answers(run(str(folder), tmp_path / "out")) == answers(scan([str(folder)]))


HEAD: Line = {"kind": "trace", "cluster": "c", "replicas": [1, 2], "complete": True}


def of_process(second: float, kind: str) -> Line:
    return {name: value for name, value in said(second, 1, kind).items() if name not in ("topic", "partition")}


RESTARTED = [
    of_process(0, "process_start"),
    said(1, 1, "become_leader", leader_epoch=1, leo=0, isr="1"),
    said(1, 2, "become_follower", leader=1, leader_epoch=1, leo=0),
    said(2, 1, "append", offset=0, leo=10),
    said(3, 2, "append", offset=0, leo=10),
    said(4, 1, "hw", hw=10),
    of_process(20, "process_start"),
    of_process(20.1, "unclean_restart"),
    said(20.2, 1, "log_loaded", leo=10),
    said(20.3, 1, "hw_missing"),
    said(20.4, 1, "become_leader", leader_epoch=2, leo=10, hw=0, isr="1"),
    said(21, 1, "hw", hw=0),
]


def test_a_start_whose_place_is_unknown_is_no_reason_for_a_fall(tmp_path: Path) -> None:
    """One line of a process is in another place than its time says."""
    path = tmp_path / "t.jsonl"
    path.write_text(text([HEAD, *RESTARTED]))
    sound = shown(scan([str(path)]))
    start = RESTARTED[6:8]
    path.write_text(text([HEAD, *RESTARTED[:3], *start, *RESTARTED[3:6], *RESTARTED[8:]]))
    found = scan([str(path)])
    assert shown(found) <= sound
    assert clean(found) <= {"evidence-gap", "hw-above-leo"}
    assert reasons(found) == {BACKWARDS}


def test_a_clock_that_was_set_back_leaves_the_order_of_the_lines(tmp_path: Path) -> None:
    """The process started 15 seconds later than its first lines say, and its clock was set right then."""
    path = tmp_path / "t.jsonl"
    late = [of_process(55, "process_start"), of_process(55.1, "unclean_restart"), *RESTARTED[8:]]
    path.write_text(text([HEAD, *RESTARTED[:6], *late]))
    assert REMARK not in reasons(scan([str(path)]))
