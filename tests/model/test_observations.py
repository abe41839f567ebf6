"""A run as a trace: each line is one the format knows, and nothing the rules need is left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from forensics.engines.local import scan
from forensics.model import PROTOCOLS, VARIANTS, Protocol, scenario
from forensics.model.observations import STATED
from forensics.model.random_runs import Op, Setting, as_scenario
from tests.conftest import alike

EVERY = pytest.mark.parametrize("protocol", [*PROTOCOLS, *VARIANTS], ids=lambda p: p.name)
STORIES = ("failover-truncation", "premature-isr", "zombie-leader", "rolling-restart", "lost-disk", "unclean-election")


def lines(name: str, protocol: Protocol, seed: int = 0) -> list[dict[str, Any]]:
    return [json.loads(line) for line in scenario(name).run(protocol, seed).observations().splitlines()]


@pytest.mark.parametrize("protocol", alike([*PROTOCOLS, *VARIANTS]), ids=lambda p: p.name)
def test_lines_are_of_the_format(protocol: Protocol, repository: Path) -> None:
    schema = json.loads((repository / "parsers" / "formats" / "trace.schema.json").read_text())
    validator = Draft202012Validator(schema)
    for name in STORIES:
        for line in lines(name, protocol):
            assert [error.message for error in validator.iter_errors(line)] == [], line


@EVERY
def test_every_cut_epoch_and_high_watermark_is_there(protocol: Protocol) -> None:
    run = scenario("failover-truncation").run(protocol)
    rows = [json.loads(line) for line in run.observations().splitlines()]
    cuts = [(row["witness"], row["offset"]) for row in rows if row["kind"] == "truncate"]
    assert cuts == ([(3, 50), (2, 50)] if protocol.name == "hw" else [])
    leads = [row for row in rows if row["kind"] == "become_leader"]
    begun = [(row["witness"], row["leader_epoch"], row["log_end_offset"]) for row in leads]
    assert begun[0] == (1, 0, 0)
    assert begun[-1][::2] == (3, 50 if protocol.name == "hw" else 80)
    assert max(row["high_watermark"] for row in rows if row["kind"] == "hw") == (95 if protocol.name == "hw" else 125)
    ends = {row["witness"]: row["log_end_offset"] for row in rows if row["kind"] == "log_end"}
    assert ends == {broker: node.replica.log.end for broker, node in run.cluster.brokers.items()}


@EVERY
def test_an_unclean_election_is_named(protocol: Protocol) -> None:
    named = [row["leader"] for row in lines("unclean-election", protocol) if row["kind"] == "unclean_election"]
    assert named == [2]
    assert [row for row in lines("power-loss", protocol) if row["kind"] == "unclean_election"] == []


def test_the_first_line_states_whether_a_leader_may_come_from_outside_the_isr() -> None:
    """Up to 0.10 it may by default."""
    for protocol, allowed in (("hw", True), ("fetch", False)):
        head = json.loads(scenario("loss").run(protocol).observations().splitlines()[0])
        assert head["settings"]["unclean.leader.election.enable"] is allowed


# A leader that does not know of its successor proposes an ISR; batches of two histories that do not line up;
# checkpoints without which a broker cannot go on.
RARE = [
    [Op("produce"), Op("catch-up"), Op("pause", 1), Op("notice", 1), Op("resume", 1), Op("lag", number=1)],
    [
        Op("produce", number=7),
        Op("stop", 2),
        Op("lag"),
        Op("crash", 1),
        Op("notice", 1),
        Op("restart", 2),
        Op("produce", number=2),
    ],
    [Op("crash", 2), Op("notice", 2), Op("garble-file", 2, number=0), Op("restart", 2)],
    [Op("crash", 2), Op("notice", 2), Op("garble-file", 2, number=3), Op("restart", 2)],
]


def test_what_states_something_happens() -> None:
    told = [scenario(name) for name in STORIES] + [as_scenario("rare", Setting((1, 2), 1, True), ops) for ops in RARE]
    happened = {event.kind for protocol in PROTOCOLS for story in told for event in story.run(protocol).cluster.trace}
    assert set(STATED) <= happened


def test_a_process_that_did_not_stop_cleanly_says_so(tmp_path: Path) -> None:
    """The cause follows from it: what was lost had not been flushed, and nobody put back an older directory."""
    trace = tmp_path / "trace.jsonl"
    trace.write_text(scenario("power-loss").run("epoch").observations())
    assert causes(trace) == {"unflushed-tail"}
    trace.write_text(trace.read_text().replace('"unclean_restart"', '"clean_restart"'))
    assert causes(trace) == {"stale-directory"}


def causes(trace: Path) -> set[str | None]:
    (partition,) = scan([str(trace)]).partitions
    return {finding.cause for finding in partition.judgements["committed-data-lost"].findings}
