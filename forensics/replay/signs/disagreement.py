"""Two statements that disagree, of which neither proves anything by itself. ``suspicions`` reports them."""

from __future__ import annotations

from dataclasses import dataclass

from forensics.replay.facts.directory import Ref
from forensics.replay.signs.sign import Sign


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A statement that an earlier one does not let expect.

    Attributes:
        sign: the kind of sign.
        replica: broker id of the replica that the later statement is about.
        witness: broker id that states the earlier value, or that it is about.
        epoch, since: leader epochs of the later and the earlier value, or -1.
        before, after: the two values; 0 where they are no offsets.
        time: of the later one, microseconds since 1970 UTC, or None.
        refs: the two lines.
        isr: the ISR that the witness stated, of a leader that was not in it.
    """

    sign: Sign
    replica: int
    witness: int
    epoch: int
    since: int
    before: int
    after: int
    time: int | None
    refs: tuple[Ref, Ref]
    isr: frozenset[int] | None = None
