"""What exporters of metrics printed: what it proves of a loss, and when it proves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines import large
from forensics.replay.confidence import Confidence, Weakness
from forensics.replay.inferences import Inferred
from forensics.reports.json_report import render
from forensics.reports.redaction import redact
from forensics.rules.finding import GroupReset
from tests.incident import ZERO, Incident
from tests.replay.test_group_reads import power_loss

LOSS, CUT = "committed-data-lost", "truncation-below-committed"
Value = tuple[float, int, int | None]
"""Seconds, the partition's end, and the leader that the exporter names."""
MINUTE = 60


def scraped(folder: Path, *values: Value, name: str = "exporter", labels: str = "", topic: str = "orders") -> None:
    """Write scrapes of an exporter."""
    place = f'topic="{topic}",partition="0"{labels}'
    lines = []
    for at, end, leader in values:
        time = round((ZERO.timestamp() + at) * 1000)
        lines.append(f"kafka_topic_partition_current_offset{{{place}}} {end} {time}")
        if leader is not None:
            lines.append(f"kafka_topic_partition_leader{{{place}}} {leader} {time}")
    (folder / f"{name}.prom").write_text("\n".join(lines) + "\n")


FELL: tuple[Value, ...] = ((60, 9, 1), (75, 15, 1), (135, 12, 2), (150, 20, 2))


def test_a_value_that_fell_shows_the_loss(tmp_path: Path) -> None:
    incident = power_loss(tmp_path)
    scraped(tmp_path, *FELL)
    assert incident.verdict(LOSS) == "violated"
    (found,) = incident.findings(LOSS)
    assert found.offsets == ((10, 15),)
    assert found.confidence is Confidence.INFERRED
    assert Weakness.SCRAPED_ALONE in found.weak
    assert found.rests_on == (Inferred.SCRAPED_HIGH_WATERMARK,)
    said = "an exporter of metrics printed 15 (leader epoch 0) as the partition's end: everything below was committed"
    assert found.facts[0].text == said
    assert [one.path.rpartition("/")[2] for one in found.evidence[:1]] == ["exporter.prom"]
    (cut,) = incident.findings(CUT)
    assert (cut.replicas, cut.offsets) == ((1,), ((10, 15),))
    assert incident.findings("uncommitted-truncation") == []


def late(folder: Path) -> Incident:
    """The same with an hour between the beginning and the power loss."""
    incident = Incident(folder, brokers=2)
    incident.begins(10)
    recovers = "INFO [Log partition=orders-0, dir=/d] Recovering unflushed segment 0 (kafka.log.Log)"
    at = 60 * MINUTE
    incident[2].starts(at).says(at, recovers).loads(at, 10)
    incident.elects(at + 1, 1, 2, [2])
    incident[2].leads(at + 1, 1, 10, 10, [2])
    incident[1].starts(at + 20).says(at + 20, recovers).loads(at + 20, 15).follows(at + 21, 1, 2, 15, 10)
    incident[1].cuts(at + 22, 10)
    for number in (1, 2):
        incident[number].segment([(0, 9, 0), (10, 19, 1)])
        incident[number].epochs((0, 0), (1, 10)).checkpoint(20)
    return incident


def test_a_value_of_long_before_the_next_leader_shows_the_loss(tmp_path: Path) -> None:
    """No other leader can have answered, so nothing need name one."""
    incident = late(tmp_path)
    scraped(tmp_path, (20 * MINUTE, 15, None))
    assert [one.offsets for one in incident.findings(LOSS)] == [((10, 15),)]


@pytest.mark.parametrize(
    "values",
    {
        "the leader may have changed already, by a clock that is minutes slow": [(58 * MINUTE, 15, 1)],
        "older than the first epoch: of a deleted topic": [(-40 * MINUTE, 15, 1)],
        "nothing above where the next leader began": [(20 * MINUTE, 10, 1), (62 * MINUTE, 20, 2)],
        "asked a broker that did not lead": [(20 * MINUTE, 15, 2)],
    }.items(),
    ids=lambda one: one[0],
)
def test_values_that_show_nothing(tmp_path: Path, values: tuple[str, list[Value]]) -> None:
    incident = late(tmp_path)
    scraped(tmp_path, *values[1])
    assert incident.verdict(LOSS) == incident.verdict(CUT) == "unknown"
    assert incident.findings(LOSS) == incident.findings(CUT) == []


@pytest.mark.parametrize(
    "values",
    {
        "it did not fall: the later leader may have answered": [(75, 15, 1), (150, 20, 2)],
        "no leader is named": [(75, 15, None), (135, 12, None)],
        "one scrape alone names the later leader": [(75, 15, 1), (135, 12, 2), (150, 20, 1)],
        "the former leader answered once more, and did not know": [
            (75, 9, 1),
            (125, 15, 2),
            (135, 12, 1),
            (150, 12, 1),
        ],
        "the value fell to below where the leader began: the topic was created again": [(75, 15, 1), (135, 0, 2)],
    }.items(),
    ids=lambda one: one[0],
)
def test_falls_that_show_nothing(tmp_path: Path, values: tuple[str, list[Value]]) -> None:
    incident = power_loss(tmp_path)
    scraped(tmp_path, *values[1])
    assert incident.verdict(LOSS) == "unknown"
    assert incident.findings(LOSS) == incident.findings(CUT) == []


@pytest.mark.parametrize(
    ("other", "labels", "shown"),
    [
        (None, "", True),
        ((70, 12, 1), ',cluster="a",instance="second"', True),
        ((70, 3, 1), ',cluster="a",instance="second"', False),  # two values at one time
        ((70, 12, 1), ',cluster="b"', False),
    ],
)
def test_series_of_several_clusters_show_nothing(tmp_path: Path, other: Value | None, labels: str, shown: bool) -> None:
    incident = power_loss(tmp_path)
    scraped(tmp_path, *FELL, labels=',cluster="a",instance="first"')
    if other is not None:
        scraped(tmp_path, other, labels=labels, name="other")
    assert bool(incident.findings(LOSS)) == shown


def test_another_topic_shows_nothing(tmp_path: Path) -> None:
    incident = power_loss(tmp_path)
    scraped(tmp_path, *FELL, topic="refunds")
    assert incident.findings(LOSS) == []


def test_a_value_above_what_the_log_held_is_of_another_cluster(tmp_path: Path) -> None:
    """The next epoch began where the whole log ended: nobody can have committed offset 500 in epoch 0."""
    incident = Incident(tmp_path, brokers=2)
    incident.begins(10)
    incident.elects(3600, 1, 2, [2, 1])
    incident[2].leads(3600, 1, 10, 10, [2, 1])
    incident[1].follows(3601, 1, 2, 10, 10)
    for number in (1, 2):
        incident[number].segment([(0, 9, 0), (10, 19, 1)])
        incident[number].epochs((0, 0), (1, 10)).checkpoint(20)
    scraped(tmp_path, (1200, 500, 1))
    assert incident.verdict(LOSS) == "clean"
    assert incident.history().scraped == []


def test_a_clean_failover_with_an_uncommitted_tail_is_none(tmp_path: Path) -> None:
    """The leader had five records more than were committed. Its clock and the server's are apart."""
    incident = power_loss(tmp_path)
    scraped(tmp_path, (60, 9, 1), (75, 10, 1), (90, 12, 2), (105, 15, 2), (120, 20, 2))
    assert incident.verdict(LOSS) == "unknown"
    assert incident.findings(LOSS) == incident.findings(CUT) == []


def test_positions_of_groups_name_those_that_a_loss_concerns(tmp_path: Path) -> None:
    """Alone they show nothing: a position may have been set."""
    incident = power_loss(tmp_path / "alone")
    positions(incident.folder)
    assert incident.findings(LOSS) == []
    incident = power_loss(tmp_path / "both")
    positions(incident.folder)
    scraped(incident.folder, *FELL)
    (found,) = incident.findings(LOSS)
    assert found.groups == (GroupReset("billing", 14, 10),)
    assert "billing" not in render(redact(incident.scan()))


def positions(folder: Path) -> None:
    """Write scrapes of the positions of two groups."""
    lines = []
    for group, at, position in (("billing", 60, 9), ("billing", 75, 14), ("audit", 75, 9)):
        time = round((ZERO.timestamp() + at) * 1000)
        labels = f'consumergroup="{group}",topic="orders",partition="0"'
        lines.append(f"kafka_consumergroup_current_offset{{{labels}}} {position} {time}")
    (folder / "groups.prom").write_text("\n".join(lines) + "\n")


def test_it_is_judged_alike_in_bounded_memory_and_redacted(tmp_path: Path) -> None:
    incident = power_loss(tmp_path)
    scraped(tmp_path, *FELL, labels=',instance="exporter.example.org:9308"')
    whole = incident.scan()
    assert [one.rule for one in whole.findings].count(LOSS) == 1
    assert render(large.scan([str(tmp_path)], jobs=1, memory=1 << 30)) == render(whole)
    assert "example.org" not in render(redact(whole))
