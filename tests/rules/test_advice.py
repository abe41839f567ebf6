"""Advice names its partition, and says apart from the name what it advises."""

from __future__ import annotations

from forensics.rules.finding import HERE, Action, Advice, advised

KEEP = f"broker 1's copy of {HERE}, not that of t-10"


def test_advice_names_its_partition() -> None:
    found = advised(
        "t-1",
        keep=KEEP,
        next_steps=(f"copy {HERE}", Action("read it:", f"cd /copy/{HERE}")),
        do_not=(f"do not delete {HERE}",),
    )
    assert found["keep"] == "broker 1's copy of t-1, not that of t-10"
    assert [step.sentence for step in found["next_steps"]] == ["copy t-1", "read it: cd /copy/t-1"]
    assert found["do_not"] == ("do not delete t-1",)


def test_partitions_with_the_same_advice_have_it_equal() -> None:
    one, other = (advised(name, keep=KEEP, next_steps=(f"copy {HERE}",)) for name in ("t-1", "t-2"))
    assert one["advice"] == other["advice"]
    assert one["next_steps"] != other["next_steps"]


def test_a_name_in_other_words_is_no_mention_of_the_partition() -> None:
    one, other = (advised(name, keep="the copy of t-10") for name in ("t-1", "t-2"))
    assert one["keep"] == other["keep"] == "the copy of t-10"
    assert one["advice"] == other["advice"]


def test_what_to_do_is_not_taken_for_what_not_to_do() -> None:
    assert advised("t-1", next_steps=("stop",))["advice"] != advised("t-1", do_not=("stop",))["advice"]


def test_advice_that_does_not_name_the_partition_is_one_object_for_all() -> None:
    """Of hundreds of thousands of partitions each needs the same, and all of it stays in memory."""
    general = Advice(next_steps=("collect broker 1's server.log", f"collect broker 1's copy of {HERE}"))
    one, other = general.of("t-1"), general.of("t-2")
    assert one["advice"] is other["advice"]
    assert one["next_steps"][0] is other["next_steps"][0]
    assert [step.text for step in other["next_steps"]] == [
        "collect broker 1's server.log",
        "collect broker 1's copy of t-2",
    ]
