"""Complete traces of a case: the lines of each partition in their order, and what they decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.isr import members
from forensics.replay.facts.statement_lines import Key
from forensics.replay.facts.trace_lines import OfBrokers, TraceLine, trace_lines
from forensics.replay.lineage import Range
from forensics.replay.traces.contradictions import beliefs
from forensics.replay.traces.epoch_entries import Beginning, disputed, undescribed
from forensics.replay.traces.high_watermarks import ABOUT_HW
from forensics.replay.traces.in_sync_replicas import ABOUT_ISR, refused
from forensics.replay.traces.player import ABOUT_LOGS, ENTRIES, NotPlayed, Player
from forensics.replay.traces.results import Contradiction, Played
from forensics.replay.traces.written_records import led_by
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind


def clean_starts(observations: pl.DataFrame) -> frozenset[tuple[int, int]]:
    """Return the brokers and processes of which a trace states that the process before had stopped cleanly."""
    return _starts(observations, Kind.CLEAN_RESTART)


def unclean_starts(observations: pl.DataFrame) -> frozenset[tuple[int, int]]:
    """Return the brokers and processes of which a trace states that the process before was killed or crashed."""
    return _starts(observations, Kind.UNCLEAN_RESTART)


def _starts(observations: pl.DataFrame, kind: Kind) -> frozenset[tuple[int, int]]:
    restarts = observations.filter((pl.col("kind") == kind.value) & (pl.col("message") == TRACE))
    return frozenset(restarts.select("broker", "run").drop_nulls().iter_rows())


def play(rows: pl.DataFrame, complete: frozenset[int], brokers: OfBrokers) -> dict[Key, Played]:
    """Play the complete traces; return what they decide, by incarnation of each partition.

    A partition is left out if a trace does not say enough about one of its lines. So it is if some of them are of
    brokers without the claim, or name such brokers.

    Args:
        rows: observations of partitions, with ``broker``, ``row`` and ``incarnation``.
        complete: brokers that state every change of their replicas, by the claim of their trace.
        brokers: what is known of the brokers.
    """
    found = {key: played_by(lines, brokers) for key, lines in lines_to_play(rows, complete).items()}
    played = {key: one for key, one in found.items() if one is not None}
    for key, belief in beliefs(rows).items() if played else ():
        if key in played and played[key].contradiction is None:
            played[key] = replace(played[key], contradiction=belief)
    return played


def lines_to_play(rows: pl.DataFrame, complete: frozenset[int]) -> dict[Key, list[TraceLine]]:
    """Return the lines of each partition that is played, in the order of their times; the arguments of ``play``."""
    if not complete:
        return {}
    place = ["topic", "partition", "incarnation"]
    stated = rows.filter(pl.col("kind").is_in([kind for kind in (*ABOUT_LOGS, *ABOUT_HW) if kind not in ENTRIES]))
    partly = stated.filter(~pl.col("broker").is_in([*complete])).select(place).unique()
    whole = stated.select(place).unique().join(partly, on=place, how="anti")
    about = pl.col("kind").is_in([*ABOUT_LOGS, *ABOUT_HW, *ABOUT_ISR])
    found: dict[Key, list[TraceLine]] = {}
    for line in trace_lines(rows.filter(about).join(whole, on=place, how="semi")):
        found.setdefault(line.key, []).append(line)
    return {key: lines for key, lines in found.items() if _named(lines) <= complete}


def _named(lines: Sequence[TraceLine]) -> set[int]:
    """Return the brokers that lines name as a leader or as a member of the ISR."""
    leaders = {line.leader for line in lines if line.leader is not None and line.leader >= 0}
    return leaders.union(*(members(isr) for isr in {line.isr for line in lines if line.isr}))


def played_by(lines: Sequence[TraceLine], brokers: OfBrokers) -> Played | None:
    """Return what the lines of one partition decide in their order; None if they do not say enough.

    Args:
        lines: the lines.
        brokers: what is known of the brokers.
    """
    commits, rejected, led = any(line.kind == Kind.ISR_COMMIT for line in lines), refused(lines), led_by(lines)
    first = Player(_begins(lines), brokers, commits=commits, refused=rejected, led=led)
    found = _played(first, lines)
    spans = disputed(first.beginnings)
    if found is None or not spans:
        return found
    # Records with which replicas begin are taken as alike, except those to which their entries give other epochs.
    known = {broker: begun.named(spans) for broker, begun in first.beginnings.items()}
    again = Player(_begins(lines), brokers, commits=commits, refused=rejected, known=known, led=led)
    second = _played(again, lines)
    without = undescribed(first.beginnings, spans)
    if without is None or second is None:
        return second
    apart, below = (
        tuple(one for one in pairs if without not in (one.left, one.right))
        for pairs in (second.apart, second.below_alike)
    )
    contradiction = found.contradiction or _undescribed(first.beginnings[without], spans)
    return replace(found, apart=apart, below_alike=below, contradiction=contradiction)


def _played(player: Player, lines: Sequence[TraceLine]) -> Played | None:
    """Return what lines decide; None if they do not say enough."""
    try:
        for line in lines:
            player.take(line)
    except NotPlayed:
        return None
    return player.result()


def _undescribed(begun: Beginning, spans: Sequence[Range]) -> Contradiction:
    """Return that no entry states the leader epoch of records to which two other replicas give different ones."""
    line, offset = begun.line, max(begun.start, spans[0][0])
    text = (
        f"line {line.line}: broker {line.broker} has offset {offset}, to which the epoch entries of two other brokers "
        "give different leader epochs, and no entry states its own"
    )
    return Contradiction(line.broker, text, line.time, Ref(row=line.row, note=text))


def _begins(lines: Sequence[TraceLine]) -> dict[int, int]:
    """Return the log end offset with which each replica begins, by the first line that states it."""
    known: dict[int, int] = {}
    for line in lines:
        end = 0 if line.kind == Kind.LOG_CREATED else line.offset if line.kind == Kind.APPEND else line.leo
        if end is not None and line.kind in ABOUT_LOGS and line.replica in (None, line.broker):
            known.setdefault(line.broker, end)
    return known


def appended(rows: pl.DataFrame) -> frozenset[Key]:
    """Return the incarnations of partitions to whose logs a trace states appends."""
    appends = rows.filter((pl.col("kind") == Kind.APPEND.value) & (pl.col("message") == TRACE))
    return frozenset(appends.select("topic", "partition", "incarnation").unique().iter_rows())
