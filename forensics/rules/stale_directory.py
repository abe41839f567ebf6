"""A broker has two directories of one partition."""

from __future__ import annotations

import shlex

from forensics.case import Case
from forensics.case.log_directories import LogDirectory
from forensics.replay.confidence import Bearers
from forensics.replay.facts.directory import Copied, Disk, LiveBy
from forensics.replay.history import History
from forensics.rules.causes import CauseId
from forensics.rules.finding import Fact, Finding, Help, Judgement, Rule, Severity, Verdict, advised, judgement, place
from forensics.rules.story import log_directory_at_hand, missing_data
from forensics.rules.wants import Artefact, Question, Want, anywhere, of

ID = "stale-directory"

HELP = Help(
    finds=(
        """\
One broker id has two live data directories of the same partition. One of them is left over from
another time.""",
    ),
    matters=(
        """\
If a broker starts on the wrong directory, it uses a log that the cluster has left behind. If it
finds both directories, it stops.""",
    ),
    evidence=(
        """\
Partition directories in log directories whose ``meta.properties`` (or folder name) gives the
same broker id. If the evidence has a partition's folder without its log directory, the answer
is unknown.""",
    ),
    not_when=(
        """\
The second directory is marked (``-delete``, ``-future``, ``-stray``). Or the evidence contains
the same directory twice, also if it was copied at two times. That is so if ``meta.properties``
of both are equal. If one of them has none, and the live one has each batch of the other, the
answer is unknown.""",
    ),
    versions=(
        """\
All.""",
    ),
    to_do=(
        """\
Keep both directories until the incident is closed: the other one may hold the lost records.""",
        """\
The finding treats as live the directory in the log directory that the broker used last. The
last ``log.dirs`` in its log, or the newest ``meta.properties``, shows that for all partitions
in it. Without these, the directory with the later leader epoch counts as live.""",
        """\
If the leader epochs are equal, the longer log counts, and the finding states that this is not
known. If a whole log directory was left behind, there is one finding, for the first of its
partitions.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


_UNDECIDED = (
    "which directory the broker used last is unknown: both have the same leader epochs, and the longer one need not be "
    "the last"
)

_WHY = {
    LiveBy.LOG_DIRS: "the live directory is in the log directory that the broker logged last as log.dirs",
    LiveBy.WRITTEN: "the live directory is in the log directory whose meta.properties was written last",
    LiveBy.EPOCH: "the live directory is the one with leader epoch {epoch}",
}


def judge(history: History, case: Case) -> Judgement:
    """Report each replica with more than one directory; a log directory that is stale as a whole is reported once."""
    stale = {broker: disk for broker, disk in sorted(history.facts.disks.items()) if disk.left_behind}
    findings = [
        _finding(history, case, broker, disk) for broker, disk in stale.items() if _speaks(history, case, broker, disk)
    ]
    if stale and not findings:
        return Judgement(ID, Verdict.VIOLATED)  # the finding on another partition covers this one too
    missing = missing_data(history, case)
    missing += [
        Want(Question.WHOLE_DIRECTORIES, (of([broker], Artefact.LOG_DIRECTORY),))
        for broker, disk in sorted(history.facts.disks.items())
        if any(one.copied is Copied.PERHAPS for one in disk.stale)
        or (disk.directory is not None and not log_directory_at_hand(history, case, broker))
    ]
    if not missing and all(disk.directory is None for disk in history.facts.disks.values()):
        # No replica is known, and no directory is in the evidence: at most a checkpoint file is.
        missing = [Want(Question.ANY_FILES, (anywhere(Artefact.DATA_DIRECTORY),))]
    return judgement(ID, findings, missing)


def _as_a_whole(case: Case, broker: int, disk: Disk) -> LogDirectory | None:
    """Return the log directory, if it is live with everything in it."""
    if disk.live_by not in (LiveBy.LOG_DIRS, LiveBy.WRITTEN) or disk.directory is None:
        return None
    return case.brokers[broker].directories.get(_root(disk.directory))


def _speaks(history: History, case: Case, broker: int, disk: Disk) -> bool:
    """Return whether the finding about a replica's directories is reported on this partition."""
    live = _as_a_whole(case, broker, disk)
    return live is None or live.first == (history.topic, history.partition)


def _root(directory: str) -> str:
    """The log directory that a partition's directory is in."""
    return directory.rpartition("/")[0]


def _finding(history: History, case: Case, broker: int, disk: Disk) -> Finding:
    why = _WHY.get(disk.live_by or LiveBy.LENGTH)
    whole = _as_a_whole(case, broker, disk)
    refs = (disk.end_ref,) if disk.end_ref is not None else ()
    facts = [
        Fact(f"has {disk.directory} with log end offset {_end(disk.end)}", broker=broker, refs=refs),
        *(
            Fact(f"has {left.directory} with log end offset {_end(left.end)}", broker=broker, refs=(left.ref,))
            for left in disk.left_behind
        ),
    ]
    summary = _of_partition(history, broker, disk)
    left_behind = [one.directory for one in disk.left_behind]
    if whole is not None and disk.directory is not None:
        summary = _of_directory(history, broker, disk, whole)
        left_behind = [_root(one.directory) for one in disk.left_behind]
        directories = case.brokers[broker].directories
        facts += [
            Fact(f"has longer logs in {root} for {directories[root].ahead} of the partitions", broker=broker)
            for root in (_root(disk.directory), *left_behind)
            if root in directories
        ]
    return Finding(
        rule=ID,
        severity=Severity.WARNING,
        **place(history),
        replicas=(broker,),
        summary=summary,
        uncertain=() if why is not None else (_UNDECIDED,),
        inferences=(why.format(epoch=disk.latest),) if why is not None else (),
        facts=tuple(facts),
        cause=CauseId.STALE_DIRECTORY,
        **advised(
            history.name,
            next_steps=(
                (
                    f"compare log.dirs and the last start of broker {broker}, or directory.id of meta.properties "
                    "with what the metadata log registered: that shows which directory the broker used last"
                ),
            ),
            do_not=tuple(
                f"wipe {shlex.quote(left)} before you know that another copy has its records" for left in left_behind
            ),
        ),
        count=len(disk.left_behind),
    )


def _of_partition(history: History, broker: int, disk: Disk) -> str:
    others = ", ".join(f"{left.directory} (log end offset {_end(left.end)})" for left in disk.left_behind)
    return (
        f"broker {broker} has {1 + len(disk.left_behind)} directories of {history.name}: {disk.directory} (log end "
        f"offset {_end(disk.end)}) was read as the live one, not {others}"
    )


def _of_directory(history: History, broker: int, disk: Disk, live: LogDirectory) -> str:
    also = "" if live.shared == 1 else f" and {live.shared - 1} more partition{'s' if live.shared > 2 else ''}"
    others = ", ".join(_root(left.directory) for left in disk.left_behind)
    return (
        f"broker {broker} has {1 + len(disk.left_behind)} log directories with {history.name}{also}: "
        f"{_root(disk.directory or '')} was read as the live one, not {others}"
    )


def _end(offset: int | None) -> str:
    return "unknown" if offset is None else str(offset)


RULE = Rule(
    id=ID,
    severity=Severity.WARNING,
    judge=judge,
    summary="A broker has two directories of one partition.",
    help=HELP,
    bearers=Bearers.ONE,
    about_files=True,
)
