"""What makes a conclusion proven, and what bears a finding."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest

from forensics.engines import local
from forensics.replay.confidence import (
    TESTIMONY,
    Bearer,
    Bearers,
    Confidence,
    Weakness,
    borne,
    weak_points,
    weighed,
    weighed_rows,
)
from forensics.replay.facts.directory import Ref
from forensics.result import Result
from forensics.rules import RULES, rule_of
from forensics.rules.finding import Evidence, Fact, Finding, Rule, Severity, States
from forensics.rules.proof import VALUES, proved, shown

Scanned = Callable[[Path], Result]

SERVER = Bearer(1, "broker-log", "broker-1/server.log", part="server.log")


@pytest.mark.parametrize("weakness", Weakness)
def test_one_weakness_is_enough(weakness: Weakness) -> None:
    sound = dict.fromkeys(Weakness, False)
    assert weighed(weak_points(sound)) is Confidence.PROVEN
    assert weighed(weak_points({**sound, weakness: True})) is not Confidence.PROVEN


def test_rows_are_weighed_as_conclusions_are() -> None:
    weak = [Weakness.OTHERWISE_EXPLAINED, Weakness.END_BOUNDED]
    rows = [(one, two) for one in (True, False, None) for two in (True, False, None)]
    frame = pl.DataFrame(rows, schema=["0", "1"], orient="row")
    found = frame.select(weighed_rows({one: pl.col(str(n)) for n, one in enumerate(weak)})).to_series().to_list()
    assert found == [weighed(w for w, is_so in zip(weak, row, strict=True) if is_so).value for row in rows]


def test_what_something_else_explains_is_suspected_whatever_else_is_weak() -> None:
    assert weighed([Weakness.END_BOUNDED, Weakness.OTHERWISE_EXPLAINED]) is Confidence.SUSPECTED


@pytest.mark.parametrize(
    "other",
    [
        Bearer(2, "broker-log", "broker-2/server.log"),
        Bearer(2, "broker-log", "all.log"),
        Bearer(1, "broker-log", "broker-1/state-change.log", part="state-change.log"),
        Bearer(1, "broker-log", "broker-1/roles", part="state-change.log"),
        Bearer(1, "offset-checkpoint", "broker-1/data/replication-offset-checkpoint"),
        Bearer(1, "segment", "broker-1/data/orders-0/00000000000000000000.log"),
    ],
)
def test_two_files_written_apart_prove(other: Bearer) -> None:
    assert borne([SERVER, other], Bearers.TWO) == ()


@pytest.mark.parametrize(
    "bearers",
    [
        [],
        [SERVER],
        [SERVER, SERVER],
        [SERVER, Bearer(1, "broker-log", "broker-1/server.log.1", part="server.log")],
        [SERVER, Bearer(1, "broker-log", "ticket-47.txt", part="server.log")],
        [SERVER, Bearer(1, "broker-log", "broker-1/server.log", part="state-change.log")],
        [SERVER, Bearer(1, "broker-log", "all.txt", part="state-change.log", beside=("broker-1/server.log",))],
        [SERVER, Bearer(1, "broker-log", "unread.txt")],
        [SERVER, Bearer(None, "broker-log", "lines.txt", part="state-change.log")],
        [Bearer(None, "segment", "00.log"), Bearer(None, "offset-checkpoint", "replication-offset-checkpoint")],
        [Bearer(1, "segment", "0.log"), Bearer(1, "segment", "copy/0.log")],
        [Bearer(1, "broker-log", "ticket!/one", excerpt=True), Bearer(2, "broker-log", "ticket!/two", excerpt=True)],
    ],
)
def test_one_file_alone_does_not_prove_what_happened(bearers: list[Bearer]) -> None:
    """Neither do pieces or copies of one log, files that nobody owns, nor brokers' lines put into one excerpt."""
    assert borne(bearers, Bearers.TWO) == (Weakness.ONE_BEARER,)
    assert borne(bearers, Bearers.ONE) == ()


def test_an_excerpt_beside_a_log_is_a_second_bearer() -> None:
    assert borne([SERVER, Bearer(2, "broker-log", "ticket", excerpt=True)], Bearers.TWO) == ()


@pytest.mark.parametrize("artefact", sorted(TESTIMONY))
def test_a_trace_is_testimony(artefact: str) -> None:
    assert borne([Bearer(1, artefact, "trace.jsonl")], Bearers.TWO) == ()


def test_a_finding_knows_what_bears_it(sample_traces: Path, scanned: Scanned) -> None:
    folder = sample_traces / "kip101-0.10.2.2"
    fork = next(finding for finding in scanned(folder).findings if finding.rule == "replica-divergence")
    file = "data/orders-0/00000000000000000000.log"
    assert fork.bearers == tuple(Bearer(b, "segment", str(folder / f"broker-{b}" / file)) for b in (1, 2, 3))


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.bearers is Bearers.TWO], ids=lambda rule: rule.id)
def test_no_rule_proves_from_one_log(rule: Rule) -> None:
    """And the finding says what would prove it."""
    made = Finding(rule=rule.id, severity=Severity.ERROR, topic="orders", partition=0, summary="")
    line = Evidence("server.log", None, 1, None, "", broker=1, artefact="broker-log", part="server.log")
    one = shown(made, (line, replace(line, line=2)))
    assert (one.confidence, one.unproven) == (Confidence.INFERRED, (f"{rule.id}: {Weakness.ONE_BEARER.value}",))
    assert shown(made, (line, replace(line, path="copy.log"))).confidence is Confidence.INFERRED
    other = replace(line, path="state-change.log", part="state-change.log")
    assert shown(made, (line, other)).confidence is Confidence.PROVEN


def test_what_a_finding_does_not_rest_on_bears_nothing() -> None:
    """What producers had been promised, by the settings of another broker, shows nothing of what was lost."""
    line, setting = Ref(row=1), Ref(row=2)
    facts = (Fact("fenced", refs=(line,)), Fact("", refs=(setting, line)))
    made = Finding("committed-data-lost", Severity.CRITICAL, "orders", 0, "", facts=facts)
    log = Evidence("server.log", None, 1, None, "", broker=1, artefact="broker-log", part="server.log")
    places = {line: log, setting: replace(log, path="other/server.log", broker=2)}
    assert proved(made, places).confidence is Confidence.PROVEN
    context = replace(made, facts=(facts[0], replace(facts[1], states=States.CONTEXT)))
    found = proved(context, places)
    assert (found.weak, [one.bears for one in found.evidence]) == ((Weakness.ONE_BEARER,), [True, False])
    assert found.values == {States.STEP: (line,), States.CONTEXT: (setting, line)}


@pytest.mark.parametrize("states", sorted(VALUES))
def test_each_value_needs_bearers_of_its_own(states: States) -> None:
    """Two files of which each states another value prove nothing: one wrong line makes the finding wrong."""
    one, other = Ref(row=1), Ref(row=2)
    log = Evidence("1/server.log", None, 1, None, "", broker=1, artefact="broker-log", part="server.log")
    places = {one: log, other: replace(log, path="2/server.log", broker=2)}
    facts = (Fact("a high watermark, a truncation, or the like", refs=(one,), states=states), Fact("", refs=(other,)))
    made = Finding("committed-data-lost", Severity.CRITICAL, "orders", 0, "", facts=facts)
    alone = proved(made, places)
    assert (alone.confidence, alone.weak) == (Confidence.INFERRED, (Weakness.ONE_BEARER,))
    assert alone.unproven == (f"committed-data-lost: only broker 1's server.log shows the {states.value}",)
    assert alone.doubts == alone.unproven
    both = proved(replace(made, facts=(*facts, Fact("again", refs=(other,), states=states))), places)
    assert (both.confidence, both.weak) == (Confidence.PROVEN, ())


def test_one_altered_high_watermark_proves_no_loss(sample_traces: Path, tmp_path: Path) -> None:
    """Broker 1 read back 18 in a cluster that lost nothing committed; one digit makes 25 of it."""
    folder = Path(shutil.copytree(sample_traces / "acks1-2.8.2", tmp_path / "case"))
    log = folder / "broker-1" / "logs" / "server.log"
    log.write_text(log.read_text().replace("with initial high watermark 18", "with initial high watermark 25"))
    found = [one for one in local.scan([str(folder)]).findings if one.severity is Severity.CRITICAL]
    assert {one.rule for one in found} == {"committed-data-lost", "truncation-below-committed"}
    assert {one.confidence for one in found} == {Confidence.INFERRED}


def test_a_log_in_pieces_of_other_names_is_one_bearer(sample_traces: Path, tmp_path: Path) -> None:
    """Neither is a line a second bearer that stands in both pieces."""
    folder = tmp_path / "case"
    shutil.copytree(sample_traces / "oldlog-2.8.2", folder)
    log = folder / "broker-2" / "logs" / "server.log"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:145]))
    log.with_name("later.txt").write_text("".join(lines[130:]))
    found = next(one for one in local.scan([str(folder)]).findings if one.rule == "leo-regression")
    assert {Path(bearer.path).name for bearer in found.bearers} == {"server.log", "later.txt"}
    assert found.weak == (Weakness.ONE_BEARER,)
    assert [bearer.beside for bearer in found.bearers] == [(str(log.with_name("later.txt")),), ()]


def test_rules_that_one_file_proves() -> None:
    """Those whose findings are about what a file holds, or cost nothing."""
    assert [rule.id for rule in RULES if rule.bearers is Bearers.ONE] == [
        "checkpoint-contradiction",
        "segment-damage",
        "stale-directory",
        "evidence-gap",
    ]


def test_every_value_of_what_is_proven_has_two_bearers(sample_traces: Path, scanned: Scanned) -> None:
    folders = sorted(path.parent for path in sample_traces.glob("*/truth.json"))
    found = [finding for folder in folders for finding in scanned(folder).findings]
    proven = [one for one in found if one.confidence is Confidence.PROVEN and rule_of(one.rule).bearers is Bearers.TWO]
    assert {one.rule for one in proven} >= {"replica-divergence", "leo-regression"}
    assert all(any(a.apart_from(b) for a, b in combinations(finding.bearers, 2)) for finding in proven)
    losses = [one for one in found if one.rule == "committed-data-lost"]
    assert losses
    assert all(Weakness.ONE_BEARER in one.weak for one in losses)  # one line alone states how far it had committed
