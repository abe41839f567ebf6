"""A bounded slice of the fuzz: a few dozen damaged cases, by seeds that are always the same."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from random import Random

import pytest

from benchmarks.fuzz.__main__ import cases, prepared, said
from benchmarks.fuzz.mutations import LOG, MUTATIONS, TEXT, broker_replaced, number_replaced
from benchmarks.fuzz.trial import Subject, TooSlow, _strayed, limited, trial
from tests.conftest import EVERYTHING
from tests.parsers.formats.building import batch

SECONDS = 15 if EVERYTHING else 5


@pytest.mark.parametrize("name", ["rotated-2.8.2", "zombie-1.1.1"])
def test_damaged_evidence_raises_nothing_and_proves_nothing(name: str, sample_traces: Path, tmp_path: Path) -> None:
    subject = Subject.of(Path(shutil.copytree(sample_traces / name, tmp_path / name)))
    end = time.monotonic() + SECONDS / 2
    tried = 0
    for seed in range(200):
        outcome = trial(subject, seed, limit=60)
        if outcome is not None:
            tried += 1
            wrong = [what for what in said(outcome) if what != "proofs of forged records"]
            assert not wrong, outcome
        if time.monotonic() > end:
            break
    assert tried


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name)
def test_each_mutation_changes_something_and_is_made_again_by_its_seed(mutation) -> None:  # type: ignore[no-untyped-def]
    text = b"".join(b"[2026-11-21 04:11:%02d,000] INFO line %d of broker=%d\n" % (n, n, n % 3) for n in range(50))
    segment = b"".join(batch(n, [b"value"]) for n in range(20))
    data = text if mutation.fits in (TEXT, LOG) else segment
    other = b"".join(batch(n, [b"other"]) for n in range(30))
    made = [mutation.of(data, Random(seed), other) for seed in range(20)]
    assert any(one is not None and one != data for one in made)
    assert made == [mutation.of(data, Random(seed), other) for seed in range(20)]


def test_a_number_is_replaced_throughout_a_file() -> None:
    text = b"[2026-11-21 04:11:21,001] INFO [Partition t-2 broker=21] Shrinking ISR from 21,3 to 21\n" * 2
    made = {_change(text, Random(seed)) for seed in range(40) for _change in (broker_replaced, number_replaced)}
    assert all(one is not None and one.count(b"[2026-11-21 04:11:21,001]") == 2 for one in made)
    assert all(one is not None and len(set(one.splitlines())) == 1 for one in made)
    assert any(one is not None and b"broker=7] Shrinking ISR" in one for one in made)


def test_cases_of_other_folders_may_have_the_name_of_a_sample(tmp_path: Path) -> None:
    for folder in ("recorded", "more"):
        (tmp_path / folder / "zombie-1.1.1").mkdir(parents=True)
    found = cases(["zombie-1.1.1"], [tmp_path / "recorded", tmp_path / "more"])
    assert len(found) == 3
    assert len({prepared(one, tmp_path) for one in found}) == 3


def working() -> None:
    while True:
        pass


def test_work_is_limited_by_the_time_of_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.fuzz.trial._BY_THE_CLOCK", 1_000)
    began = time.process_time()
    with limited(0.05), pytest.raises(TooSlow):
        working()
    assert time.process_time() - began < 5


def test_waiting_is_limited_by_the_clock_ten_times_later() -> None:
    with limited(0.2):
        time.sleep(0.6)  # as a scan on a machine that does other work
    began = time.monotonic()
    with limited(0.05), pytest.raises(TooSlow):
        time.sleep(60)
    assert 0.4 < time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("file", "strayed"),
    [
        ("orders-0/00000000000000000000.log", ["orders-1", "stock-0"]),
        ("stock-0.0123456789abcdef0123456789abcdef-delete/leader-epoch-checkpoint", ["orders-0", "orders-1"]),
        ("__consumer_offsets-0/00000000000000000000.log", []),  # positions of groups, in any partition
        ("replication-offset-checkpoint", []),
    ],
)
def test_a_file_of_one_partition_may_change_no_answer_about_another_one(
    file: str, strayed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [("orders", 0), ("orders", 1), ("stock", 0)]
    before, after = ({(None, *name, 0): (verdict,) for name in names} for verdict in ("clean", "violated"))
    monkeypatch.setattr("benchmarks.fuzz.trial._verdicts", lambda _: after | {(None, "made-up", 0, 0): ("unknown",)})
    subject = Subject(Path("/e"), True, [], frozenset(), before)
    assert [*_strayed(subject, Path("/e/broker-1/data") / file, None)] == strayed  # type: ignore[arg-type]
