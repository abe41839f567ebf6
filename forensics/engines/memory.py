"""How much memory there is, and whether a case fits into it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from forensics.engines.stages.plan import content_of
from parsers.files.sources import Source

_GROWS: Final = 5
"""How many times larger than logs their rows and histories are in memory, about."""
OF_PROCESS: Final = 600 << 20
"""Bytes that each process of the pipeline takes, about."""


def half_of_memory() -> int:
    """Return half of the memory of this machine, in bytes; 4 GiB where that is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # not on Windows
        return 4 << 30


def is_large(sources: Iterable[Source], memory: int) -> bool:
    """Return whether what is read would take more than so much memory.

    Args:
        sources: what is read.
        memory: bytes.
    """
    return sum(max(one.expanded, content_of(one)) for one in sources) * _GROWS > memory
