"""``forensics scan`` as a user meets it: options, exit codes, and sentences where something is wrong."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensics.reports import REPORTS
from tests.cli.conftest import Run
from tests.conftest import alike


@pytest.fixture
def copied(sample_traces: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Copies a sample to where a test may damage it."""

    def copies(name: str) -> Path:
        trace = tmp_path / "evidence"
        shutil.copytree(sample_traces / name, trace)
        for path in trace.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        return trace

    return copies


def notices(document: dict[str, Any], path: Path) -> list[dict[str, Any]]:
    return [one for one in document["notices"]["examples"] if one["path"] == str(path)]


# -- little memory ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", alike([one.name for one in REPORTS]))
def test_output_is_the_same_with_little_memory(name: str, run: Run, sample_traces: Path, tmp_path: Path) -> None:
    options = ["--format", name, "--jobs", "1"]
    whole = run("scan", sample_traces / "dirfail-3.9.1", *options)
    little = run("scan", sample_traces / "dirfail-3.9.1", *options, "--memory", "1k", "--tmp", tmp_path)
    assert little == whole
    assert list(tmp_path.iterdir()) == []


def test_a_page_and_tables_are_whole_with_little_memory(run: Run, sample_traces: Path, tmp_path: Path) -> None:
    for folder, options in (("whole", []), ("little", ["--memory", "1k"])):
        (tmp_path / folder).mkdir()
        page, saved = tmp_path / folder / "page.html", tmp_path / folder / "saved"
        run("scan", sample_traces / "flap-3.9.1", "--report", page, "--save", saved, *options)
    files = sorted(path.relative_to(tmp_path / "whole") for path in (tmp_path / "whole").rglob("*") if path.is_file())
    assert files
    for file in files:
        assert (tmp_path / "little" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


@pytest.mark.parametrize("size", ["3x", "", "-1g", "1.5g", "0", "00 GiB"])
def test_a_size_of_memory_that_is_none(size: str, run: Run, sample_traces: Path) -> None:
    ran = run("scan", sample_traces / "flap-3.9.1", "--memory", size)
    assert ran.code == 2
    assert "is not a size; use one like 512MiB or 2GiB" in ran.err


# -- exit codes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "fail_on", "code"),
    [
        ("kip101-0.10.2.2", None, 1),
        ("kip101-0.10.2.2", "critical", 1),
        ("kip101-0.10.2.2", "never", 0),
        ("crashscene-1.1.1", None, 1),
        ("crashscene-1.1.1", "error", 1),
        ("crashscene-1.1.1", "critical", 0),
        ("flap-3.9.1", None, 0),
        ("flap-3.9.1", "warning", 0),
    ],
)
def test_findings_decide_the_exit_code(
    name: str, fail_on: str | None, code: int, run: Run, sample_traces: Path
) -> None:
    options = ["--fail-on", fail_on] if fail_on else []
    ran = run("scan", sample_traces / name, *options)
    assert ran.code == code
    assert ran.out
    assert ran.err == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["scan"], "Missing argument 'PATH...'"),
        (["scan", ".", "--format", "xml"], "'xml' is not one of"),
        (["scan", ".", "--fail-on", "info"], "'info' is not one of"),
        (
            ["scan", ".", "--tz", "Mars/Olympus"],
            "'Mars/Olympus' is no time zone; use one like Europe/Berlin, UTC or +02:00",
        ),
        (["scan", ".", "--skew", "1:250ms"], "'1:250ms' does not begin with a broker's id; use one like 1=+250ms"),
        (["scan", ".", "--skew", "one=250ms"], "'one=250ms' does not begin with a broker's id"),
        (["scan", ".", "--skew", "1=+2x"], "'1=+2x': '+2x' is no time; use one like +250ms, -90m or +1h30m"),
        (["scan", ".", "--skew", "1="], "'1=': '' is no time"),
        (["scan", ".", "--skew", "1=1s", "--skew", "1=2s"], "broker 1 is shifted twice; give it once"),
        (["scan", ".", "--frobnicate"], "No such option '--frobnicate'"),
        (["scan", ".", "--tz", "+24:00"], "'+24:00' is no time zone"),
        (["scan", ".", "--tz", "+02:75"], "'+02:75' is no time zone"),
        *(
            (["scan", ".", "--tz", zone], f"{zone!r} is no time zone")
            for zone in ("", "Europe", "../UTC", "posixrules")
        ),
        (["scan", ".", "--tpoic", "a"], "No such option '--tpoic'. (Did you mean"),
        (["scna"], "No such command 'scna'; did you mean scan?"),
        (["nosuch"], "No such command 'nosuch'"),
        (["explain", "nosuch"], "there is no name 'nosuch'; `forensics explain` lists them"),
        (["explain", "comited-data-lost"], "'comited-data-lost'; did you mean committed-data-lost?"),
        (["explain", "data-lost"], "'data-lost'; did you mean committed-data-lost?"),
        (["simulate", "frok"], "there is no scenario 'frok'; did you mean fork?"),
    ],
)
def test_wrong_usage_is_2_and_says_what_is_wrong(arguments: list[str], said: str, run: Run) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert said in " ".join(ran.err.split())
    assert ran.out == ""
    assert "Traceback" not in ran.err


def test_help_names_the_exit_codes(run: Run) -> None:
    ran = run("scan", "--help")
    assert ran.code == 0
    assert "Exit code: 0" in ran.out


def test_a_defect_of_the_tool_never_looks_like_findings(
    run: Run, sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("forensics.engines.local.take_in", fails)
    ran = run("scan", sample_traces / "flap-3.9.1")
    assert ran.code == 2
    assert "RuntimeError: boom" in ran.err
    assert "defect of this program" in ran.err


# -- options ---------------------------------------------------------------------------------------


def test_json_goes_to_the_terminal_or_to_a_file(run: Run, sample_traces: Path, tmp_path: Path) -> None:
    trace, target = sample_traces / "kip101-0.10.2.2", tmp_path / "out.json"
    printed = run("scan", trace, "--format", "json")
    written = run("scan", trace, "--format", "json", "-o", target)
    assert (printed.code, written.code) == (1, 1)
    assert written.out == ""
    assert target.read_text(encoding="utf-8") == printed.out
    assert printed.document["schema"] == "forensics.scan/1"


def test_topic_limits_what_is_judged(run: Run, sample_traces: Path) -> None:
    trace = sample_traces / "traps-0.10.2.2"

    def topics(*options: str) -> set[str]:
        return {p["topic"] for p in run("scan", trace, "--format", "json", *options).document["partitions"]}

    assert topics() == {"orders", "compacted", "purged"}
    assert topics("--topic", "ord*") == {"orders"}
    assert topics("--topic", "orders", "--topic", "p?rged") == {"orders", "purged"}
    assert run("scan", trace, "--topic", "Orders").code == 2, "names of topics are told apart by case"


def test_topic_hides_a_loss_of_another_topic(run: Run, sample_traces: Path) -> None:
    trace = sample_traces / "traps-0.10.2.2"
    assert run("scan", trace, sample_traces / "kip101-0.10.2.2", "--topic", "purged").code == 0


def test_tz_moves_every_time(run: Run, sample_traces: Path) -> None:
    trace = sample_traces / "kip101-0.10.2.2"
    here = run("scan", trace, "--format", "json").document
    there = run("scan", trace, "--format", "json", "--tz", "Asia/Kolkata").document
    assert there["time_zone"] == "Asia/Kolkata"
    cut, moved = (d["findings"][0]["facts"][1] for d in (here, there))
    assert cut["time"] == "2026-11-21T04:06:11.532Z"
    assert moved["time"] == "2026-11-20T22:36:11.532Z"
    assert [f["fingerprint"] for f in here["findings"]] == [f["fingerprint"] for f in there["findings"]]


@pytest.mark.parametrize(
    ("given", "shift", "time"),
    [
        ("3=+250ms", 250_000, "2026-11-21T04:06:11.782Z"),
        ("3=-1.5s", -1_500_000, "2026-11-21T04:06:10.032Z"),
        ("3=2", 2_000_000, "2026-11-21T04:06:13.532Z"),
        ("3=1000us", 1_000, "2026-11-21T04:06:11.533Z"),
        ("3=+2h", 7_200_000_000, "2026-11-21T06:06:11.532Z"),
        ("3=-90m", -5_400_000_000, "2026-11-21T02:36:11.532Z"),
        ("3=+1h30m0.5s", 5_400_500_000, "2026-11-21T05:36:12.032Z"),
    ],
)
def test_skew_moves_one_broker(given: str, shift: int, time: str, run: Run, sample_traces: Path) -> None:
    document = run("scan", sample_traces / "kip101-0.10.2.2", "--format", "json", "--skew", given).document
    assert document["skew_us"] == {"3": shift}
    times = {
        (fact["broker"], fact["time"]) for f in document["findings"] for fact in f["facts"] if fact["broker"] in (2, 3)
    }
    assert (3, time) in times
    assert (2, "2026-11-21T04:06:22.786Z") in times


def test_clocks_decide_nothing(run: Run, sample_traces: Path) -> None:
    """With clocks an hour apart the same is found: order comes from epochs and offsets."""
    trace = sample_traces / "kip101-0.10.2.2"
    right = run("scan", trace, "--format", "json").document
    skewed = run("scan", trace, "--format", "json", "--skew", "1=+3600s", "--skew", "3=-3600s").document
    assert [f["fingerprint"] for f in skewed["findings"]] == [f["fingerprint"] for f in right["findings"]]
    assert [p["verdicts"] for p in skewed["partitions"]] == [p["verdicts"] for p in right["partitions"]]


def test_the_folders_of_brokers_may_be_given_one_by_one(run: Run, sample_traces: Path) -> None:
    trace = sample_traces / "kip101-0.10.2.2"
    whole = run("scan", trace, "--format", "json").document
    apart = run("scan", *sorted(trace.glob("broker-*"), reverse=True), "--format", "json").document
    assert [f["fingerprint"] for f in apart["findings"]] == [f["fingerprint"] for f in whole["findings"]]


def test_a_path_given_twice_is_read_once(run: Run, sample_traces: Path) -> None:
    trace = sample_traces / "crashscene-1.1.1"
    once = run("scan", trace, "--format", "json").document
    twice = run("scan", trace, trace / "broker-1", "--format", "json").document
    assert len(twice["sources"]) == len(once["sources"])


def test_the_installed_command_runs_in_a_process_of_its_own(repository: Path) -> None:
    command = [sys.executable, "-m", "forensics", "scan", "sample_traces/flap-3.9.1", "--format", "json"]
    environment = os.environ | {"PYTHONPATH": str(repository)}
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["inputs"] == ["sample_traces/flap-3.9.1"]


def test_rules_and_explain_print_what_the_rules_say(run: Run) -> None:
    listed = run("rules").out.splitlines()
    assert any(line.startswith("committed-data-lost ") and " critical " in line for line in listed)
    for line in listed:
        explained = run("explain", line.split()[0])
        assert explained.code == 0
        assert "## What to do" in explained.out


def test_an_offset_is_a_zone_too(run: Run, sample_traces: Path) -> None:
    trace = sample_traces / "kip101-0.10.2.2"
    named, offset, short = (
        run("scan", trace, "--format", "json", "--tz", zone).document for zone in ("Asia/Kolkata", "+05:30", "+0530")
    )
    assert offset["time_zone"] == short["time_zone"] == "UTC+05:30"
    assert offset["findings"] == named["findings"]
    since = ["--from", "2026-11-21T04:06:10"]  # without a zone: that of --tz
    assert (
        run("scan", trace, "--format", "json", "--tz", "+05:30", *since).document["findings"]
        == run("scan", trace, "--format", "json", "--tz", "Asia/Kolkata", *since).document["findings"]
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "nosuch/out.json"], "nosuch/out.json: there is no folder "),
        (["-o", "file/out.json"], "file is no folder; name another file"),
        (["--report", "nosuch/page.html"], "nosuch/page.html: there is no folder "),
        (["--save", "file/tables"], "file is no folder; name another folder"),
        (["--save", "full"], "full: holds notes.txt, which is no table of a scan"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_scan(
    options: list[str], said: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reads(*_: object, **__: object) -> None:
        raise AssertionError("the evidence was read")

    monkeypatch.setattr("forensics.engines.local.take_in", reads)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").touch()
    (tmp_path / "file").touch()
    ran = run("scan", ".", *options)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.startswith("forensics: ")
    assert ran.err.count("\n") == 1


def test_a_trace_is_written_whole_or_not_at_all(run: Run, sample_traces: Path, tmp_path: Path) -> None:
    sample = sample_traces / "written" / "kip-101"
    assert "there is no folder" in run("trace", sample, "-o", tmp_path / "nosuch" / "t.jsonl").err
    assert run("trace", sample, "-o", tmp_path / "t.jsonl").code == 0
    assert (tmp_path / "t.jsonl").read_text() == run("trace", sample).out


# -- bad input -------------------------------------------------------------------------------------


def test_a_path_that_is_not_there_is_named(run: Run, tmp_path: Path) -> None:
    ran = run("scan", tmp_path / "nosuch")
    assert ran.code == 2
    assert f"{tmp_path / 'nosuch'}: no such file or directory" in ran.err
    assert "Traceback" not in ran.err


def test_a_path_behind_a_closed_folder_says_so(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "closed" / "server.log"
    stat = Path.stat

    def closed(path: Path, **more: bool) -> os.stat_result:
        if path == secret:
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **more)

    monkeypatch.setattr(Path, "stat", closed)
    ran = run("scan", secret)
    assert (ran.code, ran.out) == (2, "")
    assert f"{secret}: permission denied; run forensics as a user that may read it" in ran.err


def test_an_empty_folder_is_not_clean(run: Run, tmp_path: Path) -> None:
    ran = run("scan", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    expected = f"{tmp_path}: the folder is empty; give a folder with logs or data directories of brokers"
    assert ran.err == f"forensics: {expected}\n"


def test_no_report_is_written_into_the_evidence(run: Run, copied: Callable[[str], Path]) -> None:
    trace = copied("kip101-0.10.2.2")
    there = sorted(trace.rglob("*"))
    for command, option, name in (
        *(("scan", "-o", "report.json"), ("scan", "--report", "report.html"), ("scan", "--save", "saved")),
        *(("scan", "--save", "."), ("collect", "-o", "bundle.tar.gz"), ("trace", "-o", "trace.jsonl")),
    ):
        ran = run(command, trace, option, trace / name)
        assert (ran.code, ran.out) == (2, ""), (command, option)
        assert "which is never written to" in ran.err or "nothing else is ever written over" in ran.err
    assert sorted(trace.rglob("*")) == there


def test_a_time_that_ends_before_it_begins_is_refused(run: Run, sample_traces: Path) -> None:
    ran = run("scan", sample_traces / "flap-3.9.1", "--from", "2026-11-22", "--to", "2026-11-21")
    assert (ran.code, ran.out) == (2, "")
    assert "it ends before it begins" in " ".join(ran.err.split())


def test_a_folder_with_nothing_known_names_what_to_give(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("dear diary\n", encoding="utf-8")
    (tmp_path / "photo.jpg").write_bytes(bytes(range(256)) * 20)
    ran = run("scan", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert str(tmp_path) in ran.err
    assert "Give logs or data directories of brokers, a trace, or output of Kafka's tools" in ran.err


def test_binary_junk_named_like_a_log_is_a_notice(run: Run, copied: Callable[[str], Path]) -> None:
    trace = copied("kip101-0.10.2.2")
    junk = trace / "broker-2" / "logs" / "server.log"
    junk.write_bytes(hashlib.shake_256(b"junk").digest(20_000))
    ran = run("scan", trace, "--format", "json")
    (notice,) = notices(ran.document, junk)
    assert notice["reason"]
    assert ran.code == 1  # the rest still proves the loss
    assert "committed-data-lost" in {f["rule"] for f in ran.document["findings"]}


def test_only_binary_junk_is_2(run: Run, tmp_path: Path) -> None:
    (tmp_path / "server.log").write_bytes(hashlib.shake_256(b"junk").digest(20_000))
    assert run("scan", tmp_path).code == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_a_notice(run: Run, copied: Callable[[str], Path]) -> None:
    trace = copied("kip101-0.10.2.2")
    secret = trace / "broker-2" / "logs" / "server.log"
    secret.chmod(0)
    (notice,) = notices(run("scan", trace, "--format", "json").document, secret)
    assert "permission denied" in notice["reason"]


def test_a_file_that_cannot_be_opened_is_a_notice(
    run: Run, copied: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = copied("kip101-0.10.2.2")
    secret = trace / "broker-2" / "logs" / "server.log"
    access = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode, **more: str(path) != str(secret) and access(path, mode, **more)
    )
    ran = run("scan", trace, "--format", "json")
    (notice,) = notices(ran.document, secret)
    assert "permission denied" in notice["reason"]
    assert ran.code == 1


def test_a_pipe_is_not_waited_for(run: Run, copied: Callable[[str], Path]) -> None:
    trace = copied("crashscene-1.1.1")
    pipe = trace / "broker-1" / "logs" / "kafka-request.log"
    os.mkfifo(pipe)
    (notice,) = notices(run("scan", trace, "--format", "json").document, pipe)
    assert notice["reason"] == "not a regular file"
    # The page shows the hash of each file that was read.
    command = [sys.executable, "-m", "forensics", "scan", str(trace), "--format", "html"]
    assert b"not a regular file" in subprocess.run(command, capture_output=True, timeout=600, check=False).stdout


@pytest.mark.parametrize(
    "text", [b"0\n1\nord", b"0\n2\norders 0 80\n", b"0\n", b"0\nmany\n", b"\xff\xfe\x00", b"0\n1\norders zero 8\n"]
)
def test_a_torn_checkpoint_is_a_notice(text: bytes, run: Run, copied: Callable[[str], Path]) -> None:
    trace = copied("kip101-0.10.2.2")
    torn = trace / "broker-2" / "data" / "replication-offset-checkpoint"
    torn.write_bytes(text)
    ran = run("scan", trace, "--format", "json")
    assert notices(ran.document, torn)
    assert "committed-data-lost" in {f["rule"] for f in ran.document["findings"]}


def test_a_log_that_ends_within_a_line_is_read_to_there(run: Run, copied: Callable[[str], Path]) -> None:
    trace = copied("kip101-0.10.2.2")
    log = trace / "broker-3" / "logs" / "server.log"
    data = log.read_bytes()
    cut = data.index(b"Truncating log orders-0 to offset 50") + 20
    log.write_bytes(data[:cut])
    ran = run("scan", trace, "--format", "json")
    lines = {s["path"]: s["lines"] for s in ran.document["sources"]}
    assert lines[str(log)] == data[:cut].count(b"\n") + 1
    assert ran.code in (0, 1)


def batches(segment: bytes) -> list[int]:
    """Where each batch of a segment begins, and where the last one ends."""
    found = [0]
    while found[-1] < len(segment):
        found.append(found[-1] + 12 + int.from_bytes(segment[found[-1] + 8 : found[-1] + 12], "big"))
    return found


@pytest.mark.parametrize("name", ["unclean-3.9.1", "kip101-0.10.2.2"])
@pytest.mark.parametrize("inside", [1, 11, 12, 16, 20, -1])
def test_a_segment_may_be_cut_anywhere(name: str, inside: int, run: Run, copied: Callable[[str], Path]) -> None:
    trace = copied(name)
    segment = trace / "broker-3" / "data" / "orders-0" / f"{0:020}.log"
    data = segment.read_bytes()
    starts = batches(data)
    third = starts[2]
    end = third + inside if inside > 0 else starts[3] + inside
    segment.write_bytes(data[:end])
    ran = run("scan", trace, "--format", "json")
    assert ran.code == 1
    (notice,) = notices(ran.document, segment)
    assert notice["byte"] == third
    (partition,) = [p for p in ran.document["partitions"] if p["topic"] == "orders"]
    # at broker 3 the loss of the older protocol happened: without its records nothing proves it, and nothing denies it
    assert partition["verdicts"]["committed-data-lost"]["verdict"] in ("violated", "unknown")
    assert partition["verdicts"]["truncation-below-committed"]["verdict"] == "violated"
    ends = {replica["broker"]: replica["log_end_offset"] for replica in partition["replicas"]}
    assert 0 < ends[3] < ends[1] == ends[2]  # what is before the cut counts


def test_a_segment_cut_between_batches_is_sound(run: Run, copied: Callable[[str], Path]) -> None:
    trace = copied("unclean-3.9.1")
    segment = trace / "broker-3" / "data" / "orders-0" / f"{0:020}.log"
    data = segment.read_bytes()
    segment.write_bytes(data[: batches(data)[2]])
    assert notices(run("scan", trace, "--format", "json").document, segment) == []


def test_an_empty_segment_is_sound(run: Run, copied: Callable[[str], Path]) -> None:
    trace = copied("unclean-3.9.1")
    segment = trace / "broker-3" / "data" / "orders-0" / f"{0:020}.log"
    segment.write_bytes(b"")
    ran = run("scan", trace, "--format", "json")
    assert notices(ran.document, segment) == []


def test_file_names_that_are_not_text_do_no_harm(run: Run, copied: Callable[[str], Path], tmp_path: Path) -> None:
    trace = copied("kip101-0.10.2.2")
    odd = os.fsencode(trace / "broker-2") + b"/caf\xe9\n\x1b.log"
    with open(odd, "wb") as stream:  # noqa: PTH123
        stream.write(b"[2026-11-21 04:06:22,786] INFO Truncating log orders-0 to off")
    for options in ([], ["--format", "json"], ["--format", "json", "-o", tmp_path / "o"]):
        ran = run("scan", trace, *options)
        assert ran.code == 1
        assert "\x1b" not in ran.out


# -- the evidence is sacred ------------------------------------------------------------------------


def state(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything about a tree that a write could change."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted([folder, *folder.rglob("*")]):
        stat = path.stat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (stat.st_mode, stat.st_size, stat.st_mtime_ns, stat.st_ino, stat.st_nlink, content)
    return found


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_a_file_of_the_evidence_is_never_overwritten(option: str, run: Run, copied: Callable[[str], Path]) -> None:
    trace = copied("kip101-0.10.2.2")
    log = trace / "broker-1" / "logs" / "server.log"
    before = log.read_bytes()
    ran = run("scan", trace, option, log)
    assert ran.code == 2
    assert "which is never written to" in " ".join(ran.err.split())
    assert log.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--topic", "nosuch"], "no topic in the evidence matches nosuch; there are: orders"),
        (["--topic", "orders-0"], "no topic in the evidence matches orders-0; there are: orders"),
        (["--skip-topic", "*"], "every topic in the evidence is left out by *; there are: orders"),
        (["--skew", "77=+250ms"], "--skew: no broker 77 in the evidence; there are: 1, 2, 3, 9"),
    ],
)
def test_a_filter_that_fits_nothing_is_not_a_clean_answer(
    options: list[str], said: str, run: Run, sample_traces: Path
) -> None:
    ran = run("scan", sample_traces / "kip101-0.10.2.2", *options)
    assert ran.code == 2
    assert said in " ".join(ran.err.split())


@pytest.mark.parametrize("options", [[], ["--format", "json"]])
def test_nothing_is_written_to_the_evidence(options: list[str], run: Run, copied: Callable[[str], Path]) -> None:
    trace = copied("unclean-3.9.1")
    before = state(trace)
    assert run("scan", trace, *options).code == 1
    assert state(trace) == before


def test_evidence_may_be_read_only(run: Run, copied: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    trace = copied("unclean-3.9.1")
    folders = [trace, *(path for path in trace.rglob("*") if path.is_dir())]
    for path in trace.rglob("*"):
        if path.is_file():
            path.chmod(0o444)
    for folder in folders:
        folder.chmod(0o555)
    monkeypatch.chdir(trace)
    try:
        before = state(trace)
        assert run("scan", ".").code == 1
        assert state(trace) == before
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_a_write_would_be_seen(copied: Callable[[str], Path]) -> None:
    trace = copied("crashscene-1.1.1")
    before = state(trace)
    (trace / "broker-1" / ".lock").touch()
    assert state(trace) != before
