"""One replica's events, a few at a time: what the reader makes of a restart, a stale request, a move, a repeat."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from forensics.case.brokers import Broker
from forensics.replay import protocol
from forensics.replay.broker_facts import BrokerFacts
from forensics.replay.facts.events import LOG_ENDS, PROGRESS, Event
from forensics.replay.facts.isr import broker_set
from forensics.replay.history import RegressionKind, Role, TruncationReason
from forensics.replay.roles.role_spans import Reader
from forensics.replay.roles.steps import LogBefore, RoleSpan, StepKind
from parsers.schema import Kind


def event(kind: Kind, *, run: int = 1, **values: object) -> Event:
    """An event about broker 1's replica with what a test needs; it gets its row from ``read``."""
    blank: dict[str, object] = dict.fromkeys(Event._fields)
    return Event(**(blank | {"row": 0, "broker": 1, "run": run, "kind": kind.value, "message": ""} | values))  # type: ignore[arg-type]


def reader_of(version: str | None) -> Reader:
    """Reads the lines of a broker of that version, or of one of which no version is known."""
    return Reader(1, BrokerFacts(protocol=protocol.of(Broker(1, version=version))))


def read(events: Iterable[Event], *, version: str | None = None) -> list[RoleSpan]:
    reader = reader_of(version)
    return reader.read(e._replace(row=row, time=row * 1_000_000) for row, e in enumerate(events))


def leads(epoch: int, end: int, hw: int | None = None, run: int = 1) -> Event:
    return event(Kind.BECOME_LEADER, run=run, leader_epoch=epoch, leo=end, hw=hw, isr="1,2")


def follows(
    epoch: int, leader: int | None = 2, *, end: int | None = None, hw: int | None = None, run: int = 1
) -> Event:
    return event(Kind.BECOME_FOLLOWER, run=run, leader_epoch=epoch, leader=leader, leo=end, hw=hw)


def truncation(target: int) -> Event:
    return event(Kind.TRUNCATE, offset=target)


def loaded(end: int, run: int = 2) -> Event:
    return event(Kind.LOG_LOADED, run=run, leo=end)


def appended(end: int) -> Event:
    return event(Kind.APPEND, leo=end)


# -- roles -----------------------------------------------------------------------------------------


def test_each_epoch_is_a_tenure() -> None:
    found = read([leads(0, 0), follows(1, end=80, hw=50), leads(2, 80, 80)])
    assert [(t.epoch, t.role, t.start_end) for t in found] == [
        (0, Role.LEADER, 0),
        (1, Role.FOLLOWER, 80),
        (2, Role.LEADER, 80),
    ]
    assert found[1].start_hw is not None
    assert found[1].start_hw.value == 50
    assert found[1].leader == 2


def test_a_stale_request_changes_nothing() -> None:
    found = read([follows(3, end=80), follows(2, leader=3, end=10)])
    assert [(t.epoch, t.leader, t.start_end) for t in found] == [(3, 2, 80)]


def test_the_same_epoch_told_twice_is_one_tenure() -> None:
    found = read([event(Kind.LEADER_AND_ISR, leader=2, leader_epoch=3, isr="2,1"), follows(3, None, end=80)])
    assert [(t.epoch, t.leader, t.start_end, len(t.refs)) for t in found] == [(3, 2, 80, 2)]


def test_an_epoch_without_a_leader_is_offline() -> None:
    (role_span,) = read([event(Kind.LEADER_AND_ISR, leader=-1, leader_epoch=4, isr="1")])
    assert role_span.role is Role.OFFLINE


def test_a_restart_begins_a_tenure_of_the_same_epoch_anew() -> None:
    found = read([leads(0, 0), loaded(90), leads(0, 90, 80, run=2)])
    assert [(t.epoch, t.run, t.start_end) for t in found] == [(0, 1, 0), (0, 2, 90)]
    (step,) = found[0].steps
    assert (step.kind, step.target) == (StepKind.LOADED, 90)


# -- the end of the log ----------------------------------------------------------------------------


def test_a_leaders_end_is_not_known_once_it_may_have_written() -> None:
    found = read([leads(0, 10), follows(1)])
    assert found[1].start_end is None
    assert found[1].start_low == 10


def test_a_cut_takes_its_end_from_the_role_before_it() -> None:
    (role_span,) = read([follows(1, end=80), truncation(50)])
    (step,) = role_span.steps
    assert (step.kind, step.target, step.end) == (StepKind.TRUNCATED, 50, 80)


def test_a_cut_whose_end_nobody_told_is_bounded_by_what_is_known() -> None:
    found = read([leads(0, 10), follows(1), truncation(50)])
    (step,) = found[1].steps
    assert (step.target, step.end) == (50, None)
    assert step.end_low >= 51  # from 0.11 on the line is printed only where it removes something


def test_before_0_11_the_line_is_printed_although_nothing_is_cut() -> None:
    assert read([follows(1, end=50), truncation(50)], version="0.10.2.2")[0].steps == []
    assert read([follows(1, end=50), truncation(80)], version="0.10.2.2")[0].steps == []


def test_the_first_cut_of_a_follower_is_its_high_watermark_in_the_old_protocol_alone() -> None:
    (old,) = read([follows(1, end=80), truncation(50)], version="0.10.2.2")
    (new,) = read([follows(1, end=80), truncation(50)])
    assert old.steps[0].reason is TruncationReason.HIGH_WATERMARK
    assert old.start_hw is not None
    assert old.start_hw.value == 50
    assert new.steps[0].reason is not TruncationReason.HIGH_WATERMARK
    assert new.start_hw is None


def test_a_second_cut_is_no_high_watermark() -> None:
    (role_span,) = read([follows(1, end=80), truncation(50), truncation(40)], version="0.10.2.2")
    assert [(s.target, s.end, s.reason is TruncationReason.HIGH_WATERMARK) for s in role_span.steps] == [
        (50, 80, True),
        (40, 50, False),
    ]


def test_a_truncation_loop_is_one_cut_with_repeats() -> None:
    (role_span,) = read([follows(1, end=80), truncation(50), truncation(50), truncation(50)])
    (step,) = role_span.steps
    assert (step.target, step.repeats) == (50, 2)


def test_records_fetched_between_two_cuts_make_them_two() -> None:
    (role_span,) = read([follows(1, end=80), truncation(50), event(Kind.APPEND, leo=60), truncation(50)])
    assert [(s.target, s.end) for s in role_span.steps] == [(50, 80), (50, 60)]


def test_a_new_log_is_known_to_be_empty() -> None:
    found = read([event(Kind.LOG_CREATED), follows(0)])
    assert found[-1].start_end == 0


def test_a_log_created_where_one_was_is_a_loss_of_it() -> None:
    found = read([leads(0, 80), event(Kind.LOG_CREATED, run=2), follows(1, run=2)])
    assert [step.kind for t in found for step in t.steps] == [StepKind.CREATED]


def test_the_offset_of_a_new_fetcher_is_the_end_only_where_the_version_prints_it() -> None:
    added = event(Kind.FETCHER_ADDED, leader=2, leader_epoch=1, offset=26)
    assert read([follows(1), added], version="1.0.2")[0].start_end == 26
    assert read([follows(1), added], version="3.9.1")[0].start_end is None
    by_hw = read([follows(1), added], version="2.6.3")[0]
    assert by_hw.start_end is None
    assert by_hw.start_hw is not None
    assert by_hw.start_hw.value == 26


# -- the high watermark ----------------------------------------------------------------------------


def test_a_high_watermark_from_before_is_not_one_of_this_tenure() -> None:
    (role_span,) = read([leads(3, 80, 50), event(Kind.HW, hw=50), event(Kind.HW, hw=45)])
    assert role_span.hw is None
    assert role_span.start_hw is not None
    (role_span,) = read([leads(3, 80, 50), event(Kind.HW, hw=51)])
    assert role_span.hw is not None
    assert role_span.hw.value == 51


def test_a_followers_isr_lines_are_not_its_word() -> None:
    (role_span,) = read([follows(1), event(Kind.ISR_SHRINK, isr="1", hw=99)])
    assert role_span.isr == []
    assert role_span.hw is None


def test_what_a_leader_says_of_its_isr_is_kept_in_order() -> None:
    (role_span,) = read([leads(1, 5), event(Kind.ISR_SHRINK, isr="1"), event(Kind.ISR_EXPAND, isr="1,3")])
    assert [sorted(isr) for isr, _ in role_span.isr] == [[1, 2], [1], [1, 3]]


def test_an_isr_column() -> None:
    assert broker_set("3,1,2") == {1, 2, 3}
    assert broker_set("") == frozenset()
    assert broker_set(None) is None


@pytest.mark.parametrize(("later", "falls"), [(3, 1), (1, 0)])
def test_a_high_watermark_with_an_earlier_time_has_not_fallen(later: int, falls: int) -> None:
    """The clock was set back, and the line may be of another file than the one that states the higher value."""
    reader = reader_of("2.8.2")
    events = [leads(1, 50), event(Kind.HW, hw=60), event(Kind.HW, hw=57)]
    reader.read(one._replace(row=row, time=at) for row, (one, at) in enumerate(zip(events, (0, 2, later), strict=True)))
    assert len(reader.regressions) == falls


# -- checkpoints -----------------------------------------------------------------------------------


def lost_checkpoint(*, end: int, crashed: bool = False, stopped: bool = True) -> list[RegressionKind]:
    """What is said of a high watermark that is not found once the role was told, as brokers before 1.1 print it."""
    reader = reader_of("0.10.2.2")
    back = [event(Kind.RECOVERY, run=2, offset=0)] if crashed else []
    told = event(Kind.LEADER_AND_ISR, run=2, leader_epoch=1, leader=2, isr="1,2")
    stops = [event(Kind.SHUTDOWN_BEGIN)] if stopped else []
    events = [follows(0), *stops, *back, loaded(end), told, event(Kind.HW_MISSING, run=2)]
    reader.read(e._replace(row=row, time=row * 1_000_000) for row, e in enumerate(events))
    return [regression.kind for regression in reader.regressions]


def test_a_missing_high_watermark_is_noticed_after_the_first_role_too() -> None:
    assert lost_checkpoint(end=22) == [RegressionKind.CHECKPOINT]
    assert lost_checkpoint(end=0) == []
    assert lost_checkpoint(end=22, crashed=True) == []  # killed before the file was ever written
    assert lost_checkpoint(end=22, stopped=False) == []  # the lines on how it stopped and recovered may be missing


def starts_empty(*events: Event) -> bool:
    reader = reader_of("1.0.2")
    reader.read(e._replace(row=row) for row, e in enumerate(events))
    return reader.starts_empty


def test_a_new_log_is_told_after_the_role_that_calls_for_it() -> None:
    """The state change log says where a follower starts, and server.log that its log is new, in one millisecond."""
    made = event(Kind.LOG_CREATED)
    assert starts_empty(follows(0, end=0), made)
    assert starts_empty(leads(0, 0), made)
    assert not starts_empty(follows(1, end=4), loaded(4), event(Kind.LOG_CREATED, run=2))
    assert not starts_empty(follows(1, end=4))


def test_a_reset_told_when_it_is_done_does_not_bring_the_records_back() -> None:
    """0.10.2.2 prints "Current offset 22 ... out of range; reset offset to 16" after it cut the log."""
    begins = [follows(2), event(Kind.FETCHER_ADDED, leader=2, offset=22)]
    reset = event(Kind.FETCH_RESET, leader=2, offset=22, leo=16)
    told = event(Kind.FETCH_RESET, leader=2, offset=22, detail="out of range; reset offset to 16")
    found = read([*begins, reset, truncation(16), told, leads(3, 16)], version="0.10.2.2")
    assert [(s.kind, s.end, s.target) for s in found[0].steps] == [(StepKind.TRUNCATED, 22, 16)]
    assert (found[1].start_end, found[1].end_low) == (16, 16)
    without = event(Kind.LEADER_AND_ISR, leader=1, leader_epoch=3, isr="1")
    found = read([*begins, reset, truncation(16), told, without], version="0.10.2.2")
    assert (found[1].start_end, found[1].end_low) == (None, 16)


@pytest.mark.parametrize(("loads", "before"), [(17, 20), (20, 20), (25, None)])
def test_a_log_that_came_back_longer_than_was_printed_had_no_end_that_is_known(loads: int, before: int | None) -> None:
    """A process killed between an append and the line that tells it, or lines that are missing."""
    found = read([leads(1, 10), appended(20), loaded(loads)])
    (step,) = found[-1].steps
    assert (step.end, step.target) == (before, loads)


def test_a_printed_end_does_not_outlive_its_process() -> None:
    """No line tells what the next process loaded."""
    same, other = (read([follows(0), appended(20), leads(3, 0)._replace(run=run, leo=None)])[1] for run in (1, 2))
    assert (same.start_end, other.start_end, other.start_low) == (20, None, 0)


@pytest.mark.parametrize("loads", [None, 5])
def test_a_new_log_was_at_least_as_long_as_what_is_known_of_the_one_before(loads: int | None) -> None:
    """What the first process had counts only until something tells what the second one found."""
    again = leads(3, 0, run=2)._replace(leo=None)
    between = [loaded(loads, run=2)] if loads is not None else []
    anew = event(Kind.LOG_CREATED, run=2 if loads is None else 3)
    found = read([follows(0), appended(20), again, *between, anew])
    assert next(step for role_span in found for step in role_span.steps if step.kind is StepKind.CREATED).end_low == (
        loads or 20
    )


@pytest.mark.parametrize(("failed", "before"), [(True, LogBefore.DIR_FAILED), (False, LogBefore.REPLACED)])
def test_a_log_made_anew_after_its_directory_failed_says_so_with_both_lines(failed: bool, before: LogBefore) -> None:
    lost = [event(Kind.DIR_FAILED)] if failed else []
    role_spans = read([follows(0), appended(20), *lost, event(Kind.LOG_CREATED, run=2), follows(1, end=0, run=2)])
    step = next(step for role_span in role_spans for step in role_span.steps if step.kind is StepKind.CREATED)
    assert (step.before, len(step.refs), step.target) == (before, 1 + failed, 0)


def test_a_log_that_came_back_after_its_directory_failed_is_no_longer_said_to_have_failed() -> None:
    """What is made anew later has another reason."""
    back = [event(Kind.DIR_FAILED), loaded(20, run=2), follows(1, end=20, run=2)]
    role_spans = read([follows(0), appended(20), *back, event(Kind.LOG_CREATED, run=3)])
    assert [step.before for role_span in role_spans for step in role_span.steps if step.kind is StepKind.CREATED] == [
        LogBefore.REPLACED
    ]


# -- what its lines changed ------------------------------------------------------------------------


def changes(
    events: Iterable[Event], missing: frozenset[int] = frozenset(), version: str = "2.8.2"
) -> list[tuple[object, ...]]:
    """The line, the log end offset, whether it is exact, the line that states it, and the high watermark."""
    reader = reader_of(version)
    reader.read((e._replace(row=row, time=row * 1_000_000) for row, e in enumerate(events)), missing)
    return [(one.row, one.end, one.exact, one.end_row, one.hw) for one in reader.changes]


@pytest.mark.parametrize("kind", LOG_ENDS)
def test_a_line_about_progress_states_the_end_as_the_table_says(kind: str) -> None:
    one, reader = LOG_ENDS[kind], reader_of("2.8.2")
    progress = event(Kind(kind), leader_epoch=0, **{one.column: 20})
    reader.read([follows(0, end=10, hw=0), progress])
    assert (reader.end, reader.low) == (None if one.least else 20, 20)


@pytest.mark.parametrize("kind", [kind for kind in PROGRESS if kind not in LOG_ENDS])
def test_other_lines_about_progress_state_no_end(kind: Kind) -> None:
    reader = reader_of("2.8.2")
    reader.read([follows(0, end=10, hw=0), event(kind, leo=20, offset=20)])
    assert (reader.end, reader.low) == (10, 10)


def test_a_change_names_the_line_that_states_the_end() -> None:
    fetches = event(Kind.FETCHER_ADDED, leader=2, offset=10)
    assert changes([follows(0, end=10, hw=5), fetches]) == [(0, 10, True, 0, 5), (1, 10, False, 0, None)]


def test_behind_missing_lines_the_end_is_unknown() -> None:
    found = changes([follows(0, end=10), event(Kind.LOG_START), event(Kind.HW_LOADED, hw=3)], frozenset({0}))
    assert found == [(0, 10, True, 0, None), (2, -1, False, None, 3)]


def test_a_new_process_has_no_end_before_it_loads_the_log() -> None:
    recovery = event(Kind.RECOVERY, run=2)
    found = changes([leads(0, 10), appended(20), recovery, loaded(20), loaded(20, run=3)])
    assert [one[:2] for one in found] == [(0, 10), (3, 20), (4, 20)]


def test_where_nothing_is_known_of_the_end_nothing_changes() -> None:
    assert changes([event(Kind.LEADER_AND_ISR, leader=2, leader_epoch=0)]) == []


def test_a_lower_bound_is_not_an_end_from_before_missing_lines() -> None:
    reader = reader_of("2.8.2")
    begins = event(Kind.EPOCH_ASSIGNED, leader_epoch=0, offset=10)
    reader.read((e._replace(row=row) for row, e in enumerate([follows(0, end=10), begins])), frozenset({0}))
    assert [(one.row, one.end, one.stated) for one in reader.changes] == [(0, 10, True), (1, 10, False)]


def test_a_follower_that_fetches_appends_after_each_line() -> None:
    fetches, at = event(Kind.FETCHER_ADDED, leader=2, offset=10), event(Kind.LEO, leo=20)
    begins = event(Kind.EPOCH_ASSIGNED, leader_epoch=0, offset=15)
    assert changes([follows(0, end=10), fetches, at, begins])[-1] == (3, 20, False, 2, None)


@pytest.mark.parametrize(("version", "exact"), [("0.10.2.2", True), ("1.1.1", False)])
def test_a_follower_that_reconciled_by_leader_epoch_fetches(version: str, exact: bool) -> None:
    found = changes([follows(0, end=10), event(Kind.TRUNCATE_NOOP, leo=10)], version=version)
    assert found[-1] == (1, 10, exact, 1, None)


def test_progress_is_no_change() -> None:
    assert [one[0] for one in changes([follows(0, end=10), appended(20), appended(30)])] == [0]
