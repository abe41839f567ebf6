"""A timeline shows what replay found: the same roles, log ends, high watermarks and ISRs at the same lines."""

from __future__ import annotations

import tarfile
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from forensics.engines.local import take_in
from forensics.replay.facts.isr import broker_set
from forensics.replay.history import History
from forensics.replay.partitions import histories
from forensics.replay.roles.steps import RoleSpan, StepKind
from forensics.replay.timeline import timeline
from forensics.result import Result

DATA = Path(__file__).parent.parent / "cases" / "data"
AT_MOST = "at most, as a follower may take a lower one from its leader"
State = dict[str, Any]


class Shown:
    """The states of a timeline, by replica and line."""

    def __init__(self, frame: pl.DataFrame) -> None:
        dated = frame.filter(pl.col("run").is_not_null() & pl.col("role").ne_missing(pl.lit("silent")))
        self.states: dict[int, list[State]] = {}
        for state in dated.iter_rows(named=True):
            self.states.setdefault(state["replica"], []).append(state)

    def at(self, replica: int, row: int | None) -> State:
        """The state of a replica from a line on."""
        mine = self.states.get(replica, [])
        at = bisect_right([state["row"] for state in mine], row or 0)
        return mine[at - 1] if at else {}


def contradictions(history: History, frame: pl.DataFrame) -> Iterator[str]:
    """What a timeline shows otherwise than replay found."""
    shown = Shown(frame)
    for replica, spans in history.role_spans.items():
        for one in spans:
            for what, row, column, wanted in found(one):
                state = shown.at(replica, row)
                value = state.get(column)
                value = broker_set(value) if column == "isr" else value
                if (value or 0) > wanted if what == AT_MOST else value != wanted:
                    yield f"{history.name}, replica {replica}, row {row}, {what}: {column} {value}, not {wanted}"
        for state in shown.states.get(replica, []):
            reached = [one.end_low for one in spans if (one.epoch, one.run) == (state["leader_epoch"], state["run"])]
            if reached and (state["log_end_offset"] or 0) > max(reached):
                yield f"{history.name}, replica {replica}, row {state['row']}: more than {max(reached)}"


def found(one: RoleSpan) -> Iterator[tuple[str, int | None, str, Any]]:
    """What replay found: in words, with the line that shows it, and the column and value that a timeline has there."""
    for ref in one.refs:
        yield "role", ref.row, "role", one.role.value
        yield "role", ref.row, "leader", one.leader
        yield "role", ref.row, "leader_epoch", one.epoch
    if one.start_ref in one.refs:
        yield "start", one.start_ref.row, "log_end_offset", one.start_end
    if one.start_hw is not None:
        yield AT_MOST, one.start_hw.ref.row, "high_watermark", one.start_hw.value
    for step in one.steps:
        if step.kind is not StepKind.DELETED:
            ref = step.refs[-1 if step.kind is StepKind.TRUNCATED else 0]
            yield step.kind.value, ref.row, "log_end_offset", step.target
    if one.hw is not None and one.hw.how is None:
        yield "high watermark", one.hw.ref.row, "high_watermark", one.hw.value
    for row, isr in {ref.row: isr for isr, ref in one.isr}.items():
        yield "isr", row, "isr", isr


def test_no_state_contradicts_the_history(some_trace: Path, scanned: Callable[[Path], Result]) -> None:
    result = scanned(some_trace)
    for partition in result.partitions:
        assert [*contradictions(partition.history, timeline(result.case, partition.history))] == []


RARE = {"a second leader of an epoch": "written", "a leader that no line names": "dirlead-2.8.2"}


@pytest.mark.parametrize("cluster", RARE.values(), ids=RARE)
def test_rare_roles_are_as_replay_takes_them(
    cluster: str, sample_traces: Path, scanned: Callable[[Path], Result]
) -> None:
    test_no_state_contradicts_the_history(sample_traces / cluster, scanned)


def test_a_contradiction_is_seen(sample_traces: Path, scanned: Callable[[Path], Result]) -> None:
    result = scanned(sample_traces / "kip101-0.10.2.2")
    history = result.partitions[0].history
    frame = timeline(result.case, history)
    for column in ("leader", "leader_epoch", "log_end_offset", "high_watermark"):
        assert [*contradictions(history, frame.with_columns(pl.col(column) + 1))] != [], column
    for column in ("role", "isr"):
        assert [*contradictions(history, frame.with_columns(pl.col(column) + "9"))] != [], column


class Seen(NamedTuple):
    """What a timeline shows of a replica, where it once read the lines otherwise than replay.

    Attributes:
        cluster: folder of a sample, or archive of a recorded cluster.
        partition, replica: the replica.
        column: column of the timeline.
        values: its values in order, without repeats.
    """

    cluster: str
    partition: str
    replica: int
    column: str
    values: list[Any]


SEEN = {
    "only a fetcher's line names the leader": Seen("acks1-2.8.2", "orders-0", 1, "leader", [None, 1, None, 2]),
    "a leader is not that of the epoch before": Seen(
        "moved-2.8.2", "orders-0", 1, "leader", [None, 1, None, 3, 1, None]
    ),
    "only a fetcher's line names the role": Seen(
        "healed-4.1.1", "orders-eu-0", 2, "role", ["loading", "follower", "loading", "follower"]
    ),
    "a follower's high watermark is at most what its leader began with": Seen(
        "acks1-2.8.2", "orders-0", 1, "high_watermark", [None, 0, None, 18, 19]
    ),
    "the initial fetch offset is the high watermark": Seen(
        "prematureisr-1.1.1", "orders-0", 3, "high_watermark", [None, 0, None, 0, None]
    ),
    "a producer snapshot shows how long the log is": Seen(
        "bitflip-1.1.1", "orders-0", 3, "log_end_offset", [None, 0, 40, None, 40]
    ),
    "rolled segments show how long the log is": Seen(
        "retloss-2.6.3", "orders-0", 1, "log_end_offset",
        [None, 0, 17, 20, None, 33, 20, 34, 50, 65, 80, 95, 110, 125, 139, 150, 153],
    ),
    "records of a new epoch show how long the log is": Seen(
        "delun-2.3.1", "orders-0", 2, "log_end_offset", [None, 0, None, 25, 29]
    ),
    "a copy in another log directory is not yet the log": Seen(
        "jbod-2.4.1-replication", "orders-0", 1, "log_end_offset",
        [None, 0, 40, 60, None, 0, 60, 70, 71, 72, 73, 74, 75],
    ),
    "a log that waits for deletion is loaded as empty": Seen(
        "recreate-2.4.1", "pay-0", 2, "log_end_offset", [None, 0, None, 8, 14, None, 14]
    ),
    "behind missing lines the log end offset is unknown": Seen(
        "mixedgap-2.8.2", "purged-0", 3, "log_end_offset", [None, 0, 50, None]
    ),
}  # fmt: skip


@pytest.mark.parametrize("one", SEEN.values(), ids=SEEN)
def test_it_shows_what_replay_reads(one: Seen, sample_traces: Path, tmp_path: Path) -> None:
    folder = sample_traces / one.cluster
    if not folder.is_dir():
        folder = tmp_path
        with tarfile.open(DATA / f"{one.cluster}.tar.xz") as archive:
            archive.extractall(folder, filter="data")
    shown = []
    for part in take_in([str(folder)]).parts:
        for history in histories(part):
            if history.name == one.partition:
                states = Shown(timeline(part, history)).states.get(one.replica, [])
                shown.append([value for value, _ in groupby(state[one.column] for state in states)])
    assert one.values in shown
