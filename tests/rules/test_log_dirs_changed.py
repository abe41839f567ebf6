"""A broker that begins to use another ``log.dirs`` begins empty: what it had is where it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.reports import json_report
from forensics.reports.text import render
from tests.engines.without_spark import run
from tests.incident import Incident, Node

LOSS, SHORTER = "committed-data-lost", "leo-regression"


def settings(node: Node, at: float, dirs: str, only: str = "/tmp/kafka-logs") -> None:
    node.says(
        at, f"INFO KafkaConfig values: \n\tbroker.id = {node.number}\n\tinter.broker.protocol.version = 2.8-IV1\n"
        f"\tlog.dir = {only}\n\tlog.dirs = {dirs}\n\tlog.message.format.version = 2.8-IV1\n"
        " (kafka.server.KafkaConfig)"
    )  # fmt: skip


def excerpt(tmp_path: Path, first: tuple[str, str], second: tuple[str, str]) -> Incident:
    """Broker 1 led epoch 4 with high watermark 80; the next of its roles that is told of begins empty."""
    incident = Incident(tmp_path, brokers=1)
    incident[1].starts(0)
    settings(incident[1], 1, *first)
    incident[1].leads(10, 4, 80, 80, [1])
    incident[1].starts(50)
    settings(incident[1], 51, *second)
    incident[1].leads(60, 6, 0, 0, [1])
    return incident


@pytest.mark.parametrize(
    ("first", "second", "moved"),
    [
        (("/srv/old", "x"), ("/srv/new", "x"), ("/srv/old", "/srv/new")),
        (("null", "/srv/one"), ("/srv/new", "/srv/one"), ("/srv/one", "/srv/new")),
    ],
)
def test_a_leader_that_begins_empty_in_another_directory(
    first: tuple[str, str], second: tuple[str, str], moved: tuple[str, str], tmp_path: Path
) -> None:
    incident = excerpt(tmp_path, first, second)
    before, now = moved
    (finding,) = incident.findings(LOSS)
    assert finding.inferences == (
        f"broker 1 logged log.dirs {now}, and {before} before that: its new log may have begun empty",
    )
    assert f"look for orders-0 in {before} of broker 1" in " ".join(step.text for step in finding.next_steps)
    assert before in render(incident.scan(), width=200)


@pytest.mark.parametrize(
    ("first", "second"), [(("/srv/a", "x"), ("/srv/a", "y")), (("null", "/srv/a"), ("/srv/a", "/srv/b"))]
)
def test_where_the_directories_stay_the_same_nothing_is_said(
    first: tuple[str, str], second: tuple[str, str], tmp_path: Path
) -> None:
    (finding,) = excerpt(tmp_path, first, second).findings(LOSS)
    assert finding.inferences == ()
    assert not any("look for" in step.text for step in finding.next_steps)


def test_a_change_before_the_high_watermark_was_stated_explains_nothing(tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=1)
    settings(incident[1].starts(0), 1, "/srv/old")
    settings(incident[1].starts(5), 6, "/srv/new")
    incident[1].leads(10, 4, 80, 80, [1])
    settings(incident[1].starts(50), 51, "/srv/new")
    incident[1].leads(60, 6, 0, 0, [1])
    (finding,) = incident.findings(LOSS)
    assert finding.inferences == ()


@pytest.mark.parametrize("now", ["/srv/new", "/srv/old"])
def test_a_log_that_was_created_anew_says_why(now: str, tmp_path: Path) -> None:
    incident = Incident(tmp_path / "case", brokers=1)
    settings(incident[1].starts(0), 1, "/srv/old")
    incident[1].creates(2).leads(3, 0, 0, 0, [1]).rolls(9, 80)
    settings(incident[1].starts(50), 51, now)
    incident[1].creates(52).leads(53, 1, 0, 0, [1])
    (finding,) = incident.findings(SHORTER)
    changed = "log.dirs had changed from /srv/old to /srv/new"
    assert (changed in finding.summary) == (now == "/srv/new")
    assert ("no log line explains the difference" in finding.summary) == (now == "/srv/old")
    found = run(str(incident[1].folder.parent), tmp_path / "out")
    assert json_report.render(found) == json_report.render(incident.scan())
