"""Records that truncations and loads removed, computed once every high watermark is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forensics.replay.coverage import MissingLines
from forensics.replay.high_watermarks.crosscheck import found_shorter_unexplained
from forensics.replay.history import History, ShortenedLog, Truncation
from forensics.replay.interval import Interval
from forensics.replay.roles.log_ends import follower_end
from forensics.replay.roles.scraped_ends import ScrapedEnds
from forensics.replay.roles.steps import UnresolvedRemoval
from forensics.replay.truncations.held_ends import HeldEnds, Moment
from forensics.replay.truncations.safe_truncations import is_safe


class TruncationBounds:
    """The last step of replay.

    Attributes:
        history: with its statements; truncations and shortened logs are added to it.
        contradictions: missing lines that explain what would contradict itself otherwise.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self.contradictions: list[MissingLines] = []
        self._held = HeldEnds(history)
        self._scraped = ScrapedEnds(history)

    def settle(self, pending: Sequence[UnresolvedRemoval]) -> None:
        """Bound the ends that no line states by the protocol, now that every high watermark is known."""
        for one in pending:
            if one.truncation is not None:
                self._settle_truncation(one.truncation)
            elif one.shortened is not None:
                self._settle_shortened(one.shortened, one.row)

    def _settle_truncation(self, truncation: Truncation) -> None:
        """Keep a truncation with the least that it removed; drop it if it cannot have removed anything committed."""
        if not truncation.before.is_exact:
            moment = Moment(truncation.replica, truncation.epoch - 1, truncation.refs[0].row, since_load=True)
            held = self._held.by_high_watermarks(moment)
            if held.low > truncation.end:
                truncation = replace(truncation, before=held)
            scraped = self._scraped.before_removal(truncation.replica, truncation.refs[0].row)
            if scraped.low > max(truncation.end, truncation.target):
                if truncation.end <= truncation.target:
                    self._add_truncation(truncation)  # it may have removed more, of which nothing is known
                truncation = replace(truncation, before=scraped)
        self._add_truncation(truncation)

    def _add_truncation(self, truncation: Truncation) -> None:
        """Add a truncation that removed something, or may have removed something that was committed."""
        if truncation.end > truncation.target:
            self.history.truncations.append(truncation)
        elif not truncation.before.is_exact and not self._beyond(truncation) and not is_safe(self.history, truncation):
            self.history.truncations_of_unknown_extent.append(truncation)

    def _settle_shortened(self, shortened: ShortenedLog, row: int | None) -> None:
        """Keep a log that was found shorter than it is known to have been."""
        until = shortened.epoch if self._ended(shortened, row) else shortened.epoch - 1
        held = self._held.by_high_watermarks(Moment(shortened.replica, until, row, emptied=shortened.target == 0))
        over = until == shortened.epoch or self._held.appended_nothing(shortened)
        fetched, follower = self._held.by_fetches(shortened) if over else (Interval(), None)
        scraped = self._scraped.before_removal(shortened.replica, shortened.refs[0].row)
        least = max(held, fetched, scraped, key=lambda bound: bound.low)
        if least.low > shortened.end:
            shortened = replace(shortened, before=least, fetched_by=follower if least is fetched else None)
        if not self.history.coverage.whole(shortened.replica):  # it may have continued in an unseen role
            shortened = replace(shortened, before=replace(shortened.before, high=None))
        if shortened.end > shortened.target:
            self._add_shortened(shortened, row)

    def _add_shortened(self, shortened: ShortenedLog, row: int | None) -> None:
        """Read a log as shortened, unless missing lines explain the log end offset after the restart."""
        if shortened.replica in self.history.coverage.unclaimed:
            return  # its trace may leave out a truncation
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
