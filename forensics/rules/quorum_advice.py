"""Advice about changes that the metadata log lost: it has no clients that could write them again."""

from __future__ import annotations

from forensics.replay.committed.proof import Loss
from forensics.replay.committed.surviving_copies import needed_copies
from forensics.replay.history import History
from forensics.rules.finding import HERE, Action, Advised, advised
from forensics.rules.rescue import copies, kept_text

_STOP = f"stop every controller{{and_brokers}}, and copy the directory {HERE} of each to another disk"
_HOLDERS = ", and each broker that still has the lost records"
METADATA = (
    "the metadata log holds the topics, partition leaders, ISRs and settings of the cluster, and no records of users"
)
"""A note for a reader who does not know what is at stake."""

_DECIDE = "decide with that which copy the cluster is to continue with. An older copy takes back what was decided since"
_CHECK = (
    "check the partitions of which the copies state other leaders or ISRs: their leaders may lack committed records"
)
_NOT = (
    f"format, wipe or start a controller or broker before its directory {HERE} is copied: when it starts, it truncates "
    "what the quorum's leader lacks"
)


def metadata_advice(history: History, loss: Loss) -> Advised:
    """Return what to do about a loss of the metadata log."""
    held = needed_copies(copies(loss)) if loss.holders else ()
    return advised(
        history.name,
        keep=kept_text(history, copies(loss), held) if held else None,
        next_steps=(
            _STOP.format(and_brokers=_HOLDERS if loss.holders else ""),
            Action(
                "see which changes of topics, leaders and ISRs each copy has:",
                f"kafka-dump-log.sh --cluster-metadata-decoder --files /path/to/copy/{HERE}/00000000000000000000.log",
            ),
            _DECIDE,
            _CHECK,
        ),
        do_not=(_NOT,),
        lost=loss.ranges,
    )
