"""Kinds of line of a trace that is played, by what they state of a log."""

from __future__ import annotations

from typing import Final

from forensics.replay.history import ShortenedBy
from parsers.schema import Kind

SHORTENED_BY: Final[dict[str, ShortenedBy]] = {
    Kind.LOG_CREATED: ShortenedBy.NEW_LOG,
    Kind.LOG_LOADED: ShortenedBy.UNCLEAN_RESTART,
    Kind.LOG_END: ShortenedBy.LATER_LOOK,
}
"""Cause by the line that states the shorter log."""

TRUNCATIONS: Final = (Kind.TRUNCATE, Kind.TRUNCATE_FULL)

LOWER: Final = (*TRUNCATIONS, Kind.LOG_LOADED)
"""Kinds in which a shorter log lowers the high watermark (UnifiedLog.truncateTo, or a new process)."""

BY_FETCHING: Final = (Kind.APPEND, *TRUNCATIONS)
"""Kinds in which a log gets another end by what a fetch brought."""

REASONS: Final = (*TRUNCATIONS, *SHORTENED_BY, Kind.LOG_DELETED)
"""Kinds of line that state why a log is shorter, or that somebody found it so, maybe after its process had ended."""

GOES_ON: Final = (Kind.APPEND, Kind.HW, Kind.LEO, Kind.STATE)
"""Kinds of line that state what a replica does or has while its process runs."""
