"""Lines about leaders that answered a fetch with an error of their own: entries of ``known_problems``.

A follower prints such a line only for an error that has no branch of its own (AbstractFetcherThread
.processFetchRequest): a moved leader has one since 1.1, an unknown leader epoch since 2.1, an unknown topic since 2.7.
"""

from __future__ import annotations

from collections.abc import Callable

from forensics.rules.finding import Severity
from forensics.rules.problem_entry import KnownProblem, Records, Row, detail_is
from parsers.details import (
    CORRUPT_ERRORS,
    DENIED_ERRORS,
    MOVED_ERRORS,
    STORAGE_ERRORS,
    UNNAMED_ERROR,
    exception_in,
)
from parsers.schema import Kind

_ANSWERS = (Kind.FETCH_REFUSED, Kind.FETCH_ERROR)
_NAMED_BY_OTHERS = (*STORAGE_ERRORS, *CORRUPT_ERRORS, *DENIED_ERRORS, *MOVED_ERRORS)
_COPIES = "copy {directory} of {leader} and of its followers before you restart or wipe a broker, or move a partition"
_LEADER_LINES = "collect server.log of {leader} at that time: it has the error with its cause"


def _error_is(*names: str) -> Callable[[Row], bool]:
    """A test whether a line names one of some exceptions."""
    return lambda row: exception_in(row["detail"]) in names


def _is_another_error(row: Row) -> bool:
    """Return whether a line names an exception, and none that another entry is about."""
    error = exception_in(row["detail"])
    return error is not None and error not in _NAMED_BY_OTHERS


LEADER_ERRORS: tuple[KnownProblem, ...] = (
    KnownProblem(
        id="leader-storage-error",
        title="Leader cannot read its log: storage error",
        severity=Severity.ERROR,
        kinds=_ANSWERS,
        when=_error_is(*STORAGE_ERRORS),
        states="{leader} answered a fetch of {where}{fetched} with {error}: its disk or log directory failed",
        records=Records.UNKNOWN,
        means=(
            "While this lasts, the leader cannot read its log, and its followers receive nothing more. If another "
            "replica is in the ISR, it becomes leader within seconds. If the line repeats, none does. Then records "
            "above what the followers have are on the leader's disk only."
        ),
        fetch=(
            _COPIES,
            "check the ISR of {where}: a replica outside the ISR that becomes leader may lack committed records",
            "collect server.log of {leader}, and read the kernel's log (dmesg) of its machine: they name the disk",
        ),
        issues=("KIP-112 (1.0: a failed directory goes offline by itself)",),
        always=True,
    ),
    KnownProblem(
        id="leader-log-damaged",
        title="Leader found damaged records in its log",
        severity=Severity.ERROR,
        kinds=_ANSWERS,
        when=_error_is(*CORRUPT_ERRORS),
        states="{leader} answered a fetch of {where}{fetched} with {error}: it cannot read its own segment there",
        records=Records.UNREADABLE,
        means=(
            "The segment of the leader is damaged at or behind that offset. Its followers and its consumers stop "
            "there. A replica in the ISR may have the undamaged records."
        ),
        fetch=(
            _COPIES,
            "run kafka-dump-log on the segment of {where} with that offset, on the leader and on every other replica",
            "move leadership to a replica in the ISR that has the undamaged records",
        ),
        always=True,
    ),
    KnownProblem(
        id="fetch-not-authorized",
        title="Follower is not authorized to fetch",
        severity=Severity.WARNING,
        kinds=_ANSWERS,
        when=_error_is(*DENIED_ERRORS),
        states="{leader} answered a fetch of {where}{fetched} with {error}",
        records=Records.NOTHING_LOST,
        means=(
            "The follower's broker may not fetch from its leader. It falls behind and leaves the ISR. With one copy "
            "less, a failure of the leader may lose records."
        ),
        fetch=(
            "give the principal of the follower's broker ClusterAction on the cluster, or name it in super.users",
            "check the ISR of {where}",
        ),
        leads=True,
    ),
    KnownProblem(
        id="leader-error",
        title="Leader met an error in a fetch",
        severity=Severity.WARNING,
        kinds=_ANSWERS,
        when=_is_another_error,
        states="{leader} answered a fetch of {where}{fetched} with {error}",
        records=Records.UNKNOWN,
        means=(
            "This is no change of leader: the leader itself met an error. The follower tries again. If the line "
            "repeats, it receives nothing more, and leaves the ISR."
        ),
        fetch=(
            _LEADER_LINES,
            "check whether the line repeats with the same offset, and the ISR of {where}",
        ),
    ),
    KnownProblem(
        id="leader-error-unnamed",
        title="Leader refused a fetch, error not shown",
        severity=Severity.INFO,
        kinds=_ANSWERS,
        when=detail_is(UNNAMED_ERROR),
        states="a follower's fetch of {where} from {leader}{fetched} was answered with an error that no line names",
        records=Records.UNKNOWN,
        means=(
            "The broker prints the error in the line below, and this line is missing. It may be routine: the topic is "
            "being created or deleted, or leadership moved. It may be an error of the leader's disk or log."
        ),
        fetch=(
            "collect the line below: it names the error",
            _LEADER_LINES,
            "check whether the line repeats with the same offset, and the ISR of {where}",
        ),
        leads=True,
    ),
)
"""Leaders that could not serve a fetch, and why."""
