"""Commands in advice are those that the cluster's release has, and no branch of advice ends without a way on."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from forensics.case import Case
from forensics.case.brokers import Broker
from forensics.replay.history import History
from forensics.result import Result
from forensics.rules.commands import FORMS, Tool, filled, form_for
from forensics.rules.rescue import _CONSUMERS

Scanned = Callable[[Path], Result]


@dataclass
class _Brokers:
    """The brokers of a case, each with a version or without one."""

    brokers: dict[int, Broker] = field(default_factory=dict)


def chosen(tool: Tool, *versions: str | None, kraft: bool = False) -> tuple[str, str]:
    """The command and the differences for brokers of these versions."""
    nodes = {number: Broker(number, version=version) for number, version in enumerate(versions)}
    history = SimpleNamespace(members=frozenset(nodes), protocol=SimpleNamespace(kraft=kraft))
    form, others = form_for(tool, cast("History", history), cast("Case", cast("Any", _Brokers(nodes))))
    return (form.command if form is not None else ""), others


@pytest.mark.parametrize(
    ("versions", "option", "says"),
    [
        (("0.10.2.2",), "--zookeeper", ""),
        (("2.1.1",), "--zookeeper", ""),
        (("2.2.0",), "--bootstrap-server", ""),
        (("3.9.1", None), "--bootstrap-server", ""),
        (("2.1.1", "2.8.2"), "--bootstrap-server", "before Kafka 2.2"),
        ((None,), "--bootstrap-server", "before Kafka 2.2"),
    ],
)
def test_the_option_is_that_of_the_release(versions: tuple[str | None, ...], option: str, says: str) -> None:
    command, others = chosen(Tool.DESCRIBE, *versions)
    assert option in command
    assert others.startswith(says) if says else not others


def test_addresses_are_those_that_a_broker_of_the_cluster_states() -> None:
    """Of the first broker that states one; a controller of KRaft takes no commands of clients."""
    controller = Broker(0, version="3.9.1", settings={"process.roles": "controller", "listeners": "PLAINTEXT://ctl:93"})
    silent, stating = Broker(1, version="3.9.1"), Broker(2, settings={"listeners": "PLAINTEXT://kafka-2:9092"})
    old = Broker(1, version="1.1.1", settings={"zookeeper.connect": "zk-1:2181/kafka"})
    for nodes, option in (
        ((controller, silent, stating), "--bootstrap-server kafka-2:9092 --describe --topic pay"),
        ((controller, silent), "--bootstrap-server HOST:9092 --describe --topic pay"),
        ((old,), "--zookeeper zk-1:2181/kafka --describe --topic pay"),
    ):
        case = cast("Case", cast("Any", _Brokers({node.id: node for node in nodes})))
        history = SimpleNamespace(members=frozenset({1, 2}), protocol=SimpleNamespace(kraft=False))
        form, _ = form_for(Tool.DESCRIBE, cast("History", history), case)
        assert form is not None
        assert filled(form.command, case, topic="pay") == f"kafka-topics.sh {option}"


def test_kraft_without_a_release_has_no_option_of_old_ones() -> None:
    assert [chosen(tool, None, kraft=True)[1] for tool in Tool] == [""] * len(Tool)


def test_an_unclean_election_is_a_command_from_2_4_on_and_a_setting_before() -> None:
    assert chosen(Tool.ELECT_UNCLEAN, "2.4.0")[0].startswith("kafka-leader-election.sh ")
    assert "--add-config unclean.leader.election.enable=true" in chosen(Tool.ELECT_UNCLEAN, "2.3.1")[0]


def test_no_command_sets_a_group_back_before_0_11() -> None:
    assert chosen(Tool.RESET_OFFSETS, "0.10.2.2") == ("", "")
    assert "--reset-offsets" in chosen(Tool.RESET_OFFSETS, "0.11.0.0")[0]


def test_each_release_has_at_most_one_form() -> None:
    for forms in FORMS.values():
        for newer, older in itertools.pairwise(forms):
            assert newer.releases.since == older.releases.until
        assert forms[0].releases.until is None


def test_where_the_whole_copy_is_not_in_the_isr_two_ways_are_left(scanned: Scanned, sample_traces: Path) -> None:
    result = scanned(sample_traces / "crashscene-1.1.1")
    (found,) = [one for one in result.findings if one.rule == "hw-above-leo"]
    steps = [step.sentence for step in found.next_steps]
    assert any(step.startswith("kafka-topics.sh --zookeeper") for step in (s.command or "" for s in found.next_steps))
    last = steps[-4:]
    assert "Two ways are left" in last[0]
    assert "They get new offsets, and consumers read them late: forensics salvage " in last[1]
    assert "is lost then:" in last[2]
    assert "--entity-name orders --add-config unclean.leader.election.enable=true" in last[2]
    assert last[3].startswith("take this setting back once it leads:")
    assert "--entity-name orders --delete-config unclean.leader.election.enable" in last[3]


def test_the_step_about_consumers_says_what_a_position_above_the_end_leads_to() -> None:
    for (again, everywhere), text in _CONSUMERS.items():
        assert ("other records are at the lost offsets" in text) is again
        told = [
            re.search(rf"\b[Ww]ith {word} it (?:skips|reads|stops)", text) for word in ("latest", "earliest", "none")
        ]
        assert [*map(bool, told)] == [not everywhere] * 3
