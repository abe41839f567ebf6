"""Every rule on what real brokers left behind: a cluster where it must speak, and one where it only might.

The table names the line or file that makes the second look like the first; a test sees that it is there.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.result import Partition, Result
from forensics.rules import RULES
from forensics.rules.finding import Verdict
from tests.incident import wishes

Scanned = Callable[[Path], Result]


@dataclass(frozen=True)
class Near:
    """A sound partition that looks like a violation.

    Attributes:
        sample: the cluster.
        file: where the look-alike stands.
        words: a pattern of it.
        why: why it is none.
        partition: which.
    """

    sample: str
    file: str
    words: str
    why: str
    partition: str = "orders-0"


HITS = {
    "committed-data-lost": "kip101-0.10.2.2",
    "replica-divergence": "kip101-0.10.2.2",
    "truncation-below-committed": "unclean-3.9.1",
    "epoch-divergence": "epochgarbled-2.8.2",
    "two-leaders-one-epoch": "zkback-2.8.2",
    "hw-above-leo": "crashscene-1.1.1",
    "leo-regression": "powerloss-0.11.0.3",
    "hw-regression": "hwback-4.1.1",
    "hw-above-isr-member": "frozenctl-2.8.2",
    "unclean-election": "unclean-3.9.1",
    "checkpoint-contradiction": "oldcopies-3.9.1",
    "segment-damage": "bitflip-1.1.1",
    "stale-directory": "oldcopies-3.9.1",
    "uncommitted-truncation": "acks1-2.8.2",
    "evidence-gap": "rotated-2.8.2",
}

NEAR = {
    "committed-data-lost": Near(
        "zombie-1.1.1",
        "broker-1/logs/server.log",
        "Truncating to offset 26",
        "what was cut was never committed, though others were committed at these offsets",
    ),
    "replica-divergence": Near(
        "acks1-2.8.2",
        "broker-1/logs/server.log",
        "Truncating to offset 19",
        "they differed until the tail was cut",
    ),
    "truncation-below-committed": Near(
        "acks1-2.8.2",
        "broker-1/logs/server.log",
        "Truncating to offset 19",
        "the leader alone had the tail",
    ),
    "epoch-divergence": Near(
        "unclean-3.9.1",
        "broker-2/data/orders-0/leader-epoch-checkpoint",
        r"\n0 0\n2 30",
        "an epoch without records leaves no entry",
    ),
    "two-leaders-one-epoch": Near(
        "zombie-1.1.1",
        "broker-2/logs/server.log",
        "orders-0 starts at Leader Epoch 1 from offset 26",
        "the two leaders led in two epochs",
    ),
    "hw-above-leo": Near(
        "powerloss-0.11.0.3",
        "broker-1/logs/server.log",
        "Truncating log orders-0 to offset 14",
        "the high watermark fell with the log",
    ),
    "leo-regression": Near(
        "unclean-3.9.1",
        "broker-1/logs/server.log",
        "Truncating to offset 30",
        "a truncation explains the shorter log",
    ),
    "hw-regression": Near(
        "kip101-0.10.2.2",
        "broker-2/logs/server.log",
        "Truncating log orders-0 to offset 50",
        "it fell between epochs, not within one",
    ),
    "hw-above-isr-member": Near(
        "flap-3.9.1",
        "broker-1/logs/server.log",
        "Shrinking ISR from",
        "who left the ISR had all that was committed",
    ),
    "unclean-election": Near(
        "reassigned-3.9.1",
        "broker-100/logs/controller.log",
        "UNCLEAN partition change for orders-0",
        "the last step of a reassignment put the leader into the ISR",
    ),
    "checkpoint-contradiction": Near(
        "crashscene-1.1.1",
        "broker-2/data/replication-offset-checkpoint",
        "orders 0 21",
        "a high watermark above the log's end is another rule's",
    ),
    "segment-damage": Near(
        "traps-0.10.2.2",
        "broker-1/data/cleaner-offset-checkpoint",
        "compacted 0 200",
        "compaction leaves holes",
        "compacted-0",
    ),
    "stale-directory": Near(
        "traps-0.10.2.2",
        "broker-1/logs/server.log",
        r"orders-0.* is scheduled for deletion|Deleting .*orders-0",
        "the folder of a deleted topic is gone or marked",
    ),
    "uncommitted-truncation": Near(
        "bitflip-1.1.1",
        "broker-2/logs/server.log",
        "has no effect as the largest offset",
        "nothing was cut",
    ),
    "evidence-gap": Near(
        "zombie-1.1.1",
        "broker-9/server.properties",
        "broker.id=9",
        "who holds no replica needs no segments",
    ),
}


def partition(result: Result, name: str = "orders-0") -> Partition:
    return next(p for p in result.partitions if p.history.name == name and not p.history.incarnation)


NOT_RECORDED = {"lso-above-hw": "tests/rules/test_hits_and_near_misses.py"}
"""Rules that no recorded cluster has broken, and the test that has hits and near misses of lines and of traces."""


def test_no_rule_is_left_out(repository: Path) -> None:
    every = {rule.id for rule in RULES}
    assert set(NEAR) == set(HITS) == every - NOT_RECORDED.keys()
    assert [name for name, test in NOT_RECORDED.items() if name not in (repository / test).read_text()] == []


@pytest.mark.parametrize("rule", HITS)
def test_it_speaks_of_a_real_incident(rule: str, sample_traces: Path, scanned: Scanned) -> None:
    judgement = partition(scanned(sample_traces / HITS[rule])).judgements[rule]
    assert judgement.findings
    assert judgement.verdict is Verdict.VIOLATED


@pytest.mark.parametrize("rule", NEAR)
def test_it_is_silent_where_it_only_looks_alike(rule: str, sample_traces: Path, scanned: Scanned) -> None:
    near = NEAR[rule]
    assert re.search(near.words, (sample_traces / near.sample / near.file).read_text("utf-8", "replace")), near.words
    judgement = partition(scanned(sample_traces / near.sample), near.partition).judgements[rule]
    assert (judgement.verdict, judgement.findings) == (Verdict.CLEAN, ()), near.why


ROTATED = (
    "committed-data-lost",
    "truncation-below-committed",
    "two-leaders-one-epoch",
    "leo-regression",
    "hw-regression",
    "hw-above-isr-member",
    "unclean-election",
    "uncommitted-truncation",
)
"""Rules whose answer depends on lines that are gone."""


@pytest.mark.parametrize("name", ["orders-0", "payments-0"])
def test_what_rotated_away_is_unknown_and_asked_for(name: str, sample_traces: Path, scanned: Scanned) -> None:
    """One of the two partitions lost data, the other did not; what is left of them is alike."""
    judged = partition(scanned(sample_traces / "rotated-2.8.2"), name).judgements
    verdicts = {rule: judgement.verdict for rule, judgement in judged.items()}
    assert {rule for rule, verdict in verdicts.items() if verdict is Verdict.UNKNOWN} == set(ROTATED)
    assert all(judged[rule].missing for rule in ROTATED)
    (finding,) = [finding for judgement in judged.values() for finding in judgement.findings]
    assert (finding.rule, finding.replicas) == ("evidence-gap", (1, 2, 3))
    for broker in (1, 2, 3):
        assert f"broker {broker}'s earlier server.log and state-change.log" in finding.summary
    assert not any("orders-0" in line for line in incident_lines(sample_traces / "rotated-2.8.2"))


def incident_lines(sample: Path) -> list[str]:
    """Lines of the time in which the records went."""
    actions = json.loads((sample / "truth.json").read_text("utf-8"))["actions"]
    over = next(action["at"] for action in actions if action["what"] == "the incident is over")
    until = datetime.fromtimestamp(over, UTC).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
    logs = [log.read_text("utf-8") for log in sorted(sample.glob("*/logs/*.log*"))]
    return [line for log in logs for line in log.splitlines() if line.startswith("[") and line[1:24] < until]


def test_who_may_lead_without_being_in_the_isr_is_told_by_the_metadata_log(sample_traces: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_traces / "elr-4.1.1", tmp_path / "evidence")
    assert partition(scan([str(tmp_path)])).judgements["unclean-election"].verdict is Verdict.CLEAN
    for folder in tmp_path.glob("*/*/data/__cluster_metadata-0"):
        shutil.rmtree(folder)
    judgement = partition(scan([str(tmp_path)])).judgements["unclean-election"]
    assert judgement.verdict is Verdict.UNKNOWN
    assert "eligible leader replica" in wishes(judgement)[0]


def test_a_broker_that_is_missing_is_missed(sample_traces: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_traces / "zombie-1.1.1", tmp_path / "evidence")
    shutil.rmtree(tmp_path / "evidence" / "broker-2")
    (finding,) = partition(scan([str(tmp_path)])).judgements["evidence-gap"].findings
    assert "broker 2" in finding.summary
    assert [fact.text for fact in finding.facts] == ["broker 2 was leader in epoch 1"]
    assert finding.evidence[0].line is not None


def test_every_finding_of_every_sample_cites_its_proof(sample_traces: Path, scanned: Scanned) -> None:
    for folder in sorted(path.parent for path in sample_traces.glob("*/truth.json")):
        for finding in scanned(folder).findings:
            assert 1 <= len(finding.evidence) <= 20, (folder.name, finding.rule, finding.summary)
            assert all(piece.text for piece in finding.evidence), (folder.name, finding.rule)


def test_who_trails_its_leader_by_a_fetch_holds_the_fork_too(sample_traces: Path, tmp_path: Path) -> None:
    """Its own high watermark may stop short of the fork; that it holds the records of its leader does not change."""
    shutil.copytree(sample_traces / "kip101-0.10.2.2", tmp_path / "evidence")
    (tmp_path / "evidence" / "broker-2" / "data" / "replication-offset-checkpoint").write_text("0\n1\norders 0 50\n")
    (finding,) = partition(scan([str(tmp_path)])).judgements["replica-divergence"].findings
    assert (finding.replicas, finding.offsets) == ((1, 2, 3), ((50, 80),))


@pytest.mark.parametrize("torn", [False, True], ids=["absent", "torn"])
def test_without_a_checkpoint_nobody_knows_what_was_committed(torn: bool, sample_traces: Path, tmp_path: Path) -> None:
    """What would show the loss is not there: neither a hit nor clean."""
    shutil.copytree(sample_traces / HITS["hw-above-leo"], tmp_path, dirs_exist_ok=True)
    file = tmp_path / "broker-2" / "data" / "replication-offset-checkpoint"
    if torn:
        file.write_bytes(file.read_bytes()[:-3])
    else:
        file.unlink()
    (partition,) = scan([str(tmp_path)]).partitions
    judged = partition.judgements["hw-above-leo"]
    assert judged.verdict is Verdict.UNKNOWN
    assert wishes(judged) == ["broker 2's replication-offset-checkpoint from the directory of orders-0"]


def test_damage_names_the_copies_that_are_whole(sample_traces: Path, scanned: Scanned) -> None:
    (finding,) = partition(scanned(sample_traces / "bitflip-1.1.1")).judgements["segment-damage"].findings
    assert finding.keep is not None
    assert "have no damage and reach as far as broker 3's" in finding.keep
    (damaged,) = finding.replicas
    assert finding.next_steps[0].text.startswith(f"copy broker {damaged}'s directory orders-0 to another disk")
    assert finding.do_not[0].startswith(f"let broker {damaged} lead")


def test_a_damaged_batch_is_not_compared_and_so_not_called_the_same(sample_traces: Path, scanned: Scanned) -> None:
    judged = partition(scanned(sample_traces / "bitflip-1.1.1")).judgements["replica-divergence"]
    assert judged.verdict is Verdict.UNKNOWN
    (wish,) = wishes(judged)
    assert wish.startswith(
        "a new copy of broker 3's segments of orders-0: is the damage on its disk, or only in this copy"
    )
    assert "bad CRC: offset 25" in wish


def test_epochs_handed_out_again_are_a_cause(sample_traces: Path, scanned: Scanned) -> None:
    (finding,) = partition(scanned(sample_traces / "zkback-2.8.2")).judgements["two-leaders-one-epoch"].findings
    assert finding.cause == "epochs-put-back"


def test_a_failed_log_directory_may_be_the_only_copy_left(
    scanned: Callable[[Path], Result], sample_traces: Path
) -> None:
    """Broker 1 held the lost records there alone; its new log never had them."""
    judged = partition(scanned(sample_traces / "dirlead-2.8.2"), "orders-0").judgements
    (loss,) = judged["committed-data-lost"].findings
    (shorter,) = judged["leo-regression"].findings
    assert loss.next_steps[0].text == (
        "find the old log directory /srv/kafka/broker-1/data2 of broker 1 (it failed at 14:02:22 UTC): it had all of "
        "these records"
    )
    assert (
        loss.do_not[0]
        == "format, repair or discard the disk of the old log directory /srv/kafka/broker-1/data2 of broker 1"
    )
    assert "its log directory had failed" in shorter.summary


def test_what_a_controller_logs_of_a_failed_directory_is_about_its_broker(
    scanned: Scanned, sample_traces: Path
) -> None:
    """Controller 9 handled the failure of broker 1's directory; its own was sound."""
    problems = scanned(sample_traces / "dirlead-2.8.2").problems
    assert {(one.known.id, one.broker) for one in problems if one.known.of_directory} == {("storage-error", 1)}
