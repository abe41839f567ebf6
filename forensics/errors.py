"""Errors of the library. The command line turns them into a sentence and an exit code."""

from __future__ import annotations


class ForensicsError(Exception):
    """Base of every error raised by ``forensics``; the text names the input, the cause and the next step."""


class NothingUnderstood(ForensicsError):
    """The input could be read, but holds nothing that a broker writes."""


class NothingMatched(ForensicsError):
    """A filter, or an option for one broker, names what is not in the evidence."""


class UnwritableOutput(ForensicsError):
    """A file that was to be written cannot be."""


class UnreadableInput(ForensicsError):
    """A path that was asked for does not exist or cannot be opened."""


class BadConfiguration(ForensicsError):
    """A configuration file, or an option, names what does not exist."""


class BadBaseline(ForensicsError):
    """A baseline is not what a scan wrote."""


class DefectOfProgram(ForensicsError):
    """This program failed, and no part of the evidence could be identified as the cause."""


class NoSpark(ForensicsError):
    """Spark cannot be started here."""


class TaskFailed(ForensicsError):
    """A task failed for a reason outside of the program."""


class UnusableOutput(ForensicsError):
    """A folder that should hold the tables of a batch holds something else, or nothing."""
