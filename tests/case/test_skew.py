"""Clocks: how far apart they are is found from causes and effects, and no verdict depends on it.

The brokers of the recorded clusters ran on one machine, so their clocks agree; shifting one broker's lines is a skew
that is known.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from forensics.case.skew import LINKS, SKEW, Link, _guesses, _reach, _wanted, skew, went_back
from forensics.engines.local import scan
from forensics.reports.remarks import apart
from forensics.result import Result
from parsers.schema import OBSERVATIONS
from tests.incident import Incident

Scanned = Callable[[Path], Result]
SECOND = 1_000_000
STAMP = re.compile(rb"(?<=\[)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}(?=\])")


def shifted(folder: Path, to: Path, by: Mapping[int, timedelta]) -> Path:
    """A copy of evidence with every time that a broker printed moved."""
    shutil.copytree(folder, to)
    for path in to.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for broker, distance in by.items():

        def moved(found: re.Match[bytes], distance: timedelta = distance) -> bytes:
            time = datetime.strptime(found[0].decode() + "000", "%Y-%m-%d %H:%M:%S,%f") + distance  # noqa: DTZ007
            return time.strftime("%Y-%m-%d %H:%M:%S,%f")[:-3].encode()

        for path in (to / f"broker-{broker}" / "logs").iterdir():
            path.write_bytes(STAMP.sub(moved, path.read_bytes()))
    return to


def judged(result: Result) -> dict[tuple[object, ...], tuple[object, ...]]:
    """Every verdict, with the fingerprints of what was found and what is missing."""
    return {
        (p.history.topic, p.history.partition, p.history.incarnation, rule): (
            judgement.verdict.value,
            tuple(sorted(finding.fingerprint for finding in judgement.findings)),
            judgement.missing,
        )
        for p in result.partitions
        for rule, judgement in p.judgements.items()
    }


def clocks(result: Result) -> dict[int, dict[str, Any]]:
    return {row["broker"]: row for row in result.case.skew.iter_rows(named=True)}


# -- real clusters ---------------------------------------------------------------------------------


def test_clocks_of_one_machine_agree(trace: Path, scanned: Scanned) -> None:
    table = scanned(trace).case.skew
    assert dict(table.schema) == SKEW
    for row in table.iter_rows(named=True):
        assert row["consistent"], row
        assert row["low"] is None or row["low"] <= 0, row
        assert row["high"] is None or row["high"] >= 0, row
        assert abs(row["estimate"]) < SECOND, row
        assert row["pairs"] > 0
    assert apart(scanned(trace)) == []


def test_a_shift_is_found_and_changes_no_verdict(some_sample: Path, scanned: Scanned, tmp_path: Path) -> None:
    if not (some_sample / "broker-1" / "logs").is_dir():
        pytest.skip("handed in as one archive")
    by = {1: timedelta(hours=5, minutes=13), 2: timedelta(hours=-2)}
    result = scan([str(shifted(some_sample, tmp_path / "shifted", by))])
    assert judged(result) == judged(scanned(some_sample))
    known = clocks(scanned(some_sample))
    for broker, row in clocks(result).items():
        wanted = round(by.get(broker, timedelta()).total_seconds()) * SECOND
        assert row["consistent"]
        assert row["low"] is None or row["low"] <= wanted
        assert row["high"] is None or row["high"] >= wanted
        assert abs(row["estimate"] - wanted) < SECOND
    assert set(clocks(result)) == set(known)


def test_of_many_clocks_the_one_that_is_off_is_named(sample_traces: Path, tmp_path: Path) -> None:
    by = {9: timedelta(minutes=-10)}
    result = scan([str(shifted(sample_traces / "kip101-0.10.2.2", tmp_path / "shifted", by))])
    far = {broker for broker, row in clocks(result).items() if abs(row["estimate"]) > SECOND}
    assert far == {9}
    (said,) = apart(result)
    assert said.startswith("clocks: broker 9's log times are 599.9")
    assert "behind broker" in said
    assert "time zone" not in said
    option = re.search(r"--skew 9=\+(\d+\.\d+)s", said)
    assert option is not None
    assert abs(float(option[1]) - 600) < 1


def test_no_time_zone_is_two_days_away(sample_traces: Path, tmp_path: Path) -> None:
    by = {1: timedelta(days=2)}
    (said,) = apart(scan([str(shifted(sample_traces / "unclean-3.9.1", tmp_path / "shifted", by))]))
    assert "broker 1's log times are 172,800 s ahead" in said
    assert "time zone" not in said


def test_a_time_zone_looks_like_one(sample_traces: Path, tmp_path: Path) -> None:
    by = {1: timedelta(hours=5, minutes=45)}
    result = scan([str(shifted(sample_traces / "unclean-3.9.1", tmp_path / "shifted", by))])
    (said,) = apart(result)
    assert "broker 1's log times are 5 h 45 m ahead" in said
    assert "wrong --tz?" in said


def test_a_clock_that_was_set_is_noticed(sample_traces: Path, tmp_path: Path) -> None:
    """Half of a broker's lines, an hour later than the other half: no distance fits both."""
    folder = shifted(sample_traces / "kip101-0.10.2.2", tmp_path / "shifted", {})
    for path in (folder / "broker-3" / "logs").iterdir():
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(STAMP.sub(_earlier, line) if b" 04:05:" in line else line for line in lines))
    result = scan([str(folder)])
    assert not clocks(result)[3]["consistent"]
    assert any("a clock was changed" in said for said in apart(result))


def _earlier(found: re.Match[bytes]) -> bytes:
    return found[0].replace(b" 04:", b" 03:")


# -- how pairs bound it ----------------------------------------------------------------------------


def rows(*statements: dict[str, Any]) -> pl.DataFrame:
    """Observations of one partition."""
    schema = {**OBSERVATIONS, "row": pl.UInt32, "broker": pl.Int32, "run": pl.Int32, "starts_run": pl.Boolean}
    filled = [
        {"topic": "t", "partition": 0, "run": 1, "starts_run": False, "row": number, "message": "X"} | one
        for number, one in enumerate(statements)
    ]
    return pl.DataFrame(filled, schema=schema).with_columns(pl.col("time").dt.replace_time_zone("UTC"))


def at(seconds: float) -> datetime:
    return datetime(2026, 1, 1, 12) + timedelta(seconds=seconds)  # noqa: DTZ001


def election(broker: int, seconds: float, epoch: int, leader: int) -> dict[str, Any]:
    return {
        "kind": "election", "broker": broker, "time": at(seconds), "leader": leader, "leader_epoch": epoch, "isr": "1,2"
    }  # fmt: skip


def follows(broker: int, seconds: float, epoch: int) -> dict[str, Any]:
    return {"kind": "become_follower", "broker": broker, "time": at(seconds), "leader_epoch": epoch, "leo": 5, "hw": 5}


def test_the_shortest_delay_bounds_the_clock() -> None:
    table = skew(rows(election(9, 0, 1, 1), follows(2, 40, 1), election(9, 100, 2, 1), follows(2, 130.5, 2)))
    (row,) = table.drop("cluster").iter_rows()
    assert row == (9, 2, -30_500_000, -30_500_000, None, 2, True)


def test_both_directions_bound_it_from_both_sides() -> None:
    """Leader 1, two hours ahead, asks the controller to change the ISR and is answered."""
    ahead = 7200
    said = [
        {"kind": "isr_shrink", "broker": 1, "time": at(ahead + 1.0), "isr": "2,1", "isr_before": "1,2,3"},
        {"kind": "isr_commit", "broker": 1, "time": at(ahead + 1.3), "isr": "1,2", "partition_epoch": 7},
        {"kind": "partition_changed", "broker": 9, "time": at(1.1), "isr": "1,2", "partition_epoch": 7},
        election(9, 0, 1, 1),
        follows(2, 0.25, 1),
    ]
    table = {row["broker"]: row for row in skew(rows(*said)).iter_rows(named=True)}
    assert {row["reference"] for row in table.values()} == {9}
    one = table[1]
    assert (one["low"], one["high"]) == (ahead * SECOND - 100_000, ahead * SECOND + 200_000)
    assert (one["estimate"], one["pairs"]) == (ahead * SECOND + 50_000, 2)
    assert (table[2]["low"], table[2]["high"]) == (None, 250_000)


def test_an_isr_that_was_not_accepted_is_no_pair() -> None:
    said = [
        {"kind": "isr_shrink", "broker": 1, "time": at(5), "isr": "1", "isr_before": "1,2"},
        {"kind": "isr_commit", "broker": 1, "time": at(9), "isr": "1,2", "partition_epoch": 7},
        {"kind": "partition_changed", "broker": 9, "time": at(1), "isr": "1", "partition_epoch": 7},
    ]
    assert skew(rows(*said)).is_empty()


def test_bounds_add_up_over_other_brokers() -> None:
    assert _reach({(1, 2): 5, (2, 3): -2, (1, 3): 9, (3, 4): 1}, 1) == {1: 0, 2: 5, 3: 3, 4: 4}


def test_a_topic_of_another_life_is_no_effect() -> None:
    """Epoch 0 of a topic made again is not epoch 0 of the topic before it."""
    lines = [
        follows(2, -3600, 0),
        {"kind": "log_deleted", "broker": 2, "time": at(-1800)},
        follows(2, 0.1, 0),
        election(9, 0, 0, 1),
    ]
    assert skew(rows(*lines)).is_empty()
    (row,) = skew(rows(*lines[2:])).iter_rows(named=True)
    assert abs(row["estimate"]) == 100_000


def test_an_epoch_that_a_controller_uses_again_is_no_cause() -> None:
    """Controller 9's disk is put back from a copy: its second leader epoch 1 began after brokers knew the first.

    Broker 2 registered with epoch 40, the offset of that record in the metadata log, which then ends at 30.
    """
    lines = [
        {"kind": "broker_registered", "broker": 9, "time": at(-60), "replica": 2, "offset": 40, "topic": None},
        follows(2, -40, 1),
        {"kind": "metadata_loaded", "broker": 9, "time": at(-2), "leo": 0, "topic": None},
        {"kind": "metadata_loaded", "broker": 9, "time": at(-1), "leo": 30, "topic": None},
        election(9, 0, 1, 1),
    ]
    table = rows(*lines)
    assert skew(table).is_empty()
    assert went_back(table).keys() == {9}
    grown = table.with_columns(pl.when(pl.col("leo") == 30).then(41).otherwise(pl.col("leo")).alias("leo"))
    assert went_back(grown) == {}
    assert not skew(grown).is_empty()


def test_a_controller_that_is_active_twice_in_an_epoch_was_made_again() -> None:
    active = {"kind": "controller_active", "broker": 9, "replica": 9, "topic": None}
    epochs = [{**active, "time": at(number), "detail": detail} for number, detail in enumerate(["1", "2", "2"])]
    assert went_back(rows(*epochs[:2])) == {}
    assert went_back(rows(*epochs)) == {9: 1_767_268_802_000_000}


@pytest.mark.parametrize(("leader", "pairs"), [(3, 0), (1, 1)])
def test_a_leader_epoch_of_two_leaders_is_no_pair(leader: int, pairs: int) -> None:
    """No line shows that the metadata log went back, but broker 2 followed another leader in the epoch."""
    table = rows({**follows(2, -40, 1), "leader": leader}, election(9, 0, 1, 1))
    assert skew(table).height == pairs


def test_nothing_to_compare_is_no_table() -> None:
    assert dict(skew(rows()).schema) == SKEW
    assert skew(rows(follows(1, 0, 1), follows(2, 0, 1))).is_empty()
    assert skew(rows(election(9, 0, 1, 1))).is_empty()


def test_a_case_by_hand(tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    incident.begins(10)
    assert not incident.scan().case.skew.is_empty()


@pytest.mark.parametrize("link", LINKS, ids=[link.name for link in LINKS])
def test_a_kind_of_pair_finds_pairs_in_a_recorded_cluster(link: Link, sample_traces: Path, scanned: Scanned) -> None:
    if link.name.startswith("an election is replayed by several"):
        pytest.skip("each recorded cluster has one controller")
    found = 0
    for name in ("kip101-0.10.2.2", "flap-3.9.1"):
        wanted = _wanted(scanned(sample_traces / name).case.observations)
        pairs = link.pairs(wanted).filter(pl.col("cause") != pl.col("effect")).drop_nulls()
        found += pairs.height
        if link.strict:
            assert pairs.filter(pl.col("delay") < 0).is_empty()
    assert found


@pytest.mark.parametrize(("delay", "ahead"), [(40.0, 0), (-40.0, -40_000_000)])
def test_a_slow_effect_is_no_skew_and_one_before_its_cause_is(delay: float, ahead: int) -> None:
    """A broker that was down asks to change the ISR long after it was told; none can be answered before it asked."""
    assert _guesses({}, {(1, 9): round(delay * SECOND)}) == {(1, 9): ahead, (9, 1): -ahead}


@pytest.mark.parametrize(("low", "ahead", "told"), [(None, 5, False), (1, 5, True), (None, 7200, True), (-3, 5, False)])
def test_a_clock_that_may_agree_is_not_said_to_be_off(
    low: int | None, ahead: int, told: bool, sample_traces: Path, scanned: Scanned
) -> None:
    result = scanned(sample_traces / "kip101-0.10.2.2")
    row = {"cluster": None, "broker": 1, "reference": 9, "estimate": ahead * SECOND, "low": low and low * SECOND}
    case = replace(result.case)
    case.__dict__["skew"] = pl.DataFrame([{**row, "high": None, "pairs": 3, "consistent": True}], schema=SKEW)
    assert bool(apart(replace(result, case=case))) == told
