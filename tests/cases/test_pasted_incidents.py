"""Tickets: a few pasted lines each, in the shapes of real ones, and what a scan must answer.

Each text in ``data/pasted`` is of one class: lines that look like a loss and are none, lines that state one by
themselves or by another, refusals, and recoveries. What two lines say together is suspected, or is found of the
replica; nothing is clean.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from forensics.reports.text import render
from forensics.result import Result
from forensics.rules.finding import Severity, Verdict
from tests.model.windows import scanned
from tests.parsers.pasted import PASTES

FOLDER = Path(__file__).parent / "data" / "pasted"
LOSS, CUT, SHORTER, FORK, FELL, EPOCHS, UNCLEAN = (
    "committed-data-lost",
    "truncation-below-committed",
    "leo-regression",
    "replica-divergence",
    "hw-regression",
    "epoch-divergence",
    "unclean-election",
)
Found = tuple[str, int | None, tuple[int, int] | None]
"""Rule, replica and offsets."""


class Answer(NamedTuple):
    """What a scan says.

    Attributes:
        begins: of the summary.
        found: findings that are more than good to know.
        stated: known problems that lines state.
        never: words that must not be said.
    """

    begins: str
    found: frozenset[Found] = frozenset()
    stated: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


def found(*those: Found) -> frozenset[Found]:
    return frozenset(those)


QUIET = "INCONCLUSIVE: loss of committed data cannot be ruled out"
ROUTINE = "ROUTINE: no log line shows a loss, and what these lines state is routine."
SUSPECTED = "ledger-3   SUSPECTED: "

ANSWERS: dict[str, Answer] = {
    # -- what must never be compared, and what is routine --------------------------------------------------------------
    "two-cluster-ids": Answer(QUIET),
    "created-again": Answer(ROUTINE, stated=("first-leader-epoch", "new-replica", "replica-deleted")),
    "created-again-topic-ids": Answer(QUIET),
    "delete-directory-loaded": Answer(QUIET),
    "names-differ-in-case": Answer(QUIET),
    "brokers-mixed": Answer(QUIET),
    "retention": Answer(ROUTINE, stated=("behind-log-start", "log-start-moved")),
    "epoch-begins-later": Answer(QUIET),
    "routine-restart": Answer(ROUTINE, stated=("truncation-without-effect",)),
    "replica-added": Answer(ROUTINE, stated=("truncation-without-effect", "new-replica", "isr-expanded")),
    "truncation-of-a-tail": Answer(
        "INFO stated by a log line: Log truncated. Broker 5 truncates ledger-3 to offset 512", stated=("truncation",)
    ),
    "tiered": Answer(ROUTINE, stated=("fetch-refused",)),
    # -- losses and truncations ----------------------------------------------------------------------------------------
    "below-own-high-watermark": Answer(
        "ledger-3   TRUNCATION BELOW COMMITTED   offsets 50 to 1679 (1,630 records)   error, inferred",
        found((CUT, 4, (50, 1680))),
        ("high-watermark-fell",),
    ),
    "begins-empty": Answer(f"{SUSPECTED}COMMITTED DATA LOST   offsets 0 to 63106", found((LOSS, 4, (0, 63107)))),
    "leader-begins-below-its-followers": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 7199 to 7203",
        found((LOSS, 4, (7199, 7204))),
        ("truncation-without-effect",),
    ),
    "follower-restarted-in-the-epoch": Answer(QUIET),
    "begins-empty-elsewhere": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 90 to 63106", found((LOSS, 5, (90, 63107)))
    ),
    "directory-failed-and-empty": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 0 to 728",
        found((LOSS, 4, (0, 729))),
        ("all-log-dirs-failed", "new-replica"),
        never=("nothing explains the difference",),
    ),
    "all-dirs-failed-then-alone": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 0 to 640",
        found((LOSS, 4, (0, 641))),
        ("all-log-dirs-failed", "isr-shrunk-to-one", "truncation"),
        never=("the evidence proves no cause", "show no lost record"),
    ),
    "all-dirs-failed-then-whole": Answer(
        "ERROR stated by a log line: Broker stopped: all log directories failed. ",
        stated=("all-log-dirs-failed", "isr-shrunk-to-one", "truncation"),
    ),
    "came-back-shorter": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 210 to 639", found((LOSS, 4, (210, 640)), (SHORTER, 4, (210, 640)))
    ),
    "recovery-cut-a-leader": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 350 to 399",
        found((LOSS, 4, (350, 400))),
        ("recovery-truncated", "log-recovery"),
    ),
    "load-with-fewer-segments": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 730 to 917",
        found((LOSS, 4, (730, 918)), (EPOCHS, 4, (730, 918)), (SHORTER, 4, (730, 918))),
    ),
    "epoch-begins-earlier": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 730 to 917",
        found((LOSS, 5, (730, 918)), (EPOCHS, 5, (730, 918))),
    ),
    "one-epoch-two-processes": Answer(f"{SUSPECTED}COMMITTED DATA LOST", found((LOSS, 4, (390, 410)))),
    "followers-truncate-to-nothing": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 0 to 299",
        found((LOSS, 4, (0, 300)), (CUT, 5, (0, 300))),
        ("truncation", "truncation"),
        never=("Routine for a replica that is new or empty",),
    ),
    "high-watermark-fell": Answer(
        "WARNING stated by a log line: High watermark fell. ", stated=("high-watermark-fell",)
    ),
    "kraft-unclean-then-planned": Answer(
        "VIOLATED in 1 of 1 partition: unclean-election",
        found((UNCLEAN, 5, None), (LOSS, 4, None)),
        ("unclean-election", "truncation", "truncation"),
    ),
    "kraft-unclean-then-in-vain": Answer(
        "VIOLATED in 1 of 1 partition: unclean-election",
        found((UNCLEAN, 5, None)),
        ("unclean-election", "truncation"),
    ),
    "unclean-then-fell": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 640 to 699",
        found((UNCLEAN, 5, None), (LOSS, 5, (640, 700))),
        ("unclean-election", "truncation-and-lower-high-watermark"),
    ),
    "recovered-led-then-fell": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 640 to 699",
        found((LOSS, 5, (640, 700))),
        ("high-watermark-fell", "recovery-truncated", "truncation"),
    ),
    "recovered-elsewhere-then-fell": Answer(
        "WARNING stated by a log line: High watermark fell. ",
        stated=("high-watermark-fell", "recovery-truncated", "truncation"),
    ),
    "elected-then-fell": Answer(
        "ERROR stated by a log line: Truncated below its high watermark. ",
        stated=("truncation-and-lower-high-watermark",),
    ),
    "new-log-alone": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   from offset 0 on", found((LOSS, 5, None)), ("new-replica",)
    ),
    "new-log-with-others": Answer(ROUTINE, stated=("new-replica",)),
    "unclean-0.10": Answer("ERROR stated by a log line: Unclean leader election. ", stated=("unclean-election",)),
    "shrunk-isr-then-begins-below": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 4800 to 5020",
        found((LOSS, 5, (4800, 5021))),
        ("isr-member-behind",),
    ),
    "shrunk-to-one-then-another-leads": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 4800 to 5020",
        found((LOSS, 5, (4800, 5021)), (UNCLEAN, 5, None)),
        ("isr-member-behind",),
    ),
    "shrunk-to-one-then-follows": Answer(
        f"{SUSPECTED}UNCLEAN ELECTION", found((UNCLEAN, 5, None)), ("isr-member-behind",)
    ),
    "shrunk-to-one-then-another-leads-1.1": Answer(
        f"{SUSPECTED}UNCLEAN ELECTION", found((UNCLEAN, 5, None)), ("isr-shrunk-to-one",)
    ),
    "planned-below-high-watermark": Answer(
        f"{SUSPECTED}TRUNCATION BELOW COMMITTED   offsets 640 to 899", found((CUT, 5, (640, 900))), ("truncation",)
    ),
    "planned-without-effect": Answer("ROUTINE: no log line shows a loss", stated=("truncation-without-effect",)),
    "fetcher-of-a-later-epoch": Answer(
        f"{SUSPECTED}TRUNCATION BELOW COMMITTED   offsets 640 to 899", found((CUT, 5, (640, 900))), ("truncation",)
    ),
    "fell-in-a-later-epoch": Answer(
        f"{SUSPECTED}TRUNCATION BELOW COMMITTED   offsets 1500 to 1799",
        found((CUT, 5, (1500, 1800))),
        ("high-watermark-fell",),
    ),
    "planned-and-fell": Answer(
        f"{SUSPECTED}TRUNCATION BELOW COMMITTED   offsets 1500 to 1799",
        found((CUT, 5, (1500, 1800))),
        ("high-watermark-fell",),
    ),
    "leader-then-planned-and-fell": Answer(
        f"{SUSPECTED}TRUNCATION BELOW COMMITTED   offsets 1500 to 1799",
        found((CUT, 5, (1500, 1800))),
        ("high-watermark-fell",),
        never=("while it led",),
    ),
    "planned-and-fell-later": Answer(
        "WARNING stated by a log line: High watermark fell. ", stated=("high-watermark-fell",)
    ),
    "leader-high-watermark-fell": Answer(
        f"{SUSPECTED}HIGH WATERMARK WENT BACK (hw-regression)   offsets 420 to 449",
        found((FELL, 4, (420, 450))),
        ("high-watermark-fell",),
    ),
    # -- files and records of one replica, and what clients see --------------------------------------------------------
    "segments-missing": Answer(
        "ERROR stated by a log line: Segment files are missing. ",
        stated=("segments-missing",),
        never=("Log truncated", "routine"),
    ),
    "record-of-no-size": Answer(
        "ERROR stated by a log line: Corrupt record. A record of ledger-3 at offset 51234 is damaged",
        stated=("corrupt-record",),
        never=("does not match its checksum",),
    ),
    "dump-of-a-bad-batch": Answer(
        "ERROR stated by a log line: Corrupt record. A record of ledger-3 at offset 50002 is damaged",
        stated=("corrupt-record",),
    ),
    "brokers-by-number": Answer(
        "ERROR stated by a log line: Offsets in a log do not rise. The log of ledger-3 on broker 2024 has offset",
        stated=("offsets-go-back-in-log",),
    ),
    "damage-found-at-start": Answer(
        "WARNING stated by a log line: Log recovery found damaged records. ", stated=("damage-found",)
    ),
    "damaged-records-fetched-1.0": Answer(
        "WARNING stated by a log line: Follower fetched damaged records. ", stated=("invalid-messages-fetched",)
    ),
    "damaged-records-consumed": Answer(
        "ERROR stated by a log line: Corrupt record. A record of ledger-3 at offset 51234 is damaged",
        stated=("corrupt-record",),
    ),
    "recovered-and-led": Answer(f"{SUSPECTED}COMMITTED DATA LOST", found((LOSS, 4, None)), ("recovery-truncated",)),
    "recovered-and-followed": Answer(
        "WARNING stated by a log line: Log recovery truncated a log. ", stated=("recovery-truncated",)
    ),
    "log-not-restarted-0.9": Answer(
        "INFO stated by a log line: Follower cannot begin its log again. ",
        stated=("log-not-restarted", "behind-log-start", "fetch-refused"),
    ),
    "cleaner-met-a-bad-record": Answer(
        "ERROR stated by a log line: Corrupt record. A record of ledger-3 ",
        stated=("corrupt-record", "compaction-stopped"),
    ),
    "epoch-entry-below": Answer(
        "WARNING stated by a log line: Leader epoch begins below an earlier one. ", stated=("epoch-begins-below",)
    ),
    "rdkafka-saw-truncation": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 205 to 390", found((LOSS, 4, (205, 391))), ("consumer-diverged",)
    ),
    "rdkafka-out-of-range": Answer(
        "INFO stated by a log line: Consumer position out of range. ", stated=("fetch-out-of-range",)
    ),
    "producer-unknown": Answer(
        "WARNING stated by a log line: Leader does not know a producer. ", stated=("producer-unknown",)
    ),
    "came-back-empty-after-full-disk": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   from offset 0 on",
        frozenset({(LOSS, 2, None)}),
        ("disk-full", "storage-error", "all-log-dirs-failed", "new-replica"),
    ),
    "follows-an-empty-leader": Answer(ROUTINE, stated=("truncation-to-zero",)),
    # -- refusals and complaints ---------------------------------------------------------------------------------------
    "truncation-refused-1.1": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 205 to 390", found((LOSS, 5, (205, 391))), ("truncation-refused",)
    ),
    "fetch-reset-to-shorter-leader": Answer(f"{SUSPECTED}COMMITTED DATA LOST", found((LOSS, 5, (205, 391)))),
    "append-refused": Answer(f"{SUSPECTED}REPLICA DIVERGENCE", found((FORK, 5, (205, 391))), ("append-refused",)),
    "log-start-above": Answer(
        f"{SUSPECTED}HIGH WATERMARK WENT BACK (hw-regression)",
        found((FELL, 5, (388, 391))),
        ("log-start-above-high-watermark",),
    ),
    "consumer-saw-truncation": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST", found((LOSS, 4, (205, 391))), ("consumer-diverged",)
    ),
    "out-of-range-above": Answer(
        f"{SUSPECTED}COMMITTED DATA LOST   offsets 205 to 390", found((LOSS, 4, (205, 391))), ("fetch-above-log-end",)
    ),
}


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def alarming(result: Result) -> frozenset[Found]:
    """What was found that is more than good to know."""
    return frozenset(
        (one.rule, next(iter(one.replicas), None), next(iter(one.offsets), None))
        for one in result.findings
        if one.severity is not Severity.INFO
    )


def test_every_text_has_an_answer() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_ticket_is_answered(name: str) -> None:
    expected, result = ANSWERS[name], scanned(text_of(name))
    page = render(result, width=200)
    assert f"\n{expected.begins}" in f"\n{page}"
    assert alarming(result) == expected.found
    assert tuple(one.known.id for one in result.problems) == expected.stated
    assert not [words for words in expected.never if words in page]
    assert "Collect this" not in page, "of an excerpt a few things to fetch are enough"
    nexts = page.partition("Collect next:\n")[2].partition("\n\n")[0]
    assert nexts.count("  - ") <= 3
    of_loss = {one.judgements[LOSS].verdict for one in result.partitions if not one.history.incarnation}
    assert of_loss <= {Verdict.UNKNOWN}


def test_names_that_differ_in_case_are_said_to_share_a_directory() -> None:
    page = render(scanned(text_of("names-differ-in-case")), width=200)
    assert "topics Ledger and ledger differ in capital letters alone" in page


FORMS = (
    "quoted twice",
    "indented",
    "line numbers",
    "stars",
    "fence",
    "noformat",
    "entities",
    "JSON",
    "breaks",
    "windows",
)


@pytest.mark.parametrize("form", FORMS)
def test_the_answer_is_the_same_however_it_was_pasted(form: str) -> None:
    """The two brokers' lines of one ticket, in the forms of mails, issue trackers and chats."""
    lines = text_of("begins-empty-elsewhere").splitlines()
    result = scanned("\n".join(PASTES[form].dress(lines)) + "\n")
    assert alarming(result) == ANSWERS["begins-empty-elsewhere"].found
    assert ANSWERS["begins-empty-elsewhere"].begins in render(result, width=200)
