"""The oracle: evidence of a run whose truth is known, scanned. A verdict may be unknown, but it may not be wrong.

* *violated* must be true, and every offset named must be one of those concerned;
* *clean* must be true.

``FORENSICS_ORACLE_RUNS`` sets how many random schedules are played under each protocol at each logging level; a wrong
answer is shrunk to a few operations before it is shown.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan
from forensics.model import PROTOCOLS, SCENARIOS, VARIANTS, scenario
from forensics.model.evidence import files
from forensics.model.random_runs import OPEN_ENDED, RESTORED, RUINOUS, Op, Setting
from forensics.model.run import Logging
from forensics.replay.lineage import merge
from forensics.rules.finding import Judgement, span_text
from tests.conftest import EVERYTHING, alike, in_full
from tests.model import batches
from tests.model.batches import QUESTIONS, Answer, Schedule, answers, compared, drawn

ALL = (*PROTOCOLS, *VARIANTS)
RUNS = int(os.environ.get("FORENSICS_ORACLE_RUNS", "125" if EVERYTHING else "8"))
"""For each of eight combinations: CI asks for 10,000 in all."""
TOGETHER = 125
STORIES = [story.name for story in SCENARIOS if story.name != "random"]
LOGGINGS: tuple[Logging, ...] = ("default", "replication")

# Random runs whose answers are wrong today: (protocol, logging, seed, rule). They may only become less.
OPEN_RUNS: set[tuple[str, str, int, str]] = set()


# -- the stories -------------------------------------------------------------------------------------------------------

CUT, LOST, FORKED = QUESTIONS
OFTEN = {("loss", LOST): "unknown", ("lost-disk", LOST): "0 to 9"}
LATE_JOIN = {("premature-isr", LOST): "unknown"}

# What is answered with less than the truth, by protocol and logging level: everything else equals it, to the offset.
LESS: dict[tuple[str, str], dict[tuple[str, str], str]] = {
    # Without epochs every follower cuts its log at each change of leader, and stock logging does not say from where.
    ("hw", "default"): {
        ("isr-member-below-hw", LOST): "unknown",
        ("acks1-failover", CUT): "unknown",
        ("premature-isr", CUT): "unknown",
        ("zombie-leader", CUT): "unknown",
        ("fast-failover", CUT): "unknown",
        ("rolling-restart", CUT): "unknown",
        ("rolling-restart", LOST): "unknown",
        ("lost-disk", LOST): "0 to 9",
    },
    ("hw", "replication"): {("fast-failover", CUT): "unknown", ("fast-failover", LOST): "unknown"},
    # A leader that did not stop cleanly may have lost its page cache; the disk took with it how long its log was.
    ("epoch", "default"): OFTEN,
    ("epoch", "replication"): {},
    ("epoch-279-2.0", "default"): OFTEN,
    ("epoch-279-2.0", "replication"): {},
    ("epoch-279", "default"): OFTEN | LATE_JOIN,
    ("epoch-279", "replication"): LATE_JOIN,
    ("fetch-14704", "default"): OFTEN | LATE_JOIN,
    ("fetch-14704", "replication"): LATE_JOIN,
    ("fetch", "default"): OFTEN | LATE_JOIN,
    ("fetch", "replication"): LATE_JOIN,
}


@pytest.mark.parametrize(("protocol", "logging"), alike([(p.name, level) for p in ALL for level in LOGGINGS]))
def test_stories(protocol: str, logging: Logging) -> None:
    """All at once, as an archive of as many clusters; their brokers and topics have the same names."""
    with batches.no_cycles():
        runs = {name: scenario(name).run(protocol) for name in STORIES}
        content = [{f"{name}/{path}": data for path, data in files(run, logging).items()} for name, run in runs.items()]
        case = batches.taken(content)
        found: dict[str, list[dict[str, Judgement]]] = {name: [] for name in STORIES}
        for history, verdicts in batches.judged(case):
            found[story_of(case.paths, history.cluster, case.sources)].append(verdicts)
    less = {}
    for name, run in runs.items():
        for answer in compared(found[name], run.truth()):
            assert not answer.wrong, (name, answer)
            if answer.kind not in ("clean", "violated"):
                ranges = merge((offset, offset + 1) for offset in answer.named)
                less[name, answer.rule] = span_text(ranges) if ranges else answer.verdict
    assert less == LESS[protocol, logging]


def story_of(paths: list[str], cluster: str | None, sources: Any) -> str:
    number = sources.get_column("cluster").to_list().index(cluster)
    return paths[number].partition("/")[0]


EXACT = ("failover-truncation", "power-loss", "fork", "unclean-election")


@pytest.mark.parametrize("name", EXACT)
def test_great_losses_are_found_to_the_offset(name: str, tmp_path: Path) -> None:
    """Stock logging is enough: the verdicts of these are known, and their offsets are the model's."""
    for protocol in (PROTOCOLS[0], PROTOCOLS[-1]):
        run = scenario(name).run(protocol)
        run.write(tmp_path / protocol.name)
        for answer in on_disk(tmp_path / protocol.name, run.truth()):
            assert answer.verdict == ("violated" if answer.violated else "clean"), (protocol.name, answer)
            assert answer.named == answer.concerned, (protocol.name, answer)


def on_disk(folder: Path, truth: dict[str, Any]) -> list[Answer]:
    """The answers of a scan as users run it, to evidence without the files that give them."""
    (folder / "truth.json").unlink()
    (folder / "trace.jsonl").unlink()
    return compared([partition.judgements for partition in scan([str(folder)]).partitions], truth)


# -- random runs -------------------------------------------------------------------------------------------------------


def chunks() -> list[Any]:
    found = []
    for number, (protocol, logging) in enumerate((p.name, level) for p in PROTOCOLS for level in LOGGINGS):
        for first in range(0, RUNS, TOGETHER):
            seeds = range(number * 100_000 + first, number * 100_000 + min(first + TOGETHER, RUNS))
            found.append(pytest.param(protocol, logging, seeds, id=f"{protocol}-{logging}-{seeds.start}"))
    return found


# How many answers to the first 60 and the first 125 schedules equal the truth, to the offset, for each of the three
# questions. Most of the others are unknown for a reason: a leader that did not stop cleanly may have lost its page
# cache, and without epochs every follower cuts its log at each change of leader; stock logging tells of neither how
# much that was. They may only become more.
EQUAL: dict[tuple[str, str], dict[int, tuple[int, int, int]]] = {
    ("hw", "default"): {60: (17, 28, 60), 125: (38, 61, 125)},
    ("hw", "replication"): {60: (41, 51, 60), 125: (74, 103, 125)},
    ("epoch", "default"): {60: (51, 36, 60), 125: (98, 67, 125)},
    ("epoch", "replication"): {60: (51, 47, 60), 125: (110, 98, 125)},
    ("epoch-279", "default"): {60: (48, 32, 60), 125: (93, 64, 125)},
    ("epoch-279", "replication"): {60: (56, 52, 60), 125: (110, 103, 125)},
    # A member of the ISR that crashed and came back within an epoch may have lost the end of its log, so what it came
    # back with bounds nothing that was committed before.
    ("fetch", "default"): {60: (52, 35, 60), 125: (105, 69, 125)},
    # A controller that took a member out of the ISR before the leader died: the leader's last ISR is no longer that of
    # the election.
    ("fetch", "replication"): {60: (56, 51, 60), 125: (113, 102, 125)},
}


@pytest.mark.parametrize(("protocol", "logging", "seeds"), chunks())
def test_random_runs(protocol: str, logging: Logging, seeds: range) -> None:
    given = right([drawn(seed) for seed in seeds], protocol, logging)
    for first, least in EQUAL[protocol, logging].items() if seeds.start % 100_000 == 0 else ():
        asked = given[:first]
        answers_of = {rule: [a for three in asked for a in three if a.rule == rule] for rule in QUESTIONS}
        equal = tuple(sum(a.kind in ("clean", "violated") for a in found) for found in answers_of.values())
        if len(asked) == first:
            assert all(n >= floor for n, floor in zip(equal, least, strict=True)), f"{equal}, was {least}"


def right(schedules: list[Schedule], protocol: str, logging: Logging) -> list[list[Answer]]:
    """Answers none of which is wrong; fails with the first wrong one, shrunk."""
    given = answers(schedules, protocol, logging)
    wrong = [
        (each, answer)
        for each, three in zip(schedules, given, strict=True)
        for answer in three
        if answer.wrong and (protocol, logging, each.seed, answer.rule) not in OPEN_RUNS
    ]
    if wrong:
        schedule, first = wrong[0]
        shown = batches.shrunk(
            schedule,
            protocol,
            logging,
            lambda three: any(a.rule == first.rule and a.kind == first.kind for a in three),
        )
        every = "\n".join(f"({protocol!r}, {logging!r}, {each.seed}, {a.rule!r}): {a.wrong}" for each, a in wrong)
        pytest.fail(f"{every}\nthe first, shrunk: {batches.told(shown)}", pytrace=False)
    return given


@pytest.mark.parametrize("logging", LOGGINGS)
@pytest.mark.parametrize("number", range(len(VARIANTS)), ids=[variant.name for variant in VARIANTS])
def test_random_runs_of_variants(number: int, logging: Logging) -> None:
    first = 900_000 + 1_000 * number
    right([drawn(seed) for seed in range(first, first + RUNS // 5)], VARIANTS[number].name, logging)


def test_a_process_that_cannot_read_its_directory_writes_no_checkpoint(tmp_path: Path) -> None:
    """The checkpoint file was unreadable, the broker stopped, and at the next start the file was gone."""
    drawn(500_095, weights=RUINOUS).play(PROTOCOLS[-1], 0).write(tmp_path)
    (tmp_path / "trace.jsonl").unlink()
    (partition,) = scan([str(tmp_path)]).partitions
    assert partition.judgements["hw-regression"].verdict == "violated"


@pytest.mark.parametrize("number", range(len(PROTOCOLS)), ids=[protocol.name for protocol in PROTOCOLS])
def test_random_runs_with_damaged_checkpoints(number: int) -> None:
    """Files may be lost, unreadable or older copies when a broker starts, and disks replaced."""
    first = 910_000 + 10_000 * number
    schedules = [drawn(seed, weights=RUINOUS) for seed in range(first, first + RUNS // 4)]
    right(schedules, PROTOCOLS[number].name, "default")


@pytest.mark.parametrize("number", range(len(PROTOCOLS)), ids=[protocol.name for protocol in PROTOCOLS])
def test_random_runs_with_older_directories(number: int) -> None:
    """Directories may be older copies of themselves, and epoch files may lie, when a broker starts."""
    first = 930_000 + 1_000 * number
    schedules = [drawn(seed, weights=RESTORED) for seed in range(first, first + RUNS // 4)]
    right(schedules, PROTOCOLS[number].name, LOGGINGS[number % 2])


@pytest.mark.parametrize(
    ("seed", "logging"),
    [
        pytest.param(4_000_151, "replication", id="a log that a leader shares ends where its own files end"),
        pytest.param(4_000_137, "default", id="batches without epochs differ, and no high watermark is known"),
    ],
)
def test_scenes_without_epochs_that_were_called_clean(seed: int, logging: Logging) -> None:
    right([drawn(seed, weights=RESTORED, settled=False)], "hw", logging)


@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("logging", LOGGINGS)
def test_runs_with_older_directories_that_once_were_judged_wrongly(logging: Logging, settled: bool) -> None:
    """``test_put_back`` says of each what it shows."""
    for protocol, seeds in {
        "hw": (4_000_023, 4_000_062),
        "fetch": (4_000_032, 4_000_074, 5_000_094, 5_000_126),
    }.items():
        right([drawn(seed, weights=RESTORED, settled=settled) for seed in seeds], protocol, logging)
    right([drawn(5_000_151, weights=RUINOUS, settled=settled)], "fetch", logging)


@pytest.mark.parametrize("protocol", ["hw", "epoch", "epoch-279"])
def test_a_leader_that_lost_power_and_stays_down_bounds_no_loss(protocol: str) -> None:
    """It led alone in the ISR, a leader from outside followed, and its files ended where that one began."""
    right([drawn(4_000_000, weights=RESTORED, settled=False)], protocol, "default")


@pytest.mark.parametrize("logging", LOGGINGS)
@pytest.mark.parametrize("number", range(len(PROTOCOLS)), ids=[protocol.name for protocol in PROTOCOLS])
def test_random_runs_in_the_middle(number: int, logging: Logging) -> None:
    """The scene as it is: brokers are down, links are cut, nobody has started anything again."""
    first = 950_000 + 10_000 * number + 5_000 * LOGGINGS.index(logging)
    schedules = [drawn(seed, settled=False) for seed in range(first, first + RUNS // 8)]
    right(schedules, PROTOCOLS[number].name, logging)


@pytest.mark.parametrize(("protocol", "seed"), [("fetch", 20_008), ("epoch-279", 8_207_046)])
def test_scenes_that_once_were_judged_wrongly(protocol: str, seed: int) -> None:
    """A short copy compared with two others, and one that holds what a leader committed without it."""
    right([drawn(seed, settled=False)], protocol, "replication")


@pytest.mark.parametrize("protocol", ["epoch", "fetch-14704"])
def test_a_record_that_a_later_leader_may_have_committed_is_not_called_uncommitted(protocol: str) -> None:
    """It is of epoch 0, the leader of epoch 1 had it too, and the leader of epoch 3 wrote another one there."""
    before = [Op("checkpoint", 1), Op("produce-zombie", 1), Op("fetch", 2), Op("power-loss", 2, 0, 6), Op("restart", 2)]
    ops = (*before, Op("power-loss", 1), Op("restart", 1), Op("produce-zombie", 1), Op("stop", 2))
    right([Schedule(Setting((1, 2), 1, False), ops, settled=False)], protocol, "default")


def test_a_follower_that_keeps_its_leader_is_not_taken_to_lack_a_truncation() -> None:
    """Up to 2.0.0 it does not reconcile again in the leader's next epoch: it fetches, and its leader refuses it."""
    [[cut, lost, _]] = answers([drawn(30_103)], "epoch", "replication")
    assert (cut.kind, lost.kind) == ("violated", "violated")


@pytest.mark.parametrize("number", range(len(PROTOCOLS)), ids=[protocol.name for protocol in PROTOCOLS])
def test_random_runs_with_transactions(number: int) -> None:
    """Markers take offsets, and what is open holds the last stable offset back, not the high watermark."""
    first = 990_000 + 1_000 * number
    schedules = [drawn(seed, weights=OPEN_ENDED) for seed in range(first, first + RUNS // 8)]
    right(schedules, PROTOCOLS[number].name, LOGGINGS[number % 2])


def test_ci_asks_for_as_many_as_promised(repository: Path) -> None:
    asked = re.search(
        r"^export FORENSICS_ORACLE_RUNS=([0-9]+)$", (repository / ".ci" / "run").read_text(), re.MULTILINE
    )
    assert asked is not None
    runs = int(asked[1])
    of_variants, with_damage = len(VARIANTS) * len(LOGGINGS) * (runs // 5), len(PROTOCOLS) * (runs // 4)
    in_the_middle = len(PROTOCOLS) * len(LOGGINGS) * (runs // 8)
    assert len(PROTOCOLS) * len(LOGGINGS) * runs + of_variants + with_damage + in_the_middle >= 10_000


THREE, PAIR = (1, 2, 3), (1, 2)

# Counter-examples that random runs found, shrunk. Each is here since the scan answers it rightly.
CASES: dict[str, tuple[str, Logging, Setting, list[tuple[object, ...]]]] = {
    "a member of the ISR that lost its page cache before it was told of the epoch": (
        "epoch",
        "default",
        Setting(THREE, 2, False),
        [
            ("produce", 3),
            ("fetch", 3),
            ("fetch", 3),
            ("pause", 2),
            ("power-loss", 3),
            ("restart", 2),
            ("power-loss", 1),
        ],
    ),
    "a member of the ISR came back on an empty disk and bounds nothing": (
        "hw",
        "default",
        Setting(PAIR, 1, False),
        [
            ("produce-1", 2),
            ("produce", 2, 0, 4),
            ("produce", 1),
            ("lag", 2),
            ("crash", 2),
            ("power-loss", 1, 0, 3),
            ("wipe", 2),
            ("restart", 2),
        ],
    ),
    "lost in one epoch, back in a later one": (
        "epoch-279",
        "replication",
        Setting(PAIR, 2, True),
        [
            ("pause", 2),
            ("restart", 2),
            ("produce-1", 1),
            ("crash", 1),
            ("crash", 2),
            ("restart", 2),
            ("notice", 1),
            ("stop", 2),
        ],
    ),
    "a fork of what may have been committed": (
        "epoch",
        "default",
        Setting(PAIR, 1, True),
        [
            ("produce", 2, 0, 2),
            ("stop", 1),
            ("produce", 2),
            ("crash", 2),
            ("notice", 2),
            ("restart", 1),
            ("produce", 2),
        ],
    ),
    "committed by a leader that was alone in its ISR": (
        "epoch",
        "replication",
        Setting(THREE, 2, False),
        [("produce", 3), ("crash", 1), ("restart", 1), ("stop", 3), ("produce-1", 1), ("crash", 2)],
    ),
    "an uncommitted tail at offsets committed in another epoch": (
        "epoch",
        "replication",
        Setting(THREE, 1, False),
        [
            ("crash", 1),
            ("notice", 1),
            ("produce", 1, 0, 7),
            ("prefer", 3),
            ("produce-1", 3, 0, 3),
            ("stop", 2),
            ("crash", 3),
        ],
    ),
    "a paused follower cuts what others had committed meanwhile": (
        "hw",
        "default",
        Setting(THREE, 2, False),
        [("produce", 2, 0, 3), ("fetch", 2), ("fetch", 3), ("pause", 3), ("prefer", 2), ("restart", 3), ("stop", 1)],
    ),
    "a follower whose new leader is unavailable goes on with the old one": (
        "epoch-279",
        "replication",
        Setting(THREE, 1, False),
        [
            ("power-loss", 1),
            ("restart", 1),
            ("produce", 2),
            ("power-loss", 2, 0, 6),
            ("restart", 2),
            ("produce-1", 3),
            ("pause", 3),
            ("notice", 3),
            ("resume", 3),
            ("fetch", 2),
        ],
    ),
    "a follower that was not told of two epochs fetches on from the same leader": (
        "epoch",
        "replication",
        Setting(THREE, 1, False),
        [("cut", 0, 3), ("prefer", 3), ("notice", 3), ("produce-1", 3), ("catch-up", 1)],
    ),
    "a follower that was told nothing since its leader's first epoch": (
        "epoch",
        "replication",
        Setting(PAIR, 1, False),
        [("crash", 1), ("cut", 0, 2), ("notice", 2), ("restart", 1), ("produce-1", 1), ("fetch", 2)],
    ),
    "a disk replaced after three power losses": (
        "epoch-279",
        "default",
        Setting(THREE, 2, False),
        [
            ("power-loss", 2),
            ("produce", 2),
            ("power-loss", 3),
            ("notice", 3),
            ("restart", 2),
            ("crash", 1),
            ("wipe", 1),
            ("restart", 1),
            ("produce-1", 3),
        ],
    ),
    "a leader that left the ISR was told of a later epoch and never reached its leader": (
        "epoch",
        "default",
        Setting(THREE, 1, False),
        [
            ("produce-1", 3),
            ("stop", 1),
            ("produce", 1),
            ("power-loss", 3),
            ("restart", 3),
            ("checkpoint", 2),
            ("crash", 2),
        ],
    ),
    "the same without epochs in the log": (
        "hw",
        "replication",
        Setting(THREE, 1, False),
        [("cut", 0, 3), ("prefer", 3), ("notice", 3), ("produce-1", 3), ("catch-up", 1)],
    ),
    "no epochs, and nothing told since the first": (
        "hw",
        "replication",
        Setting(PAIR, 1, False),
        [("crash", 1), ("cut", 0, 2), ("notice", 2), ("restart", 1), ("produce-1", 1), ("fetch", 2)],
    ),
    "no epochs, and a committed record that two of three lose": (
        "hw",
        "replication",
        Setting(THREE, 2, False),
        [
            ("produce", 3),
            ("cut", 0, 3),
            ("restart", 3),
            ("produce-1", 3),
            ("catch-up", 3),
            ("power-loss", 2),
            ("prefer", 2),
            ("crash", 1),
        ],
    ),
    "a leader loses its page cache: what it held before the load was not cut after it": (
        "hw",
        "default",
        Setting(THREE, 1, False),
        [("produce-1", 1), ("lag", 1), ("crash", 2), ("power-loss", 1)],
    ),
    "the last in-sync replica returns with an empty disk": (
        "fetch",
        "default",
        Setting(PAIR, 1, False),
        [("produce-1", 1), ("fetch", 2), ("stop", 1), ("crash", 2), ("wipe", 2)],
    ),
    "the only in-sync replica's disk is replaced, and it leads again": (
        "epoch",
        "default",
        Setting(PAIR, 1, False),
        [("stop", 1), ("produce", 2), ("crash", 2), ("wipe", 2), ("restart", 2), ("produce", 1)],
    ),
    "a disk replaced after clean shutdowns of the others": (
        "epoch",
        "default",
        Setting(THREE, 1, True),
        [("produce-1", 2), ("stop", 2), ("stop", 1), ("produce", 1), ("power-loss", 3), ("wipe", 3)],
    ),
    "a zombie's records on a disk that is replaced": (
        "epoch-279",
        "default",
        Setting(PAIR, 2, True),
        [("produce", 1), ("stop", 1), ("produce-zombie", 2), ("crash", 2), ("wipe", 2)],
    ),
    "a follower cuts to the end of a leader that came back empty": (
        "epoch-279",
        "default",
        Setting(PAIR, 1, False),
        [("produce", 2), ("catch-up", 2), ("power-loss", 2, 0, 7), ("crash", 1), ("restart", 2), ("wipe", 1)],
    ),
    "the same with three replicas": (
        "epoch-279",
        "default",
        Setting(THREE, 2, False),
        [("produce", 2), ("catch-up", 3), ("power-loss", 1), ("crash", 3), ("wipe", 3), ("crash", 2)],
    ),
    "the same by truncation to the high watermark": (
        "hw",
        "default",
        Setting(THREE, 1, False),
        [("produce", 1), ("fetch", 3), ("lag", 2, 0, 7), ("crash", 3), ("power-loss", 1), ("wipe", 1)],
    ),
    "the same with an unclean election": (
        "hw",
        "default",
        Setting(THREE, 1, True),
        [
            ("produce", 2),
            ("stop", 2),
            ("catch-up", 2),
            ("power-loss", 1),
            ("pause", 3),
            ("wipe", 1),
            ("restart", 3),
        ],
    ),
    "the same decided by the fetch": (
        "fetch",
        "default",
        Setting(PAIR, 1, False),
        [
            ("produce", 2),
            ("fetch", 2),
            ("produce", 1),
            ("fetch", 2),
            ("crash", 1),
            ("pause", 2),
            ("wipe", 1),
            ("restart", 2),
        ],
    ),
    "a follower's high watermark over its own fork": (
        "epoch",
        "default",
        Setting(PAIR, 1, True),
        [
            ("produce", 1, 0, 2),
            ("prefer", 2),
            ("produce", 2, 0, 5),
            ("prefer", 1),
            ("produce", 1),
            ("prefer", 2),
            ("produce", 2),
        ],
    ),
    "alone in the ISR, with a follower that is caught up and counts": (
        "epoch-279",
        "replication",
        Setting(PAIR, 1, True),
        [
            ("power-loss", 1),
            ("notice", 1),
            ("produce", 1),
            ("restart", 1),
            ("fetch", 1),
            ("produce", 1),
            ("fetch", 1),
            ("produce-zombie", 2),
            ("stop", 2),
        ],
    ),
    "alone in the ISR, cut off from the controller": (
        "epoch-279",
        "default",
        Setting(THREE, 1, True),
        [
            ("crash", 1),
            ("crash", 3),
            ("restart", 3),
            ("restart", 1),
            ("cut", 0, 2),
            ("catch-up", 1),
            ("produce", 3),
            ("power-loss", 2, 0, 7),
        ],
    ),
    "alone in the ISR without epochs, with a follower that counts": (
        "hw",
        "replication",
        Setting(THREE, 1, True),
        [
            ("lag", 2, 0, 3),
            ("produce", 3),
            ("fetch", 2),
            ("produce-1", 1),
            ("fetch", 2),
            ("produce-1", 1),
            ("crash", 1),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_shrunk_counter_examples(name: str) -> None:
    protocol, logging, cast, ops = CASES[name]
    case = Schedule(cast, tuple(Op(*op) for op in ops))  # type: ignore[arg-type]
    (given,) = answers([case], protocol, logging)
    assert [answer.wrong for answer in given if answer.wrong] == []


# -- the oracle itself -------------------------------------------------------------------------------------------------


def test_the_oracle_sees_a_lie() -> None:
    """A truth that is another run's is told apart."""
    run, other = (scenario("failover-truncation").run(protocol) for protocol in ("hw", "fetch"))
    verdicts = [verdicts for _, verdicts in batches.judged(batches.taken([files(run, "default")]))]
    assert [answer.wrong for answer in compared(verdicts, run.truth()) if answer.wrong] == []
    assert all(answer.wrong for answer in compared(verdicts, other.truth()))


@pytest.mark.parametrize(("protocol", "logging"), alike([(p.name, level) for p in PROTOCOLS for level in LOGGINGS]))
def test_a_run_is_judged_in_company_as_it_is_alone(protocol: str, logging: Logging, tmp_path: Path) -> None:
    seeds = range(900, 906 if EVERYTHING else 902)
    schedules = [drawn(seed) for seed in seeds]
    together = answers(schedules, protocol, logging)
    for seed, case, given in zip(seeds, schedules, together, strict=True):
        run = scenario("random").run(protocol, seed)
        run.write(tmp_path / str(seed), logging)
        assert on_disk(tmp_path / str(seed), run.truth()) == given, seed
        assert answers([case], protocol, logging) == [given], seed


def test_the_schedule_is_that_of_the_scenario() -> None:
    """What is shown to be wrong can be written with ``forensics simulate random --seed``."""
    for protocol in PROTOCOLS:
        mine, theirs = drawn(7).play(protocol), scenario("random").run(protocol, 7)
        assert {k: v for k, v in mine.truth().items() if k not in ("scenario", "topic", "actions")} == {
            k: v for k, v in theirs.truth().items() if k not in ("scenario", "topic", "actions")
        }


@in_full("runs are judged without it")
def test_a_counter_example_shrinks() -> None:
    def cut(three: list[Answer]) -> bool:
        return any(answer.rule == QUESTIONS[0] and answer.violated for answer in three)

    long = next(case for seed in range(100) if cut(answers([case := drawn(seed)], "hw", "default")[0]))
    short = batches.shrunk(long, "hw", "default", cut)
    assert cut(answers([short], "hw", "default")[0])
    assert len(short.ops) < 8 < len(long.ops)
