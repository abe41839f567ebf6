"""The timeline of a run is what happened: role, epoch, LEO, HW and ISR of each replica, at every step.

A value that the evidence gives is compared with the model's at every step for which it stands; one that is marked as
"at least this much" may be exceeded.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import Any

import polars as pl
import pytest

from forensics.model import PROTOCOLS, Run, scenario
from forensics.model.evidence import files
from forensics.model.run import Logging
from forensics.model.trace import START
from forensics.replay.partitions import histories
from forensics.replay.timeline import timeline
from tests.conftest import EVERYTHING, alike
from tests.model.batches import drawn, no_cycles, taken

STORIES = ("failover-truncation", "unclean-election", "premature-isr", "rolling-restart", "zombie-leader")
RUNS = max(40 if EVERYTHING else 10, int(os.environ.get("FORENSICS_ORACLE_RUNS", "0")) // 5)
"""Under each protocol at each logging level; CI asks for more."""
LATE_LEADER = 5_100_159
"""A run in which a follower takes over a lower high watermark from a leader that had learned late."""
COLUMNS = {
    "role": "",
    "leader_epoch": "",
    "log_end_offset": "log_end_exact",
    "high_watermark": "high_watermark_exact",
}
"""Column, and the one that says whether it is exact."""


def states(run: Run) -> dict[int, dict[int, dict[str, Any]]]:
    """What each replica was at the end of each millisecond in which something happened to it."""
    found: dict[int, dict[int, dict[str, Any]]] = {}
    for event in run.cluster.trace:
        if event.broker in run.cluster.brokers and event.state:
            found.setdefault(event.broker, {})[event.at] = event.state
    return found


def lies(run: Run, frame: pl.DataFrame) -> tuple[Counter[str], list[str]]:
    """How many values were compared, and those that are not so."""
    compared: Counter[str] = Counter()
    found = []
    moment = [((pl.col(name) - START).dt.total_milliseconds()).alias(name) for name in ("from", "to")]
    rows: dict[int, list[dict[str, Any]]] = {}
    for row in frame.filter(pl.col("from").is_not_null()).with_columns(moment).iter_rows(named=True):
        rows.setdefault(row["replica"], []).append(row)
    for broker, real in states(run).items():
        mine, at = rows.get(broker, []), -1
        for now, true in real.items():
            while at + 1 < len(mine) and mine[at + 1]["from"] <= now:
                at += 1
            row = mine[at] if at >= 0 else {}
            if row.get("role") not in ("leader", "follower") or (row["to"] is not None and row["to"] <= now):
                continue
            for column, mark in COLUMNS.items():
                said, exact = row[column], not mark or row[mark]
                if said is None:
                    continue
                compared[column if exact else f"{column}, at least"] += 1
                if said != true[column] if exact else said > true[column]:
                    found.append(f"replica {broker} at {now}: {column} {said}, but it was {true[column]}")
            if true["role"] == "leader" and row["isr"] is not None:
                compared["isr"] += 1
                isr = sorted(int(member) for member in re.findall(r"\d+", row["isr"]))
                if isr != sorted(true["isr"]):
                    found.append(f"replica {broker} at {now}: ISR {isr}, but it was {true['isr']}")
    return compared, found


def told(runs: dict[str, Run], logging: Logging) -> Counter[str]:
    """Compares the timelines of runs; says how much there was to compare. Runs are told apart by their topic."""
    compared: Counter[str] = Counter()
    with no_cycles():
        case = taken([files(run, logging) for run in runs.values()])
        for part in case.parts:
            for history in histories(part):
                counted, found = lies(runs[history.topic], timeline(part, history))
                assert found == [], history.topic
                compared += counted
    return compared


@pytest.mark.parametrize("logging", ["default", "replication"])
@pytest.mark.parametrize("protocol", alike((p.name for p in PROTOCOLS), 2))
def test_stories(protocol: str, logging: Logging) -> None:
    for name in STORIES:
        compared = told({"orders": scenario(name).run(protocol)}, logging)
        assert compared["role"] > 20, name
        assert logging == "default" or compared["log_end_offset"] > 20, name


@pytest.mark.parametrize("logging", ["default", "replication"])
@pytest.mark.parametrize("protocol", [p.name for p in PROTOCOLS])
def test_random_runs(protocol: str, logging: Logging) -> None:
    seeds = [*range(3_010, 3_010 + RUNS), LATE_LEADER]
    runs = [drawn(seed).play(protocol, number) for number, seed in enumerate(seeds)]
    compared = told({f"run-{number}": run for number, run in enumerate(runs)}, logging)
    steps = sum(len(real) for run in runs for real in states(run).values())
    assert compared["role"] > 0.2 * steps
    assert compared["isr"] > 0.1 * steps
    if logging == "replication":  # with every change printed, most values are known exactly at most steps
        assert compared["role"] > 0.9 * steps
        assert compared["high_watermark"] > 0.8 * steps
        assert compared["log_end_offset"] > 0.7 * steps


def test_a_wrong_value_is_seen() -> None:
    run = scenario("failover-truncation").run("hw")
    case = taken([files(run, "replication")])
    (history,) = histories(case)
    frame = timeline(case, history)
    assert lies(run, frame)[1] == []
    for column in ("log_end_offset", "high_watermark", "leader_epoch"):
        assert lies(run, frame.with_columns(pl.col(column) + 1))[1] != [], column
