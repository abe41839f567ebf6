"""The format that Kafka's checkpoint files share: a version line, a count line, then one entry per line.

Source: ``CheckpointFile`` (core, then server-common), ``OffsetCheckpoint`` (up to 0.11). Kafka writes a temporary file,
flushes and renames it, and ends every line. So a last line without an end shows a truncated file or an incomplete copy,
and that line is not used.
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.errors import NotThisFormat
from parsers.reading import Notices

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


def entries(data: bytes, fields: int, notices: Notices) -> Iterator[tuple[int, list[str]]]:
    """The entry lines of a checkpoint file, each with its 1-based line number, split into its fields.

    An empty file is an empty checkpoint: brokers leave one so until the first write.

    Args:
        data: the whole file.
        fields: how many fields an entry has.
        notices: where damage goes; a line with another number of fields is noted and left out.

    Raises:
        NotThisFormat: the first line is not a version number.
    """
    lines = _lines(data, notices)
    count = _announced(lines, notices) if lines else None
    if len(lines) <= 2:
        return
    unfinished = lines.pop()  # empty when the last line is ended
    read = 0
    for number, line in enumerate(lines[2:], start=3):
        try:
            parts = [part.decode("utf-8") for part in line.split()]  # as Java splits: at ASCII blanks
        except UnicodeDecodeError:
            parts = []
        if len(parts) == fields:
            read += 1
            yield number, parts
        else:
            notices.add(f"not an entry of {fields} fields", excerpt=_text(line), line=number)
    if unfinished:
        reason = "the last line has no line end, so it may be incomplete; not used"
        notices.add(reason, excerpt=_text(unfinished), line=len(lines) + 1)
    if count is not None and count != read:
        notices.add(f"{count} entries are announced, {read} are there", excerpt=_text(lines[1]), line=2)


def _lines(data: bytes, notices: Notices) -> list[bytes]:
    """Return the lines of a checkpoint file of the known version, the last one without its end.

    An empty file has none. A file of zero bytes, or of another version, gets a notice and none.

    Raises:
        NotThisFormat: the first line is not a version number.
    """
    if not data:
        return []
    if not data.strip(b"\0"):
        notices.add(f"the file is {len(data)} zero bytes: its content was lost, as when the power went", line=1)
        return []
    lines = data.split(b"\n")
    version = _number(lines[0])
    if version is None:
        raise NotThisFormat(f"the first line of a checkpoint is its version, not {lines[0][:40]!r}")
    if version != 0:
        notices.add(f"version {version} is unknown, only 0 is; nothing was read", excerpt=_text(lines[0]), line=1)
        return []
    return lines


def _announced(lines: list[bytes], notices: Notices) -> int | None:
    """Return how many entries a checkpoint file announces; None, and a notice, if that line is missing or truncated."""
    count = _number(lines[1]) if len(lines) > 2 else None
    if count is None:
        excerpt = _text(lines[1]) if len(lines) > 1 else ""
        notices.add("the line with the number of entries is missing or incomplete", excerpt=excerpt, line=2)
    return count


def is_cut(data: bytes) -> bool:
    """Return whether the end of a checkpoint file is missing: a line without an end, or fewer lines than it
    announces.
    """
    lines = data.split(b"\n")
    count = _number(lines[1]) if len(lines) > 2 else None
    return bool(data) and (bool(lines[-1]) or count is None or count > len(lines) - 3)


def integer(text: str, *, least: int = 0, most: int = INT64_MAX) -> int | None:
    """The number, or None where the text is none or is out of range."""
    number = _number(text.encode("utf-8", errors="replace"))
    return number if number is not None and least <= number <= most else None


def _number(text: bytes) -> int | None:
    digits = text.strip()
    body = digits.removeprefix(b"-")
    return int(digits) if body.isdigit() and len(body) <= 19 else None


def _text(line: bytes) -> str:
    return line.decode("utf-8", errors="replace")
