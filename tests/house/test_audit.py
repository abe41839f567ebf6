"""What an installation brings along: its licences are accepted, and the audit sees what it should."""

from __future__ import annotations

import importlib.util
import json
from importlib.metadata import Distribution
from pathlib import Path
from types import ModuleType

import pytest

VERSION = "1.0"


class Package(Distribution):
    """A package that is only its metadata."""

    def __init__(self, name: str, *fields: tuple[str, str]) -> None:
        self._text = "\n".join(f"{key}: {value}" for key, value in (("Name", name), ("Version", VERSION), *fields))

    def read_text(self, filename: str) -> str | None:
        return self._text if filename == "METADATA" else None

    def locate_file(self, path: object) -> Path:
        return Path(str(path))


@pytest.fixture(scope="module")
def audit(repository: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", repository / ".ci" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_licence_of_what_is_brought_along_is_accepted(audit: ModuleType) -> None:
    packages = audit.needed()
    assert {"pyspark", "polars", "click", "plotly", "py4j"} <= set(packages)
    assert not {"forensics", "pytest", "ruff", "fsspec"} & set(packages)
    assert audit.unlicensed(packages.values()) == []


def test_each_licence_of_what_builds_the_site_is_accepted(audit: ModuleType) -> None:
    packages = audit.for_the_site()
    assert {"mkdocs", "mkdocs-material", "markdown", "pathspec"} <= set(packages)
    assert audit.unlicensed(packages.values(), audit.FOR_THE_SITE) == []
    assert not {"mkdocs", "mkdocs-material"} & set(audit.needed())
    assert audit.unlicensed([Package("x", ("License-Expression", "MPL-2.0"))]) == ["x 1.0: MPL-2.0"]
    assert audit.unlicensed([Package("x", ("License-Expression", "GPL-3.0-only"))], audit.FOR_THE_SITE) != []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ([("License-Expression", "MIT AND (Apache-2.0 OR BSD-3-Clause)")], []),
        ([("License-Expression", "MIT AND GPL-3.0-only")], ["x 1.0: GPL-3.0-only"]),
        ([("Classifier", "License :: OSI Approved :: MIT License")], []),
        ([("Classifier", "License :: Other/Proprietary License")], ["x 1.0: Other/Proprietary License"]),
        ([("License", "Apache-2.0")], []),
        ([], ["x 1.0: none given"]),
    ],
)
def test_a_licence_that_is_not_on_the_list(fields: list[tuple[str, str]], said: list[str], audit: ModuleType) -> None:
    assert audit.unlicensed([Package("x", *fields)]) == said


def test_vulnerabilities_are_named_and_what_was_not_looked_up_is_counted(audit: ModuleType) -> None:
    report = {
        "dependencies": [
            {"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["1.1", "2.0"]}]},
            {"name": "b", "version": "1", "vulns": [{"id": "CVE-2", "fix_versions": []}]},
            {"name": "c", "version": "1", "vulns": []},
            {"name": "d", "skip_reason": "not found"},
        ]
    }
    assert audit.vulnerable(json.dumps(report)) == (
        ["a 1: CVE-1, repaired in 1.1, 2.0", "b 1: CVE-2, repaired in no version"],
        ["d"],
    )


@pytest.mark.parametrize(("report", "code"), [("", 0), ('{"dependencies": []}', 0)])
def test_a_database_out_of_reach_is_said(
    report: str, code: int, audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "audited", lambda _names: report)
    assert audit.main([]) == code
    assert ("could be reached" in capsys.readouterr().out) is (report == "")


def test_a_vulnerability_fails(audit: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    flaw = {"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}
    monkeypatch.setattr(audit, "audited", lambda _names: json.dumps({"dependencies": [flaw]}))
    assert audit.main([]) == 1


def test_the_bill_lists_every_package_and_what_it_needs(audit: ModuleType, tmp_path: Path) -> None:
    assert audit.main(["--sbom", str(tmp_path / "dist" / "forensics.cdx.json")]) == 0
    bill = json.loads((tmp_path / "dist" / "forensics.cdx.json").read_text("utf-8"))
    assert {one["name"].lower().replace("_", "-") for one in bill["components"]} == set(audit.needed())
    assert all(one["version"] and one["licenses"] and one["purl"] for one in bill["components"])
    needs = {one["ref"].partition("==")[0]: one.get("dependsOn", []) for one in bill["dependencies"]}
    assert any(one.startswith("polars==") for one in needs["forensics"])
    assert any(one.startswith("py4j==") for one in needs["pyspark"])
