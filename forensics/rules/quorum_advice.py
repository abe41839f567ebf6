"""Advice about changes that the metadata log lost: it has no clients that could write them again."""

from __future__ import annotations

from forensics.replay.committed.proof import Loss
from forensics.replay.committed.surviving_copies import needed_copies
from forensics.replay.history import History
from forensics.rules.finding import HERE, Action, Advised, advised, brokers_text
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


_SOLE = (
    (
        "ask who formatted, replaced or put back the disk of {controller}, and look for its directory from before: "
        "only that, or a backup of it, has the lost records"
    ),
    (
        "compare what the controller's log states until then (topics that were created, leaders and ISRs) with the "
        "output of kafka-topics.sh --describe"
    ),
    "check the partitions whose leaders or ISRs differ: their leaders may lack committed records",
)
"""Steps where the only voter lost records, and no other copy has them: there is no copy to choose."""


def _of_sole_voter(history: History, loss: Loss, voter: int) -> Advised:
    controller = brokers_text([voter], history.controllers)
    return advised(
        history.name,
        next_steps=[step.format(controller=controller) for step in _SOLE],
        do_not=(f"format {controller} again, or put an older copy of {HERE} on it: it leads with what it has",),
        lost=loss.ranges,
    )


def metadata_advice(history: History, loss: Loss) -> Advised:
    """Return what to do about a loss of the metadata log."""
    sole = history.quorum.sole_voter if history.quorum is not None else None
    if sole is not None and not loss.holders:
        return _of_sole_voter(history, loss, sole)
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
