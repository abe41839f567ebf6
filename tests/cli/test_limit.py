"""The option that moves a bound of reading, and the variable that does the same."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest

from forensics.cli import cli
from parsers import limits
from parsers.limits import WrongLimit
from tests.cli.conftest import Run

LOG = b"[2024-01-01 00:00:00,000] INFO Kafka version: 2.8.0 (org.apache.kafka.common.utils.AppInfoParser)\n"


def test_a_limit_holds_while_its_command_runs(tmp_path: Path, run: Run) -> None:
    (tmp_path / "server.log").write_bytes(LOG * 3)
    for command in (["scan", "--format", "json"], ["inspect"]):
        assert "longer than 64 bytes" in run(*command, tmp_path, "--limit", "line=64").out
        assert "longer than" not in run(*command, tmp_path).out
    assert limits.LINE.value == limits.LINE.default
    assert limits.ENVIRONMENT not in os.environ


def test_each_command_that_reads_evidence_takes_limits() -> None:
    """A report reads tables, and a producer what was salvaged."""
    context = click.Context(cli)
    commands = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    reading = {name for name, one in commands.items() if one and any(option.name == "paths" for option in one.params)}
    limited = {name for name, one in commands.items() if one and any(option.name == "limits" for option in one.params)}
    assert {"scan", "collect", "trace"} <= reading <= limited


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("lien=4MiB", "'lien' is no limit; did you mean line?"),
        ("foo=1", "'foo' is no limit; use line, lines, members"),
        ("line=", "use one like line=2MiB"),
        ("line=0", "use one like line=2MiB"),
        ("line=-1", "use one like line=2MiB"),
        ("members=1MiB", "use one like members=1000"),
        ("line=9999TiB", "is more than 1,024 TiB"),
    ],
)
def test_a_wrong_limit_is_one_sentence(
    setting: str, told: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(WrongLimit, match=told.replace("?", r"\?")):
        limits.parse([setting])
    found = run("scan", tmp_path, "--limit", setting)
    assert found.code == 2
    assert told in " ".join(found.err.split())
    monkeypatch.setenv(limits.ENVIRONMENT, setting)
    found = run("scan", tmp_path)
    assert found.code == 2
    assert told in " ".join(found.err.split())
