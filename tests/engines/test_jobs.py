"""Several processes judge as one does: the same bytes, whatever becomes of a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from forensics import tables
from forensics.case import Case
from forensics.engines import codec, local, parts, pool, workers
from forensics.engines.left_out import Judged
from forensics.replay.omissions.controllers import requests, starting
from forensics.reports import REPORTS, html
from forensics.reports.redaction import redact
from forensics.result import Result
from parsers.containment import Defect
from tests.conftest import EVERYTHING, in_full

CLUSTERS = ("rotated-2.8.2", "traps-0.10.2.2", "unclean-3.9.1", "unclean-0.10.2.2", "dirfail-3.9.1")


def judge_one_partition_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide also the smallest case."""
    monkeypatch.setattr(local, "WORTH_PARTS", 0)
    monkeypatch.setattr(pool, "_LEAST", 1)
    monkeypatch.setattr(pool, "_MOST", 1)


@pytest.fixture
def every_part_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_one_partition_at_a_time(monkeypatch)


def written(result: Result, folder: Path) -> dict[str, bytes]:
    """All that can be written of a result, by name."""
    found = {report.name: "".join(report.pieces(result)).encode() for report in REPORTS}
    found["page"] = html.render(result).encode()
    found["redacted"] = html.render(redact(result)).encode()
    tables.save(result, folder)
    return found | {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@in_full("the number of processes is varied in test_large without it")
def test_neither_parts_nor_the_number_of_processes_matter(
    sample_traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(sample_traces / name) for name in (CLUSTERS if EVERYTHING else CLUSTERS[1:3])]
    at_once = written(local.scan(paths), tmp_path / "at once")
    assert len(at_once) > len(tables.TABLES) + len(REPORTS)
    judge_one_partition_at_a_time(monkeypatch)
    for jobs in (1, 2, 5) if EVERYTHING else (2,):
        in_parts = written(local.scan(paths, jobs=jobs), tmp_path / str(jobs))
        assert [name for name in at_once if at_once[name] != in_parts[name]] == []


@pytest.mark.usefixtures("every_part_is_small")
def test_progress_is_told_for_every_part(sample_traces: Path) -> None:
    seen: list[local.Step] = []
    paths = [str(sample_traces / name) for name in ("traps-0.10.2.2", "unclean-3.9.1")]
    found = local.scan(paths, jobs=2, progress=seen.append)
    judging = [step for step in seen if step.judging]
    names = {(partition.history.cluster, partition.history.name) for partition in found.partitions}
    assert len(names) > 1
    # The metadata log is one more: of a single controller, it is not listed.
    assert [step.done for step in judging] == [*range(len(names) + 2)]
    assert {step.total for step in judging} == {len(names) + 1}
    assert judging[-1].findings == Counter(finding.severity for finding in found.findings)
    assert len(judging[-1].findings) > 1


@pytest.mark.usefixtures("every_part_is_small")
def test_topics_are_patterns_for_workers_too(sample_traces: Path) -> None:
    paths = [str(sample_traces / "traps-0.10.2.2")]
    found = local.scan(paths, topics=["comp*", "pur[gh]ed"], jobs=2)
    assert {p.history.topic for p in found.partitions} == {"compacted", "purged"}
    assert local.scan(paths, topics=["no-such"], jobs=2).partitions == []


def in_parts(case: Case) -> list[Judged]:
    """What is found if each partition is judged as a part of its own."""
    found: list[Judged] = []
    for part in case.parts:
        division = parts.Division(part)
        for packed in division.packed(list(division.parts(1))):
            mine = local.judged(division.common.case(packed))
            assert len({(history.topic, history.partition) for history, _ in mine}) <= 1
            found += mine
        for packed in division.packed([division.quick]):
            found += local.judged(division.common.case(packed))
    return found


def test_a_part_has_all_that_its_partitions_need(some_trace: Path) -> None:
    case = local.take_in([str(some_trace)])
    told = [
        sorted((codec.encode(history), codec.encode_judgements(judgements)) for history, judgements in judged)
        for judged in (local.judged(case), in_parts(case))
    ]
    assert told[0] == told[1]


def test_a_part_has_the_lines_of_controllers(sample_traces: Path) -> None:
    """They name no partition, and say which requests brokers received and who started after the last of them."""
    case = local.take_in([str(sample_traces / "epochgarbled-2.8.2")])
    division = parts.Division(case)
    common, (packed, *_) = division.common, division.packed(list(division.parts(1)))
    whole, part = case.observations, common.case(packed).observations
    assert starting(part) == starting(whole) == {2}
    sent, handled, _ = requests(whole, whole.clear().with_columns(incarnation=0))
    assert requests(part, whole.clear().with_columns(incarnation=0)) == (sent, handled, frozenset())
    assert sent
    assert handled


def test_parts_are_about_as_heavy(sample_traces: Path) -> None:
    case = local.take_in([str(sample_traces / "rotated-2.8.2")])
    division = parts.Division(case)
    divided = list(division.parts(division.weight // 4))
    assert 4 <= len(divided) <= 5
    assert max(part.height for part in divided) <= 8
    named = [key for part in (*divided, division.quick) for key in part.rows()]
    assert len(named) == len(set(named))
    assert set(named) >= {(history.topic, history.partition) for history, _ in local.judged(case)}


def test_partitions_of_which_checkpoints_alone_are_known_are_in_no_part(tmp_path: Path) -> None:
    """Workers would take longer to hand over what was found than finding it takes."""
    data = tmp_path / "broker-1/data"
    log = data / "orders-0/leader-epoch-checkpoint"
    log.parent.mkdir(parents=True)
    log.write_text("0\n1\n0 0\n")
    rows = "".join(f"{topic} 0 {number}\n" for number, topic in enumerate(["orders", "bare", "alike"]))
    (data / "replication-offset-checkpoint").write_text(f"0\n3\n{rows}")
    division = parts.Division(local.take_in([str(tmp_path)]))
    assert division.quick.sort("topic").rows() == [("alike", 0), ("bare", 0)]
    assert [part.rows() for part in division.parts(1)] == [[("orders", 0)]]


# -- what becomes of processes -----------------------------------------------------------------------------------------


def loads(*common: object) -> Iterator[workers.Load]:
    return (workers.Load(one, ()) for one in common)


def test_answers_come_from_workers() -> None:
    with workers.Workers(3) as some:
        found = dict(some.ask(abs, loads(*range(-9, 0))))
    assert found == {number: 9 - number for number in range(9)}


def test_this_process_answers_as_well() -> None:
    with workers.Workers(1) as alone:
        assert dict(alone.ask(abs, loads(-1, -2), abs)) == {0: 1, 1: 2}
        assert dict(alone.ask(abs, loads(-1, -2))) == {0: 1, 1: 2}
        assert dict(alone.ask(abs, loads())) == {}


@pytest.mark.parametrize("python", ["/nosuch/python", "/bin/false"])
def test_without_workers_this_process_answers(python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", python)
    with workers.Workers(3) as some:
        assert dict(some.ask(abs, loads(-1, -2))) == {0: 1, 1: 2}
        assert dict(some.ask(abs, loads(-1, -2), abs)) == {0: 1, 1: 2}


def test_what_fails_in_a_worker_is_a_defect() -> None:
    with workers.Workers(2) as some:
        ((_, found),) = some.ask(abs, loads("no number"))
    assert isinstance(found, Defect)
    assert "TypeError" in found.error


def test_a_load_that_cannot_be_made_is_not_passed_over() -> None:
    def failing() -> Iterator[workers.Load]:
        yield from loads(-1)
        raise ZeroDivisionError("made by a test")

    with workers.Workers(2) as some, pytest.raises(Exception, match="made by a test"):
        list(some.ask(abs, failing()))


def signalled(asking: int, number: int) -> None:
    """Send a signal to the worker that is asked."""
    assert os.getpid() != asking
    os.kill(os.getpid(), number)


def test_a_worker_that_dies_is_told_and_another_goes_on() -> None:
    me = os.getpid()
    given = [workers.Load(me, (signal.SIGKILL,)), workers.Load(me, (0,))]
    with workers.Workers(2) as some:
        found = dict(some.ask(signalled, given))
    assert isinstance(found[0], workers.Died)
    assert str(found[0]) == "a process that judged it ended with signal 9; memory may be short: fewer --jobs need less"
    assert found[1] is None


class Dying(workers.Workers):
    """Workers that die on the topic ``compacted``."""

    asked: ClassVar[list[tuple[set[str], bool]]] = []

    def ask(
        self, work: workers.Work, loads: Iterable[workers.Load], here: workers.Work | None = None
    ) -> Iterator[tuple[int, Any]]:
        for number, load in enumerate(loads):
            common, (part,) = load.common, load.given
            assert isinstance(common, parts.Common)
            topics = set(parts.unpacked(part[1]).get_column("topic"))
            self.asked.append((topics, here is not None))
            dies = "compacted" in topics
            yield number, workers.Died.of_status(-9) if dies else work(common, part)


def test_what_workers_die_on_is_tried_in_halves_and_then_told(
    sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = local.scan([str(sample_traces / "traps-0.10.2.2")], jobs=1)
    monkeypatch.setattr(local, "WORTH_PARTS", 0)
    monkeypatch.setattr(pool, "Workers", Dying)
    monkeypatch.setattr(Dying, "asked", [])
    found = local.scan([str(sample_traces / "traps-0.10.2.2")], jobs=2)
    names = {p.history.name for p in whole.partitions}
    assert {p.history.name for p in found.partitions} == names
    first, *halves = Dying.asked
    assert len(first[0]) == 3
    assert first[1]
    assert len(halves) == 2
    assert not any(here for _, here in halves)
    left = next(topics for topics, _ in halves if "compacted" not in topics)
    assert left
    failed = {p.history.topic for p in found.partitions if p.failed}
    assert failed == first[0] - left > set()
    said = next(p for p in found.partitions if p.failed).judgements["committed-data-lost"].missing[0].because.text
    assert said == "a process that judged it ended with signal 9; memory may be short: fewer --jobs need less"
    told = [
        {p.history.name: p.judgements for p in result.partitions if p.history.topic in left}
        for result in (whole, found)
    ]
    assert told[0]
    assert told[0] == told[1]


ASKING = """
import os, sys, time
from forensics.engines.workers import Load, Workers
def loads():
    yield Load(0, ())
    yield Load(1, ())
    time.sleep(600)
with Workers(2) as some:
    for number, _ in some.ask({work}, loads()):
        print(some._all[0]._process.pid, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("work", ["os.getpgid", "time.sleep"])
def test_workers_end_with_the_process_that_asks(work: str, number: int, repository: Path) -> None:
    """While they wait for a question, and while they work on one."""
    command = [sys.executable, "-c", ASKING.format(work=work)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=repository
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        worker = int(running.stdout.readline())
        os.kill(worker, 0)
        running.send_signal(number)
        running.wait(timeout=30)
        until = time.monotonic() + 30
        while alive(worker) and time.monotonic() < until:
            time.sleep(0.05)
        assert not alive(worker)
        assert running.stderr.read() == ""


def alive(process: int) -> bool:
    """Whether it runs; one that ended and is waited for by nobody does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_workers_import_nothing_from_the_folder_they_run_in(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Evidence may hold a file of any name."""
    (tmp_path / "polars.py").write_text("raise SystemExit('from the evidence')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one] + [str(repository)])
    with workers.Workers(2) as some:
        assert dict(some.ask(abs, loads(-1))) == {0: 1}
        assert len(some._all) == 1
