"""The samples, finding by finding: rule, replicas, offsets, severity, confidence, cause and the copy to keep."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from forensics.result import Result
from forensics.rules.finding import Finding, Severity

Scanned = Callable[[Path], Result]


@dataclass(frozen=True)
class Expected:
    """What a finding must say.

    ``keep`` is the broker whose copy it names, None where none is left; a cause of None is not compared.
    """

    rule: str
    replicas: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    severity: str
    confidence: str
    cause: str | None
    keep: int | None = None
    before: tuple[tuple[str, int], ...] = ()
    after: tuple[tuple[str, int], ...] = ()


HW, LEO = "high_watermark", "log_end_offset"

FINDINGS: dict[str, tuple[Expected, ...]] = {
    "kip101-0.10.2.2": (
        Expected(
            "committed-data-lost",
            (1,),
            ((50, 80),),
            "critical",
            "inferred",
            "hw-truncation",
            1,
            ((HW, 80),),
            ((LEO, 50),),
        ),
        Expected("replica-divergence", (1, 2, 3), ((50, 80),), "critical", "proven", "hw-truncation", 1),
        Expected(
            "truncation-below-committed",
            (2,),
            ((50, 80),),
            "critical",
            "inferred",
            "hw-truncation",
            None,
            ((LEO, 80),),
            ((LEO, 50),),
        ),
        # no line of this version gives the end of the log it cut: its place in the ISR does
        Expected(
            "truncation-below-committed",
            (3,),
            ((50, 80),),
            "critical",
            "inferred",
            "hw-truncation",
            None,
            ((LEO, 80),),
            ((LEO, 50),),
        ),
    ),
    "kip101-2.8.2-ibp0.10.2": (
        Expected(
            "committed-data-lost",
            (1,),
            ((30, 48),),
            "critical",
            "inferred",
            "hw-truncation",
            1,
            ((HW, 48),),
            ((LEO, 30),),
        ),
        Expected("replica-divergence", (1, 2, 3), ((30, 48),), "critical", "proven", "hw-truncation", 1),
        Expected(
            "truncation-below-committed",
            (2,),
            ((30, 48),),
            "critical",
            "inferred",
            "hw-truncation",
            None,
            ((LEO, 48),),
            ((LEO, 30),),
        ),
        Expected(
            "truncation-below-committed",
            (3,),
            ((30, 48),),
            "critical",
            "inferred",
            "hw-truncation",
            None,
            ((LEO, 48),),
            ((LEO, 30),),
        ),
    ),
    "powerloss-0.11.0.3": (
        Expected(
            "committed-data-lost",
            (),
            ((14, 21),),
            "critical",
            "inferred",
            "unflushed-tail",
            None,
            ((HW, 21),),
            ((LEO, 14),),
        ),
        Expected(
            "truncation-below-committed",
            (1,),
            ((14, 21),),
            "critical",
            "inferred",
            "unflushed-tail",
            None,
            ((LEO, 21),),
            ((LEO, 14),),
        ),
        Expected(
            "leo-regression", (2,), ((14, 21),), "error", "inferred", "unflushed-tail", None, ((LEO, 21),), ((LEO, 14),)
        ),
    ),
    "unclean-3.9.1": (
        Expected(
            "committed-data-lost",
            (),
            ((30, 50),),
            "critical",
            "inferred",
            "unclean-election",
            None,
            ((HW, 50),),
            ((LEO, 30),),
        ),
        Expected(
            "truncation-below-committed",
            (1,),
            ((30, 50),),
            "critical",
            "inferred",
            "unclean-election",
            None,
            ((LEO, 50),),
            ((LEO, 30),),
        ),
        Expected("unclean-election", (2,), (), "error", "proven", "unclean-election"),
    ),
    "acks1-2.8.2": (
        Expected(
            "uncommitted-truncation",
            (1,),
            ((19, 25),),
            "info",
            "inferred",
            "acks1-failover",
            None,
            ((LEO, 25),),
            ((LEO, 19),),
        ),
    ),
    "bitflip-1.1.1": (Expected("segment-damage", (3,), (), "error", "proven", "unknown", 1),),
    "epochgarbled-2.8.2": (Expected("epoch-divergence", (2,), (), "error", "proven", "damaged-epoch-file"),),
    "frozenctl-2.8.2": (Expected("hw-above-isr-member", (1, 2), ((107, 700),), "warning", "inferred", "unknown"),),
    "hwback-4.1.1": (
        Expected("hw-regression", (1,), (), "error", "proven", "manual-edit", None, ((HW, 25),), ((HW, 10),)),
    ),
    # ZooKeeper was put back: epochs do not tell which log the partition lost, but broker 2 followed broker 1 later
    "zkback-2.8.2": (
        Expected("committed-data-lost", (2,), ((10, 15),), "critical", "inferred", "epochs-put-back", 2, ((HW, 15),)),
        Expected("two-leaders-one-epoch", (1, 2), (), "critical", "inferred", "epochs-put-back", 1),
        Expected("replica-divergence", (1, 2), ((10, 15),), "critical", "proven", "epochs-put-back", 1),
        Expected("replica-divergence", (2, 3), ((10, 14),), "critical", "proven", "epochs-put-back", 2),
        Expected("epoch-divergence", (1, 2), ((10, 15),), "error", "proven", "epochs-put-back"),
        Expected("epoch-divergence", (2, 3), ((10, 14),), "error", "proven", "epochs-put-back"),
    ),
    "oldlog-2.8.2": (
        Expected(
            "leo-regression",
            (2,),
            ((18, 32),),
            "warning",
            "inferred",
            "stale-directory",
            None,
            ((LEO, 32),),
            ((LEO, 18),),
        ),
    ),
    "emptydisk-3.9.1": (
        Expected(
            "committed-data-lost", (), ((0, 33),), "critical", "inferred", "wiped-disk", None, ((HW, 33),), ((LEO, 0),)
        ),
        Expected(
            "truncation-below-committed",
            (2,),
            ((0, 33),),
            "critical",
            "inferred",
            "wiped-disk",
            None,
            ((LEO, 33),),
            ((LEO, 0),),
        ),
        Expected(
            "leo-regression", (1,), ((0, 33),), "error", "inferred", "wiped-disk", None, ((LEO, 33),), ((LEO, 0),)
        ),
    ),
    "oldcopies-3.9.1": (
        Expected(
            "hw-above-leo",
            (3,),
            ((20, 45),),
            "error",
            "proven",
            "stale-directory",
            1,
            ((HW, 45),),
            ((LEO, 20),),
        ),
        Expected(
            "checkpoint-contradiction",
            (3,),
            (),
            "warning",
            "proven",
            "stale-directory",
            None,
            (("recovery_point", 45),),
            ((LEO, 20),),
        ),
        Expected("stale-directory", (2,), (), "warning", "proven", "stale-directory"),
    ),
    "unclean-0.10.2.2": (
        Expected(
            "committed-data-lost",
            (1,),
            ((42, 70),),
            "critical",
            "inferred",
            "unclean-election",
            1,
            ((HW, 70),),
            ((LEO, 42),),
        ),
        Expected("replica-divergence", (1, 2, 3), ((42, 56),), "critical", "proven", None, 1),
        Expected(
            "truncation-below-committed",
            (1,),
            ((56, 70),),
            "critical",
            "inferred",
            "unclean-election",
            None,
            ((LEO, 70),),
            ((LEO, 56),),
        ),
        # the controller warns before the election, in a line of its own that names no epoch
        Expected("unclean-election", (2,), (), "error", "proven", "unclean-election"),
    ),
    "prematureisr-1.1.1": (
        Expected(
            "committed-data-lost",
            (),
            ((51, 81),),
            "critical",
            "inferred",
            "lagging-isr-member",
            None,
            ((HW, 81),),
            ((LEO, 51),),
        ),
        *(
            Expected(
                "truncation-below-committed",
                (broker,),
                ((51, 81),),
                "critical",
                # of broker 4 no line gives the end of the log it cut: its place in the ISR does
                "inferred",
                "lagging-isr-member",
                None,
                ((LEO, 81),),
                ((LEO, 51),),
            )
            for broker in (1, 2, 4)
        ),
    ),
    "crashscene-1.1.1": (
        # no line tells that broker 2 had stopped when its files were copied
        Expected(
            "hw-above-leo", (2,), ((14, 21),), "error", "inferred", "unflushed-tail", 1, ((HW, 21),), ((LEO, 14),)
        ),
    ),
    # 1.1 at stock level does not print how long the tail was that the old leader cut: one offset at least
    "zombie-1.1.1": (
        Expected("uncommitted-truncation", (1,), ((26, 27),), "info", "inferred", "acks1-failover", after=((LEO, 26),)),
    ),
    "flap-3.9.1": (),
    "traps-0.10.2.2": (),
    "txn-4.1.1": (),
    "elr-4.1.1": (),
    "reassigned-3.9.1": (),
    "dirfail-3.9.1": (),
    "dirlead-2.8.2": (
        Expected(
            "committed-data-lost",
            (),
            ((20, 30),),
            "critical",
            "inferred",
            "unclean-election",
            "1",
            ((HW, 30),),
            ((LEO, 20),),
        ),
        Expected("leo-regression", (1,), ((0, 30),), "error", "proven", "wiped-disk", None, ((LEO, 30),), ((LEO, 0),)),
        Expected("unclean-election", (2,), (), "error", "inferred", "unclean-election"),
    ),
    "rotated-2.8.2": (),  # what happened is not in the evidence any more
}


def of(finding: Finding) -> tuple[object, ...]:
    return (finding.rule, finding.replicas, finding.offsets, finding.severity.value, finding.confidence.value)


@pytest.mark.parametrize("name", FINDINGS)
def test_findings_are_these_and_no_others(name: str, sample_traces: Path, scanned: Scanned) -> None:
    result = scanned(sample_traces / name)
    found = {of(f): f for f in result.findings if f.rule != "evidence-gap"}
    expected = {(e.rule, e.replicas, e.offsets, e.severity, e.confidence): e for e in FINDINGS[name]}
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    for key, want in expected.items():
        finding = found[key]
        if want.cause is not None:
            assert finding.cause == want.cause
        if want.before:
            assert finding.before == dict(want.before)
        assert finding.after == dict(want.after) or not want.after
        if want.keep is None:
            assert finding.keep is None
        else:
            assert finding.keep is not None
            assert re.search(rf"\bbrokers? {want.keep}\b", finding.keep)


def test_a_fork_after_an_unclean_election_is_blamed_on_it(sample_traces: Path, scanned: Scanned) -> None:
    result = scanned(sample_traces / "unclean-0.10.2.2")
    (finding,) = [f for f in result.findings if f.rule == "replica-divergence"]
    assert finding.cause == "unclean-election"


def test_every_sample_is_in_the_table(sample_traces: Path) -> None:
    assert {truth.parent.name for truth in sample_traces.glob("*/truth.json")} == set(FINDINGS)


def test_worst_findings_come_first(trace: Path, scanned: Scanned) -> None:
    ranks = [f.severity.rank for f in scanned(trace).findings]
    assert ranks == sorted(ranks)


def test_fingerprints_tell_findings_apart(trace: Path, scanned: Scanned) -> None:
    prints = [f.fingerprint for f in scanned(trace).findings]
    assert len(set(prints)) == len(prints)


def test_what_is_loud_says_what_to_do_next(trace: Path, scanned: Scanned) -> None:
    loud = [f for f in scanned(trace).findings if f.severity in (Severity.CRITICAL, Severity.ERROR)]
    assert [f.summary for f in loud if not f.next_steps] == []


def test_an_advice_to_keep_a_copy_says_what_not_to_do(trace: Path, scanned: Scanned) -> None:
    for finding in scanned(trace).findings:
        if finding.rule == "committed-data-lost":
            assert finding.next_steps
            assert finding.do_not


def test_the_copy_to_keep_holds_what_was_lost(sample_traces: Path, scanned: Scanned) -> None:
    """Broker 1's segment has a batch at each end of the loss that brokers 2 and 3 do not have."""
    result = scanned(sample_traces / "kip101-0.10.2.2")
    batches = result.case.batches
    crcs = {
        broker: {
            offset: batches.filter(
                (batches["topic"] == "orders") & (batches["broker"] == broker) & (batches["base_offset"] == offset)
            )["crc"].to_list()
            for offset in (49, 50, 79)
        }
        for broker in (1, 2, 3)
    }
    assert crcs[2] == crcs[3]
    assert crcs[1][49] == crcs[2][49] != []
    assert crcs[1][50] != crcs[2][50]
    assert crcs[1][79] != crcs[2][79]


def test_an_earlier_life_of_a_topic_is_judged_by_itself(sample_traces: Path, scanned: Scanned) -> None:
    result = scanned(sample_traces / "traps-0.10.2.2")
    lives = {p.history.incarnation: p.history for p in result.partitions if p.history.name == "orders-0"}
    assert set(lives) == {0, 1}
    assert lives[0].replicas[1].end == 15
    assert lives[1].epochs[0].leader == 1
    assert lives[0].epochs[0].leader == 2
