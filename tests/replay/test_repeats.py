"""A follower in a loop says the same thousands of times: it is folded, and how often and until when is kept."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

from forensics.engines.local import scan
from forensics.replay.omissions import own_line_pairs
from forensics.replay.roles.steps import StepKind

TIMES = 40


def looping(sample_traces: Path, folder: Path) -> Path:
    """Before 0.11 a follower prints it once for each leader it takes up; here between lines that are missing."""
    shutil.copytree(sample_traces / "kip101-0.10.2.2", folder)
    log = folder / "broker-2" / "logs" / "server.log"
    lines = log.read_text("utf-8").splitlines(keepends=True)
    place = max(number for number, line in enumerate(lines) if "Truncating log orders-0 to offset 50" in line)
    begun = datetime.strptime(lines[place][1:24], "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC)
    again = [
        f"[{begun + timedelta(milliseconds=n):%Y-%m-%d %H:%M:%S,%f}"[:-3] + lines[place][24:] for n in range(TIMES)
    ]
    log.write_text("".join([*lines[: place + 1], *again, *lines[place + 1 :]]), "utf-8")
    return folder


def test_a_loop_of_truncations_is_one_step_with_its_count(sample_traces: Path, tmp_path: Path) -> None:
    (partition,) = [
        p for p in scan([str(looping(sample_traces, tmp_path / "x"))]).partitions if not p.history.incarnation
    ]
    steps = [step for role_span in partition.history.role_spans[2] for step in role_span.steps]
    assert len(steps) < 10
    known = partition.history.coverage.places[2]
    assert known, "a follower truncates once for each leader: lines are missing between two truncations"
    shown = {missing.shown_by for missing in partition.history.coverage.known_missing[2]}
    assert shown & {omission.id for omission in own_line_pairs.OMISSIONS}
    assert not partition.history.coverage.whole(2)
    assert sum(1 + step.repeats for step in steps if step.kind is StepKind.TRUNCATED) == TIMES + 1
    found = partition.judgements["truncation-below-committed"].findings
    (finding,) = [one for one in found if one.replicas == (2,)]
    assert finding.count == TIMES + 1
    last = finding.facts[-1]
    assert last.text == f"truncated its log to 50 for the last of {TIMES + 1} times in leader epoch 2"
    times = [fact.time for fact in finding.facts[-2:] if fact.time is not None]
    assert times[-1] - times[0] == (TIMES - 1) * 1000
    assert last.refs != finding.facts[1].refs
