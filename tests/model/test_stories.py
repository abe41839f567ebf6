"""Each story under each protocol comes to what the literature says."""

from __future__ import annotations

import pytest

from forensics.model import EVERY, PROTOCOLS, SCENARIOS, VARIANTS, Protocol, scenario, telling_seeds, what_if
from forensics.model.protocol import UnknownName
from forensics.model.wording import wording_of

NOTHING = ([], [], False)

# story -> protocol -> (committed offsets lost, offsets that differ for good, committed records cut by a truncation)
EXPECTED: dict[str, dict[str, tuple[list[list[int]], list[list[int]], bool]]] = {
    "two-replicas": dict.fromkeys(("hw", "epoch", "epoch-279", "fetch"), NOTHING),
    "three-replicas": dict.fromkeys(("hw", "epoch", "epoch-279", "fetch"), NOTHING),
    "loss": {"hw": ([[1, 2]], [], True), "epoch": NOTHING, "epoch-279": NOTHING, "fetch": NOTHING},
    "fork": {
        "hw": ([[1, 2]], [[1, 2]], False),
        "epoch": ([[1, 2]], [], True),
        "epoch-279": ([[1, 2]], [], True),
        "fetch": ([[1, 2]], [], True),
    },
    "failover-truncation": {
        "hw": ([[50, 80]], [[50, 80]], True),
        "epoch": NOTHING,
        "epoch-279": NOTHING,
        "fetch": NOTHING,
    },
    "isr-member-below-hw": {"hw": ([[1, 2]], [], True), "epoch": NOTHING, "epoch-279": NOTHING, "fetch": NOTHING},
    # an unclean election, a lost page cache, a lost disk: no protocol can help
    "unclean-election": {
        "hw": ([[30, 50]], [[30, 40]], True),
        "epoch": ([[30, 50]], [], True),
        "epoch-279": ([[30, 50]], [], True),
        "fetch": ([[30, 50]], [], True),
    },
    "acks1-failover": dict.fromkeys(("hw", "epoch", "epoch-279", "fetch"), NOTHING),
    "power-loss": {
        "hw": ([[10, 15]], [[10, 15]], False),
        "epoch": ([[10, 15]], [], True),
        "epoch-279": ([[10, 15]], [], True),
        "fetch": ([[10, 15]], [], True),
    },
    "crash-scene": dict.fromkeys(("hw", "epoch", "epoch-279", "fetch"), NOTHING),
    # fixed in 2.0.1 and 2.1 (KAFKA-7128)
    "premature-isr": {
        "hw": ([[10, 15]], [[10, 15]], True),
        "epoch": ([[10, 15]], [], True),
        "epoch-279": NOTHING,
        "fetch": NOTHING,
    },
    "zombie-leader": dict.fromkeys(("hw", "epoch", "epoch-279", "fetch"), NOTHING),
    # what KIP-279 is about: one question about epochs is not enough
    "fast-failover": {"hw": NOTHING, "epoch": ([], [[10, 12]], False), "epoch-279": NOTHING, "fetch": NOTHING},
    "rolling-restart": dict.fromkeys(("hw", "epoch", "epoch-279", "fetch"), NOTHING),
    "open-transaction": dict.fromkeys(("hw", "epoch", "epoch-279", "fetch"), NOTHING),
    # a follower cuts to its checkpointed HW and fetches the same records again: harmless, and what that version does
    "controller-failover": {"hw": ([], [], True), "epoch": NOTHING, "epoch-279": NOTHING, "fetch": NOTHING},
    "lost-disk": {
        "hw": ([[0, 15]], [[0, 4]], False),
        "epoch": ([[0, 15]], [[0, 4]], False),
        "epoch-279": ([[0, 15]], [], True),
        "fetch": ([[0, 15]], [], True),
    },
    "slow-follower": dict.fromkeys(("hw", "epoch", "epoch-279", "fetch"), NOTHING),
}


# what a version of a protocol comes to where it differs from the one that stands for it
VERSIONS: dict[str, dict[str, tuple[list[list[int]], list[list[int]], bool]]] = {
    "epoch-279-2.0": {
        "premature-isr": EXPECTED["premature-isr"]["epoch"],
        "lost-disk": EXPECTED["lost-disk"]["epoch"],  # 2.0.0 still halts rather than cut to a shorter leader
    },
    "fetch-14704": {},
}


def test_every_story_has_an_expectation() -> None:
    assert [story.name for story in SCENARIOS if story.name != "random"] == list(EXPECTED)
    assert list(VERSIONS) == [variant.name for variant in VARIANTS]


@pytest.mark.parametrize("protocol", EVERY, ids=lambda p: p.name)
@pytest.mark.parametrize("name", EXPECTED)
def test_outcome(name: str, protocol: Protocol) -> None:
    truth = scenario(name).run(protocol).truth()
    lost, forked, cut = VERSIONS.get(protocol.name, {}).get(name) or EXPECTED[name][protocol.truncates_by]
    assert truth["lost_committed_offsets"] == lost
    assert truth["diverged_below_hw"] == forked
    expected = {"truncated_below_hw": cut, "lost_committed": bool(lost), "diverged": bool(forked)}
    assert truth["expect"] == expected | ({"hw_above_leo": True} if name == "crash-scene" else {})


@pytest.mark.parametrize("protocol", [p.name for p in PROTOCOLS])
def test_acknowledged_data_is_lost_only_with_committed_data(protocol: str) -> None:
    """acks=all means committed; what acks=1 loses at a clean failover is no loss of committed data."""
    truth = scenario("acks1-failover").run(protocol).truth()
    assert truth["lost_acked"] == [[30, 42]]
    assert truth["lost_acked_all"] == []


@pytest.mark.parametrize("protocol", [p.name for p in PROTOCOLS])
def test_a_zombie_never_acknowledges_acks_all(protocol: str) -> None:
    cluster = scenario("zombie-leader").run(protocol).cluster
    zombie = [batch for batch in cluster.witness.acked if batch.epoch == 0 and batch.base >= 10]
    assert {batch.acks for batch in zombie} == {"1"}


@pytest.mark.parametrize("protocol", [p.name for p in PROTOCOLS])
def test_hw_above_an_isr_members_end(protocol: str) -> None:
    """Under the old protocol the ISR holds a replica that ends below the leader's HW; under epochs it does not."""
    step = scenario("isr-member-below-hw").run(protocol).steps[1]
    _, leader, member = step.replicas
    assert leader.isr == (1, 2, 3)
    assert leader.high_watermark == 2
    assert member.log_end_offset == (1 if protocol == "hw" else 2)


def test_cut_and_fetched_again_is_told_from_a_loss() -> None:
    truth = scenario("controller-failover").run("hw").truth()
    assert [(cut["broker"], cut["fetched_again"]) for cut in truth["truncations"]] == [(1, True)]
    assert not truth["expect"]["lost_committed"]


def test_what_if_puts_outcomes_side_by_side() -> None:
    outcomes = what_if("failover-truncation")
    assert [row["protocol"] for row in outcomes] == [p.name for p in EVERY]
    assert [row["committed data lost"] for row in outcomes] == ["[50, 80)", *["-"] * 5]
    assert not outcomes.alike
    drawn = str(outcomes).splitlines()
    assert drawn[0].startswith("protocol")
    assert len(drawn) == 2 + len(EVERY)
    assert what_if("two-replicas").alike


def test_some_seeds_of_random_tell_protocols_apart() -> None:
    (seed,) = telling_seeds(0, count=1)
    assert not what_if("random", seed).alike
    assert all(what_if("random", before).alike for before in range(seed))
    assert telling_seeds(0, count=1, among=seed) == []


@pytest.mark.parametrize("protocol", EVERY, ids=lambda p: p.name)
def test_premature_isr_step_by_step(protocol: Protocol) -> None:
    """Committed records that the third replica lacks are at stake under every protocol; who lets it in loses them."""
    behind, late, moved, asked, _, dead, _ = scenario("premature-isr").run(protocol).steps
    one, two, three = behind.replicas
    assert (one.isr, one.high_watermark, two.log_end_offset, three.log_end_offset) == ((1, 2, 3), 10, 15, 10)
    one, two, three = late.replicas
    assert (one.isr, one.high_watermark, two.high_watermark) == ((1, 2), 15, 10)
    assert (moved.replicas[1].role, moved.replicas[1].high_watermark) == ("leader", 10)
    early = protocol.kafka <= "2.0.0"  # 0.10.2.2, 1.1.1 and 2.0.0
    assert asked.replicas[1].isr == ((1, 2, 3) if early else (1, 2))
    assert (dead.replicas[2].role == "leader") == early


@pytest.mark.parametrize("protocol", EVERY, ids=lambda p: p.name)
def test_who_pauses_beyond_the_lag_limit_leaves_the_isr(protocol: Protocol) -> None:
    run = scenario("rolling-restart").run(protocol)
    last = run.steps[-1]
    isrs = [
        sorted(event.facts["isr"])
        for event in run.cluster.trace.events[last.first_event : last.after_event]
        if event.kind == "isr_committed"
    ]
    assert isrs == [[1, 2], [1, 2, 3]]


@pytest.mark.parametrize("story", SCENARIOS, ids=lambda s: s.name)
def test_names_and_summaries(story: object) -> None:
    from forensics.model import Scenario

    assert isinstance(story, Scenario)
    assert story.name == story.name.lower()
    assert " " not in story.name
    assert len(story.summary) > 10
    assert story.tell.__doc__


def test_unknown_names_say_what_there_is() -> None:
    for call, told in (
        (lambda: scenario("nonsense"), "no scenario 'nonsense'; there are two-replicas, "),
        (lambda: what_if("nonsense"), "no scenario 'nonsense'; there are two-replicas, "),
        (lambda: scenario("loss").run("nonsense"), "no protocol 'nonsense'; there are hw, epoch, epoch-279-2.0, "),
        (lambda: wording_of("1.0.0"), "no wording of Kafka 1.0.0; there are 0.10.2.2, "),
        (lambda: scenario("loss").run("hw").cluster.fetch(7), "no broker 7 holds the partition; there are 2, 1"),
    ):
        with pytest.raises(UnknownName) as error:
            call()
        assert str(error.value).startswith(told)
