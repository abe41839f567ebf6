"""Whatever is wrong with a plugin is a sentence with its name: it ends no scan and changes no other answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.conftest import Run, installed

NOT_USABLE = """
import sys
from dataclasses import replace
from forensics.plugins import Kind, Message, Report, Taker, Variant, Example
from forensics.rules.committed_data_lost import RULE as LOST

NUMBER = 7
TAKEN = LOST
ENDS = None
FORMAT = Taker("Bad Name", "", lambda s, h: False, lambda s, h: None)

def message(regex):
    variant = Variant("3.0", None, regex, "", (Example("x", ()),))
    return Message("BAD-1", Kind.PROBLEM, "xyz", "INFO", True, (variant,))

PATTERN = message("(?=x)")
COLUMN = message("(?P<nothing>x)")
"""

FAILS = """
from dataclasses import replace
from forensics.plugins import Report, Taker
from forensics.rules.committed_data_lost import RULE as LOST

def read(source, head):
    return {}[source.name]

def wrong(source, head):
    return None

def judge(history, case):
    return 1 // 0

def render(result):
    raise LookupError("no ticket")

FORMATS = (
    Taker("fails", "", lambda source, head: source.name == "fails.txt", read),
    Taker("wrong", "", lambda source, head: source.name == "wrong.txt", wrong),
)
def text(history, case):
    return replace(LOST.judge(history, case), rule="text", findings=(), verdict="violated")

RULE = (replace(LOST, id="fails", judge=judge), replace(LOST, id="text", judge=text))
REPORT = Report("fails", "never", render)
"""


@pytest.fixture
def unusable(tmp_path: Path) -> Path:
    site = tmp_path / "unusable"
    groups = {
        "forensics.formats": {"gone": "no_such_module:FORMAT", "named": "unusable:FORMAT", "ends": "ends:X"},
        "forensics.messages": {"column": "unusable:COLUMN", "pattern": "unusable:PATTERN"},
        "forensics.rules": {"number": "unusable:NUMBER", "taken": "unusable:TAKEN"},
        "forensics.reports": {"lacking": "unusable:LACKING"},
    }
    installed(site, "forensics-bad", "0.3", groups, unusable=NOT_USABLE, ends="raise SystemExit(0)")
    return site


def test_what_cannot_be_used_is_left_out_with_a_sentence(run: Run, unusable: Path, sample_traces: Path) -> None:
    evidence = sample_traces / "kip101-0.10.2.2"
    scan = ("scan", evidence, "--format", "json")
    bare = run(scan)[0].document
    told, summary = run(scan, ("scan", evidence), sites=(unusable,))
    document = told.document
    (plugin,) = document.pop("plugins")
    bare.pop("plugins")
    assert document == bare, "no other answer changes"
    said = [one.removeprefix("plugin forensics-bad 0.3: ") for one in plugin["problems"]]
    assert said == [
        "format ends is left out: ends:X cannot be imported (ImportError: ends ends the process)",
        said[1],
        said[2],
        "message column is left out: unusable:COLUMN BAD-1 names nothing, which is no column of OBSERVATIONS",
        said[4],
        "rule number is left out: unusable:NUMBER is int, not Rule",
        "rule taken is left out: the id committed-data-lost is taken by forensics itself",
        said[7],
    ]
    assert "gone is left out: no_such_module:FORMAT cannot be imported (ModuleNotFoundError: No module" in said[1]
    assert "unusable:FORMAT has the id 'Bad Name': small letters, digits and single hyphens are allowed" in said[2]
    assert "lacking is left out: unusable:LACKING cannot be imported (AttributeError: module 'unusable'" in said[7]
    assert said[4].startswith("message pattern is left out: unusable:PATTERN BAD-1 has a pattern that cannot be used")
    text = summary.out
    notices = len(plugin["problems"]) + document["notices"]["count"]
    assert f", {notices} notices of damage" in text
    assert all(one.partition(" (")[0] in text for one in said)


def test_a_failure_of_its_code_stays_where_it_happens(run: Run, sample_traces: Path, tmp_path: Path) -> None:
    groups = {
        "forensics.formats": {"fails": "fails:FORMATS"},
        "forensics.rules": {"fails": "fails:RULE"},
        "forensics.reports": {"fails": "fails:REPORT"},
    }
    site = tmp_path / "fails"
    installed(site, "forensics-fails", "0.1", groups, fails=FAILS)
    evidence = sample_traces / "kip101-0.10.2.2"
    more = tmp_path / "more"
    more.mkdir()
    (more / "fails.txt").write_text("one\n")
    (more / "wrong.txt").write_text("two\n")
    ran, refused = run(
        ("scan", evidence, more, "--format", "json"), ("scan", evidence, "--format", "fails"), sites=(site,)
    )
    document = ran.document
    assert ran.code == 1, "the loss is found"
    reasons = {Path(one["path"]).name: one["reason"] for one in document["notices"]["examples"]}
    assert reasons["fails.txt"].startswith(
        "not read: a defect of the plugin forensics-fails 0.1 at fails/fails.py:7 (KeyError: 'fails.txt')"
    )
    assert "the plugin forensics-fails 0.1" in reasons["wrong.txt"]
    assert "the format wrong returned NoneType, not FileReading" in reasons["wrong.txt"]
    for partition in document["partitions"]:
        answer = partition["verdicts"]["fails"]
        assert answer["verdict"] == "unknown"
        assert "the plugin forensics-fails 0.1 at fails/fails.py:13 (ZeroDivisionError" in answer["missing"][0]
        assert "as its verdict the rule text returned str" in partition["verdicts"]["text"]["missing"][0]
        assert partition["verdicts"]["committed-data-lost"]["verdict"] == "violated"
    assert refused.code == 2
    assert "a defect of the plugin forensics-fails 0.1 at fails/fails.py:16 (LookupError: no ticket)" in refused.err
