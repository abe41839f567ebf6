"""Cross-checks of a replica's lines against its files and against the lines of other brokers.

If they contradict each other, lines are missing. Nothing here changes what is known: each answer comes with the missing
lines that explain a contradiction, and replay lowers the coverage by them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from forensics.replay.coverage import MissingLines, Omission, Printed, Span
from forensics.replay.facts.directory import NO_DISK
from forensics.replay.history import History, HwSource, HwStatement, Role, ShortenedLog
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.elections import isr_may_have_changed, lines_reach_end
from forensics.replay.leadership.isr_removal_epochs import unaccounted
from forensics.replay.lineage import UNKNOWN, Lineage, differences, same
from forensics.replay.roles.steps import REMOVES, RoleSpan, Step, StepKind

OTHER_RECORDS_ON_DISK = Omission(
    "other-records-on-disk",
    Span.WITHIN,
    "its files hold other records from offset {first} on than its lines imply",
    "a log changes below its end only by a truncation, which Log.truncateTo prints",
)
FOLLOWED_UNTRUNCATED = Omission(
    "followed-untruncated",
    Span.WITHIN,
    (
        "its leader's log has another leader epoch from offset {first} on, but no line shows that it "
        "truncated its own of {end}"
    ),
    "KIP-101: a follower truncates to where its leader's epoch ends before it fetches",
)
LEADER_OF_OLDER_EPOCH = Omission(
    "leader-of-older-epoch",
    Span.WITHIN,
    ("from offset {undated_from} on its log seems to be of an older epoch than its follower's, which did not truncate"),
    "KIP-101: a follower truncates to where its leader's epoch ends before it fetches",
)

HW_ABOVE_LEADERS = Omission(
    "hw-above-leaders",
    Span.WITHIN,
    "its high watermark was {high_watermark}, but its leader in epoch {epoch}, broker {leader}, reached only {last}",
    "a follower takes its high watermark from its leader (ReplicaFetcherThread.processPartitionData)",
)

OMISSIONS = (OTHER_RECORDS_ON_DISK, FOLLOWED_UNTRUNCATED, LEADER_OF_OLDER_EPOCH, HW_ABOVE_LEADERS)
"""Omissions shown by contradictions between lines and files, or between a follower and its leader."""


def confirmed(history: History, statement: HwStatement) -> tuple[HwStatement, MissingLines | None]:
    """Limit a high watermark statement to what the files of its replica confirm.

    A replica that states a high watermark held the records below it. If its files hold other records, and no line says
    that it truncated its log since, lines are missing. The statement may then be about the log that the files show.

    The leader of a follower had reached it, too. If that leader's lines show that it had not, the high watermark is of
    a later role of the follower, of which lines are missing.

    Returns:
        The statement, with an unknown log from the first differing offset, and the missing lines; or unchanged and
        None.
    """
    if (missing := _above_its_leaders(history, statement)) is not None:
        return replace(statement, epoch=UNKNOWN, lineage=Lineage.unknown()), missing
    at = _parts_from_files(history, statement.replica, statement.lineage, statement.high_watermark)
    if at is None or _removed(history, statement, at):
        return statement, None
    if any(statement.replica in (f.left, f.right) and f.ranges[0][0] <= at for f in history.facts.forks):
        return statement, None  # a follower that kept its own tail learns its leader's high watermark nevertheless
    if _is_its_own(history, statement.replica, at):
        return replace(statement, epoch=UNKNOWN, lineage=statement.lineage.known_below(at)), None
    missing = OTHER_RECORDS_ON_DISK.of(statement.replica, {"first": at}, ref=statement.refs[0])
    if at == history.facts.disks[statement.replica].log_start:
        # The files do not confirm what its lines imply about the records below: its log may differ there already.
        at = max((start for _, start in statement.lineage.entries if start <= at), default=0)
    return replace(statement, epoch=UNKNOWN, lineage=statement.lineage.known_below(at)), missing


def _above_its_leaders(history: History, statement: HwStatement) -> MissingLines | None:
    """Return the missing lines that explain a follower's high watermark above the last one of its leader, or None."""
    epoch = history.epochs.get(statement.epoch)
    if epoch is None or epoch.leader in (None, statement.replica) or epoch.other_leaders or history.epoch_rollbacks:
        return None
    last = _last_hw(history, epoch)
    if last is None or statement.high_watermark <= last or not statement.refs:
        return None
    values = {"high_watermark": statement.high_watermark, "leader": epoch.leader, "last": last}
    return HW_ABOVE_LEADERS.of(statement.replica, values, ref=statement.refs[0], epoch=epoch.epoch)


def _last_hw(history: History, epoch: Epoch) -> int | None:
    """Return the high watermark with which a leader stepped down, of an epoch and of those that it led right after.

    The role that it had next, as a follower, begins with it. None if its lines do not show that.
    """
    leader, number = epoch.leader, epoch.epoch
    if leader is None or not history.coverage.whole(leader) or leader in history.coverage.unclaimed:
        return None
    spans = [one for one in history.role_spans.get(leader, ()) if one.epoch >= number]
    for one, two in itertools.pairwise(spans):
        if one.role is not Role.LEADER or one.steps or two.run != one.run or two.epoch != one.epoch + 1:
            return None
        if two.role is Role.FOLLOWER:
            return two.start_hw.value if two.start_hw is not None else None
    return None


def found_shorter_unexplained(
    history: History, shortened: ShortenedLog, row: int | None
) -> tuple[bool, MissingLines | None]:
    """Return whether lines about a log that was found shorter are missing, and which.

    Lines are missing if they are known to be missing for this replica, or for an epoch in between. They are also
    missing if the log it found has other leader epochs on disk than its lines imply: then it truncated and fetched
    again unseen.
    """
    later = [
        role_span.epoch for role_span in history.role_spans[shortened.replica] if role_span.epoch > shortened.epoch
    ]
    if history.coverage.unnamed_between(shortened.epoch, min(later, default=None)):
        return True, None  # of an epoch that no line names no replica's lines are there
    if not history.coverage.has(shortened.replica, Printed.LOG):
        return True, None
    at = _parts_from_files(history, shortened.replica, shortened.lineage, shortened.target)
    if at is None or _shortened_since(history, shortened.replica, at, row):
        return False, None
    return True, OTHER_RECORDS_ON_DISK.of(shortened.replica, {"first": at}, ref=shortened.refs[0])


def _parts_from_files(history: History, broker: int, log: Lineage, end: int) -> int | None:
    """Return the first offset below ``end`` where a replica's files hold another record than its lines imply, or
    None.
    """
    disk = history.facts.disks.get(broker, NO_DISK)
    if disk.end is None or not disk.lineage.entries or history.protocol.truncates_to_hw or history.epoch_rollbacks:
        return None
    first, last = disk.log_start, min(end, disk.end)
    differ = differences(log, disk.lineage, first, last)[0] if first < last else []
    return differ[0][0] if differ else None


def as_it_was(log: Lineage, leaders: Lineage, target: int, end: int) -> Lineage:
    """Return a follower's log as it was before it truncated by leader epoch.

    It truncates at the first offset where the two logs differ, not before (KIP-101, OffsetsForLeaderEpoch). So what
    agrees with the leader's log from the target on is not what the follower had there.
    """
    return log.known_below(target) if same(log, leaders, [(target, end)]) else log


def as_noted(log: Lineage, step: Step, *, noting: bool) -> Lineage:
    """Return a replica's log before a truncation, as far as its epoch file agrees with its lines.

    The epochs that a truncation removes from the file are those of the records that it removes
    (LeaderEpochFileCache.truncateFromEnd). If they are others, another log was put in place of the one that its lines
    show, or another file beside it.

    Args:
        log: the log by its lines.
        step: the truncation.
        noting: the process prints changes of its epoch file.
    """
    noted = Lineage(tuple(sorted(step.noted, key=lambda entry: entry[1])))
    if noted.entries:
        differ = bool(differences(log, noted, noted.entries[0][1], step.known_end)[0])
    else:
        differ = noting and any(epoch >= 0 and step.target <= start < step.known_end for epoch, start in log.entries)
    return log.known_below(step.target) if differ else log


def not_truncated(
    history: History, role_span: RoleSpan, log: Lineage, leaders: Lineage, *, fenced: bool = False
) -> list[MissingLines]:
    """Return the lines that are missing if a follower had to truncate before it fetched and no line shows this.

    The follower asks its leader where the follower's last leader epoch ends, and truncates to that offset (KIP-101).
    From 2.0 on the leader answers with its own last epoch that is not later, and the follower removes what is of later
    epochs (KIP-279). Either the follower's lines about that are missing, or the leader's lines about how its log came
    from an older epoch.

    Args:
        history: the partition.
        role_span: role span of the follower.
        log: the follower's log at the start of the span.
        leaders: the leader's log.
        fenced: both brokers are of 2.5 or later, so that no replica fetches in an epoch that it was not given.
    """
    at, end = _had_to_truncate_to(history, role_span, log, leaders, fenced=fenced), role_span.start_end
    if at is None or not history.coverage.has(role_span.replica, Printed.LOG):
        return []
    found = [FOLLOWED_UNTRUNCATED.of(role_span.replica, {"first": at, "end": end}, ref=role_span.refs[0])]
    if leaders.epoch_at(at) < log.epoch_at(at) and role_span.leader in history.replicas:
        found.append(
            LEADER_OF_OLDER_EPOCH.of(role_span.leader, ref=role_span.refs[0], epoch=role_span.epoch, undated_from=at)
        )
    return found


def _had_to_truncate_to(
    history: History, role_span: RoleSpan, log: Lineage, leaders: Lineage, *, fenced: bool
) -> int | None:
    """Return the offset to which a follower had to truncate before it fetched; None if it had not to, or if unknown."""
    end, last = role_span.start_end, log.entries[-1][0] if log.entries else UNKNOWN
    if history.protocol.truncates_to_hw or not history.protocol.truncation_known or end is None or last < 0:
        return None
    if not leaders.entries or min(leaders.entries)[0] < 0:
        return None
    if max(leaders.entries)[0] <= last or leaders.entries[0][0] > last:
        return None  # up to 1.1 a leader knows no end of an epoch before its own first one
    answer = next(start for epoch, start in leaders.entries if epoch > last)
    if fenced:
        known = max(epoch for epoch, _ in leaders.entries if epoch <= last)
        answer = min([answer, *(start for epoch, start in log.entries if epoch > known)])
    return answer if answer < end else None


def _removed(history: History, statement: HwStatement, at: int) -> bool:
    """Return whether a line shows that a replica lost its log from an offset on after it stated a high watermark."""
    if not statement.refs or statement.refs[0].row is None or statement.how is HwSource.CHECKPOINT:
        return False
    return _shortened_since(history, statement.replica, at, statement.refs[0].row)


def _is_its_own(history: History, broker: int, at: int) -> bool:
    """Return whether a replica's own lines imply the record that its files hold, so that only its leader's log differs.

    Up to 1.1 a leader answers for a leader epoch that it never had with the start of a later one. Its follower then
    keeps records that the leader does not have (KIP-279).
    """
    spans, disk = history.role_spans.get(broker), history.facts.disks[broker]
    own = spans[-1].log if spans else None
    return own is not None and own.epoch_at(at) == disk.lineage.epoch_at(at) >= 0


def _shortened_since(history: History, broker: int, at: int, row: int | None) -> bool:
    """Return whether a line at or after ``row`` shows that a replica lost its records from ``at`` on."""
    return any(
        step.target <= at
        and (step.kind in REMOVES or step.kind is StepKind.LOADED)
        and (step.refs[-1].row or 0) >= (row or 0)
        for role_span in history.role_spans.get(broker, ())
        for step in role_span.steps
    )


def may_have_left_isr(history: History, epoch: Epoch, broker: int) -> bool:
    """Return whether a replica may have left a leader's ISR, in its epoch or in a later one that it led.

    No line of the leader shows it, but the leader's lines are not whole, others state it, or partition epochs count it.
    Or no line names the next epoch, which may have any ISR. A replica that is elected next as the last one in the ISR
    was in it to the end, in any of these epochs.
    """
    if not history.coverage.whole(epoch.leader) or not lines_reach_end(history, epoch):
        return True
    return _left_by_others(history, epoch, broker)


def _left_by_others(history: History, epoch: Epoch, broker: int) -> bool:
    """The same of a leader whose lines are whole."""
    after = history.epochs.after(epoch.epoch)
    follows = next((one for one in after if one.leader not in (None, -1)), None)
    if follows is not None and follows.last_known and follows.leader == broker:
        return False
    if isr_may_have_changed(history, epoch):
        return True
    if after and unaccounted(epoch, after[0], history.facts.removed):
        return True
    return _left_in_epoch(history, epoch, broker) or _left_after(history, epoch, broker, after)


def _left_in_epoch(history: History, epoch: Epoch, broker: int) -> bool:
    """Return whether others state an ISR of an epoch without a replica, which its leader does not state."""
    if any(broker not in isr for isr in epoch.isrs_stated_by_others - {isr for isr, _ in epoch.isr}):
        return True
    _, isr = _last_state(history, epoch.epoch)
    return isr is not None and broker not in isr and broker in epoch.isr[-1][0]


def _left_after(history: History, epoch: Epoch, broker: int, after: Sequence[Epoch]) -> bool:
    """The same of later epochs that the leader led as well, and of one without a leader.

    Args:
        after: the later epochs, in order.
    """
    own = history.role_spans.get(epoch.leader if epoch.leader is not None else -1, ())
    for later in after:
        if history.protocol.kraft and later.leader == -1:
            return _left_before(history, epoch, broker, later.epoch)
        if later.leader != epoch.leader:
            return False
        out = not later.isr or any(broker not in isr for isr, _ in later.isr)
        if out and all(role_span.epoch != later.epoch for role_span in own):
            return True
    return False


def _left_before(history: History, epoch: Epoch, broker: int, number: int) -> bool:
    """Return whether a replica may have left the ISR long before a later epoch without a leader.

    It may have left when its process ended. If changes of the state in between have no line, it may have left at any
    of them.
    """
    (last, _), (then, isr) = _last_state(history, epoch.epoch), _last_state(history, number)
    between = range(last, then) if last is not None and then is not None else ()
    return (isr is None or broker not in isr) and any(state not in history.states for state in between)


def _last_state(history: History, epoch: int) -> tuple[int | None, frozenset[int] | None]:
    """The last partition epoch (zkVersion) that anybody states of a leader epoch, and its ISR where it is stated."""
    stated = history.states.of(epoch)
    return (stated[-1], history.states[stated[-1]].isr) if stated else (None, None)


def agreed(log: Lineage, other: Lineage, end: int) -> Lineage:
    """Return a log up to the offset where another log has other epochs; from there on its epochs are unknown."""
    differ, unknown = differences(log, other, 0, end)
    first = min((start for start, _ in (*differ, *unknown)), default=end)
    return log.known_below(first) if first < end else log
