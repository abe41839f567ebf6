"""Completion of commands in a shell, as docs/installing.md sets it up."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def completed(words: str, **given: str) -> str:
    program = "import sys; sys.argv[0] = 'forensics'; from forensics.cli import main; main(prog_name='forensics')"
    env = os.environ | {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)} | given
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("forensics sal", ["plain,salvage"]),
        ("forensics scan --repo", ["plain,--report"]),
        ("forensics scan --format open", ["plain,openmetrics"]),
    ],
)
def test_commands_options_and_values_are_completed(words: str, wanted: list[str]) -> None:
    assert completed(words, _FORENSICS_COMPLETE="bash_complete").splitlines() == wanted


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str) -> None:
    assert "_FORENSICS_COMPLETE" in completed("", _FORENSICS_COMPLETE=f"{shell}_source")
