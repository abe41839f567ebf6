"""The template package, installed: one of each kind works, and takes part wherever evidence is judged."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from forensics.reports import json_report
from tests.conftest import in_full
from tests.plugins.conftest import Ran, Run, environment, installed

RULE = "acme-volume-detached"
TITLE = "plugin forensics-acme 1.0: format acme-volumes, message acme, rule acme-volume-detached, report acme-ticket"


def verdicts(document: dict[str, Any]) -> dict[str, str]:
    (partition,) = document["partitions"]
    return {rule: one["verdict"] for rule, one in partition["verdicts"].items()}


@pytest.fixture(scope="module")
def with_it(run: Run, acme: Path, examples: Path) -> dict[str, Ran]:
    commands = {
        "violated": ("scan", examples / "violated" / "detached", "--format", "json"),
        "clean": ("scan", examples / "clean" / "attached", "--format", "json"),
        "ticket": ("scan", examples / "violated" / "detached", "--format", "acme-ticket"),
        "page": ("scan", examples / "violated" / "detached", "--format", "html"),
        "explain": ("explain", RULE),
        "version": ("--version",),
    }
    return dict(zip(commands, run(*commands.values(), sites=(acme,)), strict=True))


def test_one_of_each_kind_works(with_it: dict[str, Ran]) -> None:
    document = with_it["violated"].document
    schema = json_report.schema()
    schema["$defs"]["rule"]["enum"].append(RULE)  # as the function does itself where the plugin is installed
    schema["$defs"]["format"]["enum"].append("acme-volumes")
    jsonschema.validate(document, schema)
    assert verdicts(document)[RULE] == "violated"
    found = [one for one in document["findings"] if one["rule"] == RULE]
    shown = [(Path(e["path"]).name, e["line"], e["text"][:41]) for one in found for e in one["evidence"]]
    assert shown == [
        ("acme-volumes", 2, "orders-0 vol-7 detached"),
        ("server.log", 1, "[2026-11-21 04:05:49,991] WARN ACME volum"),
    ]
    (plugin,) = document["plugins"]
    assert (plugin["name"], plugin["version"], plugin["problems"]) == ("forensics-acme", "1.0", [])
    assert len(plugin["adds"]) == 4
    assert with_it["ticket"].out.splitlines()[:2] == [f"ACME|warning|{RULE}|orders-0"] * 2
    assert "Acme volume detached" in with_it["page"].out
    assert "## Not a finding when" in with_it["explain"].out


def test_it_is_listed_and_can_be_left_out(run: Run, with_it: dict[str, Ran], acme: Path, examples: Path) -> None:
    """Without the plugin nothing of it is left, and the other rules answer as with it."""
    assert with_it["version"].out.splitlines()[3:] == [TITLE]
    scan = ("--no-plugins", "scan", examples / "clean" / "attached", "--format", "json")
    version, scanned = run(("--version", "--no-plugins"), scan, sites=(acme,))
    assert len(version.out.splitlines()) == 3
    without = scanned.document
    assert without["plugins"] == []
    assert {one["format"] for one in without["sources"]} == {"broker-log", "unknown"}
    answers = verdicts(with_it["clean"].document)
    assert answers.pop(RULE) == "clean"
    assert answers == verdicts(without)


_ON_DISK = """
import sys
from forensics.engines import large
from forensics.reports import json_report
print(json_report.render(large.scan(sys.argv[1:], jobs=2, memory=1 << 40)))
"""


def test_processes_of_the_local_engine_have_it(
    with_it: dict[str, Ran], acme: Path, examples: Path, repository: Path
) -> None:
    command = [sys.executable, "-c", _ON_DISK, str(examples / "violated" / "detached")]
    env = environment(repository, acme)
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=600)
    assert json.loads(ran.stdout) == with_it["violated"].document


@in_full("a scan has the plugin without it")
@pytest.mark.spark
def test_a_batch_has_it_and_its_report_needs_it(
    run: Run, with_it: dict[str, Ran], acme: Path, examples: Path, tmp_path: Path
) -> None:
    out = tmp_path / "judged"
    batch = ("batch", examples / "violated" / "detached", "-o", out, "--master", "local[1]")
    ran, reported = run(batch, ("report", out, "--format", "json"), sites=(acme,))
    assert ran.code in (0, 1), ran.err
    manifest = json.loads((out / "manifest.json").read_text())
    assert [one["name"] for one in manifest["plugins"]] == ["forensics-acme"]
    scanned = with_it["violated"].document
    assert verdicts(reported.document) == verdicts(scanned)
    assert reported.document["findings"] == scanned["findings"]
    (refused,) = run(("report", out))
    assert refused.code == 2
    assert "was judged with forensics-acme 1.0, and this installation has no plugins" in refused.err


BAD = """
from dataclasses import replace
from forensics.plugins import Severity, judgement
from forensics_acme import volume_detached as good

def judge(history, case):
    found = good.judge(history, case)
    if len(history.replicas) > 2:
        raise KeyError(history.topic)
    findings = found.findings or (good._finding(history, 1, []),)
    return judgement("bad", (replace(one, rule="bad") for one in findings), ())

RULE = replace(
    good.RULE, id="bad", judge=judge, severity=Severity.INFO, help=replace(good.HELP, matters=(), to_do=("no end",))
)
"""


@in_full("the checks are tried one by one without it")
def test_the_checks_pass_a_good_rule_and_see_a_bad_one(
    template: Path, acme: Path, repository: Path, tmp_path: Path
) -> None:
    """With the tests of the template."""
    installed(tmp_path, "forensics-bad", "2", {"forensics.rules": {"bad": "bad_rule:RULE"}}, bad_rule=BAD)
    folder = tmp_path / "examples"
    folder.mkdir()
    for name in (RULE, "bad"):
        (folder / name).symlink_to(template / "tests" / "examples" / RULE)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-v", "--tb=line"]
    if not entry_points(group="pytest11", name="forensics"):  # this project is not installed anew
        command += ["-p", "forensics.testing.kit"]
    command += ["--forensics-rule", RULE, "--forensics-rule", "bad", "--forensics-examples", str(folder)]
    env = environment(repository, tmp_path, acme)
    ran = subprocess.run(command, cwd=template, env=env, capture_output=True, text=True, check=False, timeout=600)
    outcomes = re.findall(r"::(\w+)(?:\[([^ ]*)\])? (PASSED|FAILED|ERROR)", ran.stdout)
    assert {rule for _, rule, outcome in outcomes if outcome == "PASSED"} >= {"", RULE, "ACME-01"}, ran.stdout
    assert {(rule, name) for name, rule, outcome in outcomes if outcome != "PASSED"} == {
        ("bad", "test_the_rule_is_explained"),
        ("bad", "test_its_severity_is_the_worst_of_its_findings"),
        ("bad", "test_it_is_clean_where_it_should_be"),
        ("bad", "test_it_never_fails"),
        ("bad", "test_it_is_quiet_where_nothing_is_wrong"),
    }, ran.stdout
    assert len([one for one in outcomes if one[1] == RULE]) == 7
