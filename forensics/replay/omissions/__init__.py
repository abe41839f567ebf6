"""The table of omissions: evidence that lines are missing. ``coverage`` defines what follows from it."""

from __future__ import annotations

from forensics.replay.coverage import Omission
from forensics.replay.high_watermarks import crosscheck
from forensics.replay.omissions import (
    announced_roles,
    controllers,
    cut_short,
    files,
    left_out,
    own_line_pairs,
    partition_epochs,
    passed_over,
    role_epochs,
    unknown_writers,
)

OMISSIONS: tuple[Omission, ...] = (
    *own_line_pairs.OMISSIONS,
    *role_epochs.OMISSIONS,
    *crosscheck.OMISSIONS,
    *passed_over.OMISSIONS,
    *partition_epochs.OMISSIONS,
    *unknown_writers.OMISSIONS,
    *files.OMISSIONS,
    *left_out.OMISSIONS,
    *cut_short.OMISSIONS,
    *announced_roles.OMISSIONS,
    *controllers.OMISSIONS,
)
"""Every omission, in the order in which coverage is lowered."""
