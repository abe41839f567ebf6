"""Writing to standard output: a full disk or a closed pipe there is no finding, and no defect."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from forensics.cli.exits import NOBODY_READS
from forensics.errors import UnwritableOutput
from forensics.outputs import plain

if TYPE_CHECKING:
    from forensics.case import Case


def say(text: str) -> None:
    """Write a text to standard output, all of it; raises as ``say_pieces`` does."""
    say_pieces((text,))


def say_pieces(pieces: Iterable[str]) -> None:
    """Write the pieces of a text to standard output, all of them.

    Raises:
        UnwritableOutput: it cannot be written.
        SystemExit: the reader closed it, as ``head`` does when it has enough lines.
    """
    try:
        for piece in pieces:
            click.echo(piece, nl=False)
        sys.stdout.flush()
    except BrokenPipeError:
        silence()
        sys.exit(NOBODY_READS)
    except OSError as error:
        silence()
        raise UnwritableOutput(f"standard output: {error.strerror}; nothing more was written") from None


def warn_of_unread(case: Case) -> None:
    """Name on standard error what could not be read, for a command whose output has no place for it."""
    from forensics.case.not_read import not_read  # with Polars, which ``explain`` and ``--help`` need not load

    unread = not_read(case)
    for path, reason in unread[:_NAMED]:
        click.echo(plain(f"not read: {path}: {reason}"), err=True)
    if len(unread) > _NAMED:
        click.echo(f"not read: {len(unread) - _NAMED:,} more; forensics inspect --coverage names them", err=True)


_NAMED = 5
"""Number of files that are named."""


def page(text: str) -> None:
    """Write a text to standard output, through a pager if that is a terminal with fewer lines.

    The pager is the one that ``PAGER`` names; raises as ``say_pieces`` does.
    """
    if sys.stdout.isatty() and text.count("\n") >= shutil.get_terminal_size((80, 24)).lines:
        os.environ.setdefault("LESS", "-FRS")
        click.echo_via_pager(text)
    else:
        say(text)


def shows_style() -> bool:
    """Return whether standard output is a terminal that shows colour and links, and the user wants them (NO_COLOR)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def silence() -> None:
    """Let the interpreter end without another try to write what is left."""
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
