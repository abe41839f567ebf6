"""Times that no clock has, in traces and logs: each costs its own line, and every report shows the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forensics.engines import local
from forensics.reports import REPORTS


@pytest.mark.parametrize(
    "text",
    [
        "0000-01-05T10:00:00Z", "0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+01:00", "-2026-01-01T10:00:00Z",
        "9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z",
    ],
)  # fmt: skip
def test_a_time_that_no_clock_has_costs_its_line_alone(text: str, tmp_path: Path) -> None:
    """Each report and command shows the rest."""
    claim = [{"replicas": [1], "from": text}]
    rows = [
        {"kind": "trace", "system": "kafka", "cluster": "c", "replicas": [1], "complete": claim},
        {"time": text, "kind": "hw", "high_watermark": 10},
        {"time": "2026-01-01T10:00:02Z", "kind": "state", "high_watermark": 15, "log_end_offset": 10},
    ]
    place = {"schema": "forensics.trace/1", "witness": 1, "topic": "orders", "partition": 0}
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({**place, **row}) + "\n" for row in rows))
    printed = text[:19].replace("T", " ")
    (tmp_path / "server.log").write_text(f"[{printed},000] INFO Truncating log a-0 to offset 5. (kafka.log.Log)\n" * 2)
    result = local.scan([str(tmp_path)])
    assert [one.rule for one in result.findings if one.rule == "hw-above-leo"]
    assert not set(result.case.sources.get_column("format")) & {"failed", "unreadable"}
    assert all("".join(report.pieces(result)) for report in REPORTS)
    assert any("is no time that can be" in reason for reason in result.case.notices.get_column("reason"))
