"""A broker of which no line is in the evidence licenses nothing that rests on an absent line.

Each test judges the same history twice: with all lines of the broker, of which one more would have said otherwise, and
with none. Nothing shows that lines of a broker are missing that has none, so whoever asks only for that is misled.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forensics.replay.broker_facts import BrokerFacts
from forensics.replay.committed.all_committed import has_all_committed
from forensics.replay.committed.proof import committed, possible_losses
from forensics.replay.coverage import Coverage, Omission, Printed, Span
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.high_watermarks.candidates import beyond_lines
from forensics.replay.high_watermarks.crosscheck import found_shorter_unexplained
from forensics.replay.high_watermarks.hw_attribution import HwAttribution
from forensics.replay.high_watermarks.restored_checkpoints import restored_checkpoints
from forensics.replay.history import (
    History,
    HwSource,
    HwStatement,
    Replica,
    Role,
    ShortenedLog,
    Truncation,
    TruncationReason,
)
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.leadership.elections import isr_changes_complete
from forensics.replay.leadership.epoch_rollback import begun_twice
from forensics.replay.leadership.epoch_start import EpochStart
from forensics.replay.leadership.epochs import unnamed
from forensics.replay.leadership.replica_logs import ReplicaLogs
from forensics.replay.lineage import UNKNOWN, Lineage
from forensics.replay.log_reconstruction import LogReconstruction
from forensics.replay.roles.steps import RoleSpan, Sample, Step, StepKind
from forensics.replay.truncations.log_below_checkpoint import is_stopped
from forensics.replay.truncations.safe_truncations import is_safe
from tests.covering import holed, whole, without
from tests.incident import Incident
from tests.numbered import numbered

LINE = Ref(row=5)
ENDS_EARLY = Omission("test-early", Span.AFTER, "its lines end early", "a test")
SILENT = [whole(2), holed(whole(1, 2), 1), without(whole(1, 2), 1, Printed.LOG)]
"""Broker 1 has no line; some are missing; its server.log is."""
IDS = ["silent", "some", "no server.log"]
BROKERS = {broker: BrokerFacts() for broker in (1, 2)}


def isr(*members: int) -> tuple[frozenset[int], Ref]:
    return frozenset(members), LINE


def found(coverage: Coverage, *spans: RoleSpan, **known: Any) -> History:
    """Brokers 1 and 2, whose replicas are in the evidence."""
    history = History(
        PartitionFacts("orders", 0), coverage=coverage, replicas={b: Replica(b, directory="d") for b in (1, 2)}
    )
    for span in spans:
        history.role_spans.setdefault(span.replica, []).append(span)
    if "disks" in known:
        history.facts = PartitionFacts("orders", 0, disks=known.pop("disks"))
    if "epochs" in known:
        history.epochs = LeaderEpochs(known.pop("epochs"))
    if "states" in known:
        history.states = numbered(known.pop("states"))
    for name, value in known.items():
        setattr(history, name, value)
    return history


@pytest.mark.parametrize("coverage", SILENT, ids=IDS)
def test_two_beginnings_of_an_epoch_may_be_those_of_a_deletion_that_no_line_shows(coverage: Coverage) -> None:
    refs = {0: LINE, 1: LINE}
    disks = {}
    for broker, start in ((1, 50), (2, 60)):
        starts = ((0, 0), (1, start))
        entries = tuple((epoch, offset, LINE) for epoch, offset in starts)
        disks[broker] = Disk(lineage=Lineage(starts), end=90, refs=refs, entries=entries)
    assert [back.epoch for back in begun_twice(found(whole(1, 2), disks=disks))] == [1]
    assert begun_twice(found(coverage, disks=disks)) == []


@pytest.mark.parametrize("coverage", SILENT, ids=IDS)
def test_a_high_watermark_of_a_log_of_unknown_epochs_needs_every_truncation(coverage: Coverage) -> None:
    """Its checkpoint says 80, and of which epochs its records are is not known: it may have truncated since."""
    own, its = Lineage().begin(UNKNOWN, 0), Lineage().begin(UNKNOWN, 0)
    said = HwStatement(1, UNKNOWN, its, 80, HwSource.CHECKPOINT, None, (LINE,))
    assert committed(found(whole(1, 2), statements=[said]), own, 0, 90, replica=1).ranges == ((0, 80),)
    assert committed(found(coverage, statements=[said]), own, 0, 90, replica=1).ranges == ()


@pytest.mark.parametrize("coverage", SILENT, ids=IDS)
def test_a_member_may_have_left_the_isr_of_a_leader_of_which_lines_are_missing(coverage: Coverage) -> None:
    """Broker 1 led and stated broker 2 in its ISR; broker 2 leads next, and no line states how it was elected."""
    spans = [RoleSpan(2, 0, 1, Role.FOLLOWER, 1, refs=[LINE]), RoleSpan(2, 1, 1, Role.LEADER, 2, refs=[LINE])]
    epochs = {0: Epoch(0, leader=1, isr=[isr(1, 2)], isr_from_leader=True), 1: Epoch(1, leader=2)}
    history = found(whole(1, 2), *spans, epochs=epochs)
    assert has_all_committed(history, epochs[0], epochs[1]) is True
    history.coverage = coverage
    history.answers.clear()
    assert has_all_committed(history, epochs[0], epochs[1]) is None
    history.states = numbered({4: (0, frozenset({1, 2})), 5: (1, frozenset({2}))})
    history.answers.clear()
    assert has_all_committed(history, epochs[0], epochs[1]) is True  # by the number that is its ISR at the election


@pytest.mark.parametrize("coverage", SILENT, ids=IDS)
def test_a_leader_of_which_lines_are_missing_may_have_restarted_between_two_epochs(coverage: Coverage) -> None:
    """Broker 1 leads two epochs, and broker 2 follows it in both without a restart."""
    follows = [RoleSpan(2, epoch, 1, Role.FOLLOWER, 1, refs=[LINE]) for epoch in (0, 1)]
    begins = (Interval.at(start, LINE) for start in (0, 40))
    epochs = {number: Epoch(number, leader=1, begins=one) for number, one in enumerate(begins)}
    history = found(whole(1, 2), *follows, epochs=epochs)
    fold = LogReconstruction(ReplicaLogs(history, history.role_spans, {}, {}))
    fold.logs.previous[2] = follows[0]
    assert fold._answered_from(2, follows[1], epochs[1]) == 40
    history.coverage = coverage
    assert fold._answered_from(2, follows[1], epochs[1]) is None


@pytest.mark.parametrize("coverage", [*SILENT, whole(1).lowered([ENDS_EARLY.of(1)])], ids=[*IDS, "ends early"])
def test_a_broker_that_shut_down_had_stopped_only_if_no_later_line_is_missing(coverage: Coverage) -> None:
    history = found(whole(1, 2), RoleSpan(1, 0, 1, Role.FOLLOWER, 2, refs=[LINE], shut_down=80))
    assert is_stopped(history, 1)
    history.coverage = coverage
    assert not is_stopped(history, 1)


@pytest.mark.parametrize("coverage", SILENT, ids=IDS)
def test_a_log_that_came_back_shorter_may_have_been_truncated_where_no_line_shows_it(coverage: Coverage) -> None:
    back = RoleSpan(1, 1, 2, Role.LEADER, 1, refs=[LINE])
    shorter = ShortenedLog(1, 0, Interval.at(23), 0, Lineage(((0, 0),)), None, (LINE,))
    assert found_shorter_unexplained(found(whole(1, 2), back), shorter, 5) == (False, None)
    assert found_shorter_unexplained(found(coverage, back), shorter, 5) == (True, None)


@pytest.mark.parametrize("coverage", SILENT, ids=IDS)
def test_a_change_of_the_isr_of_which_the_number_alone_is_left_may_have_let_anybody_in(coverage: Coverage) -> None:
    epochs = {0: Epoch(0, leader=1, isr=[isr(1)], isr_from_leader=True), 1: Epoch(1, leader=2, isr=[isr(2)])}
    states = {4: (0, frozenset({1})), 5: (0, None), 6: (1, frozenset({2}))}
    history = found(whole(1, 2), epochs=epochs, states=states)
    assert isr_changes_complete(history, epochs[1])
    history.coverage = coverage
    assert not isr_changes_complete(history, epochs[1])


@pytest.mark.parametrize("coverage", SILENT, ids=IDS)
@pytest.mark.parametrize("who", [1, 2])
def test_a_truncation_is_safe_only_where_both_sides_have_every_line(coverage: Coverage, who: int) -> None:
    """Broker 1 truncated as it began to follow broker 2, who had led before with high watermark 40."""
    cut = Step(StepKind.TRUNCATED, 40, None, 41, TruncationReason.LEADER_EPOCH, None, (LINE,))
    follows = [RoleSpan(who, epoch, 1, Role.FOLLOWER, leader, refs=[LINE]) for epoch, leader in ((0, 9), (1, 3 - who))]
    follows[1].steps.append(cut)
    leads = [RoleSpan(3 - who, epoch, 1, Role.LEADER, 3 - who, refs=[LINE]) for epoch in (1, 2)]
    gave_way = [RoleSpan(9, epoch, 1, role, 9, refs=[LINE]) for epoch, role in ((0, Role.LEADER), (1, Role.FOLLOWER))]
    gave_way[1].start_hw = Sample(40, LINE, None)
    epochs = {
        0: Epoch(0, leader=9, begins=Interval.at(0), leader_took_up=True),
        1: Epoch(1, leader=3 - who, begins=Interval.at(40), isr=[isr(1, 2)], isr_from_leader=True, isr_elected=True),
    }
    truncation = Truncation(who, 1, 3 - who, 40, Interval(41), Lineage(), TruncationReason.LEADER_EPOCH, None, (LINE,))
    history = found(whole(1, 2, 9), *follows, *leads, *gave_way, epochs=epochs)
    assert is_safe(history, truncation)
    both = Coverage({**coverage.printed, 9: whole(9).printed[9]}, coverage.known_missing)
    history.coverage = both
    assert not is_safe(history, truncation)


@pytest.mark.parametrize("coverage", [whole(2), without(whole(1, 2), 1, Printed.ROLES)])
def test_where_an_epoch_began_only_a_follower_with_every_role_says(coverage: Coverage) -> None:
    """Broker 1 heard where its leader's log ended, in epoch 1; broker 2 leads epoch 3 again."""
    heard = Step(StepKind.TRUNCATED, 40, None, 41, TruncationReason.LEADER_END_OFFSET, None, (LINE,))
    follows, leads = RoleSpan(1, 1, 1, Role.FOLLOWER, 2, steps=[heard]), RoleSpan(2, 1, 1, Role.LEADER, 2)
    epochs = {1: Epoch(1, leader=2)}
    history = found(whole(1, 2), follows, leads, epochs=epochs)
    fold = EpochStart(ReplicaLogs(history, history.role_spans, {}, {}))
    assert fold._stated_end(epochs[1], 2, leads) == (40, LINE)
    history.coverage = coverage
    assert fold._stated_end(epochs[1], 2, leads) is None


@pytest.mark.parametrize("coverage", SILENT, ids=IDS)
def test_a_follower_kept_its_log_only_where_its_truncations_would_be_told(coverage: Coverage) -> None:
    follows = RoleSpan(1, 1, 1, Role.FOLLOWER, 2, start_end=50, fetched=True)
    log = Lineage(((0, 0), (1, 50)))
    history = found(
        whole(1, 2), follows, epochs=LeaderEpochs({1: Epoch(1, leader=2, begins=Interval.at(50), lineage=log)})
    )
    fold = HwAttribution(ReplicaLogs(history, history.role_spans, {}, {}))
    assert fold._untruncated(1, follows, 50) == log
    history.coverage = coverage
    assert fold._untruncated(1, follows, 50) is None


@pytest.mark.parametrize("coverage", [whole(2), without(whole(1, 2), 1, Printed.ROLES)], ids=["silent", "no roles"])
def test_a_checkpoint_is_of_a_later_epoch_where_no_line_tells_the_roles_to_the_end(coverage: Coverage) -> None:
    """Broker 2 began epoch 1 at 20. No line of broker 1 tells whether it followed, outside the ISR."""
    epochs = {1: Epoch(1, leader=2, begins=Interval.at(20), leader_took_up=True, isr=[isr(2)], isr_from_leader=True)}
    said = HwStatement(1, UNKNOWN, Lineage(((0, 0),)), 30, HwSource.CHECKPOINT, None, (LINE,))
    history = found(whole(1, 2), epochs=epochs)
    assert beyond_lines(history, said) is None
    history.coverage = coverage
    assert beyond_lines(history, said) == 20


def test_epochs_that_no_line_names_had_a_leader_where_somebody_may_have_led_unseen() -> None:
    """KRaft brokers may leave epochs out though all their lines are there; a silent one may have led in them."""
    epochs = {0: Epoch(0, leader=1), 3: Epoch(3, leader=2)}
    assert unnamed(epochs, {}, complete=True, skips=True) == frozenset()
    assert unnamed(epochs, {}, complete=False, skips=False) == {1, 2}


def test_the_checkpoint_of_a_silent_broker_may_be_its_leaders_high_watermark(tmp_path: Path) -> None:
    """Broker 3 had [20, 30) of its own, which nobody else ever had. It began to follow leader 2 of epoch 1, took that
    one's high watermark over before it was reconciled with it (KAFKA-14704), and died: its checkpoint says 30.
    """
    incident = Incident(tmp_path)
    incident.elects(10, 1, 2, [1, 2])
    incident[2].leads(10, 1, 20, 20, [1, 2])
    incident[1].follows(10, 1, 2, 20, 20)
    for broker in (1, 2):
        incident[broker].segment([(0, 19, 0), (20, 59, 1)])
        incident[broker].epochs((0, 0), (1, 20)).checkpoint(60)
    incident[3].segment([(0, 19, 0), (20, 29, 0)])
    incident[3].epochs((0, 0)).checkpoint(30)
    assert incident.findings("committed-data-lost") == []
    assert incident.verdict("committed-data-lost") == "unknown"


@pytest.mark.parametrize("server_log", [True, False])
def test_the_isr_of_an_election_is_not_the_one_with_which_its_epoch_ended(server_log: bool, tmp_path: Path) -> None:
    """Controller 9 states the ISR with which epoch 0 began. Broker 1 alone would print that broker 2 left it."""
    incident = Incident(tmp_path, brokers=2)
    incident.elects(1, 0, 1, [1, 2])
    incident[1].creates(1).leads(1, 0, 0, 0, [1, 2])
    incident[2].creates(1).follows(1, 0, 1, 0, 0)
    incident[2].leads(100, 1, 50, 40, [2])  # elected by a controller of which no line is left
    incident[1].starts(200).creates(201).follows(202, 1, 2, 0, 0)
    for broker in (1, 2):
        incident[broker].segment([(0, 49, 0), (50, 79, 1)])
        incident[broker].epochs((0, 0), (1, 50)).checkpoint(80)
    if not server_log:
        (incident[1].folder / "logs" / "server.log").unlink()
    assert incident.verdict("committed-data-lost") == ("clean" if server_log else "unknown")
    if not server_log:
        assert "server.log" in incident.missing("committed-data-lost")[0]


@pytest.mark.parametrize("coverage", SILENT, ids=IDS)
def test_a_checkpoint_that_fell_may_be_of_a_crash_whose_recovery_no_line_shows(coverage: Coverage) -> None:
    """Broker 1 began to shut down, and its log of 90 was loaded. A recovery, which would be printed, has no line."""
    load = Step(StepKind.LOADED, 90, None, 50, None, None, (LINE,))
    led = RoleSpan(1, 0, 0, Role.LEADER, 1, start_end=50, steps=[load], shut_down=7)
    follows = RoleSpan(1, 1, 1, Role.FOLLOWER, 2, start_end=90, start_hw=Sample(40, LINE, None))
    reached = HwStatement(2, 0, Lineage(((0, 0),)), 80, HwSource.PRINTED, None, (LINE,))
    known = {"epochs": {0: Epoch(0, leader=1)}, "statements": [reached]}
    [fell] = restored_checkpoints(found(whole(1, 2), led, follows, **known), BROKERS)
    assert (fell.replica, fell.before, fell.after) == (1, 80, 40)
    assert restored_checkpoints(found(coverage, led, follows, **known), BROKERS) == []


@pytest.mark.parametrize("coverage", SILENT, ids=IDS)
def test_older_epochs_in_files_may_have_come_after_a_truncation_that_no_line_shows(coverage: Coverage) -> None:
    """Broker 1 led epoch 2 from 50 on. Its files hold records of epoch 1 below, which it may have fetched later."""
    leads = RoleSpan(1, 2, 0, Role.LEADER, 1, start_end=50)
    disks = {1: Disk(lineage=Lineage(((0, 0), (1, 30), (3, 70))), end=100)}

    def log(coverage: Coverage) -> Lineage:
        return LogReconstruction(ReplicaLogs(found(coverage, leads, disks=disks), {1: [leads]}, disks, {})).logs.now[1]

    assert [log(whole(1, 2)).epoch_at(at) for at in (20, 40)] == [0, 1]
    assert [log(coverage).epoch_at(at) for at in (20, 40)] == [UNKNOWN, UNKNOWN]


def test_a_leader_whose_lines_begin_with_a_new_log_may_have_had_another(tmp_path: Path) -> None:
    """Broker 1 led epoch 0. Its disks and its logs were lost, and it led epoch 1 with an empty log."""
    incident = Incident(tmp_path, brokers=2)
    incident.elects(1, 0, 1, [1, 2])
    incident[2].creates(1).follows(1, 0, 1, 0, 0)
    incident.elects(100, 1, 1, [1])
    incident[1].creates(101).leads(101, 1, 0, 0, [1])
    incident[2].follows(102, 1, 1, 0, 0)
    history = incident.history()
    assert history.replicas[1].starts_empty
    first, second = history.epochs[0], history.epochs[1]
    assert has_all_committed(history, first, second) is None
    assert [(one.first, one.end) for one in possible_losses(history)] == [(0, None)]
    history.coverage = whole(1, 2)  # as if no line showed that broker 1 had a role before its own lines begin
    history.answers.clear()
    assert has_all_committed(history, first, second) is True
