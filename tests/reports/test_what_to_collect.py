"""Lists of what to collect: what brokers still have, and what exists only if somebody saved it."""

from __future__ import annotations

import fnmatch
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from forensics.engines.local import scan
from forensics.reports.collecting import (
    POSITIONS,
    commands,
    only_if_saved,
    saved,
    script,
    still,
    wanted,
    with_positions,
)
from forensics.reports.text import render
from forensics.result import Result
from forensics.rules.wants import Question
from forensics.rules.wording import SAVED
from tests.reports.conftest import INCIDENTS


@pytest.fixture(scope="module")
def committing(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """``jbod-3.9.1``, as if groups had committed positions."""
    if not (INCIDENTS / "jbod-3.9.1").is_dir():
        pytest.skip("jbod-3.9.1 is not recorded here")
    folder = tmp_path_factory.mktemp("committing") / "jbod-3.9.1"
    shutil.copytree(INCIDENTS / "jbod-3.9.1", folder)
    for checkpoint in folder.glob("broker-*/data*/replication-offset-checkpoint"):
        checkpoint.write_text(checkpoint.read_text().replace("__consumer_offsets 1 0\n", "__consumer_offsets 1 5\n"))
    return scan([str(folder)])


def test_what_nobody_can_collect_any_more_stands_apart(committing: Result) -> None:
    """A level of a logger that was not set then, and a checkpoint file as it was before a restart."""
    text = render(committing, width=200)
    can, _, cannot = text.partition("Collect this to get an answer:")[2].partition(
        "only if somebody saved it at that time:"
    )
    assert cannot
    assert "at DEBUG" not in can
    assert "tar czf" in can
    assert cannot.count("kafka.cluster.Partition at DEBUG") == 1
    assert cannot.count("a copy of segments of brokers 1 and 3 from that time") == 1
    # Positions of groups are on brokers now, and so is the disk that failed.
    assert "__consumer_offsets-* of brokers 1, 2 and 3, before compaction removes older positions: " in can
    assert "broker 1's log directory that failed, if it can be read: " in can
    assert "-name '__consumer_offsets-*'" in can
    assert "__consumer_offsets-*" not in cannot


def test_each_question_of_that_time_has_letters_that_answer_it(case: Callable[[str], Result]) -> None:
    found = wanted(case("jbod-3.9.1"))
    some = saved(found)
    assert [*some.means] == ["a", "b", "c", "d"]
    assert [letters for letters, _ in some.asked] == [("a", "b", "c", "d"), ("b", "c")]
    asked = [one.want for _, group in some.asked for one in group]
    assert sorted(map(repr, asked)) == sorted(repr(one.want) for one in found if only_if_saved(one.want))
    assert {one.question for one in asked} <= {*SAVED}


def test_positions_that_cannot_answer_are_not_asked_for(committing: Result) -> None:
    """Groups commit no leader epoch before 2.1 (KIP-320), and what the evidence has needs no collecting."""
    result = committing
    assert {*with_positions(result).values()} == {(1, 2, 3)}
    old = replace(result.case, everyone=tuple(replace(one, version="2.0.1") for one in result.case.everyone))
    assert with_positions(replace(result, case=old)) == {}
    there = result.case.sources.with_columns(path=pl.lit("broker-1/data/__consumer_offsets-7/00000000000000000000.log"))
    assert with_positions(replace(result, case=replace(result.case, sources=there))) == {}


@pytest.mark.parametrize("name", ["rackloss-3.9.1", "bitrot-3.9.1"])
def test_what_the_list_asks_of_a_broker_is_in_its_command(name: str, case: Callable[[str], Result]) -> None:
    result = case(name)
    found = [replace(one, empty=False) for one in still(wanted(result))]  # what is empty has no command
    lines = {command.where: command.line for command in commands(result, found)}
    for one in found:
        for broker in one.want.ways[0].brokers:
            for part in one.partitions if one.want.question is not Question.GROUPS_HAD_READ else ():
                folder = f"/srv/kafka/broker-{broker}/data/{part.history.name}"
                packed = lines[f"on broker {broker}"].split()
                assert any(fnmatch.fnmatchcase(folder, name) for name in packed), one.want
    # The logs of all brokers are whole in this evidence, so none is asked for again.
    assert not any("server.log" in one.want.artefacts for one in found)


def test_commands_name_the_hosts_that_settings_state(case: Callable[[str], Result]) -> None:
    """All hosts and a directory that is the same everywhere, else words that stand for them."""
    result = case("rackloss-3.9.1")

    def script_with(hosts: dict[int, str], log_dirs: str) -> tuple[str, list[str]]:
        everyone = tuple(
            replace(one, log_dirs=[], settings={"log.dirs": log_dirs, "listeners": f"PLAINTEXT://{hosts[one.id]}:9092"})
            for one in result.case.everyone
        )
        told = replace(result, case=replace(result.case, everyone=everyone))
        found = [replace(one, empty=False) for one in still(wanted(result))]
        return script(told), [command.where for command in commands(told, found)]

    known = {one.id: f"kafka-{one.id}" for one in result.case.everyone}
    text, where = script_with(known, "/srv/kafka")
    assert (
        text == f"forensics collect --plan{''.join(f' --host {one}' for one in known.values())} --data-dir /srv/kafka"
    )
    assert where == [f"on broker {number} (kafka-{number})" for number in (1, 2, 3)]
    text, where = script_with(known | {2: "localhost"}, "/srv/kafka,/srv/more")
    assert text == "forensics collect --plan --host HOST"
    assert where == ["on broker 1 (kafka-1)", "on broker 2", "on broker 3 (kafka-3)"]


def test_positions_are_not_asked_for_where_no_group_committed_any(tmp_path: Path) -> None:
    """Each checkpoint of the cluster has high watermark 0 for ``__consumer_offsets``; one that has not is enough."""
    data = Path(__file__).parents[1] / "cases" / "data" / "quorumrolled-3.9.1.tar.xz"
    with tarfile.open(data) as archive:
        archive.extractall(tmp_path, filter="data")
    folder = tmp_path / "quorumrolled-3.9.1"
    result = scan([str(folder)])
    assert with_positions(result) == {}
    asked = [one for one in wanted(result) if all(p.history.topic == POSITIONS for p in one.partitions)]
    assert all(one.empty for one in asked)
    assert not any(POSITIONS in one.line for one in commands(result, asked))
    checkpoint = folder / "broker-2" / "data" / "replication-offset-checkpoint"
    checkpoint.write_text(checkpoint.read_text().replace("__consumer_offsets 1 0\n", "__consumer_offsets 1 5\n"))
    assert {*with_positions(scan([str(folder)])).values()} == {(1, 2, 3)}
