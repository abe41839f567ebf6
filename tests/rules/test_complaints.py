"""Refusals and warnings that state two offsets which do not fit: each is suspected, its routine look-alike is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.rules.finding import Finding, Severity
from tests.incident import Incident

LOSS, CUT, FORK, FELL = "committed-data-lost", "truncation-below-committed", "replica-divergence", "hw-regression"
FETCHER = "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0]"
THREAD = "(kafka.server.ReplicaFetcherThread)"
RESETS = "Reset fetch offset for partition orders-0 from 50 to current leader's latest offset"
SETS = (
    "Current offset 50 for partition orders-0 is out of range, which typically implies a leader change. Reset fetch "
    "offset to"
)
AT = "leader=Optional[h:9092 (id: 1 rack: null)], epoch=5"


def said(tmp_path: Path, *lines: str, role: str = "") -> Incident:
    """What broker 2 printed within one role, or before any that is told."""
    incident = Incident(tmp_path, brokers=2)
    if role == "follower":
        incident[2].follows(5, 3, 1, 50, 50)
    elif role == "leader":
        incident[2].leads(5, 3, 42, 42, [2])
    for number, line in enumerate(lines):
        incident[2].says(10 + number, line)
    return incident


def suspected(incident: Incident, rule: str) -> Finding | None:
    """The only finding of a rule, which must be a suspicion; None where it has none."""
    found = incident.findings(rule)
    assert len(found) < 2, found
    assert all(one.confidence == "suspected" and one.uncertain for one in found)
    return found[0] if found else None


def test_a_broker_that_stops_rather_than_truncate_may_hold_the_only_copy(tmp_path: Path) -> None:
    incident = said(
        tmp_path, f"FATAL {FETCHER} Exiting because log truncation is not allowed for partition orders-0, current "
        f"leader's latest offset 14 is less than replica's latest offset 42 {THREAD}",
    )  # fmt: skip
    finding = suspected(incident, LOSS)
    assert finding is not None
    assert (finding.severity, finding.offsets, finding.replicas) == (Severity.ERROR, ((14, 42),), (2,))
    assert "the log end offset of broker 1" in finding.summary
    assert any("unclean.leader.election.enable=true" in what for what in finding.do_not)


@pytest.mark.parametrize(
    "line",
    [
        f"{RESETS} 30",
        f"{SETS} 30",
    ],
)
def test_a_leader_that_ends_below_its_follower_may_have_lost_records(line: str, tmp_path: Path) -> None:
    finding = suspected(said(tmp_path, f"WARN {FETCHER} {line} {THREAD}"), LOSS)
    assert finding is not None
    assert finding.offsets == ((30, 50),)


@pytest.mark.parametrize(
    "line",
    [  # retention deleted what the follower asked for
        "Reset fetch offset for partition orders-0 from 50 to current leader's start offset 60",
        f"{SETS} 60",
        # tiered storage took it (KIP-405)
        "Current offset 50 for partition orders-0 is out of range or moved to remote tier. Reset fetch offset to 60",
        (
            "Truncate fully and reset fetch offset for partition orders-0 from 20 to the current leader's start offset "
            "132 because the local replica's end offset is smaller than the current leader's start offsets."
        ),
        "Reset fetch offset for partition orders-0 from 50 to the current local replica's end offset 60",
    ],
)
def test_a_follower_behind_the_start_of_its_leader_is_routine(line: str, tmp_path: Path) -> None:
    assert suspected(said(tmp_path, f"WARN {FETCHER} {line} {THREAD}"), LOSS) is None


@pytest.mark.parametrize(("side", "lost"), [("start", False), ("latest", True)])
def test_a_follower_of_0_8_that_begins_at_its_leaders_log_start_is_no_sign(
    side: str, lost: bool, tmp_path: Path
) -> None:
    """Its leader's log does not end there (KAFKA-2143); 0.8 prints the first line after the fact (KAFKA-2164)."""
    thread = "[ReplicaFetcherThread-0-1],"
    reset = f"Replica 2 for partition [orders,0] reset its fetch offset from 30 to current leader 1's {side} offset 30"
    out = "Current offset 50 for partition [orders,0] out of range; reset offset to 30"
    incident = said(tmp_path, f"WARN {thread} {reset} {THREAD}", f"ERROR {thread} {out} {THREAD}")
    assert (suspected(incident, LOSS) is not None) is lost


ASKED = "ERROR [ReplicaManager broker=2] Error processing fetch (kafka.server.ReplicaManager)\n"
RANGE = (
    "org.apache.kafka.common.errors.OffsetOutOfRangeException: Received request for offset {} for partition orders-0, "
)


def asked(offset: int) -> str:
    """A fetch that a log of offsets 7 to 42 refuses."""
    return ASKED + RANGE.format(offset) + "but we only have log segments in the range 7 to 42."


def test_a_fetch_above_the_end_of_a_leaders_log_is_suspected(tmp_path: Path) -> None:
    finding = suspected(said(tmp_path, asked(50), role="leader"), LOSS)
    assert finding is not None
    assert (finding.offsets, finding.replicas) == (((42, 50),), (2,))
    assert any("by hand" in other for other in finding.uncertain)


@pytest.mark.parametrize(("offset", "role"), [(5, "leader"), (50, "follower")])
def test_a_fetch_below_the_start_of_a_log_or_above_a_followers_is_routine(
    offset: int, role: str, tmp_path: Path
) -> None:
    """Retention and DeleteRecords leave the one, a consumer that reads from a follower the other (KIP-392)."""
    assert suspected(said(tmp_path, asked(offset), role=role), LOSS) is None


def consumed(tmp_path: Path, *lines: str) -> Incident:
    """What a consumer printed, beside the logs of broker 2, which leads."""
    incident = said(tmp_path, role="leader")
    folder = tmp_path / "application"
    folder.mkdir()
    text = "".join(
        f"[2026-03-01 12:00:2{number},000] INFO [Consumer clientId=c-1, groupId=g] {line} "
        "(org.apache.kafka.clients.consumer.internals.Fetcher)\n"
        for number, line in enumerate(lines)
    )
    (folder / "application.log").write_text(text)
    return incident


def position(offset: int) -> str:
    """A consumer's position, as it prints it."""
    return f"FetchPosition{{offset={offset}, offsetEpoch=Optional[4], currentLeader=LeaderAndEpoch{{{AT}}}}}"


def test_a_consumer_that_detects_a_truncation_is_a_witness(tmp_path: Path) -> None:
    line = (
        f"Truncation detected for partition orders-0 at offset {position(50)}, resetting offset to the first "
        f"offset known to diverge {position(42)}"
    )
    finding = suspected(consumed(tmp_path, line), LOSS)
    assert finding is not None
    assert (finding.offsets, finding.replicas) == (((42, 50),), (1,))
    assert "broker 1 (leader epoch 5) answered that this epoch ends at 42 in its log" in finding.summary
    assert "log end" not in " ".join(fact.text for fact in finding.facts)  # which the answer does not state
    assert not any("follower" in other for other in finding.uncertain)  # only the leader answers


def out_of_range(reset: int) -> tuple[str, str]:
    """A position of 50 that is out of range, and what it is reset to."""
    return (
        f"Fetch position {position(50)} is out of range for partition orders-0, resetting offset",
        f"Resetting offset for partition orders-0 to position {position(reset)}.",
    )


def test_a_consumer_that_is_set_back_had_read_more_than_the_log_holds(tmp_path: Path) -> None:
    finding = suspected(consumed(tmp_path, *out_of_range(42)), LOSS)
    assert finding is not None
    assert finding.offsets == ((42, 50),)
    assert "the end of the log or its start" in finding.summary  # auto.offset.reset is not in the line
    assert "log end" not in " ".join(fact.text for fact in finding.facts)


@pytest.mark.parametrize(("written", "stale"), [(4, True), (5, False)])
def test_a_leader_without_the_epoch_of_a_position_answers_out_of_range_too(
    written: int, stale: bool, tmp_path: Path
) -> None:
    """Leader epoch 5 leads: what retention deleted of epoch 4 takes it out of the leader's epoch file (KAFKA-19902)."""
    lines = [line.replace("Optional[4]", f"Optional[{written}]") for line in out_of_range(42)]
    finding = suspected(consumed(tmp_path, *lines), LOSS)
    assert finding is not None
    assert any("leader epoch 4" in other for other in finding.uncertain) is stale


@pytest.mark.parametrize("lines", [out_of_range(60), out_of_range(40)[1:], out_of_range(40)[:1]])
def test_a_consumer_behind_retention_or_without_an_error_is_routine(lines: tuple[str, ...], tmp_path: Path) -> None:
    """One that is set forward had waited too long; one that is reset alone begins, or was set by hand; and a position
    out of range alone does not say on which side.
    """
    assert suspected(consumed(tmp_path, *lines), LOSS) is None


FALLS = (
    "WARN [Log partition=orders-0, dir=/d] Non-monotonic update of high watermark from (offset={} segment=[0:806]) to "
    "(offset={} segment=[0:700]) (kafka.log.Log)"
)
TRUNCATES = "INFO [Log partition=orders-0, dir=/d] Truncating to offset 10 (kafka.log.Log)"


@pytest.mark.parametrize("lines", [(FALLS.format(15, 10),), (TRUNCATES, FALLS.format(15, 10))])
def test_a_high_watermark_that_its_leader_tells_late_is_routine(lines: tuple[str, ...], tmp_path: Path) -> None:
    """A new leader's high watermark may be behind that of its followers (KIP-207): no record is removed."""
    assert suspected(said(tmp_path, *lines), CUT) is None


def test_a_leader_that_began_at_its_followers_high_watermark_has_lost_nothing(tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=2)
    incident[1].leads(5, 3, 15, 12, [1, 2])
    incident[2].follows(5, 3, 1, 15, 15).says(6, FALLS.format(15, 12))
    assert suspected(incident, LOSS) is None


START = (
    f"ERROR {FETCHER} Error due to {THREAD}\norg.apache.kafka.common.errors.OffsetOutOfRangeException: Cannot "
    "increment the log start offset to 50 of partition orders-0 since it is larger than the high watermark 42"
)


def test_a_log_start_above_a_followers_high_watermark_is_suspected(tmp_path: Path) -> None:
    finding = suspected(said(tmp_path, START, role="follower"), FELL)
    assert finding is not None
    assert (finding.offsets, finding.severity) == (((42, 50),), Severity.WARNING)
    assert any("KAFKA-7104" in other for other in finding.uncertain)


def test_a_client_that_asks_a_leader_to_delete_uncommitted_records_is_routine(tmp_path: Path) -> None:
    assert suspected(said(tmp_path, START, role="leader"), FELL) is None


REFUSED = (
    f"ERROR {FETCHER} Unexpected error occurred while processing data for partition orders-0 at offset 40 {THREAD}\n"
    "kafka.common.OffsetsOutOfOrderException: "
)


def test_records_at_offsets_that_the_follower_has_are_suspected_to_differ(tmp_path: Path) -> None:
    text = (
        "Unexpected offset in append to orders-0. First offset or last offset of the first batch 40 is less than the "
        "next offset 42. First 10 offsets in append: List(40, 41), last offset in append: 41. Log start offset = 0"
    )
    finding = suspected(said(tmp_path, REFUSED + text, role="follower"), FORK)
    assert finding is not None
    assert (finding.offsets, finding.severity) == (((40, 42),), Severity.ERROR)


def test_a_race_of_fetchers_is_routine(tmp_path: Path) -> None:
    text = "Offset mismatch for partition orders-0: fetched offset = 40, log end offset = 42."
    assert suspected(said(tmp_path, REFUSED + text, role="follower"), FORK) is None


def test_lines_that_speak_of_one_range_make_one_suspicion(tmp_path: Path) -> None:
    incident = said(
        tmp_path,
        f"WARN {FETCHER} {RESETS} 30 {THREAD}",
        f"ERROR {FETCHER} {SETS} 30 {THREAD}",
        TRUNCATES.replace("10", "30"),
    )
    assert suspected(incident, LOSS) is not None


def test_leaders_that_begin_empty_again_and_again_lost_what_was_stated_once(tmp_path: Path) -> None:
    """Epochs 6 and 8 begin at 0; what was committed was lost once, until something is committed again."""
    incident = Incident(tmp_path, brokers=1)
    incident[1].leads(10, 4, 80, 80, [1])
    for at, epoch in ((60, 6), (120, 8)):
        incident[1].starts(at - 10).leads(at, epoch, 0, 0, [1])
    assert [finding.epochs for finding in incident.findings(LOSS)] == [(4, 6)]


def test_a_second_loss_is_told_beside_the_first(tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=1)
    for at, epoch, start in ((10, 4, 80), (60, 6, 0), (120, 8, 30), (180, 10, 0)):
        incident[1].starts(at - 5).leads(at, epoch, start, start, [1])
    told = [(finding.epochs, finding.offsets) for finding in incident.findings(LOSS)]
    assert sorted(told) == [((4, 6), ((0, 80),)), ((8, 10), ((0, 30),))]
