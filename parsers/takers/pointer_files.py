"""Taker for placeholders of files that are stored elsewhere: Git LFS, git-annex.

A checkout without these files has a short text under the name of each. It is no file of a broker, and no damage.
"""

from __future__ import annotations

import re
from typing import Final

from parsers.file_reading import FileReading, note
from parsers.files.sources import Source

POINTER: Final = "pointer"

_LFS: Final = re.compile(rb"version https://git-lfs\.github\.com/spec/v[0-9]+\n")
"""First line of a Git LFS pointer (git-lfs, docs/spec.md)."""
_SIZE: Final = re.compile(rb"^size ([0-9]{1,15})$", re.MULTILINE)
_ANNEX: Final = re.compile(rb"(?:\.\./)*(?:\.git)?/annex/objects/[^\n\0]+\n?$")
"""A pointer file of git-annex: the path of the object (git-annex, internals/pointer_file)."""
_LONGEST: Final = 1024  # bytes: both keep pointers below this


def is_pointer(source: Source, head: bytes) -> bool:
    """Return whether the content is such a placeholder and nothing else."""
    return source.size <= _LONGEST and (_LFS.match(head) or _ANNEX.match(head)) is not None


def pointer(_source: Source, head: bytes) -> FileReading:
    """Describe the file that is missing."""
    if _LFS.match(head):
        size = _SIZE.search(head)
        of = f", of {int(size[1]):,} bytes," if size else ""
        return FileReading(POINTER, notices=note(f"Git LFS pointer: the file itself{of} is not here; run git lfs pull"))
    return FileReading(POINTER, notices=note("git-annex pointer: the file itself is not here; run git annex get"))
