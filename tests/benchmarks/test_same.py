"""``make same``: a difference is seen and told once, no difference is none, and both versions get the same evidence."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.same import side as judging
from benchmarks.same import sides
from benchmarks.same.__main__ import main, tell_absent, tell_accepted
from benchmarks.same.accepted import LIST, Accepted, accepted
from benchmarks.same.corpus import ROOT, Files, recorded
from benchmarks.same.cuts import AT_RANDOM, WHOLE, Cut, Evidence, planned
from benchmarks.same.differences import Renamed, Report, Row, rows, verdicts, with_whole
from benchmarks.same.runs import KINDS, PROTOCOLS, batches
from forensics.engines.local import scan
from forensics.model.protocol import EVERY
from forensics.replay.omissions import OMISSIONS
from forensics.reports import json_report
from tests.conftest import in_full

LOST = "kip101-0.10.2.2"
LOSS = "committed-data-lost"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return json_report.document(scan([str(ROOT / "sample_traces" / LOST)]))


def altered(document: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two copies: one to compare, one to change."""
    return copy.deepcopy(document), copy.deepcopy(document)


# -- from end to end ---------------------------------------------------------------------------------------------------


def compared(
    monkeypatch: pytest.MonkeyPatch, room: Path, capsys: pytest.CaptureFixture[str], old: str, new: str
) -> tuple[int, list[str]]:
    """Exit code and lines of a comparison of the working tree with itself, a text of its rules replaced after."""
    monkeypatch.setattr(sides, "base", lambda _: "HEAD")
    real = sides.copied

    def copied(name: str, place: Path, _: str | None) -> sides.Side:
        side = real(name, place, None)
        for path in Path(side.folder, "forensics", "rules").glob("*.py") if name == "after" else ():
            path.write_text(path.read_text().replace(old, new))
        return side

    monkeypatch.setattr(sides, "copied", copied)
    options = ["--quick", "--fresh", "--jobs", "1", "--cache", str(room)]
    code = main([*options, "--only", f"sample_traces/{LOST}", "--only", "model/damaged-hw-*"])
    return code, capsys.readouterr().out.splitlines()


@in_full("a change is seen without it")
def test_nothing_differs_where_nothing_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, (closing,) = compared(monkeypatch, tmp_path, capsys, "", "")
    assert code == 0
    assert closing.startswith("13 selections of 2 cases and batches compared with HEAD, 0 differ (0 differences)")


def test_a_rule_that_words_a_finding_otherwise_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = compared(monkeypatch, tmp_path, capsys, "} lost committed {", "} gave up committed {")
    assert code == 1
    before, after = (
        f"the partition {word} committed offsets 50 to 79 (30 records) of leader epoch 0: broker 3 became leader "
        "(epoch 2) at offset 50 without them. Broker 1 still has them."
        for word in ("lost", "gave up")
    )
    assert lines[:-1] == [
        "     4 in   1  committed-data-lost · summary",
        f"                   - {before}",
        f"                   + {after}",
        f"                   e.g. sample_traces/{LOST}: whole, orders-0 c08d8dfcbef470c7",
    ]
    assert lines[-1].startswith("13 selections of 2 cases and batches compared with HEAD, 4 differ (1 differences)")
    listed = [json.loads(line) for line in (tmp_path / "differences.jsonl").read_text().splitlines()]
    assert [(one["unit"], one["what"]) for one in listed] == [(f"sample_traces/{LOST}", "summary")] * 4
    assert listed[0]["cut"] == "whole"


# -- what differs ------------------------------------------------------------------------------------------------------


def test_equal_answers_do_not_differ(document: dict[str, Any]) -> None:
    assert rows(*altered(document)) == []


def test_answers_to_selections_have_the_verdicts_of_whole_cases(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, document: dict[str, Any]
) -> None:
    """Of all but whole cases only partitions and findings are kept."""
    (tmp_path / "case").symlink_to(ROOT / "sample_traces" / LOST)
    monkeypatch.chdir(tmp_path)
    found = judging._scanned(everything=False)
    kept = [{rule: one["verdict"] for rule, one in each["verdicts"].items()} for each in found["partitions"]]
    assert kept == [{rule: one["verdict"] for rule, one in each["verdicts"].items()} for each in document["partitions"]]
    assert all(LOSS in each for each in kept)


def test_a_verdict_that_changes_is_told_with_what_is_missing_now(document: dict[str, Any]) -> None:
    before, after = altered(document)
    after["partitions"][0]["verdicts"]["two-leaders-one-epoch"] |= {
        "verdict": "unknown",
        "missing": ["state-change.log"],
    }
    assert rows(before, after) == [
        Row("two-leaders-one-epoch", "verdict", "clean", "unknown", "orders-0"),
        Row("two-leaders-one-epoch", "missing[]", "", "state-change.log", "orders-0"),
    ]


def test_every_field_of_a_finding_is_compared(document: dict[str, Any]) -> None:
    for name in document["findings"][0]:
        before, after = altered(document)
        after["findings"][0][name] = "something else"
        # What says which finding it is makes another one of it.
        assert {row.what.partition("[")[0] for row in rows(before, after)} & {name, "finding"}, name


def test_answers_alone_leave_out_how_they_are_worded(document: dict[str, Any]) -> None:
    before, after = altered(document)
    finding = after["findings"][0]
    finding["summary"], finding["facts"][0]["text"], finding["keep"] = "other words", "other words", "other words"
    assert not Report(answers=True).add("unit", "whole", rows(before, after))
    changes = {"severity": "error", "confidence": "suspected", "offsets": [[50, 81]], "records": {"min": 1, "max": 30}}
    for field, value in {**changes, "replicas": [2], "cause": {**finding["cause"], "id": "other"}}.items():
        before, after = altered(document)
        after["findings"][0][field] = value
        assert len(Report(answers=True).add("unit", "whole", rows(before, after))) == 1, field
    before, after = altered(document)
    after["findings"].pop()
    after["partitions"][0]["verdicts"][LOSS]["verdict"] = "clean"
    assert {row.what for row in Report(answers=True).add("u", "whole", rows(before, after))} == {"verdict", "finding"}


def test_a_finding_that_is_gone_is_told(document: dict[str, Any]) -> None:
    before, after = altered(document)
    gone = after["findings"].pop(0)
    (row,) = rows(before, after)
    assert (row.rule, row.what, row.new) == (gone["rule"], "finding", "")
    assert gone["summary"] in row.old


def test_one_fact_more_is_one_row(document: dict[str, Any]) -> None:
    before, after = altered(document)
    more = {"text": "a step", "broker": None, "time": None, "evidence": []}
    after["findings"][0]["facts"].insert(1, more)
    (row,) = rows(before, after)
    assert (row.what, row.old, json.loads(row.new)) == ("facts[]", "", more)


def test_an_entry_that_is_new_among_others_that_changed_is_one_row_more() -> None:
    verdict = {"verdict": "unknown", "missing": ["the log of broker 2: it led epoch 3", "any high watermark"]}
    now = {"verdict": "unknown", "missing": ["who leads", "the log of broker 2: it was leader of epoch 3", "any hw"]}
    place = {"cluster": "c", "topic": "orders", "partition": 0, "incarnation": 0}
    before, after = ({"partitions": [{**place, "verdicts": {"r": one}}]} for one in (verdict, now))
    assert [(row.what, row.old, row.new) for row in rows(before, after)] == [
        ("missing[]", verdict["missing"][0], now["missing"][1]),
        ("missing[]", verdict["missing"][1], now["missing"][2]),
        ("missing[]", "", now["missing"][0]),
    ]


def test_evidence_that_is_listed_in_another_order_leaves_facts_alone(document: dict[str, Any]) -> None:
    before, after = altered(document)
    finding = after["findings"][0]
    last = len(finding["evidence"]) - 1
    finding["evidence"].reverse()
    for fact in finding["facts"]:
        fact["evidence"] = [last - number for number in fact["evidence"]]
    assert [row.what for row in rows(before, after)] == ["order of evidence"]


def test_a_cluster_that_has_a_name_now_is_the_same(document: dict[str, Any]) -> None:
    before, after = altered(document)
    for one in (*before["partitions"], *before["findings"]):
        one["cluster"] = None
    for one in after["findings"]:
        one["fingerprint"] = f"{one['fingerprint'][::-1]}"
    name = document["partitions"][0]["cluster"]
    found = rows(before, after)
    assert found[0] == Row("partitions", "cluster", "", name, "orders-0")
    assert {row.what for row in found[1:]} == {"fingerprint"}
    assert len(found) == 1 + len(document["findings"])


def test_a_crash_is_told_once(document: dict[str, Any]) -> None:
    before, _ = altered(document)
    assert rows(before, {"error": "KeyError: 3"}) == [Row("document", "error", "", "KeyError: 3")]


def test_what_is_missing_may_become_an_object(document: dict[str, Any]) -> None:
    before, after = altered(document)
    before["partitions"][0]["verdicts"][LOSS]["missing"] = ["the log of broker 2"]
    after["partitions"][0]["verdicts"][LOSS]["missing"] = [{"text": "the log of broker 2", "broker": 2}]
    assert rows(before, after) == []


def test_a_field_may_get_another_name(document: dict[str, Any]) -> None:
    before, after = altered(document)
    for finding in after["findings"]:
        finding["copy"] = finding.pop("keep")
    Renamed("findings", "keep", "copy")(before)
    assert rows(before, after) == []


# -- counted -----------------------------------------------------------------------------------------------------------


def test_the_same_difference_elsewhere_is_counted_once() -> None:
    report = Report()
    for number in range(40):
        report.add(
            "data/a", f"cut {number}", [Row("r", "summary", f"offsets {number}", f"{number} records", "orders-0")]
        )
    report.add("data/b", "whole", [Row("r", "summary", "offsets 7", "nothing", "orders-0")])
    first, second = report.found.values()
    assert (report.differing, first.selections, first.units, first.selection) == (41, 40, {"data/a"}, "data/a: cut 0")
    assert (second.selections, second.row.new) == (1, "nothing")


def test_a_wording_that_changes_in_many_sentences_is_one_difference() -> None:
    old, new = "offsets {} of epoch {} are gone: {}", "offsets {} of epoch {} are lost: {}"
    report = Report()
    for number, how in enumerate(("power loss", "unclean election", "broker 3 began epoch 2")):
        row = Row("r", "summary", old.format(number, 7, how), new.format(number, 7, how), "orders-0")
        report.add("data/a", f"cut {number}", [row])
    assert [one.selections for one in report.found.values()] == [3]


# -- differences that are right ----------------------------------------------------------------------------------------

WHY = 'why = "a log is whole now"\ntest = "tests/a.py::test_b"\nbase = "d17effd"\n'


def entries(room: Path, *texts: str) -> list[Accepted]:
    """A list of entries with a reason, a test and a base each."""
    listed = room / "accepted.toml"
    listed.write_text("".join(f"[[difference]]\n{WHY}{text}\n" for text in texts))
    return accepted(listed)


def test_what_is_listed_is_counted_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = entries(
        tmp_path,
        'rule = "leo-*"\nwhat = "verdict"\nold = "unknown"\nnew = "clean"',
        'rule = "leo-*"\nwhat = "verdict"\nold = "violated"',
    )
    report = Report(listed)
    verdict = Row("leo-regression", "verdict", "unknown", "clean", "orders-0")
    assert report.add("data/a", "whole", [verdict]) == []
    assert (report.differing, report.taken) == (0, [1, 0])
    other = Row("leo-regression", "summary", "unknown", "clean", "orders-0")
    assert report.add("data/a", "whole", [verdict, other]) == [other]
    assert (report.differing, report.taken) == (1, [2, 0])
    tell_accepted(listed, report)
    assert capsys.readouterr().out.splitlines() == [
        "accepted: 2 × a log is whole now [tests/a.py::test_b]",
        "accepted: NOTHING FITS a log is whole now [tests/a.py::test_b]",
    ]


CLEAN_TO_UNKNOWN = Row("leo-regression", "verdict", "clean", "unknown", "orders-0")


@pytest.mark.parametrize(
    "near",
    [
        {"rule": "hw-regression"},
        {"what": "summary"},
        {"old": "violated"},
        {"new": "violated"},
        {"where": "orders-1"},
    ],
    ids=lambda near: next(iter(near)),
)
def test_one_pattern_that_does_not_fit_is_enough(tmp_path: Path, near: dict[str, str]) -> None:
    text = 'rule = "leo-*"\nwhat = "verdict"\nold = ["clean", "no*"]\nnew = "unknown"\npartition = "orders-0"'
    (one,) = entries(tmp_path, text)
    assert one.fits(CLEAN_TO_UNKNOWN, "data/a", "whole", [])
    assert not one.fits(replace(CLEAN_TO_UNKNOWN, **near), "data/a", "whole", [])


@pytest.mark.parametrize(("whole", "fits"), [("clean", True), ("violated", False), ("unknown", False)])
def test_an_entry_may_need_the_answer_to_the_whole_evidence(whole: str, fits: bool, tmp_path: Path) -> None:
    text = 'rule = "leo-regression"\nwhat = "verdict"\nold = "unknown"\nnew = "clean"\nwhole = "clean"'
    (one,) = entries(tmp_path, text)
    answer = {"topic": "orders", "partition": 0, "verdicts": {"leo-regression": {"verdict": whole}}}
    rows_ = [Row("leo-regression", "verdict", "unknown", "clean", "orders-0")]
    (row,) = with_whole(rows_, verdicts({"partitions": [answer]}))
    assert one.fits(row, "data/a", "random 1: some files", []) is fits


def test_a_pattern_may_name_the_case(tmp_path: Path) -> None:
    text = 'unit = "data/a*"\ncut = "without logs *"\nrule = "leo-regression"\nwhat = "verdict"\nnew = "unknown"'
    (one,) = entries(tmp_path, text)
    assert one.fits(CLEAN_TO_UNKNOWN, "data/a-1.0", "without logs of broker-1", [])
    assert not one.fits(CLEAN_TO_UNKNOWN, "data/b-1.0", "without logs of broker-1", [])
    assert not one.fits(CLEAN_TO_UNKNOWN, "data/a-1.0", "whole", [])


def test_brackets_in_a_pattern_stand_for_themselves(tmp_path: Path) -> None:
    (one,) = entries(tmp_path, 'rule = "r"\nwhat = "replicas[].lineage[][]"\nnew = "[5*, 80) lost"')
    row = Row("r", "replicas[].lineage[][]", "", "[50, 80) lost", "orders-0")
    assert one.fits(row, "data/a", "whole", [])
    assert not one.fits(replace(row, new="50, 80) lost"), "data/a", "whole", [])


def test_a_difference_may_count_only_beside_another(tmp_path: Path) -> None:
    text = 'rule = "leo-*"\nwhat = "verdict"\nold = "clean"\nwith = { what = "missing[]", new = "the log of *" }'
    (one,) = entries(tmp_path, text)
    lacks = Row("leo-regression", "missing[]", "", "the log of broker 2", "orders-0")
    assert one.fits(CLEAN_TO_UNKNOWN, "data/a", "whole", [CLEAN_TO_UNKNOWN, lacks])
    for other in (
        replace(lacks, new="data of broker 2"),
        replace(lacks, where="orders-1"),
        replace(lacks, rule="hw-regression"),
    ):
        assert not one.fits(CLEAN_TO_UNKNOWN, "data/a", "whole", [CLEAN_TO_UNKNOWN, other])


def test_a_finding_is_of_the_partition_of_its_verdict(tmp_path: Path) -> None:
    text = 'rule = "r"\nwhat = "verdict"\nwith = { what = "severity", old = "error", new = "warning" }'
    (one,) = entries(tmp_path, text)
    milder = Row("r", "severity", "error", "warning", "orders-0 (life 1) c08d8dfcbef470c7")
    verdict = Row("r", "verdict", "violated", "unknown", "orders-0 (life 1)")
    assert one.fits(verdict, "data/a", "whole", [milder])
    assert not one.fits(replace(verdict, where="orders-0"), "data/a", "whole", [milder])


def test_a_text_that_is_worded_otherwise_keeps_its_numbers(tmp_path: Path) -> None:
    (one,) = entries(tmp_path, r"""reworded = [['in leader epoch (\d+)', 'in epoch \1'], ['gone', 'lost, gone']]""")
    old = "offsets 50 to 79 are gone in leader epoch 7; gone"
    row = Row("r", "summary", old, "offsets 50 to 79 are lost, gone in epoch 7; lost, gone", "orders-0")
    assert one.fits(row, "data/a", "whole", [])
    for new in (row.new.replace("epoch 7", "epoch 8"), row.new.replace("; lost, gone", "; gone"), old):
        assert not one.fits(replace(row, new=new), "data/a", "whole", [])


def test_a_number_may_have_to_grow(tmp_path: Path) -> None:
    (one,) = entries(tmp_path, 'rule = "document"\nwhat = "sources[].understood"\nmore = true')
    row = Row("document", "sources[].understood", "9", "10")
    assert one.fits(row, "data/a", "whole", [])
    for old, new in (("10", "9"), ("9", "9"), ("", "9"), ("9", "all 10")):
        assert not one.fits(replace(row, old=old, new=new), "data/a", "whole", [])


def test_all_of_a_partition_of_one_case_may_differ_where_another_difference_says_why(tmp_path: Path) -> None:
    text = 'unit = "data/a"\nwith = { rule = "partitions", what = "partition", new = "orders-*" }'
    (one,) = entries(tmp_path, text)
    made = Row("partitions", "partition", "", "orders-0", "orders-0")
    assert one.fits(CLEAN_TO_UNKNOWN, "data/a", "whole", [CLEAN_TO_UNKNOWN, made])
    assert not one.fits(CLEAN_TO_UNKNOWN, "data/a", "whole", [CLEAN_TO_UNKNOWN])
    assert not one.fits(CLEAN_TO_UNKNOWN, "data/b", "whole", [CLEAN_TO_UNKNOWN, made])


@pytest.mark.parametrize(
    "table",
    [
        'why = "so"\ntest = "t"\nrule = "r"\nwhat = "verdict"\nnew = "clean"',
        'why = "so"\nbase = "d17effd"\nrule = "r"\nwhat = "verdict"\nnew = "clean"',
        'test = "t"\nbase = "d17effd"\nrule = "r"\nwhat = "verdict"\nnew = "clean"',
        f'{WHY}rule = "r"\nwhat = "verdict"',
        f'{WHY}rule = "r"\nnew = "clean"',
        f'{WHY}what = "verdict"\nnew = "clean"',
        f'{WHY}rule = "r"\nwhat = "*"\nnew = "clean"',
        f'{WHY}rule = "r"\nwhat = "verdict"\nverdict = "clean"',
        f"{WHY}unit = 'data/*'\nwith = {{ what = 'verdict' }}",
        f"{WHY}reworded = [['(', '']]",
        f"{WHY}reworded = [['a*', '']]",
    ],
    ids=[
        "base",
        "test",
        "why",
        "old or new",
        "what",
        "rule",
        "everything",
        "unknown key",
        "cases",
        "expression",
        "nothing",
    ],
)
def test_an_entry_that_lacks_something_is_refused(tmp_path: Path, table: str) -> None:
    listed = tmp_path / "accepted.toml"
    listed.write_text(f"[[difference]]\n{table}\n")
    with pytest.raises(ValueError, match=re.escape(str(listed))):
        accepted(listed)


def test_an_entry_counts_where_its_base_or_an_ancestor_is_compared_with() -> None:
    newest, former = sides.git("rev-parse", "HEAD"), sides.git("rev-parse", "HEAD~1")
    assert sides.is_part_of(former, newest)
    assert sides.is_part_of(newest, newest)
    assert not sides.is_part_of(newest, former)


def test_missing_lines_are_worded_as_the_list_says() -> None:
    (entry,) = (one for one in accepted(LIST) if one.test.endswith("test_missing_lines_are_worded_as_the_list_says"))
    said = {re.sub(r"\{\w+\}", "{}", omission.says) for omission in OMISSIONS}
    said |= {
        text.replace("it {} in epoch", f"it {role} in epoch") for text in said for role in ("led", "was in the ISR")
    }
    assert {re.sub(r"\\\d", "{}", words) for _, words in entry.reworded} <= said


def test_the_list_names_tests_that_are_there() -> None:
    for one in accepted(LIST):
        place, *names = one.test.split("::")
        text = (ROOT / place).read_text()
        for name in names:
            assert re.search(rf"^\s*(?:def|class) {re.escape(name.partition('[')[0])}\b", text, re.MULTILINE), one.test


# -- selections --------------------------------------------------------------------------------------------------------

LOG = "broker-1/logs/server.log"


def evidence() -> Files:
    (case,) = (one for one in recorded() if one.name == f"sample_traces/{LOST}")
    return case.files()


def test_lines_are_cut_where_they_stand() -> None:
    files = {LOG: b"a\nb\n  c\r\nd", "broker-1/data/meta.properties": b"x"}
    cut = Cut("", frozenset(["broker-1/data/meta.properties"]), {LOG: ((4, 9), (2, 2))})
    assert cut.left(files) == {LOG: b"a\n  c\r\n"}
    assert WHOLE.left(files) == files


def test_cuts_take_what_they_say() -> None:
    files = evidence()
    cuts = {cut.name: cut for cut in planned(files, LOST, quick=False)}
    assert [name for name, cut in cuts.items() if cut.left(files) == files] == ["whole"]
    assert not any("/logs/" in path for path in cuts["without all logs"].left(files))
    assert {path.partition("/")[0] for path in cuts["broker-2 alone"].left(files)} == {"broker-2"}
    assert set(files) - set(cuts[f"without {LOG}"].left(files)) == {LOG}
    halves = [cuts[f"logs {part} gone"].left(files)[LOG] for part in ("from 3/8 on", "before 3/8")]
    assert b"".join(halves) == files[LOG]
    assert sum(name.startswith("random ") for name in cuts) > 40


def test_cuts_are_the_same_each_time() -> None:
    assert planned(evidence(), LOST, quick=False) == planned(evidence(), LOST, quick=False)
    assert planned(evidence(), LOST, quick=True) == planned(evidence(), LOST, quick=True)


@pytest.mark.parametrize("draw", AT_RANDOM, ids=[draw.__name__ for draw in AT_RANDOM])
def test_each_way_of_cutting_takes_something(draw: Any) -> None:
    files = evidence()
    found = [draw(Evidence(files), Random(seed)).left(files) for seed in range(10)]
    assert sum(left != files for left in found) > 7


def test_full_mode_has_as_many_runs_as_promised() -> None:
    assert tuple(protocol.name for protocol in EVERY) == PROTOCOLS
    for count in (400, 10_000):
        drawn = [batch.seeds for batch in batches(count)]
        assert count <= sum(after - first for first, after in drawn) <= count + 2 * len(drawn)
    names = [batch.name for batch in batches(10_000)]
    assert len(set(names)) == len(names)
    assert {kind.name for kind in KINDS} == {
        name.removeprefix("model/").partition("-hw-")[0] for name in names if "-hw-" in name
    }
    seeds = [seed for batch in batches(10_000) for seed in range(*batch.seeds)]
    assert len(set(seeds)) == len(seeds)


# -- versions ----------------------------------------------------------------------------------------------------------


def test_a_revision_is_copied_and_told_from_others(tmp_path: Path) -> None:
    commit = sides.base("HEAD")
    before, after = sides.copied("before", tmp_path, commit), sides.copied("after", tmp_path, None)
    for side in (before, after):
        for name in ("forensics/engines/local.py", "parsers/read.py", "tests/model/batches.py"):
            assert Path(side.folder, name).is_file()
    assert sides.copied("again", tmp_path, commit).key == before.key
    Path(after.folder).rename(tmp_path / "moved")
    assert sides.copied("after", tmp_path, None).key == after.key


def test_clusters_that_are_not_on_this_machine_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORENSICS_EVIDENCE", str(tmp_path / "evidence"))
    (tmp_path / "incidents").mkdir()
    tell_absent()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"make same: not compared: evidence, as there is no folder {tmp_path / 'evidence'}")


def test_an_unknown_revision_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--base", "no-such-revision"]) == 2
    assert capsys.readouterr().err.startswith("make same: ")
