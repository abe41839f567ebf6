"""What the README promises: its commands exist, its links lead somewhere, the output it shows is today's."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tools.site import reference

OUTPUT = re.compile(
    r"^<!-- output of: (?P<command>[^\n]+?) -->\n```[a-z]*\n(?P<text>.*?)```\n<!-- end of output -->$",
    re.MULTILINE | re.DOTALL,
)
TO_COME = "to come\n"


def commands(text: str, program: str) -> set[str]:
    """First words after a program's name, in code of a Markdown text: ``make demo`` -> ``demo``."""
    code = [
        *re.findall(r"^```(?:sh|bash|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL),
        *re.findall(r"`([^`\n]+)`", text),
    ]
    return {word for piece in code for word in re.findall(rf"(?:^|[\s;&|/]){program} +([a-z][a-z-]*)", "\n" + piece)}


def targets(makefile: str) -> set[str]:
    """Targets of a Makefile that say what they do."""
    return set(re.findall(r"^([a-z][a-z-]*):.*## ", makefile, re.MULTILINE))


def dead_links(text: str, folder: Path, made: frozenset[Path] = frozenset()) -> list[str]:
    """Relative links of a Markdown text that lead to no file, nor to a page that is made when the site is built."""
    links = [link for link in re.findall(r"\]\(([^)\s#]+)[^)]*\)", text) if "://" not in link]
    return [link for link in links if not (folder / link).exists() and (folder / link).resolve() not in made]


def subcommands(repository: Path) -> set[str]:
    """Names of the tool's commands, from its own help."""
    said = subprocess.run(
        [sys.executable, "-c", "from forensics.cli import main; main(prog_name='forensics')", "--help"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    return set(re.findall(r"^  ([a-z][a-z-]*)(?:\s|$)", said.partition("Commands:")[2], re.MULTILINE))


@pytest.fixture(scope="module")
def readme(repository: Path) -> str:
    return (repository / "README.md").read_text(encoding="utf-8")


# -- the house -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_make_command_is_a_target(name: str, repository: Path) -> None:
    named = commands((repository / name).read_text(encoding="utf-8"), "make")
    assert named
    assert named - targets((repository / "Makefile").read_text(encoding="utf-8")) == set()


def test_every_command_of_the_tool_exists(repository: Path, readme: str, sources: dict[str, str]) -> None:
    named = commands(readme, "forensics")
    assert {"scan", "explain"} <= named
    if "forensics.cli" not in sources:
        pytest.skip("there is no forensics.cli yet")
    assert named - subcommands(repository) == set()


def test_links_lead_somewhere(repository: Path, files: tuple[str, ...]) -> None:
    pages = [repository / name for name in files if name.endswith(".md")]
    made = frozenset(repository.resolve() / "docs" / name for name in reference.NAMES)
    dead = {
        str(page.relative_to(repository)): dead_links(page.read_text(encoding="utf-8"), page.parent, made)
        for page in pages
    }
    assert {page: links for page, links in dead.items() if links} == {}


def test_the_output_shown_is_the_output_of_today(repository: Path, readme: str) -> None:
    shown = list(OUTPUT.finditer(readme))
    assert shown, "README.md shows no output: the markers are missing"
    if any(match["text"] == TO_COME for match in shown):
        pytest.skip("README.md has a place for real output that is still empty")
    for match in shown:
        program, *arguments = shlex.split(match["command"])
        assert program == "forensics"
        printed = subprocess.run(
            [sys.executable, "-c", "from forensics.cli import main; main(prog_name='forensics')", *arguments],
            cwd=repository,
            env=os.environ | {"COLUMNS": "120", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        ).stdout
        assert match["text"] == printed, f"README.md: `{match['command']}` prints something else now"


def test_make_help_lists_what_can_be_made(repository: Path) -> None:
    printed = subprocess.run(
        ["make", "help"], cwd=repository, capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert set(re.findall(r"make ([a-z-]+)", printed)) == targets((repository / "Makefile").read_text(encoding="utf-8"))


# -- each guard can fail ---------------------------------------------------------------------------


def test_a_command_that_is_no_target_is_seen() -> None:
    text = (
        "Run `make demo`, then:\n"
        "```sh\ncd x && make polish\n.venv/bin/forensics scan x\n```\n"
        "to make sure, `forensics explain`."
    )
    assert commands(text, "make") == {"demo", "polish"}
    assert commands(text, "forensics") == {"scan", "explain"}
    assert targets("demo: setup ## show\n\t@x\nhidden:\n") == {"demo"}


def test_a_dead_link_is_seen(tmp_path: Path) -> None:
    (tmp_path / "here.md").touch()
    assert dead_links("[a](here.md#x) [b](gone.md) [c](https://kafka.apache.org)", tmp_path) == ["gone.md"]
    assert dead_links("[a](x/made.md)", tmp_path, frozenset({tmp_path.resolve() / "x" / "made.md"})) == []


def test_a_place_for_output_is_found() -> None:
    text = "x\n<!-- output of: forensics scan t -->\n```text\none\ntwo\n```\n<!-- end of output -->\n"
    (match,) = OUTPUT.finditer(text)
    assert (match["command"], match["text"]) == ("forensics scan t", "one\ntwo\n")
