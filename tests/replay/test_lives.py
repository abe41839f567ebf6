"""Which life of a topic a line is about, where the topic was deleted and created again under the same name."""

from __future__ import annotations

from datetime import datetime, timedelta

import polars as pl
import pytest

from forensics.replay.facts.incarnations import incarnations
from forensics.replay.facts.log_numbers import numbered
from parsers.schema import Kind

ROWS = {
    "topic": pl.String(),
    "partition": pl.Int32(),
    "broker": pl.Int32(),
    "replica": pl.Int32(),
    "kind": pl.String(),
    "message": pl.String(),
    "leader": pl.Int32(),
    "leader_epoch": pl.Int32(),
    "leo": pl.Int64(),
    "topic_id": pl.String(),
    "detail": pl.String(),
    "time": pl.Datetime("us"),
}
ONE, TWO = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
Told = tuple[Kind, int | None]


START = datetime(2026, 1, 1)  # noqa: DTZ001 - times of observations have no zone


def told(rows: list[Told], *ids: str | None, broker: int = 1, since: int = 0) -> list[dict[str, object]]:
    """What a broker says: a kind, a leader epoch and, where the release prints it, an id; a line each minute."""
    blank = dict.fromkeys(ROWS)
    of = {"topic": "orders", "partition": 0, "broker": broker}
    named = ids or (None,) * len(rows)
    return [
        blank
        | of
        | {"kind": kind.value, "message": kind.value, "leader_epoch": epoch, "topic_id": name}
        | {"time": START + timedelta(minutes=minute)}
        for minute, ((kind, epoch), name) in enumerate(zip(rows, named, strict=True), start=since)
    ]


def lives(rows: list[dict[str, object]]) -> list[int]:
    frame = numbered(pl.DataFrame(rows, schema=ROWS), ("topic", "partition", "broker"))
    return incarnations(frame).get_column("incarnation").to_list()


def asked(epoch: int) -> Told:
    return Kind.LEADER_AND_ISR, epoch


def led(epoch: int) -> Told:
    return Kind.BECOME_LEADER, epoch


def followed(epoch: int) -> Told:
    return Kind.BECOME_FOLLOWER, epoch


DELETED: Told = (Kind.LOG_DELETED, None)
CREATED: Told = (Kind.LOG_CREATED, None)
REMOVED: Told = (Kind.FETCHER_REMOVED, None)
MADE: Told = (Kind.PARTITION_REQUESTED, None)  # whoever is asked for the topic says so, before ZooKeeper has it


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # It led in both lives: the request begins the second one, and the role that it asks for is the same one's.
        ([asked(0), asked(4), led(4), DELETED, asked(0), CREATED, led(0), asked(1)], [1, 1, 1, 1, 0, 0, 0, 0]),
        ([asked(4), followed(4), DELETED, asked(0), CREATED, followed(0)], [1, 1, 1, 0, 0, 0]),
        # Near misses: a third life of which no deletion is told, and two of which none is.
        ([asked(4), led(4), DELETED, asked(0), led(0), led(2), led(0)], [2, 2, 2, 1, 1, 1, 0]),
        ([led(4), led(0), led(2), led(0)], [2, 1, 1, 0]),
        # Each deletion told, and led from the first epoch on each time.
        ([led(4), DELETED, asked(0), led(0), DELETED, asked(0), led(0)], [2, 2, 1, 1, 1, 0, 0]),
        # Its deletion is not told, but that it is created again.
        ([asked(0), led(0), MADE, CREATED, asked(0), led(0)], [1, 1, 0, 0, 0, 0]),
        ([MADE, CREATED, asked(0), led(0), MADE, CREATED, asked(0), led(0)], [1, 1, 1, 1, 0, 0, 0, 0]),
        ([asked(0), led(0), MADE, asked(0), CREATED, led(0)], [1, 1, 0, 0, 0, 0]),
        # ZooKeeper has the topic already, as another broker was asked for it too: there is one topic.
        ([asked(0), MADE, followed(0)], [0, 0, 0]),
        ([asked(0), MADE, CREATED, followed(0)], [0, 0, 0, 0]),
        ([asked(0), followed(0), MADE, (Kind.METADATA_CACHED, 0)], [0, 0, 0, 0]),
        # A wiped disk, or a replica on another broker: a log is made anew, and the topic is the same.
        ([asked(0), led(0), CREATED, asked(0), led(0)], [0, 0, 0, 0, 0]),
        ([asked(4), CREATED, followed(4)], [0, 0, 0]),
        # No deletion is told, but a new log in epoch 0 is: the request comes before the log, or is not told.
        ([asked(0), led(0), followed(2), asked(0), CREATED, led(0)], [1, 1, 1, 0, 0, 0]),
        ([led(0), followed(2), CREATED, led(0), followed(1)], [1, 1, 0, 0, 0]),
        # A wiped disk: the new log's epoch is the one before, or a higher one.
        ([led(0), followed(2), CREATED, followed(2), followed(3)], [0, 0, 0, 0, 0]),
        # Moved away and back: a higher epoch is no other topic's.
        ([asked(0), led(0), DELETED, asked(3), CREATED, led(3)], [0, 0, 0, 0, 0, 0]),
    ],
)
def test_a_life_begins_once(rows: list[Told], expected: list[int]) -> None:
    assert lives(told(rows)) == expected


def test_brokers_count_the_same_lives_whether_they_led_in_them_or_not() -> None:
    """One led before and after; the other followed, of which its release prints no role."""
    leader = told([asked(4), led(4), DELETED, asked(0), led(0)])
    follower = [*told([asked(4), DELETED], broker=2, since=1), *told([asked(0), asked(1)], broker=2, since=3)]
    assert lives([*leader, *follower]) == [1, 1, 1, 0, 0, 1, 1, 0, 0]


def test_a_partition_that_its_controller_makes_twice_is_two_topics_though_its_epochs_are_all_0() -> None:
    made: Told = (Kind.PARTITION_CREATED, None)
    broker = told([asked(0), CREATED, led(0), asked(0), CREATED, led(0)])
    first, again, last = (told([made], broker=9, since=minute)[0] for minute in (0, 0, 3))
    again["time"] = START + timedelta(seconds=1)  # it logs each creation in several lines
    assert lives([*broker, first, again, last])[:6] == [1, 1, 1, 0, 0, 0]
    # Near miss: a wiped disk, of which the controller logs nothing.
    assert lives([*broker, first, again])[:6] == [0, 0, 0, 0, 0, 0]
    # Nor do the lines of one moment, in whichever order its files have them.
    elected = told([(Kind.ELECTION, 0)], broker=9)
    assert lives([first, *elected, again, *elected]) == [0, 0, 0, 0]
    # The controller's clock may be ahead of the broker's.
    last["time"] = START + timedelta(minutes=3, seconds=4)
    assert lives([*broker, first, again, last])[:6] == [1, 1, 1, 0, 0, 0]


def test_what_a_broker_does_for_a_log_before_it_is_made_is_about_it() -> None:
    """It removes the fetcher of a partition that it leads, and it did so as it stopped, minutes before."""
    rows = told([led(0), followed(2), REMOVED, REMOVED, (Kind.MESSAGE_FORMAT, None), CREATED, led(0)])
    for at, seconds in ((3, 2), (4, 1)):
        rows[at]["time"] = START + timedelta(minutes=5, seconds=-seconds)
    assert lives(rows) == [1, 1, 1, 0, 0, 0, 0]


def test_a_broker_whose_lines_end_before_the_topic_is_made_again_had_the_older_one() -> None:
    again = told([led(0), followed(2), CREATED, led(0)])
    assert lives([*again, *told([followed(0), led(2)], broker=3)]) == [1, 1, 0, 0, 1, 1]
    # Without a replica it may have lines about both.
    cached = told([(Kind.METADATA_CACHED, 2), (Kind.METADATA_CACHED, 0)], broker=3, since=1)
    assert lives([*again, *cached]) == [1, 1, 0, 0, 1, 0]
    # Near misses: it had both, as it was there when the topic was made; and a clock that is slow by seconds.
    assert lives([*again, *told([followed(0)], broker=3, since=3)]) == [1, 1, 0, 0, 0]
    other = told([led(0), followed(2), CREATED, led(0)], broker=3)
    for row in other:
        row["time"] = row["time"] - timedelta(hours=2)  # type: ignore[operator]
    assert lives([*again, *other]) == [1, 1, 0, 0, 1, 1, 0, 0]
    slow = told([followed(0)], broker=3, since=2)
    slow[0]["time"] = START + timedelta(minutes=2, seconds=-5)
    assert lives([*again, *slow]) == [1, 1, 0, 0, 0]


def test_where_ids_are_printed_they_tell_the_lives_apart() -> None:
    rows = [led(4), led(0), led(2)]
    assert lives(told(rows, ONE, TWO, TWO)) == [1, 0, 0]
    assert lives(told(rows, ONE, ONE, ONE)) == [0, 0, 0]


def test_brokers_that_name_two_ids_speak_of_two_topics() -> None:
    """Even where each broker names one id alone, and no line shows a deletion."""
    older = told([asked(3), led(3)], ONE, ONE)
    later = told([asked(4), led(4)], TWO, TWO, broker=2, since=10)
    assert lives([*older, *later]) == [1, 1, 0, 0]
    same = told([asked(4), led(4)], ONE, ONE, broker=2)
    assert lives([*older, *same]) == [0, 0, 0, 0]


def test_a_role_in_the_same_epoch_under_another_leader_is_of_another_topic_where_several_ids_are_known() -> None:
    """A search found two roles of broker 1 and nothing between them; broker 2's lines name both topics."""
    follower, leader = told([followed(0), led(0)], None, TWO)
    follower["leader"] = 2
    both = told([asked(0), asked(0)], ONE, TWO, broker=2)
    assert lives([follower, leader, *both]) == [1, 0, 1, 0]
    # Near misses: one topic whose epoch 0 has two leaders, and a process that takes up its epoch again.
    assert lives([follower, leader, *both[1:]]) == [0, 0, 0]
    again = told([followed(0), followed(0)], None, TWO, since=2)
    again[0]["leader"] = again[1]["leader"] = 2
    assert lives([*again, *both]) == [0, 0, 1, 0]


def test_a_replica_found_stray_names_the_topic_before() -> None:
    """Broker 2 was down when the topic was made again, and finds its replica stray right before it makes the log."""
    made = (Kind.LOG_CREATED, None)
    others = told([(Kind.TOPIC_ID, None), made, led(0)] * 2, ONE, None, None, TWO, None, None)
    own = told(
        [(Kind.TOPIC_ID, None), made, followed(0), (Kind.LOG_DELETED, None), (Kind.TOPIC_ID, None), made, followed(0)],
        ONE, None, None, ONE, TWO, None, None, broker=2,
    )  # fmt: skip
    for rows, seconds in ((others, [0, 1, 2, 60, 61, 62]), (own, [0, 1, 2, 70, 71, 72, 73])):
        for row, second in zip(rows, seconds, strict=True):
            row["time"] = START + timedelta(seconds=second)
    assert lives([*others, *own]) == [1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0]
