"""How entries of plugins join a table: in one order, once, and not while modules are imported."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import forensics.plugins
from parsers import plugins
from parsers.containment import PluginFailed, contained
from parsers.plugins import Group, OtherPlugins, Table, Unfit
from tests.plugins.conftest import environment, installed


@pytest.fixture(autouse=True)
def unlooked() -> Iterator[None]:
    """Look at what is installed again, here and afterwards."""
    plugins._looked_up.cache_clear()
    yield
    plugins._looked_up.cache_clear()
    plugins._required.clear()


def table(behind: int = 0) -> Table[str]:
    def admit(entry: object, plugin: str) -> str:
        if not isinstance(entry, str):
            raise Unfit("is no text")
        return entry

    return Table(("one", "two"), Group.RULES, name=str, admit=admit, behind=behind)


def install(site: Path, monkeypatch: pytest.MonkeyPatch, **named: dict[str, str]) -> None:
    """Install distributions ``forensics-NAME``, each with rules ``id=value``."""
    for name, rules in named.items():
        module = f"rules_of_{name}"
        points = {rule: f"{module}:{rule.upper()}" for rule in rules}
        text = "".join(f"{rule.upper()} = {value}\n" for rule, value in rules.items())
        installed(site, f"Forensics_{name}", "1", {"forensics.rules": points}, **{module: text})
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.syspath_prepend(site)


def test_the_order_is_that_of_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, zoo={"a": '"za"'}, acme={"b": '"ab"', "a": '("a2", "a1")'})
    assert [*table()] == ["one", "two", "a2", "a1", "ab", "za"]
    assert [*table(behind=1)] == ["one", "a2", "a1", "ab", "za", "two"]
    assert table(behind=1).added == ("a2", "a1", "ab", "za")
    assert [one.title for one in plugins.installed()] == ["Forensics_acme 1", "Forensics_zoo 1"]


def test_an_id_is_of_the_first_that_claims_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, zoo={"a": '"same"'}, acme={"a": '("same", 7)'})
    assert [*table()] == ["one", "two", "same"]
    acme, zoo = plugins.installed()
    assert acme.problems == ("plugin Forensics_acme 1: rule a is left out: rules_of_acme:A is no text",)
    assert zoo.problems == ("plugin Forensics_zoo 1: rule a is left out: the id same is taken by Forensics_acme 1",)


@pytest.mark.parametrize(("value", "off"), [("1", True), ("true", True), ("", False), ("0", False), ("no", False)])
def test_they_can_be_left_out(value: str, off: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, acme={"a": '"a"'})
    joined = table()
    monkeypatch.setenv(plugins.ENVIRONMENT, value)
    assert [*joined] == (["one", "two"] if off else ["one", "two", "a"])
    assert len(plugins.installed()) == (0 if off else 1)


def test_damaged_metadata_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> Any:
        raise ValueError("no entry points")

    monkeypatch.setattr(plugins, "_entry_points", fails)
    assert [*table()] == ["one", "two"]


def test_a_worker_has_what_the_driver_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, acme={"a": '"a"'})
    monkeypatch.setenv(plugins.ENVIRONMENT, "1")  # of the worker: the driver decides
    plugins.require("Forensics_acme 1")
    assert not plugins.off()
    plugins.require("Forensics_acme 1")
    with pytest.raises(OtherPlugins, match="this worker has the plugins Forensics_acme 1, and the driver has none"):
        plugins.require("")
    plugins._required.clear()
    with pytest.raises(OtherPlugins, match="the driver has Forensics_acme 2: install the same"):
        plugins.require("Forensics_acme 2")
    plugins.require("")
    assert plugins.off()


def test_a_defect_of_a_plugin_keeps_its_name() -> None:
    from parsers.containment import Defect, guarded

    def fails() -> int:
        return int("x")

    def inner() -> int:
        return guarded(fails, "forensics-acme 1")()

    with pytest.raises(PluginFailed, match=r"plugin forensics-acme 1 at plugins/test_tables\.py:[0-9]+ \(ValueError"):
        inner()
    found = contained(inner)
    assert isinstance(found, Defect)
    assert found.plugin == "forensics-acme 1"
    assert found.place.startswith("plugins/test_tables.py:")


def test_importing_the_program_imports_no_plugin(repository: Path, tmp_path: Path) -> None:
    """Else the module of a plugin, which imports modules of the program, would be imported while it is imported."""
    groups = {group.value: {"x": "is_imported:X"} for group in Group}
    installed(tmp_path, "forensics-acme", "1", groups, is_imported="X = None\n")
    skipped = ("forensics.cli.", "forensics.__main__", "forensics.testing", "forensics.engines.spark")
    files = [
        path.relative_to(repository) for top in ("forensics", "parsers") for path in (repository / top).rglob("*.py")
    ]
    names = sorted(".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in files)
    modules = [name for name in names if not name.startswith(skipped)]
    code = f"import sys\nfor name in {modules}: __import__(name)\nassert 'is_imported' not in sys.modules"
    code += "\nfrom parsers.read import TAKERS\nlen(TAKERS)\nassert 'is_imported' in sys.modules"
    env = environment(repository, tmp_path)
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_what_is_stable_is_there_and_documented(repository: Path) -> None:
    text = (repository / "docs" / "plugins.md").read_text("utf-8").partition("## What is stable")[2]
    listed = re.findall(r"`(\w+)`", text.partition("The four groups")[0].partition("\n- ")[2])
    assert sorted(listed) == sorted(forensics.plugins.__all__)
    for name in forensics.plugins.__all__:
        assert getattr(forensics.plugins, name) is getattr(import_module(forensics.plugins._MODULES[name]), name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = forensics.plugins.nothing
