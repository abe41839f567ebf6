"""Every rule on a small incident that it must find, and on one that only looks alike."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from forensics.rules import RULES
from tests.incident import Incident
from tests.rules.request_lines import fetch_answered

LOST = [(0, 59, 0), (60, 79, 1)]
"""What all replicas hold after broker 2 began epoch 1 at 60."""


def led_by_another(incident: Incident) -> None:
    """Broker 1 had 100 records, and broker 2 takes over at 60."""
    incident.begins(100)
    incident.elects(20, 1, 2, [2, 3])
    incident[2].leads(20, 1, 60, 60, [2, 3])
    incident[3].follows(20, 1, 2, 60, 60)


def failover(incident: Incident, *, returned_with: int) -> None:
    """Broker 2 takes over at 60; broker 1 returns with a high watermark and cuts its log to 60."""
    led_by_another(incident)
    incident[1].starts(40).loads(40, 100).follows(41, 1, 2, 100, returned_with).cuts(41, 60)
    for number in (1, 2, 3):
        incident[number].segment(LOST)
        incident[number].checkpoint(80).epochs((0, 0), (1, 60))


def lost(incident: Incident) -> None:
    failover(incident, returned_with=100)


def uncommitted_tail(incident: Incident) -> None:
    failover(incident, returned_with=60)


def fork(incident: Incident, *, committed: int, since: int = 0) -> None:
    """Broker 1 has other records at [60, 100) than the others, which have them of a leader epoch."""
    incident[1].segment([(0, 59, 0), (60, 99, 0)], salt=b"old")
    for number in (2, 3):
        incident[number].segment([(0, 59, 0)], salt=b"old")
        path = incident[number].segment([(60, 99, since)], salt=b"new")
        tail = path.read_bytes()
        incident[number].segment([(0, 59, 0)], salt=b"old")
        path.write_bytes(path.read_bytes() + tail)
    for number in (1, 2, 3):
        incident[number].checkpoint(committed)


def forked(incident: Incident) -> None:
    incident.begins(100)
    fork(incident, committed=100)


def different_above_the_high_watermark(incident: Incident) -> None:
    led_by_another(incident)
    incident[1].starts(40).loads(40, 100)
    fork(incident, committed=60, since=1)


def refuted_epochs(incident: Incident) -> None:
    incident.begins(100)
    incident[2].epochs((0, 0), (1, 50))


def epoch_without_a_record(incident: Incident) -> None:
    incident.begins(100)
    incident[2].epochs((0, 0), (1, 100))


def two_leaders(incident: Incident) -> None:
    incident.begins(100)
    incident[1].leads(9, 1, 100, 100, [1, 3])
    incident[2].leads(9, 1, 100, 100, [2])


def old_leader_that_does_not_know(incident: Incident) -> None:
    incident.begins(100)
    incident.elects(20, 1, 2, [1, 2, 3])
    incident[2].leads(20, 1, 100, 100, [1, 2, 3])
    incident[3].follows(20, 1, 2, 100, 100)
    incident[1].shrinks(25, "1,2,3", "1", 100, 104, "(brokerId: 2, endOffset: 100) (brokerId: 3, endOffset: 100)")
    incident[1].follows(30, 1, 2, 104, 100).cuts(30, 100)


def checkpointed(name: str, value: int) -> Callable[[Incident], None]:
    def make(incident: Incident) -> None:
        incident.begins(100)
        incident[2].checkpoint(value, name)

    return make


def reloaded(end: int) -> Callable[[Incident], None]:
    def make(incident: Incident) -> None:
        incident.begins(100)
        incident.elects(15, 1, 1, [1, 3])
        incident[1].leads(15, 1, 100, 100, [1, 3])
        incident[3].follows(15, 1, 1, 100, 100)
        incident[2].starts(20).loads(20, end).follows(21, 1, 1, end, 0)
        incident[2].segment([(0, end - 1, 0)])
        incident[2].checkpoint(end)

    return make


def shorter_after_a_truncation(incident: Incident) -> None:
    incident.begins(100)
    incident.elects(20, 1, 2, [1, 2, 3])
    incident[2].leads(20, 1, 100, 100, [1, 2, 3])
    incident[1].follows(20, 1, 2, 110, 100).cuts(20, 100)
    incident[1].starts(40).loads(40, 100).follows(41, 1, 2, 100, 100)
    incident[3].follows(20, 1, 2, 100, 100)


NO_CHECKPOINT = (
    "INFO [Partition orders-0 broker=2] No checkpointed highwatermark is found for partition orders-0 "
    "(kafka.cluster.Partition)"
)


def checkpoint_gone(incident: Incident) -> None:
    incident.begins(100)
    incident.elects(50, 1, 1, [1, 2, 3])
    incident[1].leads(50, 1, 100, 100, [1, 2, 3])
    node = incident[2].follows(50, 1, 1, 100, 100).starts(60).loads(60, 100)
    node.says(61, NO_CHECKPOINT)
    node.follows(61.5, 1, 1, 100, 0)


def new_replica_without_checkpoint(incident: Incident) -> None:
    incident.begins(100)
    incident[2].says(1.5, NO_CHECKPOINT)


def shortened(*, high_watermark: int) -> Callable[[Incident], None]:
    def make(incident: Incident) -> None:
        incident.begins(100)
        incident[1].shrinks(5, "1,2,3", "1,2", high_watermark, 100, "(brokerId: 3, endOffset: 90)")

    return make


def elected_from(isr: str) -> Callable[[Incident], None]:
    """Broker 2 leads alone after broker 1 had narrowed the ISR."""

    def make(incident: Incident) -> None:
        incident.begins(100)
        out = "".join(f"(brokerId: {n}, endOffset: 100)" for n in (2, 3) if str(n) not in isr)
        incident[1].shrinks(5, "1,2,3", isr, 100, 100, out)
        incident.elects(20, 1, 2, [2])
        incident[2].leads(20, 1, 100, 100, [2])

    return make


def flipped(incident: Incident) -> None:
    incident.begins(100)
    path = incident[2].segment([(0, 29, 0), (30, 59, 0), (60, 99, 0)])
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def torn(incident: Incident) -> None:
    incident.begins(100)
    path = incident[2].segment([(0, 29, 0), (30, 59, 0), (60, 99, 0), (100, 109, 0)])
    path.write_bytes(path.read_bytes()[:-5])


def second_directory(name: str) -> Callable[[Incident], None]:
    def make(incident: Incident) -> None:
        incident.begins(100)
        node = incident[2]
        other = node.segment([(0, 19, 0)], directory="data2")
        other.parent.rename(other.parent.parent / name)
        shutil.copy(node.data / "meta.properties", node.folder / "data2" / "meta.properties")

    return make


def truncation_without_effect(incident: Incident) -> None:
    incident.begins(100)
    incident.elects(20, 1, 2, [1, 2, 3])
    incident[2].leads(20, 1, 100, 100, [1, 2, 3])
    incident[3].follows(20, 1, 2, 100, 100)
    incident[1].follows(20, 1, 2, 100, 100)
    incident[1].says(
        20,
        "INFO [Log partition=orders-0, dir=/d] Truncating to 100 has no effect as the largest offset in the log is 99 "
        "(kafka.log.Log)",
    )


def broker_not_handed_in(incident: Incident) -> None:
    incident.begins(100)
    shutil.rmtree(incident[3].folder)


def complete(incident: Incident) -> None:
    incident.begins(100)


@dataclass(frozen=True)
class Pair:
    """An incident that a rule must find, with what it must say of it, and a look-alike that it must not."""

    hit: Callable[[Incident], None]
    replicas: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    severity: str
    near_miss: Callable[[Incident], None]


def transactional(last_stable: int) -> Callable[[Incident], None]:
    """A request log in which the leader answers a transactional consumer: high watermark 100."""

    def tell(incident: Incident) -> None:
        complete(incident)
        incident[1].says(5, fetch_answered(100, last_stable), log="kafka-request")

    return tell


PAIRS: dict[str, Pair] = {
    "committed-data-lost": Pair(lost, (), ((60, 100),), "critical", uncommitted_tail),
    "replica-divergence": Pair(forked, (1, 2, 3), ((60, 100),), "critical", different_above_the_high_watermark),
    "truncation-below-committed": Pair(lost, (1,), ((60, 100),), "critical", uncommitted_tail),
    "epoch-divergence": Pair(refuted_epochs, (2,), (), "error", epoch_without_a_record),
    "two-leaders-one-epoch": Pair(two_leaders, (1, 2), (), "critical", old_leader_that_does_not_know),
    "hw-above-leo": Pair(
        checkpointed("replication", 120), (2,), ((100, 120),), "error", checkpointed("replication", 100)
    ),
    "leo-regression": Pair(reloaded(60), (2,), ((60, 100),), "error", shorter_after_a_truncation),
    "hw-regression": Pair(checkpoint_gone, (2,), (), "error", new_replica_without_checkpoint),
    "lso-above-hw": Pair(transactional(104), (1,), ((100, 104),), "error", transactional(70)),
    "hw-above-isr-member": Pair(
        shortened(high_watermark=95), (1, 3), ((90, 95),), "warning", shortened(high_watermark=90)
    ),
    "unclean-election": Pair(elected_from("1"), (2,), (), "error", elected_from("1,2")),
    "checkpoint-contradiction": Pair(
        checkpointed("recovery-point", 101), (2,), (), "warning", checkpointed("recovery-point", 100)
    ),
    "segment-damage": Pair(flipped, (2,), (), "error", torn),
    "stale-directory": Pair(
        second_directory("orders-0"), (2,), (), "warning", second_directory("orders-0.ab12-delete")
    ),
    "uncommitted-truncation": Pair(uncommitted_tail, (1,), ((60, 100),), "info", truncation_without_effect),
    "evidence-gap": Pair(broker_not_handed_in, (1, 2, 3), (), "info", complete),
}


def test_every_rule_has_a_pair() -> None:
    assert set(PAIRS) == {rule.id for rule in RULES}


@pytest.mark.parametrize("rule", PAIRS)
def test_a_violation_is_found(rule: str, tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    PAIRS[rule].hit(incident)
    (finding,) = incident.findings(rule)
    assert (finding.replicas, finding.offsets, finding.severity.value) == (
        PAIRS[rule].replicas,
        PAIRS[rule].offsets,
        PAIRS[rule].severity,
    )
    assert incident.verdict(rule) == "violated"


@pytest.mark.parametrize("rule", PAIRS)
def test_what_only_looks_alike_is_left_alone(rule: str, tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    PAIRS[rule].near_miss(incident)
    assert incident.verdict(rule) == "clean"
    loud = [f for f in incident.findings(rule) if f.severity.value != "info"]
    assert loud == []


def test_a_healthy_cluster_is_clean_by_every_rule(tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    complete(incident)
    partition = incident.partition_of(incident.scan())
    assert {rule: judged.verdict.value for rule, judged in partition.judgements.items()} == {
        r.id: "clean" if r.id != "lso-above-hw" else "not applicable" for r in RULES
    }


@pytest.mark.parametrize(("values", "verdict"), [((40, 70), "clean"), ((70, 40), "unknown")])
def test_a_last_stable_offset_that_falls_in_a_request_log_may_be_of_an_earlier_read(
    values: tuple[int, int], verdict: str, tmp_path: Path
) -> None:
    incident = Incident(tmp_path)
    complete(incident)
    for second, value in enumerate(values, 5):
        incident[1].says(second, fetch_answered(100, value), log="kafka-request")
    assert incident.verdict("lso-above-hw") == verdict


@pytest.mark.parametrize("make", [lost, uncommitted_tail, forked, two_leaders, elected_from("1"), flipped])
def test_names_and_numbers_do_not_matter(make: Callable[[Incident], None], tmp_path: Path) -> None:
    """The same incident on a topic with a name that ends like a partition: the same findings."""
    here, there = Incident(tmp_path / "a"), Incident(tmp_path / "b", partition="orders-0.retry-7-0")
    for incident in (here, there):
        make(incident)
    ours, theirs = here.scan().findings, there.scan().findings
    assert [(f.rule, f.replicas, f.offsets, f.severity) for f in ours] == [
        (f.rule, f.replicas, f.offsets, f.severity) for f in theirs
    ]
    assert {f.topic for f in theirs} == {"orders-0.retry-7"}


# -- how many records a loss is, and whose ----------------------------------------------------------------------------


def survived(incident: Incident, **held: object) -> None:
    """The loss, and a fourth broker that was stopped before and still has the records."""
    lost(incident)
    incident[4].segment([(0, 59, 0), (60, 69, 0), (70, 79, 0), (80, 99, 0)], **held)  # type: ignore[arg-type]
    incident[4].checkpoint(100).epochs((0, 0))


def records_of_loss(incident: Incident) -> tuple[tuple[tuple[int, int], ...], object]:
    (finding,) = incident.findings("committed-data-lost")
    return finding.offsets, finding.records


def test_records_of_a_loss_are_those_that_a_copy_holds(tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=4)
    survived(incident, counts={60: 4, 80: 19}, markers={70})
    (finding,) = incident.findings("committed-data-lost")
    assert (finding.offsets, finding.records) == (((60, 100),), (23, 23))
    assert "(40 offsets, 23 records)" in finding.summary


def test_records_that_no_copy_holds_are_as_many_as_their_offsets(tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    lost(incident)
    assert records_of_loss(incident) == (((60, 100),), (40, 40))


@pytest.mark.parametrize("how", ["markers", "compaction", "policy"])
def test_some_offsets_may_have_held_no_record(how: str, tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    if how == "policy":
        text = "INFO Created log for partition orders-0 in /d/orders-0 with properties {cleanup.policy=compact} (k.L)"
        incident[2].says(0, text.replace("k.L", "kafka.log.LogManager"))
    lost(incident)
    if how == "markers":
        incident[3].segment(LOST, markers={60})
    elif how == "compaction":
        incident[3].checkpoint(50, "cleaner")
    (finding,) = incident.findings("committed-data-lost")
    assert (finding.offsets, finding.records) == (((60, 100),), (0, 40))
    assert any("transaction markers" in text for text in finding.uncertain)


@pytest.mark.parametrize(
    ("least", "isr", "said"),
    [
        (None, [1, 2, 3], "The ISR was [1,2,3], and min.insync.replicas is 1 unless it was set"),
        (1, [1], "acks=all gave no protection: min.insync.replicas was 1"),
        (2, [1, 2, 3], "even to producers with acks=all, so they do not send them again. The ISR was [1,2,3], and min"),
        (3, [1, 2], "producers with acks=all are not affected: min.insync.replicas was 3"),
    ],
)
def test_a_loss_says_whether_producers_with_acks_all_are_affected(
    least: int | None, isr: list[int], said: str, tmp_path: Path
) -> None:
    incident = Incident(tmp_path)
    lost(incident)
    for number in (1, 2, 3):
        for name in ("server", "state-change"):
            path = tmp_path / f"broker-{number}" / "logs" / f"{name}.log"
            text = path.read_text()
            if least is not None:
                text = text.replace("properties {}", f"properties {{min.insync.replicas={least}}}")
            path.write_text(text.replace("watermark 0 ISR [1,2,3]", f"watermark 0 ISR [{','.join(map(str, isr))}]"))
    path = tmp_path / "broker-9" / "logs" / "state-change.log"
    members = ", ".join(map(str, isr))
    path.write_text(path.read_text().replace("leaderEpoch=0, isr=List(1, 2, 3)", f"leaderEpoch=0, isr=List({members})"))
    (finding,) = incident.findings("committed-data-lost")
    (fact,) = [fact.text for fact in finding.facts if "acks=all" in fact.text]
    assert said in fact


def test_only_what_is_unreadable_cannot_be_compared(tmp_path: Path) -> None:
    answers = {}
    for name, damage in (("torn", torn), ("flipped", flipped)):
        incident = Incident(tmp_path / name)
        damage(incident)
        for number in (1, 2, 3):
            incident[number].checkpoint(100)
        for number in (1, 3):
            incident[number].segment(
                [(0, 29, 0), (30, 59, 0), (60, 99, 0), (100, 109, 0)][: 4 if name == "torn" else 3]
            )
        answers[name] = incident.verdict("replica-divergence")
    assert answers == {"torn": "clean", "flipped": "unknown"}
