"""Where things stand: every file is registered, none is a junk drawer or too long, and the wheel holds them all."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from forensics.pages import PAGES

# Package, the one tuple in it that lists its entries in order, and the files in it that hold no entry, with the reason.
REGISTRIES: tuple[tuple[str, str, dict[str, str]], ...] = (
    (
        "parsers.messages",
        "BUILT_IN",
        {
            "added": "takes in messages of plugins",
            "catalogue": "says what an entry is",
            "logs": "which log each message is of",
            "patterns": "parts of expressions",
        },
    ),
    (
        "parsers.formats",
        "FORMATS",
        {
            "metric_series": "series of exporters, as text and as JSON have them",
            "trace_checks": "what is wrong in a line of a trace",
            "trace_kinds": "which fields a line of a trace has",
        },
    ),
    (
        "forensics.rules",
        "BUILT_IN",
        {
            "added": "takes in rules of plugins",
            "causes": "the closed list of causes",
            "proof": "decides whether a finding is proven",
            "electable": "the steps that led to an election",
            "failed_disks": "advice about log directories that failed",
            "finding": "what a rule says",
            "group_resets": "advice about consumer groups that read lost records",
            "glossary": "words of Kafka, each explained",
            "acks": "what producers were promised of what is lost",
            "suspected": "what is suspected where a verdict is unknown",
            "known_problems": "what single lines state, which no rule judges",
            "client_lines": "what single lines state of producers and readers",
            "commands": "the commands of Kafka that steps advise, by release",
            "command_lines": "what the output of commands states",
            "of_quorum": "answers of the rules for the metadata log",
            "quorum_advice": "advice about changes that the metadata log lost",
            "quorum_lines": "what single lines state of the metadata quorum",
            "fetcher_lines": "what single lines state of followers that stopped fetching",
            "election_lines": "what single lines state of elections that failed",
            "leader_error_lines": "what single lines state of leaders that answered a fetch with an error",
            "replica_lines": "what single lines state of a replica's files, epochs and compaction",
            "routine_lines": "what single lines state that is routine",
            "suspect": "says what an entry of suspected is",
            "suspects": "the table of suspicions: each sign with its words",
            "suspected_by_copies": "what segments that differ suggest",
            "suspected_by_readers": "what positions of consumers and followers suggest",
            "problem_entry": "says what an entry of known_problems is",
            "stated_problems": "known problems that the lines of a case state",
            "rescue": "which copy of lost records to keep, and what to do next",
            "written": "when lost records were written",
            "story": "facts told alike in every finding",
            "unclean_setting": "what allowed an unclean election",
            "copying": "steps that copy logs, in the words of each system",
            "other_directories": "words for a broker that used other log directories before",
            "trace_wording": "words for wants where traces alone are the evidence",
            "wants": "what a rule asks for where it cannot tell",
            "wording": "words for what rules conclude",
        },
    ),
    (
        "forensics.reports",
        "BUILT_IN",
        {
            "comparison": "sets replicas on disk side by side, not a result",
            "advice": "what to keep and do of several findings, for several reports",
            "recovered": "what log recovery did where a line states corruption",
            "remarks": "sentences about a whole scan, for several reports",
            "answer": "the first sentences of every report for people",
            "incidents": "findings put together, for several reports",
            "collecting": "what to collect, for several reports",
            "wishes": "what to collect, for a terminal",
            "tally": "counts of rules, for several reports",
            "titles": "names of partitions and titles of findings, for several reports",
            "groups": "partitions to which the same happened, and their steps, for several reports",
            "elision": "long lines made short",
            "places": "what the paths of all evidence begin with",
            "terminal": "lines for a terminal",
            "redaction": "takes names out of a result before any report",
            "evidence_redaction": "takes names out of the evidence itself",
            "inspect_text": "says what files are, not a result",
            "repair": "sentences that several reports print",
            "salvage_text": "says what was salvaged, not a result",
            "timeline_text": "shows one partition, not a result",
            "timeline_steps": "the steps of findings in a timeline, and its lines for programs",
        },
    ),
)
JUNK_DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc", "shared", "stuff"}
LONGEST = 800


def entries_of(module: ModuleType, kinds: tuple[type, ...]) -> list[object]:
    """What a module defines that looks like an entry, directly or in a tuple, list or dict of its own."""
    found: list[object] = []
    for value in vars(module).values():
        if isinstance(value, dict):
            value = tuple(value.values())
        several = isinstance(value, tuple | list) and not isinstance(value, kinds)
        found += [one for one in (value if several else [value]) if isinstance(one, kinds)]
    return found


def made_of(entry: object) -> set[str]:
    """Modules that define the functions an entry holds."""
    slots = getattr(type(entry), "__slots__", ())
    return {
        value.__module__
        for name in slots
        if callable(value := getattr(entry, name, None)) and hasattr(value, "__module__")
    }


def listing_errors(registry: object, modules: dict[str, ModuleType], without_entries: dict[str, str]) -> list[str]:
    """What is wrong between a registry and the modules beside it (by file name, without underscore files).

    An entry of a registry is a module, or something a module defines: a function, a class, or an object that is found
    in the module's own names.
    """
    if not isinstance(registry, tuple) or not registry:
        return ["the registry is not a tuple with entries"]
    errors = [f"{name}: no such file, though the test excuses it" for name in without_entries if name not in modules]
    ids = [
        name
        for entry in registry
        if isinstance(name := next((getattr(entry, key, None) for key in ("id", "ID", "name", "NAME")), None), str)
    ]
    errors += sorted({f"{name}: listed twice" for name in ids if ids.count(name) > 1})
    listed = {id(entry) for entry in registry}
    # an object of these types outside the registry was forgotten; plain functions and modules may serve otherwise
    kinds = tuple({type(entry) for entry in registry} - {ModuleType, type, type(lambda: None), str, tuple, dict})
    for name, module in modules.items():
        if name in without_entries:
            continue
        own = entries_of(module, kinds)
        forgotten = [one for one in own if id(one) not in listed]
        errors += [f"{name}: {getattr(one, 'id', getattr(one, 'name', one))!s:.60} is not listed" for one in forgotten]
        if not (
            id(module) in listed
            or own
            or any(getattr(entry, "__module__", None) == module.__name__ for entry in registry)
            or any(id(value) in listed for value in vars(module).values())
            or any(module.__name__ in made_of(entry) for entry in registry)
        ):
            errors.append(f"{name}: not listed")
    return errors


def junk_drawers(names: list[str]) -> list[str]:
    """Python files and folders whose name says nothing of what is in them."""
    return [name for name in names if JUNK_DRAWERS & {part.removesuffix(".py") for part in name.split("/")}]


def too_long(texts: dict[str, str]) -> list[str]:
    """Files of more lines than one reads in one go."""
    return [f"{name}: {lines} lines" for name, text in texts.items() if (lines := len(text.splitlines())) > LONGEST]


# -- the house -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("package", "registry", "without_entries"), REGISTRIES, ids=[row[0] for row in REGISTRIES])
def test_every_file_is_registered(
    package: str, registry: str, without_entries: dict[str, str], files: tuple[str, ...], sources: dict[str, str]
) -> None:
    if package not in sources:
        pytest.skip(f"there is no {package}/__init__.py yet")
    folder = package.replace(".", "/")
    # a file, or a folder of files that counts as one
    names = {name.removeprefix(folder + "/").split("/")[0] for name in files if name.startswith(folder + "/")}
    stems = sorted(
        stem
        for name in names
        if not (stem := name.removesuffix(".py")).startswith("_")
        and (name.endswith(".py") or f"{package}.{stem}" in sources)
    )
    if not set(stems) - set(without_entries):
        pytest.skip(f"{package} has no entries yet")
    modules = {stem: importlib.import_module(f"{package}.{stem}") for stem in stems}
    listed = getattr(importlib.import_module(package), registry, None)
    assert listing_errors(listed, modules, without_entries) == []


def test_no_junk_drawers(files: tuple[str, ...]) -> None:
    assert junk_drawers([name for name in files if name.endswith(".py")]) == []


def test_no_python_file_is_too_long(repository: Path, files: tuple[str, ...]) -> None:
    texts = {name: (repository / name).read_text(encoding="utf-8") for name in files if name.endswith(".py")}
    assert too_long(texts) == []


def test_the_wheel_holds_both_packages_whole(repository: Path, files: tuple[str, ...], tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=repository, check=True, capture_output=True, timeout=600)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        points = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert "forensics = forensics.__main__:main" in archive.read(points).decode()
    ours = {name for name in files if name.startswith(("forensics/", "parsers/"))}
    assert {"forensics/py.typed", "parsers/py.typed"} <= ours
    ours |= {f"forensics/pages/{path}" for path in PAGES.values()}
    assert ours - inside == set(), "missing from the wheel"
    assert {name.partition("/")[0] for name in inside} == {"forensics", "parsers"}


def test_there_is_one_version(repository: Path, sources: dict[str, str]) -> None:
    declared = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert re.findall(r'^__version__ = "(.*)"$', sources["forensics.version"], re.MULTILINE) == [declared]


def test_the_ci_script_can_be_run(repository: Path) -> None:
    script = repository / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", str(script)], check=True, timeout=30)


# -- each guard can fail ---------------------------------------------------------------------------


class Entry:
    """Stands for a message, a format, a rule or a report."""

    def __init__(self, name: str) -> None:
        self.id = name


def house(**modules: dict[str, object]) -> dict[str, ModuleType]:
    """Modules of the given names and contents."""
    made = {}
    for name, content in modules.items():
        made[name] = ModuleType(name)
        vars(made[name]).update(content)
    return made


def test_an_unlisted_file_is_seen() -> None:
    one, two, three = Entry("one"), Entry("two"), Entry("three")
    modules = house(first={"RULE": one}, second={"MESSAGES": (two,)}, base={"Thing": Entry})
    assert listing_errors((one, two), modules, {"base": "says what an entry is"}) == []
    assert listing_errors((one, two), modules, {}) == ["base: not listed"]
    assert listing_errors((one,), modules, {"base": ""}) == ["second: two is not listed"]
    assert listing_errors((one, two), modules | house(third={"RULE": three}), {"base": ""}) == [
        "third: three is not listed"
    ]
    assert listing_errors((one, two), modules | house(third={"table": {"x": three}}), {"base": ""}) == [
        "third: three is not listed"
    ]
    assert listing_errors((one, Entry("one"), two), modules, {"base": ""}) == ["one: listed twice"]
    assert listing_errors((one, two), modules, {"base": "", "gone": ""}) == [
        "gone: no such file, though the test excuses it"
    ]
    assert listing_errors([one], modules, {}) == ["the registry is not a tuple with entries"]
    assert listing_errors((), modules, {}) == ["the registry is not a tuple with entries"]
    assert listing_errors(None, modules, {}) == ["the registry is not a tuple with entries"]


def test_modules_and_functions_may_be_entries() -> None:
    def find() -> None: ...

    find.__module__ = "second"
    modules = house(first={"NAME": "first"}, second={"find": find}, third={"find": SimpleNamespace()})
    assert listing_errors((modules["first"], find), modules, {}) == ["third: not listed"]


def test_a_junk_drawer_is_seen() -> None:
    assert junk_drawers(
        ["forensics/rules/utils.py", "parsers/common/x.py", "tests/helpers.py", "forensics/case/x.py"]
    ) == [
        "forensics/rules/utils.py",
        "parsers/common/x.py",
        "tests/helpers.py",
    ]


def test_a_long_file_is_seen() -> None:
    assert too_long({"long.py": "x\n" * (LONGEST + 1), "fits.py": "x\n" * LONGEST}) == [f"long.py: {LONGEST + 1} lines"]


def test_the_list_for_hosts_without_spark_is_all_but_spark(repository: Path) -> None:
    declared = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    lines = (repository / "packaging" / "jump-host.txt").read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if not line.startswith("#")]
    assert listed == [one for one in declared if not one.startswith(("pyspark", "pandas"))]
    assert len(listed) == len(declared) - 2
