"""Directories that are older copies of themselves, and files that lie: what replay may not infer from them.

Each schedule was shrunk from a random run that was judged wrongly. Beside it stands one that looks like it, where the
inference holds.
"""

from __future__ import annotations

import pytest

from forensics.model.random_runs import Op, Setting
from forensics.model.run import Logging
from tests.model.batches import QUESTIONS, Schedule, answers

THREE, PAIR = (1, 2, 3), (1, 2)
CUT, LOST, FORKED = QUESTIONS
Ops = list[tuple[object, ...]]

RESTARTED: Ops = [("produce", 1), ("fetch", 2), ("fetch", 2), ("crash", 2), ("restart", 2)]
"""A follower before KIP-101 truncates a committed record to its own high watermark."""

# Name: protocol, logging, whether all faults end, setting, operations, rule, verdict, offsets.
CASES: dict[str, tuple[str, Logging, bool, Setting, Ops, str, str, list[int]]] = {
    # A directory of the same length holds another record. The follower's epoch file shows which one it removed.
    "another epoch is removed from the epoch file": (
        "epoch",
        "replication",
        True,
        Setting(THREE, 2, False),
        [("produce-1", 3), ("back-up", 1), ("lie-epochs", 1), ("produce", 2), ("catch-up", 2), ("put-back", 1)],
        CUT,
        "unknown",
        [],
    ),
    "a follower that had its leader's records truncates none of them": (
        "epoch",
        "replication",
        True,
        Setting(THREE, 2, False),
        [
            ("produce", 2),
            ("fetch", 3),
            ("produce-1", 3),
            ("back-up", 1),
            ("crash", 2),
            ("notice", 2),
            ("lie-epochs", 1),
            ("fetch", 1),
            ("produce", 1),
            ("catch-up", 2),
            ("put-back", 1),
        ],
        CUT,
        "unknown",
        [],
    ),
    # A leader states a high watermark of the epoch before. A member of its ISR came back with less in between.
    "a leader began with the high watermark": (
        "hw",
        "default",
        True,
        Setting(THREE, 1, True),
        [
            ("produce-1", 3),
            ("back-up", 3),
            ("lag", 3),
            ("crash", 3),
            ("put-back", 2),
            ("fetch", 2),
            ("lie-epochs", 1),
            ("put-back", 3),
            ("crash", 2),
        ],
        CUT,
        "unknown",
        [],
    ),
    "a member of the ISR restarted with all that was committed": (
        "hw",
        "replication",
        True,
        Setting(PAIR, 1, False),
        RESTARTED,
        CUT,
        "violated",
        [0],
    ),
    # Its process had stopped cleanly, and yet the log was recovered: it is not the one that the process left.
    "a log that no clean stop left": (
        "hw",
        "replication",
        True,
        Setting(THREE, 2, False),
        [
            ("produce", 2),
            ("back-up", 1),
            ("lie-epochs", 3),
            ("stop", 1),
            ("produce-1", 1),
            ("lie-epochs", 2),
            ("put-back", 1),
        ],
        CUT,
        "unknown",
        [],
    ),
    # The high watermark that a broker stated was of the log before.
    "an empty directory was put back, and its broker led": (
        "fetch",
        "replication",
        False,
        Setting(PAIR, 2, False),
        [
            ("back-up", 1),
            ("produce", 2),
            ("catch-up", 1),
            ("put-back", 2),
            ("put-back", 1),
            ("produce-zombie", 1),
        ],
        FORKED,
        "unknown",
        [],
    ),
    "a directory without a high watermark was put back": (
        "fetch",
        "replication",
        False,
        Setting(PAIR, 2, False),
        [
            ("produce", 2),
            ("lie-epochs", 1),
            ("back-up", 1),
            ("catch-up", 1),
            ("produce", 2),
            ("catch-up", 1),
            ("put-back", 1),
        ],
        FORKED,
        "unknown",
        [],
    ),
    # It began to fetch at 0, and truncated to 1: since 0.11 that line is printed only where it removes something.
    "a follower that fetched truncates above where it began": (
        "fetch",
        "default",
        True,
        Setting(THREE, 1, False),
        [("produce-1", 1, 0, 4), ("lie-epochs", 3), ("put-back", 2), ("lie-epochs", 1), ("lie-epochs", 1)],
        CUT,
        "unknown",
        [],
    ),
    # The leader from outside the ISR begins at the end of the log before, but has other records below.
    "a leader begins where the log before ends and had another record": (
        "fetch",
        "default",
        False,
        Setting(PAIR, 1, True),
        [
            ("produce-1", 1),
            ("power-loss", 1, 0, 7),
            ("notice", 1),
            ("produce-zombie", 2),
            ("stop", 2),
            ("restart", 1),
            ("old-file", 2),
        ],
        LOST,
        "unknown",
        [],
    ),
    "the same with the high watermark in its file": (
        "fetch",
        "default",
        False,
        Setting(PAIR, 1, True),
        [
            ("produce-1", 1),
            ("power-loss", 1, 0, 7),
            ("notice", 1),
            ("produce-zombie", 2),
            ("stop", 2),
            ("restart", 1),
        ],
        LOST,
        "violated",
        [0],
    ),
    "the same where the leader before wrote nothing": (
        "fetch",
        "default",
        False,
        Setting(PAIR, 1, True),
        [("produce-1", 1), ("power-loss", 1, 0, 7), ("notice", 1), ("stop", 2), ("restart", 1), ("old-file", 2)],
        LOST,
        "clean",
        [],
    ),
    # Nothing but the election names the leader, and nothing shows that it heard of it.
    "a leader from outside the ISR that nobody saw lead": (
        "epoch",
        "default",
        False,
        Setting(PAIR, 1, True),
        [
            ("produce-1", 2),
            ("pause", 1),
            ("notice", 1),
            ("crash", 1),
            ("decide", 1),
            ("restart", 1),
            ("cut", 0, 1),
            ("stop", 2),
        ],
        LOST,
        "unknown",
        [],
    ),
    "the same where it began to lead": (
        "epoch",
        "default",
        False,
        Setting(PAIR, 1, True),
        [
            ("produce-1", 2),
            ("pause", 1),
            ("notice", 1),
            ("crash", 1),
            ("decide", 1),
            ("restart", 1),
            ("stop", 2),
        ],
        LOST,
        "violated",
        [0],
    ),
    # Its leader has it no more, nor has anybody else, though nobody has led without it yet.
    "a committed record that was in the directory taken away": (
        "fetch",
        "replication",
        False,
        Setting(PAIR, 1, False),
        [("put-back", 1), ("back-up", 2), ("produce", 2), ("cut", 0, 2), ("put-back", 2), ("notice", 2)],
        LOST,
        "violated",
        [0],
    ),
    # It led without the record, and its files have it, because it fetched it later.
    "a leader that fetched later what it lacked": (
        "hw",
        "replication",
        True,
        Setting(PAIR, 2, True),
        [("produce-1", 1), ("lie-epochs", 2), ("put-back", 1, 0, 3), ("put-back", 2, 0, 1)],
        LOST,
        "unknown",
        [],
    ),
    "a leader that had fetched it before": (
        "hw",
        "replication",
        True,
        Setting(PAIR, 2, True),
        [("produce-1", 1), ("lag", 2), ("lag", 2), ("put-back", 1, 0, 3), ("put-back", 2, 0, 1)],
        LOST,
        "clean",
        [],
    ),
    # Broker 2 starts with the directory of broker 1, and the high watermark in it. Broker 1 had led, and is empty now.
    "the directories of a leader and a follower were exchanged": (
        "fetch",
        "default",
        True,
        Setting(PAIR, 1, False),
        [("stop", 2), ("produce-1", 1), ("restart", 2), ("swap", 1, 2, 3)],
        LOST,
        "unknown",
        [],
    ),
    # Replicas that differ below have the same batch above, with the same number of its producer.
    "a transaction above a fork": (
        "epoch",
        "default",
        True,
        Setting(THREE, 1, False),
        [
            ("produce-open", 3, 0, 1),
            ("produce", 3),
            ("prefer", 3),
            ("produce-open", 2, 0, 2),
            ("crash", 3),
            ("notice", 3),
            ("produce-open", 3),
        ],
        FORKED,
        "violated",
        [0, 1, 2],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_was_put_back(name: str) -> None:
    protocol, logging, settled, cast, ops, rule, verdict, named = CASES[name]
    case = Schedule(cast, tuple(Op(*op) for op in ops), settled=settled)  # type: ignore[arg-type]
    (given,) = answers([case], protocol, logging)
    assert [answer.wrong for answer in given if answer.wrong] == []
    (answer,) = (one for one in given if one.rule == rule)
    assert (answer.verdict, sorted(answer.named)) == (verdict, named)
