"""The last leader came back with less, and nobody has led without the records yet: what most can still be saved of."""

from __future__ import annotations

import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.committed.proof import Loss
from forensics.replay.committed.short_current_leader import left_with_less
from forensics.replay.history import History, ShortenedLog
from forensics.result import Partition
from forensics.rules import committed_data_lost
from forensics.rules.finding import Verdict
from tests.incident import Incident, wishes

DATA = Path(__file__).parents[1] / "cases" / "data"
LOSS = "committed-data-lost"


@pytest.fixture(scope="module")
def wiped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A leader alone in the ISR of two topics is stopped and started on an empty disk; its follower, dead since, has a
    part of one topic and all of the other; a third topic went on with another leader.
    """
    folder = tmp_path_factory.mktemp("wiped")
    with tarfile.open(DATA / "wipelead-3.9.1.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "wipelead-3.9.1"


def judged(folder: Path) -> dict[str, Partition]:
    return {partition.history.topic: partition for partition in scan([str(folder)]).partitions}


def test_what_the_leader_lost_and_nobody_has_is_lost_before_anybody_leads(wiped: Path) -> None:
    (loss,) = judged(wiped)["payments.eu-west_1"].judgements[LOSS].findings
    assert (loss.offsets, loss.records, loss.replicas, loss.cause) == (((0, 52),), (52, 52), (2,), "wiped-disk")
    assert "broker 1, the leader, the only replica in the ISR, restarted with log end offset 0" in loss.summary
    assert loss.summary.endswith("Broker 2 still has only offsets 0 to 32 of them.")
    assert (loss.keep or "").endswith("the only one with offsets 0 to 32 of the lost records")
    assert loss.next_steps[0].text.startswith("stop broker 1")
    assert loss.do_not[0] == "start broker 2 while broker 1 runs"


def test_what_no_copy_has_any_of_is_lost_too(wiped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def in_no_copy(history: History) -> tuple[Loss, ShortenedLog] | None:
        found = left_with_less(history)
        return (replace(found[0], holders={}), found[1]) if found is not None else None

    monkeypatch.setattr(committed_data_lost, "left_with_less", in_no_copy)
    (loss,) = judged(wiped)["payments.eu-west_1"].judgements[LOSS].findings
    assert loss.offsets == ((0, 52),)
    assert not any(text.startswith("start ") for text in loss.do_not)


def test_what_another_copy_has_in_full_is_not_lost_yet(wiped: Path) -> None:
    """How far the leader had gone beyond it is open; what to keep, and what would destroy it, is told."""
    judgements = judged(wiped)["audit_log"].judgements
    assert (judgements[LOSS].verdict, judgements[LOSS].findings) == (Verdict.UNKNOWN, ())
    (shorter,) = judgements["leo-regression"].findings
    assert shorter.keep == "broker 2's copy of audit_log-0"
    assert "start broker 2 while it leads" in shorter.do_not[0]


def test_what_the_next_leader_has_is_not_lost(wiped: Path) -> None:
    assert judged(wiped)["orders-eu"].judgements[LOSS].verdict is Verdict.CLEAN


def test_a_replica_whose_files_are_not_at_hand_may_have_it(wiped: Path, tmp_path: Path) -> None:
    shutil.copytree(wiped, tmp_path / "part")
    shutil.rmtree(tmp_path / "part" / "broker-2" / "data")
    judgement = judged(tmp_path / "part")["payments.eu-west_1"].judgements[LOSS]
    assert judgement.verdict is Verdict.UNKNOWN
    (suspected,) = judgement.findings
    assert (suspected.confidence, suspected.offsets) == ("suspected", ((0, 33),))
    assert any("not in the evidence, still has them" in other for other in suspected.uncertain)
    assert wishes(judgement)[0].endswith(
        "another copy has offsets 0 to 51, which broker 1, the leader, lacked after its restart"
    )


def cut_short(folder: Path, *brokers: int) -> Incident:
    """Copies of some brokers lack the last batch, below the high watermark in the checkpoint beside it."""
    incident = Incident(folder)
    incident.begins(30)
    for number in (1, 2, 3):
        incident[number].segment([(0, 19, 0)] if number in brokers else [(0, 19, 0), (20, 29, 0)])
    return incident


def test_committed_records_that_no_copy_has(tmp_path: Path) -> None:
    """Lost, unless the files were copied while their brokers ran: a checkpoint may be newer than the segment then."""
    incident = cut_short(tmp_path, 1, 2, 3)
    assert (incident.verdict(LOSS), incident.findings(LOSS)) == ("unknown", [])
    assert "no copy has the committed offsets 20 to 29" in incident.missing(LOSS)[0]


def test_committed_records_that_one_copy_has(tmp_path: Path) -> None:
    assert cut_short(tmp_path, 1, 2).verdict(LOSS) == "clean"


def test_a_high_watermark_that_a_later_log_never_reached_is_of_the_log_before(tmp_path: Path) -> None:
    """Fetches carry no epoch (0.11), so broker 2 might have learned of leader 1's next epoch; but that ended below."""
    with tarfile.open(DATA / "wipelead-0.11.0.3.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    for topic in ("payments.eu-west_1", "audit_log"):
        (loss,) = judged(tmp_path)[topic].judgements[LOSS].findings
        assert (loss.offsets, loss.replicas, loss.cause) == (((0, 33),), (2,), "wiped-disk")
        assert loss.records == (33, None)  # how far the leader went alone is not known


def test_a_replica_of_which_no_line_is_at_hand_may_have_held_it_elsewhere(wiped: Path, tmp_path: Path) -> None:
    """Its files hold a part. Whether it had the rest, in which role and until when, its lines alone say."""
    shutil.copytree(wiped, tmp_path / "part")
    shutil.rmtree(tmp_path / "part" / "broker-2" / "logs")
    judgement = judged(tmp_path / "part")["payments.eu-west_1"].judgements[LOSS]
    assert (judgement.verdict, judgement.findings) == (Verdict.UNKNOWN, ())
    first = wishes(judgement)[0]
    assert first.endswith("another copy has offsets 0 to 51, which broker 1, the leader, lacked after its restart")
    assert "the complete logs of broker 2" in first
