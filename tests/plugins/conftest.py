"""Packages as pip would install them, into folders of their own, and the program in a process that has them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from parsers.plugins import ENVIRONMENT
from tests.cli.conftest import Ran

START = """
import contextlib, io, json, sys, traceback
from forensics.cli import main
ran = []
for arguments in json.load(sys.stdin):
    out, err, code = io.StringIO(), io.StringIO(), 0
    sys.argv = ["forensics", *arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(prog_name="forensics")
        except SystemExit as stopped:
            code = stopped.code or 0
    ran.append((code, out.getvalue(), err.getvalue()))
json.dump(ran, sys.stdout)
"""
"""Runs several commands in one process, as importing the program takes longer than what they do."""


Run = Callable[..., list[Ran]]


@pytest.fixture(autouse=True)
def not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test in the same process may have run what a worker runs, which leaves plugins out from then on."""
    monkeypatch.delenv(ENVIRONMENT, raising=False)


@pytest.fixture(scope="session")
def template(repository: Path) -> Path:
    return repository / "packaging" / "plugin-template"


@pytest.fixture(scope="session")
def acme(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template, built and installed."""
    wheels, site = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(wheels)]
    subprocess.run(build, cwd=template, check=True, capture_output=True, timeout=600)
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


@pytest.fixture(scope="session")
def examples(template: Path) -> Path:
    return template / "tests" / "examples" / "acme-volume-detached"


def environment(repository: Path, *sites: Path, **more: str) -> dict[str, str]:
    path = os.pathsep.join(map(str, [*sites, repository]))
    inherited = {name: value for name, value in os.environ.items() if name != ENVIRONMENT}
    return inherited | {"PYTHONPATH": path, "COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "1"} | more


@pytest.fixture(scope="session")
def run(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs commands of the program in one process that has some packages installed."""
    folder = tmp_path_factory.mktemp("working")

    def runs(*commands: tuple[object, ...], sites: tuple[Path, ...] = (), **more: str) -> list[Ran]:
        ran = subprocess.run(
            [sys.executable, "-c", START],
            input=json.dumps([[str(one) for one in command] for command in commands]),
            env=environment(repository, *sites, **more),
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert ran.returncode == 0, ran.stderr
        return [Ran(*one) for one in json.loads(ran.stdout)]

    return runs


def installed(site: Path, name: str, version: str, groups: dict[str, dict[str, str]], **modules: str) -> None:
    """Put a distribution into a folder: its metadata, its entry points and its modules."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    points = [f"[{group}]\n" + "".join(f"{n} = {at}\n" for n, at in named.items()) for group, named in groups.items()]
    (info / "entry_points.txt").write_text("\n".join(points))
    for module, text in modules.items():
        (site / f"{module}.py").write_text(text)
