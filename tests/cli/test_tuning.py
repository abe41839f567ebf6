"""Tuning without code: what files, environment and options say, in this order; and known findings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forensics.repaired.former import FormerFinding
from forensics.reports.json_report import render
from forensics.reports.redaction import redact
from forensics.result import Partition, Result
from forensics.rules import RULES
from forensics.rules.finding import Judgement, Severity
from forensics.tuning import Tuning, tune
from tests.cli.conftest import Run

Scanned = Callable[[Path], Result]
LOSS = "kip101-0.10.2.2"  # critical: data lost, forked and cut


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def json_of(run: Run, *arguments: object) -> dict[str, Any]:
    return run("scan", *arguments, "--format", "json").document


def severities(document: dict[str, Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for finding in document["findings"]:
        found.setdefault(finding["rule"], set()).add(finding["severity"])
    return found


# -- the file --------------------------------------------------------------------------------------


EVERYTHING = """
fail-on = "critical"
disable = ["replica-divergence", "hw-above-leo"]
skip-topics = ["__*"]

[severity]
committed-data-lost = "warning"
truncation-below-committed = "error"
"""


@pytest.mark.parametrize("name", ["forensics.toml", "pyproject.toml", "elsewhere.toml"])
def test_a_file_tunes_the_answer(name: str, here: Path, run: Run, sample_traces: Path) -> None:
    text = EVERYTHING
    if name == "pyproject.toml":
        text = "[tool.other]\nx = 1\n[tool.forensics]" + EVERYTHING.replace("[severity]", "[tool.forensics.severity]")
    (here / name).write_text(text)
    options = ["--config", name] if name == "elsewhere.toml" else []
    ran = run("scan", sample_traces / LOSS, "--format", "json", *options)
    assert ran.code == 0  # nothing critical is left
    document = ran.document
    assert severities(document) == {"committed-data-lost": {"warning"}, "truncation-below-committed": {"error"}}
    asked = [rule.id for rule in RULES if rule.id not in ("replica-divergence", "hw-above-leo")]
    assert [list(partition["verdicts"]) for partition in document["partitions"]] == [asked]
    assert document["partitions"][0]["verdicts"]["committed-data-lost"]["verdict"] == "violated"
    assert document["tuning"] == {
        "config": name,
        "severities": {"committed-data-lost": "warning", "truncation-below-committed": "error"},
        "disabled": ["replica-divergence", "hw-above-leo"],
        "topics": [],
        "skip_topics": ["__*"],
        "baseline": None,
        "known": [],
        "gone": 0,
    }


def test_the_text_says_what_was_changed(here: Path, run: Run, sample_traces: Path) -> None:
    (here / "forensics.toml").write_text(EVERYTHING)
    out = " ".join(run("scan", sample_traces / LOSS).out.split())
    assert (
        "configured by forensics.toml: not asked: replica-divergence, hw-above-leo; severity set: "
        "committed-data-lost warning, truncation-below-committed error; without topics like __*"
    ) in out
    assert "1 partition, 14 rules" in out
    assert "REPLICAS DIFFER" not in out
    assert "configured by" not in run("scan", sample_traces / LOSS, "--isolated").out


def test_the_page_is_written_with_rules_off_and_findings_known(here: Path, run: Run, sample_traces: Path) -> None:
    (here / "forensics.toml").write_text('disable = ["replica-divergence"]')
    run("scan", sample_traces / LOSS, "--format", "json", "-o", "known.json")
    run("scan", sample_traces / LOSS, "--baseline", "known.json", "--report", "page.html")
    page = (here / "page.html").read_text("utf-8")
    assert "Committed data was lost" in page  # it tells what happened, not what is new


def test_a_project_without_our_table_configures_nothing(here: Path, run: Run, sample_traces: Path) -> None:
    (here / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert json_of(run, sample_traces / LOSS)["tuning"]["config"] is None


def test_our_own_file_goes_before_the_project(here: Path, run: Run, sample_traces: Path) -> None:
    (here / "pyproject.toml").write_text('[tool.forensics]\nfail-on = "critical"')
    (here / "forensics.toml").write_text('fail-on = "never"')
    ran = run("scan", sample_traces / LOSS, "--format", "json")
    assert (ran.code, ran.document["tuning"]["config"]) == (0, "forensics.toml")


# -- what stands over what -------------------------------------------------------------------------


def test_options_stand_over_environment_over_file(
    here: Path, run: Run, sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = sample_traces / LOSS
    assert run("scan", trace).code == 1
    (here / "forensics.toml").write_text('fail-on = "never"')
    assert run("scan", trace).code == 0
    monkeypatch.setenv("FORENSICS_FAIL_ON", "critical")
    assert run("scan", trace).code == 1
    assert run("scan", trace, "--fail-on", "never").code == 0
    monkeypatch.delenv("FORENSICS_FAIL_ON")
    assert run("scan", trace, "--isolated").code == 1
    monkeypatch.setenv("FORENSICS_ISOLATED", "1")
    assert run("scan", trace).code == 1


def test_severities_stand_over_one_another_rule_by_rule(
    here: Path, run: Run, sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "forensics.toml").write_text('[severity]\ncommitted-data-lost = "info"\nreplica-divergence = "warning"')
    monkeypatch.setenv("FORENSICS_SEVERITY", "committed-data-lost=error")
    found = severities(json_of(run, sample_traces / LOSS))
    assert (found["committed-data-lost"], found["replica-divergence"]) == ({"error"}, {"warning"})
    found = severities(json_of(run, sample_traces / LOSS, "--severity", "committed-data-lost=warning"))
    assert (found["committed-data-lost"], found["replica-divergence"]) == ({"warning"}, {"warning"})


def test_topics_and_rules_come_from_environment_too(
    here: Path, run: Run, sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = sample_traces / "traps-0.10.2.2"
    every = {p["topic"] for p in json_of(run, trace)["partitions"]}
    assert every == {"orders", "compacted", "purged"}
    monkeypatch.setenv("FORENSICS_SKIP_TOPICS", "comp* orders")
    monkeypatch.setenv("FORENSICS_DISABLE", "evidence-gap stale-directory")
    document = json_of(run, trace)
    assert {p["topic"] for p in document["partitions"]} == {"purged"}
    assert document["tuning"]["disabled"] == ["stale-directory", "evidence-gap"]
    assert {p["topic"] for p in json_of(run, trace, "--skip-topic", "purged")["partitions"]} == {"orders", "compacted"}


# -- what is wrong in it ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('fail_on = "error"', "fail_on: no such key; did you mean fail-on?"),
        ("[rules]", "rules: no such key"),
        ('[severity]\nleo-regresion = "info"', "'leo-regresion'; did you mean leo-regression?"),
        ('[severity]\nleo-regression = "bad"', "severity.leo-regression: 'bad' is no severity; use one of critical"),
        ('severity = "info"', "severity: must be a table"),
        ('disable = ["data-gone"]', "disable: there is no rule 'data-gone'"),
        ('disable = "leo-regression"', "disable: must be a list of texts"),
        ("topics = [1]", "topics: must be a list of texts"),
        ('fail-on = "info"', "fail-on: 'info' is none of critical, error, warning, unknown, never"),
        ("fail-on = 1", "fail-on: 1 is none of"),
        ("baseline = 1", 'baseline: must be a text, as in baseline = "..."'),
        ("fail-on = ", "not TOML"),
        ("topics = " + "[" * 20_000, "not TOML"),
    ],
)
@pytest.mark.parametrize("project", [False, True])
def test_what_is_not_known_is_an_error(
    text: str, said: str, project: bool, here: Path, run: Run, sample_traces: Path
) -> None:
    name = "pyproject.toml" if project else "forensics.toml"
    if project:
        text = "[tool.forensics]\n" + text.replace("[", "[tool.forensics.", text.startswith("["))
        text = text.replace("\n[severity]", "\n[tool.forensics.severity]")
    (here / name).write_text(text)
    ran = run("scan", sample_traces / LOSS)
    assert (ran.code, ran.out) == (2, "")
    assert f"{name}: " in ran.err
    assert said in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--config", "none.toml"], "none.toml: No such file"),
        (["--config", "pyproject.toml"], "pyproject.toml: has no table [tool.forensics]"),
        (["--config", "forensics.toml", "--isolated"], "use one of them"),
        (["--disable", "data-gone"], "--disable: there is no rule 'data-gone'"),
        (["--severity", "leo-regression"], "must be RULE=LEVEL"),
        (["--severity", "leo=info"], "there is no rule 'leo'"),
        (["--severity", "leo-regression=fatal"], "'fatal' is no severity"),
        (["--baseline", "none.json"], "none.json: No such file"),
        (["--baseline", "pyproject.toml"], "pyproject.toml:1: not JSON"),
        (["--baseline", "other.json"], "other.json:1: no fingerprint and severity"),
        (["--baseline", "some.json"], "some.json, finding 1: no fingerprint and severity"),
        (["--baseline", "deep.json"], "deep.json:1: not JSON"),
        (["--baseline", "number.json"], "number.json:1: no fingerprint and severity"),
        (["--baseline", "nulls.json"], "nulls.json:1: no fingerprint and severity"),
    ],
)
def test_wrong_options_are_2_before_anything_is_read(options: list[str], said: str, here: Path, run: Run) -> None:
    (here / "pyproject.toml").write_text("[project]\n")
    (here / "other.json").write_text('{"x": 1}\n')
    (here / "deep.json").write_text("[" * 100_000)
    (here / "number.json").write_text('{"findings": 5}')
    (here / "nulls.json").write_text('{"findings": [null]}')
    (here / "some.json").write_text('{"findings": [{"severity": "error"}]}\n')
    ran = run("scan", here / "nothing-there", *options)
    assert (ran.code, ran.out) == (2, "")
    assert said in " ".join(ran.err.split())


# -- severities ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "wanted", "got"),
    [
        (Severity.CRITICAL, Severity.ERROR, Severity.ERROR),
        (Severity.CRITICAL, Severity.INFO, Severity.INFO),
        (Severity.WARNING, Severity.ERROR, Severity.WARNING),
        (Severity.WARNING, Severity.INFO, Severity.INFO),
    ],
)
def test_milder_findings_of_a_rule_stay_as_mild_as_they_are(
    own: Severity, wanted: Severity, got: Severity, sample_traces: Path, scanned: Scanned
) -> None:
    """The rule is critical by itself; what was fetched again is a warning of it."""
    rule = "truncation-below-committed"
    result = scanned(sample_traces / LOSS)
    (partition,) = result.partitions
    judgement = partition.judgements[rule]
    found = tuple(replace(finding, severity=own) for finding in judgement.findings)
    changed = Partition(
        partition.history, partition.judgements | {rule: Judgement(rule, judgement.verdict, findings=found)}
    )
    tuned = tune(replace(result, partitions=[changed]), Tuning(severities={rule: wanted}))
    assert {finding.severity for finding in tuned.findings if finding.rule == rule} == {got}


def test_findings_and_partitions_are_ordered_anew(sample_traces: Path, scanned: Scanned) -> None:
    result = scanned(sample_traces / LOSS)
    tuned = tune(result, Tuning(severities={"committed-data-lost": Severity.INFO}))
    assert result.findings[0].rule == "committed-data-lost"
    assert tuned.findings[-1].rule == "committed-data-lost"
    assert {f.fingerprint for f in tuned.findings} == {f.fingerprint for f in result.findings}


def test_no_tuning_changes_nothing(trace: Path, scanned: Scanned) -> None:
    assert render(tune(scanned(trace), Tuning())) == render(scanned(trace))


# -- what is known ---------------------------------------------------------------------------------


@pytest.mark.parametrize("format_name", ["json", "jsonl"])
def test_a_baseline_hides_what_is_known(format_name: str, here: Path, run: Run, sample_traces: Path) -> None:
    trace = sample_traces / LOSS
    assert run("scan", trace, "--format", format_name, "-o", "known").code == 1
    ran = run("scan", trace, "--baseline", "known")
    assert ran.code == 1  # producers cannot go back
    assert "4 known findings hidden by baseline known" in ran.out
    assert "NOTHING NEW in 1 partition" in ran.out
    assert "no committed data lost" not in ran.out
    document = json_of(run, trace, "--baseline", "known")
    assert document["findings"] == []
    assert len(document["tuning"]["known"]) == 4
    assert document["partitions"][0]["verdicts"]["committed-data-lost"]["verdict"] == "violated"
    named = {name for judged in document["partitions"][0]["verdicts"].values() for name in judged["findings"]}
    assert named == {known["fingerprint"] for known in document["tuning"]["known"]}


def test_the_exit_code_tells_what_is_new(here: Path, run: Run, sample_traces: Path) -> None:
    document = json_of(run, sample_traces / LOSS)
    new = document["findings"].pop(1)
    (here / "known.json").write_text(json.dumps(document))
    (here / "forensics.toml").write_text('baseline = "known.json"')
    ran = run("scan", sample_traces / LOSS, "--format", "json")
    assert ran.code == 1
    assert [finding["fingerprint"] for finding in ran.document["findings"]] == [new["fingerprint"]]


def test_what_became_worse_is_new(here: Path, run: Run, sample_traces: Path) -> None:
    document = json_of(run, sample_traces / LOSS, "--severity", "committed-data-lost=warning")
    (here / "known.json").write_text(json.dumps(document))
    document = json_of(run, sample_traces / LOSS, "--baseline", "known.json")
    assert [finding["rule"] for finding in document["findings"]] == ["committed-data-lost"]


def test_a_baseline_of_a_baseline_still_knows_everything(here: Path, run: Run, sample_traces: Path) -> None:
    run("scan", sample_traces / LOSS, "--format", "json", "-o", "one.json")
    run("scan", sample_traces / LOSS, "--baseline", "one.json", "--format", "json", "-o", "two.json")
    assert json_of(run, sample_traces / LOSS, "--baseline", "two.json")["findings"] == []


def test_what_of_a_baseline_is_gone_is_counted(here: Path, run: Run, sample_traces: Path) -> None:
    run("scan", sample_traces / LOSS, "--format", "jsonl", "-o", "known.jsonl")
    ran = run("scan", sample_traces / "flap-3.9.1", "--baseline", "known.jsonl")
    assert "0 known findings hidden by baseline known.jsonl; 4 of it not found any more" in " ".join(ran.out.split())


def test_a_baseline_is_found_beside_its_configuration(here: Path, run: Run, sample_traces: Path) -> None:
    folder = here / "conf"
    folder.mkdir()
    run("scan", sample_traces / LOSS, "--format", "json", "-o", folder / "known.json")
    (folder / "forensics.toml").write_text('baseline = "known.json"')
    assert run("scan", sample_traces / LOSS, "--config", "conf/forensics.toml").code == 0


def test_names_in_the_settings_are_redacted_too(sample_traces: Path, scanned: Scanned) -> None:
    result = scanned(sample_traces / LOSS)
    known = tuple(FormerFinding(finding.fingerprint, finding.severity) for finding in result.findings)
    tuned = tune(
        result,
        Tuning(topics=("orders*",), skip_topics=("secret",), config="ann/f.toml", baseline="ann/x.json", known=known),
    )
    said = render(redact(tuned))
    assert len(json.loads(said)["tuning"]["known"]) == 4
    assert not any(name in said for name in ("ann/", "orders", "secret"))


@pytest.mark.parametrize(
    ("cut", "asked", "code"), [(True, "error", 0), (True, "unknown", 1), (True, "never", 0), (False, "unknown", 0)]
)
def test_a_grave_question_that_stays_unknown_may_fail(
    cut: bool, asked: str, code: int, sample_traces: Path, here: Path, run: Run
) -> None:
    """The lines of a healthy cluster's brokers answer every question; without those of broker 1 some stay open."""
    shutil.copytree(sample_traces / "reassigned-3.9.1", here / "evidence")
    if cut:
        shutil.rmtree(here / "evidence" / "broker-1")
    assert run("scan", here / "evidence", "--fail-on", asked).code == code


# -- a file inside the evidence --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["forensics.toml", "pyproject.toml"])
@pytest.mark.parametrize("asked", [".", "absolute", "each file"])
def test_evidence_does_not_say_which_of_its_findings_are_shown(
    name: str, asked: str, here: Path, run: Run, sample_traces: Path
) -> None:
    shutil.copytree(sample_traces / LOSS, here, dirs_exist_ok=True)
    paths = {".": ["."], "absolute": [here], "each file": [*sorted(path.name for path in here.iterdir()), name]}[asked]
    (here / name).write_text(("" if name == "forensics.toml" else "[tool.forensics]\n") + 'fail-on = "never"')
    ran = run("scan", *paths, "--format", "json")
    assert (ran.code, ran.document["tuning"]["config"]) == (1, None)
    assert f"{name} is part of the evidence, so its settings were not used" in ran.err
    ran = run("scan", *paths, "--format", "json", "--config", name)
    assert (ran.code, ran.document["tuning"]["config"], ran.err) == (0, name, "")
    ran = run("scan", *paths, "--isolated")
    assert (ran.code, ran.err) == (1, "")


def test_settings_in_the_evidence_are_not_even_read(here: Path, run: Run, sample_traces: Path) -> None:
    shutil.copytree(sample_traces / LOSS, here, dirs_exist_ok=True)
    (here / "pyproject.toml").write_text("[" * 20_000)
    assert run("scan", ".").code == 1


def test_settings_beside_the_evidence_count(here: Path, run: Run, sample_traces: Path) -> None:
    shutil.copytree(sample_traces / LOSS, here / "incident")
    (here / "forensics.toml").write_text('fail-on = "never"')
    ran = run("scan", "incident")
    assert (ran.code, ran.err) == (0, "")
