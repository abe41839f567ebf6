"""Less evidence: what is missing may turn a verdict into *unknown*, but it may not make it wrong.

Files, brokers, ends and beginnings of logs and stretches of lines are left out, of the stories one file at a time and
of random runs at random.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from forensics.model import PROTOCOLS, scenario
from forensics.model.evidence import files
from forensics.model.run import Logging
from tests.model import batches
from tests.model.batches import Answer, Files, answers, compared, drawn

# Answers that are wrong today: (story, protocol, missing file, rule). The set may only shrink.
OPEN = {("failover-truncation", "hw", "broker-1/data/orders-0/00000000000000000000.log", "replica-divergence")}
TELLING = (
    "server.log",
    "state-change.log",
    "controller.log",
    "replication-offset-checkpoint",
    "leader-epoch-checkpoint",
    "00000000000000000000.log",
)


@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        ("failover-truncation", "hw"),
        ("failover-truncation", "fetch"),
        ("power-loss", "epoch"),
        ("acks1-failover", "fetch"),
        ("rolling-restart", "fetch"),
    ],
)
def test_a_missing_file_makes_no_verdict_wrong(name: str, protocol: str) -> None:
    run = scenario(name).run(protocol)
    content, truth = files(run, "default"), run.truth()
    wrong = set()
    for missing in sorted(path for path in content if path.rpartition("/")[2] in TELLING):
        case = batches.taken([{path: data for path, data in content.items() if path != missing}])
        given = compared([verdicts for _, verdicts in batches.judged(case)], truth)
        wrong |= {(name, protocol, missing, answer.rule) for answer in given if answer.wrong}
    assert wrong <= OPEN


# -- random runs -------------------------------------------------------------------------------------------------------


def one_file(random: Random, content: Files) -> Files:
    return _without(content, [random.choice(sorted(path for path, data in content.items() if data))])


def some_files(random: Random, content: Files) -> Files:
    return _without(content, random.sample(sorted(content), random.randint(2, len(content) // 2)))


def one_broker(random: Random, content: Files) -> Files:
    folder = random.choice(sorted({path.partition("/")[0] for path in content}))
    return _without(content, [path for path in content if path.startswith(f"{folder}/")])


def the_end_of_a_log(random: Random, content: Files) -> Files:
    path = random.choice(_logs(content))
    lines = content[path].splitlines(keepends=True)
    return content | {path: _whole(lines[: random.randrange(len(lines))])}


def the_beginning_of_a_log(random: Random, content: Files) -> Files:
    path = random.choice(_logs(content))
    lines = content[path].splitlines(keepends=True)
    return content | {path: _whole(lines[random.randint(1, len(lines)) :])}


def lines_of_every_log(random: Random, content: Files) -> Files:
    found = dict(content)
    for path in _logs(content):
        lines = content[path].splitlines(keepends=True)
        first = random.randrange(len(lines))
        found[path] = _whole(lines[:first] + lines[first + random.randint(1, len(lines)) :])
    return found


LOSSES: tuple[Callable[[Random, Files], Files], ...] = (
    one_file,
    some_files,
    one_broker,
    the_end_of_a_log,
    the_beginning_of_a_log,
    lines_of_every_log,
)


def _without(content: Files, missing: list[str]) -> Files:
    return {path: data for path, data in content.items() if path not in missing}


def _logs(content: Files) -> list[str]:
    return sorted(path for path in content if "/logs/" in path)


def _whole(lines: list[bytes]) -> bytes:
    """The lines from the first that begins an event."""
    first = next((number for number, line in enumerate(lines) if line.startswith(b"[2")), len(lines))
    return b"".join(lines[first:])


SEEDS = range(6_000, 6_100)
# How many of 300 answers are wrong today: of those, false alarms where nothing went wrong. They may only become less.
WRONG = {
    ("hw", "default"): (4, 2),
    ("hw", "replication"): (3, 1),
    ("epoch", "default"): (0, 0),
    ("epoch", "replication"): (1, 1),
    ("epoch-279", "default"): (2, 2),
    ("epoch-279", "replication"): (2, 2),
    ("fetch", "default"): (0, 0),
    ("fetch", "replication"): (0, 0),
}


@pytest.mark.parametrize("logging", ["default", "replication"])
@pytest.mark.parametrize("protocol", [p.name for p in PROTOCOLS])
def test_what_is_missing_makes_no_verdict_wrong(protocol: str, logging: Logging) -> None:
    def lose(number: int, content: Files) -> Files:
        random = Random(SEEDS[number])
        return random.choice(LOSSES)(random, content)

    schedules = [drawn(seed) for seed in SEEDS]
    whole, less = answers(schedules, protocol, logging), answers(schedules, protocol, logging, lose)
    wrong: list[tuple[int, Answer]] = []
    for seed, complete, given in zip(SEEDS, whole, less, strict=True):
        known = {answer.rule for answer in complete if answer.wrong}
        wrong += [(seed, answer) for answer in given if answer.wrong and answer.rule not in known]
    alarms = [(seed, answer) for seed, answer in wrong if answer.verdict == "violated" and not answer.violated]
    every = "\n".join(f"{seed}: {answer.wrong}" for seed, answer in wrong)
    most, most_alarms = WRONG[protocol, logging]
    assert len(wrong) <= most, every
    assert len(alarms) <= most_alarms, every
    assert less != whole


@pytest.mark.parametrize("loss", LOSSES)
def test_something_is_missing(loss: Callable[[Random, Files], Files]) -> None:
    content = files(scenario("rolling-restart").run("fetch"), "default")
    for seed in range(20):
        left = loss(Random(seed), content)
        assert set(left) <= set(content)
        assert sum(map(len, left.values())) < sum(map(len, content.values()))
        assert loss(Random(seed), content) == left
