"""The metadata log by the model of a quorum: each answer is compared with what the model knows."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.errors import NothingUnderstood
from forensics.result import Partition
from forensics.rules.finding import Judgement
from tests.model.raft import PARTITION, Raft

LOSS, TRUNCATION = "committed-data-lost", "truncation-below-committed"
RUNS = int(os.environ.get("FORENSICS_RAFT_RUNS", "12"))


def judged(folder: Path) -> Partition | None:
    """Return the answer of a scan about the log; None if nothing shows a quorum."""
    try:
        return next((one for one in scan([str(folder)]).partitions if one.history.name == PARTITION), None)
    except NothingUnderstood:
        return None


def ran(folder: Path, seed: int, *, steps: int = 200, faults: bool = True) -> Raft:
    """Let a quorum run, and leave its evidence in a folder."""
    run = Raft(folder, seed, faults=faults).run(steps)
    run.leave_files()
    return run


def certain(answer: Judgement) -> set[int]:
    return {at for one in answer.findings for first, end in one.offsets for at in range(first, end)}


@pytest.mark.parametrize("seed", range(RUNS))
def test_a_quorum_without_faults_of_disks_is_clean(seed: int, tmp_path: Path) -> None:
    run = ran(tmp_path, seed, steps=150, faults=False)
    assert not run.lost
    found = judged(tmp_path)
    if found is None:
        assert not run.committed
        return
    assert {rule: one.verdict for rule, one in found.judgements.items() if one.findings} == {}
    assert found.judgements[LOSS].verdict == "clean"


@pytest.mark.parametrize("seed", range(RUNS))
def test_a_verdict_about_a_quorum_is_true(seed: int, tmp_path: Path) -> None:
    run = ran(tmp_path, 10_000 + seed)
    _is_true(run, judged(tmp_path))


@pytest.mark.parametrize("seed", range(RUNS))
def test_a_verdict_is_true_without_the_logs_or_the_copies_of_some_nodes(seed: int, tmp_path: Path) -> None:
    run = ran(tmp_path, 20_000 + seed, faults=bool(seed % 4))
    chosen = random.Random(seed)
    for folder in sorted(tmp_path.glob("broker-*/*")):
        if chosen.random() < 0.25:
            shutil.rmtree(folder)
    _is_true(run, judged(tmp_path))


@pytest.mark.parametrize("seed", range(RUNS))
def test_what_is_lost_is_true_where_logs_begin_late_or_end_early(seed: int, tmp_path: Path) -> None:
    run = ran(tmp_path, 30_000 + seed, faults=bool(seed % 4))
    chosen = random.Random(seed)
    for log in sorted(tmp_path.glob("broker-*/logs/server.log")):
        lines = log.read_text().splitlines(keepends=True)
        first, last = sorted(chosen.choices(range(len(lines) + 1), k=2))
        log.write_text("".join(lines[first:] if chosen.random() < 0.7 else lines[:last]))
    found = judged(tmp_path)
    if found is not None:
        assert certain(found.judgements[LOSS]) <= run.lost


def _is_true(run: Raft, found: Partition | None) -> None:
    """No loss is told that was none, and none is excluded that was one."""
    if found is None:
        return
    loss, cut = found.judgements[LOSS], found.judgements[TRUNCATION]
    assert certain(loss) <= run.lost
    assert certain(cut) <= run.truncated
    assert loss.verdict != "clean" or not run.lost
    assert cut.verdict != "clean" or not run.truncated
