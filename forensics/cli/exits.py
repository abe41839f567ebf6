"""Exit codes of commands that judge, and the sentence beside one of them."""

from __future__ import annotations

from typing import Final

NOT_JUDGED: Final = 3
"""Nothing was found, but a part of the evidence could not be judged: this program failed on it, or it is damaged.

Also where a scan is held against a baseline, and does not show whether producers can go back.
"""

NOBODY_READS: Final = 141
"""Standard output was closed: as a process that its signal ends (128 + SIGPIPE)."""


def failures_text(files: int, partitions: int) -> str:
    """That this program failed on a part of the evidence.

    >>> failures_text(1, 0)
    'forensics: this program failed on 1 file; it is a defect, the report names the place; please report it'
    """
    counts = [(files, "file"), (partitions, "partition")]
    what = " and ".join(f"{count:,} {name}{'' if count == 1 else 's'}" for count, name in counts if count)
    return f"forensics: this program failed on {what}; it is a defect, the report names the place; please report it"
