"""Less evidence: what is missing may turn a verdict into *unknown*, but it may not make it wrong.

Files, brokers, ends and beginnings of logs, lines and spans of time are left out and files are torn, of the stories one
file at a time and of random runs at random.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random

import pytest

from forensics.model import PROTOCOLS, Run, scenario
from forensics.model.evidence import files
from forensics.model.run import Logging
from tests.conftest import EVERYTHING, alike
from tests.incident import wishes
from tests.model import batches
from tests.model.batches import Answer, Files, compared, drawn

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
    alike(
        [
            ("failover-truncation", "hw"),
            ("failover-truncation", "fetch"),
            ("power-loss", "epoch"),
            ("acks1-failover", "fetch"),
            ("rolling-restart", "fetch"),
        ]
    ),
)
def test_a_missing_file_makes_no_verdict_wrong(name: str, protocol: str) -> None:
    run = scenario(name).run(protocol)
    content, truth = files(run, "default"), run.truth()
    wrong = set()
    for missing in sorted(path for path in content if path.rpartition("/")[2] in TELLING):
        case = batches.taken([{path: data for path, data in content.items() if path != missing}])
        given = compared([verdicts for _, verdicts in batches.judged(case)], truth)
        wrong |= {(name, protocol, missing, answer.rule) for answer in given if answer.wrong}
    assert wrong == set()


@pytest.mark.parametrize("protocol", ["epoch", "fetch"])
def test_epoch_checkpoints_tell_where_a_leader_began_whose_logs_are_missing(protocol: str) -> None:
    run = scenario("power-loss").run(protocol)
    content = files(run, "default")
    gone = [path for path in content if path.endswith("0000.log") or path.startswith("broker-2/logs/")]
    less = _without(content, gone)
    assert lost(run, less).kind == "violated"
    without = _without(less, [path for path in less if path.endswith("leader-epoch-checkpoint")])
    assert lost(run, without).kind == "unknown, violated"


def lost(run: Run, content: Files) -> Answer:
    given = compared([verdicts for _, verdicts in batches.judged(batches.taken([content]))], run.truth())
    return next(answer for answer in given if answer.rule == "committed-data-lost")


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


def one_line(random: Random, content: Files) -> Files:
    path = random.choice(_logs(content))
    return content | {path: _without_lines(content[path], 1, random)}


def a_line_of_every_log(random: Random, content: Files) -> Files:
    return content | {path: _without_lines(content[path], 1, random) for path in _logs(content)}


def a_few_lines_running(random: Random, content: Files) -> Files:
    path = random.choice(_logs(content))
    lines = content[path].splitlines(keepends=True)
    first = random.randrange(len(lines))
    return content | {path: _whole(lines[:first] + lines[first + random.randint(1, 6) :])}


def a_span_of_time(random: Random, content: Files) -> Files:
    """Of every log of some brokers: what was printed in it, before it or after it."""
    brokers = sorted({path.partition("/")[0] for path in _logs(content)})
    chosen = random.sample(brokers, random.randint(1, len(brokers)))
    logs = [path for path in _logs(content) if path.partition("/")[0] in chosen]
    times = sorted({line[:25] for path in logs for line in content[path].splitlines() if line[:2] == b"[2"})
    first, last = sorted(random.choices(times, k=2))
    gone: Callable[[bytes], bool] = random.choice(
        (lambda time: first <= time <= last, lambda time: time <= first, lambda time: time >= last)
    )
    found = dict(content)
    for path in logs:
        kept, inside = [], True
        for line in content[path].splitlines(keepends=True):
            inside = not gone(line[:25]) if line[:2] == b"[2" else inside
            kept += [line] if inside else []
        found[path] = _whole(kept)
    return found


def a_kind_of_file(random: Random, content: Files) -> Files:
    name = random.choice(sorted({path.rpartition("/")[2] for path, data in content.items() if data}))
    brokers = sorted({path.partition("/")[0] for path, data in content.items() if data and path.endswith(f"/{name}")})
    chosen = random.sample(brokers, random.randint(1, len(brokers)))
    return _without(
        content, [path for path in content if path.endswith(f"/{name}") and path.partition("/")[0] in chosen]
    )


def a_log_torn_at_its_end(random: Random, content: Files) -> Files:
    path = random.choice(_logs(content))
    return content | {path: content[path][: random.randrange(1, len(content[path]))]}


def a_log_torn_at_its_beginning(random: Random, content: Files) -> Files:
    path = random.choice(_logs(content))
    return content | {path: content[path][random.randrange(1, len(content[path])) :]}


def a_hole_in_a_log(random: Random, content: Files) -> Files:
    path = random.choice(_logs(content))
    first = random.randrange(1, len(content[path]))
    return content | {path: content[path][:first] + content[path][first + random.choice((100, 300, 1000, 4000)) :]}


def a_torn_segment(random: Random, content: Files) -> Files:
    segments = sorted(path for path, data in content.items() if path.endswith("0000.log") and data)
    if not segments:
        return one_line(random, content)
    path = random.choice(segments)
    return content | {path: content[path][: random.randrange(len(content[path]))]}


def lines_twice(random: Random, content: Files) -> Files:
    """Nothing is missing, but some lines are there twice, as where two collectors ran."""
    found = dict(content)
    for path in _logs(content):
        lines = content[path].splitlines(keepends=True)
        found[path] = b"".join(line * 2 if line[:2] == b"[2" and random.random() < 0.1 else line for line in lines)
    return found


LOSSES: tuple[Callable[[Random, Files], Files], ...] = (
    one_file,
    some_files,
    one_broker,
    the_end_of_a_log,
    the_beginning_of_a_log,
    lines_of_every_log,
    one_line,
    a_line_of_every_log,
    a_few_lines_running,
    a_span_of_time,
    a_kind_of_file,
    a_log_torn_at_its_end,
    a_log_torn_at_its_beginning,
    a_hole_in_a_log,
    a_torn_segment,
)
OTHER = (*LOSSES, lines_twice)


def _without_lines(log: bytes, count: int, random: Random) -> bytes:
    lines = log.splitlines(keepends=True)
    gone = set(random.sample(range(len(lines)), min(count, len(lines))))
    return _whole([line for number, line in enumerate(lines) if number not in gone])


def _without(content: Files, missing: list[str]) -> Files:
    return {path: data for path, data in content.items() if path not in missing}


def _logs(content: Files) -> list[str]:
    return sorted(path for path, data in content.items() if "/logs/" in path and data)


def _whole(lines: list[bytes]) -> bytes:
    """The lines from the first that begins an event."""
    first = next((number for number, line in enumerate(lines) if line.startswith(b"[2")), len(lines))
    return b"".join(lines[first:])


RUNS = max(50 if EVERYTHING else 4, int(os.environ.get("FORENSICS_ORACLE_RUNS", "0")) // 5)
"""Under each protocol at each logging level; CI asks for more."""
TOGETHER = 100
TIMES = 2
"""How often each run is judged with less."""
# Answers that are wrong today: (protocol, logging, seed, which time, rule). They may only become less.
OPEN: set[tuple[str, str, int, int, str]] = set()


@pytest.mark.parametrize("first", range(6_000, 6_000 + RUNS, TOGETHER))
@pytest.mark.parametrize("logging", ["default", "replication"])
@pytest.mark.parametrize("protocol", [p.name for p in PROTOCOLS])
def test_what_is_missing_makes_no_verdict_wrong(protocol: str, logging: Logging, first: int) -> None:
    seeds = range(first, min(first + TOGETHER, 6_000 + RUNS))
    runs = batches.played([drawn(seed) for seed in seeds], protocol, logging)
    wrong = []
    for time in range(TIMES):
        less = []
        for seed, (run, content) in zip(seeds, runs, strict=True):
            random = Random(seed * 10 + time)
            less.append((run, random.choice(OTHER)(random, content)))
        for seed, given in zip(seeds, batches.answered(less), strict=True):
            wrong += [
                f"({protocol!r}, {logging!r}, {seed}, {time}, {answer.rule!r}): {answer.wrong}"
                for answer in given
                if answer.wrong and (protocol, logging, seed, time, answer.rule) not in OPEN
            ]
        assert less != runs
    assert wrong == []


CUT, LOST, _ = batches.QUESTIONS

# What once made an answer wrong: the run, its place (which orders its files), the seed of what was left out, the
# question, and what shows the hole.
REPAIRED: dict[str, tuple[str, Logging, int, int, int, str, str]] = {
    "an ISR its leader never stated": (
        "hw",
        "default",
        5_100_247,
        0,
        5_100_247_077,
        CUT,
        "others state the ISR",
    ),
    "a cut in a span that is gone": ("hw", "default", 5_100_271, 0, 5_100_271_078, CUT, ""),
    "a stopped broker's return": ("hw", "default", 6_006, 0, 60_061, CUT, "ever held records"),
    "an epoch taken up twice": ("hw", "default", 7_500_079, 79, 7_500_079_312, CUT, "took up leader epoch 1 again"),
    "a leader whose fetcher no line removes": (
        "hw",
        "replication",
        7_501_098,
        98,
        7_501_098_312,
        LOST,
        "its fetcher was removed before it led epoch 3",
    ),
    "a leader that only its epoch file names": ("fetch-14704", "default", 7_508_058, 58, 7_508_058_311, LOST, ""),
    "a leader with less than its follower": (
        "fetch-14704",
        "replication",
        7_509_093,
        93,
        7_509_093_312,
        LOST,
        "a process took up leader epoch 4 as its first",
    ),
}


@pytest.mark.parametrize("name", REPAIRED)
def test_holes_show(name: str) -> None:
    protocol, logging, seed, place, left_out, rule, why = REPAIRED[name]
    run = drawn(seed).play(protocol, place)
    random = Random(left_out)
    case = batches.taken([random.choice(OTHER)(random, files(run, logging))])
    ((_, verdicts),) = batches.judged(case)
    given = {answer.rule: answer for answer in compared([verdicts], run.truth())}
    assert not any(answer.wrong for answer in given.values())
    assert given[rule].verdict == "unknown"
    assert any(why in text for text in wishes(verdicts[rule]))


@pytest.mark.parametrize("loss", LOSSES)
def test_something_is_missing(loss: Callable[[Random, Files], Files]) -> None:
    content = files(scenario("rolling-restart").run("fetch"), "default")
    for seed in range(20):
        left = loss(Random(seed), content)
        assert set(left) <= set(content)
        assert sum(map(len, left.values())) < sum(map(len, content.values()))
        assert loss(Random(seed), content) == left
