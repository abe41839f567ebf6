"""What every test may ask for: evidence, Java, Chromium, and the rules that hold for the whole run."""

from __future__ import annotations

import gc
import math
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

import hypothesis
import pytest
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider
from hypothesis.internal.constants_ast import Constants

from tools.samples import unpacked

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from forensics.result import Result

ROOT = Path(__file__).resolve().parent.parent
_T = TypeVar("_T")

EVERYTHING = bool(os.environ.get("CI"))
"""Runs what is done to many cases alike on all of them; else on a share."""
SHARE = 12


def alike(cases: Iterable[_T], one_in: int = 3) -> list[_T]:
    """Return every third of some cases that are tried in the same way; all of them with CI=1."""
    return [*cases][:: 1 if EVERYTHING else one_in]


MANY = 4
ALIKE = {
    re.compile(r"tests/(?:cases|cli|engines|model|parsers|reports(?:/html)?)/test_\w+[.]py::"): 2,
    re.compile(r"tests/(?:case|docs|repaired|replay|rules)/test_\w+[.]py::"): MANY,
}
"""Tests whose variants are scans of one kind of another evidence, or runs of it under another protocol: one in
``APART`` of a test's is run, if it has so many.
"""
APART = 6
OF_A_CLUSTER = re.compile(r"tests/(?:cases|repaired)/test_\w+[.]py::\w+\Z")
"""Tests of what one recorded cluster shows, which scan it whole: one in two is run."""


def in_full(why: str) -> pytest.MarkDecorator:
    """Mark a test that takes long, and is close to others: it is run with CI=1.

    Args:
        why: which of its behaviours is tried without it.
    """
    return pytest.mark.skipif(not EVERYTHING, reason=f"with CI=1: {why}")


SPARK = tuple(f"tests/engines/test_spark{name}.py" for name in ("", "_connect", "_source"))
"""Files with tests that start Spark."""

SITE = "tests/docs/test_site.py"
"""Its tests look at one site, which is built once."""

# Tests run in a zone that no other machine is likely to be in (UTC+12:45, with summer time): code that reads the local
# clock's zone gives other answers here. TZ=... in the environment wins.
os.environ.setdefault("TZ", "Pacific/Chatham")
time.tzset()

# Processes that share the cores gain nothing from more threads of Polars than there are cores for each. With CI=1 there
# are as many as users have. (Polars asks when it is first imported.)
if (processes := os.environ.get("PYTEST_XDIST_WORKER_COUNT")) and not EVERYTHING:
    os.environ.setdefault("POLARS_MAX_THREADS", str(max(1, (os.cpu_count() or 1) // int(processes))))


class Repeatable(HypothesisProvider):
    """Draws examples without the constants of the modules that happen to be imported.

    Hypothesis mixes constants from this project's modules into its examples, so which ones it tries depends on the
    tests that a worker ran before. ``derandomize`` alone does not change that (seen with Hypothesis 6.170).
    """

    _local_constants = Constants()


AVAILABLE_PROVIDERS["repeatable"] = "tests.conftest.Repeatable"

# No deadline: a busy machine is not a bug. Each run tries the same examples, so that a failure is of the change under
# test; the profile "explore" tries new ones.
hypothesis.settings.register_profile("explore", max_examples=2000, deadline=None, print_blob=True)
for profile, examples in (("dev", 20), ("ci", 300)):
    hypothesis.settings.register_profile(
        profile, max_examples=examples, deadline=None, derandomize=True, print_blob=True, backend="repeatable"
    )
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


# -- Java and Chromium -----------------------------------------------------------------------------


@cache
def why_no_java() -> str | None:
    """Why Spark cannot start here, or None if it can."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None:
        return "no `java` on the PATH and no JAVA_HOME: Spark needs Java 17 or newer"
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=True, timeout=60).stderr
    except (OSError, subprocess.SubprocessError) as error:
        return f"`{java} -version` failed: {error}"
    return java_too_old(said)


def java_too_old(said: str) -> str | None:
    """What is wrong with the Java that printed ``said`` for ``-version``, or None."""
    quoted = said.partition('"')[2].partition('"')[0]
    major = quoted.partition(".")[0].partition("-")[0]
    if not major.isdecimal():
        return f"cannot tell Java's version from: {said[:80]!r}"
    return None if int(major) >= 17 else f"Java {quoted} found: Spark needs 17 or newer"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    """Sends all tests of one ``group`` to one worker.

    From pytest 9.2 on xdist 3.8 no longer sees ``xdist_group``, and nothing says so: pytest-xdist issue 1386.
    """
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group(nodeid)

    return Groups(config, log)


@cache
def _recorded() -> re.Pattern[str]:
    names = sorted({folder.name for folder in traces()}, key=len, reverse=True)
    return re.compile(rf"[\[-](?:sample_traces|evidence)/({'|'.join(map(re.escape, names))})(?=[\]-])")


def group(test: str) -> str:
    """Tests that start Spark, and share a session or at least a JVM; those of the site; those of one recorded cluster.

    Else those of one function: with a group for each of 14,000 tests, xdist takes longer to hand them out than most of
    them run. Runs of the model are long, and each is a group.
    """
    if test.partition("::")[0] in SPARK:
        return "spark"
    if test.startswith(SITE):
        return "site"
    found = _recorded().search(test)
    if found is not None:
        return found[1]
    return test if test.startswith("tests/model/") else test.partition("[")[0]


@pytest.hookimpl(trylast=True)  # after -k and -m
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves to CI=1 most variants of a test that has many, and half of the tests of recorded clusters."""
    variants: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not EVERYTHING and item.nodeid.endswith("]"):
            variants.setdefault(item.nodeid.partition("[")[0], []).append(item)
    least = {test: next((least for folder, least in ALIKE.items() if folder.match(test)), None) for test in variants}
    many = {test: found for test, found in variants.items() if len(found) >= (least[test] or math.inf)}
    keep = {
        id(item)
        for test, found in many.items()
        for item in found[crc32(test.encode()) % min(APART, len(found)) :: APART]
    }
    left = {id(item) for found in many.values() for item in found} - keep
    if not EVERYTHING:
        left |= {id(item) for item in items if OF_A_CLUSTER.match(item.nodeid) and crc32(item.nodeid.encode()) % 2}
    if left:
        config.hook.pytest_deselected(items=[item for item in items if id(item) in left])
        items[:] = [item for item in items if id(item) not in left]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Sets aside what stays until the end, thousands of tests above all: else the collector walks it over and over."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)  # before any fixture reads a file or tries to start Spark
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Lets scans share what they read where reading is not the matter.

    Skips Spark tests where there is no Java, or fails them if FORENSICS_REQUIRE_JAVA=1 says there must be one.
    """
    from tests import reading_once

    reading_once.remember(item.path.relative_to(ROOT / "tests").parts[0])
    if item.get_closest_marker("spark") and (reason := why_no_java()):
        if os.environ.get("FORENSICS_REQUIRE_JAVA") == "1":
            pytest.fail(f"{reason} (FORENSICS_REQUIRE_JAVA=1: no skip)", pytrace=False)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a process, that talks to nobody; mark such tests with ``browser``.

    Playwright starts once in a process: a second start beside the first is refused.
    """
    from playwright.sync_api import sync_playwright

    names = (os.environ.get("FORENSICS_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no Chromium on the PATH: install Debian's `chromium` or set FORENSICS_CHROMIUM")
    arguments = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path,
            args=[*arguments, "--disable-default-apps", "--no-first-run", "--disable-gpu"],
        )
        yield started
        started.close()


# -- evidence --------------------------------------------------------------------------------------


def evidence_root() -> Path | None:
    """The folder with one folder for each recorded cluster, or None where it is absent."""
    set_by_hand = os.environ.get("FORENSICS_EVIDENCE")
    folder = Path(set_by_hand) if set_by_hand else ROOT.parent / "shared" / "evidence"
    if set_by_hand and not folder.is_dir():
        raise pytest.UsageError(f"FORENSICS_EVIDENCE={set_by_hand} is not a folder")
    return folder if folder.is_dir() else None


NO_EVIDENCE = "no evidence folder: ../shared/evidence is absent and FORENSICS_EVIDENCE is not set"


@pytest.fixture(scope="session")
def evidence() -> Path:
    """The folder with one folder for each recorded cluster. Read only."""
    root = evidence_root()
    if root is None:
        pytest.skip(NO_EVIDENCE)
    return root


def traces() -> list[Path]:
    """Every recorded cluster whose truth is known: the samples, then what lies in the evidence folder."""
    folders = [unpacked(), evidence_root()]
    return [truth.parent for folder in folders if folder for truth in sorted(folder.glob("*/truth.json"))]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a test that asks for ``evidence_case``, ``sample`` or ``trace`` once for each recorded cluster.

    ``evidence_case`` is a folder of the evidence, ``sample`` one of the samples, ``trace`` either. ``some_sample`` and
    ``some_trace`` are every twelfth of them, each test another twelfth, and all with CI=1.
    """
    for name in ("sample", "some_sample", "trace", "some_trace"):
        if name in metafunc.fixturenames:
            found = [one for one in traces() if name.endswith("trace") or one.parent.name == "sample_traces"]
            if name.startswith("some_") and not EVERYTHING:
                found = found[crc32(metafunc.function.__name__.encode()) % SHARE :: SHARE]
            metafunc.parametrize(
                name,
                [pytest.param(one, id=f"{one.parent.name}/{one.name}") for one in found],
                scope="session",  # so that all tests of one cluster run one after another
            )
    if "evidence_case" not in metafunc.fixturenames:
        return
    root = evidence_root()
    cases = sorted(case for case in root.iterdir() if case.is_dir()) if root else []
    params = [pytest.param(case, id=case.name) for case in cases]
    metafunc.parametrize(
        "evidence_case", params or [pytest.param(None, id="absent", marks=pytest.mark.skip(reason=NO_EVIDENCE))]
    )


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def sample_traces() -> Path:
    """The traces that ship with the repository, all as folders: always there."""
    return unpacked()


@lru_cache(maxsize=32)
def _scan(folder: Path) -> Result:
    from forensics.engines.local import scan

    return scan([str(folder)])


@pytest.fixture(scope="session")
def scanned() -> Callable[[Path], Result]:
    """Scans a folder as ``forensics scan`` does, once for all tests that ask. Nobody may change the result."""
    return _scan


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Name a test by its bytes' length, not their content: compressed bytes carry the time they were made."""
    return f"{argname}{len(val)}" if isinstance(val, bytes | bytearray) else None
