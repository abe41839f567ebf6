"""Values in a trace that break an invariant of the protocol by themselves."""

from __future__ import annotations

from dataclasses import dataclass

from forensics.replay.facts.directory import Ref


@dataclass(frozen=True, slots=True)
class HwAboveLeo:
    """A high watermark above the log end offset of the same replica at the same moment.

    Attributes:
        replica: broker id.
        witness: broker that states both values.
        epoch: leader epoch of the replica by its own last role, or -1.
        high_watermark, end: the two values.
        later: the high watermark is that of its checkpoint file, and the log end offset was stated after it.
        time: microseconds since 1970 UTC, or None.
        refs: the line of the high watermark, and that of the log end offset if it is another line.
    """

    replica: int
    witness: int
    epoch: int
    high_watermark: int
    end: int
    later: bool
    time: int | None
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class EpochStarts:
    """One leader epoch with several first offsets.

    Attributes:
        epoch: leader epoch.
        starts: (first offset, replica whose epoch entry names it, the line), by offset.
    """

    epoch: int
    starts: tuple[tuple[int, int, Ref], ...]


@dataclass(frozen=True, slots=True)
class EpochsFall:
    """Two epoch entries of one log at one moment, where the later leader epoch begins below the earlier one.

    Attributes:
        replica: broker id.
        later, earlier: leader epoch, its first offset, and the line.
    """

    replica: int
    later: tuple[int, int, Ref]
    earlier: tuple[int, int, Ref]
