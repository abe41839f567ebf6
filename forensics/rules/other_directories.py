"""Words for a broker whose log is another one than before, because it used other directories."""

from __future__ import annotations

from forensics.replay.facts.log_dirs import Moved
from forensics.rules.finding import HERE


def explained(broker: int, moved: Moved) -> str:
    """That a broker used other directories than before."""
    return (
        f"broker {broker} logged log.dirs {moved.now}, and {moved.before} before that: its new log may have begun empty"
    )


def look_in(broker: int, moved: Moved) -> str:
    """Return where the records of a broker that changed its directories may still be."""
    return f"look for {HERE} in {moved.before} of broker {broker}: its records may still be there"
