"""The oracle: evidence of a run whose truth is known, scanned. A verdict may be unknown, but it may not be wrong.

* *violated* must be true, and every offset named must be one of those concerned;
* *clean* must be true;
* less evidence may only turn a verdict into *unknown*.

``FORENSICS_ORACLE_RUNS`` sets how many random seeds are played under each protocol.
"""

from __future__ import annotations

import os
import re
import shutil
from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan, take_in
from forensics.model import PROTOCOLS, SCENARIOS, VARIANTS, Run, scenario
from forensics.model.random_runs import Op, Setting, as_scenario
from forensics.model.trace import START
from forensics.replay.partitions import histories
from forensics.replay.timeline import timeline

ALL = (*PROTOCOLS, *VARIANTS)
RUNS = int(os.environ.get("FORENSICS_ORACLE_RUNS", "3"))
STORIES = [story.name for story in SCENARIOS if story.name != "random"]


# Answers that are wrong today: (story, protocol, missing file, rule). The set may only shrink.
OPEN = {
    ("fast-failover", "epoch", "", "committed-data-lost"),
    ("failover-truncation", "hw", "broker-1/data/orders-0/00000000000000000000.log", "replica-divergence"),
    ("power-loss", "epoch", "broker-1/logs/server.log", "truncation-below-committed"),
    ("power-loss", "epoch", "broker-1/logs/state-change.log", "committed-data-lost"),
    ("acks1-failover", "fetch", "broker-1/logs/state-change.log", "truncation-below-committed"),
    ("rolling-restart", "fetch", "broker-2/logs/server.log", "committed-data-lost"),
    ("rolling-restart", "fetch", "broker-3/logs/server.log", "committed-data-lost"),
}


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
        told = [wrong for wrong in wrongs(folder, truth) if (name, protocol, "", wrong.split(":")[0]) not in OPEN]
        assert told == [], name


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


# -- less evidence -----------------------------------------------------------------------------------------------------

TELLING = (
    "server.log",
    "state-change.log",
    "controller.log",
    "replication-offset-checkpoint",
    "leader-epoch-checkpoint",
    "00000000000000000000.log",
)


@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        ("failover-truncation", "hw"),
        ("failover-truncation", "fetch"),
        ("power-loss", "epoch"),
        ("acks1-failover", "fetch"),
        ("rolling-restart", "fetch"),
    ],
)
def test_a_missing_file_makes_no_verdict_wrong(name: str, protocol: str, tmp_path: Path) -> None:
    folder, truth = written(scenario(name).run(protocol), tmp_path / "run", "default")
    found = set()
    for path in sorted(folder.rglob("*")):
        if path.name in TELLING:
            kept = path.read_bytes()
            path.unlink()
            told = wrongs(folder, truth)
            path.write_bytes(kept)
            found |= {(name, protocol, str(path.relative_to(folder)), wrong.split(":")[0]) for wrong in told}
    assert found <= OPEN


# -- the timeline -----------------------------------------------------------------------------------------------------


def states(run: Run) -> dict[int, list[tuple[int, dict[str, Any]]]]:
    """What each replica really was, after each of its events: (logical millisecond, state)."""
    found: dict[int, list[tuple[int, dict[str, Any]]]] = {}
    for event in run.cluster.trace:
        if event.broker in run.cluster.brokers and event.state:
            found.setdefault(event.broker, []).append((event.at, event.state))
    return found


def logical(moment: datetime) -> int:
    return round((moment - START).total_seconds() * 1000)


def lies(run: Run, folder: Path) -> tuple[int, list[str]]:
    """Rows of the timeline that were compared, and those that say what was not so at their last moment."""
    case = take_in([str(folder)])
    real, compared, found = states(run), 0, []
    for history in histories(case):
        if history.topic != "orders":
            continue
        for row in timeline(case, history).iter_rows(named=True):
            if row["role"] not in ("leader", "follower") or row["from"] is None or row["to"] is None:
                continue
            last = logical(row["to"]) - 1
            if last < logical(row["from"]):
                continue  # begun and ended within a millisecond
            compared += 1
            true = real[row["replica"]][bisect_right(real[row["replica"]], last, key=lambda s: s[0]) - 1][1]
            for column in ("role", "leader_epoch", "log_end_offset", "high_watermark"):
                said, exact = row[column], row.get(EXACT_IF.get(column, ""), True)
                if said is not None and (said != true[column] if exact else said > true[column]):
                    found.append(f"replica {row['replica']} at {last}: {column} {said}, but it was {true[column]}")
            if true["role"] == "leader" and row["isr"] is not None:
                isr = sorted(int(broker) for broker in re.findall(r"\d+", row["isr"]))
                if isr != sorted(true["isr"]):
                    found.append(f"replica {row['replica']} at {last}: ISR {isr}, but it was {true['isr']}")
    return compared, found


EXACT_IF = {"log_end_offset": "log_end_exact", "high_watermark": "high_watermark_exact"}


@pytest.mark.parametrize("logging", ["default", "replication"])
@pytest.mark.parametrize("protocol", [p.name for p in PROTOCOLS])
def test_the_timeline_is_what_happened(protocol: str, logging: str, tmp_path: Path) -> None:
    """HW, LEO, epoch, role and ISR of each replica at each moment the logging shows."""
    compared = 0
    for name in ("failover-truncation", "unclean-election", "premature-isr", "rolling-restart", "zombie-leader"):
        run = scenario(name).run(protocol)
        folder, _ = written(run, tmp_path / name, logging)
        rows, found = lies(run, folder)
        assert found == [], name
        compared += rows
    for seed in range(RUNS):
        run = scenario("random").run(protocol, seed)
        folder, _ = written(run, tmp_path / f"random-{seed}", logging)
        rows, found = lies(run, folder)
        assert found == [], f"seed {seed}"
        compared += rows
    assert compared > (100 if logging == "replication" else 10)


def test_the_oracle_sees_a_lie(tmp_path: Path) -> None:
    """The comparison itself: a truth that is another run's is told apart."""
    folder, truth = written(scenario("failover-truncation").run("hw"), tmp_path / "run", "default")
    other = scenario("failover-truncation").run("fetch").truth()
    assert wrongs(folder, truth) == []
    assert len(wrongs(folder, other)) == 3
