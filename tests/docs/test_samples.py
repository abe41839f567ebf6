"""The table of the samples: a row for each, and the rules that a row names find something there."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.result import Result
from forensics.rules import RULES
from tools import samples
from tools.samples import PACKED, names

ROW = re.compile(r"(?m)^\| \[([^\]]+)\]\(([^)]+)\) \|([^|]*)\|([^|]*)\|([^|]*)\|$")


@pytest.fixture(scope="module")
def rows(sample_traces: Path) -> dict[str, tuple[str, ...]]:
    found = ROW.findall((sample_traces / "README.md").read_text("utf-8"))
    return {name: tuple(cell.strip() for cell in cells) for name, *cells in found}


def test_each_sample_has_a_row(rows: dict[str, tuple[str, ...]], repository: Path) -> None:
    links = {
        name: f"{name}{PACKED}" if (repository / "sample_traces" / f"{name}{PACKED}").exists() else f"{name}/README.md"
        for name in names()
        if name != "written"
    }
    assert {name: cells[0] for name, cells in rows.items()} == links
    assert [name for name, cells in rows.items() if not all(cells)] == []


def test_each_sample_tells_what_happened(sample_traces: Path) -> None:
    assert [name for name in names() if not (sample_traces / name / "README.md").is_file()] == []


def test_a_packed_sample_has_the_answers_of_its_folder(sample_traces: Path, repository: Path) -> None:
    for name in ("emptydisk-3.9.1", "powerloss-0.11.0.3"):
        packed = scan([str(repository / "sample_traces" / f"{name}{PACKED}")])
        folder = scan([str(sample_traces / name)])
        for one, other in zip(packed.partitions, folder.partitions, strict=True):
            answers = [{rule: each.verdict for rule, each in part.judgements.items()} for part in (one, other)]
            assert answers[0] == answers[1]
        assert [one.summary for one in packed.findings] == [one.summary for one in folder.findings]


def test_samples_are_unpacked_once_and_anew_when_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = tmp_path / "sample_traces"
    (shipped / "plain").mkdir(parents=True)
    (shipped / "plain" / "a.log").write_text("a")
    with tarfile.open(shipped / f"packed{PACKED}", "w:xz") as archive:
        archive.add(shipped / "plain" / "a.log", "packed/b.log")
    monkeypatch.setattr(samples, "ROOT", tmp_path)
    monkeypatch.setattr(samples, "SHIPPED", shipped)
    made = samples.unpacked.__wrapped__()
    assert sorted(str(one.relative_to(made)) for one in made.rglob("*.log")) == ["packed/b.log", "plain/a.log"]
    (made / "plain" / "mine").touch()
    assert (samples.unpacked.__wrapped__() / "plain" / "mine").exists()
    (shipped / "plain" / "c.log").write_text("c")
    again = samples.unpacked.__wrapped__()
    assert (again / "plain" / "c.log").exists()
    assert [one.name for one in again.parent.parent.iterdir()] == [again.parent.name]
    assert samples.names() == ["packed", "plain"]
    with pytest.raises(FileExistsError):
        samples.unpack(again)


def test_the_rules_that_a_row_names_find_something(
    some_sample: Path, rows: dict[str, tuple[str, ...]], scanned: Callable[[Path], Result]
) -> None:
    named = set(re.findall(r"`([a-z-]+)`", rows[some_sample.name][-1])) & {rule.id for rule in RULES}
    found = {finding.rule for finding in scanned(some_sample).findings}
    assert named - found == set()
