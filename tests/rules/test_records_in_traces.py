"""Complete traces in which a follower states other records than its leader has, or an epoch that no broker led."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Judgement, Verdict
from tests.rules.traced import LEADS, Line, judged, said, text

HEAD: Line = {"kind": "trace", "system": "kafka", "protocol": "epoch", "cluster": "one", "complete": True}


def answers(folder: Path, lines: list[Line], replicas: tuple[int, ...] = (1, 2)) -> dict[str, Judgement]:
    return judged(folder, [HEAD | {"replicas": [*replicas]}, *lines])


def undecided(found: dict[str, Judgement]) -> bool:
    return Verdict.CLEAN not in {one.verdict for one in found.values()}


def contradiction(found: dict[str, Judgement]) -> str:
    (gap,) = found["evidence-gap"].findings
    return gap.summary


def appends(leader: dict[str, Any], follower: dict[str, Any]) -> list[Line]:
    return [
        *LEADS,
        said(1, 1, "append", offset=0, leo=10, **leader),
        said(2, 2, "append", offset=0, leo=10, **follower),
        said(3, 1, "hw", hw=10),
    ]


HEALTHY = appends({}, {})


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (said(4, 1, "epoch_entry", leader_epoch=7, offset=3), "line 7: broker 1 has an entry of leader epoch 7"),
        (said(4, 2, "epoch_entry", leader_epoch=4, offset=5), "line 7: broker 2 has an entry of leader epoch 4"),
        (
            said(4, 2, "append", offset=10, leo=12, leader_epoch=9, checksum="z"),
            "line 7: broker 2 appends records of leader epoch 9",
        ),
    ],
)
def test_lines_that_leaders_refute_leaves_nothing_clean(line: Line, says: str, tmp_path: Path) -> None:
    found = answers(tmp_path, [*HEALTHY, line])
    assert undecided(found)
    assert says in contradiction(found)


@pytest.mark.parametrize("later", [[], [said(5, 1, "become_leader", leader_epoch=4, leo=10)]])
def test_an_epoch_that_is_led_after_its_entry_is_no_contradiction(later: list[Line], tmp_path: Path) -> None:
    found = answers(tmp_path, [*HEALTHY, said(4, 1, "epoch_assigned", leader_epoch=4, offset=10), *later])
    assert undecided(found) == (later == [])


def test_entries_and_batches_from_before_the_trace_are_of_leaders_before_it(tmp_path: Path) -> None:
    """The leader begins with ten records of epochs 0 and 1; a new follower fetches them with their epochs."""
    lines = [
        said(0, 1, "log_loaded", leo=10),
        said(0, 1, "epoch_entry", leader_epoch=0, offset=0),
        said(0, 1, "epoch_entry", leader_epoch=1, offset=4),
        said(1, 1, "become_leader", leader_epoch=3, leo=10, isr="1"),
        said(1, 2, "become_follower", leader=1, leader_epoch=3, leo=0),
        said(2, 2, "append", offset=0, leo=4, leader_epoch=0, checksum="a"),
        said(2, 2, "epoch_assigned", leader_epoch=0, offset=0),
        said(3, 2, "append", offset=4, leo=10, leader_epoch=1, checksum="b"),
        said(4, 1, "hw", hw=10),
        said(5, 2, "hw", hw=10),
    ]
    found = answers(tmp_path, lines)
    assert {one.verdict for one in found.values()} == {Verdict.CLEAN, Verdict.NOT_APPLICABLE}


@pytest.mark.parametrize("named", [{}, {"leader_epoch": 3}])
def test_a_follower_with_another_batch_of_the_same_epoch_diverges(named: dict[str, Any], tmp_path: Path) -> None:
    """The leader alone states high watermarks. One broker led the epoch, so there is one record of it at an offset."""
    found = answers(tmp_path, appends({"checksum": "a"} | named, {"checksum": "b"} | named))
    for rule in ("replica-divergence", "epoch-divergence"):
        (finding,) = found[rule].findings
        assert (finding.replicas, finding.offsets) == ((1, 2), ((0, 10),))
    assert found["committed-data-lost"].verdict is Verdict.CLEAN


@pytest.mark.parametrize("batch", [{}, {"checksum": "a"}])
@pytest.mark.parametrize("is_led", [True, False])
def test_records_of_another_epoch_than_the_leader_s_diverge(
    is_led: bool, batch: dict[str, Any], tmp_path: Path
) -> None:
    """Broker 2 states epoch 2 of records that are of epoch 3 in the log of its leader."""
    led = [said(0, 1, "become_leader", leader_epoch=2, leo=0, isr="1,2")] if is_led else []
    lines = [*led, *appends({"leader_epoch": 3}, {"leader_epoch": 2} | batch), said(4, 2, "hw", hw=10)]
    found = answers(tmp_path, lines)
    for rule in ("replica-divergence", "epoch-divergence"):
        (finding,) = found[rule].findings
        assert (finding.replicas, finding.offsets) == ((1, 2), ((0, 10),))
    assert undecided(found) != is_led


def test_another_batch_that_was_not_committed_leaves_nothing_clean(tmp_path: Path) -> None:
    found = answers(tmp_path, appends({"checksum": "a"}, {"checksum": "b"})[:-1])
    assert undecided(found)
    assert "its leader has another record batch of that leader epoch there" in contradiction(found)


def test_batches_with_other_ends_cannot_be_compared(tmp_path: Path) -> None:
    lines = appends({"checksum": "a"}, {"checksum": "b"})
    lines[3]["leo"] = 5
    found = answers(tmp_path, lines)
    assert undecided(found)
    assert "as one record batch; its leader has other batches there" in contradiction(found)


def test_a_follower_may_state_a_checksum_where_its_leader_states_none(tmp_path: Path) -> None:
    found = answers(tmp_path, [*appends({}, {"checksum": "b", "leader_epoch": 3}), said(4, 2, "hw", hw=10)])
    assert {one.verdict for one in found.values()} == {Verdict.CLEAN, Verdict.NOT_APPLICABLE}


def test_followers_with_two_checksums_differ_where_their_leader_states_none(tmp_path: Path) -> None:
    lines = [
        said(0, 1, "become_leader", leader_epoch=3, leo=0, isr="1,2,3"),
        *(said(0, one, "become_follower", leader=1, leader_epoch=3, leo=0) for one in (2, 3)),
        said(1, 1, "append", offset=0, leo=10),
        said(2, 2, "append", offset=0, leo=10, checksum="a"),
        said(3, 3, "append", offset=0, leo=10, checksum="b"),
        said(4, 1, "hw", hw=10),
    ]
    (finding,) = answers(tmp_path, lines, (1, 2, 3))["replica-divergence"].findings
    assert (finding.replicas, finding.offsets) == ((1, 2, 3), ((0, 10),))


@pytest.mark.parametrize(("answer", "clean"), [(10, True), (12, True), (9, False), (13, False)])
def test_an_answer_is_of_a_moment_since_it_was_asked(answer: int, clean: bool, tmp_path: Path) -> None:
    lines = [
        *HEALTHY,
        said(4, 2, "epoch_request", leader=1, leader_epoch=3),
        said(5, 1, "append", offset=10, leo=12),
        said(6, 2, "epoch_reply", leader=1, leader_epoch=3, offset=answer),
    ]
    found = answers(tmp_path, lines)
    assert undecided(found) != clean
    says = f"line 9: broker 2 states that leader epoch 3 ends at {answer} in the log of broker 1"
    assert clean or says in contradiction(found)


def test_a_follower_above_its_own_log_breaks_a_rule_and_contradicts_nothing(tmp_path: Path) -> None:
    found = answers(tmp_path, [*HEALTHY, said(4, 2, "hw", hw=12)])
    (finding,) = found["hw-above-leo"].findings
    assert (finding.replicas, finding.offsets) == ((2,), ((10, 12),))
    assert Verdict.UNKNOWN not in {one.verdict for one in found.values()}


def test_a_response_above_the_log_of_the_leader_contradicts_it(tmp_path: Path) -> None:
    found = answers(tmp_path, [*HEALTHY, said(4, 2, "follower_fetched", leo=10, leader_hw=12)])
    assert undecided(found)


def test_a_leader_that_takes_up_an_earlier_epoch_late_loses_nothing(tmp_path: Path) -> None:
    """Broker 3 reads the request of epoch 4 when broker 2 has committed in epoch 5."""
    lines = [
        said(0, 1, "become_leader", leader_epoch=3, leo=0, isr="1,2,3"),
        *(said(0, one, "become_follower", leader=1, leader_epoch=3, leo=0) for one in (2, 3)),
        *(said(1, one, "append", offset=0, leo=10) for one in (1, 2, 3)),
        said(2, 1, "hw", hw=10),
        said(3, 2, "become_leader", leader_epoch=5, leo=10, isr="1,2"),
        said(3, 1, "become_follower", leader=2, leader_epoch=5, leo=10),
        *(said(4, one, "append", offset=10, leo=15) for one in (2, 1)),
        said(5, 2, "hw", hw=15),
        said(6, 3, "become_leader", leader_epoch=4, leo=10, isr="3"),
        said(7, 3, "become_follower", leader=2, leader_epoch=5, leo=10),
    ]
    assert answers(tmp_path, lines, (1, 2, 3))["committed-data-lost"].verdict is Verdict.CLEAN


def test_the_second_leader_of_an_epoch_is_named_in_the_loss(tmp_path: Path) -> None:
    lines = [
        said(0, 1, "become_leader", leader_epoch=3, leo=0, isr="1,2,3"),
        *(said(0, one, "become_follower", leader=1, leader_epoch=3, leo=0) for one in (2, 3)),
        *(said(1, one, "append", offset=0, leo=6) for one in (1, 2)),
        said(2, 1, "hw", hw=6),
        said(3, 3, "become_leader", leader_epoch=3, leo=0, isr="3"),
    ]
    found = answers(tmp_path, lines, (1, 2, 3))
    assert found["two-leaders-one-epoch"].verdict is Verdict.VIOLATED
    (loss,) = found["committed-data-lost"].findings
    assert "broker 3 became leader (epoch 3) at offset 0 without them" in loss.summary
    assert any(fact.broker == 3 and "became leader (leader epoch 3) at offset 0" in fact.text for fact in loss.facts)


@pytest.mark.parametrize("cluster", ["one", None])
def test_a_trace_that_is_handed_in_twice_is_counted_once(cluster: str | None, tmp_path: Path) -> None:
    """Once more in another folder, and its beginning beside it: neither is a second witness."""
    head = {name: value for name, value in (HEAD | {"cluster": cluster}).items() if value is not None}
    content = text([head | {"replicas": [1, 2]}, *HEALTHY])
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "trace.jsonl").write_text(content)
    (tmp_path / "a" / "earlier.jsonl").write_text(content[: len(content) // 2])
    result = scan([str(tmp_path)])
    (partition,) = result.partitions
    found = {one.verdict for one in partition.judgements.values()}
    assert found == {Verdict.CLEAN, Verdict.NOT_APPLICABLE}
    counted = [str(reason) for reason in result.case.notices.get_column("reason")]
    assert sorted(reason.partition(str(tmp_path))[0] for reason in counted) == [
        "an earlier copy of ",
        "the same bytes as ",
    ]


def test_a_high_watermark_is_about_no_record_behind_a_later_truncation(tmp_path: Path) -> None:
    """Broker 1 had all of epoch 3 committed, and truncates; what it appends then is of epoch 4, and not committed."""
    lines = [
        said(0, 1, "become_leader", leader_epoch=3, leo=0),
        *(said(0, one, "become_follower", leader=1, leader_epoch=3, leo=0) for one in (2, 3)),
        *(said(1, one, "append", offset=0, leo=5) for one in (1, 2)),
        said(1, 3, "append", offset=0, leo=3),
        said(2, 1, "hw", hw=5),
        said(3, 3, "become_leader", leader_epoch=4, leo=3),
        said(4, 1, "become_follower", leader=3, leader_epoch=4, leo=5),
        said(4, 1, "truncate", offset=3),
        *(said(5, one, "append", offset=3, leo=4) for one in (3, 1)),
    ]
    found = answers(tmp_path, lines, (1, 2, 3))
    assert found["committed-data-lost"].findings[0].offsets == ((3, 5),)
    assert {found[rule].verdict for rule in ("replica-divergence", "epoch-divergence")} == {Verdict.CLEAN}


FALLING = [
    said(0, 1, "log_loaded", leo=9),
    said(1, 1, "epoch_entry", leader_epoch=2, offset=0),
    said(2, 1, "epoch_entry", leader_epoch=1, offset=5),
    said(3, 1, "hw_loaded", hw=9),
]


def test_epoch_entries_that_fall_along_a_log_are_a_divergence(tmp_path: Path) -> None:
    found = answers(tmp_path, FALLING)
    (finding,) = found["epoch-divergence"].findings
    assert (finding.replicas, finding.epochs, finding.offsets) == ((1,), (1, 2), ((0, 5),))


@pytest.mark.parametrize(
    "between",
    [
        # The entries are of two moments: the log was truncated, or a process read its epoch file again.
        [said(1.5, 1, "truncate", offset=0, leo=9), said(1.6, 1, "log_loaded", leo=0)],
        [said(1.5, 1, "process_start"), said(1.6, 1, "log_loaded", leo=9)],
    ],
)
def test_near_misses_of_epoch_entries_that_fall(between: list[Line], tmp_path: Path) -> None:
    lines = [*FALLING[:2], *between, *FALLING[2:3]]
    assert not answers(tmp_path, lines)["epoch-divergence"].findings


def test_near_miss_entries_that_are_listed_in_another_order(tmp_path: Path) -> None:
    lines = [FALLING[0], said(1, 1, "epoch_entry", leader_epoch=2, offset=5)]
    lines.append(said(2, 1, "epoch_entry", leader_epoch=1, offset=0))
    assert not answers(tmp_path, lines)["epoch-divergence"].findings


def test_near_miss_an_epoch_of_records_with_which_another_replica_began(tmp_path: Path) -> None:
    """A follower of an unknown leader appends a record that broker 1 may have from before the trace."""
    lines = [
        said(0, 1, "state", leo=3, hw=2, leader_epoch=5),
        said(0, 2, "state", leo=2, hw=2, leader_epoch=5),
        said(1, 2, "append", offset=2, leo=3, leader_epoch=4),
        *(said(2, broker, "hw", hw=3) for broker in (1, 2)),
    ]
    found = answers(tmp_path, lines)
    assert not found["replica-divergence"].findings
    assert "append" in contradiction(found)
