"""Lines about followers that stopped fetching: entries of ``known_problems``."""

from __future__ import annotations

from forensics.replay.facts.refusals import reachable
from forensics.rules.finding import Severity
from forensics.rules.problem_entry import KnownProblem, Records, Row, detail_is, detail_is_not, less
from parsers.details import FETCHED_OFFSET, FUTURE_REPLICA
from parsers.schema import Kind
from parsers.takers.metadata_files import TOPIC


def _is_impossible(row: Row) -> bool:
    """Return whether a leader's log would begin at an offset that no log reaches."""
    return row["log_start"] is not None and not reachable(row["log_start"])


FETCHERS: tuple[KnownProblem, ...] = (
    KnownProblem(
        id="log-start-impossible",
        title="Log start that no log reaches refused",
        severity=Severity.WARNING,
        kinds=(Kind.LOG_START_REFUSED,),
        when=_is_impossible,
        states=(
            "{who} refused to move the log start of {where} to {log_start}: no log reaches this offset, and its high "
            "watermark is {hw}"
        ),
        records=Records.NOTHING_LOST,
        means=(
            "The number changed on its way: in the memory of one of the two brokers, on the network between them, or "
            "in a file of the leader. The follower deleted nothing. It no longer replicates {where} until its fetcher "
            "starts again."
        ),
        fetch=(
            "check whether {who} fetches damaged records from several leaders: then its memory or network is faulty",
            "test the memory and the network of both machines, and collect log-start-offset-checkpoint of the leader",
            "then restart the follower or move leadership, to start its fetcher again",
        ),
        always=True,
    ),
    KnownProblem(
        id="log-start-above-high-watermark",
        title="Log start above the high watermark refused",
        severity=Severity.WARNING,
        kinds=(Kind.LOG_START_REFUSED,),
        when=lambda row: row["topic"] != TOPIC,
        states="{who} refused to move the log start of {where} to {log_start}, above its high watermark {hw}",
        records=Records.NOTHING_LOST,
        means=(
            "A refusal deletes nothing. Mostly this is a follower: its leader deleted records, by retention or "
            "request, while it was catching up, and its fetcher thread fails. A client that asks to delete records "
            "that are not committed gets the same error."
        ),
        fetch=(
            "check the ISR of every partition of that fetcher: older releases stop fetching all of them",
            "restart the follower, or upgrade it",
            "collect the leader's lines about the log start offset of {where}",
        ),
        issues=("KAFKA-7104 (a race in the leader's answer; fixed in 1.0.2, 1.1.1 and 2.0)",),
        always=True,
    ),
    KnownProblem(
        id="fetch-beyond-log-end",
        title="Follower stopped: its log ends below the fetched offset",
        severity=Severity.WARNING,
        kinds=(Kind.APPEND_REFUSED,),
        when=lambda row: row["detail"] == FETCHED_OFFSET and not less("offset", "leo")(row),
        states="{who} fetched {where} from offset {offset}, but its log ends at {leo}",
        records=Records.UNKNOWN,
        means=(
            "The log of the follower became shorter than its fetcher knew: something truncated it in the meantime. The "
            "line does not state what. The follower no longer replicates {where} until its fetcher starts again."
        ),
        fetch=(
            "collect server.log of {who} from its last role change of {where} on: it shows what truncated the log",
            "check the ISR of {where}: while this follower has stopped, there are fewer copies",
            "restart the follower, or move leadership, to start its fetcher again",
        ),
        always=True,
    ),
    KnownProblem(
        id="future-replica-stopped",
        title="Move to another directory stopped",
        severity=Severity.WARNING,
        kinds=(Kind.FETCH_FAILED,),
        when=detail_is(FUTURE_REPLICA),
        states=(
            "the copy of {where} into another directory of its broker stopped: it fetched from offset {offset}, and "
            "its log ends at {leo}"
        ),
        records=Records.NOTHING_LOST,
        means=(
            "The broker copies the log into another of its directories (KIP-113), and this copy stopped. It is in no "
            "ISR: the replica itself continues in its present directory."
        ),
        fetch=(
            "run kafka-reassign-partitions --verify: it shows whether the move is still open",
            "cancel the move, or restart the broker, to start the copy again",
            "if it occurs again: upgrade to 3.5 or later",
        ),
        issues=("KAFKA-9087 (fixed in 3.5)",),
        always=True,
    ),
    KnownProblem(
        id="fetcher-stopped",
        title="Follower stopped fetching",
        severity=Severity.WARNING,
        kinds=(Kind.FETCH_FAILED,),
        when=detail_is_not(FUTURE_REPLICA),
        states="a replica no longer fetches {where}: its fetcher met an error",
        records=Records.NOTHING_LOST,
        means=(
            "Up to 2.2 the whole thread stops with each partition that it fetches, until the broker restarts. "
            "Since 2.3 one partition stops, until it gets a new leader epoch. The replica then leaves the ISR."
        ),
        fetch=(
            "collect the exception below the line: it names the cause and the offset",
            "check the ISR of {where}: while this follower has stopped, there are fewer copies",
            "after you know the cause, restart the follower or move leadership, to start its fetcher again",
        ),
        issues=("KIP-461 (2.3: one partition fails, not the thread)",),
        part_of=(
            "truncation-refused",
            "out-of-order-append",
            "fetch-offset-mismatch",
            "fetch-beyond-log-end",
            "future-replica-stopped",
            "append-refused",
            "log-start-above-high-watermark",
            "log-start-impossible",
        ),
    ),
)
"""Followers that stopped, and why."""
