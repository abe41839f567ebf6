"""The local engine gives the same answer however the same evidence is handed in, and says how far it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines import local
from forensics.engines.local import scan
from forensics.errors import NothingUnderstood, UnreadableInput
from forensics.reports import json_report, text
from forensics.result import Result


def told(result: Result) -> list[object]:
    """What a result says, without its evidence: of two places that prove the same, the first one read is cited."""
    findings = [
        (f.fingerprint, f.summary, f.severity, f.confidence, f.cause, f.count, [x.text for x in f.facts])
        for f in result.findings
    ]
    verdicts = [
        (p.history.name, p.history.incarnation, rule, judged.verdict, judged.missing)
        for p in result.partitions
        for rule, judged in p.judgements.items()
    ]
    return [findings, verdicts]


def test_two_scans_give_the_same_bytes(some_sample: Path) -> None:
    one, two = scan([str(some_sample)]), scan([str(some_sample)])
    assert json_report.render(one) == json_report.render(two)
    assert text.render(one, width=100) == text.render(two, width=100)


def test_a_scan_does_not_depend_on_the_hash_seed(repository: Path) -> None:
    """Sets and dictionaries are ordered otherwise in every process; what is printed must not be."""
    printed = {
        subprocess.run(
            [sys.executable, "-m", "forensics", "scan", "sample_traces/unclean-0.10.2.2", "--format", "json"],
            cwd=repository,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(repository)},
            capture_output=True,
            check=False,
            timeout=600,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1
    assert b"committed-data-lost" in printed.pop()


@pytest.mark.parametrize("cores", [1, 2, 7])
def test_the_number_of_threads_does_not_matter(cores: int, sample_traces: Path) -> None:
    sample = str(sample_traces / "unclean-3.9.1")
    assert json_report.render(scan([sample], jobs=cores)) == json_report.render(scan([sample]))


def test_the_order_of_the_files_does_not_matter(some_sample: Path, scanned: Callable[[Path], Result]) -> None:
    """The same files, given one by one, backwards."""
    files = sorted((str(path) for path in some_sample.rglob("*") if path.is_file()), reverse=True)
    assert told(scan(files)) == told(scanned(some_sample))


@pytest.mark.parametrize("name", ["kip101-0.10.2.2", "unclean-3.9.1", "traps-0.10.2.2"])
def test_the_order_of_the_brokers_does_not_matter(name: str, sample_traces: Path, tmp_path: Path) -> None:
    """Folders sort the other way round, so every file gets another number."""
    trace = sample_traces / name
    for number, folder in enumerate(sorted(trace.glob("broker-*"))):
        shutil.copytree(folder, tmp_path / f"{9 - number}-{folder.name}")
    assert told(scan([str(tmp_path)])) == told(scan([str(trace)]))


def test_noise_beside_the_evidence_changes_nothing(sample_traces: Path, tmp_path: Path) -> None:
    trace = sample_traces / "kip101-0.10.2.2"
    shutil.copytree(trace, tmp_path / "evidence")
    (tmp_path / "evidence" / "broker-1" / "logs").chmod(0o755)
    (tmp_path / "evidence" / "broker-1" / "logs" / "gc.log").write_text("[0.010s][info][gc] Using G1\n" * 50)
    (tmp_path / "evidence" / "notes.md").write_text("# the night of the 21st\n")
    assert told(scan([str(tmp_path)])) == told(scan([str(trace)]))


def test_progress_is_told_for_every_file(sample_traces: Path) -> None:
    sample = sample_traces / "crashscene-1.1.1"
    seen: list[local.Step] = []
    scan([str(sample)], progress=seen.append)
    files = [path for path in sample.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    assert seen[-1] == local.Step(len(files), len(files), size, size)
    assert [step.done for step in seen] == sorted({step.done for step in seen})
    assert [step.size for step in seen] == sorted(step.size for step in seen)


def test_topics_are_patterns(sample_traces: Path) -> None:
    sample = str(sample_traces / "traps-0.10.2.2")
    names = {p.history.topic for p in scan([sample], topics=["comp*", "pur[gh]ed"]).partitions}
    assert names == {"compacted", "purged"}


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="no such file or directory; give a folder with logs or data of brokers"):
        scan([str(tmp_path / "nosuch")])
    with pytest.raises(NothingUnderstood, match="the folder is empty; give a folder with logs or data directories of"):
        scan([str(tmp_path)])


def test_the_engine_prints_nothing(sample_traces: Path, capfd: pytest.CaptureFixture[str]) -> None:
    local.scan([str(sample_traces / "powerloss-0.11.0.3")])
    assert capfd.readouterr() == ("", "")
