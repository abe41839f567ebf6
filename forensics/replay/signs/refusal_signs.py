"""Signs of a loss in the refusals of brokers, and in the complaints of brokers and consumers.

Each line states two offsets that contradict each other; see ``replay.facts.refusals``. Such a line is a sign where
nothing routine explains it.
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.replay.coverage import Printed
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.refusals import Complaint, reachable
from forensics.replay.history import History, Role
from forensics.replay.roles.steps import RoleSpan
from forensics.replay.signs.sign import Sign, Suspicion
from parsers.details import BATCH_OFFSETS
from parsers.schema import Kind


def _span_at(history: History, complaint: Complaint) -> RoleSpan | None:
    """Return the role in which a broker logged a line about its replica, if known."""
    spans = history.role_spans.get(complaint.broker, ()) if complaint.broker is not None else ()
    begun = [one for one in spans if one.epoch >= 0 and one.refs and (one.refs[0].row or 0) <= complaint.row]
    return begun[-1] if begun else None


def _complaints_of(history: History, *kinds: Kind) -> Iterator[tuple[Complaint, RoleSpan | None]]:
    """Yield complaints of some kinds, with the role of the broker that logged them."""
    for one in history.facts.complaints:
        if one.kind in kinds:
            yield one, _span_at(history, one)


def line_of(complaint: Complaint, note: str) -> Ref:
    """Return the line of a complaint, with what it states."""
    return Ref(row=complaint.row, note=note)


def _of_complaint(
    sign: Sign, one: Complaint, role_span: RoleSpan | None, first: int, end: int, refs: tuple[Ref, ...]
) -> Suspicion:
    """Return the suspicion that follows from a complaint about its broker's replica."""
    epoch = role_span.epoch if role_span is not None else one.leader_epoch
    return Suspicion(
        sign, one.broker, one.leader, epoch if epoch is not None else -1, -1, first, end, one.time, refs
    )  # fmt: skip


def refused_to_truncate(history: History) -> Iterator[Suspicion]:
    """Yield brokers that stopped because their leader's log ends below theirs and unclean elections are not allowed.

    See ReplicaFetcherThread.handleOffsetOutOfRange, up to 1.1.
    """
    for one, role_span in _complaints_of(history, Kind.TRUNCATION_REFUSED):
        if one.offset is not None and one.leo is not None and one.leo < one.offset:
            refs = (line_of(one, f"its log ends at {one.offset}, its leader's at {one.leo}"),)
            yield _of_complaint(Sign.TRUNCATION_REFUSED, one, role_span, one.leo, one.offset, refs)


def leader_is_shorter(history: History) -> Iterator[Suspicion]:
    """Yield followers that reset their fetch offset to their leader's log end offset.

    A leader's log that *starts* above the follower's is the result of retention. A log whose start moved to remote
    storage (KIP-405) is not shorter. Release 0.8 also resets a follower to its leader's log *start*, and prints that
    first; it does so only if its leader's log is not shorter (ReplicaFetcherThread.handleOffsetOutOfRange, KAFKA-2143).
    """
    starts: dict[tuple[int, int | None], int | None] = {}
    for one, role_span in _complaints_of(history, Kind.FETCH_RESET, Kind.FETCH_OFFSET_SET):
        place = (one.source, one.broker)
        if one.kind == Kind.FETCH_RESET and (one.log_start is not None or one.leo is not None):
            starts[place] = one.log_start
        elif one.kind == Kind.FETCH_OFFSET_SET and one.leo is not None and starts.pop(place, None) == one.leo:
            continue
        # If a line states its role, its truncation is judged. The line about its fetcher alone implies one.
        stated = role_span is not None and history.coverage.are_about(one.broker, Printed.ROLES)
        judged = one.log_start is not None or stated
        if one.offset is not None and one.leo is not None and one.leo < one.offset and not judged:
            refs = (line_of(one, f"it fetched from {one.offset}, its leader's log ends at {one.leo}"),)
            yield _of_complaint(Sign.LEADER_ENDS_BELOW_FOLLOWER, one, role_span, one.leo, one.offset, refs)


def reader_diverges(history: History) -> Iterator[Suspicion]:
    """Yield consumers whose leader has no records of the epoch that they read up to their position (KIP-320).

    Only the leader answers where a leader epoch ends (OffsetsForLeaderEpoch), and its log may be longer than that. The
    epoch of a position is that of the last record read, or of a commit that states it.
    """
    for one, _ in _complaints_of(history, Kind.CONSUMER_TRUNCATED):
        if one.offset is not None and one.leo is not None and 0 <= one.leo < one.offset:
            read, led = (-1 if epoch is None else epoch for epoch in (one.previous_epoch, one.leader_epoch))
            refs = (line_of(one, f"position {one.offset}, where its epoch ends for the leader: {one.leo}"),)
            yield Suspicion(
                Sign.READER_DIVERGES, one.leader, None, led, read, one.leo, one.offset, one.time, refs
            )  # fmt: skip


def committed_beyond(history: History) -> Iterator[Suspicion]:
    """Yield positions of consumer groups above the end of the log (``kafka-consumer-groups --describe``).

    The command asks for positions first and for log ends later, so a log that only grows is never shorter.
    """
    for one, _ in _complaints_of(history, Kind.GROUP_DESCRIBED):
        if one.offset is not None and one.leo is not None and one.leo < one.offset:
            refs = (line_of(one, f"position {one.offset}, the log ends at {one.leo}"),)
            yield Suspicion(
                Sign.POSITION_BEYOND_LOG_END, None, None, -1, -1, one.leo, one.offset, one.time, refs
            )  # fmt: skip


def beyond_the_end(history: History) -> Iterator[Suspicion]:
    """Yield readers of committed records that request more than a leader's log has, as the leader logs it: the log was
    longer once, or they never read it.

    Consumers that read from a follower may be ahead of it (KIP-392), so a follower's line proves nothing.
    """
    for one, role_span in _complaints_of(history, Kind.OUT_OF_RANGE):
        if role_span is not None and role_span.role is not Role.LEADER:
            continue
        if one.offset is not None and one.leo is not None and 0 <= one.leo < one.offset:
            refs = (line_of(one, f"asked for offset {one.offset}, its log ends at {one.leo}"),)
            yield _of_complaint(Sign.READER_BEYOND_LOG_END, one, role_span, one.leo, one.offset, refs)


def set_back(history: History) -> Iterator[Suspicion]:
    """Yield consumers that were set back from a position that their leader called out of range."""
    for one, back in _set_back(history):
        if one.offset is not None and back.offset is not None:
            refs = (line_of(one, f"position {one.offset} is out of range"), line_of(back, f"set back to {back.offset}"))
            read, led = (-1 if epoch is None else epoch for epoch in (one.previous_epoch, one.leader_epoch))
            yield Suspicion(
                Sign.READER_SET_BACK, one.leader, None, led, read, back.offset, one.offset, one.time, refs
            )  # fmt: skip


def _set_back(history: History) -> Iterator[tuple[Complaint, Complaint]]:
    """Yield positions out of range, each with the reset that followed, if that was to a lower offset.

    A reset goes to the end or the start of the log, so a lower offset suggests that the position was above the end. It
    may also be within the log, if the leader's log no longer has the epoch of the position (KAFKA-19902). A reset to a
    higher offset is the result of retention. A position that somebody had set shows nothing: no record was read there.
    """
    waiting: dict[int, Complaint] = {}
    chosen: set[tuple[int, int | None]] = set()
    for one, _ in _complaints_of(history, Kind.CONSUMER_OUT_OF_RANGE, Kind.CONSUMER_RESET, Kind.CONSUMER_SET):
        if one.kind == Kind.CONSUMER_SET:
            chosen.add((one.source, one.offset))
        elif one.kind == Kind.CONSUMER_OUT_OF_RANGE:
            if (one.source, one.offset) not in chosen:
                waiting[one.source] = one
        elif (asked := waiting.pop(one.source, None)) is not None and (one.offset or 0) < (asked.offset or 0):
            yield asked, one


def starts_above(history: History) -> Iterator[Suspicion]:
    """Yield followers whose leader's log starts above their high watermark.

    A leader logs the same if a client asks it to delete uncommitted records (DeleteRecords): the client gets an error
    and nothing happens. A log start that no log reaches is a damaged number, and no sign about a log.
    """
    for one, role_span in _complaints_of(history, Kind.LOG_START_REFUSED):
        if role_span is not None and role_span.role is Role.LEADER:
            continue
        if (
            one.hw is not None
            and one.log_start is not None
            and 0 <= one.hw < one.log_start
            and reachable(one.log_start)
        ):
            refs = (line_of(one, f"log start offset {one.log_start} wanted, high watermark {one.hw}"),)
            yield _of_complaint(Sign.LOG_START_ABOVE_HIGH_WATERMARK, one, role_span, one.hw, one.log_start, refs)


def append_refused(history: History) -> Iterator[Suspicion]:
    """Yield followers that receive records at offsets that they already have (Log.append, from 1.0 on).

    A *fetch offset* that differs from the log end offset is a race of fetcher threads (KAFKA-13266), and no sign.
    """
    for one, role_span in _complaints_of(history, Kind.APPEND_REFUSED):
        if role_span is not None and role_span.role is Role.LEADER:
            continue
        if one.detail in BATCH_OFFSETS and one.offset is not None and one.leo is not None and 0 <= one.offset < one.leo:
            refs = (line_of(one, f"records from offset {one.offset} on, its log ends at {one.leo}"),)
            yield _of_complaint(Sign.APPEND_REFUSED, one, role_span, one.offset, one.leo, refs)
