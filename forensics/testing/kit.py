"""A plugin of pytest: ``pytest --forensics-rule ID`` runs the checks of this project on a rule.

It imports the program only where a test asks for it: pytest loads this module in every run of an environment that has
forensics.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from forensics.result import Result
    from forensics.rules.finding import Rule

CHECKS = Path(__file__).with_name("checks.py")

Scan = Callable[[Path], "Result"]


class Examples(NamedTuple):
    """Evidence that the author of a rule has for it.

    Attributes:
        folder: where it is looked for.
        violated, clean: files and folders, each evidence by itself.
    """

    folder: Path
    violated: list[Path]
    clean: list[Path]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("forensics", "rules of forensics")
    group.addoption(
        "--forensics-rule",
        action="append",
        default=[],
        metavar="ID",
        help="Check a rule that is installed, of a plugin or not. May be repeated.",
    )
    group.addoption(
        "--forensics-examples",
        default="tests/examples",
        metavar="DIR",
        help="Evidence for rules: DIR/ID/violated/NAME and DIR/ID/clean/NAME. Default: tests/examples.",
    )
    group.addoption(
        "--forensics-samples",
        action="append",
        default=[],
        metavar="DIR",
        help="More evidence on which the rule must not fail: each file and folder in DIR. May be repeated.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect the checks where a rule is named."""
    if config.getoption("forensics_rule") and str(CHECKS) not in config.args:
        config.args.append(str(CHECKS))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each check for each rule that is named."""
    if "forensics_rule" in metafunc.fixturenames:
        metafunc.parametrize("forensics_rule", metafunc.config.getoption("forensics_rule"), indirect=True)


@pytest.fixture
def forensics_rule(request: pytest.FixtureRequest) -> Rule:
    """The rule that is checked."""
    from forensics.result import plugins_asked
    from forensics.rules import RULES

    found = next((rule for rule in RULES if rule.id == request.param), None)
    if found is None:
        why = [said for plugin in plugins_asked() for said in plugin.problems]
        there = ", ".join(rule.id for rule in RULES)
        pytest.fail(f"no rule {request.param}: install its package; there is {there}. {' '.join(why)}", pytrace=False)
    return found


@pytest.fixture(scope="session")
def forensics_scan() -> Scan:
    """Return a function that scans evidence as ``forensics scan`` does; the same evidence is scanned once."""
    from forensics.engines import local

    known: dict[Path, Result] = {}

    def scan(path: Path) -> Result:
        if path not in known:
            known[path] = local.scan([str(path)])
        return known[path]

    return scan


@pytest.fixture
def forensics_examples(request: pytest.FixtureRequest, forensics_rule: Rule) -> Examples:
    """The evidence that its author has for the rule."""
    folder = request.config.rootpath / request.config.getoption("forensics_examples") / forensics_rule.id

    def within(name: str) -> list[Path]:
        return sorted((folder / name).iterdir()) if (folder / name).is_dir() else []

    return Examples(folder, within("violated"), within("clean"))


@pytest.fixture(scope="session")
def forensics_stories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Evidence of every story of the reference model, by its name."""
    from forensics.model.scenarios import SCENARIOS

    folder = tmp_path_factory.mktemp("stories")
    for one in SCENARIOS:
        one.run("epoch").write(folder / one.name, logging="default")
        for beside in ("trace.jsonl", "truth.json", "events.jsonl"):
            (folder / one.name / beside).unlink()
    return {one.name: folder / one.name for one in SCENARIOS}


@pytest.fixture(scope="session")
def forensics_samples(request: pytest.FixtureRequest, forensics_stories: dict[str, Path]) -> list[Path]:
    """Evidence on which no rule may fail: the stories, and what ``--forensics-samples`` names."""
    given = [Path(one) for one in request.config.getoption("forensics_samples")]
    return [*forensics_stories.values(), *(path for one in given for path in sorted(one.iterdir()))]
