"""Lines about partitions for which no leader could be elected: entries of ``known_problems``."""

from __future__ import annotations

from forensics.rules.finding import Severity
from forensics.rules.problem_entry import KnownProblem, Records, Row
from parsers.details import NOT_ELECTED
from parsers.schema import Kind


def without_leader(row: Row) -> bool:
    """Return whether no leader could be elected, or whether a partition was described without one."""
    if row["kind"] == Kind.TOPIC_DESCRIBED.value:
        return row["leader"] is not None and row["leader"] < 0
    return row["detail"] in NOT_ELECTED


def is_elected_later(row: Row) -> bool:
    """Return whether no leader could be elected at first, and a later line of the same log names one.

    ``stated_problems`` takes the leader from that line.
    """
    failed = row["kind"] == Kind.PARTITION_OFFLINE.value and row["detail"] in NOT_ELECTED
    return failed and row["leader"] is not None and row["leader"] >= 0


ELECTIONS: tuple[KnownProblem, ...] = (
    KnownProblem(
        id="leader-elected-later",
        title="Leader elected only later",
        severity=Severity.INFO,
        kinds=(Kind.PARTITION_OFFLINE,),
        when=is_elected_later,
        states="{where} had no leader for a time. A later line names {leader}",
        records=Records.UNKNOWN,
        means=(
            "No replica in the ISR was alive, and no other might lead. Either a member of the ISR returned: then no "
            "record is lost by the election. Or unclean elections were allowed or requested meanwhile, and the leader "
            "lacks what only the former ISR had."
        ),
        fetch=(
            "collect the last ISR of {where} before that: was {leader} in it?",
            "if it was not, copy the directories of {where} on all former ISR members before they restart",
            "look for a change of unclean.leader.election.enable, or kafka-leader-election, between the two lines",
        ),
        leads=True,
    ),
    KnownProblem(
        id="leader-not-elected",
        title="No leader could be elected",
        severity=Severity.WARNING,
        kinds=(Kind.PARTITION_OFFLINE, Kind.TOPIC_DESCRIBED),
        when=without_leader,
        states="{where} has no leader: the controller could not elect one",
        records=Records.NOTHING_LOST,
        means=(
            "No replica in the ISR is alive, and no other leads while unclean.leader.election.enable is false. The "
            "partition is offline until a member of its ISR returns."
        ),
        fetch=(
            "collect the ISR of {where} (kafka-topics --describe) and start the brokers in it",
            "collect server.log of these brokers: why they are gone, or the broker ids that they have now",
        ),
        do_not=("enable unclean elections before the directories of {where} on all replicas are copied",),
        beside=("eligible-leader-offline",),
    ),
)
"""The one that says more first."""
