"""``leader-epoch-checkpoint``: the leader epochs of one replica's log, each with its start offset (0.11+).

A line is ``epoch start_offset`` (``LeaderEpochCheckpointFile``, KIP-101). It is this replica's view of its own log, not
a history of leaders. Epochs without records disappear, and a leader may have a last entry that followers lack. After
retention the first line has the log start, not the true start of that epoch.
"""

from __future__ import annotations

from typing import Any, Final

from parsers import limits
from parsers.details import CUT
from parsers.encodings.checkpoint_file import INT32_MAX, entries, integer, is_cut
from parsers.reading import Notices, Reading, observations
from parsers.schema import Kind

NAME: Final = "epoch-checkpoint"
FILE: Final = "leader-epoch-checkpoint"
"""Leader epochs that are read of one replica, the last ones: one is added at each change of leader."""


def read_epoch_checkpoint(data: bytes, topic: str, partition: int) -> Reading:
    """Read the epoch entries of one replica.

    Args:
        data: the whole file.
        topic: topic of the directory that holds the file.
        partition: partition of that directory.

    Returns:
        One EPOCH_ENTRY row for each line, in file order; if the end of the file is missing, the last one is marked.
        Entries that do not rise are noted: Kafka 2.7 and newer drop them when they load the file, older ones keep them.

    Raises:
        NotThisFormat: the content is no checkpoint.
    """
    notices = Notices()
    rows: list[dict[str, Any]] = []
    for line, fields in entries(data, 2, notices):
        epoch = integer(fields[0], most=INT32_MAX)
        offset = integer(fields[1])
        if epoch is None or offset is None:
            what = "epoch" if epoch is None else "start offset"
            notices.add(f"the {what} is not a number that can be", excerpt=" ".join(fields), line=line)
            continue
        if rows and (epoch <= rows[-1]["leader_epoch"] or offset <= rows[-1]["offset"]):
            reason = f"epoch {epoch} from {offset} does not rise above line {rows[-1]['line']}"
            notices.add(reason, excerpt=" ".join(fields), line=line)
        rows.append(
            {
                "topic": topic,
                "partition": partition,
                "kind": Kind.EPOCH_ENTRY,
                "message": NAME,
                "leader_epoch": epoch,
                "offset": offset,
                "line": line,
            }
        )
    if rows and is_cut(data):
        rows[-1]["detail"] = CUT
    if len(rows) > (most := limits.EPOCHS.value):
        said = limits.EPOCHS.told(f"{len(rows):,} entries: only the last {{}} are used")
        notices.add(said, line=rows[-most]["line"])
        rows = rows[-most:]
    return Reading(observations(rows), notices.frame())
