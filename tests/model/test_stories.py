"""Each story under each protocol comes to what the literature says."""

from __future__ import annotations

import pytest

from forensics.model import PROTOCOLS, SCENARIOS, scenario, what_if

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
    # fixed by the rule of 2.1 (KAFKA-7128)
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


def test_every_story_has_an_expectation() -> None:
    assert [story.name for story in SCENARIOS if story.name != "random"] == list(EXPECTED)


@pytest.mark.parametrize("protocol", [p.name for p in PROTOCOLS])
@pytest.mark.parametrize("name", EXPECTED)
def test_outcome(name: str, protocol: str) -> None:
    truth = scenario(name).run(protocol).truth()
    lost, forked, cut = EXPECTED[name][protocol]
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
    assert [row["protocol"] for row in outcomes] == [p.name for p in PROTOCOLS]
    assert [row["committed data lost"] for row in outcomes] == ["[50, 80)", "-", "-", "-"]
    drawn = str(outcomes).splitlines()
    assert drawn[0].startswith("protocol")
    assert len(drawn) == 2 + len(PROTOCOLS)


@pytest.mark.parametrize("story", SCENARIOS, ids=lambda s: s.name)
def test_names_and_summaries(story: object) -> None:
    from forensics.model import Scenario

    assert isinstance(story, Scenario)
    assert story.name == story.name.lower()
    assert " " not in story.name
    assert len(story.summary) > 10
    assert story.tell.__doc__


def test_unknown_names_say_what_there_is() -> None:
    with pytest.raises(KeyError, match="two-replicas"):
        scenario("nonsense")
    with pytest.raises(KeyError, match="epoch-279"):
        scenario("loss").run("nonsense")
