"""Known problems: each entry recognises its example, pasted as people do, and leaves alone what looks like it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jsonschema
import pytest

from forensics.case.partial import BRIEF
from forensics.engines import local
from forensics.reports import json_report, markdown, text
from forensics.reports.html import render as page_of
from forensics.reports.redaction import redact
from forensics.result import Result
from forensics.rules.finding import Severity
from forensics.rules.known_problems import BY_ID, KNOWN_PROBLEMS
from forensics.rules.problem_entry import KnownProblem, Records
from forensics.rules.stated_problems import Problem
from tests.conftest import alike
from tests.rules.problem_lines import SHOWN
from tests.rules.shown_lines import FETCHER, LOADED, TO_EPOCH, event


def pasted(folder: Path, lines: Sequence[str]) -> Result:
    """The result for lines in a ticket."""
    path = folder / "ticket.md"
    path.write_text("Hi, what does this mean?\n\n```\n" + "\n".join(lines) + "\n```\n", "utf-8")
    return local.scan([str(path)])


def ids(result: Result) -> list[str]:
    return [one.known.id for one in result.problems]


# -- the table --------------------------------------------------------------------------------------------------------


def test_every_entry_has_an_example_and_a_near_miss() -> None:
    assert list(SHOWN) == [one for one in SHOWN if one in BY_ID]
    assert set(SHOWN) == set(BY_ID)
    assert len(BY_ID) == len(KNOWN_PROBLEMS)


def test_entries_are_well_formed() -> None:
    for one in KNOWN_PROBLEMS:
        assert one.severity in (Severity.ERROR, Severity.WARNING, Severity.INFO)
        assert one.kinds, one.id
        assert 1 <= len(one.fetch) <= 3, one.id
        assert set(one.part_of) <= set(BY_ID)
        assert (one.severity is Severity.INFO) <= (one.records is not Records.AT_STAKE), one.id
    ranks = [one.severity.rank for one in KNOWN_PROBLEMS if one.severity is Severity.INFO]
    assert len(ranks) > len(KNOWN_PROBLEMS) / 3


@pytest.mark.parametrize("known", alike(KNOWN_PROBLEMS, 2), ids=lambda one: one.id)
def test_an_example_is_recognised_and_its_values_are_told(known: KnownProblem, tmp_path: Path) -> None:
    shown = SHOWN[known.id]
    (one,) = [one for one in pasted(tmp_path, shown.lines).problems if one.known is known]
    assert (one.broker, one.name, one.offsets, one.count) == (shown.broker, shown.name, shown.offsets, 1)
    said = " ".join((one.states, one.means, *one.fetch))
    assert not any(word in said for word in ("None", "{", "(not printed)", "that are not printed")), said
    assert one.evidence
    assert all(piece.text for piece in one.evidence)


@pytest.mark.parametrize("known", alike(KNOWN_PROBLEMS, 2), ids=lambda one: one.id)
def test_a_near_miss_is_left_alone(known: KnownProblem, tmp_path: Path) -> None:
    assert known.id not in ids(pasted(tmp_path, SHOWN[known.id].near))


def test_the_offset_of_a_truncation_is_stated_where_the_line_has_it(tmp_path: Path) -> None:
    (one,) = pasted(tmp_path, SHOWN["recovery-truncated"].lines).problems
    assert one.states.endswith(" truncated the end of sales-7, from offset 130 on")


def test_stray_partitions_are_a_problem_of_each(tmp_path: Path) -> None:
    line = event("Found stray partitions sales-7,my-topic-12", "kafka.server.ReplicaManager", "WARN")
    named = {(one.known.id, one.name) for one in pasted(tmp_path, [line]).problems}
    assert named == {("stray-replica", "sales-7"), ("stray-replica", "my-topic-12")}


# -- places -----------------------------------------------------------------------------------------------------------


def test_lines_are_counted_by_place(tmp_path: Path) -> None:
    line = SHOWN["leader-epoch-unknown"].lines[0]
    found = pasted(tmp_path, [line, line.replace("sales-7", "sales-8"), line]).problems
    assert [(one.name, one.count) for one in found] == [("sales-7", 2), ("sales-8", 1)]


def test_a_step_of_another_problem_is_not_told_beside_it(tmp_path: Path) -> None:
    assert ids(pasted(tmp_path, SHOWN["all-log-dirs-failed"].lines)) == ["all-log-dirs-failed"]


def test_a_replica_without_topic_id_is_no_damage_of_the_metadata_log(tmp_path: Path) -> None:
    """The fault handler logs both in the same words."""
    assert ids(pasted(tmp_path, SHOWN["topic-id-missing"].lines)) == ["topic-id-missing"]
    assert ids(pasted(tmp_path, SHOWN["topic-id-missing"].near)) == ["fatal-fault"]


def test_an_exception_speaks_of_the_partition_of_its_event(tmp_path: Path) -> None:
    lines = list(SHOWN["segment-ends-early"].lines)
    (one,) = pasted(tmp_path, lines).problems
    assert (one.name, one.values["offset"]) == ("sales-7", 130)
    (far,) = pasted(tmp_path, [lines[0], *[""] * 6, *lines[2:]]).problems
    assert far.name is None


# -- reports ----------------------------------------------------------------------------------------------------------


def test_a_replica_that_gets_records_later_had_none_to_truncate(tmp_path: Path) -> None:
    """It begins at 0, copies, and later follows another leader from offset 102 on."""
    to_zero = event(f"{FETCHER} Truncating partition sales-7 to local high watermark 0")
    added = event(
        "[ReplicaFetcherManager on broker 3] Added fetcher to broker BrokerEndPoint(id=1, host=h:9092) for partitions "
        "Map(sales-7 -> (offset=102, leaderEpoch=2))",
        "kafka.server.ReplicaFetcherManager",
    )
    later = [added.replace(":41,", ":44,")]
    assert "truncation-to-zero" in ids(pasted(tmp_path, [to_zero, *later]))
    assert "truncation" in ids(pasted(tmp_path, [added, to_zero]))


def test_a_plan_that_had_no_effect_is_no_truncation(tmp_path: Path) -> None:
    vain = event(
        "[Log partition=sales-7, dir=/d] Truncating to 130 has no effect as the largest offset in the log is 129",
        "kafka.log.Log",
    )
    assert ids(pasted(tmp_path, [TO_EPOCH, vain])) == ["truncation-without-effect"]
    other = vain.replace("sales-7", "sales-8")
    assert "truncation" in ids(pasted(tmp_path, [TO_EPOCH, other]))
    assert "truncation" in ids(pasted(tmp_path, [TO_EPOCH, vain.replace("to 130", "to 129")]))
    to_own = event(f"{FETCHER} Truncating partition sales-7 to local high watermark 130")
    assert ids(pasted(tmp_path, [to_own, vain])) == ["truncation-without-effect"]


def test_an_error_is_the_headline_where_nothing_is_found(tmp_path: Path) -> None:
    shown = text.render(pasted(tmp_path, SHOWN["all-log-dirs-failed"].lines), width=200).splitlines()
    assert shown[0] == (
        "ERROR stated by a log line: Broker stopped: all log directories failed. The broker that logged this "
        "stopped, because all its log directories have failed: /srv/kafka/data."
    )
    assert shown[2:4] == ["What the lines say:", "  error     Broker stopped: all log directories failed"]


def test_the_section_explains_what_a_suspected_loss_rests_on(tmp_path: Path) -> None:
    shown = text.render(pasted(tmp_path, SHOWN["truncation-refused"].lines), width=200)
    assert shown.startswith("SUSPECTED in 1 of 1 partition: committed-data-lost in sales-7. Not proven")
    assert "\nsales-7   SUSPECTED: COMMITTED DATA LOST   offsets 130 to 150 (21 offsets)" in shown
    section = shown[shown.index("What the lines say:") :]
    assert "  error     Truncation refused" in section
    assert "Offsets 130 to 150 (21 records at most) are on broker 3 and not on leader 2." in section
    assert "copy the directory sales-7 of broker 3" in section


@pytest.mark.parametrize("known", alike(one for one in KNOWN_PROBLEMS if not one.routine), ids=lambda one: one.id)
def test_nothing_found_is_never_said_above_such_a_line(known: KnownProblem, tmp_path: Path) -> None:
    shown = text.render(pasted(tmp_path, SHOWN[known.id].lines), width=200)
    assert not shown.startswith(("NOTHING", "CLEAN", "NOT JUDGED", "ROUTINE", "INCONCLUSIVE"))


def test_routine_lines_are_no_alarm(tmp_path: Path) -> None:
    result = pasted(tmp_path, SHOWN["truncation-without-effect"].lines)
    assert result.worst in (None, Severity.INFO)
    assert text.render(result).startswith("ROUTINE: no log line shows a loss, and what these lines state is routine.")


def test_json_and_page_have_them(tmp_path: Path) -> None:
    result = pasted(tmp_path, [*SHOWN["truncation-refused"].lines, *SHOWN["index-rebuilt"].lines])
    document = json_report.document(result)
    jsonschema.validate(document, json_report.schema())
    assert [one["id"] for one in document["problems"]] == ["truncation-refused", "index-rebuilt"]
    first = document["problems"][0]
    assert (first["broker"], first["topic"], first["partition"], first["offsets"]) == (3, "sales", 7, [[130, 151]])
    assert first["evidence"][0]["line"] == 4
    page = page_of(result)
    assert "What the lines say" in page
    assert "Truncation refused" in page


def test_names_are_redacted(tmp_path: Path) -> None:
    result = redact(pasted(tmp_path, [*SHOWN["truncation-refused"].lines, *SHOWN["rename-refused"].lines]))
    assert result.problems
    assert "sales" not in json_report.render(result)


# -- what is told of whole directories --------------------------------------------------------------------------------


def of_directory(folder: Path, lines: Sequence[str]) -> list[Problem]:
    """Problems of a broker's folder with a long log."""
    logs = folder / "broker-2" / "logs"
    logs.mkdir(parents=True)
    (logs / "server.log").write_text("\n".join([LOADED] * (BRIEF + 1) + list(lines)) + "\n", "utf-8")
    return local.scan([str(folder)]).problems


def test_routine_lines_of_whole_logs_are_not_told(tmp_path: Path) -> None:
    lines = [line for name, known in SHOWN.items() if not BY_ID[name].always for line in known.lines]
    told = {one.known.id for one in of_directory(tmp_path, lines)}
    assert {one for one in told if not (BY_ID[one].always or BY_ID[one].unjudged)} == set()


ROLE = (
    "[2024-03-01 10:00:00,000] INFO [Broker id={0}] Leader {1} starts at leader epoch 3 from offset 80 with high "
    "watermark 80 ISR [{0}] addingReplicas [] removingReplicas []. Previous leader epoch was 2. (state.change.logger)"
)


@pytest.mark.parametrize("known", [one for one in KNOWN_PROBLEMS if one.unjudged], ids=lambda one: one.id)
def test_a_problem_of_a_broker_whose_roles_have_no_line_is_told(known: KnownProblem, tmp_path: Path) -> None:
    """Container logs lack state-change.log, so replay cannot judge what these lines state."""
    assert not known.always
    assert known.severity is Severity.WARNING
    for name, role, told in (
        ("none", [], True),
        ("quorum", ["__cluster_metadata-0"], True),
        ("one", ["sales-7"], False),
    ):
        shown = SHOWN[known.id]
        lines = [*(ROLE.format(shown.broker or 2, partition) for partition in role), *shown.lines]
        folder = tmp_path / name
        folder.mkdir()
        assert (known.id in [one.known.id for one in of_directory(folder, lines)]) is told, name


def test_errors_of_whole_logs_are_told(tmp_path: Path) -> None:
    told = of_directory(tmp_path, SHOWN["truncation-refused"].lines)
    assert [(one.known.id, one.broker) for one in told] == [("truncation-refused", 3)]


# -- failed directories --------------------------------------------------------------------------------------------

_CHANNEL = "kafka.server.LogDirFailureChannel"


def _failed(broker: int, clock: str) -> list[str]:
    """A broker could not write a checkpoint, with the exception of the operating system below the line."""
    place = f"/data/{broker}/disk"
    line = event(f"Error while writing to checkpoint file {place}/replication-offset-checkpoint", _CHANNEL, "ERROR")
    return [
        f"[2026-03-05 {clock},000] {line.partition('] ')[2]}",
        f"java.io.FileNotFoundException: {place}/replication-offset-checkpoint.tmp (Not a directory)",
        "\tat java.base/java.io.FileOutputStream.open0(Native Method)",
    ]


def _two_failed(folder: Path) -> Result:
    for broker, clock in ((1, "10:00:40"), (2, "10:00:04")):
        logs = folder / f"broker-{broker}" / "logs"
        logs.mkdir(parents=True)
        (logs / "server.log").write_text("\n".join(_failed(broker, clock)) + "\n", "utf-8")
    return local.scan([str(folder)])


def test_a_failed_directory_is_stated_with_the_exception_below_the_line(tmp_path: Path) -> None:
    (one,) = pasted(tmp_path, _failed(1, "10:00:04")).problems
    assert one.states.endswith(
        "FileNotFoundException: /data/1/disk/replication-offset-checkpoint.tmp (Not a directory)"
    )
    assert not any("collect" in step for step in one.fetch)
    assert one.do_not == ("wipe the directory: its replicas may be the only copies",)


def test_without_the_exception_the_lines_after_it_are_asked_for(tmp_path: Path) -> None:
    (one,) = pasted(tmp_path, _failed(1, "10:00:04")[:1]).problems
    assert one.fetch[0] == "collect the lines after the first of these: they hold the exception that names the cause"


def test_each_broker_whose_directory_failed_is_named_the_first_in_time_first(tmp_path: Path) -> None:
    result = _two_failed(tmp_path)
    said = text.render(result)
    assert said.index("broker 2 could not read or write") < said.index("broker 1 could not read or write")
    assert "Do not      wipe the directory: its replicas may be the only copies" in said
    assert "do the same" not in said
    told = markdown.render(result)
    assert "  - Do not: wipe the directory: its replicas may be the only copies." in told
    assert "Do first: do not" not in told
    assert "<b>Do not:</b> Wipe the directory" in page_of(result)


@pytest.mark.parametrize("known", KNOWN_PROBLEMS, ids=lambda one: one.id)
def test_what_not_to_do_is_no_step(known: KnownProblem) -> None:
    assert not any(step.startswith("do not ") for step in (*known.unless_named, *known.fetch, *known.do_not))
