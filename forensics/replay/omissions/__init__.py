"""The table of omissions: what shows that lines are missing from the evidence. ``coverage`` says what follows."""

from __future__ import annotations

from forensics.replay import crosscheck
from forensics.replay.coverage import Omission
from forensics.replay.omissions import files, left_out, own_lines, passed_over, role_epochs, unknown_writers

OMISSIONS: tuple[Omission, ...] = (
    *own_lines.OMISSIONS,
    *role_epochs.OMISSIONS,
    *crosscheck.OMISSIONS,
    *passed_over.OMISSIONS,
    *unknown_writers.OMISSIONS,
    *files.OMISSIONS,
    *left_out.OMISSIONS,
)
"""Every omission, in the order in which coverage is lowered."""
