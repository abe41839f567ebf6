"""Log end offsets that exporters of brokers printed: what they prove, and when they prove nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines import large
from forensics.replay.confidence import Confidence, Weakness
from forensics.replay.history import Truncation
from forensics.replay.inferences import Inferred
from forensics.reports.json_report import render
from forensics.reports.redaction import redact
from tests.incident import ZERO, Incident
from tests.replay.test_scraped import MINUTE, late

LOSS, SHORTER = "committed-data-lost", "leo-regression"
Value = tuple[float, int]
"""Seconds, and the log end offset."""
OF_TWO = 'broker="2"'
SHOWN = (20 * MINUTE, 15)


def printed(folder: Path, *values: Value, labels: str = OF_TWO, name: str = "jmx") -> None:
    """Write scrapes of the exporter of a broker."""
    place = f'topic="orders",partition="0",{labels}'
    times = [(round((ZERO.timestamp() + at) * 1000), end) for at, end in values]
    lines = [f"kafka_log_log_logendoffset{{{place}}} {end} {time}" for time, end in times]
    (folder / f"{name}.prom").write_text("\n".join(lines) + "\n")


def ends(incident: Incident, broker: int) -> list[int]:
    """The log end offsets before logs were found shorter, as exporters show them."""
    found = [one for one in incident.history().shortened_logs if one.replica == broker]
    return [one.end for one in found if one.before.by == (Inferred.SCRAPED_LOG_END,)]


def test_a_follower_that_lost_power_had_what_its_exporter_printed(tmp_path: Path) -> None:
    incident = late(tmp_path)
    printed(tmp_path, (10 * MINUTE, 12), SHOWN)
    (found,) = [one for one in incident.findings(SHORTER) if one.replicas == (2,)]
    assert (found.offsets, found.confidence) == (((10, 15),), Confidence.INFERRED)
    assert Weakness.END_IMPLIED in found.weak
    assert found.rests_on == (Inferred.SCRAPED_LOG_END,)
    assert found.inferences == (
        "broker 2 held everything below 15: its exporter of metrics printed that log end offset",
    )
    assert found.facts[0].text == "had log end offset 15 or more, as an exporter of metrics printed it"
    assert "jmx.prom" in {one.path.rpartition("/")[2] for one in found.evidence}
    assert incident.verdict(LOSS) == "unknown"  # how long a log was does not show what was committed


@pytest.mark.parametrize(
    "values",
    {
        "its clock may be slow: the process after the power loss may have printed it": [(58 * MINUTE, 15)],
        "Prometheus may repeat it: it was of minutes before, when no line was written": [(-MINUTE, 15)],
        "older than the first leader epoch: of a deleted topic": [(-40 * MINUTE, 15), (30 * MINUTE, 9)],
        "after the power loss": [(75 * MINUTE, 15)],
        "no more than what it returned with": [(20 * MINUTE, 10)],
    }.items(),
    ids=lambda one: one[0],
)
def test_values_that_show_nothing(tmp_path: Path, values: tuple[str, list[Value]]) -> None:
    incident = late(tmp_path)
    printed(tmp_path, *values[1])
    assert ends(incident, 2) == []


def test_a_value_that_fell_is_of_before_the_power_loss(tmp_path: Path) -> None:
    incident = late(tmp_path)
    printed(tmp_path, (58 * MINUTE, 15), (61 * MINUTE, 12))
    assert ends(incident, 2) == [15]


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        ('instance="10.0.0.7:9404"', False),  # whose log it is, nothing says
        ('pod="my-kafka-2"', False),  # others than Strimzi may start their broker ids at another number
        ('pod="my-pool-2",strimzi_io_cluster="my"', True),
        ('broker="2",is_future="true"', False),  # a copy in another directory, which is not the replica's log yet
        ('broker="3"', False),
    ],
)
def test_labels_tell_whose_log_it_is(tmp_path: Path, labels: str, shown: bool) -> None:
    incident = late(tmp_path)
    printed(tmp_path, SHOWN, labels=labels)
    assert bool(ends(incident, 2)) == shown


@pytest.mark.parametrize(
    ("other", "labels", "shown"),
    [
        ((25 * MINUTE, 15), 'broker="2",cluster="a",prometheus="second"', True),
        ((25 * MINUTE, 3), 'broker="2",cluster="a",prometheus="second"', True),  # before or after all of the first
        ((15 * MINUTE, 3), 'broker="2",cluster="a",prometheus="second"', False),
        ((25 * MINUTE, 15), 'broker="1",cluster="b"', False),
    ],
)
def test_series_of_several_clusters_show_nothing(tmp_path: Path, other: Value, labels: str, shown: bool) -> None:
    incident = late(tmp_path)
    printed(tmp_path, (11 * MINUTE, 10), SHOWN, labels='broker="2",cluster="a",prometheus="first"')
    printed(tmp_path, other, labels=labels, name="other")
    assert bool(ends(incident, 2)) == shown


def test_a_value_that_the_log_never_had_is_of_another_cluster(tmp_path: Path) -> None:
    """Broker 2 began epoch 1 with log end offset 10, and lost nothing before: it never had 500 in epoch 0."""
    incident = later_truncation(tmp_path)
    printed(tmp_path, (20 * MINUTE, 500), labels='broker="2"')
    printed(tmp_path, (100 * MINUTE, 20), labels='broker="1"', name="other")
    assert bounds(incident) == []


def test_lines_that_are_missing_leave_it_open(tmp_path: Path) -> None:
    incident = late(tmp_path)
    (incident[2].folder / "logs" / "state-change.log").unlink()
    printed(tmp_path, SHOWN)
    assert ends(incident, 2) == []


def later_truncation(folder: Path) -> Incident:
    """Broker 1 follows from offset 10 on, fetches, and truncates its log to 12 an hour later. No line states from
    where.
    """
    incident = Incident(folder, brokers=2)
    incident.begins(10)
    incident.elects(60 * MINUTE, 1, 2, [2, 1])
    incident[2].leads(60 * MINUTE, 1, 10, 10, [2, 1])
    incident[1].follows(60 * MINUTE + 1, 1, 2, 10, 10).cuts(120 * MINUTE, 12)
    for number in (1, 2):
        incident[number].segment([(0, 9, 0), (10, 29, 1)])
        incident[number].epochs((0, 0), (1, 10)).checkpoint(30)
    return incident


def bounds(incident: Incident) -> list[Truncation]:
    """Truncations whose extent an exporter shows."""
    return [one for one in incident.history().truncations if Inferred.SCRAPED_LOG_END in one.before.by]


@pytest.mark.parametrize(("at", "end"), [(100, 20), (117, None)])
def test_a_truncation_removed_what_its_exporter_had_printed(tmp_path: Path, at: float, end: int | None) -> None:
    incident = later_truncation(tmp_path)
    printed(tmp_path, (at * MINUTE, 20), labels='broker="1"')
    assert [one.end for one in bounds(incident)] == ([] if end is None else [end])
    assert all(one.before.high is None for one in bounds(incident))


def alone(folder: Path, isr: tuple[int, ...] = (1,)) -> Incident:
    """Broker 1 leads epoch 1 alone while broker 2 is down. After a power loss broker 2 leads without its records."""
    incident = Incident(folder, brokers=2)
    incident.begins(10)
    incident.elects(60, 1, 1, isr)
    incident[1].leads(60, 1, 10, 10, isr)
    at = 60 * MINUTE
    recovers = "INFO [Log partition=orders-0, dir=/d] Recovering unflushed segment 0 (kafka.log.Log)"
    incident[2].starts(at).loads(at, 10)
    incident.elects(at + 1, 2, 2, [2])
    incident[2].leads(at + 1, 2, 10, 10, [2])
    incident[1].starts(at + 20).says(at + 20, recovers).loads(at + 20, 12).follows(at + 21, 2, 2, 12, 10)
    incident[1].cuts(at + 22, 10)
    for number in (1, 2):
        incident[number].segment([(0, 9, 0), (10, 19, 2)])
        incident[number].epochs((0, 0), (2, 10)).checkpoint(20)
    return incident


@pytest.mark.parametrize(
    ("isr", "value", "lost"),
    [
        ((1,), None, [((10, 12),)]),
        ((1,), SHOWN, [((10, 15),)]),
        ((1,), (58 * MINUTE, 15), [((10, 12),)]),
        ((1, 2), SHOWN, []),
    ],
)
def test_a_leader_alone_in_the_isr_had_committed_what_its_exporter_printed(
    tmp_path: Path, isr: tuple[int, ...], value: Value | None, lost: list[object]
) -> None:
    incident = alone(tmp_path, isr)
    if value is not None:
        printed(tmp_path, value, labels='broker="1"')
    found = incident.findings(LOSS)
    assert [one.offsets for one in found] == lost
    assert all(one.confidence is Confidence.INFERRED for one in found)
    shown = (Inferred.SCRAPED_LOG_END,) if value == SHOWN and lost else ()
    assert [one.rests_on for one in found] == [(*shown, Inferred.ALONE_COMMITS)] * len(lost)


def test_it_is_judged_alike_in_bounded_memory_and_redacted(tmp_path: Path) -> None:
    incident = late(tmp_path)
    printed(tmp_path, SHOWN, labels='broker="2",instance="kafka.example.org:9404"')
    whole = incident.scan()
    assert [one.rests_on for one in whole.findings if one.rule == SHORTER] == [(Inferred.SCRAPED_LOG_END,)]
    assert render(large.scan([str(tmp_path)], jobs=1, memory=1 << 30)) == render(whole)
    assert "example.org" not in render(redact(whole))
