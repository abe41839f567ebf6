"""The errors a reader may raise. Damage inside a file that was recognised is a notice, not an error."""

from __future__ import annotations


class ParserError(Exception):
    """Base of every error raised by ``parsers``."""


class NotThisFormat(ParserError):
    """The bytes are not of the format that was tried; the next reader should try."""


class NotByRanges(ParserError):
    """A text cannot be read by ranges of its bytes; it has to be read in one go."""


class RemotePath(ParserError):
    """A path on another machine cannot be read; the message says what is missing."""


class Damaged(ParserError):
    """The bytes are of this format, but broken so early that no row can be given.

    Args:
        reason: what is wrong, in words.
        byte: offset of the damage in the file, in bytes, or None when it has no single place.
        line: 1-based line of the damage, or None for binary formats.
    """

    def __init__(self, reason: str, *, byte: int | None = None, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.byte = byte
        self.line = line
