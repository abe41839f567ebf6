"""Small traces written by hand: one helper a line, and the verdicts of a scan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from forensics.engines.local import scan
from forensics.rules.finding import Judgement
from parsers.formats.trace_jsonl import SCHEMA
from parsers.formats.trace_kinds import FIELD_OF

Line = dict[str, Any]


def said(second: float, witness: int, kind: str, **values: Any) -> Line:
    """A line about orders-0. Fields may have the shorter names of the columns that they fill."""
    whole = int(second)
    time = f"2026-01-01T10:00:{whole:02}.{round((second - whole) * 1000):03}Z"
    return {"time": time, "witness": witness, "kind": kind, "topic": "orders", "partition": 0, **values}


LEADS = [
    said(0, 1, "become_leader", leader_epoch=3, leo=0, isr="1,2"),
    said(0, 2, "become_follower", leader=1, leader_epoch=3, leo=0),
]
"""Broker 1 leads in epoch 3, broker 2 follows it; both logs are empty."""


def text(lines: list[Line]) -> str:
    """The lines as a file."""
    return "".join(
        json.dumps({"schema": SCHEMA, **{FIELD_OF.get(name, name): value for name, value in line.items()}}) + "\n"
        for line in lines
    )


def judged(folder: Path, lines: list[Line]) -> dict[str, Judgement]:
    """The answers of a scan of one trace about its only partition."""
    folder.mkdir(exist_ok=True)
    path = folder / "trace.jsonl"
    path.write_text(text(lines))
    (partition,) = scan([str(path)]).partitions
    return partition.judgements
