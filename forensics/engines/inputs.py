"""Reasons why a path of the user cannot be read, in words for the user."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from forensics.errors import NothingUnderstood, UnreadableInput
from parsers.errors import RemotePath


def nothing_understood(paths: Sequence[str], files: int, why: str = "") -> NothingUnderstood:
    """Return the error for an input with nothing that forensics can read.

    Args:
        paths: the input.
        files: how many files it has.
        why: why the first of them were not understood.
    """
    if not files:
        named = ", ".join(paths)
        raised = f"{named}: the folder is empty" if len(paths) == 1 else f"{named}: there is no file in any of these"
        return NothingUnderstood(f"{raised}; give a folder with logs or data directories of brokers")
    count = f"{files:,} file{'' if files == 1 else 's'}"
    return NothingUnderstood(
        f"nothing in {', '.join(paths)} was understood ({count}){why}. Give logs or data directories of brokers, a "
        "trace, or output of Kafka's tools; `forensics inspect PATH` shows what each file is read as"
    )


@contextlib.contextmanager
def named_by_user() -> Iterator[None]:
    """Around what looks up the paths that a user gave.

    Raises:
        UnreadableInput: one of them does not exist, or cannot be reached.
    """
    try:
        yield
    except RemotePath as error:
        raise UnreadableInput(str(error)) from None
    except PermissionError as error:
        raise UnreadableInput(
            f"{error.filename}: permission denied; run forensics as a user that may read it, or give it a copy"
        ) from None
    except FileNotFoundError as error:
        raise UnreadableInput(
            f"{error}: no such file or directory; give a folder with logs or data of brokers"
        ) from None
