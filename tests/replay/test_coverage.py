"""What the absence of a line proves, and the table of what shows that lines are missing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from string import Formatter

import pytest

from forensics.replay.coverage import BOTH, Coverage, Extent, LinesAtHand, Omission, Place, Printed, Span
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.omissions import OMISSIONS
from tests.covering import holed, whole, without
from tests.incident import Incident

LATE = Omission("begins-late", Span.BEFORE, "its lines begin in leader epoch {epoch}", "a test")
EARLY = Omission("ends-early", Span.AFTER, "its lines end at {end}", "a test")


def test_silence_is_proof_where_roles_and_log_are_printed_and_nothing_is_missing() -> None:
    assert whole(1).extent(1) is Extent.WHOLE
    for what in Printed:
        assert without(whole(1), 1, what).extent(1) is Extent.PARTLY, what
    assert holed(whole(1), 1).extent(1) is Extent.PARTLY
    nothing = without(without(whole(1), 1, Printed.LOG), 1, Printed.ROLES)
    assert [nothing.extent(1), whole(1).extent(2), whole(1).extent(None)] == [Extent.SILENT] * 3


@pytest.mark.parametrize("what", Printed)
@pytest.mark.parametrize("span", Span)
def test_lines_about_one_thing_alone_prove_nothing_about_the_other_in_any_span(what: Printed, span: Span) -> None:
    (other,) = BOTH - {what}
    alone = without(whole(1), 1, other)
    assert (alone.has(1, what, span), alone.has(1, other, span)) == (True, False)
    assert alone.extent(1, span) is Extent.PARTLY
    assert not alone.whole(1, span)
    assert alone.whole_replicas(span) == frozenset()


def test_a_thing_is_covered_only_in_the_spans_that_are_asked() -> None:
    coverage = whole(1).lowered([EARLY.of(1, {"end": 7})])
    assert coverage.has(1, Printed.ROLES)
    assert coverage.has(1, Printed.ROLES, Span.BEFORE, Span.WITHIN)
    assert not coverage.has(1, Printed.ROLES, Span.AFTER)
    assert not coverage.has(1, Printed.ROLES, *Span)


def test_coverage_starts_from_the_lines_at_hand() -> None:
    """Broker 1 has both logs, and roles alone of this partition; 2 has one log; 3 a trace's claim; 4 an excerpt."""
    lines = {
        1: LinesAtHand(),
        2: LinesAtHand(frozenset({Printed.LOG})),
        3: LinesAtHand(frozenset(), claimed=True),
        4: LinesAtHand(frozenset()),
    }
    coverage = Coverage.of(lines, {1: frozenset({Printed.ROLES}), 2: BOTH, 3: frozenset(), 4: BOTH})
    assert [{what for what in Printed if coverage.has(one, what)} for one in lines] == [
        {Printed.ROLES},
        {Printed.LOG},
        {*Printed},
        set(),
    ]
    assert [coverage.extent(one) for one in lines] == [Extent.PARTLY, Extent.PARTLY, Extent.WHOLE, Extent.SILENT]
    assert (coverage.claimed, coverage.elections) == ({3}, False)
    assert coverage.with_elections(True).elections


def test_logs_are_about_a_thing_whether_or_not_lines_are_missing() -> None:
    coverage = holed(Coverage({1: frozenset({Printed.ROLES})}), 1)
    assert [coverage.are_about(1, what) for what in Printed] == [True, False]
    assert not coverage.has(1, Printed.ROLES)
    assert not coverage.are_about(2, Printed.ROLES)
    assert not coverage.are_about(None, Printed.ROLES)


def test_a_place_at_which_lines_are_missing_is_asked_by_role_and_rows() -> None:
    """Of process 0 of broker 1, lines are missing in epoch 3 about row 20, and after its last line on epoch 5."""
    coverage = whole(1, 2).with_places(1, [Place(3, 0, 20)]).with_places(1, [Place(5, 0)])
    rows = [(None, None), (20, None), (21, None), (None, 20), (None, 19), (3, 30)]
    within = [coverage.missing_in(1, 3, 0, since=since, until=until) for since, until in rows]
    assert within == [True, True, False, True, False, True]
    at_end = [coverage.missing_in(1, 5, 0, since=since, until=until) for since, until in rows]
    assert at_end == [True, True, True, False, False, False], "where a role's last line ends nothing more follows"
    assert not any(coverage.missing_in(*role) for role in ((1, 3, 1), (1, 4, 0), (2, 3, 0)))


def test_lines_that_are_missing_at_no_known_place_may_be_missing_in_any_role() -> None:
    coverage = holed(whole(1), 1)
    roles = [(1, 3, 0), (1, 4, 0)]
    assert [whole(1).log_lines_complete(*role) for role in roles] == [True, True]
    assert [coverage.log_lines_complete(*role) for role in roles] == [False, False]
    placed = holed(whole(1), 1, placed=True).with_places(1, [Place(3, 0, 20)])
    assert [placed.log_lines_complete(*role) for role in roles] == [False, True]
    assert [placed.role_lines_complete(*role) for role in roles] == [False, True]
    others = coverage.with_places(1, [Place(3, 0, 20)])  # others are missing besides, and nothing shows where
    assert [others.log_lines_complete(*role) for role in roles] == [False, False]
    assert [others.role_lines_complete(*role) for role in roles] == [False, False]


GONE = Omission("gone", Span.WITHIN, "lines of leader epoch {epoch} are gone", "a test")


def test_one_omission_without_a_place_among_others_leaves_all_roles_open() -> None:
    placed = replace(GONE.of(1, epoch=3), placed=True)
    coverage = whole(1).lowered([placed]).with_places(1, [Place(3, 0, 20)])
    assert coverage.log_lines_complete(1, 4, 0)
    for further in (coverage.lowered([GONE.of(1, epoch=5)]), whole(1).lowered([GONE.of(1, epoch=5), placed])):
        assert not further.with_places(1, [Place(3, 0, 20)]).log_lines_complete(1, 4, 0)
        assert len(further.known_missing[1]) == 1


def test_each_epoch_whose_records_have_no_known_writer_is_kept() -> None:
    found = [GONE.of(1, epoch=3, undated_from=10), GONE.of(1, epoch=5, undated_from=30), GONE.of(1, epoch=5)]
    coverage = whole(1).lowered(found).lowered(found)
    assert [coverage.undated_from(1, epoch) for epoch in (3, 4, 5)] == [10, None, 30]
    assert len(coverage.known_missing[1]) == 2


def test_the_lowest_offset_of_an_epoch_counts_in_whatever_order_they_are_found() -> None:
    found = [GONE.of(1, epoch=3), GONE.of(1, epoch=3, undated_from=20), GONE.of(1, epoch=3, undated_from=10)]
    for order in (found, found[::-1]):
        coverage = whole(1).lowered(order)
        assert coverage.undated_from(1, 3) == 10
        assert coverage.lowered(order) == coverage, "what is known is not found again"


def test_no_place_counts_where_a_trace_claims_to_state_every_change() -> None:
    claimed = Coverage.of({1: LinesAtHand(frozenset(), claimed=True)}, {1: frozenset()})
    assert claimed.with_places(1, [Place(3, 0, 20)]).places == {}


def test_what_is_missing_in_one_span_leaves_the_others_whole() -> None:
    coverage = whole(1, 2).lowered([LATE.of(1, epoch=3), EARLY.of(2, {"end": 7})])
    assert [coverage.extent(1, span) for span in Span] == [Extent.PARTLY, Extent.WHOLE, Extent.WHOLE]
    assert [coverage.extent(2, span) for span in Span] == [Extent.WHOLE, Extent.WHOLE, Extent.PARTLY]
    assert coverage.whole(1)
    assert not coverage.throughout(1)
    assert coverage.whole(1, Span.WITHIN, Span.AFTER)
    assert {b: one.text for b, one in coverage.shown_missing(*Span).items()} == {
        1: "its lines begin in leader epoch 3",
        2: "its lines end at 7",
    }
    assert [*coverage.shown_missing(Span.AFTER)] == [*coverage.shown_missing_by(EARLY)] == [2]


def test_lines_missing_within_make_neither_of_the_two_files_whole() -> None:
    coverage = holed(whole(1, 2), 1)
    assert not any(coverage.has(1, what) for what in Printed)
    assert all(coverage.has(2, what) for what in BOTH)
    assert without(whole(1), 1, Printed.LOG).has(1, Printed.ROLES)


def test_coverage_only_falls_and_never_by_the_same_twice() -> None:
    once = whole(1).lowered([EARLY.of(1, {"end": 7}, ref=Ref(row=1))])
    assert once.lowered([EARLY.of(1, {"end": 9})]) == once
    lower = once.lowered([LATE.of(1, epoch=1)])
    assert {*once.known_missing[1]} < {*lower.known_missing[1]}
    assert whole(1).known_missing == {}, "what is known before stays as it was"
    assert once.with_unnamed([4]).unnamed == {4}


def test_an_epoch_that_no_line_names_is_in_the_coverage_alone() -> None:
    """Of the leader epochs 0 to 5, lines name 0, 3 and 5; files show 3 alone, so who led it is unknown."""
    history = History(PartitionFacts("orders", 0), coverage=whole(1).with_unnamed([1, 2, 4]))
    history.epochs = LeaderEpochs(
        {0: Epoch(0, leader=1, leader_took_up=True), 3: Epoch(3, leader_took_up=True), 5: Epoch(5)}
    )
    between = history.coverage.unnamed_between
    assert [between(0, 3), between(1, 3), between(0), between(4), between(0, 1)] == [[1, 2], [2], [1, 2, 4], [], []]
    assert [epoch.epoch for epoch in history.taken_up] == [0, 1, 2, 3, 4]
    assert not any(epoch.leader_took_up for epoch in history.taken_up if epoch.epoch in history.coverage.unnamed)


@pytest.mark.parametrize("omission", OMISSIONS, ids=[omission.id for omission in OMISSIONS])
def test_each_omission_says_what_shows_it_and_where_kafka_prints_it(omission: Omission) -> None:
    assert re.fullmatch("[a-z]+(-[a-z]+)*", omission.id)
    assert [other.id for other in OMISSIONS].count(omission.id) == 1
    names = [name for _, name, _, _ in Formatter().parse(omission.says) if name]
    text = omission.of(1, dict.fromkeys(names, 7), epoch=7, undated_from=7).text
    assert "{" not in text
    # A class or a KIP of Kafka, so that a reader can look it up.
    assert re.search(r"\b(?:[A-Z][a-z]+[A-Z]\w+|Log|Partition|KIP-\d+)\b", omission.source), omission.source


def test_omissions_of_every_module_are_in_the_table(repository: Path) -> None:
    written = {
        name
        for path in (repository / "forensics" / "replay").rglob("*.py")
        for name in re.findall(r'(?:Omission|_within)\(\s*"([a-z-]+)"', path.read_text("utf-8"))
    }
    assert written == {omission.id for omission in OMISSIONS}


def test_a_contradiction_lowers_coverage_before_anything_follows_from_silence(tmp_path: Path) -> None:
    """Broker 3 followed leader 2 of epoch 1 with more than that one began with, and no line says that it truncated: of
    its log nothing follows from silence, from the first line on.
    """
    incident = Incident(tmp_path)
    incident.begins(20)
    incident[3].segment([(0, 19, 0), (20, 24, 0)])
    incident.elects(10, 1, 2, [2, 3])
    incident[2].leads(10, 1, 20, 20, [2, 3])
    incident[3].follows(10, 1, 2, 25, 20)
    incident.elects(30, 2, 2, [2, 3])
    incident[2].leads(30, 2, 40, 40, [2, 3])
    incident[3].follows(30, 2, 2, 40, 40)
    history = incident.history()
    missing = history.coverage.shown_missing(Span.WITHIN).get(3)
    assert missing is not None
    assert missing.shown_by == "followed-untruncated"
    assert not history.coverage.whole(3)
    assert history.coverage.whole(2)


def test_nothing_is_known_of_a_broker_that_left_nothing() -> None:
    coverage = Coverage()
    assert coverage.extent(1) is Extent.SILENT
    assert not coverage.has(1, Printed.LOG)
    assert coverage.shown_missing(*Span) == {}


def test_a_claim_of_one_topic_answers_within_a_role_too() -> None:
    claimed = {1: frozenset((Printed.ROLES,))}
    coverage = holed(Coverage(claimed, claimed_partly=claimed), 1, placed=True).with_places(1, [Place(3, 1)])
    assert coverage.has(1, Printed.ROLES)
    assert coverage.role_lines_complete(1, 3, 1)
    assert not coverage.log_lines_complete(1, 3, 1)
