"""One bad file, cluster or partition costs itself alone: the loss beside it is told."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forensics.case import Case
from forensics.engines import local
from forensics.replay.history import History
from forensics.result import Result
from forensics.rules import RULES
from forensics.rules.finding import Judgement, Verdict
from tests.incident import batch

LOSS = "committed-data-lost"


def case_of(sample_traces: Path, name: str, folder: Path) -> Path:
    return Path(shutil.copytree(sample_traces / name, folder / name))


def rules_of(result: Result) -> set[str]:
    return {f"{f.rule} {f.confidence.value}" for f in result.findings}


def changed(path: Path, change: Callable[[bytearray], None]) -> None:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)


def wrapped(data: bytearray) -> None:
    """The sixth message says to be a gzip wrapper, under a right checksum."""
    at = 0
    for _ in range(5):
        at += 12 + struct.unpack_from(">i", data, at + 8)[0]
    end = at + 12 + struct.unpack_from(">i", data, at + 8)[0]
    data[at + 17] = 1
    struct.pack_into(">I", data, at + 12, zlib.crc32(data[at + 16 : end]))


def test_a_wrapper_that_cannot_be_read_into_keeps_the_loss(sample_traces: Path, tmp_path: Path) -> None:
    folder = case_of(sample_traces, "unclean-0.10.2.2", tmp_path)
    changed(folder / "broker-1/data/orders-0/00000000000000000000.log", wrapped)
    result = local.scan([str(folder)])
    assert result.failures == (0, 0)
    assert f"{LOSS} inferred" in rules_of(result)
    assert "unread wrapper" in "".join(result.case.notices["reason"].to_list())


@pytest.mark.parametrize("name", ["18446744073709551616.log", "18446744073709551615.index", "09223372036854775806.log"])
def test_a_segment_of_an_offset_that_none_can_have(name: str, sample_traces: Path, tmp_path: Path) -> None:
    folder = case_of(sample_traces, "unclean-0.10.2.2", tmp_path)
    (folder / "broker-1/data/orders-0" / name).write_bytes(batch(0, 3, 0))
    result = local.scan([str(folder)])
    assert result.failures == (0, 0)
    assert f"{LOSS} inferred" in rules_of(result)


@pytest.mark.parametrize("number", ["4294967296", "2147483648", "9" * 5000, "\u00b2"])
@pytest.mark.parametrize("name", ["data/meta.properties", "server.properties"])
def test_a_broker_id_that_none_can_have(number: str, name: str, sample_traces: Path, tmp_path: Path) -> None:
    folder = case_of(sample_traces, "unclean-0.10.2.2", tmp_path)
    path = folder / "broker-1" / name
    path.write_text(path.read_text().replace("broker.id=1", f"broker.id={number}\nmin.insync.replicas={number}"))
    result = local.scan([str(folder)])
    assert result.failures == (0, 0)
    assert f"{LOSS} inferred" in rules_of(result)
    assert "broker.id is" in "".join(result.case.notices["reason"].to_list())


def test_a_path_longer_than_a_path_may_be(sample_traces: Path, tmp_path: Path) -> None:
    folder = case_of(sample_traces, "kip101-0.10.2.2", tmp_path)
    here = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(20):
            os.mkdir("d" * 250, dir_fd=here)
            below = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(os.open("server.log", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    finally:
        os.close(here)
    result = local.scan([str(folder)])
    assert f"{LOSS} inferred" in rules_of(result)
    assert "File name too long" in "".join(result.case.notices["reason"].to_list())


def failing(*_args: object) -> list[History]:
    raise ZeroDivisionError("made by a test")


def test_a_rule_that_fails_is_unknown_and_the_others_are_asked(
    sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(_history: History, _case: Case) -> Judgement:
        raise ZeroDivisionError("made by a test")

    rules = tuple(replace(rule, judge=judge) if rule.id == "unclean-election" else rule for rule in RULES)
    monkeypatch.setattr("forensics.rules.RULES", rules)
    result = local.scan([str(sample_traces / "unclean-0.10.2.2")])
    assert f"{LOSS} inferred" in rules_of(result)
    (partition,) = (one for one in result.partitions if one.failed)
    unclean = partition.judgements["unclean-election"]
    assert unclean.verdict is Verdict.UNKNOWN
    assert "ZeroDivisionError: made by a test" in unclean.missing[0].because.text
    assert result.failures == (0, 1)


def test_replay_that_fails_on_one_partition_judges_the_others(
    sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = local.scan([str(sample_traces / "dirfail-3.9.1")])
    names = {one.history.name for one in whole.partitions}
    assert len(names) > 1
    replay = local.histories

    def histories(case: Case) -> list[History]:
        found = replay(case)
        if any(one.name == "orders-1" for one in found):
            raise ZeroDivisionError("made by a test")
        return found

    monkeypatch.setattr("forensics.engines.local.histories", histories)
    result = local.scan([str(sample_traces / "dirfail-3.9.1")])
    assert {one.history.name for one in result.partitions} == names
    assert [one.history.name for one in result.partitions if one.failed] == ["orders-1"]
    kept = {f.fingerprint for f in whole.findings if f.partition != 1}
    assert {f.fingerprint for f in result.findings} == kept


def test_a_file_that_cannot_be_put_together_with_others_is_left_out(
    sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assemble = local.assemble

    def failing_with(files, reading):  # type: ignore[no-untyped-def]
        if any(s.path.endswith("broker-3/server.properties") and f.format != "failed" for s, f in files):
            raise ZeroDivisionError("made by a test")
        return assemble(files, reading)

    monkeypatch.setattr("forensics.engines.local.assemble", failing_with)
    monkeypatch.setattr("forensics.engines.left_out.assemble", failing_with)
    result = local.scan([str(sample_traces / "unclean-0.10.2.2")])
    assert result.failures == (1, 0)
    assert f"{LOSS} inferred" in rules_of(result)
    failed = result.case.sources.filter(result.case.sources["format"] == "failed")
    assert [path.rpartition("/")[2] for path in failed["path"]] == ["server.properties"]


_RUN = """
import sys
from forensics.engines import local
def failing(case):
    raise ZeroDivisionError("made by a test")
local.histories = failing
from forensics.cli import main
sys.argv = ["forensics", "scan", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("format_name", ["text", "json", "sarif", "jsonl"])
def test_nothing_found_and_something_not_judged_exits_with_3(format_name: str, sample_traces: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", _RUN, str(sample_traces / "unclean-0.10.2.2"), "--format", format_name],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert said.returncode == 3, said.stderr
    assert said.stderr.startswith("forensics: this program failed on 1 partition; it is a defect")
