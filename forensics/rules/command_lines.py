"""Output of Kafka's commands: entries of ``known_problems``."""

from __future__ import annotations

from forensics.replay.facts.isr import broker_set
from forensics.rules.finding import Severity
from forensics.rules.problem_entry import KnownProblem, Records, Row, less
from parsers.details import assigned
from parsers.schema import Kind

_FORMER = "copy the directories of {where} on all former ISR members before they restart: they truncate then"


def isr_apart(row: Row) -> bool:
    """Return whether a partition is described twice with the same replicas, and no broker is in both ISRs."""
    isr, before = broker_set(row["isr"]), broker_set(row["isr_before"])
    if row["kind"] != Kind.TOPIC_DESCRIBED.value or not isr or not before:
        return False
    return not isr & before and before <= set(assigned(row["detail"]))


COMMANDS: tuple[KnownProblem, ...] = (
    KnownProblem(
        id="replicas-differ",
        title="Replicas differ",
        severity=Severity.ERROR,
        kinds=(Kind.REPLICAS_DIFFER,),
        states="kafka-replica-verification found at offset {offset} of {where}: {detail}",
        records=Records.AT_STAKE,
        means=(
            "The command compares records that are committed. So two replicas have different records, unless the "
            "topic is compacted: replicas are compacted at different times. Consumers read those of the leader."
        ),
        fetch=(
            "copy the directories of {where} on all replicas before any of them is restarted or moved",
            "check cleanup.policy of the topic: if it has compact, compare the keys, not the batches",
            "compare their segments of {where} from offset {offset} on (forensics compare)",
        ),
        always=True,
    ),
    KnownProblem(
        id="election-requested",
        title="Unclean leader election requested",
        severity=Severity.ERROR,
        kinds=(Kind.ELECTION_REQUESTED,),
        states="somebody asked for a leader of {where} from outside the ISR (kafka-leader-election, UNCLEAN)",
        records=Records.AT_STAKE,
        means=(
            "The controller elects then only if no member of the ISR is alive. Records that only the former ISR had "
            "are lost, unless one of its members still has its log."
        ),
        fetch=(
            _FORMER,
            "collect controller.log and state-change.log around that time: the ISR before, and the new leader",
            "collect their segments and replication-offset-checkpoint",
        ),
        issues=("KIP-460 (2.4: the command)",),
        beside=("unclean-election",),
    ),
    KnownProblem(
        id="isr-described-apart",
        title="ISR without any former member",
        severity=Severity.WARNING,
        kinds=(Kind.TOPIC_DESCRIBED,),
        when=isr_apart,
        states="{where} is described twice: with ISR {isr_before}, then with ISR {isr} and {leader}",
        records=Records.AT_STAKE,
        means=(
            "If the outputs are in the order of time, and the ISR did not grow in between, the leader was elected from "
            "outside the ISR. Then records are lost that only ISR {isr_before} had."
        ),
        fetch=(
            _FORMER,
            "collect controller.log and state-change.log between the two outputs: how the leader was elected",
            "check unclean.leader.election.enable of the topic and of the brokers",
        ),
    ),
    KnownProblem(
        id="eligible-leader-offline",
        title="No leader: eligible replicas are offline",
        severity=Severity.WARNING,
        kinds=(Kind.ELIGIBLE_DESCRIBED,),
        states="{where} has no leader, and its eligible leader replicas are {isr}",
        records=Records.NOTHING_LOST,
        means=(
            "An eligible leader replica has all committed records, if it did not stop uncleanly since. The partition "
            "is offline until one of them returns. A replica that is not among them may lack records."
        ),
        fetch=(
            "start the eligible leader replicas of {where}: {isr}",
            "collect server.log of these brokers: why they are gone",
        ),
        do_not=("elect another replica (UNCLEAN) before the directories of {where} on all replicas are copied",),
        issues=("KIP-966 (3.7: eligible leader replicas)",),
    ),
    KnownProblem(
        id="group-above-log-end",
        title="Committed position beyond the log end",
        severity=Severity.WARNING,
        kinds=(Kind.GROUP_DESCRIBED,),
        when=less("leo", "offset"),
        states="a consumer group has committed position {offset} in {where}, whose log ends at {leo}",
        records=Records.AT_STAKE,
        means=(
            "A group commits what it has read, so the log once had offsets {stake}. It was truncated, lost its end or "
            "was created again. Or the position was set by hand, or copied from another cluster."
        ),
        fetch=(
            "stop the group: its consumers reset their position, or wait until the log has grown to {offset}",
            "collect server.log of all replicas of {where} since the last change of leader",
            "check whether the topic was created again, and whether positions were copied or set",
        ),
        issues=("KIP-207 (2.2: a new leader answers only when its high watermark is known)",),
        stake=("leo", "offset"),
        always=True,
    ),
)
"""Output of commands: errors first."""
