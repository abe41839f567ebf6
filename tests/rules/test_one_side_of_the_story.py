"""A rule says clean only where it saw what it judges; from one copy, or one broker's word, it says unknown."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.history import Epoch, History, Ref
from forensics.rules import unclean_election
from forensics.rules.finding import Judgement, Verdict


def judged(*paths: Path, rule: str) -> Judgement:
    found = scan([str(path) for path in paths]).partitions
    return next(p for p in found if p.history.name == "orders-0" and not p.history.incarnation).judgements[rule]


@pytest.mark.parametrize("incident", ["kip101-0.10.2.2"])
@pytest.mark.parametrize("broker", [1, 2, 3])
def test_one_copy_does_not_tell_whether_copies_differ(incident: str, broker: int, sample_traces: Path) -> None:
    folder = sample_traces / incident / f"broker-{broker}" / "data"
    judgement = judged(folder, rule="replica-divergence")
    assert judgement.verdict is Verdict.UNKNOWN
    assert "another replica" in judgement.missing[0]
    assert judged(folder, rule="checkpoint-contradiction").verdict is Verdict.CLEAN


@pytest.mark.parametrize(
    ("rule", "wish"),
    [("checkpoint-contradiction", "recovery-point-offset-checkpoint"), ("stale-directory", "as a whole")],
)
def test_a_partition_folder_alone_does_not_tell_of_the_files_around_it(
    rule: str, wish: str, sample_traces: Path
) -> None:
    judgement = judged(sample_traces / "unclean-3.9.1" / "broker-1" / "data" / "orders-0", rule=rule)
    assert judgement.verdict is Verdict.UNKNOWN
    assert wish in judgement.missing[0]


def test_who_led_too_is_not_known_without_the_roles_of_every_replica(sample_traces: Path, tmp_path: Path) -> None:
    """The copy of the second leader is there, and its lines are not."""
    shutil.copytree(sample_traces / "zkback-2.8.2", tmp_path / "evidence")
    assert judged(tmp_path, rule="two-leaders-one-epoch").verdict is Verdict.VIOLATED
    shutil.rmtree(tmp_path / "evidence" / "broker-2" / "logs")
    judgement = judged(tmp_path, rule="two-leaders-one-epoch")
    assert judgement.verdict is Verdict.UNKNOWN
    assert any("state-change.log of broker" in wish and "2:" in wish for wish in judgement.missing)


def test_an_election_that_nobody_tells_of_is_not_clean(sample_traces: Path) -> None:
    """Broker 1 led alone, then followed in a later epoch: who was elected meanwhile, it does not say."""
    whole = judged(sample_traces / "unclean-3.9.1", rule="unclean-election")
    assert whole.verdict is Verdict.VIOLATED
    judgement = judged(sample_traces / "unclean-0.10.2.2" / "broker-1" / "logs", rule="unclean-election")
    assert judgement.verdict is Verdict.UNKNOWN
    assert any("the controller's log" in wish for wish in judgement.missing)


@pytest.mark.parametrize("seen", [True, False])
def test_an_isr_that_may_have_changed_unseen_makes_no_election_unclean(seen: bool, sample_traces: Path) -> None:
    """Broker 1 was not in the last ISR that is told; had it come back by then, nobody whose lines are there says so."""
    history = History("orders", 0)
    refs = [Ref(row=n) for n in range(4)]
    history.epochs = {
        1: Epoch(1, leader=2, isr=[(frozenset({2, 3}), refs[0])], isr_told=True, isr_elected=True, served=True),
        2: Epoch(2, leader=1, isr=[(frozenset({1}), refs[1])], isr_told=True, isr_elected=True, served=True),
    }
    history.states = {4: (1, frozenset({2, 3})), 6: (2, frozenset({1}))}
    if seen:
        history.states[5] = (1, frozenset({2}))
    verdict = unclean_election.judge(history, scan([str(sample_traces / "crashscene-1.1.1")]).case).verdict
    assert verdict is (Verdict.VIOLATED if seen else Verdict.UNKNOWN)
