"""The command line: one file a command. Errors of the library become a sentence and an exit code here."""

from __future__ import annotations

import signal
import sys
from errno import EBADF, EDQUOT, ENOSPC
from importlib import import_module
from io import StringIO
from types import FrameType
from typing import Any, NoReturn

import click

from forensics.cli.choosing import did_you_mean
from forensics.cli.examples import example
from forensics.cli.exits import NOBODY_READS
from forensics.cli.speaking import silence
from forensics.cli.streams import hold
from forensics.errors import ForensicsError, UnwritableOutput
from forensics.outputs import plain
from forensics.starting import ENDS, end, end_at_once, heeded
from parsers.containment import Defect, contained

COMMANDS = {
    "scan": ("forensics.cli.scan", "Find lost, truncated or forked committed data in evidence."),
    "watch": ("forensics.cli.watch", "Scan logs and directories as they grow; report new findings."),
    "timeline": ("forensics.cli.timeline", "Show the replicas of a partition side by side over time."),
    "compare": ("forensics.cli.compare", "Compare replicas by their segments and checkpoints on disk."),
    "salvage": ("forensics.cli.salvage", "Get lost records back from the copies that still have them."),
    "produce": ("forensics.cli.produce", "Write salvaged records to a new topic of a running cluster."),
    "collect": ("forensics.cli.collect", "Pack the evidence of a host, or print a script for a cluster."),
    "inspect": ("forensics.cli.inspect", "Show the format and the contents of each file."),
    "trace": ("forensics.cli.trace", "Write the events that the evidence shows as JSON lines."),
    "rules": ("forensics.cli.explain", "List the rules, with the severity of a violation."),
    "explain": ("forensics.cli.explain", "Explain a rule, or a word such as ISR; list them all."),
    "simulate": ("forensics.cli.simulate", "Play a failure through in a model of Kafka's replication."),
    "batch": ("forensics.cli.batch", "Scan a large archive on Spark; same results as scan."),
    "report": ("forensics.cli.report", "Report the result of forensics batch from its tables."),
}
"""Module and one line of help of each command: ``--help`` lists them without importing what the commands need."""


class Commands(click.Group):
    """The commands, each imported when it is asked for: reading evidence takes libraries that are slow to load."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in alphabetical order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name; None if there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        found = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        assert isinstance(found, click.Command)
        _end_in_order()
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is asked for; a wrong name is answered with the nearest."""
        name = args[0]
        if not name.startswith("-") and name not in COMMANDS:
            ctx.fail(f"No such command {name!r}{did_you_mean(name, list(COMMANDS))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands of the help text."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


def _versions(context: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if asked:
        from forensics.cli.versions import versions  # which loads the catalogue of messages

        click.echo(versions())
        context.exit()


def _without_plugins(_context: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    """Leave plugins out, before the module of a command looks at the tables to which they add."""
    if asked:
        from parsers.plugins import leave_out

        leave_out()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "FORENSICS"},
    epilog=example("forensics scan incident/ --report incident.html"),
)
@click.option(
    "--no-plugins",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_without_plugins,
    help="Leave out what other packages add: formats, messages, rules and reports.",
)
@click.option("--version", is_flag=True, expose_value=False, callback=_versions, help="Show versions and end.")
def cli() -> None:
    """Did Kafka's replication lose or fork committed data? forensics reads what brokers left behind.

    It never writes to the evidence. Begin with a folder that holds the logs and data directories of the brokers.
    """


def main(prog_name: str | None = None) -> None:
    """Entry point: ends the process with an exit code.

    0: nothing found. 1: findings. 2: usage, unreadable input or an error of the tool. 3: nothing found but not all
    judged. 129: its terminal was closed. 130: interrupted. 141: the reader of the output closed it. 143: terminated.

    Args:
        prog_name: name for usage lines, if the program's own file name would mislead.
    """
    hold()
    end_at_once()
    expected = (ForensicsError, click.ClickException, click.Abort)
    try:
        found = contained(lambda: _run(prog_name), expected=expected)
    except ForensicsError as error:
        click.echo(f"forensics: {plain(str(error))}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        shown = StringIO()
        error.show(file=shown)
        click.echo(_lines(shown.getvalue()), err=True, nl=False)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        end(*ENDS[signal.SIGINT])
    except Ended as ended:
        end(ended.status, ended.why)
    if isinstance(found, Defect):
        # Exit code 1 means findings: a defect must never look like one.
        click.echo(f"{_lines(found.trace)}forensics: {plain(str(found))}, with the lines above", err=True)
        sys.exit(2)
    sys.exit(found)


def _lines(text: str) -> str:
    """Return a text of several lines that cannot steer a terminal."""
    return "\n".join(map(plain, text.split("\n")))


def _run(prog_name: str | None) -> Any:
    """Run the command that is asked for.

    Raises:
        UnwritableOutput: the disk is full to which standard output goes, or it is closed; help texts are written by
            click.
        SystemExit: as ``main`` says.
    """
    output = sys.stdout
    try:
        return cli.main(prog_name=prog_name, standalone_mode=False)
    except SystemExit:
        # If its reader closed standard output, click replaces it and ends with 1, the code of findings.
        if sys.stdout is not output:
            raise SystemExit(NOBODY_READS) from None
        raise
    except OSError as error:
        if error.errno in (ENOSPC, EDQUOT, EBADF) and error.filename is None:
            silence()
            raise UnwritableOutput(f"standard output: {error.strerror}; nothing more was written") from None
        raise


class Ended(SystemExit):
    """The process was asked to end.

    Attributes:
        status: exit code.
        why: what happened, in a word or two.
    """

    def __init__(self, status: int, why: str) -> None:
        super().__init__(status)
        self.status, self.why = status, why


def _end_in_order() -> None:
    """From here on a signal raises, so that what was begun is undone.

    While libraries are loaded it must not: some of them end the process with a message of their own (PyO3).
    """
    for number in heeded():
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else _ended)


def _ended(number: int, _frame: FrameType | None) -> NoReturn:
    raise Ended(*ENDS[signal.Signals(number)])
