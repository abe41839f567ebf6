"""Shapes in which people paste lines: without their end, from two collectors in one text, beside a description."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.reports.text import render
from forensics.result import Result

HEADS = (
    (
        "[Broker id=4] Leader ledger-3 starts at leader epoch 4 from offset 63107 with high watermark 63107 ISR [4,5] "
        "addingReplicas [] removingReplicas []. Previous leader epoch was 3."
    ),
    (
        "[Broker id=5] Leader ledger-3 starts at leader epoch 6 from offset 90 with high watermark 90 ISR [5] "
        "addingReplicas [] removingReplicas []. Previous leader epoch was 4."
    ),
)
FIRST, SECOND = (
    f"[2022-05-04 {clock},000] INFO {head} (state.change.logger)"
    for clock, head in zip(("10:00:01", "12:44:03"), HEADS, strict=True)
)
LOSS = "committed-data-lost"


def scanned(tmp_path: Path, text: str) -> Result:
    ticket = tmp_path / "ticket.txt"
    ticket.write_text(text)
    return scan([str(ticket)])


def lost(result: Result) -> list[tuple[tuple[int, int], ...]]:
    """Offsets of losses that are found or suspected."""
    return [one.offsets for one in result.findings if one.rule == LOSS]


@pytest.mark.parametrize("width", [168, 150])
def test_lines_without_their_end_state_what_they_have(width: int, tmp_path: Path) -> None:
    text = "".join(f"{line[:width]}\n" for line in (FIRST, SECOND.replace("id=5", "id=4")))
    assert lost(scanned(tmp_path, text)) == [((90, 63107),)]


def test_lines_that_end_in_dots(tmp_path: Path) -> None:
    text = f"{FIRST[:140]}...\n{SECOND[:130]}...\n"
    assert lost(scanned(tmp_path, f"we see\n\n```\n{text}```\n")) == [((90, 63107),)]


def test_a_number_that_may_lack_digits_is_left_out(tmp_path: Path) -> None:
    """A line that ends within its high watermark states the offset before that, and no high watermark."""
    end = FIRST.index("63107 ISR") + 3
    result = scanned(tmp_path, f"we see\n\n```\n{FIRST[:end]}...\n{SECOND}\n```\n")
    assert all("had begun the leader epoch before" in one.summary for one in result.findings if one.rule == LOSS)
    rows = result.case.observations.filter(result.case.observations["leader_epoch"] == 4)
    assert rows.select("leo", "hw").rows() == [(63107, None)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"broker-4  | {FIRST}", f"2022-05-04T12:44:03.538Z kafka-5 kafka: {SECOND}"),
        (f"May  4 10:00:01 node7 kafka[1123]: {FIRST}", f'{{"log":"{SECOND}\\n","stream":"stdout"}}'),
    ],
    ids=["compose and journal", "syslog and docker"],
)
def test_two_collectors_in_one_text(one: str, other: str, tmp_path: Path) -> None:
    assert lost(scanned(tmp_path, f"{one}\n{other}\n")) == [((90, 63107),)]


CUT = (
    "[2022-05-04 10:00:01,000] INFO [UnifiedLog partition=ledger-3, dir=/d] Truncating to offset 300 "
    "(kafka.log.UnifiedLog)\n"
    "[2022-05-04 10:00:01,002] WARN [UnifiedLog partition=ledger-3, dir=/d] Non-monotonic update of high watermark "
    "from (offset=420segment=[0:5]) to (offset=300segment=[0:4]) (kafka.log.UnifiedLog)\n"
)
"""Lines that do not name their broker."""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Broker 4:\n", "Broker 5:\n"),
        ("broker 4 (old leader)", "broker 5"),
        ("==> kafka-4/server.log <==", "\n==> kafka-5/server.log <=="),
    ],
)
def test_a_heading_names_the_broker_of_lines_that_do_not(first: str, second: str, tmp_path: Path) -> None:
    """Nothing else in the text was made by a person, and the only broker that a line names is another one."""
    result = scanned(tmp_path, f"{first}\n{CUT}\n{second}\n{SECOND}\n")
    truncated = [one for one in result.findings if one.rule == "truncation-below-committed"]
    assert [(one.replicas, one.offsets) for one in truncated] == [((4,), ((300, 420),))]


def described(leader: str, isr: str) -> str:
    return (
        "Topic: ledger\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=1\n"
        f"\tTopic: ledger\tPartition: 0\tLeader: {leader}\tReplicas: 4,5,6\tIsr: {isr}\n"
    )


@pytest.mark.parametrize("leader", ["none", "-1"])
def test_a_partition_that_is_described_without_a_leader(leader: str, tmp_path: Path) -> None:
    result = scanned(tmp_path, described(leader, "5"))
    assert [one.known.id for one in result.problems] == ["leader-not-elected"]
    assert "No leader could be elected. ledger-0 has no leader" in render(result, width=100)


def test_a_partition_with_one_replica_in_its_isr(tmp_path: Path) -> None:
    assert [one.known.id for one in scanned(tmp_path, described("4", "4")).problems] == ["isr-shrunk-to-one"]


def test_a_partition_with_a_leader_is_no_problem(tmp_path: Path) -> None:
    assert scanned(tmp_path, described("4", "4,5,6")).problems == []
