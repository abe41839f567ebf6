"""Lines about the metadata quorum of a KRaft cluster: entries of ``known_problems``."""

from __future__ import annotations

from forensics.rules.finding import Severity
from forensics.rules.problem_entry import KnownProblem, Records, Row, detail_is, less
from parsers.details import (
    ID_IN_USE,
    NOT_FORMATTED,
    QUORUM_CONTRADICTS,
    QUORUM_EVENT,
    QUORUM_FEATURE,
    QUORUM_KEY,
    QUORUM_LEFT,
    QUORUM_OTHER_CLUSTER,
    QUORUM_RECORD,
    QUORUM_REFUSED,
    QUORUM_SNAPSHOT,
    QUORUM_TRUNCATION,
    QUORUM_UNLED,
    QUORUM_VOTES,
    QUORUM_WAITS,
)
from parsers.schema import Kind
from parsers.takers.metadata_files import TOPIC

_COPY = "copy the __cluster_metadata-0 directory of every controller before any of them is formatted, wiped or restored"
_STATUS = "collect kafka-metadata-quorum describe --status and --replication, and quorum-state of every controller"


def is_later_epoch(row: Row) -> bool:
    """Return whether a node that knew no leader received a later epoch: a vote leaves the epoch as it is."""
    return row["detail"] == QUORUM_UNLED and less("previous_epoch", "leader_epoch")(row)


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
    KnownProblem(
        id="metadata-log-contradicts",
        title="Metadata log contradicts itself",
        severity=Severity.ERROR,
        kinds=(Kind.PROBLEM,),
        when=detail_is(QUORUM_RECORD),
        states="{who} cannot apply a record of its metadata log, because an earlier one contradicts it",
        records=Records.UNKNOWN,
        means=(
            "Either the log has records of two quorums with one cluster id, or a snapshot does not fit it. A "
            "controller that was formatted again, or that began alone, is a quorum by itself. The node stops there at "
            "each start. Segments of topics stay as they are."
        ),
        fetch=(
            _COPY,
            "compare the copies with kafka-dump-log --cluster-metadata-decoder: which topics and leaders has each?",
            _STATUS,
        ),
        always=True,
    ),
    KnownProblem(
        id="metadata-snapshot-missing",
        title="Metadata snapshot missing",
        severity=Severity.ERROR,
        kinds=(Kind.PROBLEM,),
        when=detail_is(QUORUM_SNAPSHOT),
        states="{who} does not start: its metadata log begins at offset {log_start}, and no snapshot reaches that",
        records=Records.UNKNOWN,
        means=(
            "A node deletes the beginning of the metadata log only after a snapshot holds it. So a snapshot file was "
            "deleted, or the directory was copied or restored in part. Segments of topics stay as they are."
        ),
        fetch=(
            _COPY,
            "check the other controllers: if a majority of them runs, this node can fetch a snapshot from the leader",
            "look for *.checkpoint files in backups of __cluster_metadata-0",
        ),
        do_not=("format a controller before you know that a majority has the metadata log",),
        always=True,
    ),
    KnownProblem(
        id="quorum-of-another-cluster",
        title="Metadata quorum of another cluster",
        severity=Severity.ERROR,
        kinds=(Kind.PROBLEM,),
        when=detail_is(QUORUM_OTHER_CLUSTER),
        states="{who} has another cluster id than a controller that it asked, and was refused",
        records=Records.UNKNOWN,
        means=(
            "Each directory got its cluster id when it was formatted. Either {who} was formatted with another id, the "
            "controllers were formatted again, or {who} has the address of another cluster. It cannot join the quorum. "
            "If a majority of the controllers is new, the former topics, leaders and ISRs are in the old directories."
        ),
        fetch=(
            "compare cluster.id in meta.properties of all nodes: that of the directories with your topics is right",
            _COPY,
            "check controller.quorum.voters, and where the cluster id comes from that the nodes are formatted with",
        ),
        do_not=("format the nodes again to make them fit: that removes what the old directories hold",),
        issues=("KAFKA-12465 (the check, since 3.0)",),
        always=True,
    ),
    KnownProblem(
        id="storage-not-formatted",
        title="Node does not start: its directory is not formatted",
        severity=Severity.ERROR,
        kinds=(Kind.PROBLEM,),
        when=detail_is(NOT_FORMATTED),
        states="{who} did not start: its directories have no meta.properties",
        records=Records.UNKNOWN,
        means=(
            "The file is written when a directory is formatted, and stays there. For a new node that step is missing. "
            "A node that ran before has another directory now: a volume is not mounted, is new, or was emptied, "
            "log.dirs changed, or the directory was below /tmp."
        ),
        fetch=(
            "if the node ran before: check log.dirs, metadata.log.dir and the mount, and look for the old directory",
            "if its directory is gone: check that a majority of the controllers and the other replicas have theirs",
            "format a new directory with the cluster id of the other nodes (cluster.id in their meta.properties)",
        ),
        do_not=("format a directory that has records or metadata: mount or restore meta.properties instead",),
        issues=("KIP-631 (KRaft nodes are formatted before their first start)",),
        always=True,
    ),
    KnownProblem(
        id="release-below-metadata-version",
        title="Release is older than the metadata version",
        severity=Severity.ERROR,
        kinds=(Kind.PROBLEM,),
        when=detail_is(QUORUM_FEATURE),
        states="a broker or controller runs a release that does not know the metadata.version of its cluster",
        records=Records.NOTHING_LOST,
        means=(
            "The release of the process is older than the cluster: it was downgraded, its image has another tag, or "
            "its storage was formatted by a newer release. It stops at each start or cannot register. A newer release "
            "reads its metadata log and its segments."
        ),
        fetch=(
            "start the release that ran before, or a newer one. kafka-features describe shows the metadata.version",
            "collect the lines about versions of this process and of those that run",
        ),
        do_not=("format the storage again: a newer release reads it",),
        issues=("KIP-584 (features), KIP-778 (metadata.version)",),
        always=True,
    ),
    KnownProblem(
        id="snapshot-above-high-watermark",
        title="Metadata snapshot above the high watermark",
        severity=Severity.WARNING,
        kinds=(Kind.LOG_START_REFUSED,),
        when=lambda row: row["topic"] == TOPIC,
        states="{who} has a snapshot of the metadata log up to {log_start}, above its high watermark {hw}",
        records=Records.UNKNOWN,
        means=(
            "Soon after a start that is routine: a node learns the high watermark from the quorum. If the line "
            "continues, or this is the only controller, its metadata log is shorter than it was: its end was not on "
            "disk at a power loss, or the directory was restored."
        ),
        fetch=(
            _COPY,
            _STATUS,
            "collect the log end offset of the metadata log at the last start of each controller",
        ),
        always=True,
    ),
    KnownProblem(
        id="voter-replaced",
        title="Voter of the metadata quorum has another directory",
        severity=Severity.WARNING,
        kinds=(Kind.PROBLEM,),
        when=detail_is(QUORUM_KEY),
        states="{who} was addressed as a voter with another node id or directory id than its own",
        records=Records.UNKNOWN,
        means=(
            "A voter is a node id and the id of its metadata directory. Either its directory was formatted again or "
            "replaced, or another node has its address. The quorum still counts the former directory, and this node "
            "has no vote. A new directory begins without the metadata log."
        ),
        fetch=(
            "compare directory.id in meta.properties of {who} with kafka-metadata-quorum describe --replication",
            _COPY,
            "then add {who} with add-controller, and remove its former directory with remove-controller",
        ),
        issues=("KIP-853 (3.9: voters have directory ids)",),
        always=True,
    ),
    KnownProblem(
        id="controller-event-failed",
        title="Active controller gave up after an error",
        severity=Severity.WARNING,
        kinds=(Kind.PROBLEM,),
        when=detail_is(QUORUM_EVENT),
        states="{who}, the active controller, met an error in an event and gave up its leadership of the quorum",
        records=Records.UNKNOWN,
        means=(
            "It takes back the changes of topics, leaders and ISRs that are not committed, and the quorum elects a "
            "leader. The line names the exception. NotLeaderException is routine if the node had just lost the "
            "leadership; others meet each new leader until the cause is gone."
        ),
        fetch=(
            "collect the exception below the line, and the same lines of every controller",
            _STATUS,
            _COPY,
        ),
    ),
    KnownProblem(
        id="quorum-without-majority",
        title="Election of the metadata quorum without a winner",
        severity=Severity.WARNING,
        kinds=(Kind.PROBLEM,),
        when=detail_is(QUORUM_VOTES),
        states="{who} asks for votes of the metadata quorum again, in epoch {leader_epoch}: no candidate won before",
        records=Records.NOTHING_LOST,
        means=(
            "Without a majority of the controllers, the quorum has no leader. Brokers keep the leaders that they have, "
            "but topics, leaders and ISRs cannot change: a partition whose leader fails stays without one."
        ),
        fetch=(
            "check that a majority of the controllers runs, and that they reach each other at controller.quorum.voters",
            _STATUS,
        ),
    ),
    KnownProblem(
        id="broker-id-in-use",
        title="Broker id is in use",
        severity=Severity.INFO,
        kinds=(Kind.PROBLEM,),
        when=detail_is(ID_IN_USE),
        states="the controller refused {who}: another process is registered with its id",
        records=Records.NOTHING_LOST,
        means=(
            "After a kill that is routine: the former process counts as running until its session ends "
            "(broker.session.timeout.ms, 9 seconds), and the broker tries again. If it continues, two processes have "
            "the same id."
        ),
        fetch=(
            "check whether a later line says that {who} is registered",
            "if none does: look for a second process or container with the node.id of {who}",
        ),
        issues=("KIP-631 (registration of brokers)",),
        leads=True,
    ),
    KnownProblem(
        id="quorum-epoch-without-leader",
        title="Epoch of the metadata quorum without a leader",
        severity=Severity.INFO,
        kinds=(Kind.PROBLEM,),
        when=is_later_epoch,
        states=(
            "{who} received epoch {leader_epoch} of the metadata quorum, and knew no leader of epoch {previous_epoch}"
        ),
        records=Records.NOTHING_LOST,
        means=(
            "Once, during an election, that is routine. If epochs rise again and again, no controller gets a majority: "
            "topics, leaders and ISRs cannot change, and a partition whose leader fails stays without one."
        ),
        fetch=(
            "check whether a later line names a leader of the quorum, and that a majority of the controllers runs",
            "check that all controllers reach each other, and that their metadata logs end alike",
            _STATUS,
        ),
        leads=True,
        beside=("quorum-without-majority", "quorum-leadership-left"),
    ),
    KnownProblem(
        id="quorum-not-reached",
        title="Node waits for the metadata quorum",
        severity=Severity.INFO,
        kinds=(Kind.PROBLEM,),
        when=detail_is(QUORUM_WAITS),
        states="{who} does not know the high watermark of the metadata log yet, and waits for it",
        records=Records.NOTHING_LOST,
        means=(
            "Some such lines are routine at each start. If they continue for minutes, the quorum has no leader, this "
            "node does not reach it, or the node has no voters. It serves nothing meanwhile, and its records stay."
        ),
        fetch=(
            "check that a majority of the controllers runs, and that this node reaches them",
            "compare controller.quorum.voters, or controller.quorum.bootstrap.servers, and cluster.id of all nodes",
            _STATUS,
        ),
        leads=True,
        beside=("quorum-without-majority", "quorum-epoch-without-leader"),
    ),
    KnownProblem(
        id="quorum-votes-refused",
        title="Candidate of the metadata quorum refused",
        severity=Severity.INFO,
        kinds=(Kind.PROBLEM,),
        when=detail_is(QUORUM_REFUSED),
        states="{who} cannot lead the metadata quorum: a majority of the controllers refuses its votes",
        records=Records.NOTHING_LOST,
        means=(
            "Controllers refuse a candidate whose metadata log is shorter than theirs. They also do if they have a "
            "leader, or voted for another candidate. Once, that is routine. Again and again, the quorum may have no "
            "leader."
        ),
        fetch=(
            (
                "check whether a later line names a leader of the quorum. If none does, check that a majority runs, "
                "and that the controllers reach each other"
            ),
            _STATUS,
        ),
        leads=True,
    ),
    KnownProblem(
        id="quorum-leadership-left",
        title="Controller no longer leads the metadata quorum",
        severity=Severity.INFO,
        kinds=(Kind.PROBLEM,),
        when=detail_is(QUORUM_LEFT),
        states="{who} led the metadata quorum in epoch {previous_epoch}, and does not lead it any longer",
        records=Records.NOTHING_LOST,
        means=(
            "Routine if the controller stops. Otherwise the other voters did not hear from it in time: a long pause, a "
            "slow disk or a broken connection. It takes back what is not committed. Brokers keep the leaders that they "
            "have until a new controller is active."
        ),
        fetch=(
            "collect the lines of all controllers from the minute before and after: who became leader, and why",
            "if it happens often: compare pauses of the JVM and of the disk with quorum.fetch.timeout.ms",
        ),
        leads=True,
    ),
)
"""Contradictions within the quorum and changes of its leader: errors first."""
