"""Lines about the metadata quorum of a KRaft cluster: entries of ``known_problems``."""

from __future__ import annotations

from forensics.rules.finding import Severity
from forensics.rules.problem_entry import KnownProblem, Records, detail_is
from parsers.details import QUORUM_CONTRADICTS, QUORUM_TRUNCATION
from parsers.schema import Kind

_COPY = "copy the __cluster_metadata-0 directory of every controller before any of them is formatted, wiped or restored"
_STATUS = "collect kafka-metadata-quorum describe --status and --replication, and quorum-state of every controller"

QUORUM: tuple[KnownProblem, ...] = (
    KnownProblem(
        id="metadata-log-diverged",
        title="Metadata log lacks committed records",
        severity=Severity.ERROR,
        kinds=(Kind.PROBLEM,),
        when=detail_is(QUORUM_TRUNCATION),
        states=(
            "{who} stopped rather than truncate its metadata log to {offset}: its high watermark is {hw}, and the "
            "leader of the quorum has less"
        ),
        records=Records.AT_STAKE,
        means=(
            "Offsets {stake} of the metadata log are committed, and the leader of the quorum lacks them. A majority "
            "of the controllers lost its copy: it was wiped, formatted again or restored. Changes of topics, leaders "
            "and ISRs are lost, so a leader may be elected that lacks committed records of a topic."
        ),
        fetch=(
            _COPY,
            _STATUS,
            "keep {who} as it is: it may have the only copy of these changes",
        ),
        stake=("offset", "hw"),
        always=True,
    ),
    KnownProblem(
        id="quorum-contradicts",
        title="Metadata quorum contradicts a node",
        severity=Severity.ERROR,
        kinds=(Kind.PROBLEM,),
        when=detail_is(QUORUM_CONTRADICTS),
        states=(
            "{who} received leader epoch {leader_epoch} of the metadata quorum, which contradicts what it has itself "
            "(epoch {previous_epoch})"
        ),
        records=Records.UNKNOWN,
        means=(
            "The node lost its metadata directory or its vote, it has the id of another node, or it is given the "
            "voters of another cluster. It stops. The other nodes continue as long as they are a majority."
        ),
        fetch=(
            "compare node.id, controller.quorum.voters and meta.properties of all controllers",
            _STATUS,
            _COPY,
        ),
        always=True,
    ),
)
"""Contradictions within the quorum: errors first."""
