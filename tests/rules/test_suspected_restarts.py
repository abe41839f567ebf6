"""A leader restarts with a shorter log and leads again, while the other members of the ISR had more."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan
from forensics.rules.causes import CauseId
from forensics.rules.finding import Severity
from tests.incident import Incident
from tests.rules.traced import Line, judged, said

LOSS, SHORTER = "committed-data-lost", "leo-regression"
CUT = "truncation-below-committed"
SKIPPING = "INFO Skipping recovery for all logs in /d since clean shutdown file was found (kafka.log.LogManager)"


def power_loss(
    folder: Path,
    *,
    ends: tuple[int, int] = (80, 80),
    loaded: int = 70,
    target: int = 70,
    again: int = 0,
    then: int = 1,
    unclean: tuple[int, ...] = (1, 2, 3),
) -> Incident:
    """All brokers stop at once; leader 1 loses the end of its log, leads again, and the followers truncate to it.

    Args:
        folder: of the evidence.
        ends: what the followers had, or the others if one of them leads then.
        loaded: what the leader had after the restart.
        target: to which the followers truncate.
        again: log end offset with which the leader begins the next epoch, after it led the former one again; 0 if it
            did not.
        then: the broker that loses the end of its log, and leads.
        unclean: the brokers that did not stop cleanly.
    """
    incident = Incident(folder)
    others = dict(zip((number for number in (1, 2, 3) if number != then), ends, strict=True))
    incident[9].says(0.5, "INFO [Controller id=9 epoch=1] Ready (kafka.controller.KafkaController)", log="controller")
    incident.elects(1, 0, 1, [1, 2, 3])
    for number in (1, 2, 3):
        node = incident[number].creates(1)
        if number == 1:
            node.leads(1, 0, 0, 0, [1, 2, 3])
        else:
            node.follows(1, 0, 1, 0, 0)
    for number, end in ((then, loaded), *others.items()):
        incident[number].starts(20)
        recovering = f"INFO [Log partition={incident.partition}, dir=/d] Recovering unflushed segment 0 (kafka.log.Log)"
        incident[number].says(21, recovering if number in unclean else SKIPPING).loads(22, end)
    if again:
        incident[1].leads(25, 0, loaded, 40, [1, 2, 3])
    incident.elects(30, 1, then, [then])
    incident[then].leads(30, 1, again or loaded, 40, [then])
    for number, end in others.items():
        incident[number].follows(31, 1, then, end, 40)
        if end > target:
            incident[number].cuts(32, target)
        incident[number].segment([(0, target - 1, 0)])
        incident[number].epochs((0, 0), (1, loaded)).checkpoint(target)
    incident[then].segment([(0, loaded - 1, 0)])
    incident[then].epochs((0, 0), (1, loaded)).checkpoint(loaded)
    return incident


def test_what_all_of_the_isr_had_and_no_one_has_any_more_is_suspected_to_be_lost(tmp_path: Path) -> None:
    incident = power_loss(tmp_path)
    assert incident.verdict(LOSS) == "unknown"
    (finding,) = incident.findings(LOSS)
    assert (finding.confidence, finding.severity, finding.offsets) == ("suspected", Severity.ERROR, ((70, 80),))
    assert [fact.broker for fact in finding.facts] == [2, 1, None], "the controller elected broker 2"
    assert "the other replicas in the ISR had only offsets 70 to 79" in finding.summary
    assert (finding.records, "perhaps more" in finding.summary) == ((0, None), True), "they had stopped uncleanly too"
    (shorter,) = incident.findings(SHORTER)
    assert (shorter.replicas, shorter.offsets) == ((1,), ((70, 80),))
    assert shorter.inferences == ("broker 1 held everything below 80: broker 2 had fetched that from it",)


def test_a_shorter_log_names_the_epoch_of_its_records_and_not_of_its_last_role(tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    incident.elects(1, 0, 1, [1, 2])
    incident[1].creates(1).leads(1, 0, 0, 0, [1, 2])
    follower = incident[2].creates(1)
    follower.follows(1, 0, 1, 0, 0)
    incident.elects(10, 1, 1, [1, 2])
    incident[1].leads(10, 1, 80, 80, [1, 2])
    follower.follows(10, 1, 1, 80, 80).starts(20)
    follower.says(
        21, f"INFO [Log partition={incident.partition}, dir=/d] Recovering unflushed segment 0 (kafka.log.Log)"
    )
    follower.loads(22, 70).follows(23, 1, 1, 70, 70)
    (shorter,) = incident.findings(SHORTER)
    assert (shorter.offsets, shorter.epochs) == (((70, 80),), (0,))


def test_no_more_is_lost_than_followers_had_that_did_not_stop_uncleanly(tmp_path: Path) -> None:
    (finding,) = power_loss(tmp_path, unclean=(1,)).findings(LOSS)
    assert (finding.offsets, finding.records, "perhaps more" in finding.summary) == (((70, 80),), None, False)


@pytest.mark.parametrize("unclean", [(1, 2, 3), (2,)])
def test_a_follower_that_lost_its_end_and_leads_next_may_have_lost_more_than_is_left(
    unclean: tuple[int, ...], tmp_path: Path
) -> None:
    (finding,) = power_loss(tmp_path, then=2, unclean=unclean).findings(LOSS)
    assert (finding.confidence, finding.replicas, finding.offsets) == ("suspected", (2,), ((70, 80),))
    more = len(unclean) > 1
    assert (finding.records, "perhaps more" in finding.summary) == ((0, None) if more else None, more)
    assert finding.facts[0].text.startswith("restarted after an unclean stop too") is more


def test_a_leader_that_led_the_same_epoch_again_without_an_append_lost_what_was_fetched(tmp_path: Path) -> None:
    (finding,) = power_loss(tmp_path, again=70).findings(LOSS)
    assert (finding.confidence, finding.replicas, finding.offsets) == ("suspected", (1,), ((70, 80),))


def test_what_was_fetched_may_be_what_the_leader_appended_when_it_led_the_epoch_again(tmp_path: Path) -> None:
    incident = power_loss(tmp_path, again=75)
    assert (incident.findings(LOSS), incident.findings(SHORTER)) == ([], [])


def test_only_what_every_member_of_the_isr_had_is_suspected(tmp_path: Path) -> None:
    (finding,) = power_loss(tmp_path, ends=(80, 75)).findings(LOSS)
    assert finding.offsets == ((70, 75),)


@pytest.mark.parametrize("behind", [70, 60])
def test_a_follower_in_the_isr_that_had_no_more_shows_that_the_rest_was_not_committed(
    behind: int, tmp_path: Path
) -> None:
    incident = power_loss(tmp_path, ends=(80, behind))
    assert incident.findings(LOSS) == []
    (shorter,) = incident.findings(SHORTER)
    assert shorter.offsets == ((70, 80),), "the leader's log was shortened nevertheless"


def test_a_truncation_below_the_loaded_end_shows_nothing_of_the_leaders_log(tmp_path: Path) -> None:
    """The follower had records that this leader never had: they are of a leader that no line names."""
    incident = power_loss(tmp_path, target=65)
    assert incident.findings(LOSS) == []
    assert incident.findings(SHORTER) == []


RECOVERED = (
    "WARN [Log partition=orders-0, dir=/d] Corruption found in segment 0, truncating to offset 72 (kafka.log.Log)"
)
FETCHER = (
    "INFO [ReplicaFetcherManager on broker {0}] Added fetcher to broker {1} for partitions Map(orders-0 -> "
    "InitialFetchState(BrokerEndPoint(id={1}, host=h:9092),{2},{3})) (kafka.server.ReplicaFetcherManager)"
)


def recovered(
    folder: Path, *, fetched_first: bool = False, behind: int = 60, failed: str = "", before: int = 15
) -> Incident:
    """Broker 1's log recovery truncates; no state-change.log is there, and a follower's lines name broker 1 as leader.

    Args:
        folder: of the evidence.
        failed: what broker 1 could not do with its log before that.
        before: when that was, in seconds; its log is loaded once more at second 17.
        fetched_first: broker 1 starts a fetcher before the others name it as leader.
        behind: log end offset of the other replica.
    """
    incident = Incident(folder, brokers=2)
    incident[2].says(5, FETCHER.format(2, 1, 3, behind))
    if failed:
        text = f"ERROR Error while {failed} orders-0 in dir /d (kafka.server.LogDirFailureChannel)"
        incident[1].starts(4)
        for at in sorted((before, 16)):
            incident[1].says(at, text) if at == before else incident[1].starts(16).loads(17, 65)
    incident[1].starts(20).says(21, RECOVERED).loads(22, 72)
    if fetched_first:
        incident[1].says(25, FETCHER.format(1, 2, 5, 72))
    incident[2].says(40, FETCHER.format(2, 1, 6 if fetched_first else 5, behind))
    return incident


def test_recovery_that_truncated_a_leader_is_suspected_without_lines_of_its_role(tmp_path: Path) -> None:
    (finding,) = recovered(tmp_path).findings(LOSS)
    assert (finding.confidence, finding.replicas, finding.epochs) == ("suspected", (1,), (5,))
    assert finding.summary.startswith("broker 1 found corruption when it recovered its log, truncated the log to 72")
    assert finding.cause == "corrupt-batch"


APPENDING, ROLLING = "appending records to", "rolling log segment for"


@pytest.mark.parametrize(("failed", "before", "named"), [(APPENDING, 18, 0), (APPENDING, 15, 1), (ROLLING, 18, 1)])
def test_what_an_append_left_that_failed_was_acknowledged_by_nobody(
    failed: str, before: int, named: int, tmp_path: Path
) -> None:
    """The disk was full. If the log was loaded since then, or nothing was appended, the corrupt bytes are of another
    batch.
    """
    assert len(recovered(tmp_path, failed=failed, before=before).findings(LOSS)) == named


def test_a_replica_that_followed_first_has_fetched_what_recovery_took(tmp_path: Path) -> None:
    assert recovered(tmp_path, fetched_first=True).findings(LOSS) == []


def member_recovered(
    folder: Path, *, isr: tuple[int, ...] = (1, 2, 3), ends: tuple[int, int] = (80, 80), between: bool = False
) -> Incident:
    """All brokers stop at once; log recovery truncates follower 2 to 72, it leads next, and the others follow it.

    Args:
        folder: of the evidence.
        isr: while broker 1 led.
        ends: log end offsets of brokers 1 and 3, which they truncate to 72 if they are above it.
        between: broker 1 leads once more before broker 2 does.
    """
    incident = Incident(folder)
    incident[9].says(0.5, "INFO [Controller id=9 epoch=1] Ready (kafka.controller.KafkaController)", log="controller")
    incident.elects(1, 0, 1, [*isr])
    incident[1].creates(1).leads(1, 0, 0, 0, [*isr])
    for number in (2, 3):
        incident[number].creates(1).follows(1, 0, 1, 0, 0)
    incident[2].starts(20).says(21, RECOVERED).loads(22, 72)
    for number, end in ((1, ends[0]), (3, ends[1])):
        incident[number].starts(20).loads(22, end)
    if between:
        incident.elects(25, 1, 1, [1, 2])
        incident[1].leads(25, 1, ends[0], 40, [1, 2])
        incident[2].follows(26, 1, 1, 72, 40)
    epoch = 2 if between else 1
    incident.elects(30, epoch, 2, [2])
    incident[2].leads(30, epoch, 72, 40, [2])
    for number, end in ((1, ends[0]), (3, ends[1])):
        incident[number].follows(31, epoch, 2, end, 40)
        if end > 72:
            incident[number].cuts(32, 72)
    for number in (1, 2, 3):
        incident[number].segment([(0, 71, 0)])
        incident[number].epochs((0, 0), (epoch, 72)).checkpoint(72)
    return incident


@pytest.mark.parametrize("rule", [LOSS, CUT])
def test_what_others_remove_to_follow_a_member_that_recovery_truncated_is_suspected(rule: str, tmp_path: Path) -> None:
    """The follower had a record behind 72, as its corrupt bytes show, and may have had all that the others had."""
    incident = member_recovered(tmp_path, ends=(80, 78))
    assert incident.verdict(rule) == "unknown"
    (finding,) = incident.findings(rule)
    assert (finding.confidence, finding.replicas, finding.offsets) == ("suspected", (2,), ((72, 78),))
    assert finding.cause == "corrupt-batch"


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"isr": (1, 3)}, id="it was not in the ISR"),
        pytest.param({"ends": (72, 60)}, id="the others had no more"),
        pytest.param({"between": True}, id="it followed a leader in between"),
    ],
)
def test_a_replica_that_recovery_truncated_is_no_sign_by_itself(other: dict[str, Any], tmp_path: Path) -> None:
    found = member_recovered(tmp_path, **other).findings(LOSS)
    assert [one for one in found if one.replicas == (2,) and one.cause == "corrupt-batch"] == []


CHANGED = (
    "INFO [QuorumController id=9] {kind}partition change for orders-0 with topic ID Zx1yQ2w3R4e5T6y7U8i9Oa: isr: "
    "[{isr}] -> [2], leader: -1 -> 2, leaderEpoch: 11 -> 12, partitionEpoch: 20 -> 21 "
    "(org.apache.kafka.controller.ReplicationControlManager)"
)
TRUNCATES = "INFO [UnifiedLog partition=orders-0, dir=/d] Truncating to offset {} (kafka.log.UnifiedLog)"
IN_VAIN = (
    "INFO [UnifiedLog partition=orders-0, dir=/d] Truncating to {} has no effect as the largest offset in the log is "
    "70 (kafka.log.UnifiedLog)"
)


def elected(
    folder: Path, *, isr: str = "3", at: float = 60, truncates: str = TRUNCATES, loaded: int = 0, unclean: bool = False
) -> Incident:
    """A controller elects broker 2, and broker 3 truncates; before, its process may have loaded its log."""
    incident = Incident(folder)
    if loaded:
        how = "INFO [Log partition=orders-0, dir=/d] Recovering unflushed segment 0 (kafka.log.Log)"
        incident[3].starts(20).says(21, how if unclean else SKIPPING).loads(22, loaded).follows(55, 12, 2, loaded, 60)
    kind = "" if "2" in isr else "UNCLEAN "
    incident[9].says(50, CHANGED.format(kind=kind, isr=isr), log="controller")
    incident[3].says(at, truncates.format(71))
    return incident


def test_what_a_member_of_the_last_isr_removes_for_an_unclean_leader_is_suspected_to_be_lost(tmp_path: Path) -> None:
    (finding,) = elected(tmp_path).findings(LOSS)
    assert (finding.confidence, finding.severity, finding.replicas) == ("suspected", Severity.ERROR, (3,))
    assert finding.cause == CauseId.UNCLEAN_ELECTION
    assert finding.summary.startswith(
        "broker 2 was elected leader (leader epoch 12) from outside the ISR, and broker 3"
    )


@pytest.mark.parametrize("unclean", [True, False])
def test_a_member_of_the_last_isr_that_stopped_uncleanly_may_have_had_more(unclean: bool, tmp_path: Path) -> None:
    incident = elected(tmp_path, loaded=80, unclean=unclean)
    (finding,) = incident.findings(LOSS)
    assert (finding.offsets, finding.records) == (((71, 80),), (0, None) if unclean else None)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"isr": "2, 3"}, id="the leader was in the ISR"),
        pytest.param({"isr": "1"}, id="the replica was not"),
        pytest.param({"at": 40}, id="it truncated before the election"),
        pytest.param({"truncates": IN_VAIN}, id="it removed nothing"),
    ],
)
def test_other_truncations_around_an_election_are_no_sign_of_a_loss(other: dict[str, Any], tmp_path: Path) -> None:
    assert elected(tmp_path, **other).findings(LOSS) == []


def test_an_unclean_leader_that_let_a_replica_into_the_isr_shows_nothing_of_its_records(
    sample_traces: Path, tmp_path: Path
) -> None:
    """Broker 1 alone had offsets 20 to 29; broker 2 was elected from outside the ISR. No data directory is there."""
    folder = Path(shutil.copytree(sample_traces / "dirlead-2.8.2", tmp_path / "evidence"))
    for directory in folder.glob("broker-*/data*"):
        shutil.rmtree(directory)
    found = {one.partition: one for one in scan([str(folder)]).findings if one.rule == SHORTER}
    assert (found[0].replicas, found[0].severity) == ((1,), Severity.ERROR)
    assert "rejoined" not in found[0].summary


def hw_truncation(folder: Path, *then: Line, protocol: str = "hw") -> list[Any]:
    """Broker 2 restarts with two records, truncates to its high watermark, 1, and leads next: lines without a claim."""
    lines = [
        {"kind": "trace", "protocol": protocol, "cluster": "one", "replicas": [1, 2]},
        said(0, 1, "become_leader", leader_epoch=0, leo=0, isr="1,2"),
        said(0, 2, "become_follower", leader=1, leader_epoch=0, leo=0),
        said(5, 2, "process_start"),
        said(5, 2, "unclean_restart"),
        said(5, 2, "log_loaded", leo=2),
        said(6, 2, "become_follower", leader=1, leader_epoch=0),
        said(6, 2, "truncate", offset=1),
        *(then or [said(7, 2, "become_leader", leader_epoch=1, isr="2")]),
    ]
    return [one for rule in (LOSS, CUT) for one in judged(folder, lines)[rule].findings]


def test_a_member_of_the_isr_that_truncates_and_leads_next_is_suspected(tmp_path: Path) -> None:
    """The loss of KIP-101, of which no line states a high watermark above the truncation."""
    found = hw_truncation(tmp_path)
    assert [(one.rule, one.confidence, one.offsets, one.replicas) for one in found] == [
        (rule, "suspected", ((1, 2),), (2,)) for rule in (LOSS, CUT)
    ]
    assert {one.cause for one in found} == {CauseId.HW_TRUNCATION}
    assert found[0].summary == (
        "broker 2 was in the ISR, truncated its log from 2 to its own high watermark, 1, and became leader (leader "
        "epoch 1) next: committed offset 1 may be lost"
    )


@pytest.mark.parametrize(
    "then",
    [
        [said(7, 2, "become_leader", leader_epoch=1, isr="2", leo=2)],
        [{**said(7, 2, "become_leader", leader_epoch=1, isr="2"), "time": "2026-01-01T10:02:00Z"}],
        [said(7, 1, "become_leader", leader_epoch=1, isr="1,2")],
        [
            said(6.1, 1, "isr_shrink", isr="1", isr_before="1,2"),
            said(6.2, 1, "isr_expand", isr="1,2", isr_before="1"),
            said(7, 2, "become_leader", leader_epoch=1, isr="2"),
        ],
    ],
    ids=["it had fetched them", "it had time to", "another one leads", "it joined the ISR again"],
)
def test_other_truncations_before_a_leader_are_no_such_sign(then: list[Line], tmp_path: Path) -> None:
    assert hw_truncation(tmp_path, *then) == []


def test_a_truncation_by_leader_epoch_is_no_such_sign(tmp_path: Path) -> None:
    assert hw_truncation(tmp_path, protocol="epoch") == []
