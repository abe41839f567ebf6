"""The oracle on excerpts: windows of a run's logs, pasted as people paste, scanned, against the truth of the run.

* What is proven or inferred with severity error or critical is so, and what is clean is so;
* where a line of the window speaks of a loss, the answer is not "inconclusive";
* nothing is proven from windows of two clusters in one text whose brokers and topics have the same names.

``FORENSICS_ORACLE_RUNS`` sets how many windows are scanned.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import pytest

from forensics.model import PROTOCOLS, VARIANTS, Run, scenario
from forensics.model.random_runs import Setting
from forensics.model.run import Logging
from forensics.model.wording import Scene
from forensics.replay.confidence import Confidence
from forensics.reports.text import render
from forensics.result import Result
from tests.conftest import EVERYTHING
from tests.model.batches import Schedule, drawn
from tests.model.windows import (
    LEAST,
    MOST,
    Lines,
    alarms,
    cut_out,
    lies,
    moments,
    pasted,
    said,
    scanned,
    stretch,
    telling,
)

RUNS = max(24 if EVERYTHING else 8, int(os.environ.get("FORENSICS_ORACLE_RUNS", "0")) // 5)
"""Runs; of each four windows are scanned, and of a third of the pairs one each."""
APART = 4
"""Tests that share the runs, so that they can run side by side."""
ALL = (*PROTOCOLS, *VARIANTS)
LOADS = ("starts", "log_created", "hw_loaded")
"""Events whose lines say how long a log is that was just loaded."""
SILENCE = ("CLEAN", "INCONCLUSIVE", "NOT JUDGED")


class Pasted(NamedTuple):
    """A text, what it was cut from, and what a scan of it came to."""

    name: str
    text: str
    run: Run
    window: Lines
    result: Result

    def shown(self, what: object) -> str:
        """The text and what is wrong with its answer."""
        return f"{self.name}: {what}\n{self.text}\n{render(self.result, width=120)}"


LOGGINGS: tuple[Logging, ...] = ("default", "replication")


def played(seed: int, schedule: int = 0) -> tuple[Random, Run, Lines]:
    """A run under a protocol that the seed draws, with what its brokers printed.

    Args:
        seed: of all that is drawn.
        schedule: the seed of the run's schedule, where it is another one.
    """
    random = Random(seed)
    protocol, logging = random.choice(ALL).name, random.choice(LOGGINGS)
    run = drawn(schedule or seed).play(protocol)
    return random, run, said(run, logging)


@functools.cache
def windows(part: int) -> tuple[Pasted, ...]:
    """Windows of every fourth run."""
    return tuple(one for seed in range(part, RUNS, APART) for one in _windows(7_000_000 + seed))


def _windows(seed: int) -> Iterator[Pasted]:
    random, run, lines = played(seed)
    for number, at in enumerate(moments(random, lines)):
        window = cut_out(random, lines, at)
        text = pasted(random, [window])
        yield Pasted(f"seed {seed}, window {number}, {run.protocol.name}", text, run, window, scanned(text))


@pytest.mark.parametrize("part", range(APART))
def test_windows_of_a_run(part: int) -> None:
    wrong = [one.shown(found) for one in windows(part) if (found := lies(one.result, one.run))]
    silent = [
        one.shown(lines)
        for one in windows(part)
        if (lines := telling(one.window, one.run)) and render(one.result).startswith(SILENCE)
    ]
    assert (wrong, silent) == ([], []), "\n\n".join([*wrong, *silent])


def test_windows_of_two_clusters() -> None:
    proven = []
    for seed in range(8_000_000, 8_000_000 + RUNS):
        random, run, lines = played(seed)
        _, other, others = played(seed, seed + 500_000)
        chosen = random.sample(sorted(lines.keys() & others.keys()), random.randint(1, 2))
        both = [nameless(random, run, lines, chosen), nameless(random, other, others, chosen)]
        text = pasted(random, both)
        result = scanned(text)
        found = [one.summary for one in alarms(result) if one.confidence is Confidence.PROVEN]
        proven += [Pasted(f"seed {seed}", text, run, both[0], result).shown(found)] if found else []
    assert proven == [], "\n\n".join(proven)


def nameless(random: Random, run: Run, lines: Lines, brokers: Sequence[int]) -> Lines:
    """A window of some brokers' server.log without the lines that print the id of the cluster or of the topic."""
    scene = Scene(run.cluster, run.name, run.seed)
    loads = [line.event.at for broker in brokers for line in lines[broker] if line.event.kind in LOADS]
    at, count = random.choice(loads), random.randint(LEAST, MOST) // len(brokers)
    window = {broker: stretch(random, lines[broker], ("server.log",), count, at) for broker in brokers}
    return {
        broker: [line for line in mine if scene.cluster_id not in line.text and scene.topic_id not in line.text]
        for broker, mine in window.items()
    }


# -- the oracle itself -------------------------------------------------------------------------------------------------


def test_a_lie_is_seen() -> None:
    """What is right of a run with an unclean election is wrong of one in which nothing happens."""
    alarmed = [one for one in _windows(7_000_000) if any(alarms(one.result))]
    calm = Schedule(Setting((1, 2, 3), 1, False), ())
    assert alarmed
    for one in alarmed:
        assert (lies(one.result, one.run), bool(lies(one.result, calm.play(one.run.protocol)))) == ([], True)


@pytest.mark.parametrize(("name", "protocol"), [("failover-truncation", "hw"), ("power-loss", "fetch")])
def test_a_line_of_a_loss_is_seen(name: str, protocol: str) -> None:
    run = scenario(name).run(protocol)
    assert telling(said(run, "default"), run)
    assert telling(said(scenario("rolling-restart").run("fetch"), "default"), run) == []
