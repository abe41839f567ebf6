"""Who may import whom: the arrows between the folders go one way, and heavy libraries stay behind one door."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

# Each folder, and what it may know nothing of. A folder of forensics that is missing here fails a test below.
BLIND_TO: dict[str, tuple[str, ...]] = {
    "parsers": ("forensics",),
    "forensics.case": (
        "forensics.replay",
        "forensics.rules",
        "forensics.reports",
        "forensics.engines",
        "forensics.model",
        "forensics.cli",
    ),
    "forensics.replay": (
        "forensics.rules",
        "forensics.reports",
        "forensics.engines",
        "forensics.model",
        "forensics.cli",
    ),
    "forensics.collect": (
        "forensics.case",
        "forensics.replay",
        "forensics.rules",
        "forensics.reports",
        "forensics.engines",
        "forensics.model",
        "forensics.cli",
    ),
    "forensics.repaired": (
        "forensics.result",
        "forensics.reports",
        "forensics.engines",
        "forensics.model",
        "forensics.cli",
    ),
    "forensics.watching": ("forensics.reports", "forensics.engines", "forensics.model", "forensics.cli"),
    "forensics.salvage": ("forensics.reports", "forensics.engines", "forensics.model", "forensics.cli"),
    "forensics.rules": ("forensics.reports", "forensics.engines", "forensics.model", "forensics.cli"),
    "forensics.reports": ("forensics.engines", "forensics.model", "forensics.cli"),
    "forensics.engines": ("forensics.reports", "forensics.model", "forensics.cli"),
    "forensics.engines.stages": ("forensics.engines.pipeline", "forensics.engines.spark", "forensics.engines.pool"),
    "forensics.engines.pipeline": (
        "forensics.engines.spark",
        "forensics.engines.processes",
        "forensics.engines.workers",
        "forensics.engines.pool",
    ),
    "forensics.model": ("forensics.rules", "forensics.reports", "forensics.engines", "forensics.cli"),
    "forensics.cli": (),
    "forensics.testing": (),
}

# The folders of replay, each with those whose modules it may use. Modules beside the folders belong to none.
REPLAY_USES: dict[str, tuple[str, ...]] = {
    "facts": (),
    "traces": ("facts",),
    "roles": ("facts",),
    "leadership": ("facts", "roles"),
    "high_watermarks": ("facts", "roles", "leadership"),
    "omissions": ("facts", "roles", "leadership", "high_watermarks"),
    "committed": ("facts", "traces", "roles", "leadership", "high_watermarks", "omissions"),
    "truncations": ("facts", "traces", "roles", "leadership", "high_watermarks", "omissions", "committed"),
    "signs": ("facts", "traces", "roles", "leadership", "high_watermarks", "omissions", "committed"),
}

# Each fenced library, and the only modules (with those whose names begin so) that may import it.
ONLY_IN: dict[str, tuple[str, ...]] = {
    "pyspark": ("forensics.engines.spark",),
    "py4j": ("forensics.engines.spark",),
    "plotly": ("forensics.reports.html",),
    "click": ("forensics.cli",),
    "kafka": ("parsers.formats.records", "forensics.salvage.producing"),
    "pandas": (),
    "pytest": ("forensics.testing",),
}


def imported(source: str, module: str) -> set[str]:
    """Every name a module imports, wherever in it, also for types only and by ``importlib`` with a literal name."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                names.update(alias.name for alias in node.names)
            case ast.ImportFrom():
                base = node.module or ""
                if node.level:
                    base = ".".join([*module.split(".")[: -node.level], *([base] if base else [])])
                names.update(f"{base}.{alias.name}" for alias in node.names)
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module")
                | ast.Attribute(attr="import_module" | "__import__" | "find_spec"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                names.add(name)
            case _:
                pass
    return names


def within(name: str, package: str) -> bool:
    """Whether a dotted name is the package or lies in it."""
    return name == package or name.startswith(package + ".")


def broken_fences(source: str, module: str) -> list[str]:
    """What one module imports and may not."""
    names = imported(source, module)
    wrong = {
        (name, f"{folder} may know nothing of it")
        for folder, unknown in BLIND_TO.items()
        if within(module, folder)
        for name in names
        if any(within(name, package) for package in unknown)
    }
    wrong |= {
        (name, f"only {', '.join(doors) or 'nobody'} may import {library}")
        for library, doors in ONLY_IN.items()
        if not module.startswith(doors)
        for name in names
        if within(name, library)
    }
    return [f"{module} imports {name}: {why}" for name, why in sorted(wrong)]


def part(name: str) -> str:
    """The part of the house a name belongs to: ``forensics.rules.registry`` -> ``forensics.rules``."""
    return ".".join(name.split(".")[:2])


def circle(sources: dict[str, str]) -> list[str]:
    """A path of parts that import each other in a circle, or an empty list."""
    arrows: dict[str, set[str]] = {part(module): set() for module in sources}
    for module, source in sources.items():
        for name in imported(source, module):
            # `from forensics import __version__` reaches into the package itself
            target = part(name) if part(name) in arrows else name.partition(".")[0]
            if target in arrows and target != part(module):
                arrows[part(module)].add(target)

    def walk(path: list[str], done: set[str]) -> list[str]:
        for target in sorted(arrows[path[-1]] - done):
            if target in path:
                return [*path[path.index(target) :], target]
            if found := walk([*path, target], done):
                return found
        done.add(path[-1])
        return []

    done: set[str] = set()
    for start in sorted(arrows):
        if start not in done and (found := walk([start], done)):
            return found
    return []


def without_a_place(modules: Iterable[str]) -> set[str]:
    """Folders of forensics that BLIND_TO does not speak of."""
    return {part(module) for module in modules if module.count(".") >= 2 and within(module, "forensics")} - set(
        BLIND_TO
    )


def loaded_by(statement: str, repository: Path) -> set[str]:
    """Top-level modules that a fresh Python has loaded after a statement."""
    show = "print(*{name.partition('.')[0] for name in sys.modules})"
    said = subprocess.run(
        [sys.executable, "-c", f"import sys; {statement}; {show}"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert said.returncode == 0, f"`{statement}` failed:\n{said.stderr}"
    return set(said.stdout.split())


# -- the house -------------------------------------------------------------------------------------


def test_no_module_imports_what_it_may_not(sources: dict[str, str]) -> None:
    assert [line for module, source in sources.items() for line in broken_fences(source, module)] == []


def within_replay(name: str) -> str:
    """The folder of replay to which a name belongs, or "" if it belongs to none."""
    parts = name.split(".")
    return parts[2] if parts[:2] == ["forensics", "replay"] and len(parts) > 3 and parts[2] in REPLAY_USES else ""


def test_folders_of_replay_use_only_those_below_them(sources: dict[str, str]) -> None:
    found = {within_replay(f"{module}.") for module in sources} - {""}
    assert found == set(REPLAY_USES)
    wrong = [
        (module, name)
        for module, source in sources.items()
        if (folder := within_replay(f"{module}."))
        for name in imported(source, module)
        if within_replay(name) not in ("", folder, *REPLAY_USES[folder])
    ]
    assert wrong == []


def test_parts_do_not_import_each_other_in_a_circle(sources: dict[str, str]) -> None:
    assert circle(sources) == []


def test_every_folder_has_its_place_in_the_order(sources: dict[str, str]) -> None:
    assert without_a_place(sources) == set(), "new folder: say in BLIND_TO what it may know nothing of"


def test_nobody_imports_pandas(repository: Path, files: tuple[str, ...]) -> None:
    scripts = [name for name in files if name.endswith(".py")]
    guilty = [
        name
        for name in scripts
        if any(within(one, "pandas") for one in imported((repository / name).read_text(encoding="utf-8"), ""))
    ]
    assert guilty == []


REACHING_OUT = (
    *("asyncio", "dill", "ftplib", "http", "marshal", "pickle", "requests", "shelve", "smtplib", "socket", "ssl"),
    *("subprocess", "urllib.request", "xmlrpc"),
)
"""Modules that execute what they read, start processes, or use a network."""

REACHES_OUT = {
    ("forensics.cli.watch", "subprocess"): "starts the command that the user names",
    ("forensics.collect.bundle", "socket"): "asks for the name of this host",
    (
        "forensics.engines.pipeline.finishing",
        "pickle",
    ): "reads rows again that it has written to its own temporary file",
    ("forensics.engines.spark.session", "subprocess"): "asks Java for its release",
    ("forensics.engines.workers", "pickle"): "hands objects to its own processes",
    ("forensics.engines.workers", "subprocess"): "starts its own processes",
    ("forensics.testing.checks", "subprocess"): "starts this program to check a plugin",
}


def test_nothing_from_evidence_is_executed_and_no_network_is_used(sources: dict[str, str]) -> None:
    found = {
        (module, name)
        for module, source in sources.items()
        for name in imported(source, module)
        if any(within(name, one) for one in REACHING_OUT)
    }
    assert {(module, name.partition(".")[0]) for module, name in found} == set(REACHES_OUT)


def test_starting_the_command_line_loads_nothing_heavy(repository: Path, sources: dict[str, str]) -> None:
    if "forensics.cli" not in sources:
        pytest.skip("there is no forensics.cli yet")
    heavy = {"pyspark", "py4j", "plotly", "pandas", "pyarrow", "jinja2"}
    assert loaded_by("import forensics.cli", repository) & heavy == set()


# -- each guard can fail ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("parsers.text.extract", "from forensics import case"),
        ("parsers.text.extract", "import click"),
        ("parsers.formats.segment", "def f():\n    import pyspark.sql"),
        ("parsers.text.frames", "if TYPE_CHECKING:\n    import pandas as pd"),
        ("parsers.text.frames", "import importlib\nimportlib.import_module('plotly.offline')"),
        ("forensics.case.intake", "from forensics.replay.fold import replay"),
        ("forensics.replay.fold", "from forensics import rules"),
        ("forensics.replay.fold", "from ..rules import RULES"),
        ("forensics.rules.hw_regression", "import forensics.reports.text as text"),
        ("forensics.reports.text", "import forensics.engines"),
        ("forensics.engines.local", "from forensics.reports import REPORTS"),
        ("forensics.engines.local", "from pyspark.sql import SparkSession"),
        ("forensics.engines.stages.work", "from pyspark.sql import SparkSession"),
        ("forensics.engines.stages.work", "from forensics.engines.spark import frames"),
        ("forensics.reports.text", "import plotly"),
        ("forensics.errors", "from click import ClickException"),
        ("forensics.cli.scan", "__import__('pandas')"),
    ],
)
def test_a_broken_fence_is_seen(module: str, source: str) -> None:
    assert len(broken_fences(source, module)) >= 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("forensics.case.intake", "from parsers import schema\nimport polars as pl"),
        ("forensics.rules.hw_regression", "from forensics.replay import timeline"),
        ("forensics.engines.spark", "from pyspark.sql import DataFrame"),
        ("forensics.engines.spark.source", "import pyspark.sql.datasource"),
        ("forensics.reports.html.page", "from plotly.offline import get_plotlyjs"),
        ("forensics.cli.scan", "import click\nfrom forensics.reports import REPORTS"),
        ("parsers.formats.dump", "import clickhouse"),
    ],
)
def test_what_is_allowed_passes(module: str, source: str) -> None:
    assert broken_fences(source, module) == []


def test_a_folder_without_a_place_is_seen() -> None:
    assert without_a_place(["forensics.errors", "forensics.rules.a", "parsers.formats.b"]) == set()
    assert without_a_place(["forensics.plumbing.pipe"]) == {"forensics.plumbing"}


def test_a_circle_is_seen() -> None:
    one_way = {
        "forensics": "",
        "forensics.errors": "",
        "forensics.case.a": "from forensics import errors",
        "forensics.scan": "import forensics.case.a",
    }
    assert circle(one_way) == []
    back = one_way | {"forensics.errors": "def f():\n    from forensics.scan import scan"}
    assert circle(back) == ["forensics.case", "forensics.errors", "forensics.scan", "forensics.case"]
    over_the_package = {
        "forensics": "from forensics.scan import scan",
        "forensics.scan": "from forensics import __version__",
    }
    assert circle(over_the_package) == ["forensics", "forensics.scan", "forensics"]


def test_a_loaded_library_is_seen(repository: Path) -> None:
    assert "jinja2" in loaded_by("import jinja2", repository)
