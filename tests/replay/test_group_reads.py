"""What consumer groups read: what it proves of a loss, and when it proves nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forensics.case.kept_files import written
from forensics.engines import large
from forensics.engines.local import scan
from forensics.replay.confidence import Confidence, Weakness
from forensics.replay.inferences import Inferred
from forensics.reports.json_report import render
from forensics.reports.redaction import redact
from forensics.rules.finding import GroupReset
from tests.committed import Commit, commit
from tests.incident import Incident

LOSS, CUT = "committed-data-lost", "truncation-below-committed"


def power_loss(folder: Path, hw: int = 10) -> Incident:
    """Both brokers lose power. Broker 2 returns without offsets 10 to 14 and leads; broker 1 truncates them.

    Args:
        folder: of the evidence.
        hw: high watermark that broker 1 reads back.
    """
    incident = Incident(folder, brokers=2)
    incident.begins(10)
    recovers = "INFO [Log partition=orders-0, dir=/d] Recovering unflushed segment 0 (kafka.log.Log)"
    incident[2].starts(100).says(100, recovers).loads(100, 10)
    incident.elects(101, 1, 2, [2])
    incident[2].leads(101, 1, 10, 10, [2])
    incident[1].starts(120).says(120, recovers).loads(120, 15).follows(121, 1, 2, 15, hw).cuts(122, 10)
    for number in (1, 2):
        incident[number].segment([(0, 9, 0), (10, 19, 1)])
        incident[number].epochs((0, 0), (1, 10)).checkpoint(20)
    return incident


READ = (Commit(20, 5, 0), Commit(40, 10, 0), Commit(60, 15, 0))


def test_a_truncation_of_what_a_group_read_is_one_below_the_committed_offset(tmp_path: Path) -> None:
    incident = power_loss(tmp_path)
    commit(tmp_path, *READ)
    (found,) = incident.findings(CUT)
    assert (found.replicas, found.offsets) == ((1,), ((10, 15),))
    assert Weakness.READ_BY_GROUP_ALONE in found.weak
    assert incident.findings("uncommitted-truncation") == []


def test_without_a_group_the_loss_is_unknown(tmp_path: Path) -> None:
    assert power_loss(tmp_path).verdict(LOSS) == "unknown"


def test_a_group_that_read_the_records_shows_the_loss(tmp_path: Path) -> None:
    incident = power_loss(tmp_path)
    commit(tmp_path, *READ)
    assert incident.verdict(LOSS) == "violated"
    (found,) = incident.findings(LOSS)
    assert found.offsets == ((10, 15),)
    assert found.confidence is Confidence.INFERRED
    assert Weakness.READ_BY_GROUP_ALONE in found.weak
    assert found.rests_on == (Inferred.READ_BELOW_HIGH_WATERMARK,)
    fact = found.facts[0]
    assert fact.text == "consumer group billing read offset 14 (leader epoch 0): the high watermark was above it"
    # Both brokers have the commit: one statement with two bearers.
    assert [one.path.rpartition("/data/")[0][-8:] for one in found.evidence[:2]] == ["broker-1", "broker-2"]
    (statement,) = [one for one in incident.history().read_by_groups if one.high_watermark == 15]
    assert (statement.epoch, statement.group, len(statement.refs)) == (0, "billing", 2)


@pytest.mark.parametrize(
    "commits",
    {
        "no epoch: it may have been set by hand": [Commit(20, 5), Commit(40, 10), Commit(60, 15)],
        "nothing beyond where the next leader began": [Commit(20, 5, 0), Commit(60, 10, 0)],
        "older than the leader epoch: of a deleted topic": [Commit(0.5, 15, 0)],
        "a tombstone since: the topic was deleted": [*READ, Commit(61, None)],
        "set back in the same epoch": [*READ, Commit(62, 3, 0)],
        "an epoch that had no record there": [Commit(60, 15, 1)],
        "an epoch that nobody knows": [Commit(60, 15, 7)],
        "another topic": [Commit(60, 15, 0, topic="refunds")],
        "committed when the next leader had begun: the client repeats an epoch": [
            Commit(60, 10, 0),
            Commit(150, 15, 0),
        ],
        "of a group that repeats it later": [*READ, Commit(150, 18, 0)],
        "read in the later epoch": [Commit(20, 5, 0), Commit(150, 20, 1)],
    }.items(),
    ids=lambda one: one[0],
)
def test_commits_that_show_nothing(tmp_path: Path, commits: tuple[str, list[Commit]]) -> None:
    incident = power_loss(tmp_path)
    commit(tmp_path, *commits[1])
    assert incident.verdict(LOSS) == incident.verdict(CUT) == "unknown"
    assert incident.findings(LOSS) == incident.findings(CUT) == []


def test_a_group_that_continues_after_the_loss_still_shows_it(tmp_path: Path) -> None:
    """Its position was beyond the end of the log, so it was set to the end, and moved on from there."""
    incident = power_loss(tmp_path)
    commit(tmp_path, *READ, Commit(130, 12), Commit(140, 20, 1))
    assert [one.offsets for one in incident.findings(LOSS)] == [((10, 15),)]


def test_a_position_above_what_the_log_held_was_not_read(tmp_path: Path) -> None:
    """The next epoch began where the whole log ended: nobody can have read offset 500 in epoch 0."""
    incident = Incident(tmp_path, brokers=2)
    incident.begins(10)
    incident.elects(101, 1, 2, [2, 1])
    incident[2].leads(101, 1, 10, 10, [2, 1])
    incident[1].follows(102, 1, 2, 10, 10)
    for number in (1, 2):
        incident[number].segment([(0, 9, 0), (10, 19, 1)])
        incident[number].epochs((0, 0), (1, 10)).checkpoint(20)
    commit(tmp_path, Commit(60, 500, 0), Commit(70, 700, 0, "ahead"))
    assert incident.verdict(LOSS) == "clean"
    assert incident.history().read_by_groups == []


def test_what_a_broker_states_is_a_finding_of_its_own(tmp_path: Path) -> None:
    """What the group read beyond it is another one, with less confidence."""
    incident = power_loss(tmp_path, hw=12)
    commit(tmp_path, *READ)
    assert [one.offsets for one in incident.findings(LOSS)] == [((10, 12),), ((12, 15),)]
    stated, read = incident.findings(LOSS)
    assert Weakness.READ_BY_GROUP_ALONE not in stated.weak
    assert Weakness.READ_BY_GROUP_ALONE in read.weak
    assert stated.groups == read.groups == (GroupReset("billing", 15, 10),)


def test_groups_that_read_lost_records_are_named_with_the_offset_to_restart_from(tmp_path: Path) -> None:
    incident = power_loss(tmp_path)
    behind, went_on = Commit(30, 8, 0, "behind"), Commit(130, 20, 1, "went-on")
    undated, other = Commit(55, 14, -1, "before"), Commit(50, 13, 0, "of two words")
    commit(tmp_path, *READ, behind, Commit(45, 12, 0, "went-on"), undated, went_on, Commit(140, 19, -1, "after"), other)
    (found,) = incident.findings(LOSS)
    resets = [("before", 14, 10), ("billing", 15, 10), ("of two words", 13, 10)]
    assert found.groups == tuple(GroupReset(*one) for one in resets)
    *_, first, second = (step for step in found.next_steps if step.text.startswith("stop consumer group"))
    assert first.text.startswith(
        "stop consumer group billing, which has committed position 15, and set it to offset 10"
    )
    assert first.command == (
        "kafka-consumer-groups.sh --bootstrap-server HOST:9092 --group billing --topic orders:0 --reset-offsets "
        "--to-offset 10 --dry-run"
    )
    assert second.command is not None
    assert "--group 'of two words' --topic" in second.command
    told = [fact.text for fact in found.facts if "last" in fact.text]
    assert told == [
        "consumer group before committed position 14 last: the records from offset 10 on are lost",
        "consumer group of two words committed position 13 last: the records from offset 10 on are lost",
    ]


def alone(folder: Path) -> Incident:
    """Broker 1 led, restarted with log end offset 10, led again and stopped. Of broker 2 nothing is in the evidence."""
    incident = Incident(folder, brokers=2)
    incident.begins(10)
    recovers = "INFO [Log partition=orders-0, dir=/d] Recovering unflushed segment 0 (kafka.log.Log)"
    incident[1].starts(100).says(100, recovers).loads(100, 10)
    incident.elects(101, 1, 1, [1])
    incident[1].leads(101, 1, 10, 10, [1]).says(
        200, "INFO [KafkaServer id=1] Starting controlled shutdown (kafka.server.KafkaServer)"
    )
    shutil.rmtree(folder / "broker-2")
    return incident


ABOVE = [Commit(20, 5), Commit(40, 12), Commit(60, 15)]


def test_a_group_that_moved_on_beyond_the_last_leaders_log_is_a_suspected_loss(tmp_path: Path) -> None:
    incident = alone(tmp_path)
    commit(tmp_path, *ABOVE, brokers=[1])
    assert incident.verdict(LOSS) == "unknown"
    (found,) = incident.findings(LOSS)
    assert (found.confidence, found.offsets) == (Confidence.SUSPECTED, ((10, 15),))
    assert found.summary.startswith("a consumer group moved on to position 15, but the log of broker 1, which led last")


@pytest.mark.parametrize(
    "commits",
    [
        ABOVE[2:],  # one commit alone may have been set
        [*ABOVE, Commit(70, 10)],  # it was reset to the end
        [*ABOVE[:1], Commit(40, 10)],
        [*ABOVE, Commit(205, 17)],  # later than the leader stopped: of another one
        [*ABOVE, Commit(61, None)],
        [Commit(0.2, 5), Commit(0.5, 15)],  # older than the topic
    ],
)
def test_positions_that_are_no_sign(tmp_path: Path, commits: list[Commit]) -> None:
    incident = alone(tmp_path)
    commit(tmp_path, *commits, brokers=[1])
    assert incident.verdict(LOSS) == "unknown"
    assert incident.findings(LOSS) == []


def test_names_of_groups_are_redacted(tmp_path: Path) -> None:
    incident = power_loss(tmp_path)
    commit(tmp_path, *READ)
    shown = render(redact(incident.scan()))
    assert "billing" not in shown
    assert "--group group1 --topic topic1:0" in shown
    assert "consumer group group1 read offset 14" in shown
    assert not {"billing"} & set(redact(incident.scan()).case.observations.get_column("detail").to_list())


def test_it_is_judged_alike_in_bounded_memory_and_from_its_trace(tmp_path: Path) -> None:
    """The commits are in the directory of another partition than the finding."""
    incident = power_loss(tmp_path / "evidence")
    commit(tmp_path / "evidence", *READ)
    whole = incident.scan()
    path = [str(tmp_path / "evidence")]
    assert render(large.scan(path, jobs=1, memory=1 << 30)) == render(whole)
    trace = tmp_path / "orders.jsonl"
    trace.write_text("".join(line + "\n" for line in written(whole.case, cluster="test")))
    again = scan([str(trace)])
    found = [one for one in again.findings if one.rule == LOSS]
    assert [(one.offsets, one.rests_on) for one in found] == [(((10, 15),), (Inferred.READ_BELOW_HIGH_WATERMARK,))]
