"""The terminal output of some samples, word by word; tests/golden/README.md says how to write it anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from forensics.cli import cli
from forensics.engines.local import scan

GOLDEN = Path(__file__).parent.parent / "golden"
NAMES = ("kip101-0.10.2.2", "unclean-3.9.1", "crashscene-1.1.1", "traps-0.10.2.2")
UPDATE = os.environ.get("FORENSICS_UPDATE_GOLDEN") == "1"
WRITTEN = (
    "epoch-starts",
    "healthy",
    "hw-above-isr-member",
    "hw-above-leo",
    "hw-regression",
    "kip-101",
    "leo-regression",
    "lso-above-hw",
    "raft-terms",
    "truncated-below-hw",
    "two-leaders",
)
"""Traces written by hand, each of one question."""
PATHS = {name: name for name in NAMES} | {f"written/{name}": f"written/{name}/trace.jsonl" for name in WRITTEN}
SHOWN = re.compile(
    r"(<!-- output of: forensics scan sample_traces/([^\n]+?) -->\n```[a-z]*\n).*?(```\n<!-- end)", re.DOTALL
)


@pytest.fixture
def printed(request: pytest.FixtureRequest, repository: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a scan of the sample prints, from the root of the repository."""
    monkeypatch.chdir(repository)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    result = CliRunner().invoke(cli, ["scan", f"sample_traces/{request.param}"], catch_exceptions=False)
    assert result.exit_code in (0, 1)
    return result.stdout


@pytest.mark.parametrize(("name", "printed"), PATHS.items(), indirect=["printed"], ids=PATHS)
def test_the_terminal_shows_this(name: str, printed: str, repository: Path) -> None:
    golden = GOLDEN / f"{name}.txt"
    if UPDATE:
        golden.write_text(printed, encoding="utf-8")
        readme = repository / "README.md"
        text = readme.read_text(encoding="utf-8")
        shown = SHOWN.sub(lambda m: f"{m[1]}{printed}{m[3]}" if m[2] == name else m[0], text)
        if shown != text:  # several workers may be here at once: only the one with a change writes
            readme.write_text(shown, encoding="utf-8")
    assert printed == golden.read_text(encoding="utf-8"), f"if this is meant, see {GOLDEN.name}/README.md"


def test_no_golden_file_is_left_over() -> None:
    assert {str(path.relative_to(GOLDEN).with_suffix("")) for path in GOLDEN.rglob("*.txt")} == set(PATHS)


def test_every_written_trace_is_in_the_table(sample_traces: Path) -> None:
    assert {path.parent.name for path in sample_traces.glob("written/*/trace.jsonl")} == set(WRITTEN)


def test_a_scan_of_all_written_traces_answers_as_one_of_each(sample_traces: Path) -> None:
    """Each is of a cluster of its own."""
    alone = {name: answers_by_cluster([sample_traces / "written" / name]) for name in WRITTEN}
    together = answers_by_cluster([sample_traces / "written"])
    assert len(together) == len(WRITTEN)
    assert together == {cluster: answers for each in alone.values() for cluster, answers in each.items()}


def answers_by_cluster(paths: list[Path]) -> dict[str | None, list[tuple[str, str, list[object]]]]:
    """The verdict of each rule, with the offsets, brokers and confidence of what it found, by cluster."""
    return {
        one.history.cluster: [
            (rule, said.verdict.value, [(f.offsets, f.replicas, f.severity, f.confidence) for f in said.findings])
            for rule, said in one.judgements.items()
        ]
        for one in scan([str(path) for path in paths]).partitions
    }
