"""The cost of a partition whose leader changes again and again: as much for each of its leader epochs."""

from __future__ import annotations

import cProfile
import json
import pstats
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from forensics.engines.local import take_in
from forensics.model import schedule
from forensics.replay.partitions import histories
from forensics.rules import RULES
from tests.conftest import in_full

Step = Mapping[str, object]

NUMBERS = 30, 60, 120
"""How often the leader changes."""


def elected(leader: int, following: int) -> list[Step]:
    """Another broker is elected, and the others follow it."""
    return [{"elect": following}, {"produce": {"count": 2}}, {"catch-up": {}}]


def restarted(leader: int, following: int) -> list[Step]:
    """The leader restarts, as in a rolling restart."""
    return [
        *({"stop": leader}, {"produce": {"count": 2}}, {"catch-up": {}}),
        *({"restart": leader}, {"catch-up": {}}, {"wait": {"ms": 1000}}),
    ]


@cache
def left(folder: Path, changes: int, change: Callable[[int, int], Sequence[Step]]) -> Path:
    """What three brokers leave behind whose leader changed so often: written once."""
    steps: list[Step] = [{"produce": {"count": 3}}, {"catch-up": {}}]
    for at in range(changes):
        leader = at % 3 + 1
        steps += change(leader, leader % 3 + 1)
    place = folder / change.__name__ / str(changes)
    file = place.with_suffix(".json")
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"brokers": [1, 2, 3], "steps": steps}))
    schedule(file).scenario().run("fetch").write(place)
    return place


def calls(paths: Sequence[Path]) -> int:
    """How many calls of Python replay and rules make, steps of generators included."""
    case = take_in([str(path) for path in paths])
    profile = cProfile.Profile()
    profile.enable()
    for history in histories(case):
        for rule in RULES:
            rule.judge(history, case)
    profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("many-epochs")


@pytest.mark.parametrize("change", [elected, restarted], ids=lambda change: change.__name__)
@pytest.mark.parametrize("part", ["*", "broker-2", "broker-2/logs/server.log*"])
def test_each_leader_epoch_costs_the_same(
    change: Callable[[int, int], Sequence[Step]], part: str, folder: Path
) -> None:
    few, more, most = (
        calls(sorted(path for path in left(folder, number, change).glob(part) if path.name != "trace.jsonl"))
        for number in NUMBERS
    )
    assert most - more < 2.6 * (more - few)


ROLE = (
    "[2024-05-06 07:{0:02}:{1:02},000] INFO [Broker id={2}] Leader orders-0 with topic id None starts at leader epoch "
    "{2} from offset {3} with partition epoch {2}, high watermark {3}, ISR [{2}], adding replicas [] and removing "
    "replicas [] . Previous leader Some({4}) and previous leader epoch was {4}. (state.change.logger)\n"
)


def one_line_each(folder: Path, brokers: int) -> list[Path]:
    """Folders of brokers of which each led the partition once, and has one line."""
    place = folder / "one-line-each" / str(brokers)
    for broker in range(1, brokers + 1):
        log = place / f"broker-{broker}" / "state-change.log"
        log.parent.mkdir(parents=True)
        log.write_text(ROLE.format(*divmod(broker, 60), broker, broker * 10, broker - 1))
    return [place]


@in_full("what a leader epoch costs is tried without it")
def test_each_broker_costs_the_same(folder: Path) -> None:
    few, more, most = (calls(one_line_each(folder, number)) for number in (100, 200, 400))
    assert most - more < 2.6 * (more - few)
