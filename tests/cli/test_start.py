"""The program starts at once: what a command needs is imported by that command."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from forensics.cli import COMMANDS, cli
from forensics.version import __version__

SLOW = ("polars", "numpy", "pyarrow", "pyspark", "plotly", "kafka", "forensics.case", "forensics.replay.history")


def test_the_list_of_commands_imports_nothing_slow() -> None:
    loaded = f"print([module for module in {SLOW} if module in sys.modules])"
    code = f"import sys\nfrom forensics.cli import main\ntry: main()\nfinally: {loaded}"
    ran = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"
    assert all(re.search(rf"^  {name} ", ran.stdout, re.MULTILINE) for name in COMMANDS)


def test_few_logs_import_nothing_of_excerpts_or_of_large_evidence(sample_traces: Path) -> None:
    code = "import sys\nfrom forensics.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", code, "scan", str(sample_traces / "kip101-0.10.2.2")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, "a loss is found"
    loaded = set(ran.stderr.splitlines()[-1].split())
    assert "parsers.text.broker_log" in loaded
    assert not loaded & {f"parsers.excerpts.{name}" for name in ("dissect", "files", "kinds", "reading", "split")}
    assert not loaded & {"pyarrow", "forensics.engines.large", "forensics.engines.pool"}, "they are for large evidence"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_found_and_has_a_line_of_its_own(name: str) -> None:
    context = click.Context(cli)
    found = cli.get_command(context, name)
    assert found is not None
    assert found.name == name
    assert COMMANDS[name][1].endswith(".")
    assert len(COMMANDS[name][1]) <= 62  # fits beside the name in 80 columns


def test_every_command_of_every_module_is_listed(repository: Path) -> None:
    modules = {f"forensics.cli.{path.stem}" for path in (repository / "forensics" / "cli").glob("[!_]*.py")}
    there = {
        (one.name, module)
        for module in modules
        for one in vars(import_module(module)).values()
        if isinstance(one, click.Command)
    }
    assert there == {(name, module) for name, (module, _) in COMMANDS.items()}


def test_what_is_no_command_is_refused() -> None:
    assert cli.get_command(click.Context(cli), "scann") is None


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_is_never_cut_and_ends_with_an_example(name: str, width: int) -> None:
    command = cli.get_command(click.Context(cli), name) if name else cli
    assert command is not None
    with click.Context(command, info_name=name, terminal_width=width, max_content_width=width) as context:
        text = command.get_help(context)
    body, mark, example = text.partition("\n  Example:\n")
    assert mark
    lines = [line.strip() for line in example.splitlines() if line.strip()]
    assert lines
    assert all(re.match(r"forensics [a-z]+( |$)", line) and len(line) <= 76 for line in lines), "pasted as it is"
    assert "\u2026" not in body
    helps = [one.help or "" for one in command.params if isinstance(one, click.Option)]
    assert all("".join(one.split()) in "".join(body.split()) for one in helps)
    assert all(
        isinstance(one, click.Argument) or (isinstance(one, click.Option) and one.help) for one in command.params
    )


def test_the_version_names_what_an_answer_depends_on() -> None:
    ran = CliRunner().invoke(cli, ["--version"])
    assert ran.exit_code == 0
    program, libraries, knowledge = ran.stdout.splitlines()
    assert program == f"forensics {__version__}"
    assert re.fullmatch(r"Python 3\S+, polars [0-9]\S+, pyarrow [0-9]\S+, plotly [0-9]\S+, pyspark [0-9]\S+", libraries)
    assert re.fullmatch(
        r"[0-9]+ rules \([0-9a-f]{8}\), [0-9]+ log messages in [0-9]+ wordings \([0-9a-f]{8}\)", knowledge
    )
