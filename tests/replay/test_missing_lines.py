"""Missing lines, told by those that stand alone. The sequences are what brokers print; one line is left out."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.broker_facts import BrokerFacts
from forensics.replay.coverage import LinesAtHand, Place, Printed, Span
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import Event
from forensics.replay.history import Role
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.omissions.own_line_pairs import EPOCHS_FORGOTTEN
from forensics.replay.omissions.own_lines import JUMPED, OwnLines, gaps_in
from forensics.replay.omissions.role_epochs import Linked, Roles, linked, missed_epochs
from forensics.replay.protocol import Answer, Protocol
from forensics.replay.roles.role_spans import Reader
from forensics.replay.roles.steps import LogBefore, RoleSpan, Step, StepKind, clear_starts_from_earlier_roles
from forensics.rules.finding import Verdict
from parsers.details import BY_REQUEST, Transition
from parsers.schema import Kind
from tests.covering import missing_within
from tests.incident import Incident


def event(kind: Kind, *, run: int = 1, **values: object) -> Event:
    """An event about broker 1's replica with what a test needs."""
    blank: dict[str, object] = dict.fromkeys(Event._fields)
    return Event(**(blank | {"row": 0, "broker": 1, "run": run, "kind": kind.value, "message": ""} | values))  # type: ignore[arg-type]


def gaps(events: list[Event], *, always_truncates: bool = False) -> list[str]:
    numbered = [one._replace(row=row) for row, one in enumerate(events)]
    return [gap.of(1).text for gap in OwnLines(1, always_truncates=always_truncates).read(numbered)]


def untold(
    spans: Mapping[int, Sequence[RoleSpan]],
    epochs: Mapping[int, Epoch],
    facts: Mapping[int, BrokerFacts],
    before_it: Linked | None = None,
    ends: Mapping[int, int] | None = None,
    removed: Mapping[int, frozenset[int]] | None = None,
) -> dict[int, tuple[int | None, str]]:
    """The epoch at which each replica's lines are missing, and what shows it."""
    roles = Roles(spans, LeaderEpochs(epochs), facts, before_it or {}, ends or {}, removed or {})
    return {broker: (one.epoch, one.text) for broker, (one, *_) in missed_epochs(roles, rising=True).items()}


def step(detail: str, run: int = 1) -> Event:
    return event(Kind.TRANSITION, run=run, detail=detail)


OLD = [  # 0.10.2: a replica is made, follows broker 2, and leads
    event(Kind.LEADER_AND_ISR, leader=2, leader_epoch=0, isr="1,2"),
    step(Transition.FOLLOWER_START),
    event(Kind.LOG_LOADED, leo=0),
    event(Kind.LOG_CREATED),
    event(Kind.TRUNCATE, offset=0),
    event(Kind.FETCHER_ADDED, leader=2, offset=0),
    step(Transition.FOLLOWER_DONE),
    event(Kind.METADATA_CACHED, leader=2, leader_epoch=0),
    event(Kind.LEADER_AND_ISR, leader=1, leader_epoch=1, isr="1"),
    step(Transition.LEADER_START),
    event(Kind.FETCHER_REMOVED),
    step(Transition.LEADER_DONE),
    event(Kind.METADATA_CACHED, leader=1, leader_epoch=1),
    event(Kind.RECOVERY, run=2, offset=0),
    event(Kind.LOG_LOADED, run=2, leo=7),
    event(Kind.LEADER_AND_ISR, run=2, leader=3, leader_epoch=2, isr="3"),
    step(Transition.FOLLOWER_START, run=2),
    event(Kind.TRUNCATE, run=2, offset=5),
    event(Kind.FETCHER_ADDED, run=2, leader=3, offset=5),
    step(Transition.FOLLOWER_DONE, run=2),
]
NEW = [  # 2.8 and later: the same in other words; 2.8 names no leader that is followed
    event(Kind.BECOME_FOLLOWER, leader=2, leader_epoch=0, leo=0, previous_epoch=-1),
    event(Kind.MESSAGE_FORMAT, leo=0),
    event(Kind.LOG_CREATED),
    event(Kind.FETCHER_ADDED, leader=2, leader_epoch=0, offset=0),
    event(Kind.FETCHER_REMOVED),
    event(Kind.BECOME_LEADER, leader_epoch=1, leo=6, previous_epoch=0, isr="1"),
    event(Kind.ISR_EXPAND, isr="1,2"),
    event(Kind.BECOME_FOLLOWER, leader_epoch=2, leo=9, previous_epoch=1),
    event(Kind.FETCHER_ADDED, leader=2, leader_epoch=2, offset=9),
    event(Kind.TRUNCATE_PLAN, leader=2, offset=8),
    event(Kind.TRUNCATE, offset=8),
    event(Kind.EPOCH_CUT, offset=8),
    event(Kind.MESSAGE_FORMAT, leo=8),
    event(Kind.RECOVERY, run=2, offset=0),
    event(Kind.MESSAGE_FORMAT, run=2, leo=8),
    event(Kind.LOG_LOADED, run=2, leo=8),
    event(Kind.BECOME_FOLLOWER, run=2, leader=3, leader_epoch=4, leo=8, previous_epoch=4),
    event(Kind.FETCHER_ADDED, run=2, leader=3, leader_epoch=4, offset=8),
]


def test_each_epoch_without_a_line_of_an_elected_member_is_a_place_at_which_lines_are_missing() -> None:
    spans = {1: [RoleSpan(1, number, 0, Role.FOLLOWER, 2, refs=[Ref(row=number)]) for number in (0, 2, 4)]}
    isr = [(frozenset({1, 2}), Ref(row=9))]
    epochs = {number: Epoch(number, leader=2, isr=isr, isr_elected=True, leader_took_up=True) for number in range(5)}
    found = missed_epochs(Roles(spans, LeaderEpochs(epochs), {1: BrokerFacts()}, {}, {}, {}), rising=True)
    assert {broker: [one.epoch for one in missing] for broker, missing in found.items()} == {1: [1, 3]}


@pytest.mark.parametrize("server_log", [True, False])
def test_a_leader_states_a_change_of_its_isr_in_server_log_alone(server_log: bool) -> None:
    """Others state another ISR of its epoch than its role line did. Without its server.log that shows nothing."""
    printed = frozenset({Printed.ROLES, Printed.LOG} if server_log else {Printed.ROLES})
    isr = [(frozenset({1, 2}), Ref(row=9))]
    others = {frozenset({1})}
    epoch = Epoch(1, leader=1, isr=isr, isr_from_leader=True, by_request=True, isrs_stated_by_others=others)
    spans = {1: [RoleSpan(1, 1, 0, Role.LEADER, 1, refs=[Ref(row=9)])]}
    roles = Roles(spans, LeaderEpochs({1: epoch}), {1: BrokerFacts(lines=LinesAtHand(printed))}, {}, {}, {})
    assert [*missed_epochs(roles, rising=True)] == ([1] if server_log else [])


def test_a_leader_without_records_gives_up_its_epoch() -> None:
    """A truncation to the log's end changes nothing but the epoch that began there (UnifiedLog.truncateTo)."""
    told = [*NEW[:9], event(Kind.TRUNCATE_PLAN, leader=2, offset=9), event(Kind.TRUNCATE_NOOP, offset=9, leo=9)]
    assert gaps([*told, event(Kind.EPOCH_CUT, offset=9)]) == []
    assert gaps([*told, event(Kind.EPOCH_CUT, offset=7)]) == [
        "its leader epochs from offset 7 on were removed, but no line shows a truncation"
    ]


@pytest.mark.parametrize(("failed", "missing"), [(True, 0), (False, 1)])
def test_a_replica_whose_directory_fails_as_it_takes_a_role_starts_no_fetcher(failed: bool, missing: int) -> None:
    took = [*NEW[:7], event(Kind.BECOME_FOLLOWER, leader_epoch=2, leo=9, previous_epoch=1)]
    ends = event(Kind.DIR_FAILED) if failed else event(Kind.METADATA_CACHED, leader=2, leader_epoch=2)
    assert len(gaps([*took, ends])) == missing


def test_whole_logs_have_no_gap() -> None:
    assert gaps(OLD, always_truncates=True) == []
    assert gaps(NEW) == []


ANEW = [  # 2.8: its leader's log starts above its own end, so that it begins anew there
    *NEW[:4],
    event(Kind.FETCH_RESET, offset=0, log_start=40),
    event(Kind.MESSAGE_FORMAT, leo=40),
    event(Kind.BECOME_FOLLOWER, leader_epoch=1, leo=50, previous_epoch=0),
    event(Kind.FETCHER_ADDED, leader=2, leader_epoch=1, offset=50),
]


def test_a_log_that_begins_anew_at_its_leaders_start_is_told_by_the_fetcher_alone() -> None:
    assert gaps(ANEW) == []
    assert gaps([one for one in ANEW if one.kind != Kind.FETCH_RESET]) != []


@pytest.mark.parametrize("missing", [0, 4, 5, 8, 10, 14, 15, 17, 18])
def test_old_brokers_miss_a_line(missing: int) -> None:
    assert gaps([one for at, one in enumerate(OLD) if at != missing], always_truncates=True) != []


@pytest.mark.parametrize("missing", [0, 3, 4, 5, 7, 8, 10, 15, 16, 17])
def test_later_brokers_miss_a_line(missing: int) -> None:
    found = gaps([one for at, one in enumerate(NEW) if at != missing])
    # the very last line may be the last that was printed
    assert found != [] or missing == len(NEW) - 1


def test_no_more_roles_without_metadata_that_names_them() -> None:
    beyond = [*OLD[:13], event(Kind.METADATA_CACHED, leader=2, leader_epoch=3)]
    assert gaps(beyond, always_truncates=True) == [
        "it received metadata of leader epoch 3, but no line shows a role in it"
    ]
    offline = [*OLD[:13], event(Kind.METADATA_CACHED, leader=-1, leader_epoch=3)]
    assert gaps(offline, always_truncates=True) == []
    stopping = [*OLD[:13], event(Kind.SHUTDOWN_BEGIN), event(Kind.METADATA_CACHED, leader=2, leader_epoch=3)]
    assert gaps(stopping, always_truncates=True) == []


def test_a_refused_request_names_the_epoch_that_stood() -> None:
    refused = event(Kind.STALE_REQUEST, leader_epoch=1, previous_epoch=4)
    assert gaps([*NEW[:6], refused]) == ["it was in leader epoch 4, but no line shows when it took that role"]
    assert gaps([*NEW[:6], refused._replace(previous_epoch=1)]) == []


def test_logs_may_begin_anywhere() -> None:
    """Lines that come before the first role of a log that rotation has cut are no sign of a gap."""
    for first in (4, 5):  # the role itself may be the first line
        assert gaps([one._replace(run=0) for one in NEW[first:13]]) == []
    assert gaps([event(Kind.ISR_EXPAND, run=0, isr="1,2"), event(Kind.STALE_REQUEST, run=0, previous_epoch=4)]) == []


def test_a_trace_has_no_gaps() -> None:
    told = event(Kind.BECOME_FOLLOWER, leader=2, leader_epoch=0)._replace(message="trace")
    assert gaps([told, *OLD[8:]], always_truncates=True) == []


def role_span(epoch: int, role: Role, leader: int) -> RoleSpan:
    return RoleSpan(1, epoch, 1, role, leader, refs=[Ref()])


FENCING = Protocol(fences_fetch_sessions=Answer.YES)
FENCED = {1: BrokerFacts(protocol=FENCING)}


@pytest.mark.parametrize(("seconds", "kraft", "missing"), [(2, True, 0), (60, True, 1), (2, False, 1)])
def test_a_broker_of_kraft_takes_two_epochs_at_once(seconds: int, kraft: bool, missing: int) -> None:
    """Two brokers are fenced at once: who is left tells of the second epoch only, as it heard of both together."""
    spans = {1: [role_span(0, Role.FOLLOWER, 2), role_span(2, Role.LEADER, 1)]}
    both = [(frozenset({1, 3}), Ref())]
    short = Epoch(1, leader=3, isr=both, isr_elected=True, time=1_000_000)
    after = Epoch(2, leader=1, leader_took_up=True, time=1_000_000 * (1 + seconds))
    kraft_too = replace(FENCING, kraft=Answer.YES if kraft else Answer.NO)
    facts = {1: BrokerFacts(protocol=kraft_too)}
    assert len(untold(spans, {1: short, 2: after}, facts, {}, {}, {})) == missing


def test_others_tell_of_an_epoch_that_a_replica_does_not() -> None:
    spans = {1: [role_span(0, Role.FOLLOWER, 2), role_span(4, Role.FOLLOWER, 2)]}
    led = Epoch(2, leader=1, leader_took_up=True)
    after = Epoch(4, leader=2, leader_took_up=True)
    assert untold(spans, {2: led, 4: after}, FENCED, {}, {}, {}) == {
        1: (2, "it led epoch 2, but no line shows that role")
    }
    led.leader_took_up = False
    assert untold(spans, {2: led, 4: after}, FENCED, {}, {}, {}) == {}
    both = [(frozenset({3}), Ref()), (frozenset({1, 3}), Ref())]
    joined = Epoch(3, leader=3, leader_took_up=True, isr=both, isr_from_leader=True)
    assert untold(spans, {3: joined, 4: after}, FENCED, {}, {}, {}) == {
        1: (3, "it joined the ISR in epoch 3, but no line shows a role in it")
    }
    same = Epoch(3, leader=2, leader_took_up=True, isr=both, isr_from_leader=True)
    assert untold(spans, {3: same, 4: after}, {}, {}, {}, {}) == {}, "it fetched on without being told"
    assert untold({1: spans[1][1:]}, {2: led, 4: after}, FENCED, {}, {}, {}) == {}, "its lines begin later"


def test_a_broker_that_says_which_epoch_was_before_passed_the_others_by() -> None:
    """A KRaft broker applies several changes of a partition as one: it went from epoch 0 to 2 in one step."""
    spans = {
        1: [RoleSpan(1, 0, 1, Role.FOLLOWER, refs=[Ref(row=0)]), RoleSpan(1, 2, 1, Role.FOLLOWER, refs=[Ref(row=1)])]
    }
    between = Epoch(1, leader=2, isr=[(frozenset({1, 2}), Ref(row=2))], isr_elected=True, leader_took_up=True)
    assert untold(spans, {1: between}, FENCED, {}, {}, {}) != {}
    events = [event(Kind.BECOME_FOLLOWER, leader_epoch=2, previous_epoch=0)]
    assert untold(spans, {1: between}, FENCED, linked({1: events}), {}, {}) == {}
    # What its epoch cache knew before is the last epoch of which it has records.
    events = [event(Kind.EPOCH_ASSIGNED, leader_epoch=2, offset=9, previous_epoch=0)]
    assert untold(spans, {1: between}, FENCED, linked({1: events}), {}, {}) != {}


def test_what_removed_a_leaders_records_may_be_told_in_an_epoch_without_a_leader() -> None:
    """Broker 2 had fetched up to 26; broker 1, alone in the ISR and stopped, came back with another disk."""
    last, first = role_span(0, Role.LEADER, 1), role_span(2, Role.LEADER, 1)
    between = role_span(1, Role.OFFLINE, -1)
    first.start_end = 0
    fetched = RoleSpan(2, 0, 1, Role.FOLLOWER, 1, refs=[Ref()], start_end=0, end_low=26)
    spans, facts = {1: [last, between, first], 2: [fetched]}, dict.fromkeys((1, 2), FENCED[1])
    epochs = {
        0: Epoch(0, leader=1, leader_took_up=True),
        1: Epoch(1, leader=-1),
        2: Epoch(2, leader=1, leader_took_up=True),
    }
    why = "a follower had fetched up to 26 from it in epoch 0, and epoch 2 began at 0"
    assert untold(spans, epochs, facts, {}, {}, {}).get(1) == (0, why)
    between.steps.append(Step(StepKind.CREATED, 0, None, 35, None, None, (Ref(),), LogBefore.REPLACED))
    assert untold(spans, epochs, facts, {}, {}, {}).get(1) is None


def test_a_process_that_only_controllers_tell_of() -> None:
    """Whether it was between the two that are told or the last of all its lines do not show."""
    facts = BrokerFacts(lines=LinesAtHand(unseen_process=164))
    told = [one._replace(row=row) for row, one in enumerate(OLD)]
    second = next(one.row for one in told if one.run == 2)
    why = "the controller registered a process of it (broker epoch 164), but it has no line of that process"
    assert [(gap.row, gap.of(1).text) for gap in gaps_in(1, told, facts)] == [(second, why), (told[-1].row, why)]
    assert gaps_in(1, OLD, BrokerFacts()) == []


def test_lines_are_in_no_order_while_a_clock_shows_times_again() -> None:
    """It was set back by four seconds before the seventh line. The line behind these may be among them too."""
    facts = BrokerFacts(lines=LinesAtHand(frozenset(Printed)))
    told = [one._replace(row=row, time=(row - 4 * (row > 5)) * 1_000_000) for row, one in enumerate(OLD)]
    set_back = [gap.row for gap in gaps_in(1, told, facts) if gap.shown_by.id == "clock-set-back"]
    assert set_back == [6, 7]


LOG_KINDS = (Kind.MESSAGE_FORMAT, Kind.LOG_CREATED, Kind.TRUNCATE_PLAN, Kind.TRUNCATE, Kind.LOG_LOADED, Kind.RECOVERY)
ROLE_KINDS = (Kind.BECOME_LEADER, Kind.BECOME_FOLLOWER)


@pytest.mark.parametrize(
    ("printed", "kinds", "left_out", "why"),
    [
        (Printed.LOG, LOG_KINDS, None, []),
        (Printed.LOG, LOG_KINDS, Kind.TRUNCATE, ["truncation-planned"]),
        (Printed.ROLES, ROLE_KINDS, None, []),
        (Printed.ROLES, ROLE_KINDS, Kind.BECOME_LEADER, ["earlier-role"]),
    ],
)
def test_one_file_shows_which_of_its_own_lines_are_missing(
    printed: Printed, kinds: Sequence[Kind], left_out: Kind | None, why: list[str]
) -> None:
    """Nothing is missing because the other file is not there, though fetchers and loads have no line then."""
    there = [one._replace(row=row) for row, one in enumerate(NEW[:13]) if one.kind in kinds and one.kind != left_out]
    facts = BrokerFacts(lines=LinesAtHand(frozenset({printed})))
    assert sorted({gap.shown_by.id for gap in gaps_in(1, there, facts)}) == why
    assert gaps_in(1, there, BrokerFacts(lines=LinesAtHand(frozenset()))) == []


@pytest.mark.parametrize("server_log", [True, False])
@pytest.mark.parametrize(("cut", "verdict"), [(False, "clean"), (True, "unknown")])
def test_a_role_is_missing_by_its_own_file_whether_the_other_one_is_there(
    server_log: bool, cut: bool, verdict: str, tmp_path: Path
) -> None:
    """Broker 2 led epoch 1, and the role that it had next names that epoch as the one before."""
    incident = Incident(tmp_path, brokers=2)
    incident.begins(50)
    incident.succeeds(100, 1, 2, 50, 1)
    incident.succeeds(200, 2, 1, 50, 2)
    logs = incident[2].folder / "logs"
    if not server_log:
        (logs / "server.log").unlink()
    if cut:
        lines = (logs / "state-change.log").read_text().splitlines(keepends=True)
        (logs / "state-change.log").write_text("".join(one for one in lines if "at leader epoch 1 " not in one))
    assert incident.verdict("unclean-election") == verdict
    shown = incident.history().coverage.known_missing.get(2, ())
    assert [one.shown_by for one in shown if one.shown_by == "earlier-role"] == ["earlier-role"] * cut


@pytest.mark.parametrize(("previous", "stopped", "missing"), [(-1, False, 1), (0, False, 0), (-1, True, 0)])
def test_a_leader_whose_first_role_this_is_is_another_process(previous: int, stopped: bool, missing: int) -> None:
    """Partition.makeLeader prints the leader epoch before, which a process that followed epoch 0 knows."""
    follows = event(Kind.BECOME_FOLLOWER, leader=2, leader_epoch=0)
    fetches = event(Kind.FETCHER_ADDED, leader=2, leader_epoch=0, offset=10)
    stops = [event(Kind.LOG_DELETED), event(Kind.LOG_CREATED)] if stopped else []
    leads = [event(Kind.FETCHER_REMOVED), event(Kind.BECOME_LEADER, leader_epoch=3, previous_epoch=previous, leo=10)]
    found = gaps([event(Kind.LOG_LOADED, leo=10), follows, fetches, *stops, *leads])
    assert found == ["a process took up leader epoch 3 as its first role, after a role in epoch 0"] * missing


@pytest.mark.parametrize(("previous", "leo", "missing"), [(-1, 7, True), (-1, 10, False), (3, 7, False)])
def test_a_leader_that_leads_an_epoch_from_another_offset_is_another_process(
    previous: int, leo: int, missing: bool
) -> None:
    """A process takes up an epoch once. The coverage says so, and at which line."""
    first = event(Kind.BECOME_LEADER, leader_epoch=3, previous_epoch=-1, leo=10)
    again = event(Kind.BECOME_LEADER, leader_epoch=3, previous_epoch=previous, leo=leo)
    removed = event(Kind.FETCHER_REMOVED)
    own = [event(Kind.LOG_LOADED, leo=10), removed, first, removed, again]
    found = gaps(own)
    assert found == ["a process took up leader epoch 3 as its first role, after a role in epoch 3"] * missing
    reader = Reader(1, BrokerFacts())
    spans = reader.read(one._replace(row=row) for row, one in enumerate(own))
    assert [t.epoch for t in spans] == [-1, 3, 3][: 2 + missing]
    assert reader.places == [Place(3, 1, 4)] * missing


def test_what_was_printed_last_is_not_where_a_later_role_began() -> None:
    first, second, third = role_span(0, Role.FOLLOWER, 2), role_span(3, Role.LEADER, 1), role_span(4, Role.LEADER, 1)
    first.refs, second.refs, third.refs = [Ref(row=1)], [Ref(row=9)], [Ref(row=12)]
    second.start_end, second.start_ref = 6, Ref(row=5)
    third.start_end, third.start_ref = 20, Ref(row=11)
    second.steps.append(Step(StepKind.LOADED, 20, None, 0, None, None, (Ref(row=11),)))
    clear_starts_from_earlier_roles([first, second, third])
    assert (second.start_end, third.start_end) == (None, 20)


@pytest.mark.parametrize(("first", "second", "missing"), [(0, 7, 1), (5, 7, 1), (7, 0, 0)])
def test_a_process_opens_a_log_once(first: int, second: int, missing: bool) -> None:
    """The log that is being made for a move to another directory begins at 0."""
    told = [
        event(Kind.HW_LOADED, message="P-02", hw=first),
        event(Kind.BECOME_LEADER, leader_epoch=1, leo=25, previous_epoch=0, isr="1"),
        event(Kind.HW_LOADED, message="P-02", hw=second),
        event(Kind.BECOME_LEADER, leader_epoch=2, leo=25, previous_epoch=-1, isr="1"),
    ]
    assert gaps(told).count("a process opened its log, but no line shows that it started") == missing


@pytest.mark.parametrize(
    ("between", "current", "missing"),
    [
        ([], -1, True),
        ([], 0, True),
        ([event(Kind.ISR_EXPAND, isr="1,2")], -1, True),
        ([], 1, False),  # the epoch before
        ([], None, False),  # 2.0 and later name no latest epoch
        ([event(Kind.PROCESS_STARTED, run=2)], -1, False),
        *(([event(kind, offset=0)], -1, False) for kind in (Kind.EPOCH_CUT, Kind.TRUNCATE, Kind.FETCH_RESET)),
        *(([event(kind)], -1, False) for kind in (Kind.LOG_CREATED, Kind.LOG_DELETED, Kind.DIR_FAILED)),
    ],
)
def test_an_epoch_cache_forgets_nothing_by_itself(between: list[Event], current: int | None, missing: bool) -> None:
    before = [
        event(Kind.EPOCH_ASSIGNED, leader_epoch=0, offset=0, previous_epoch=-1),
        event(Kind.EPOCH_ASSIGNED, leader_epoch=1, offset=33, previous_epoch=0),
    ]
    run = between[-1].run if between else 1
    after = event(Kind.EPOCH_ASSIGNED, run=run, leader_epoch=2, offset=40, previous_epoch=current)
    numbered = [one._replace(row=row) for row, one in enumerate([*before, *between, after])]
    found = [gap for gap in OwnLines(1).read(numbered) if gap.shown_by is EPOCHS_FORGOTTEN]
    assert [gap.row for gap in found] == ([len(numbered) - 1] if missing else [])


@pytest.mark.parametrize(("leader", "missing"), [(2, 0), (3, 0), (4, 1)])
def test_a_follower_fetches_from_whom_it_follows(leader: int, missing: int) -> None:
    """A fetch from the leader of before may still be answered while the next role begins."""
    told = [
        event(Kind.LOG_LOADED, leo=5),
        event(Kind.BECOME_FOLLOWER, leader=3, leader_epoch=0, leo=5),
        event(Kind.FETCHER_ADDED, leader=3, leader_epoch=0, offset=5),
        event(Kind.BECOME_FOLLOWER, leader=2, leader_epoch=1, leo=5),
        event(Kind.FETCHER_ADDED, leader=2, leader_epoch=1, offset=5),
        event(Kind.FOLLOWER_FETCHED, leader=leader, leo=9),
    ]
    assert gaps(told) == [f"it fetched from broker {leader}, but no line shows that role"] * missing


@pytest.mark.parametrize("taken", [(), (1,), (1, 2)])
def test_an_epoch_for_each_replica_that_was_taken_out_needs_no_name(taken: tuple[int, ...]) -> None:
    """Two brokers of a pair are lost to ZooKeeper at once: epochs 6 and 7, of which 7 alone is sent."""
    before = Epoch(5, leader=1, isr=[(frozenset({1, 2}), Ref())])
    epochs = {5: before, 7: Epoch(7, leader=-1), 8: Epoch(8, leader=1)}
    spans = {1: [role_span(5, Role.LEADER, 1), role_span(8, Role.LEADER, 1)]}
    found = untold(spans, epochs, {}, {}, {}, {7: frozenset(taken)})
    assert (1 in found) == (taken != (1, 2))


TRACED = [  # each append of a follower that comes to lead
    event(Kind.LOG_CREATED),
    event(Kind.LEADER_AND_ISR, leader=2, leader_epoch=0, isr="1,2"),
    event(Kind.FETCHER_ADDED, leader=2, offset=0),
    event(Kind.APPEND, offset=0, leo=40),
    event(Kind.HW, hw=40),
    event(Kind.APPEND, offset=42, leo=43),  # compaction took what its leader had between them
    event(Kind.LEADER_AND_ISR, leader=1, leader_epoch=1, isr="1"),
    event(Kind.FETCHER_REMOVED),
    event(Kind.HW_HELD, hw=43),
    event(Kind.APPEND, offset=43, leo=50),
    event(Kind.APPEND, offset=70, leo=80),  # replay reads the first and the last of many in a row
    event(Kind.HW, hw=80),
    event(Kind.APPEND, offset=60, leo=70, detail=BY_REQUEST),  # told late
    event(Kind.ISR_EXPAND, isr="1,2"),
    event(Kind.APPEND, offset=80, leo=81),
]


@pytest.mark.parametrize(
    ("at", "change", "behind", "why"),
    [
        (9, {"offset": 50, "leo": 60}, 6, "its log ended at 43, but its next append was at 50"),
        (8, {"hw": 44}, 6, "its log ended at 43, but its high watermark was 44"),
        (14, {"offset": 90, "leo": 91}, 13, "its log ended at 80, but its next append was at 90"),
        (11, {"hw": 99}, None, None),
        (10, {"detail": JUMPED}, 10, "its log ended below 70, but its next append was there"),
        (5, {"offset": 30}, 5, "its log ended at 40, no line shows a truncation, and its next append was at 30"),
        (14, {"offset": 79}, 14, "its log ended at 80, no line shows a truncation, and its next append was at 79"),
    ],
)
def test_a_log_that_prints_each_append_grows_by_these_alone(
    at: int, change: dict[str, int | str], behind: int | None, why: str | None
) -> None:
    assert gaps(TRACED) == []
    changed = [one._replace(**change) if row == at else one for row, one in enumerate(TRACED)]
    numbered = [one._replace(row=row) for row, one in enumerate(changed)]
    found = OwnLines(1).read(numbered)
    # What is missing stood behind the last append, and the lines that follow on it rest on it.
    assert [(gap.row, gap.of(1).text) for gap in found] == ([(behind, why)] if why else [])


@pytest.mark.parametrize("between", [Kind.TRUNCATE, Kind.LOG_LOADED, Kind.LOG_CREATED, Kind.LOG_DELETED])
def test_where_a_log_ended_is_not_known_once_something_else_changed_it(between: Kind) -> None:
    follows = [*TRACED[:6], event(between, offset=10, leo=0), event(Kind.HW, hw=60)]
    assert not any("its high watermark was" in why for why in gaps(follows))


@pytest.mark.parametrize(("told", "why"), [(True, []), (False, ["it changed the ISR, but no line shows that it led"])])
def test_a_leader_that_is_replaced_may_shrink_the_isr_until_it_follows(told: bool, why: list[str]) -> None:
    """Its own thread does, while the request is being carried out; the controller refuses it."""
    follows = [event(Kind.LEADER_AND_ISR, leader=2, leader_epoch=1, isr="2,3"), event(Kind.ISR_SHRINK, isr="1")]
    led = event(Kind.LEADER_AND_ISR, leader=1 if told else 3, leader_epoch=0, isr="1,2,3")
    removed = event(Kind.FETCHER_REMOVED)
    fetches = event(Kind.FETCHER_ADDED, leader=2, offset=0)
    started = [] if told else [event(Kind.FETCHER_ADDED, leader=3, offset=0)]
    assert gaps([event(Kind.LOG_CREATED), led, removed, *started, *follows, fetches]) == why
    assert gaps(
        [event(Kind.LOG_CREATED), led, removed, *started, follows[0], fetches, follows[1]]
    )  # once it follows it does not


@pytest.mark.parametrize(
    ("took", "grew"),
    [
        ([event(Kind.FETCHER_ADDED, leader=2, offset=70)], True),
        ([event(Kind.FETCHER_ADDED, leader=2, offset=62)], False),
        ([event(Kind.FETCHER_ADDED, leader=2, offset=50), event(Kind.FETCHER_ADDED, leader=2, offset=70)], False),
        ([event(Kind.BECOME_FOLLOWER, leader=2, leader_epoch=7, leo=70)], True),
        ([event(Kind.BECOME_LEADER, leader_epoch=7, leo=70)], True),
    ],
)
def test_a_process_does_not_write_before_its_first_role(took: list[Event], grew: bool) -> None:
    role = [event(Kind.LEADER_AND_ISR, leader=2, leader_epoch=7)] if took[0].kind == Kind.FETCHER_ADDED else []
    found = gaps([event(Kind.LOG_LOADED, leo=62), *role, *took])
    assert ("its log reached 70 before its first role, but was loaded with 62" in found) == grew


def test_a_segment_that_is_rolled_tells_of_a_role() -> None:
    loaded, rolled = event(Kind.LOG_LOADED, leo=62), event(Kind.ROLLED, offset=70, message="L-09")
    assert gaps([loaded, rolled]) == ["its log reached 70 before its first role, but was loaded with 62"]
    assert gaps([loaded, rolled._replace(offset=62)]) == []
    snapshot = rolled._replace(kind=Kind.PRODUCER_SNAPSHOT)
    assert gaps([loaded, snapshot]), "a snapshot of producers is taken within the log"
    # To 2.5 a log that waits for its deletion is loaded under the replica's name too, before it or after.
    assert gaps([loaded._replace(leo=0), snapshot, loaded._replace(leo=70)]) == []
    recovers = [loaded, event(Kind.PROCESS_STARTED), event(Kind.RECOVERY, offset=0), snapshot]
    assert gaps(recovers) == ["a log was recovered, but no line shows its log end offset"]


def test_the_epoch_before_counts_though_a_request_tells_of_the_role_first() -> None:
    """Partition.makeLeader prints the leader epoch before; state-change.log tells of the request before that."""
    asked = event(Kind.LEADER_AND_ISR, run=2, leader=1, leader_epoch=4, isr="1")
    took = event(Kind.BECOME_LEADER, run=2, leader_epoch=4, leo=396, previous_epoch=3)
    opened = event(Kind.LOG_LOADED, run=2, leo=168)
    followed = [event(Kind.LEADER_AND_ISR, run=2, leader=2, leader_epoch=3), step(Transition.FOLLOWER_DONE, run=2)]
    fetched = event(Kind.FETCHER_ADDED, run=2, leader=2, offset=168)
    assert "a role in leader epoch 3 came before, and its lines are not there" in gaps([opened, asked, took])
    removed = event(Kind.FETCHER_REMOVED, run=2)
    assert gaps([opened, *followed, fetched, asked, removed, took]) == []


def test_a_log_is_cut_at_most_to_where_it_ended() -> None:
    """What reaches farther than the log is told in other words (Log.truncateTo)."""
    asked = event(Kind.LEADER_AND_ISR, leader=3, leader_epoch=1, isr="3")
    follows = [*TRACED[:5], asked, event(Kind.TRUNCATE, offset=50)]
    found = gaps([*follows, event(Kind.FETCHER_ADDED, leader=3, offset=50)])
    assert found == ["its log ended at 40, but was truncated to 50"]
    follows[-1] = event(Kind.TRUNCATE, offset=40)
    assert gaps([*follows, event(Kind.FETCHER_ADDED, leader=3, offset=40)]) == []


@pytest.mark.parametrize(
    ("between", "missing"),
    [
        ([], 1),
        ([event(Kind.LOG_DELETED)], 0),
        ([event(Kind.DIR_FAILED)], 0),  # made anew in another directory
        ([step(Transition.DELETED)], 0),
    ],
)
def test_a_process_makes_no_log_where_it_has_one(between: list[Event], missing: int) -> None:
    role = event(Kind.LEADER_AND_ISR, leader=2, leader_epoch=0, isr="1,2")
    made = [event(Kind.LOG_LOADED, leo=0), event(Kind.LOG_CREATED)]  # to 1.0 a new log is loaded first
    fetched = event(Kind.FETCHER_ADDED, leader=2, offset=0)
    again = [role._replace(leader_epoch=9), *made, fetched]
    why = "a new log was created, but no line shows what became of the one in use"
    assert gaps([role, *made, fetched]) == []
    assert gaps([role, *made, fetched, *between, *again]).count(why) == missing


@pytest.mark.parametrize(
    ("last", "end", "missing"),
    [
        (None, 13, True),
        (None, 22, False),  # its copy is of after the election: what it holds beyond was not served on
        (
            Step(StepKind.LOADED, 9, None, 0, None, None, (Ref(row=2),), LogBefore.UNCLEAN_STOP),
            13,
            False,
        ),  # the process died before it was told
        (Step(StepKind.DELETED, 0, None, 0, None, None, (Ref(row=2),)), 13, False),
    ],
)
def test_a_leader_of_which_nothing_is_told_any_more_may_have_led(last: Step | None, end: int, missing: bool) -> None:
    """Who elects says that broker 1 was to lead in epoch 1; its own lines end in epoch 0, as in an older copy."""
    told, after = role_span(0, Role.LEADER, 1), role_span(3, Role.LEADER, 2)
    told.steps, after.start_end = [] if last is None else [last], 13
    epochs = {n: Epoch(n, leader=b, leader_took_up=n != 1, elected=True) for n, b in ((0, 1), (1, 1), (2, -1), (3, 2))}
    found = untold({1: [told], 2: [after]}, epochs, {}, {}, {1: end}, {})
    assert found == ({1: (1, "it was elected to lead epoch 1, but no line shows that role")} if missing else {})
    epochs[1].elected = False  # a follower was told so, and no more
    assert untold({1: [told], 2: [after]}, epochs, {}, {}, {1: end}, {}) == {}


@pytest.mark.parametrize(("last_fetched", "whole"), [(0, True), (1, False)])
def test_a_follower_that_was_never_answered_was_not_reconciled(last_fetched: int, whole: bool, tmp_path: Path) -> None:
    """From 2.7 on a fetch itself is the question where the logs part; its epoch was over before it was answered. Who
    asks with records of the epoch has been reconciled before.
    """
    incident = Incident(tmp_path)
    incident.begins(20)
    incident[3].segment([(0, 19, 0), (20, 24, 0)])  # uncommitted: leader 1 is gone before broker 2 has it
    incident.elects(10, 1, 2, [2])
    incident[2].leads(10, 1, 20, 20, [2])
    incident[3].follows(10, 1, 2, 25, 20)
    incident[3].says(
        11, "WARN [ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Error in response for fetch request "
        "(type=FetchRequest, replicaId=3, maxWait=500, minBytes=1, maxBytes=10485760, "
        "fetchData={orders-0=PartitionData(fetchOffset=25, logStartOffset=0, maxBytes=1048576, "
        f"currentLeaderEpoch=Optional[1], lastFetchedEpoch=Optional[{last_fetched}])}}, "
        "isolationLevel=READ_UNCOMMITTED, toForget=, metadata=(sessionId=INVALID, epoch=INITIAL), rackId=) "
        "(kafka.server.ReplicaFetcherThread)"
    )  # fmt: skip
    incident.elects(12, 2, 2, [2])
    incident[2].leads(12, 2, 20, 20, [2])
    incident[3].follows(12, 2, 2, 25, 20).cuts(13, 20)
    incident[2].segment([(0, 19, 0), (20, 24, 2)])
    incident[3].segment([(0, 19, 0), (20, 24, 2)])
    assert (not missing_within(incident.history())) == whole


@pytest.mark.parametrize(("end", "lacking"), [(30, {2}), (20, set())])
def test_who_fed_its_follower_had_led(end: int, lacking: set[int], tmp_path: Path) -> None:
    """Broker 2 was named leader of epoch 1 and says nothing of it; its next process follows. If broker 3 got records as
    its follower, lines of broker 2 are missing; if not, it may have died before it was told.
    """
    incident = Incident(tmp_path)
    incident.begins(20)
    incident.elects(10, 1, 2, [2, 3])
    incident[3].follows(10, 1, 2, 20, 20)
    incident.elects(20, 2, 3, [3])
    incident[3].leads(20, 2, end, end, [3])
    incident[2].starts(30).loads(30, end).follows(31, 2, 3, end, end)
    for number in (2, 3):
        incident[number].segment([(0, 19, 0), *([(20, 29, 1)] if end > 20 else [])])
    assert missing_within(incident.history()) == lacking


@pytest.mark.parametrize(
    ("after", "missing"),
    [
        pytest.param([], 0, id="a directory that waits for deletion has the partition's name"),
        pytest.param([event(Kind.PROCESS_STARTED)], 1, id="no directory is loaded once the process has started"),
    ],
)
def test_a_process_that_has_its_log_may_load_another_directory_of_that_name(after: list[Event], missing: int) -> None:
    lines = [
        *OLD,
        event(Kind.LOG_LOADED, leo=81, run=2),
        *(one._replace(run=2) for one in after),
        event(Kind.MESSAGE_FORMAT, leo=0, run=2),
        event(Kind.RECOVERY, run=2),
        event(Kind.LEADER_AND_ISR, leader=2, leader_epoch=4, isr="1,2", run=2),
    ]
    found = [text for text in gaps(lines) if "producer state was rebuilt" in text]
    assert len(found) == missing


def test_a_loss_is_open_where_nothing_but_an_election_shows_the_leader_that_lacked_the_records(
    sample_traces: Path, tmp_path: Path
) -> None:
    """Where broker 3 began, and what it wrote, its lines of epoch 2 would show. With them the loss is known."""
    case = tmp_path / "kip101"
    shutil.copytree(sample_traces / "kip101-2.8.2-ibp0.10.2", case)

    def judged() -> tuple[Verdict, frozenset[int]]:
        (partition,) = scan([str(case)]).partitions
        return partition.judgements["committed-data-lost"].verdict, partition.history.only_elected

    assert judged() == (Verdict.VIOLATED, frozenset())
    log = case / "broker-3" / "logs" / "state-change.log"
    log.write_bytes(b"".join(line for line in log.read_bytes().splitlines(True) if b"leader epoch 2 " not in line))
    assert judged() == (Verdict.UNKNOWN, {2})


@pytest.mark.parametrize("second", [1, 2], ids=["each epoch is named", "epoch 1 is passed over"])
def test_an_epoch_that_is_passed_over_shows_nothing_of_who_took_up_a_later_one(second: int, tmp_path: Path) -> None:
    """A metadata cache names broker 3 as leader, and broker 3's lines show no role then. Lines of it may be missing."""
    incident = Incident(tmp_path)
    incident.begins(20)
    incident.succeeds(10, second, 2, 20, 1, 3)
    incident.succeeds(30, second + 2, 2, 20, 1, 3)
    for at, epoch, leader, isr in ((2, 0, 1, [1, 2, 3]), (11, second, 2, [2, 1, 3]), (20, second + 1, 3, [3])):
        incident[2].says(
            at, f"TRACE [Broker id=2] Cached leader info PartitionState(controllerEpoch=1, leader={leader}, "
            f"leaderEpoch={epoch}, isr={isr}, zkVersion={epoch}, replicas=[1, 2, 3], offlineReplicas=[]) for partition "
            "orders-0 in response to UpdateMetadata request sent by controller 9 epoch 1 with correlation id 7 "
            "(state.change.logger)",
            log="state-change",
        )  # fmt: skip
    history = incident.history()
    missing = [one.shown_by for one in history.coverage.known_missing.get(3, ())]
    assert missing == (["epoch-passed-over"] if second == 2 else [])
    assert history.epochs[second + 1].leader_took_up == bool(missing)


def opened(*events: Event) -> list[str]:
    numbered = [one._replace(row=row) for row, one in enumerate(events)]
    return [gap.shown_by.id for gap in OwnLines(1, logs_opened_log=True).read(numbered)]


FOLLOWS_FIRST = (
    event(Kind.BECOME_FOLLOWER, run=2, leader=2, leader_epoch=3, leo=9, previous_epoch=3),
    event(Kind.FETCHER_ADDED, run=2, leader=2, leader_epoch=3, offset=9),
)


def test_a_log_is_opened_once_in_a_process() -> None:
    """Partition.createLog prints it, from 2.4 on, before the first role of a process or among its lines."""
    loaded, opens = event(Kind.LOG_LOADED, run=2, leo=9), event(Kind.HW_LOADED, run=2, hw=9)
    assert opened(loaded, opens, *FOLLOWS_FIRST) == opened(loaded, FOLLOWS_FIRST[0], opens, FOLLOWS_FIRST[1]) == []
    assert opened(loaded, *FOLLOWS_FIRST) == ["not-opened"]
    before = [one._replace(run=0) for one in (loaded, *FOLLOWS_FIRST)]
    assert opened(*before) == [], "the process may have opened it before the lines begin"
    made = event(Kind.LOG_CREATED, run=0)
    none = event(Kind.HW_MISSING, run=0)
    fetches = before[1:]
    assert opened(made, *fetches) == ["not-opened"]
    assert opened(made, none, *fetches) == opened(made, fetches[0], none, fetches[1]) == []


@pytest.mark.parametrize("logged", [True, False])
def test_where_no_line_of_the_isr_is_logged_nothing_follows_from_its_absence(logged: bool, tmp_path: Path) -> None:
    """``log4j.logger.kafka.cluster=WARN``: broker 3 left the ISR, stopped and came back with less. Nothing was lost."""
    incident = Incident(tmp_path)
    incident.begins(22)
    incident[1].shrinks(10, "1,2,3", "1,2", 22, 30, "(brokerId: 3, endOffset: 22)")
    incident.succeeds(20, 1, 2, 50, 1)
    for broker in (1, 2):
        incident[broker].segment([(0, 49, 0)])
        incident[broker].epochs((0, 0), (1, 50)).checkpoint(50)
    incident[3].starts(30)
    incident[3].loads(31, 22).follows(32, 1, 2, 22, 22)
    if not logged:
        for log in tmp_path.glob("broker-*/logs/server.log"):
            lines = log.read_text().splitlines(keepends=True)
            log.write_text("".join(line for line in lines if "(kafka.cluster.Partition)" not in line))
    assert incident.verdict("hw-above-isr-member") == ("clean" if logged else "unknown")
    assert incident.findings("leo-regression") == []
    shown = {one.shown_by for known in incident.history().coverage.known_missing.values() for one in known}
    assert ("not-opened" in shown) == (not logged)


def test_files_that_are_shorter_than_the_log_was_show_that_lines_are_missing(tmp_path: Path) -> None:
    """Broker 2 led from 50 on, as its own line states, and its copy ends at 22: what removed the rest no line shows."""
    incident = Incident(tmp_path)
    incident.begins(22)
    incident.succeeds(20, 1, 2, 50, 1)
    known = incident.history().coverage.known_missing
    assert [(broker, one.shown_by, one.span) for broker in known for one in known[broker]] == [
        (broker, "below-reached", Span.AFTER) for broker in (1, 2)
    ]
    assert incident.verdict("committed-data-lost") == "unknown"
