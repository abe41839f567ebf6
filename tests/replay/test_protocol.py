"""The table of what brokers do where releases differ: its form, its edges, its gates, and who asks it."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensics.case.brokers import INTER_BROKER, MESSAGE_FORMAT, Broker, Process, version_of
from forensics.model import EVERY as MODELLED
from forensics.model import Protocol as Modelled
from forensics.replay.protocol import (
    BEHAVIOURS,
    UNKNOWN_BROKER,
    Answer,
    Asked,
    Behaviour,
    Protocol,
    answer,
    of,
    within,
)
from tests.replay.protocol_page import PAGE, page

YES, NO, OPEN = Answer
NAMES = [row.name for row in BEHAVIOURS]
ROLES = {"process.roles": "broker,controller"}

RELEASES = re.findall(
    r"\S+",
    """
    0.8.0 0.8.1.1 0.8.2.2 0.9.0.1 0.10.0.1 0.10.1.1 0.10.2.2 0.11.0.0 0.11.0.3 1.0.0 1.0.2 1.1.0 1.1.1 2.0.0 2.0.1
    2.1.0 2.1.1 2.2.2 2.3.1 2.4.0 2.4.1 2.5.0 2.5.1 2.6.0 2.6.3 2.7.0 2.7.2 2.8.0 2.8.2 3.0.2 3.1.2 3.2.3 3.3.0 3.3.2
    3.3.3 3.4.0 3.4.1 3.5.0 3.5.2 3.6.0 3.6.1 3.6.2 3.7.0 3.8.1 3.9.0 3.9.1 4.0.0 4.1.1 4.2.0
    """,
)
"""Releases by age: the first and the last that a row speaks of, and others. 3.3.3 is a fix that was never released."""

EDGES: dict[str, dict[str, Answer]] = {
    "kraft": {"3.9.1": NO, "4.0.0": YES, "4.2.0": YES},
    "truncates_by_epoch": {"0.10.2.2": NO, "0.11.0.0": YES, "4.2.0": YES},
    "answers_with_epoch": {"1.1.1": NO, "2.0.0": YES, "4.2.0": YES},
    "always_truncates_as_follower": {"0.8.0": YES, "0.10.2.2": YES, "0.11.0.0": NO},
    "truncates_on_fetch": {"2.7.2": NO, "2.8.0": YES, "4.2.0": YES},
    "takes_hw_before_truncation": {
        "2.7.2": NO,
        "2.8.0": YES,
        "3.3.2": YES,
        "3.3.3": NO,
        "3.4.0": YES,
        "3.4.1": NO,
        "3.5.0": NO,
    },
    "hw_survives_truncation": {"0.8.0": YES, "2.3.1": YES, "2.4.0": NO},
    "skips_same_leader": {"0.8.0": YES, "2.0.0": YES, "2.0.1": NO},
    "starts_fetching_at_leo": {"0.8.0": YES, "1.0.2": YES, "1.1.0": NO},
    # From 2.8 on the protocol and the log decide, which of a release alone are not known to be old.
    "starts_fetching_at_hw": {"1.0.2": NO, "1.1.0": YES, "2.7.2": YES, "2.8.0": NO, "4.2.0": NO},
    "fences_stale_epochs": {"2.0.1": NO, "2.1.0": YES, "4.2.0": YES},
    "fences_fetch_sessions": {"2.4.1": NO, "2.5.0": YES, "4.2.0": YES},
    "hw_needs_min_isr": {"3.6.2": NO, "3.7.0": YES, "4.2.0": YES},
    "hw_passes_fenced": {"3.5.2": NO, "3.6.0": NO, "3.9.1": NO, "4.0.0": YES, "4.2.0": YES},  # without KRaft up to 3.9
    "joins_below_epoch_start": {"0.8.0": YES, "2.0.0": YES, "2.0.1": NO},
    "empties_isr": {"0.8.0": YES, "1.0.2": YES, "1.1.0": NO},
    "keeps_epoch_on_shrink": {"3.5.2": NO, "3.6.0": NO, "3.9.1": NO, "4.0.0": OPEN},  # without KRaft up to 3.9
    "bumps_epoch_on_death": {"0.8.0": YES, "3.9.1": YES, "4.0.0": OPEN},  # metadata.version may be older than 3.6
    "elects_from_elr": {"3.9.1": NO, "4.0.0": OPEN, "4.2.0": OPEN},  # the level may change with time
    "logs_leader_start": {"0.10.2.2": NO, "0.11.0.0": YES, "4.2.0": YES},
    "logs_opened_log": {"2.3.1": NO, "2.4.0": YES, "4.2.0": YES},
    "keeps_stray_replicas": {"3.6.0": NO, "3.6.1": YES, "4.2.0": YES},
    "logs_isr_commits": {"2.3.1": NO, "2.4.0": YES, "4.2.0": YES},
}
"""What a broker of a release does whose configuration sets nothing else, at the edges of each row's ranges."""


# -- the form of the table --------------------------------------------------------------------------------------------


def test_every_row_says_what_happens_and_where_that_is_from() -> None:
    assert len({*NAMES}) == len(NAMES)
    for row in BEHAVIOURS:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", row.name)
        assert row.says.endswith("."), row.name
        assert re.search(r"KIP-[0-9]+|KAFKA-[0-9]+|[A-Z][A-Za-z]+[.,]", row.source), row.name


@pytest.mark.parametrize("row", BEHAVIOURS, ids=NAMES)
def test_ranges_are_disjoint_and_rise(row: Behaviour) -> None:
    assert row.releases
    for since, until in row.releases:
        assert since is None or until is None or since < until
        for limit in (since, until):
            assert limit is None or len(limit) == 2 or limit[-1] > 0, "(3, 4), not (3, 4, 0)"
    for one, two in itertools.pairwise(row.releases):
        assert one.until is not None
        assert two.since is not None
        assert one.until < two.since


def test_gates_name_rows_above_and_protocols_that_kraft_passes() -> None:
    for place, row in enumerate(BEHAVIOURS):
        assert {*row.needs, *row.unless} <= {*NAMES[:place]}, row.name
        assert row.inter_broker is None or row.inter_broker <= (3, 0), row.name


def test_a_broker_has_an_answer_for_each_row_that_is_asked() -> None:
    fields = [field.name for field in dataclasses.fields(Protocol)]
    assert fields == [*(row.name for row in BEHAVIOURS if row.asked is not Asked.NEVER), "old_runs"]


def code(folder: Path) -> Iterator[tuple[str, ast.AST]]:
    for part in ("case", "replay", "rules", "reports", "engines"):
        for path in sorted((folder / "forensics" / part).rglob("*.py")):
            yield str(path.relative_to(folder)), ast.parse(path.read_text(encoding="utf-8"))


def test_every_row_is_asked_but_those_that_say_they_are_not(repository: Path) -> None:
    read_from = {
        node.attr
        for path, tree in code(repository)
        if path != "forensics/replay/protocol.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
    }
    own = {"truncates_by_epoch"}  # also by Protocol.truncates_to_hw
    assert {row.name for row in BEHAVIOURS if row.asked is not Asked.NEVER} <= read_from | own
    assert not {row.name for row in BEHAVIOURS if row.asked is Asked.NEVER} & read_from


COMPARE_RELEASES = {
    "forensics/replay/protocol.py": "the table",
}


def releases_compared(tree: ast.AST) -> bool:
    """Whether a value is put above or below a tuple of numbers."""

    def is_release(node: ast.expr) -> bool:
        numbers = node.elts if isinstance(node, ast.Tuple) else []
        return len(numbers) > 1 and all(isinstance(n, ast.Constant) and type(n.value) is int for n in numbers)

    return any(
        isinstance(node, ast.Compare) and any(map(is_release, (node.left, *node.comparators)))
        for node in ast.walk(tree)
    )


def test_nobody_else_compares_releases(repository: Path) -> None:
    assert releases_compared(ast.parse("release < (2, 1)"))
    assert releases_compared(ast.parse("x = (1, 1) <= release < (2, 7)"))
    assert not releases_compared(ast.parse("span == (first, last)"))
    found = {path for path, tree in code(repository) if releases_compared(tree)}
    assert found <= {*COMPARE_RELEASES}


def test_the_page_is_that_of_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.replay.protocol_page"


# -- the edges of each range ------------------------------------------------------------------------------------------


def stating(version: str | None, **settings: str) -> Broker:
    """A broker that states a version and settings; of their names dots are written as underscores."""
    named = {key.replace("_", "."): value for key, value in settings.items()}
    releases = {release} if (release := version_of(version)) is not None else set()
    return Broker(1, version=version, releases=releases, settings=named, configured=version is not None)


@pytest.mark.parametrize(("name", "version"), [(name, version) for name, found in EDGES.items() for version in found])
def test_at_its_edges(name: str, version: str) -> None:
    assert answer(name, stating(version)) is EDGES[name][version]


@pytest.mark.parametrize("row", BEHAVIOURS, ids=NAMES)
def test_no_edge_is_left_out(row: Behaviour) -> None:
    """The first and the last release of each range, and those just outside."""
    inside = [within(row.releases, release) for text in RELEASES if (release := version_of(text)) is not None]
    assert OPEN not in inside
    turns = [place for place, (one, two) in enumerate(itertools.pairwise(inside)) if one is not two]
    edges = {RELEASES[place + side] for place in turns for side in (0, 1)}
    assert edges <= EDGES[row.name].keys()
    shared = sum(one + 1 == two for one, two in itertools.pairwise(turns))
    limits = sum((since is not None) + (until is not None) for since, until in row.releases)
    assert len(edges) == 2 * limits - shared, "each limit lies between two releases"


@pytest.mark.parametrize(
    ("name", "stated", "expected"),
    [
        ("joins_below_epoch_start", "1.1", YES),
        ("joins_below_epoch_start", "2.0", OPEN),  # 2.0.0 or 2.0.1
        ("joins_below_epoch_start", "2.1", NO),
        ("takes_hw_before_truncation", "3.2", YES),
        ("takes_hw_before_truncation", "3.3", OPEN),
        ("takes_hw_before_truncation", "3.4", OPEN),
        ("takes_hw_before_truncation", "3.5", NO),
        ("hw_needs_min_isr", "3.6", NO),
        ("hw_needs_min_isr", "3.7", YES),
    ],
)
def test_a_release_of_which_the_last_number_is_not_known(name: str, stated: str, expected: Answer) -> None:
    assert answer(name, stating(stated)) is expected


@pytest.mark.parametrize(
    ("name", "inter_broker", "expected"),
    [
        ("always_truncates_as_follower", "0.10.2-IV0", OPEN),  # 0.10.2, or a later release that speaks as 0.10.2 does
        ("always_truncates_as_follower", "0.11.0-IV2", NO),
        ("truncates_by_epoch", "0.10.2-IV0", NO),
        ("starts_fetching_at_leo", "1.0-IV0", OPEN),
        ("starts_fetching_at_leo", "1.1-IV0", NO),
        ("joins_below_epoch_start", "1.1-IV0", OPEN),
        ("joins_below_epoch_start", "2.1-IV0", NO),
        ("takes_hw_before_truncation", "3.2-IV0", OPEN),
        ("takes_hw_before_truncation", "3.4-IV0", OPEN),
        ("takes_hw_before_truncation", "3.5-IV2", NO),
        ("fences_fetch_sessions", "2.1-IV2", OPEN),  # from release 2.5 on
        ("hw_needs_min_isr", "3.6-IV2", OPEN),
        ("hw_needs_min_isr", "3.7-IV4", YES),
        ("logs_leader_start", "0.11.0-IV2", YES),
    ],
)
def test_an_inter_broker_protocol_says_what_a_release_is_at_least(
    name: str, inter_broker: str, expected: Answer
) -> None:
    """Brokers speak as an older release while a cluster is upgraded, and some go on so for years."""
    assert stating(None, inter_broker_protocol_version=inter_broker).release is None
    assert answer(name, stating(None, inter_broker_protocol_version=inter_broker)) is expected


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("kraft", "3.9.1"),
        ("truncates_by_epoch", "2.8.2"),
        ("answers_with_epoch", "2.8.2"),
        ("truncates_on_fetch", "2.8.2"),
        ("takes_hw_before_truncation", "2.8.2"),
        ("starts_fetching_at_hw", "2.8.2"),
        ("fences_stale_epochs", "2.8.2"),
        ("fences_fetch_sessions", "2.8.2"),
        ("elects_from_elr", "4.1.1"),
    ],
)
def test_a_gate_of_which_nothing_is_stated_is_open(name: str, version: str) -> None:
    """The version alone is in the evidence: the lines with the settings are not, and no server.properties."""
    assert answer(name, Broker(1, version=version, releases={version_of(version) or ()})) is OPEN
    assert answer(name, stating(version)) is EDGES[name].get(version, answer(name, stating(version)))


@pytest.mark.parametrize("name", [row.name for row in BEHAVIOURS if row.inter_broker or row.message_format])
def test_kraft_passes_the_gates_of_protocol_and_format(name: str) -> None:
    """From 4.0 on there is no other mode and neither setting: nothing has to be stated."""
    assert answer(name, Broker(1, version="4.0.0", releases={(4, 0, 0)})) is YES


def test_the_message_format_is_ignored_from_inter_broker_protocol_3_0_on() -> None:
    """KIP-724; and a broker refuses a format of a later release than its inter-broker protocol."""
    old = {"log_message_format_version": "0.10.2"}
    assert answer("truncates_by_epoch", stating("3.9.1", **old)) is YES
    assert answer("truncates_by_epoch", stating("3.9.1", **old, inter_broker_protocol_version="2.8-IV1")) is NO
    assert answer("truncates_by_epoch", Broker(1, settings={MESSAGE_FORMAT: "0.10.2"})) is OPEN


def test_fixed_in_one_line_of_releases_and_not_in_the_next() -> None:
    """KAFKA-14704 was fixed in 3.3.3 and 3.4.1: 3.4.0 is newer than the one and lacks the fix, and 2.7 never had the
    defect, since its followers truncate before they fetch. "2.7 to 3.4.0", as it was put before, is wrong of both.
    """
    found = [v for v in RELEASES if answer("takes_hw_before_truncation", stating(v)) is YES]
    assert found == ["2.8.0", "2.8.2", "3.0.2", "3.1.2", "3.2.3", "3.3.0", "3.3.2", "3.4.0"]


def test_2_0_1_requires_the_start_of_the_epoch_and_2_0_0_does_not() -> None:
    """KAFKA-7128 came with 2.0.1; by the minor version alone 2.0.1 was taken for 2.0.0 before."""
    assert of(stating("2.0.0")).joins_below_epoch_start is YES
    assert of(stating("2.0.1")).joins_below_epoch_start is NO


# -- gates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "version", "settings", "magic", "expected"),
    [
        ("kraft", "3.9.1", ROLES, None, YES),
        ("kraft", "3.9.1", {"process.roles": "[]"}, None, NO),  # as ZooKeeper mode logs it
        ("truncates_by_epoch", "2.8.2", {INTER_BROKER: "0.10.2-IV0"}, None, NO),
        ("truncates_by_epoch", "2.8.2", {INTER_BROKER: "0.11.0-IV2"}, None, OPEN),  # nothing states the format
        ("truncates_by_epoch", "2.8.2", {INTER_BROKER: "0.11.0-IV2"}, 2, YES),
        ("truncates_by_epoch", "2.8.2", {MESSAGE_FORMAT: "0.10.2-IV0"}, None, NO),
        ("truncates_by_epoch", "2.8.2", {MESSAGE_FORMAT: "0.11.0-IV0"}, None, YES),
        ("truncates_by_epoch", "2.8.2", {}, 1, NO),  # what is on disk says it best
        ("truncates_by_epoch", "0.10.2.2", {}, 2, YES),
        ("truncates_by_epoch", None, {}, 2, YES),
        ("truncates_by_epoch", None, {MESSAGE_FORMAT: "0.11.0"}, None, YES),  # no release before 0.11 accepts it
        ("truncates_by_epoch", None, {MESSAGE_FORMAT: "0.10.2", INTER_BROKER: "0.10.2"}, None, NO),
        ("answers_with_epoch", "2.8.2", {INTER_BROKER: "1.1-IV0"}, None, NO),
        ("answers_with_epoch", "2.8.2", {INTER_BROKER: "2.0-IV1"}, 2, YES),
        ("truncates_on_fetch", "2.8.2", {INTER_BROKER: "2.6-IV0"}, None, NO),
        ("truncates_on_fetch", "2.8.2", {INTER_BROKER: "2.7-IV2"}, 2, YES),
        ("truncates_on_fetch", "3.9.1", {INTER_BROKER: "2.6-IV0"} | ROLES, None, YES),  # KRaft ignores the setting
        ("truncates_on_fetch", "2.8.2", {}, 1, NO),
        ("takes_hw_before_truncation", "2.8.2", {INTER_BROKER: "2.6-IV0"}, None, NO),
        ("starts_fetching_at_hw", "2.8.2", {INTER_BROKER: "2.6-IV0"}, None, YES),
        ("starts_fetching_at_hw", "2.8.2", {INTER_BROKER: "2.7-IV2"}, 2, NO),
        ("starts_fetching_at_hw", "3.9.1", {}, 1, YES),
        ("fences_stale_epochs", "2.8.2", {INTER_BROKER: "2.0-IV1"}, None, NO),
        ("fences_stale_epochs", "2.8.2", {INTER_BROKER: "2.1-IV2"}, None, YES),
        ("fences_fetch_sessions", "2.8.2", {INTER_BROKER: "2.0-IV1"}, None, NO),  # its fetches carry no epoch
        ("fences_fetch_sessions", "2.8.2", {INTER_BROKER: "2.1-IV2"}, 2, YES),
        ("fences_fetch_sessions", "2.8.2", {}, 1, NO),
        ("joins_below_epoch_start", None, ROLES, None, NO),  # KRaft came after the fix
        ("keeps_epoch_on_shrink", "3.5.2", ROLES, None, NO),
        ("keeps_epoch_on_shrink", "3.9.1", ROLES, None, OPEN),
        ("bumps_epoch_on_death", "3.5.2", ROLES, None, YES),
        ("bumps_epoch_on_death", "3.9.1", ROLES, None, OPEN),
        ("elects_from_elr", None, ROLES, None, OPEN),
        ("elects_from_elr", "3.9.1", ROLES, None, NO),
        ("elects_from_elr", "4.0.0", ROLES, None, OPEN),
    ],
)
def test_gates(name: str, version: str | None, settings: dict[str, str], magic: int | None, expected: Answer) -> None:
    releases = {release} if (release := version_of(version)) is not None else set()
    assert answer(name, Broker(1, version=version, releases=releases, settings=settings), magic) is expected


def test_every_gate_is_tried() -> None:
    """A row that gets a gate gets a case above."""
    gated = {row.name for row in BEHAVIOURS if row.inter_broker or row.message_format or row.setting or row.feature}
    tried = {case[0] for mark in test_gates.pytestmark for case in mark.args[1]}
    assert gated <= tried


# -- what is not known, and what changed ------------------------------------------------------------------------------


def test_of_an_unknown_broker() -> None:
    for name in NAMES:
        assert answer(name, None) is answer(name, Broker(1)) is OPEN, name
    assert of(None) == of(Broker(1)) == UNKNOWN_BROKER


def test_an_upgrade_raises_the_inter_broker_protocol_after_the_release() -> None:
    """In a second rolling restart, so what holds for every process takes the older protocol too."""
    old, new = Process((2, 8, 2), (2, 0), (2, 0)), Process((2, 8, 2), (2, 8), (2, 8))
    settings = {INTER_BROKER: "2.8", MESSAGE_FORMAT: "2.8"}

    def found(*processes: Process) -> dict[str, Answer]:
        broker = Broker(
            1, version="2.8.2", releases={(2, 8, 2)}, settings=settings, processes=dict(enumerate(processes))
        )
        return {name: answer(name, broker) for name in ("fences_fetch_sessions", "starts_fetching_at_hw")}

    assert found(old, new) == {"fences_fetch_sessions": NO, "starts_fetching_at_hw": NO}
    assert found(new) == {"fences_fetch_sessions": YES, "starts_fetching_at_hw": NO}
    assert found(old) == {"fences_fetch_sessions": NO, "starts_fetching_at_hw": YES}


def upgraded(*versions: str) -> Broker:
    releases = {r for v in versions if (r := version_of(v)) is not None}
    return Broker(1, version=versions[-1], releases=releases, configured=True)


@pytest.mark.parametrize(
    ("name", "versions", "expected"),
    [
        ("hw_needs_min_isr", ("3.6.2", "3.7.0"), YES),  # of the present release
        ("hw_needs_min_isr", ("3.7.0", "3.6.2"), NO),
        ("logs_leader_start", ("0.10.2.2", "1.1.1"), NO),  # of every release
        ("logs_leader_start", ("0.11.0.3", "1.1.1"), YES),
        ("fences_fetch_sessions", ("2.4.1", "2.8.2"), NO),
        ("starts_fetching_at_leo", ("1.0.2", "2.6.3"), NO),
        ("starts_fetching_at_hw", ("1.0.2", "2.6.3"), NO),
        ("starts_fetching_at_hw", ("1.1.1", "2.6.3"), YES),
        ("joins_below_epoch_start", ("2.0.0", "3.9.1"), YES),  # of any release
        ("joins_below_epoch_start", ("2.0.1", "3.9.1"), NO),
    ],
)
def test_of_a_broker_that_was_upgraded(name: str, versions: tuple[str, ...], expected: Answer) -> None:
    assert answer(name, upgraded(*versions)) is expected


def test_a_process_from_before_an_upgrade_truncated_to_its_high_watermark() -> None:
    broker = upgraded("0.10.2.2", "2.8.2")
    broker.processes = {
        0: Process(release=(0, 10, 2, 2)),
        1: Process(release=(2, 8, 2), inter_broker=(0, 10, 2)),
        2: Process(release=(2, 8, 2), inter_broker=(2, 8), message_format=(0, 10, 2)),
        3: Process(release=(2, 8, 2), inter_broker=(2, 8), message_format=(2, 8)),
    }
    known = of(broker)
    assert [known.truncates_to_hw(run) for run in range(5)] == [True, True, True, False, False]
    assert known.truncates_by_epoch is YES
    assert of(broker, magic=2).old_runs == {0, 1, 2}  # batches of today say nothing of then
    assert all(of(broker, magic=1).truncates_to_hw(run) for run in range(5))


# -- the words of the model -------------------------------------------------------------------------------------------

NOT_MODELLED = {
    "always_truncates_as_follower": "the model's hw protocol does it by itself; the row is about when it is logged",
    "starts_fetching_at_leo": "what an offset in a log line means",
    "starts_fetching_at_hw": "what an offset in a log line means",
    "fences_fetch_sessions": "the model fetches without sessions: fences_stale_epochs is all there is",
    "hw_passes_fenced": "the model fences no broker",
    "keeps_epoch_on_shrink": "bumps_epoch_on_death is all there is: the model has one metadata.version",
    "elects_from_elr": "the model has no eligible leader replicas",
    "keeps_stray_replicas": "no broker of the model loses a topic that its controllers forgot",
    "logs_leader_start": "what is logged",
    "logs_opened_log": "what is logged",
    "logs_isr_commits": "what is logged",
}
"""Rows of which the model has no counterpart, and why."""

NOT_IN_THE_TABLE = {
    "name": "of the model's protocol",
    "kafka": "of the release",
    "summary": "of the model's protocol",
    "mode": "kraft says it",
    "inter_broker": "a gate",
    "magic": "a gate",
    "epochs": "a gate: of the message format alone",
    "truncates_by": "truncates_by_epoch, answers_with_epoch and truncates_on_fetch say it",
    "asks_by": "the version of a request, of which no line tells",
    "epoch_entry": "epoch caches are read as they are found",
    "cache_drops_contradicted": "epoch caches are read as they are found",
    "halts_on_short_leader": "that a process ended is read from its lines, not why",
    "halts_on_failed_dir": "that a process ended is read from its lines, not why",
    "caught_up_by_offset": "who is in the ISR is read from lines, not computed",
    "lag_ms": "a setting; who is in the ISR is read from lines, not computed",
    "unclean_default": "a setting; whether an election was unclean is read from ISRs",
}
"""Fields and properties of the model's protocols that the table has no row for, and why."""


def test_the_model_has_the_same_behaviours_by_the_same_names() -> None:
    words = {field.name for field in dataclasses.fields(Modelled)}
    words |= {name for name, value in vars(Modelled).items() if isinstance(value, property)}
    assert {*NAMES} - words == {*NOT_MODELLED}
    assert words - {*NAMES} == {*NOT_IN_THE_TABLE}


@pytest.mark.parametrize("modelled", MODELLED, ids=lambda modelled: modelled.name)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_MODELLED])
def test_the_model_and_the_table_agree_on_each_release_that_is_modelled(name: str, modelled: Modelled) -> None:
    settings = {INTER_BROKER: modelled.inter_broker} | (ROLES if modelled.mode == "kraft" else {})
    broker = Broker(1, version=modelled.kafka, settings=settings, configured=True)
    found = answer(name, broker, modelled.magic)
    assert found is OPEN if modelled.kraft and depends_on_a_level(name) else found is not OPEN
    assert found is OPEN or (found is YES) is getattr(modelled, name)


def depends_on_a_level(name: str) -> bool:
    """Whether a row, or one that it needs or excludes, holds from a level of a finalized feature on."""
    row = next(row for row in BEHAVIOURS if row.name == name)
    return row.feature is not None or any(depends_on_a_level(other) for other in (*row.needs, *row.unless))
