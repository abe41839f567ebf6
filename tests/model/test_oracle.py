"""The oracle: evidence of a run whose truth is known, scanned. A verdict may be unknown, but it may not be wrong.

* *violated* must be true, and every offset named must be one of those concerned;
* *clean* must be true;
* less evidence may only turn a verdict into *unknown*.

``FORENSICS_ORACLE_RUNS`` sets how many random seeds are played under each protocol.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan
from forensics.model import PROTOCOLS, SCENARIOS, VARIANTS, Run, scenario
from forensics.model.random_runs import Op, Setting, as_scenario

ALL = (*PROTOCOLS, *VARIANTS)
RUNS = int(os.environ.get("FORENSICS_ORACLE_RUNS", "3"))
STORIES = [story.name for story in SCENARIOS if story.name != "random"]


def offsets(ranges: Iterable[Iterable[int]]) -> set[int]:
    return {offset for first, end in ranges for offset in range(first, end)}


def questions(truth: dict[str, Any]) -> dict[str, tuple[bool, set[int]]]:
    """Rule -> whether it is violated, and at which offsets."""
    cut = [span for cutting in truth["truncations"] for span in cutting["committed_offsets"]]
    return {
        "truncation-below-committed": (truth["expect"]["truncated_below_hw"], offsets(cut)),
        "committed-data-lost": (truth["expect"]["lost_committed"], offsets(truth["lost_committed_offsets"])),
        "replica-divergence": (truth["expect"]["diverged"], offsets(truth["diverged_below_hw"])),
    }


def answers(folder: Path) -> dict[str, tuple[str, set[int]]]:
    """Rule -> the verdict on the model's partition, and the offsets of its findings."""
    found = {}
    partitions = [p for p in scan([str(folder)]).partitions if p.history.topic == "orders"]
    for rule in ("truncation-below-committed", "committed-data-lost", "replica-divergence"):
        judged = [partition.judgements[rule] for partition in partitions]
        verdicts = {judgement.verdict.value for judgement in judged} or {"unknown"}
        verdict = next(v for v in ("violated", "unknown", "clean") if v in verdicts)
        found[rule] = (verdict, {o for j in judged for f in j.findings for o in offsets(f.offsets)})
    return found


def wrongs(folder: Path, truth: dict[str, Any]) -> list[str]:
    """What the scan states that is not so."""
    found = []
    given = answers(folder)
    for rule, (violated, concerned) in questions(truth).items():
        verdict, named = given[rule]
        if verdict == "clean" and violated:
            found.append(f"{rule}: clean, but it is violated at {sorted(concerned)}")
        if verdict == "violated" and not violated:
            found.append(f"{rule}: violated at {sorted(named)}, but it is not")
        elif verdict == "violated" and not named <= concerned:
            found.append(f"{rule}: names {sorted(named - concerned)} besides {sorted(named & concerned)}")
    return found


def written(run: Run, folder: Path, logging: str) -> tuple[Path, dict[str, Any]]:
    """The evidence of a run, without the files that give the answers."""
    run.write(folder, logging)  # type: ignore[arg-type]
    (folder / "truth.json").unlink()
    (folder / "trace.jsonl").unlink()
    return folder, run.truth()


@pytest.mark.parametrize(
    ("protocol", "logging"),
    [*((p.name, "default") for p in ALL), ("hw", "replication"), ("epoch", "replication"), ("fetch", "replication")],
)
def test_stories(protocol: str, logging: str, tmp_path: Path) -> None:
    for name in STORIES:
        folder, truth = written(scenario(name).run(protocol), tmp_path / name, logging)
        assert wrongs(folder, truth) == [], name


EXACT = {
    "failover-truncation": ("hw", "epoch", "epoch-279", "fetch", "fetch-14704"),
    "power-loss": ("hw", "epoch", "epoch-279", "fetch", "fetch-14704"),
    "fork": ("hw", "epoch", "epoch-279", "fetch", "fetch-14704"),
    "unclean-election": ("hw", "epoch", "epoch-279", "fetch", "fetch-14704"),
}


@pytest.mark.parametrize("name", EXACT)
def test_great_losses_are_found_to_the_offset(name: str, tmp_path: Path) -> None:
    """Stock logging is enough: the verdicts of these are known, and their offsets are the model's."""
    for protocol in EXACT[name]:
        folder, truth = written(scenario(name).run(protocol), tmp_path / protocol, "default")
        given = answers(folder)
        for rule, (violated, concerned) in questions(truth).items():
            assert given[rule] == ("violated" if violated else "clean", concerned), (protocol, rule)


@pytest.mark.parametrize("logging", ["default", "replication"])
@pytest.mark.parametrize("protocol", [p.name for p in PROTOCOLS])
def test_random_runs(protocol: str, logging: str, tmp_path: Path) -> None:
    for seed in range(RUNS):
        folder, truth = written(scenario("random").run(protocol, seed), tmp_path / "run", logging)
        assert wrongs(folder, truth) == [], f"seed {seed}"
        shutil.rmtree(folder)


THREE, PAIR = (1, 2, 3), (1, 2)

# Counter-examples that random runs found, shrunk. Each is here since the scan answers it rightly.
CASES: dict[str, tuple[str, str, Setting, list[tuple[object, ...]]]] = {
    "committed by a leader that was alone in its ISR": (
        "epoch",
        "replication",
        Setting(THREE, 2, False),
        [("produce", 3), ("crash", 1), ("restart", 1), ("stop", 3), ("produce-1", 1), ("crash", 2)],
    ),
    "an uncommitted tail at offsets committed in another epoch": (
        "epoch",
        "replication",
        Setting(THREE, 1, False),
        [
            ("crash", 1),
            ("notice", 1),
            ("produce", 1, 0, 7),
            ("prefer", 3),
            ("produce-1", 3, 0, 3),
            ("stop", 2),
            ("crash", 3),
        ],
    ),
    "a paused follower cuts what others had committed meanwhile": (
        "hw",
        "default",
        Setting(THREE, 2, False),
        [("produce", 2, 0, 3), ("fetch", 2), ("fetch", 3), ("pause", 3), ("prefer", 2), ("restart", 3), ("stop", 1)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_shrunk_counter_examples(name: str, tmp_path: Path) -> None:
    protocol, logging, drawn, ops = CASES[name]
    run = as_scenario("regression", drawn, [Op(*op) for op in ops]).run(protocol)  # type: ignore[arg-type]
    folder, truth = written(run, tmp_path / "run", logging)
    assert wrongs(folder, truth) == []


def test_the_oracle_sees_a_lie(tmp_path: Path) -> None:
    """The comparison itself: a truth that is another run's is told apart."""
    folder, truth = written(scenario("failover-truncation").run("hw"), tmp_path / "run", "default")
    other = scenario("failover-truncation").run("fetch").truth()
    assert wrongs(folder, truth) == []
    assert len(wrongs(folder, other)) == 3
