"""Pasted lines of a leader that shrinks the ISR, and of the next leader: was it in the last ISR stated?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pytest

from forensics.replay.confidence import Confidence
from forensics.result import Result
from forensics.rules.finding import Finding
from tests.model.windows import scanned

UNCLEAN, LOSS = "unclean-election", "committed-data-lost"
ID: Final = "Rh8JkKq4RPy1v6cF2f9x0A"


def at(clock: str, text: str, broker: int = 4) -> str:
    return f"kafka-{broker} | [2023-10-09 {clock},000] INFO {text}"


def shrinks(isr: str = "4", *, hw: int = 4800, end: int = 5021, clock: str = "07:00:01") -> str:
    text = (
        f"[Partition ledger-3 broker=4] Shrinking ISR from 4,5,6 to {isr}. Leader: (highWatermark: {hw}, endOffset: "
        f"{end}). Out of sync replicas: (brokerId: 5, endOffset: 4800). (kafka.cluster.Partition)"
    )
    return at(clock, text)


def leads(isr: str = "5", *, epoch: int = 9, start: int = 4800, clock: str = "07:05:01", broker: int = 5) -> str:
    text = (
        f"[Broker id={broker}] Leader ledger-3 starts at leader epoch {epoch} from offset {start} with high watermark "
        f"{start} ISR [{isr}] addingReplicas [] removingReplicas []. Previous leader epoch was {epoch - 1}. "
        "(state.change.logger)"
    )
    return at(clock, text, broker)


def cluster(broker: int, name: str) -> str:
    return at("06:00:00", f"Cluster ID = {name * 21}g (kafka.server.KafkaServer)", broker)


def named(broker: int) -> str:
    text = f"[Broker id={broker}] Creating new partition ledger-3 with topic id {ID}. (state.change.logger)"
    return at("06:30:00", text, broker)


def result(lines: Iterable[str]) -> Result:
    return scanned("\n".join(lines) + "\n")


def suspected(lines: Iterable[str], *rules: str) -> list[Finding]:
    return [one for one in result(lines).findings if one.rule in (rules or (UNCLEAN, LOSS))]


def test_a_leader_that_is_not_in_the_last_isr_stated_is_suspected() -> None:
    loss, election = suspected([shrinks(), leads()])
    assert (loss.rule, loss.offsets, loss.epochs, loss.replicas) == (LOSS, ((4800, 5021),), (9,), (5,))
    assert (election.rule, election.offsets, election.epochs, election.replicas) == (UNCLEAN, (), (9,), (5,))
    assert {loss.confidence, election.confidence} == {Confidence.SUSPECTED}
    assert "the last ISR that broker 4 stated before was [4]" in election.summary
    assert any("grew" in one for one in election.uncertain)
    assert any("start or wipe broker 4, or move" in one for one in loss.do_not)
    assert any("controller.log" in one.text for one in election.next_steps)


def test_the_epoch_in_which_the_isr_was_stated_is_named() -> None:
    _, election = suspected([leads("4,5,6", epoch=8, start=4000, clock="06:59:00", broker=4), shrinks(), leads()])
    assert election.epochs == (8, 9)


def test_the_order_of_one_brokers_lines_counts_without_times() -> None:
    fetcher = (
        "[ReplicaFetcherManager on broker 4] Added fetcher to broker 5 for partitions Map(ledger-3 -> "
        "InitialFetchState(BrokerEndPoint(id=5, host=k5:9092),9,5021)) (kafka.server.ReplicaFetcherManager)"
    )
    (election,) = suspected([shrinks(), at("07:30:00", fetcher)])
    assert (election.rule, election.epochs, election.replicas) == (UNCLEAN, (9,), (5,))
    truncated = "[Log partition=ledger-3, dir=/d] Truncating to offset 4900 (kafka.log.Log)"
    loss, _ = suspected([shrinks(), at("07:30:00", fetcher), at("07:30:01", truncated)])
    assert (loss.rule, loss.offsets) == (LOSS, ((4900, 5021),)), "no line states where broker 5 began"


EXPANDS = at("07:01:00", "[Partition ledger-3 broker=4] Expanding ISR from 4 to 4,5 (kafka.cluster.Partition)")
REFUSED = at(
    "07:00:02",
    "[Partition ledger-3 broker=4] Cached zkVersion 40 not equal to that in zookeeper, skip updating ISR "
    "(kafka.cluster.Partition)",
)
DELETED = at(
    "07:01:00",
    "Log for partition ledger-3 is renamed to /d/ledger-3.ab12ab12ab12ab12ab12ab12ab12ab12-delete and is scheduled for "
    "deletion (kafka.log.LogManager)",
)
ELECTED = at(
    "07:05:00",
    f"[QuorumController id=4] partition change for ledger-3 with topic ID {ID}: isr: [] -> [5], leader: -1 -> 5, "
    "leaderEpoch: 8 -> 9, elr: [5] -> [], partitionEpoch: 46 -> 47 "
    "(org.apache.kafka.controller.ReplicationControlManager)",
)

QUIET = {
    "the ISR grew again": [shrinks(), EXPANDS, leads()],
    "from the ISR": [shrinks("4,5"), leads()],
    "elected with others": [shrinks(), leads("5,6")],
    "with all that the leader had": [shrinks(), leads(start=5021)],
    "the ISR shrank later": [leads(), shrinks(clock="07:06:00")],
    "the change was refused": [shrinks(), REFUSED, leads()],
    "another leader in between": [shrinks(), leads("5,6", epoch=9, broker=6, clock="07:02:00"), leads(epoch=10)],
    "the first leader of a topic": [shrinks(), leads(epoch=0, start=0)],
    "deleted in between": [shrinks(), DELETED, leads()],
    "an eligible leader replica": [shrinks(), ELECTED, leads()],
    "two clusters": [cluster(4, "A"), shrinks(), cluster(5, "B"), leads()],
}


@pytest.mark.parametrize("case", QUIET)
def test_near_misses_are_quiet(case: str) -> None:
    assert suspected(QUIET[case]) == []


def test_lines_of_two_clusters_in_one_text_are_told_apart_by_the_id_that_each_broker_prints() -> None:
    """The times of the lines overlap, and nothing else shows whose they are."""
    headed = [line.partition(" | ")[2] for line in QUIET["two clusters"]]
    text = result(
        [f"Cluster A, broker 4:\n\n{headed[0]}\n{headed[1]}\n\nCluster B, broker 5:\n\n{headed[2]}\n{headed[3]}"]
    )
    assert sorted((one.history.cluster or "")[0] for one in text.partitions) == ["A", "B"]
    assert [one for one in text.findings if one.confidence is Confidence.SUSPECTED] == []


PERHAPS = "perhaps these are lines of two clusters"


@pytest.mark.parametrize(
    ("ids", "named_too"),
    [
        ([], True),
        ([cluster(4, "A")], True),
        ([cluster(4, "A"), cluster(5, "A")], False),
        ([named(4), named(5)], False),
        ([named(5)], True),
    ],
)
def test_lines_of_two_clusters_are_an_explanation_unless_ids_exclude_it(ids: list[str], named_too: bool) -> None:
    found = suspected([*ids, shrinks(), leads()])
    assert [PERHAPS in one.uncertain for one in found] == [named_too] * 2


def test_one_brokers_lines_are_of_one_cluster() -> None:
    again = leads(epoch=10, start=30, clock="07:09:00")
    found = suspected([leads(start=90), again], LOSS)
    assert [(one.offsets, PERHAPS in one.uncertain) for one in found] == [(((30, 90),), False)]
