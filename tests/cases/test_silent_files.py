"""Recorded evidence without some lines or files: what is then not known is not concluded, and nobody is suspected."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.result import Partition


@pytest.fixture
def evidence(sample_traces: Path, tmp_path: Path) -> Evidence:
    return Evidence(sample_traces, tmp_path)


class Evidence:
    """A sample from which a test removes files and lines."""

    def __init__(self, samples: Path, folder: Path) -> None:
        self.samples, self.folder = samples, folder

    def of(self, sample: str) -> Evidence:
        shutil.copytree(self.samples / sample, self.folder / sample)
        self.folder /= sample
        return self

    def without_lines(self, logs: str, text: str) -> Evidence:
        """Remove the lines of some logs that match a pattern; there is at least one."""
        found = 0
        for log in sorted(self.folder.glob(logs)):
            lines = log.read_bytes().splitlines(keepends=True)
            kept = [line for line in lines if not re.search(text.encode(), line)]
            found += len(lines) - len(kept)
            log.write_bytes(b"".join(kept))
        assert found
        return self

    def without_files(self, paths: str) -> Evidence:
        """Remove some folders."""
        for folder in sorted(self.folder.glob(paths)):
            shutil.rmtree(folder)
        return self

    def partition(self, name: str) -> Partition:
        return next(one for one in scan([str(self.folder)]).partitions if one.history.name == name)


def test_who_joined_the_isr_of_a_leader_from_outside_the_isr_has_not_again_what_was_committed(
    evidence: Evidence,
) -> None:
    """Broker 2 was elected from outside the ISR, without the records of broker 1, which then joined its ISR."""
    evidence.of("dirlead-2.8.2").without_lines("broker-1/logs/server.log", " DEBUG ").without_files("broker-1/data")
    judgements = evidence.partition("orders-0").judgements
    assert "from outside the ISR" in judgements["unclean-election"].findings[0].summary
    (finding,) = judgements["leo-regression"].findings
    assert (finding.severity.value, "ISR" in finding.summary) == ("error", False)


def test_a_later_leader_whose_files_are_not_there_has_what_is_below_the_start_of_its_epoch(evidence: Evidence) -> None:
    """Broker 1 lost its log. The others' directories are not there, and broker 2 led next from offset 20 on."""
    evidence.of("dirlead-2.8.2").without_lines("*/logs/server.log", " DEBUG ").without_files("broker-[123]/data")
    judgement = evidence.partition("orders-0").judgements["committed-data-lost"]
    assert (judgement.verdict.value, judgement.findings) == ("unknown", ())


def test_a_high_watermark_of_a_leader_that_has_all_committed_records_is_no_ground_for_suspicion(
    evidence: Evidence,
) -> None:
    """Broker 1 took over its leader's high watermark and then truncated; one line of its role is missing."""
    evidence.of("acks1-2.8.2").without_lines("broker-1/logs/server.log", "Added fetcher to broker 2")
    judgement = evidence.partition("orders-0").judgements["truncation-below-committed"]
    assert (judgement.verdict.value, judgement.findings) == ("unknown", ())
