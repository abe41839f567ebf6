"""A folder for what does not fit into memory. It is removed at the end; what a killed process left, by the next one."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from forensics.engines.pipeline.output import Output
from forensics.errors import UnwritableOutput

_PREFIX: Final = "forensics-scan-"


@contextlib.contextmanager
def temporary(inside: str | None = None, apart_from: Iterable[str] = ()) -> Iterator[Path]:
    """Yield a new folder, which is removed on leaving. So are those that killed processes left.

    Args:
        inside: folder in which it is made. None means the one that the system has for this.
        apart_from: paths of evidence, which is never written to.

    Raises:
        UnusableOutput: it would be a part of the evidence.
        UnwritableOutput: it cannot be made.
    """
    parent = Path(inside if inside is not None else tempfile.gettempdir())
    Output(parent).apart_from(apart_from)
    for left in parent.glob(f"{_PREFIX}*"):
        if Output(left).abandoned:
            shutil.rmtree(left, ignore_errors=True)
    try:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    except OSError as error:
        raise UnwritableOutput(
            f"{parent}: {error.strerror or error}; name a folder that can be written, with room in it: --tmp DIR"
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
