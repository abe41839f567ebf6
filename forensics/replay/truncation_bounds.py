"""What cuts and loads removed, once every high watermark is known.

Where no line gives the end that a log had, the protocol bounds it: a high watermark that was reached with the replica
in the ISR covers its log (Partition.maybeIncrementLeaderHW).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from forensics.replay.committed import reached
from forensics.replay.coverage import MissingLines
from forensics.replay.crosscheck import found_shorter_unexplained, may_have_left_isr
from forensics.replay.history import Epoch, History, HwStatement, Role, ShortenedLog, Truncation
from forensics.replay.safe_truncations import is_safe
from forensics.replay.steps import REMOVES, RoleSpan, StepKind, UnresolvedRemoval


class TruncationBounds:
    """The end of a fold.

    Attributes:
        history: with its statements; cuts, shrunk logs and unmeasured cuts are added.
        is_whole: whether both the roles of a replica and what happened to its log are in the evidence.
        contradictions: missing lines that explain what else would contradict itself.
    """

    def __init__(self, history: History, is_whole: Callable[[int], bool]) -> None:
        self.history = history
        self.is_whole = is_whole
        self.contradictions: list[MissingLines] = []
        self._lowest: dict[int, list[tuple[int, bool, int, bool]]] = {}

    def settle(self, pending: Sequence[UnresolvedRemoval]) -> None:
        """Bound the ends that no line gives by the protocol, now that every high watermark is known."""
        for one in pending:
            if one.truncation is not None:
                truncation = one.truncation
                if not truncation.end_exact:
                    held = self._held(truncation.replica, truncation.epoch - 1, truncation.refs[0].row, since_load=True)
                    truncation = replace(truncation, end=max(truncation.end, held))
                if truncation.end > truncation.target:
                    self.history.truncations.append(truncation)
                elif (
                    not truncation.end_exact and not self._beyond(truncation) and not is_safe(self.history, truncation)
                ):
                    self.history.truncations_of_unknown_extent.append(truncation)
            elif one.shortened is not None:
                shortened = one.shortened
                until = shortened.epoch if self._ended(shortened, one.row) else shortened.epoch - 1
                held = self._held(shortened.replica, until, one.row, emptied=shortened.target == 0)
                given, follower = self._given(shortened) if until == shortened.epoch else (0, None)
                if max(held, given) > shortened.end:
                    shortened = replace(
                        shortened,
                        end=max(held, given),
                        end_exact=False,
                        implied=True,
                        fetched_by=follower if given > held else None,
                    )
                if not self.is_whole(shortened.replica):
                    shortened = replace(shortened, end_exact=False)  # in a role that is not told it may have gone on
                if shortened.end > shortened.target:
                    self._add_shortened(shortened, one.row)

    def _add_shortened(self, shortened: ShortenedLog, row: int | None) -> None:
        """Take a log for shortened, unless missing lines explain what it came back with."""
        unexplained, missing = found_shorter_unexplained(self.history, shortened, row)
        if missing is not None:
            self.contradictions.append(missing)
        if not unexplained:
            self.history.shortened_logs.append(shortened)

    def _beyond(self, truncation: Truncation) -> bool:
        """Whether a truncation cannot have removed anything: the leader the replica had followed never held more."""
        before = [t for t in self.history.role_spans[truncation.replica] if t.epoch < truncation.epoch]
        if not before or before[-1].role is not Role.FOLLOWER:
            return False
        epoch = self.history.epochs.get(before[-1].epoch)
        end = reached(self.history, epoch) if epoch is not None else None
        return end is not None and max(end, before[-1].start_low) <= truncation.target

    def _ended(self, shortened: ShortenedLog, row: int | None) -> bool:
        """Whether the replica's part in the epoch was over when its log was read back: its next role is a later one.

        Where its lines end with the load it may have come back to the epoch, and what was committed then it got after.
        """
        spans = self.history.role_spans[shortened.replica]
        later = [role_span for role_span in spans if role_span.refs and (role_span.refs[0].row or 0) >= (row or 0)]
        return bool(later) and all(role_span.epoch != shortened.epoch for role_span in later)

    def _given(self, shortened: ShortenedLog) -> tuple[int, int | None]:
        """How far a follower had fetched from the replica as it led the epoch in which its log was there, and which
        follower: once it is reconciled by leader epochs what it has is its leader's (KIP-101).
        """
        history, number = self.history, shortened.epoch
        led = [t for t in history.role_spans[shortened.replica] if t.epoch == number and t.role is Role.LEADER]
        if history.truncates_to_hw or history.epoch_rollbacks or number in history.contested or len(led) != 1:
            return 0, None
        found: tuple[int, int | None] = 0, None
        for broker, spans in sorted(history.role_spans.items()):
            if not self.is_whole(broker):
                continue
            for one, two in itertools.pairwise(spans):
                followed = one.epoch == number and one.role is Role.FOLLOWER and one.leader in (None, shortened.replica)
                if not followed or one.start_end is None or two.start_end is None or two.start_end <= one.start_end:
                    continue
                between = [history.epochs.get(n) for n in range(number + 1, two.epoch)]
                only = all(e is not None and not e.leader_took_up for e in between)
                only = only and history.coverage.unnamed.isdisjoint(range(number + 1, two.epoch))
                later = history.epochs.get(two.epoch)
                # What it fetched from the same leader may be of a later epoch, of which it was not told yet.
                if only and later is not None and later.leader != shortened.replica and not _removes(one):
                    found = max(found, (two.start_end, broker), key=lambda one: one[0])
        return found

    def _held(
        self, broker: int, until: int, row: int | None, *, since_load: bool = False, emptied: bool = False
    ) -> int:
        """The least log end offset of a replica once an epoch was over: a high watermark reached with it in the ISR
        covers its log, unless something cut it afterwards.

        Args:
            broker: the replica.
            until: last epoch whose high watermarks count.
            row: row of the replica's own line at which the question is asked; its own later words do not count.
            since_load: what it held before its log was read back does not count: a load tells what there was.
            emptied: it came back without any record.
        """
        if self.history.epoch_rollbacks:
            return 0  # no order of epochs says what came before
        least = 0
        contested = self.history.contested
        # A load asks for what was cut before it in the epoch to which its replica came back, too.
        before = [
            step.target
            for role_span in self.history.role_spans.get(broker, ())
            if not since_load and role_span.epoch == until + 1
            for step in role_span.steps
            if step.kind in REMOVES and (step.refs[0].row or 0) < (row or 0)
        ]
        for statement in self.history.statements:
            number = statement.epoch
            if not 0 <= number <= until or number in contested:
                continue
            if statement.replica == broker:
                if not statement.earlier and (statement.refs[0].row or 0) > (row or 0):
                    continue
            else:
                epoch = self.history.epochs[number]
                # Who comes (back) into the ISR has all that is committed by then, and holds it back from then on. That
                # it stayed is known only where the leader itself, whose word on the ISR this is, says more later.
                own = statement.replica == epoch.leader and not since_load
                members = [isr for isr, _ in epoch.isr][-1 if own else 0 :]
                if not epoch.isr_from_leader or not members or not all(broker in isr for isr in members):
                    continue
                if may_have_left_isr(self.history, epoch, broker):
                    continue
                if statement.replica != epoch.leader and self._out_later(broker, epoch, statement, emptied=emptied):
                    continue
            shortened = any(
                number <= epoch <= until
                and lowest < statement.high_watermark
                and (number < epoch or loaded or over)
                and (since_load or not loaded)
                for epoch, loaded, lowest, over in self._shortest(broker)
            )
            if not shortened and min(before, default=statement.high_watermark) >= statement.high_watermark:
                least = max(least, statement.high_watermark)
        return least

    def _out_later(self, broker: int, epoch: Epoch, statement: HwStatement, *, emptied: bool) -> bool:
        """Whether a follower may have heard of a high watermark that was reached in the leader's next epoch, in whose
        ISR the replica was not: a fetch that waits is answered in that epoch, before the follower is told of it.

        That a replica had a log at all is told by what others had heard, unless they got records of the next epoch.
        """
        later = next((e for n, e in sorted(self.history.epochs.items()) if n > epoch.epoch), None)
        if later is None or later.leader != epoch.leader or all(broker in isr for isr, _ in later.isr):
            return False
        spans = self.history.role_spans.get(statement.replica, ())
        ends = [t.start_end for t in spans if t.epoch == later.epoch and t.start_end is not None]
        ahead = later.start is None or any(end > later.start for end in ends)
        return ahead or not emptied

    def _shortest(self, broker: int) -> list[tuple[int, bool, int, bool]]:
        """How short a replica's log was made in each of its role spans.

        Each entry: epoch, whether a load says so, lowest offset, and whether the replica was removed with it, to come
        back in a later epoch alone.

        A replica in a truncation loop has thousands of steps, and every one of them asks for this.
        """
        if broker not in self._lowest:
            spans = self.history.role_spans.get(broker, [])
            self._lowest[broker] = [
                (
                    role_span.epoch,
                    loaded,
                    min(targets),
                    role_span.replica_removed and (later is None or later.epoch > role_span.epoch),
                )
                for role_span, later in itertools.zip_longest(spans, spans[1:])
                for loaded in (True, False)
                if (
                    targets := [
                        s.target for s in role_span.steps if (s.kind in REMOVES, s.kind is StepKind.LOADED)[loaded]
                    ]
                )
            ]
        return self._lowest[broker]


def _removes(role_span: RoleSpan) -> bool:
    """Whether something was removed from the replica's log in a role."""
    return any(step.kind in REMOVES for step in role_span.steps)
