"""A scan after a repair, held against the findings of the scan before it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from forensics import scan as scanned
from forensics.cli.scan import scan as command
from forensics.errors import BadBaseline
from forensics.repaired.former import former_findings
from forensics.reports.json_report import schema

FORKED = "kip101-2.8.2-ibp0.10.2"


def scan(*arguments: object) -> tuple[int, str]:
    ran = CliRunner().invoke(command, list(map(str, arguments)), env={"COLUMNS": "120"})
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.output
    return ran.exit_code, ran.stdout


def document(*arguments: object) -> dict[str, Any]:
    found = dict(json.loads(scan(*arguments, "--format", "json")[1]))
    jsonschema.validate(found, schema())
    return found


def conditions(found: Mapping[str, Any]) -> dict[str, str]:
    (partition,) = found["repair"]["partitions"]
    return {one["id"]: one["met"] for one in partition["conditions"]}


@pytest.fixture(scope="module")
def forked(sample_traces: Path) -> Path:
    return sample_traces / FORKED


@pytest.fixture(scope="module")
def before(forked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a scan found while the replicas were forked."""
    file = tmp_path_factory.mktemp("before") / "before.json"
    assert scan(forked, "--format", "json", "-o", file)[0] == 1
    return file


@pytest.fixture(scope="module")
def repaired(forked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directories after broker 1 was emptied and has fetched all from the leader, broker 3."""
    folder = tmp_path_factory.mktemp("after") / "after"
    for broker in (1, 2, 3):
        shutil.copytree(forked / f"broker-{broker}" / "data", folder / f"broker-{broker}" / "data")
        shutil.copy(forked / f"broker-{broker}" / "server.properties", folder / f"broker-{broker}")
    log = "data/orders-0/00000000000000000000.log"
    shutil.copy(forked / "broker-3" / log, folder / "broker-1" / log)
    return folder


def test_what_is_there_still_is_told_and_keeps_producers_away(forked: Path, before: Path) -> None:
    code, text = scan(forked, "--baseline", before)
    assert code == 1
    assert "NOT YET: keep producers away from 1 partition: orders-0." in text
    assert "still found      committed-data-lost  orders-0 (offsets 30 to 47)" in text
    assert "still found      truncation-below-committed  orders-0 (offsets 30 to 47), 2 findings" in text
    assert (
        "NO         All replicas hold the same records from the log start to the high watermark: brokers 1 and 2"
        in text
    )
    assert "broker-1/data/orders-0/00000000000000000000.log byte" in text


def test_after_a_repair_producers_can_go_back(repaired: Path, before: Path) -> None:
    code, text = scan(repaired, "--baseline", before)
    assert code == 0
    assert "PRODUCERS CAN GO BACK to orders-0: every condition held when these copies were taken." in text
    found = document(repaired, "--baseline", before)
    assert set(conditions(found).values()) == {"yes", "not applicable"}
    outcomes = {one["rule"]: one["outcome"] for one in found["repair"]["since"]}
    assert outcomes["replica-divergence"] == "gone"
    assert outcomes["committed-data-lost"] == "not shown", "no line of the time is there any more"


def test_damage_keeps_them_away(repaired: Path, before: Path, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    shutil.copytree(repaired, folder)
    file = folder / "broker-2/data/orders-0/00000000000000000000.log"
    content = bytearray(file.read_bytes())
    content[60] ^= 1
    file.write_bytes(content)
    found = document(folder, "--baseline", before)
    assert found["repair"]["safe"] == "no"
    assert conditions(found)["sound-segments"] == "no"
    (partition,) = found["repair"]["partitions"]
    assert partition["conditions"][0]["because"] == "new, but not critical: segment-damage"


def test_what_is_critical_and_new_keeps_them_away(forked: Path, tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text('{"findings": []}')
    found = document(forked, "--baseline", tmp_path / "none.json")
    assert conditions(found)["nothing-new"] == "no"


def test_a_loss_of_which_more_is_known_now_is_not_new(forked: Path, before: Path, tmp_path: Path) -> None:
    """Its fingerprint is another one, because the earlier scan found fewer of its offsets."""
    known = json.loads(before.read_text())
    for row in known["findings"]:
        row["fingerprint"] = row["fingerprint"][::-1]
        row["offsets"] = [[30, 40]]
    (tmp_path / "fewer.json").write_text(json.dumps(known))
    found = document(forked, "--baseline", tmp_path / "fewer.json")
    assert conditions(found)["nothing-new"] == "yes"
    assert {one["outcome"] for one in found["repair"]["since"]} == {"found otherwise"}
    assert found["findings"]


def test_a_partition_of_which_nothing_is_there_is_not_shown(forked: Path, before: Path, tmp_path: Path) -> None:
    known = json.loads(before.read_text())
    known["findings"] = [row | {"topic": "payments"} for row in known["findings"]]
    (tmp_path / "other.json").write_text(json.dumps(known))
    code, text = scan(forked, "--baseline", tmp_path / "other.json")
    assert code == 3
    assert "NOT SHOWN" in text
    assert "Nothing in the evidence is about this partition" in text


def test_a_baseline_of_another_cluster_shows_nothing(before: Path, sample_traces: Path) -> None:
    other = sample_traces / "traps-0.10.2.2"
    code, text = scan(other, "--baseline", before)
    was = {row["cluster"] for row in json.loads(before.read_text())["sources"]} - {None}
    assert code == 3
    assert f"before.json is of another cluster, {was.pop()}; the evidence is of AEnpUSOzRnWo6473zcAIpg" in " ".join(
        text.split()
    )
    assert "before producers go back" not in text
    found = document(other, "--baseline", before)["repair"]
    assert (found["safe"], found["partitions"]) == ("unknown", [])
    assert "AEnpUSOzRnWo6473zcAIpg" not in scan(other, "--baseline", before, "--redact")[1]


def test_checklists_of_several_clusters_name_them(forked: Path, before: Path, tmp_path: Path) -> None:
    """The earlier scan was of two clusters, and the copies of one of them are there now."""
    known = json.loads(before.read_text())
    known["findings"].append(known["findings"][0] | {"fingerprint": "0" * 32, "cluster": "AnotherClusterOfThese1"})
    (tmp_path / "two.json").write_text(json.dumps(known))
    for name in ("text", "markdown"):
        text = scan(forked, "--baseline", tmp_path / "two.json", "--format", name)[1]
        assert "orders-0 of cluster AnotherClusterOfThese1" in text


def test_a_baseline_without_findings_has_nothing_to_check(sample_traces: Path, tmp_path: Path) -> None:
    healthy = sample_traces / "written" / "healthy"
    (tmp_path / "none.json").write_text('{"findings": []}')
    code, text = scan(healthy, "--baseline", tmp_path / "none.json")
    assert code == 0
    assert "NOTHING TO CHECK" in text


@pytest.fixture(scope="module")
def returned(sample_traces: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Copies that hold the same records after a loss, and what a scan of them found."""
    file = tmp_path_factory.mktemp("returned") / "before.json"
    assert scan(sample_traces / "unclean-3.9.1", "--format", "json", "-o", file)[0] == 1
    return sample_traces / "unclean-3.9.1", file


def test_the_same_evidence_does_not_show_that_producers_can_go_back(returned: tuple[Path, Path]) -> None:
    folder, file = returned
    found = document(folder, "--baseline", file)
    states = conditions(found)
    assert found["repair"]["safe"] == "unknown"
    assert states.pop("new-copies") == "unknown"
    assert set(states.values()) == {"yes"}
    text = scan(folder, "--baseline", file)[1]
    assert "NOT SHOWN" in text
    assert "the evidence does not show that anything changed" in " ".join(text.split())


@pytest.mark.parametrize("gone", ["*/logs", "*/data/recovery-point-offset-checkpoint"])
def test_a_part_of_the_same_evidence_does_not_either(gone: str, returned: tuple[Path, Path], tmp_path: Path) -> None:
    folder, file = returned
    shutil.copytree(folder, tmp_path / "elsewhere")
    for path in (tmp_path / "elsewhere").glob(gone):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert document(tmp_path / "elsewhere", "--baseline", file)["repair"]["safe"] == "unknown"


@pytest.mark.parametrize(
    ("name", "same"), [("README.md", True), ("broker-1/data/replication-offset-checkpoint", False)]
)
def test_one_changed_file_of_a_broker_is_enough(
    name: str, same: bool, returned: tuple[Path, Path], tmp_path: Path
) -> None:
    """All replicas that were not touched are as before; a file that is no evidence shows nothing."""
    folder, file = returned
    shutil.copytree(folder, tmp_path / "again")
    (tmp_path / "again" / name).write_bytes((folder / name).read_bytes() + b"\n")
    found = document(tmp_path / "again", "--baseline", file)
    assert conditions(found)["new-copies"] == ("unknown" if same else "yes")
    assert found["repair"]["safe"] == ("unknown" if same else "yes")


def test_a_file_of_the_same_size_and_another_hash_is_another_file(forked: Path, before: Path, repaired: Path) -> None:
    """The findings cite the segments that differ, so their hashes are known."""
    log = "broker-1/data/orders-0/00000000000000000000.log"
    assert (forked / log).stat().st_size == (repaired / log).stat().st_size
    assert conditions(document(repaired, "--baseline", before))["new-copies"] == "yes"
    assert conditions(document(forked, "--baseline", before))["new-copies"] == "unknown"


@pytest.mark.parametrize(
    ("fail_on", "not_yet", "not_shown"), [("error", 1, 3), ("unknown", 1, 1), ("critical", 1, 3), ("never", 0, 0)]
)
def test_the_exit_code_is_0_only_if_producers_can_go_back(
    fail_on: str, not_yet: int, not_shown: int, forked: Path, before: Path, returned: tuple[Path, Path]
) -> None:
    assert scan(forked, "--baseline", before, "--fail-on", fail_on)[0] == not_yet
    assert scan(returned[0], "--baseline", returned[1], "--fail-on", fail_on)[0] == not_shown


def test_a_baseline_of_the_settings_is_a_list_of_known_findings(
    forked: Path, before: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORENSICS_BASELINE", str(before))
    code, text = scan(forked)
    assert code == 0
    assert "NOT YET" in text


def test_json_lines_list_no_files(forked: Path, repaired: Path, tmp_path: Path) -> None:
    scan(forked, "--format", "jsonl", "-o", tmp_path / "before.jsonl")
    found = document(repaired, "--baseline", tmp_path / "before.jsonl")
    assert conditions(found)["new-copies"] == "not applicable"
    assert found["repair"]["safe"] == "yes"


def test_a_list_of_sources_that_no_scan_wrote_is_refused(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text('{"findings": [], "sources": [{"path": "a"}]}')
    with pytest.raises(BadBaseline, match="the list of sources is not that of a scan"):
        former_findings(str(tmp_path / "odd.json"))


def test_markdown_is_a_checklist(repaired: Path, forked: Path, before: Path) -> None:
    open_, done = (scan(folder, "--baseline", before, "--format", "markdown")[1] for folder in (forked, repaired))
    assert "- [ ] All replicas hold the same records" in open_
    assert "- [x] All replicas hold the same records" in done
    assert "- [ ]" not in done


def test_no_name_is_told_when_redacted(forked: Path, before: Path) -> None:
    found = document(forked, "--baseline", before, "--redact")
    assert "orders" not in json.dumps(found["repair"])
    assert {one["topic"] for one in found["repair"]["partitions"]} == {"topic1"}
    assert "orders" not in scan(forked, "--baseline", before, "--redact")[1]


@pytest.mark.parametrize("format_name", ["json", "jsonl"])
def test_a_redacted_output_is_no_baseline(format_name: str, forked: Path, tmp_path: Path) -> None:
    """Its names are no names of another scan: each finding would be new, and each earlier one not shown."""
    file = tmp_path / "red"
    scan(forked, "--format", format_name, "--redact", "-o", file)
    with pytest.raises(BadBaseline, match=r"red: redacted, so its findings cannot be found again"):
        former_findings(str(file))
    assert isinstance(CliRunner().invoke(command, [str(forked), "--baseline", str(file)]).exception, BadBaseline)


def test_without_a_baseline_nothing_is_held_against_another_scan(sample_traces: Path) -> None:
    assert document(sample_traces / "written" / "healthy")["repair"] is None


def test_the_library_holds_a_scan_against_an_earlier_one(repaired: Path, forked: Path, before: Path) -> None:
    found = scanned(forked).against(before)
    assert found.safe == "no"
    assert found.findings.get_column("known").to_list() == [True] * 4
    assert scanned(repaired).against(before).safe == "yes"
    assert scanned(repaired).safe is None
    assert "PRODUCERS CAN GO BACK" in scanned(repaired).against(before).text()
