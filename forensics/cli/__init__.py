"""The command line: one file a command. Errors of the library become a sentence and an exit code here."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

import click

from forensics import __version__
from forensics.cli.batch import batch
from forensics.cli.compare import compare
from forensics.cli.exits import INTERRUPTED, TERMINATED
from forensics.cli.explain import explain, rules
from forensics.cli.inspect import inspect
from forensics.cli.report import report
from forensics.cli.scan import scan
from forensics.cli.simulate import simulate
from forensics.cli.timeline import timeline
from forensics.cli.trace import trace
from forensics.errors import ForensicsError
from parsers.containment import Defect, contained

COMMANDS = (scan, timeline, compare, inspect, trace, rules, explain, simulate, batch, report)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "FORENSICS"})
@click.version_option(__version__, prog_name="forensics")
def cli() -> None:
    """Did Kafka's replication lose or fork committed data? Reads what brokers left behind; never writes to it."""


for _command in COMMANDS:
    cli.add_command(_command)


def main(prog_name: str | None = None) -> None:
    """Entry point: ends the process with an exit code.

    0: nothing found. 1: findings. 2: usage, unreadable input or an error of the tool. 3: nothing found but not all
    judged. 130: interrupted. 141: the reader of the output closed it. 143: terminated.

    Args:
        prog_name: name for usage lines, if the program's own file name would mislead.
    """
    signal.signal(signal.SIGTERM, _terminated)
    expected = (ForensicsError, click.ClickException, click.Abort)
    try:
        found = contained(lambda: cli.main(prog_name=prog_name, standalone_mode=False), expected=expected)
    except ForensicsError as error:
        click.echo(f"forensics: {error}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _end(INTERRUPTED, "interrupted; files that were to be written are as they were before")
    except Terminated:
        _end(TERMINATED, "terminated; files that were to be written are as they were before")
    if isinstance(found, Defect):
        # Exit code 1 means findings: a defect must never look like one.
        click.echo(f"{found.trace}forensics: {found}, with the lines above", err=True)
        sys.exit(2)
    sys.exit(found)


class Terminated(SystemExit):
    """The process was asked to end."""


def _terminated(_number: int, _frame: FrameType | None) -> NoReturn:
    raise Terminated(TERMINATED)


def _end(code: int, why: str) -> NoReturn:
    """End at once: threads that are reading a large file would be waited for."""
    click.echo(f"forensics: {why}", err=True)
    os._exit(code)
