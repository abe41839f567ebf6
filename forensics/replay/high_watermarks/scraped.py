"""Lower bounds of high watermarks by what exporters of metrics printed.

An exporter asks the leader for the end of a partition as a consumer does (ListOffsets), and the leader answers with its
high watermark (Partition.fetchOffsetForTimestamp). So a value v shows that the leader of some epoch had high watermark
v: the records below it in that leader's log were committed. The value is of the scrape or before, and it states no
leader epoch. The scrape's time is by the clock of the server that scrapes, which may be minutes apart from those of the
brokers. So these are all epochs whose leader can have answered:

* It led within ``CLOCKS_APART`` of the scrape, or up to ``OLDEST`` longer before: a server that has no newer value may
  answer a query with one that is so old.
* Its log can have reached the value, and it did not begin with a higher high watermark.
* Values of one series are in order by one clock. If a lower value follows, the leader changed in between: the high
  watermark of one leader epoch does not fall while its leader runs.

A leader that does not know yet that another one was elected answers too. So the series of kafka_exporter that names the
leader counts: a value of another one than the leader of its epochs shows nothing, nor does a lower value behind it.

The value counts as far as the logs of all these epochs have the same records. So it is no matter which of them it is.
No value counts whose series can be of a deleted topic of the same name, or of another cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.replay.coverage import Printed, Span
from forensics.replay.facts.scrapes import CLOCKS_APART, OLDEST, Scrape, Series
from forensics.replay.history import History, HwSource, HwStatement
from forensics.replay.inferences import Inferred
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import differences
from forensics.replay.roles.log_ends import log_end
from forensics.replay.roles.scraped_ends import is_before


def scraped_high_watermarks(history: History) -> list[HwStatement]:
    """Return what scrapes show to have been below the high watermark, the most of each leader epoch; highest first."""
    led = _led(history) if history.facts.scrapes else []
    if len(led) < 2:
        return []  # without a later leader nothing is lost
    asked = [series for series in history.facts.scrapes if _of_this_partition(history, series, led)]
    found = [one for series in asked for one in _statements(history, series, led)]
    found.sort(key=lambda one: (-one.high_watermark, one.epoch))
    highest: dict[int, HwStatement] = {}
    for one in found:
        highest.setdefault(one.epoch, one)
    return [*highest.values()]


def _led(history: History) -> list[Epoch]:
    """Return the leader epochs in which a leader can have answered; none if their order or times are not known."""
    if history.epoch_rollbacks or history.contested or history.coverage.unnamed:
        return []
    led = [one for one in history.epochs.values() if one.leader is None or (one.leader >= 0 and one.leader_took_up)]
    return [] if any(one.leader is None or one.time is None for one in led) else led


def _of_this_partition(history: History, series: Series, led: Sequence[Epoch]) -> bool:
    """Return whether no value of a series is above all that any leader's log can have held at its time."""
    return all(_may_answer(history, one, led) or is_before(history, one.time, led[0]) for one in series)


def _statements(history: History, series: Series, led: Sequence[Epoch]) -> Iterator[HwStatement]:
    """Yield what each value of a series shows."""
    for at, scrape in enumerate(series):
        if is_before(history, scrape.time, led[0]):
            continue
        found = _statement(history, scrape, _candidates(history, series, at, led))
        if found is not None:
            yield found


def _candidates(history: History, series: Series, at: int, led: Sequence[Epoch]) -> list[Epoch]:
    """Return the leader epochs of which a value can be; none if the exporter names another leader."""
    scrape = series[at]
    found = _may_answer(history, scrape, led)
    lower = next((one for one in series[at + 1 :] if one.high_watermark < scrape.high_watermark), None)
    if lower is not None and len(found) > 1:
        found = _before_lower(history, found, lower, led)
    named = all(scrape.leader in (None, one.leader) for one in found)
    return found if named else []


def _before_lower(history: History, found: list[Epoch], lower: Scrape, led: Sequence[Epoch]) -> list[Epoch]:
    """Return those of some epochs of which a value can be that a lower one follows."""
    later = _may_answer(history, lower, led)
    if not _usable(lower, later):
        return found
    of_leader = [one for one in later if one.leader == lower.leader]
    return [one for one in found if any(_precedes(history, one, other) for other in of_leader)]


def _usable(lower: Scrape, later: Sequence[Epoch]) -> bool:
    """Return whether a value that fell is known to be of one of these epochs, and of no later one or another topic.

    The exporter must have asked a leader that it names. The value is at or above the start of the last of the epochs,
    as its leader answers only then (KIP-207), and that epoch had not begun long before.
    """
    if not later or lower.leader is None or not lower.kept:
        return False
    last = later[-1]
    if last.time is None or last.start is None or lower.high_watermark < last.start:
        return False
    return lower.time <= last.time + CLOCKS_APART


def _precedes(history: History, one: Epoch, other: Epoch) -> bool:
    """Return whether the value of an epoch can have been seen before a lower one of another."""
    return one.epoch < other.epoch or (one is other and not _steady(history, one))


def _steady(history: History, epoch: Epoch) -> bool:
    """Return whether one process led a whole epoch without a change to its log: its high watermark did not fall."""
    if epoch.leader is None or not all(
        history.coverage.has(one, Printed.ROLES, Span.WITHIN, Span.AFTER) for one in history.members
    ):
        return False
    here = [one for one in history.role_spans.get(epoch.leader, ()) if one.epoch == epoch.epoch]
    return len(here) == 1 and not here[0].steps and history.coverage.whole(epoch.leader, Span.WITHIN, Span.AFTER)


def _may_answer(history: History, scrape: Scrape, led: Sequence[Epoch]) -> list[Epoch]:
    """Return the epochs whose leader can have had a high watermark at the time of a scrape."""
    found = []
    for epoch, after in zip(led, (*led[1:], None), strict=True):
        begun, over = epoch.time, after.time if after is not None else None
        if begun is None or begun > scrape.time + CLOCKS_APART:
            continue
        if over is not None and over < scrape.time - CLOCKS_APART - OLDEST:
            continue
        if _can_have_reached(history, epoch, scrape.high_watermark, last=after is None):
            found.append(epoch)
    return found


def _can_have_reached(history: History, epoch: Epoch, value: int, *, last: bool) -> bool:
    """Return whether the leader of an epoch can have had a high watermark. The last one may lead on after the evidence
    was copied.
    """
    end = log_end(history, epoch.leader, epoch.epoch).high
    if end is not None and value > end and not last:
        return False
    spans = history.role_spans.get(epoch.leader, ()) if epoch.leader is not None else ()
    here = [one for one in spans if one.epoch == epoch.epoch]
    begins = here[0].start_hw if len(here) == 1 else None
    return begins is None or begins.value <= value


def _statement(history: History, scrape: Scrape, candidates: Sequence[Epoch]) -> HwStatement | None:
    """Return what a value shows, as far as the logs of all epochs of which it can be agree."""
    if not candidates:
        return None
    last = candidates[-1]
    if last.leader is None or not last.lineage.entries:
        return None
    agreed = scrape.high_watermark
    for other in candidates[:-1]:
        differ, unknown = differences(last.lineage, other.lineage, 0, agreed)
        agreed = min([agreed, *(first for first, _ in (*differ, *unknown))])
    if agreed <= 0:
        return None
    return HwStatement(
        replica=last.leader,
        epoch=last.epoch,
        lineage=last.lineage,
        high_watermark=agreed,
        how=HwSource.SCRAPED,
        time=scrape.time,
        refs=(scrape.ref,),
        by=(Inferred.SCRAPED_HIGH_WATERMARK,),
    )
