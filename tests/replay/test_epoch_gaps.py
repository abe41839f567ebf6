"""Leader epochs that are far apart: a time or a view number of another system, or a damaged digit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.lineage import MOST_UNNAMED

SCHEMA = "forensics.trace/1"


def line(second: int, kind: str, **fields: object) -> str:
    told = {"schema": SCHEMA, "kind": kind, "time": f"2026-01-01T10:00:{second:02}Z", "witness": 1}
    return json.dumps({**told, "topic": "orders", "partition": 0, **fields})


@pytest.mark.parametrize(("complete", "verdict", "unnamed"), [(True, "clean", 0), ([], "unknown", MOST_UNNAMED)])
def test_work_depends_on_lines_and_not_on_the_numbers_of_epochs(
    complete: object, verdict: str, unnamed: int, tmp_path: Path
) -> None:
    """Between epochs 1 and 2,147,483,646 nothing is known of any, so few of them stand for all."""
    first = {"schema": SCHEMA, "kind": "trace", "system": "kafka", "cluster": "c1", "replicas": [1, 2]}
    lines = [
        json.dumps({**first, "complete": complete}),
        line(0, "become_leader", leader_epoch=1, log_end_offset=0, isr="1"),
        line(1, "append", offset=0, log_end_offset=10),
        line(2, "become_leader", leader_epoch=2**31 - 2, log_end_offset=10, isr="1"),
    ]
    (tmp_path / "trace.jsonl").write_text("".join(f"{one}\n" for one in lines))
    (partition,) = scan([str(tmp_path)]).partitions
    assert partition.judgements["committed-data-lost"].verdict.value == verdict
    assert len(partition.history.coverage.unnamed) == unnamed
