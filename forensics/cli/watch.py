"""``forensics watch``."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from forensics.case import Reading
from forensics.case.order import moment
from forensics.cli import reading
from forensics.cli.choosing import formats
from forensics.cli.examples import example
from forensics.cli.exits import NOT_JUDGED
from forensics.cli.speaking import say, shows_style
from forensics.cli.tuned import tuned
from forensics.engines import local
from forensics.errors import UnreadableInput
from forensics.named_files import no_file
from forensics.outputs import plain
from forensics.reports import jsonl, text
from forensics.result import Result
from forensics.rules.finding import Finding
from forensics.tuning import Tuning, tune
from forensics.watching.certain import Certain
from forensics.watching.looks import Look, looks
from parsers.files import remote
from parsers.walk import STDIN

_PATIENCE: Final = 60
"""Seconds that a command of ``--exec`` may take."""


@click.command(epilog=example("forensics watch /var/lib/kafka /var/log/kafka --exec notify-me"))
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@formats("text", "jsonl", help="How a finding is written. jsonl: one line for each, as scan --format jsonl has it.")
@click.option(
    "--every",
    type=reading.Duration(),
    default="10s",
    show_default=True,
    metavar="TIME",
    help="Least time between two scans. After a long scan the pause is as long as the scan was.",
)
@click.option(
    "--for",
    "limit",
    type=reading.Duration(),
    metavar="TIME",
    help="End after this time, such as 2h. Default: run until interrupted.",
)
@click.option(
    "--exec",
    "command",
    metavar="COMMAND",
    help="Run this for each finding, without a shell. The finding is its standard input, as one line of JSON.",
)
@click.option("--suspected", is_flag=True, help="Report suspected findings too.")
@reading.zone
@reading.skews
@reading.since
@reading.limits
@tuned
@reading.memory
def watch(
    paths: tuple[str, ...],
    format_name: str,
    every: float,
    limit: float | None,
    command: str | None,
    suspected: bool,
    zone: str | None,
    skews: dict[int, int],
    since: datetime | None,
    tuning: Tuning,
    memory: int,
) -> None:
    """Scan logs and directories as they grow, and report each new finding once it is certain.

    PATH is a folder or a file on this machine, of one broker or of all: data directories, logs, or both. A finding is
    certain if nothing was written while the scan read, or if two scans in a row have it. Files are only ever read.

    Exit code, at the end of --for or if interrupted: as for scan, of all that was reported.
    """
    _on_disk(paths)
    run = _command(command)
    how = Reading(zone, skews, moment(since, zone), None)

    def scan() -> Result:
        return tune(local.scan(paths, reading=how, topics=tuning.topics, memory=memory), tuning)

    certain = Certain(((one.fingerprint, one.severity) for one in tuning.known), suspected=suspected)
    until = None if limit is None else time.monotonic() + limit
    failed = False
    try:
        for look in looks(paths, scan, every=every, until=until):
            failed = look.result is not None and any(look.result.failures)
            _report(look, certain, format_name, run)
    except KeyboardInterrupt:
        click.echo("forensics: interrupted", err=True)
    worst = min((one.severity for one in certain.reported), key=lambda one: one.rank, default=None)
    click.echo(f"forensics: {_count(len(certain.reported))} reported", err=True)
    if tuning.fails(worst, None):
        sys.exit(1)
    if failed:
        sys.exit(NOT_JUDGED)


def _on_disk(paths: Sequence[str]) -> None:
    """Refuse what cannot be read again and again.

    Raises:
        UnreadableInput: standard input, or a URL.
    """
    for path in paths:
        if path == STDIN or remote.is_remote(path):
            raise UnreadableInput(f"{path}: only files on this machine can be watched; scan reads others once")
        what = no_file(path)
        if what and not Path(path).is_dir():
            raise UnreadableInput(f"{path}: {what}; give folders, or logs and data of brokers")


def _command(command: str | None) -> list[str]:
    if command is None:
        return []
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise click.BadParameter(f"{command!r}: {error}", param_hint="--exec") from None
    if not words:
        raise click.BadParameter("names no command", param_hint="--exec")
    if shutil.which(words[0]) is None:  # at the first finding it would be too late
        raise click.BadParameter(f"{plain(words[0])}: no such command, or it is not executable", param_hint="--exec")
    return words


def _report(look: Look, certain: Certain, format_name: str, run: Sequence[str]) -> None:
    """Write the findings of one scan that are new, and run the command for each."""
    if look.result is None:
        return
    new = certain.new(look.result.findings, still=look.still)
    if not new:
        return
    if format_name == "jsonl":
        say("".join(map(jsonl.line, new)))
    else:
        now = datetime.now(UTC)
        say(f"{now:%Y-%m-%d %H:%M:%S} UTC  {_count(len(new))} new{_delay(new, now)}\n\n")
        say(text.stories(look.result, new, styled=shows_style()))
    for one in new:
        _run(run, one)


def _count(number: int) -> str:
    return f"{number:,} finding{'' if number == 1 else 's'}"


def _delay(new: Sequence[Finding], now: datetime) -> str:
    """Return how long ago, by this machine's clock, the last line was logged that shows these findings."""
    ends = [one.span[1] for one in new]
    last = max((end for end in ends if end is not None), default=None)
    if last is None:
        return ""
    seconds = now.timestamp() - last / 1e6
    return f", {seconds:,.0f} s after the last line that shows it" if seconds >= 0 else ""


def _run(command: Sequence[str], finding: Finding) -> None:
    """Run a command for a finding; if it fails, one line on standard error reports that, and the watch continues."""
    if not command:
        return
    known = {
        "FORENSICS_FINDING_RULE": finding.rule,
        "FORENSICS_FINDING_SEVERITY": finding.severity.value,
        "FORENSICS_FINDING_PARTITION": f"{finding.topic}-{finding.partition}",
    }
    try:
        done = subprocess.run(
            command, input=jsonl.line(finding).encode(), env={**os.environ, **known}, timeout=_PATIENCE, check=False
        )
    except OSError as error:
        click.echo(f"forensics: --exec {plain(command[0])}: {error.strerror}", err=True)
    except subprocess.TimeoutExpired:
        click.echo(f"forensics: --exec {plain(command[0])}: stopped after {_PATIENCE} s", err=True)
    else:
        if done.returncode:
            click.echo(f"forensics: --exec {plain(command[0])}: exit code {done.returncode}", err=True)
