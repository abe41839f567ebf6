"""The Containerfile copies what exists and what its ignore file lets through; without a builder CI says so."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path


def test_what_is_copied_is_there_and_not_ignored(repository: Path) -> None:
    text = (repository / "packaging" / "Containerfile").read_text("utf-8")
    copied = [
        word for line in re.findall(r"(?m)^COPY (?!--from)(.*)$", text) for word in line.split()[:-1]
    ]  # the last is the target
    assert {"forensics", "parsers", "pyproject.toml"} <= set(copied)
    assert [name for name in copied if not (repository / name).exists()] == []
    ignored = (repository / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in ignored
    assert [name for name in copied if f"!{name}" not in ignored] == []
    assert [name for name in re.findall(r"-r (\S+)", text) if not (repository / name).is_file()] == []


def test_each_stage_that_is_named_exists(repository: Path) -> None:
    text = (repository / "packaging" / "Containerfile").read_text("utf-8")
    stages = re.findall(r"(?m)^FROM \S+ AS (\S+)$", text)
    named = re.findall(r"(?m)^COPY --from=(\S+) |^FROM ([a-z-]+) AS", text)
    assert {one or other for one, other in named} <= set(stages)
    assert stages[-1] == "scanner"  # what is built if no target is named
    pages = [(repository / "docs" / "installing.md").read_text("utf-8"), text]
    assert {target for page in pages for target in re.findall(r"--target ([a-z-]+)", page)} == {"batch"} <= set(stages)


def test_without_a_builder_the_image_is_not_built_and_ci_goes_on(repository: Path, tmp_path: Path) -> None:
    for name in ("bash", "dirname", "sed"):
        program = shutil.which(name)
        assert program is not None
        (tmp_path / name).symlink_to(program)
    done = subprocess.run(
        [repository / ".ci" / "image"], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ".ci/image: no podman or docker here: the image is not built\n")


def test_an_image_that_answers_otherwise_fails(repository: Path, tmp_path: Path) -> None:
    builder = tmp_path / "podman"
    builder.write_text('#!/bin/sh\necho "$@" >> "$0.said"\n', "utf-8")  # everything succeeds, so no scan finds a loss
    builder.chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    done = subprocess.run(
        [repository / ".ci" / "image"], env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "1 was expected, as data was lost" in done.stdout
    said = (tmp_path / "podman.said").read_text("utf-8")
    assert "build --build-arg PYTHON=docker.io/library/python:" in said
    assert "run --rm --network none -v" in said
