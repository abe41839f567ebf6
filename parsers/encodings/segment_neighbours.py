"""Batches of a segment with impossible offsets, by the batches around them.

No checksum covers the base offset of a batch (``DefaultRecordBatch``: the CRC begins at the attributes), so one flipped
bit moves a sound batch to other offsets. Offsets rise along a segment, and in a log that was never compacted they rise
without a gap. A batch that contradicts the others of its file counts as damaged. It proves neither what is at the
offsets it names, nor that the offsets of its position are missing.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]
Epochs = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]


def misplaced(first: Offsets, last: Offsets, base_offset: int | None, epochs: Epochs | None = None) -> Mask:
    """Find batches that contradict the others.

    Args:
        first, last: offsets of each batch, in the order of the file.
        base_offset: offset in the name of the file; None if it has none.
        epochs: leader epoch of each batch; None if none has one.

    Returns:
        True for each batch that is not in the longest series of batches with rising offsets. Also true for the last
        batch if offsets jump only before it, because nothing behind it confirms it. Not if it begins a leader epoch,
        and more than one bit would have to be wrong: a log that was truncated within a batch continues so
        (Log.truncateTo and KIP-279, up to 1.1).
    """
    wrong = np.zeros(len(first), dtype=bool)
    if len(first) > 1 and (first[1:] <= last[:-1]).any():
        wrong[:] = True
        wrong[_rising(first.tolist(), last.tolist(), base_offset)] = False
        for position in np.flatnonzero(wrong)[:_MOST_SETTLED].tolist():
            _settle(first, last, wrong, position, base_offset)
    kept = np.flatnonzero(~wrong)
    beside = kept[1:] == kept[:-1] + 1  # otherwise the missing batch is there, and is wrong
    gaps = beside & (first[kept[1:]] != last[kept[:-1]] + 1)
    if len(kept) > _FEW and gaps[-1] and not gaps[:-1].any():
        end, begin = kept[-2:].tolist()
        begins_epoch = epochs is not None and bool(epochs[begin] > epochs[end])
        wrong[begin] = not begins_epoch or (int(first[begin]) ^ (int(last[end]) + 1)).bit_count() == 1
    return wrong


_FEW = 2
"""Number of batches that prove nothing: of two, either may be the misplaced one."""


def _settle(first: Offsets, last: Offsets, wrong: Mask, position: int, base_offset: int | None) -> None:
    """Of a wrong batch and the right one beside it, mark that as wrong whose own offsets are missing at its position.

    Two batches with the same offsets leave equally long series without one as without the other.
    """
    if _fills(first, last, wrong, position, base_offset):
        return
    for other in (position - 1, position + 1):
        if not 0 <= other < len(first) or wrong[other]:
            continue
        wrong[position], wrong[other] = False, True
        if _fills(first, last, wrong, other, base_offset):
            return
        wrong[position], wrong[other] = True, False


def _fills(first: Offsets, last: Offsets, wrong: Mask, position: int, base_offset: int | None) -> bool:
    """Return whether a wrong batch has exactly as many offsets as are missing at its position, between rising ones."""
    before, after = position - 1, position + 1
    if after >= len(first) or wrong[after] or (before >= 0 and wrong[before]):
        return False
    end = last[before] + 1 if before >= 0 else base_offset
    if end is None or first[after] - end != last[position] - first[position] + 1:
        return False
    earlier = np.flatnonzero(~wrong[: max(before, 0)])
    later = np.flatnonzero(~wrong[after + 1 :])
    follows = not len(earlier) or first[before] > last[earlier[-1]]
    return bool(follows and (not len(later) or first[after + 1 + later[0]] > last[after]))


_MOST_SETTLED = 1000
"""Batches of a segment that are looked at one by one: each look goes over all of them."""


def _rising(first: list[int], last: list[int], base_offset: int | None) -> list[int]:
    """Return positions of the longest series of batches, in the order of the file, each behind the end of the one
    before.

    If several series are equally long, one that begins with the file's base offset is chosen, if there is one.
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
