"""The command line: one file a command. Errors of the library become a sentence and an exit code here."""

from __future__ import annotations

import sys

import click

from forensics import __version__
from forensics.cli.batch import batch
from forensics.cli.compare import compare
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
    """Entry point: exit code 0 nothing found, 1 findings, 2 usage, unreadable input or an error of the tool.

    Args:
        prog_name: name for usage lines, where the program's own file name would mislead.
    """
    try:
        found = contained(lambda: cli(prog_name=prog_name), expected=(ForensicsError,))
    except ForensicsError as error:
        click.echo(f"forensics: {error}", err=True)
        sys.exit(2)
    if isinstance(found, Defect):
        # Exit code 1 means findings: a defect must never look like one.
        click.echo(f"{found.trace}forensics: {found}, with the lines above", err=True)
        sys.exit(2)
