"""Records that truncations and loads removed, computed once every high watermark is known.

If no line states the former log end offset, the protocol bounds it: a high watermark reached with the replica in the
ISR is within its log (Partition.maybeIncrementLeaderHW).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from forensics.replay.coverage import MissingLines
from forensics.replay.crosscheck import found_shorter_unexplained, may_have_left_isr
from forensics.replay.history import Epoch, History, HwStatement, Role, ShortenedLog, Truncation
from forensics.replay.log_ends import follower_end
from forensics.replay.safe_truncations import is_safe
from forensics.replay.steps import REMOVES, RoleSpan, StepKind, UnresolvedRemoval


class TruncationBounds:
    """The last step of replay.

    Attributes:
        history: with its statements; truncations and shortened logs are added to it.
        is_whole: whether both the roles of a replica and what happened to its log are in the evidence.
        contradictions: missing lines that explain what would contradict itself otherwise.
    """

    def __init__(self, history: History, is_whole: Callable[[int], bool]) -> None:
        self.history = history
        self.is_whole = is_whole
        self.contradictions: list[MissingLines] = []
        self._lowest: dict[int, list[tuple[int, bool, int, bool]]] = {}

    def settle(self, pending: Sequence[UnresolvedRemoval]) -> None:
        """Bound the ends that no line states by the protocol, now that every high watermark is known."""
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
                    shortened = replace(shortened, end_exact=False)  # it may have continued in an unseen role
                if shortened.end > shortened.target:
                    self._add_shortened(shortened, one.row)

    def _add_shortened(self, shortened: ShortenedLog, row: int | None) -> None:
        """Read a log as shortened, unless missing lines explain the log end offset after the restart."""
        unexplained, missing = found_shorter_unexplained(self.history, shortened, row)
        if missing is not None:
            self.contradictions.append(missing)
        if not unexplained:
            self.history.shortened_logs.append(shortened)

    def _beyond(self, truncation: Truncation) -> bool:
        """Return whether a truncation cannot have removed anything: the replica's former leader never held more."""
        before = [t for t in self.history.role_spans[truncation.replica] if t.epoch < truncation.epoch]
        most = follower_end(self.history, before[-1] if before else None)
        return most is not None and most <= truncation.target

    def _ended(self, shortened: ShortenedLog, row: int | None) -> bool:
        """Return whether the replica's part in the epoch had ended when its log was loaded: its next role is a later
        one.

        If its lines end with the load, it may have returned to the epoch and fetched later commits after it.
        """
        spans = self.history.role_spans[shortened.replica]
        later = [role_span for role_span in spans if role_span.refs and (role_span.refs[0].row or 0) >= (row or 0)]
        return bool(later) and all(role_span.epoch != shortened.epoch for role_span in later)

    def _given(self, shortened: ShortenedLog) -> tuple[int, int | None]:
        """Return how far a follower had fetched from the replica while it led the epoch, and which follower.

        A follower that reconciled by leader epochs has its leader's records (KIP-101).
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
                # It may have fetched in a later epoch of the same leader before it received that epoch.
                if only and later is not None and later.leader != shortened.replica and not _removes(one):
                    found = max(found, (two.start_end, broker), key=lambda one: one[0])
        return found

    def _bounds_nothing(self, broker: int) -> bool:
        """Return whether what was committed bounds no log of a replica: the order of epochs shows nothing, or a trace
        states each change of its log.
        """
        return bool(self.history.epoch_rollbacks) or broker in self.history.coverage.claimed

    def _held(
        self, broker: int, until: int, row: int | None, *, since_load: bool = False, emptied: bool = False
    ) -> int:
        """Return a lower bound of a replica's log end offset at the end of an epoch.

        A high watermark reached with it in the ISR is within its log, unless a truncation removed it later.

        Args:
            broker: the replica.
            until: last epoch whose high watermarks count.
            row: row of the replica's own line at which the question arises; its later lines do not count.
            since_load: ignore what it held before its log was loaded: a load shows what there was.
            emptied: it restarted without any record.
        """
        if self._bounds_nothing(broker):
            return 0
        least = 0
        contested = self.history.contested
        # For a load, truncations before it count too, if they are in the epoch to which the replica returned.
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
                # A replica that joins the ISR has all records committed by then, and from then on the high watermark
                # waits for it. That it stayed is known only if the leader, which states this ISR, logs more later.
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
        """Return whether a follower may have received the high watermark of the leader's next epoch.

        The replica was not in the ISR of that epoch. A waiting fetch is answered in that epoch, before the follower
        receives it. That a replica had a log at all follows from what others received, unless they fetched records of
        the next epoch.
        """
        later = next((e for n, e in sorted(self.history.epochs.items()) if n > epoch.epoch), None)
        if later is None or later.leader != epoch.leader or all(broker in isr for isr, _ in later.isr):
            return False
        spans = self.history.role_spans.get(statement.replica, ())
        ends = [t.start_end for t in spans if t.epoch == later.epoch and t.start_end is not None]
        ahead = later.start is None or any(end > later.start for end in ends)
        return ahead or not emptied

    def _shortest(self, broker: int) -> list[tuple[int, bool, int, bool]]:
        """Return the lowest offset to which a replica's log was shortened in each of its role spans.

        Each entry: epoch, whether it is a load, lowest offset, and whether the replica was deleted with it and returned
        only in a later epoch.

        The result is cached: a replica in a truncation loop has thousands of steps, and each of them needs it.
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
    """Return whether something was removed from the replica's log in a role."""
    return any(step.kind in REMOVES for step in role_span.steps)
