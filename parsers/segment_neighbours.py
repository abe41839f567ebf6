"""Which batches of a segment stand where their offsets cannot be, by the batches around them.

No checksum covers the base offset of a batch (``DefaultRecordBatch``: the CRC begins at the attributes), so one flipped
bit moves a sound batch to other offsets. Offsets rise along a segment, and in a log that was never compacted they rise
without a gap. A batch that contradicts the others of its file counts as damaged: it proves neither what stands at the
offsets it names nor that the offsets of its place are gone.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def misplaced(first: Offsets, last: Offsets, base_offset: int | None) -> Mask:
    """Which batches contradict the others.

    Args:
        first, last: offsets of each batch, in the order of the file.
        base_offset: offset in the name of the file; None where it has none.

    Returns:
        True for each batch that is not among the most batches whose offsets rise from one to the next. Besides, for the
        last one where offsets jump before it and nowhere else: nothing behind it bears it out.
    """
    wrong = np.zeros(len(first), dtype=bool)
    if len(first) > 1 and (first[1:] <= last[:-1]).any():
        wrong[:] = True
        wrong[_rising(first.tolist(), last.tolist(), base_offset)] = False
    kept = np.flatnonzero(~wrong)
    gaps = first[kept[1:]] != last[kept[:-1]] + 1
    if len(kept) > _FEW and gaps[-1] and not gaps[:-1].any():
        wrong[kept[-1]] = True
    return wrong


_FEW = 2
"""Batches of which nothing can be said: of two, either may be the one that stands elsewhere."""


def _rising(first: list[int], last: list[int], base_offset: int | None) -> list[int]:
    """Positions of the most batches, in the order of the file, each of which begins behind the end of the one before.

    Of several such choices it is one that begins with the file's base offset where there is one.
    """
    ends: list[int] = []  # the least end of a chain, by its length
    heads: list[int] = []  # the position with which such a chain ends
    before: list[int] = []
    for position, (begin, end) in enumerate(zip(first, last, strict=True)):
        length = bisect_left(ends, begin)
        before.append(heads[length - 1] if length else -1)
        better = length == len(ends) or end < ends[length]
        if length == 0 and length < len(ends) and first[heads[0]] == base_offset:
            better = False
        if better:
            ends[length : length + 1] = [end]
            heads[length : length + 1] = [position]
    chain: list[int] = []
    position = heads[-1]
    while position >= 0:
        chain.append(position)
        position = before[position]
    return chain[::-1]
