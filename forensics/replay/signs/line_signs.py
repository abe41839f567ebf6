"""Signs that lines of one partition show by themselves, read before anything is replayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from forensics.replay.signs.last_stable import NOT_STATED, LastStable

if TYPE_CHECKING:
    from forensics.replay.signs.disagreement import Disagreement
    from forensics.replay.signs.unlike_appends import UnlikeAppends


@dataclass(frozen=True, slots=True)
class LineSigns:
    """Signs in the lines of one incarnation of a partition, whether other lines are missing or not.

    Attributes:
        disagreements: statements that disagree, and prove nothing by themselves.
        unlike_appends: different records at one offset, by the lines of a trace.
        last_stable: last stable offsets of leaders that fell, or that are above their high watermarks.
    """

    disagreements: tuple[Disagreement, ...] = ()
    unlike_appends: tuple[UnlikeAppends, ...] = ()
    last_stable: LastStable = NOT_STATED


NO_SIGNS: Final = LineSigns()
"""Of a partition whose lines show none."""
