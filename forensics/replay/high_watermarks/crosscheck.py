"""Cross-checks of a replica's lines against its files and against the lines of other brokers.

If they contradict each other, lines are missing. Nothing here changes what is known: each answer comes with the missing
lines that explain a contradiction, and replay lowers the coverage by them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from forensics.replay.coverage import MissingLines, Omission, Printed, Span
from forensics.replay.history import Epoch, History, HwSource, HwStatement, ShortenedLog
from forensics.replay.leadership.epoch_start import NO_DISK
from forensics.replay.leadership.isr_removal_epochs import unaccounted
from forensics.replay.lineage import UNKNOWN, Lineage, differences, same
from forensics.replay.roles.log_ends import log_end
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

OMISSIONS = (OTHER_RECORDS_ON_DISK, FOLLOWED_UNTRUNCATED, LEADER_OF_OLDER_EPOCH)
"""Omissions shown by contradictions between lines and files, or between a follower and its leader."""


def confirmed(history: History, statement: HwStatement) -> tuple[HwStatement, MissingLines | None]:
    """Limit a high watermark statement to what the files of its replica confirm.

    A replica that states a high watermark held the records below it. If its files hold other records, and no line says
    that it truncated its log since, lines are missing. The statement may then be about the log that the files show.

    Returns:
        The statement, with an unknown log from the first differing offset, and the missing lines; or unchanged and
        None.
    """
    at = _parts_from_files(history, statement.replica, statement.lineage, statement.high_watermark)
    if at is None or _removed(history, statement, at):
        return statement, None
    if any(statement.replica in (f.left, f.right) and f.ranges[0][0] <= at for f in history.facts.forks):
        return statement, None  # a follower that kept its own tail learns its leader's high watermark nevertheless
    missing = OTHER_RECORDS_ON_DISK.of(statement.replica, {"first": at}, ref=statement.refs[0])
    if at == history.facts.disks[statement.replica].log_start:
        # The files do not confirm what its lines imply about the records below: its log may differ there already.
        at = max((start for _, start in statement.lineage.entries if start <= at), default=0)
    return replace(statement, epoch=UNKNOWN, lineage=statement.lineage.known_below(at)), missing


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
    if disk.end is None or not disk.lineage.entries or history.truncates_to_hw or history.epoch_rollbacks:
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
    if history.truncates_to_hw or not history.protocol_known or end is None or last < 0:
        return None
    if any(epoch < 0 for epoch, _ in leaders.entries):
        return None
    answer = next((start for epoch, start in leaders.entries if epoch > last), None)
    if answer is None or leaders.entries[0][0] > last:
        return None  # up to 1.1 a leader knows no end of an epoch before its own first one
    if fenced:
        known = max(epoch for epoch, _ in leaders.entries if epoch <= last)
        answer = min([answer, *(start for epoch, start in log.entries if epoch > known)])
    return answer if answer < end else None


def beyond_lines(history: History, statement: HwStatement) -> int | None:
    """Return the offset from which it is unknown which log a replica's last high watermark statement is about.

    That is the start of a later epoch, below the stated high watermark, that the replica's lines do not name. None if
    its lines reach the end of the evidence and it was in no later ISR.
    """
    unseen = _before_another_process(history, statement)
    start = unseen if unseen is not None else _unlike_its_leader(history, statement)
    if start is not None or statement.earlier:
        return start
    return _start_below(_maybe_begun_before(history, statement), statement.high_watermark)


def _maybe_begun_before(history: History, statement: HwStatement) -> list[Epoch]:
    """Return later epochs that a replica may have received, without a line on them, before it stated a high watermark.

    That is up to its next role if the line with which that role began may be missing. After its last role, it is every
    later epoch if its lines do not reach the end of the evidence, or if it was in one of their ISRs.
    """
    broker = statement.replica
    until = _maybe_begun(history, statement) if broker in history.coverage.unclaimed else None
    last = max((role_span.epoch for role_span in history.role_spans.get(broker, ())), default=UNKNOWN)
    if until is None and statement.epoch != last:
        return []
    later = [epoch for epoch in history.taken_up if epoch.epoch > statement.epoch]
    if until is not None:
        return [epoch for epoch in later if epoch.epoch <= until]
    # A member of its ISR was given this epoch, so lines are missing.
    elected_with = any(broker in isr for epoch in later for isr, _ in epoch.isr)
    return later if elected_with or not history.coverage.has(broker, Printed.ROLES, Span.AFTER) else []


def _maybe_begun(history: History, statement: HwStatement) -> int | None:
    """Return the next role of a replica if it may have begun before the replica stated a high watermark; or None.

    A trace that claims nothing may leave out the line with which a role begins. Then the first line on it is one that
    states no log end offset and no high watermark of its own, such as a request of the controller.
    """
    for one, two in itertools.pairwise(history.role_spans.get(statement.replica, ())):
        stated = {ref.row for ref in (two.start_ref, two.start_hw.ref if two.start_hw else None) if ref is not None}
        if one.epoch == statement.epoch and stated.isdisjoint(ref.row for ref in two.refs):
            return two.epoch
    return None


def _start_below(epochs: Iterable[Epoch], hw: int) -> int | None:
    """Return the start of the first of some epochs that begins below a high watermark, or the least it can be."""
    return next((epoch.begins.low for epoch in epochs if epoch.begins.low < hw), None)


def _unlike_its_leader(history: History, statement: HwStatement) -> int | None:
    """Return where a checkpoint's replica and its leader have different segments, if the checkpoint is beyond the
    leader's log.

    None if the leader had a later role, or if the log end offset of its files reaches the checkpoint.
    """
    epoch = history.epochs.get(statement.epoch)
    leader = epoch.leader if epoch is not None else None
    if statement.how is not HwSource.CHECKPOINT or leader is None or leader == statement.replica:
        return None
    spans, end = history.role_spans.get(leader, ()), history.facts.disks.get(leader, NO_DISK).end
    if not spans or spans[-1].epoch != statement.epoch or spans[-1].steps:
        return None
    if end is None or end >= statement.high_watermark:
        return None  # a follower that kept its own tail learns its leader's high watermark nevertheless
    return min((start for start, _ in history.facts.diverging_ranges(statement.replica, leader)), default=None)


def _removed(history: History, statement: HwStatement, at: int) -> bool:
    """Return whether a line shows that a replica lost its log from an offset on after it stated a high watermark."""
    if not statement.refs or statement.refs[0].row is None or statement.how is HwSource.CHECKPOINT:
        return False
    return _shortened_since(history, statement.replica, at, statement.refs[0].row)


def _before_another_process(history: History, statement: HwStatement) -> int | None:
    """Return the start of an unseen epoch, for a replica that restarted after it stated a high watermark.

    The replica's next process was given a later epoch, and an epoch in between was elected with the replica in its ISR.
    The process that stated the high watermark was given that epoch too.
    """
    if history.truncates_to_hw or statement.earlier:
        return None
    pairs = itertools.pairwise(history.role_spans.get(statement.replica, ()))
    restarts = (pair for pair in pairs if pair[0].epoch == statement.epoch and pair[0].run != pair[1].run)
    given = itertools.chain.from_iterable(_given_between(history, *pair) for pair in restarts)
    return _start_below(given, statement.high_watermark)


def _given_between(history: History, one: RoleSpan, two: RoleSpan) -> Iterator[Epoch]:
    """Yield the epochs since a role, up to the next one, that were sent to the replica as an elected ISR member.

    Those that it led itself are left out: it has lines about them.
    """
    since = (epoch for epoch in history.taken_up if one.epoch < epoch.epoch <= two.epoch)
    return (epoch for epoch in since if epoch.leader != one.replica and epoch.elected_with(one.replica))


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

    No line of the leader shows it, but the leader's lines are not whole, or others state it. Or no line names the next
    epoch, which may have any ISR. A replica that is elected next as the last one in the ISR was in it to the end, in
    any of these epochs.
    """
    if not history.coverage.whole(epoch.leader):
        return True
    return _left_by_others(history, epoch, broker)


def _left_by_others(history: History, epoch: Epoch, broker: int) -> bool:
    """The same of a leader whose lines are whole."""
    led = (one for n, one in history.epochs.items() if n > epoch.epoch and one.leader not in (None, -1))
    if (follows := next(led, None)) is not None and follows.last_known and follows.leader == broker:
        return False
    after = sorted(n for n in history.epochs if n > epoch.epoch)
    if after and unaccounted(epoch, history.epochs[after[0]], history.facts.removed):
        return True
    return _left_in_epoch(history, epoch, broker) or _left_after(history, epoch, broker, after)


def _left_in_epoch(history: History, epoch: Epoch, broker: int) -> bool:
    """Return whether others state an ISR of an epoch without a replica, which its leader does not state."""
    if any(broker not in isr for isr in epoch.isrs_stated_by_others - {isr for isr, _ in epoch.isr}):
        return True
    _, isr = _last_state(history, epoch.epoch)
    return isr is not None and broker not in isr and broker in epoch.isr[-1][0]


def _left_after(history: History, epoch: Epoch, broker: int, after: Sequence[int]) -> bool:
    """The same of later epochs that the leader led as well, and of one without a leader.

    Args:
        after: numbers of later epochs, in order.
    """
    leader = epoch.leader if epoch.leader is not None else -1
    own = {role_span.epoch for role_span in history.role_spans.get(leader, ())}
    for number in after:
        later = history.epochs[number]
        if history.kraft and later.leader == -1:
            return _left_before(history, epoch, broker, number)
        if later.leader != epoch.leader:
            return False
        if number not in own and (not later.isr or any(broker not in isr for isr, _ in later.isr)):
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
    last = max((state for state, (of, _) in history.states.items() if of == epoch), default=None)
    return last, history.states[last][1] if last is not None else None


def next_start(history: History, broker: int, number: int, hw: int) -> int | None:
    """Return the start of the first later epoch that begins below a high watermark that the replica may have reached in
    it.

    None if the replica's files show the leader epochs of its log. Before message format v2 they do not.
    """
    disk = history.facts.disks.get(broker, NO_DISK)
    if disk.end is not None and disk.lineage.entries:
        return None
    later = [epoch for epoch in history.taken_up if epoch.epoch > number]
    later = [e for e in later if (end := log_end(history, e.leader, e.epoch).high) is None or end >= hw]
    return _start_below((e for e in later if not _fetched_none(history, broker, hw, e)), hw)


def _fetched_none(history: History, broker: int, hw: int, epoch: Epoch) -> bool:
    """Return whether a replica fetched none of the records below its high watermark under a later leader.

    This holds if its records right below the high watermark differ from that leader's. Up to 0.10 a new follower first
    truncates its log to its own high watermark (ReplicaManager.makeFollowers), so it would have fetched all records
    between that and a higher one.
    """
    leader = epoch.leader if epoch.leader is not None else -1
    ends = [history.facts.disks.get(one, NO_DISK).end or 0 for one in (broker, leader)]
    last = min(hw, ends[1]) - 1
    return ends[0] >= hw and any(first <= last < end for first, end in history.facts.diverging_ranges(broker, leader))


def agreed(log: Lineage, other: Lineage, end: int) -> Lineage:
    """Return a log up to the offset where another log has other epochs; from there on its epochs are unknown."""
    differ, unknown = differences(log, other, 0, end)
    first = min((start for start, _ in (*differ, *unknown)), default=end)
    return log.known_below(first) if first < end else log
