"""The table of inferences, the page that shows it, and what findings name of it."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import shutil
from functools import reduce
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History, ShortenedLog
from forensics.replay.inferences import INFERENCES, Inference, Inferred, joined
from forensics.replay.interval import Interval
from forensics.replay.lineage import Lineage
from forensics.replay.protocol import BEHAVIOURS
from forensics.rules.finding import Verdict
from forensics.rules.story import held_texts
from tests.replay.inferences_page import PAGE, QUESTIONS, VALUES, page

SCHEMA = Path(__file__).resolve().parents[2] / "forensics" / "reports" / "scan.schema.json"
DATA = Path(__file__).resolve().parents[1] / "cases" / "data"


def test_each_id_has_one_row_and_the_report_knows_it() -> None:
    assert [one.id for one in INFERENCES] == [*Inferred]
    assert json.loads(SCHEMA.read_text("utf-8"))["$defs"]["inference"]["enum"] == [one.value for one in Inferred]


@pytest.mark.parametrize("one", INFERENCES, ids=[one.id.value for one in INFERENCES])
def test_the_function_of_a_row_draws_it_and_its_behaviours_are_those_of_the_protocol(one: Inference) -> None:
    module, _, name = one.function.partition(":")
    found: object = reduce(getattr, name.split("."), importlib.import_module(f"forensics.replay.{module}"))
    assert callable(found)
    assert f"Inferred.{one.id.name}" in inspect.getsource(found)
    assert {*one.needs, *one.unless} <= {behaviour.name for behaviour in BEHAVIOURS}


def test_the_page_is_that_of_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.replay.inferences_page"


def test_the_page_names_modules_that_are_there_and_each_package_of_replay() -> None:
    links = {PAGE.parent / path for path in re.findall(r"\]\((\.\./[^)#]+)\)", page())}
    assert [str(link) for link in sorted(links) if not link.exists()] == []
    replay = PAGE.parent / ".." / "forensics" / "replay"
    packages = {one.parent for one in replay.glob("*/__init__.py")}
    assert packages <= links | {link.parent for link in links}
    named = [*((name, module) for _, name, module, *_ in QUESTIONS), *((name, module) for _, name, module in VALUES)]
    for name, module in named:
        assert all(part in (replay / module).read_text("utf-8") for part in name.split("."))


def test_inferences_are_named_once_in_the_order_of_the_table() -> None:
    both = joined((Inferred.READ_BACK_WAS_REACHED,), (), (Inferred.ISR_COVERS_HW, Inferred.READ_BACK_WAS_REACHED))
    assert both == (Inferred.ISR_COVERS_HW, Inferred.READ_BACK_WAS_REACHED)
    assert joined() == joined(()) == ()


def test_the_worked_case_is_judged_as_the_page_says(sample_traces: Path, tmp_path: Path) -> None:
    case = tmp_path / "kip101"
    shutil.copytree(sample_traces / "kip101-0.10.2.2", case)
    (partition,) = scan([str(case)]).partitions
    (lost,) = partition.judgements["committed-data-lost"].findings
    assert (lost.offsets, lost.rests_on) == (((50, 80),), (Inferred.READ_BACK_WAS_REACHED,))
    removed = partition.judgements["truncation-below-committed"].findings
    assert {finding.replicas: finding.rests_on for finding in removed} == {
        (2,): (Inferred.READ_BACK_WAS_REACHED,),  # a line of its own states the log end offset before
        (3,): (Inferred.ISR_COVERS_HW, Inferred.READ_BACK_WAS_REACHED),
    }
    shutil.rmtree(case / "broker-1")
    (partition,) = scan([str(case)]).partitions
    assert partition.judgements["committed-data-lost"].verdict is Verdict.UNKNOWN
    assert max(s.high_watermark for s in partition.history.statements if s.epoch == 0) == 50


@pytest.mark.parametrize(
    ("by", "why"),
    [
        ((), []),  # a line of its own states the least that its log had
        ((Inferred.ISR_COVERS_HW, Inferred.ALONE_COMMITS), ["it was in the ISR when that high watermark was reached"]),
        ((Inferred.HW_WITHIN_LOG,), ["it had stated that high watermark"]),
        ((Inferred.SCRAPED_LOG_END,), ["its exporter of metrics printed that log end offset"]),
        ((Inferred.LEADER_HAS_WHAT_WAS_FETCHED,), ["broker 3 had fetched that from it"]),
    ],
)
def test_why_a_replica_held_what_it_lost_is_said_as_it_was_inferred(by: tuple[Inferred, ...], why: list[str]) -> None:
    log = Lineage(((0, 0),))
    shortened = ShortenedLog(1, 0, Interval(80, by=by), 50, log, None, (), fetched_by=3)
    assert [*held_texts(History(PartitionFacts("orders", 0)), shortened)] == [
        f"broker 1 held everything below 80: {text}" for text in why
    ]


def test_each_inference_about_a_log_that_was_shortened_has_words() -> None:
    about = [one.id for one in INFERENCES if one.function.startswith(("truncations.", "roles."))]
    assert len(about) >= 4
    history = History(PartitionFacts("orders", 0))
    for one in about:
        assert [*held_texts(history, ShortenedLog(1, 0, Interval(80, by=(one,)), 50, Lineage(), None, ()))]


@pytest.mark.parametrize(
    ("archive", "expected"),
    [
        ("fates-1.1.1", Inferred.LEADER_HAS_WHAT_WAS_FETCHED),
        ("fates-1.1.1", Inferred.FOLLOWER_HW_IS_LEADERS),
        ("chaos4-2.0.1", Inferred.ALONE_COMMITS),
    ],
)
def test_findings_of_recorded_clusters_name_what_they_rest_on(archive: str, expected: Inferred) -> None:
    findings = scan([str(DATA / f"{archive}.tar.xz")]).findings
    assert any(expected in finding.rests_on for finding in findings)


@pytest.mark.parametrize(
    ("archive", "expected"),
    [
        ("upgrade-0.10.2.2", Inferred.ANSWERED_IN_NEXT_EPOCH),
        ("rollgap-0.11.0.3", Inferred.RECORDS_OF_LATER_EPOCH),
    ],
)
def test_high_watermarks_of_recorded_clusters_name_why_they_are_of_a_later_epoch(
    archive: str, expected: Inferred
) -> None:
    """What such a high watermark proves is about the log of the later epoch, as its number says."""
    partitions = scan([str(DATA / f"{archive}.tar.xz")]).partitions
    found = [(p, s) for p in partitions for s in p.history.statements if expected in s.by]
    assert found
    for partition, statement in found:
        epoch = partition.history.epochs.get(statement.epoch)
        assert epoch is None or statement.lineage == epoch.lineage


def test_a_log_start_that_was_followed_to_is_named_as_inferred(sample_traces: Path) -> None:
    partitions = scan([str(sample_traces / "traps-0.10.2.2")]).partitions
    starts = [epoch.begins for p in partitions for epoch in p.history.epochs.values() if epoch.begins.by]
    assert starts
    assert {start.by for start in starts} == {(Inferred.FOLLOWED_UNTIL_ELECTED,)}
    assert all(start.implied and start.exact is not None for start in starts)
