"""Reasons why a path of the user cannot be read, in words for the user."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from forensics.errors import UnreadableInput
from parsers.errors import RemotePath


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
    except FileNotFoundError as error:
        raise UnreadableInput(
            f"{error}: no such file or directory; give a folder with logs or data of brokers"
        ) from None
