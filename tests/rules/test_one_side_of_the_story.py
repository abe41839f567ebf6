"""A rule says clean only where it saw what it judges; from one copy, or one broker's word, it says unknown."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.confidence import Weakness
from forensics.replay.coverage import Place, Printed
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import Fork, PartitionFacts
from forensics.replay.history import History, Replica, Role, TruncationReason
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.leadership.doubts import doubts
from forensics.replay.partition_protocol import PartitionProtocol, TruncatesTo
from forensics.replay.partition_states import PartitionState
from forensics.replay.protocol import Answer
from forensics.replay.roles.steps import RoleSpan, Step, StepKind
from forensics.rules import READ_AS, RULES, unclean_election
from forensics.rules.finding import Judgement, Verdict
from forensics.rules.story import loss_cause
from tests.cases.test_recorded import unpacked
from tests.covering import holed, whole, without
from tests.incident import Incident, wishes
from tests.numbered import numbered


def judged(*paths: Path, rule: str) -> Judgement:
    found = scan([str(path) for path in paths]).partitions
    return next(p for p in found if p.history.name == "orders-0" and not p.history.incarnation).judgements[rule]


@pytest.mark.parametrize("incident", ["kip101-0.10.2.2"])
@pytest.mark.parametrize("broker", [1, 2, 3])
def test_one_copy_does_not_tell_whether_copies_differ(incident: str, broker: int, sample_traces: Path) -> None:
    folder = sample_traces / incident / f"broker-{broker}" / "data"
    judgement = judged(folder, rule="replica-divergence")
    assert judgement.verdict is Verdict.UNKNOWN
    assert "another replica" in wishes(judgement)[0]
    assert judged(folder, rule="checkpoint-contradiction").verdict is Verdict.CLEAN


@pytest.mark.parametrize(
    ("rule", "wish"),
    [("checkpoint-contradiction", "recovery-point-offset-checkpoint"), ("stale-directory", "complete log directories")],
)
def test_a_partition_folder_alone_does_not_tell_of_the_files_around_it(
    rule: str, wish: str, sample_traces: Path
) -> None:
    judgement = judged(sample_traces / "unclean-3.9.1" / "broker-1" / "data" / "orders-0", rule=rule)
    assert judgement.verdict is Verdict.UNKNOWN
    assert wish in wishes(judgement)[0]


def test_who_led_too_is_not_known_without_the_roles_of_every_replica(sample_traces: Path, tmp_path: Path) -> None:
    """The copy of the second leader is there, and its lines are not."""
    shutil.copytree(sample_traces / "zkback-2.8.2", tmp_path / "evidence")
    assert judged(tmp_path, rule="two-leaders-one-epoch").verdict is Verdict.VIOLATED
    shutil.rmtree(tmp_path / "evidence" / "broker-2" / "logs")
    judgement = judged(tmp_path, rule="two-leaders-one-epoch")
    assert judgement.verdict is Verdict.UNKNOWN
    assert any("state-change.log of broker" in wish and "2:" in wish for wish in wishes(judgement))


def test_an_election_that_nobody_tells_of_is_not_clean(sample_traces: Path) -> None:
    """Broker 1 led alone, then followed in a later epoch: who was elected meanwhile, it does not say."""
    whole = judged(sample_traces / "unclean-3.9.1", rule="unclean-election")
    assert whole.verdict is Verdict.VIOLATED
    judgement = judged(sample_traces / "unclean-0.10.2.2" / "broker-1" / "logs", rule="unclean-election")
    assert judgement.verdict is Verdict.UNKNOWN
    assert any("the controller's log" in wish for wish in wishes(judgement))


@pytest.mark.parametrize("seen", [True, False])
def test_an_isr_that_may_have_changed_unseen_makes_no_election_unclean(seen: bool, sample_traces: Path) -> None:
    """Broker 1 was not in the last ISR that is told; had it come back by then, nobody whose lines are there says so."""
    history = History(PartitionFacts("orders", 0))
    refs = [Ref(row=n) for n in range(4)]
    history.epochs = LeaderEpochs(
        {
            1: Epoch(
                1,
                leader=2,
                isr=[(frozenset({2, 3}), refs[0])],
                isr_from_others=True,
                isr_elected=True,
                leader_took_up=True,
            ),
            2: Epoch(
                2,
                leader=1,
                isr=[(frozenset({1}), refs[1])],
                isr_from_others=True,
                isr_elected=True,
                leader_took_up=True,
            ),
        }
    )
    history.states = numbered({4: (1, frozenset({2, 3})), 6: (2, frozenset({1}))})
    if seen:
        history.states[5] = PartitionState(1, frozenset({2}))
    verdict = unclean_election.judge(history, scan([str(sample_traces / "crashscene-1.1.1")]).case).verdict
    assert verdict is (Verdict.VIOLATED if seen else Verdict.UNKNOWN)


@pytest.mark.parametrize("missed", [0, 1])
def test_who_may_have_changed_the_isr_in_missing_lines_is_asked_for_them(missed: int, sample_traces: Path) -> None:
    """Leader 2 had been alone in the ISR. By the numbers there was one more change than elections by the end of it."""
    history = History(PartitionFacts("orders", 0))
    alone = {b: [(frozenset({b}), Ref(row=b))] for b in (1, 2)}
    history.epochs = LeaderEpochs(
        {
            0: Epoch(
                0,
                leader=2,
                isr=alone[2],
                isr_from_leader=True,
                isr_from_others=True,
                isr_elected=True,
                leader_took_up=True,
            ),
            1: Epoch(1, leader=1, isr=alone[1], isr_from_others=True, leader_took_up=True),
            2: Epoch(2, leader=-1, isr=alone[1], isr_from_others=True),
        }
    )
    history.states = numbered({0: (0, frozenset({2})), 2 + missed: (2, frozenset({1}))})
    history.replicas = {b: Replica(b) for b in (1, 2)}
    history.coverage = whole(1, 2)
    history.coverage = history.coverage.with_doubts(doubts(history))
    judgement = unclean_election.judge(history, scan([str(sample_traces / "crashscene-1.1.1")]).case)
    assert judgement.verdict is (Verdict.UNKNOWN if missed else Verdict.VIOLATED)
    asked = [wish for wish in wishes(judgement) if "just before broker 1 became leader (epoch 1)" in wish]
    assert ["server.log of broker 2" in wish for wish in asked] == [True] * missed


@pytest.mark.parametrize(("leader", "verdict"), [(None, "unknown"), (1, "violated"), (2, "clean")])
def test_who_was_in_an_emptied_isr_only_the_epochs_before_tell(
    leader: int | None, verdict: str, sample_traces: Path
) -> None:
    """The numbers say that nobody was in the ISR when broker 2 was elected: the lines may begin just before."""
    history = History(PartitionFacts("orders", 0))
    if leader is not None:
        own = [(frozenset({leader}), Ref(row=1))]
        history.epochs[0] = Epoch(
            0, leader=leader, isr=own, isr_from_leader=True, isr_elected=True, leader_took_up=True
        )
    history.epochs[1] = Epoch(1, leader=-1, isr=[(frozenset(), Ref(row=2))], isr_from_others=True, by_request=True)
    history.epochs[2] = Epoch(2, leader=2, isr=[(frozenset({2}), Ref(row=3))], isr_from_leader=True, isr_elected=True)
    history.states = numbered({1: (1, frozenset()), 2: (2, frozenset({2}))})
    history.replicas = {b: Replica(b) for b in (1, 2)}
    history.coverage = whole(1, 2).with_elections(True)
    judgement = unclean_election.judge(history, scan([str(sample_traces / "crashscene-1.1.1")]).case)
    assert judgement.verdict.value == verdict


@pytest.mark.parametrize(("lost", "later", "known"), [(0, 0, True), (1, 0, False), (1, 1, True), (2, 0, True)])
def test_where_lines_of_the_last_role_are_missing_so_may_be_those_of_an_election(
    lost: int, later: int, known: bool, sample_traces: Path
) -> None:
    """The controller's lines are there; of broker 1 some are missing, of its last role or (2) of the one before it."""
    history = History(PartitionFacts("orders", 0))
    both = [(frozenset({1, 2}), Ref(row=1))]
    history.epochs[0] = Epoch(
        0, leader=2, isr=both, isr_from_leader=True, isr_from_others=True, isr_elected=True, leader_took_up=True
    )
    history.states = numbered({number: (number, frozenset({1, 2})) for number in range(later + 1)})
    history.replicas = {b: Replica(b) for b in (1, 2)}
    history.coverage = whole(1, 2).with_elections(True)
    if lost:
        spans = [RoleSpan(1, 0, run, Role.FOLLOWER, 2) for run in range(1, lost + 1)]
        history.role_spans = {1: spans}
        history.coverage = holed(history.coverage, 1).with_places(1, [Place(0, 1, 1)])
    judgement = unclean_election.judge(history, scan([str(sample_traces / "crashscene-1.1.1")]).case)
    assert judgement.verdict is (Verdict.CLEAN if known else Verdict.UNKNOWN)
    assert ["a later leader" in wish for wish in wishes(judgement)] == [True] * (not known)


@pytest.mark.parametrize("told", [True, False])
def test_elections_are_told_to_the_end_only_if_the_last_leaders_lines_are(told: bool, sample_traces: Path) -> None:
    """The controller's lines are there, and of the last leader, broker 2, all lines or none."""
    history = History(PartitionFacts("orders", 0))
    both = [(frozenset({1, 2}), Ref(row=1))]
    history.epochs[0] = Epoch(
        0, leader=2, isr=both, isr_from_leader=True, isr_from_others=True, isr_elected=True, leader_took_up=True
    )
    history.states = numbered({0: (0, frozenset({1, 2}))})
    history.replicas = {b: Replica(b) for b in (1, 2)}
    coverage = without(whole(1, 2), 1, Printed.ROLES) if told else whole(1)
    history.coverage = coverage.with_elections(True)
    judgement = unclean_election.judge(history, scan([str(sample_traces / "crashscene-1.1.1")]).case)
    assert judgement.verdict is (Verdict.CLEAN if told else Verdict.UNKNOWN)
    assert ["a later leader" in wish for wish in wishes(judgement)] == [True] * (not told)


def test_one_epoch_that_begins_twice_orders_no_leaders(sample_traces: Path, tmp_path: Path) -> None:
    """Without the logs of the leader that came last the lower one's records look as if they were served on."""
    shutil.copytree(sample_traces / "zkback-2.8.2", tmp_path / "evidence")
    for checkpoint in tmp_path.rglob("replication-offset-checkpoint"):
        checkpoint.unlink()
    assert judged(tmp_path, rule="epoch-divergence").verdict is not Verdict.CLEAN


def test_data_alone_does_not_tell_which_replicas_there_are(sample_traces: Path, tmp_path: Path) -> None:
    for broker in (2, 3):
        folder = f"broker-{broker}/data"
        shutil.copytree(sample_traces / "kip101-0.10.2.2" / folder, tmp_path / folder)
    judgement = judged(tmp_path, rule="replica-divergence")
    assert judgement.verdict is Verdict.UNKNOWN
    assert "which replicas" in wishes(judgement)[0]


def test_a_replica_whose_segments_were_not_collected_is_missed(sample_traces: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_traces / "kip101-0.10.2.2", tmp_path / "evidence")
    shutil.rmtree(tmp_path / "evidence" / "broker-1" / "data" / "orders-0")
    shutil.rmtree(tmp_path / "evidence" / "broker-1" / "logs")
    judgement = judged(tmp_path, rule="replica-divergence")
    assert judgement.verdict is Verdict.UNKNOWN
    assert any("broker 1's data directory" in wish for wish in wishes(judgement))


def test_an_isr_that_the_new_leader_only_changed_is_not_the_one_it_was_elected_from(
    sample_traces: Path, tmp_path: Path
) -> None:
    """Broker 2's state-change.log is missing: its server.log tells of the ISR once broker 1 was back, not before."""
    shutil.copytree(sample_traces / "unclean-0.10.2.2", tmp_path / "evidence")
    for log in (tmp_path / "evidence").glob("broker-[12]/logs/state-change.log"):
        log.unlink()
    assert judged(tmp_path, rule="unclean-election").verdict is not Verdict.CLEAN


def test_without_the_leaders_log_its_isr_may_have_grown(sample_traces: Path, tmp_path: Path) -> None:
    """A leader tells of each change of the ISR in server.log; without it the one it began with says little."""
    shutil.copytree(sample_traces / "crashscene-1.1.1", tmp_path / "evidence")
    history = History(PartitionFacts("orders", 0))
    refs = [Ref(row=n) for n in range(4)]
    history.epochs = LeaderEpochs(
        {
            1: Epoch(
                1,
                leader=2,
                isr=[(frozenset({2}), refs[0])],
                isr_from_leader=True,
                isr_from_others=True,
                leader_took_up=True,
            ),
            2: Epoch(
                2,
                leader=1,
                isr=[(frozenset({1}), refs[1])],
                isr_from_others=True,
                isr_elected=True,
                leader_took_up=True,
            ),
        }
    )
    case = scan([str(tmp_path)]).case
    for known in (True, False):
        history.replicas = {broker: Replica(broker) for broker in (1, 2)}
        history.coverage = whole(1, 2) if known else without(without(whole(1, 2), 1, Printed.LOG), 2, Printed.LOG)
        verdict = unclean_election.judge(history, case).verdict
        assert verdict is (Verdict.VIOLATED if known else Verdict.UNKNOWN)


@pytest.mark.parametrize("told", [False, True])
def test_without_a_version_the_findings_say_how_they_were_read(told: bool, tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    incident.begins(100)
    incident.succeeds(20, 1, 2, 60)
    if not told:
        for broker in (1, 2, 3):
            shutil.rmtree(incident[broker].data)
        for log in tmp_path.rglob("*.log"):
            lines = [line for line in log.read_text().splitlines(keepends=True) if "orders" in line]
            log.write_text("".join(lines))
    findings = [finding for rule in RULES for finding in incident.findings(rule.id)]
    assert findings
    for finding in findings:
        assert (READ_AS in finding.inferences) is not told


@pytest.mark.parametrize(("epoch", "who"), [(0, [1, 3]), (1, [1])])
def test_who_reaches_as_far_need_not_have_what_a_replica_lacks(epoch: int, who: list[int], tmp_path: Path) -> None:
    """Broker 2's files end at 60 and its lines led to 100 records of epoch 0; broker 3 has a hundred too."""
    incident = Incident(tmp_path)
    incident.begins(100)
    incident[1].segment([(0, 99, 0)])
    incident[2].segment([(0, 59, 0)])
    incident[2].checkpoint(100)
    incident[3].segment([(0, 59, 0), (60, 99, epoch)])
    (finding,) = incident.findings("hw-above-leo")
    have = [fact.broker for fact in finding.facts if "has the records" in fact.text]
    assert have == who


@pytest.mark.parametrize("epoch", [1, 4])
def test_who_was_in_sync_is_not_known_past_epochs_that_nobody_names(epoch: int, tmp_path: Path) -> None:
    """Broker 2 came back with 60 of 100 records and leads: from the ISR, as far as epoch 0 tells."""
    incident = Incident(tmp_path)
    incident.begins(100)
    incident.elects(31, epoch, 2, [2])
    incident[2].starts(30).loads(30, 60).leads(31, epoch, 60, 60, [2])
    incident[1].starts(40).loads(40, 100).follows(41, epoch, 2, 100, 100).cuts(41, 60)
    for broker in (1, 2):
        incident[broker].segment([(0, 59, 0)])
    assert incident.verdict("committed-data-lost") == "violated"
    assert (incident.verdict("leo-regression") == "violated") == (epoch == 1)
    silent = ["who led orders-0 in leader epoch 1, 2, 3" in wish for wish in incident.missing("unclean-election")]
    assert any(silent) == (epoch == 4)


@pytest.mark.parametrize(("value", "verdict"), [(100, "unknown"), (47, "clean")])
def test_a_checkpoint_of_a_silent_broker_counts_above_what_others_state(
    value: int, verdict: str, sample_traces: Path, tmp_path: Path
) -> None:
    """Of broker 1 neither logs nor segments of the partition are there. Its file states 47, as two others do."""
    evidence = Path(shutil.copytree(sample_traces / "txn-4.1.1", tmp_path / "evidence"))
    shutil.rmtree(evidence / "broker-1" / "logs")
    (file,) = evidence.glob("broker-1/data*/replication-offset-checkpoint")
    file.write_text(file.read_text().replace("__transaction_state 0 47", f"__transaction_state 0 {value}"))
    (one,) = (one for one in scan([str(evidence)]).partitions if one.history.name == "__transaction_state-0")
    assert one.judgements["committed-data-lost"].verdict.value == verdict
    wanted = "segments or leader-epoch-checkpoint of brokers 1, 2 and 3: the leader epochs of offsets 0 to 99"
    assert (wishes(one.judgements["committed-data-lost"]) == [wanted]) == (value == 100)


def test_a_leader_that_states_its_role_twice_in_an_epoch_has_no_next_one(sample_traces: Path, tmp_path: Path) -> None:
    """Without broker 1's server.log, two requests of leader epoch 0 are two roles of one process."""
    evidence = Path(shutil.copytree(sample_traces / "frozenctl-2.8.2", tmp_path / "evidence"))
    (evidence / "broker-1" / "logs" / "server.log").unlink()
    (one,) = (one for one in scan([str(evidence)]).partitions if one.history.name == "orders-0")
    assert one.judgements["segment-damage"].verdict is Verdict.CLEAN
    assert "broker 1's server.log" in wishes(one.judgements["hw-regression"])


@pytest.mark.parametrize("silent", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_an_epoch_that_nobody_names_may_have_had_a_leader(named: bool, silent: bool, tmp_path: Path) -> None:
    """Leader 1 is alone in the ISR. The controller's lines begin with epoch 2, which has no leader, or with epoch 1."""
    incident = Incident(tmp_path, brokers=2)
    incident[1].creates(1).leads(1, 0, 0, 0, [1, 2]).shrinks(5, "1,2", "1", 50, 50, "(brokerId: 2, endOffset: 20)")
    incident[2].creates(1).follows(1, 0, 1, 0, 0)
    for epoch in (1, 2) if named else (2,):
        incident.elects(20 + epoch, epoch, -1, [1])
    if silent:
        (incident[2].folder / "logs" / "state-change.log").unlink()
    assert incident.verdict("unclean-election") == ("clean" if named else "unknown")
    asked = any("who led orders-0 in leader epoch 1" in wish for wish in incident.missing("unclean-election"))
    assert asked != named


def test_how_much_a_leader_had_is_not_known_where_its_lines_begin_after_it_led(
    sample_traces: Path, tmp_path: Path
) -> None:
    """What another's high watermark proves to be lost is the least then."""
    evidence = Path(shutil.copytree(sample_traces / "emptydisk-3.9.1", tmp_path / "evidence"))
    actions = json.loads((evidence / "truth.json").read_text("utf-8"))["actions"]
    wiped = next(action["at"] for action in actions if action["what"] == "wiped")
    moment = datetime.fromtimestamp(wiped, UTC).strftime("[%Y-%m-%d %H:%M:%S")
    for log in (evidence / "broker-1" / "logs").glob("*.log"):
        lines = log.read_text("utf-8").splitlines(keepends=True)
        first = next((at for at, line in enumerate(lines) if line.startswith("[20") and line > moment), len(lines))
        log.write_text("".join(lines[first:]), "utf-8")
    (loss,) = judged(evidence, rule="committed-data-lost").findings
    assert (loss.offsets, loss.records) == (((0, 33),), (33, None))
    assert any("broker 1 (leader of epoch 0)" in open_end for open_end in loss.uncertain)


@pytest.mark.parametrize("named", [True, False])
def test_in_an_epoch_that_nobody_names_a_log_may_have_come_back_shorter(*, named: bool, tmp_path: Path) -> None:
    """Broker 1 leads, is stopped with the others, and leads again; of the process in between no line is left."""
    incident = Incident(tmp_path, brokers=2)
    incident.begins(10)
    if named:
        incident.elects(10, 1, -1, [1])
    incident.elects(20, 2, -1, [1])
    for number in (1, 2):
        incident[number].starts(30)
        incident[number].loads(31, 10)
    incident.succeeds(32, 3, 1, 10, 2)
    judgement = incident.partition_of(incident.scan()).judgements["leo-regression"]
    assert judgement.verdict is (Verdict.CLEAN if named else Verdict.UNKNOWN)
    if not named:
        assert [wish.partition(", with rotated")[0] for wish in wishes(judgement)] == [
            f"broker {number}'s server.log and state-change.log between leader epochs 0 and 3" for number in (1, 2)
        ]
        assert all("no log line names epoch 1," in wish for wish in wishes(judgement))


@pytest.mark.parametrize(
    ("began_with", "cut_to", "named", "cause"),
    [
        (20, None, True, "hw-truncation"),
        (20, 15, True, "hw-truncation"),
        (20, 5, True, "unknown"),
        (5, None, True, "lagging-isr-member"),  # it had none there to keep
        (20, None, False, "unknown"),
        (5, None, False, "unknown"),
    ],
)
def test_a_tail_that_a_leader_kept_is_the_cause_where_its_lines_tell_that_it_was_there(
    began_with: int, cut_to: int | None, cause: str, *, named: bool
) -> None:
    """Broker 2 followed in leader epoch 1 and leads in epoch 3 with other records from offset 10 on."""
    ref, both = Ref(row=1), frozenset({1, 2})
    history = History(
        PartitionFacts("orders", 0), PartitionProtocol(TruncatesTo.HIGH_WATERMARK, joins_below_epoch_start=Answer.YES)
    )
    history.replicas[2] = Replica(2)
    history.coverage = whole(1, 2, unnamed=() if named else (2,))
    leaders = {0: 2, 1: 1, 2: 1, 3: 2} if named else {0: 2, 1: 1, 3: 2}
    history.epochs = LeaderEpochs(
        {
            n: Epoch(n, leader=b, leader_took_up=True, isr=[(both, ref)], isr_from_leader=True)
            for n, b in leaders.items()
        }
    )
    history.facts = replace(history.facts, forks=(Fork(1, 2, ((10, 20),), ref, ref, (10, 19, None), (10, 19, None)),))
    followed = RoleSpan(2, 1, 1, Role.FOLLOWER, leader=1, refs=[ref], start_end=began_with, start_ref=ref)
    followed.steps = (
        [Step(StepKind.TRUNCATED, cut_to, 20, 20, TruncationReason.HIGH_WATERMARK, None, (ref,))]
        if cut_to is not None
        else []
    )
    history.role_spans[2] = [
        RoleSpan(2, 0, 1, Role.LEADER, leader=2),
        followed,
        RoleSpan(2, 3, 1, Role.LEADER, leader=2),
    ]
    assert loss_cause(history, history.epochs[3], 10, 1) == cause


@pytest.mark.parametrize(("wrote", "cause"), [(1, "unknown"), (2, "unclean-election")])
def test_an_unclean_election_of_who_wrote_the_records_has_not_lost_them(wrote: int, cause: str) -> None:
    """What befell its log before it led again is not told."""
    history = History(PartitionFacts("orders", 0))
    history.epochs = LeaderEpochs(
        {0: Epoch(0, leader=wrote, begins=Interval.at(0), leader_took_up=True), 1: Epoch(1, leader=-1)}
    )
    history.epochs[2] = Epoch(2, leader=1, begins=Interval.at(20), leader_took_up=True, unclean=True)
    assert loss_cause(history, history.epochs[2], 20, 0) == cause


@pytest.mark.parametrize("gone", ["logs", "data", "all"])
def test_a_broker_that_nothing_is_known_of_may_have_been_the_next_controller(gone: str, tmp_path: Path) -> None:
    """With ZooKeeper any broker is one once the one before has died, and elects whom it likes."""
    incident = Incident(tmp_path)
    incident.begins(20)
    for what in ("logs", "data") if gone == "all" else (gone,):
        shutil.rmtree(incident[3].folder / what)
    for rule in ("committed-data-lost", "unclean-election"):
        followed = [wish for wish in incident.missing(rule) if "later leader" in wish and "broker 3" in wish]
        assert bool(followed) == (gone == "all")
        assert incident.verdict(rule) == "unknown" or gone != "all"


@pytest.mark.parametrize("named", [True, False])
def test_one_whole_log_says_nothing_of_replicas_that_nothing_names(named: bool, tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=1)
    incident[1].checkpoint(21).segment([(0, 20, 0)])
    if named:
        incident[1].leads(0, 0, 0, 0, (1,))
    assert incident.verdict("hw-above-leo") == ("clean" if named else "unknown")
    assert any("another" in wish for wish in incident.missing("hw-above-leo")) is not named


@pytest.mark.parametrize("stopped", [True, False])
def test_a_checkpoint_above_the_log_may_be_newer_than_the_copy_of_a_running_broker(
    stopped: bool, tmp_path: Path
) -> None:
    """Of one that has left the ISR it is not; else nothing tells whether its broker ran as its files were copied."""
    incident = Incident(tmp_path)
    incident.begins(30)
    incident[2].segment([(0, 19, 0)])
    if stopped:
        incident[1].shrinks(60, "1,2,3", "1,3", 30, 30, "(brokerId: 2, endOffset: 30)")
    (found,) = incident.findings("hw-above-leo")
    assert (Weakness.MAYBE_RUNNING in found.weak) is not stopped
    assert ["stopped while its directory was copied" in one for one in found.inferences] == ([] if stopped else [True])
    steps = [step.text for step in found.next_steps]
    assert any("ran while this evidence was copied" in step for step in steps) == (not stopped)
    # First a copy, then the start of a replica that has the records, and a look at the ISR before this one is started.
    assert steps[0].startswith("copy the directory orders-0 of brokers 1, 2 and 3 to another disk")
    check = next(
        at
        for at, step in enumerate(steps)
        if step.startswith("look at the line of orders-0, where HOST is a broker that runs")
    )
    assert steps[check - 1] == "start one of brokers 1 and 3, if it is stopped, while broker 2 stays stopped"
    assert steps[check + 1].startswith('if it has one of brokers 1 and 3 after "Isr:", wait until it has it')
    assert steps[check + 1].endswith("and start broker 2 then")
    assert not any("start broker 2" in step for step in steps[: check + 1])
    assert steps[check + 2].startswith("if it has not, leave broker 2 stopped")


def test_what_a_kraft_controller_prints_does_not_tell_who_led(sample_traces: Path, tmp_path: Path) -> None:
    """At stock level its log tells how a partition was made and of unclean elections; that line is missing here."""
    shutil.copytree(sample_traces / "unclean-3.9.1", tmp_path / "evidence")
    for path in [*(tmp_path / "evidence").glob("broker-*/data"), *(tmp_path / "evidence").rglob("state-change.log")]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for log in (tmp_path / "evidence").rglob("controller.log"):
        lines = log.read_text().splitlines(keepends=True)
        log.write_text("".join(line for line in lines if "UNCLEAN" not in line and "unclean election" not in line))
    judgement = judged(tmp_path / "evidence", rule="unclean-election")
    assert judgement.verdict is Verdict.UNKNOWN
    assert any("__cluster_metadata" in wish for wish in wishes(judgement))


@pytest.mark.parametrize("gone", ["data", ""])
def test_who_had_what_is_lost_may_have_cut_it_where_nothing_of_it_is_at_hand(gone: str, tmp_path: Path) -> None:
    """Broker 1 led with [20, 30) and is silent since; broker 2 leads without. Its files would show that it has them."""
    incident = Incident(tmp_path)
    incident.begins(20)
    incident[1].shrinks(10, "1,2,3", "1", 30, 30, "(brokerId: 2, endOffset: 20) (brokerId: 3, endOffset: 20)")
    incident[1].segment([(0, 19, 0), (20, 29, 0)])
    incident[1].checkpoint(30)
    incident.succeeds(20, 1, 2, 20, 3)
    if gone:
        shutil.rmtree(incident[1].data)
    assert [loss.offsets for loss in incident.findings("committed-data-lost")] == [((20, 30),)]
    told = [wish for wish in incident.missing("truncation-below-committed") if "whether it truncated offsets" in wish]
    assert bool(told) == bool(gone)


def test_records_that_may_have_been_deleted_before_need_not_be_lost(tmp_path: Path) -> None:
    """A client deleted the first 30 records, and only the leader's server.log states it (``retforked-3.9.1``)."""
    case = unpacked("retforked-3.9.1", tmp_path)
    for there in (True, False):
        if not there:
            (case / "broker-1" / "logs" / "server.log").unlink()
        found = [one for one in scan([str(case)]).findings if one.rule == "committed-data-lost"]
        (one,) = (one for one in found if one.topic == "delpart")
        assert one.offsets == (((30 if there else 20), 50),)
        assert any(text.startswith("fewer may be lost") for text in one.uncertain) == (not there)
