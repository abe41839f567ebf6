"""Time zone of each log's printed times: named in its lines, given by the user, inferred from a collector, or assumed.

A collector's times show a zone only if it read the lines as they were written. Then they differ from the printed ones
by the same whole quarters of an hour, within seconds, throughout the file. Lines that were delayed or delivered later
look like another zone and are none. Logs of one broker show nothing about another broker's zone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import polars as pl

from forensics.case.order import is_fixed, zone_info
from parsers import distances
from parsers.file_reading import FileReading, note
from parsers.files.sources import Source
from parsers.text.broker_log import NAME as LOG

ASSUMED: Final = "UTC"
_WEST, _EAST = -12 * 4, 14 * 4  # quarters of an hour: the zones there are
_LINES: Final = 20  # fewer may agree by chance
_SPAN: Final = 30_000_000  # longer than any two close lines can be apart that were read at one moment
_SHARE: Final = 0.95
_HOUR: Final = 4  # quarters
_LONGEST: Final = timedelta(days=3660)  # of a log: more has times that are none


def settle(
    files: Sequence[tuple[Source, FileReading]],
    owner: Sequence[int | None],
    cluster: Sequence[str | None],
    given: str | None,
) -> None:
    """Set the zone of each log if it is known; a notice reports what was rejected.

    Args:
        files: sources with their contents; ``zone`` and ``notices`` are changed.
        owner, cluster: of each file.
        given: the user's zone, which overrides every collector's; None without one.
    """
    for found in (found for _, found in files if given is not None and found.format == LOG):
        _passes(found, str(given))
    by_process: dict[tuple[str | None, int | None, int], list[FileReading]] = {}
    for number, ((_, found), broker, name) in enumerate(zip(files, owner, cluster, strict=True)):
        if found.format == LOG and found.zone is None and found.first_time is not None:
            by_process.setdefault((name, broker, number if broker is None else -1), []).append(found)
    for logs in by_process.values():
        if any(found.distances for found in logs):
            _of_process(logs, given)


def _of_process(logs: Sequence[FileReading], given: str | None) -> None:
    """Set the zone of logs that one broker wrote."""
    heard = [_heard(found.distances) for found in logs]
    if given is not None:
        _contradicted(logs, heard, given)
        return
    known = [(found, one.quarter) for found, one in zip(logs, heard, strict=True) if one.constant]
    sure = sorted({one.quarter for one in heard if one.sure})
    at_odds = bool(sure) and _at_odds(known)
    for found, one in zip(logs, heard, strict=True):
        zone, why = _told_zone(one, sure, at_odds=at_odds)
        if zone is not None:
            found.zone = zone
        if why:
            _say(found, why)


def _contradicted(logs: Sequence[FileReading], heard: Sequence[_Heard], given: str) -> None:
    """Add a notice to each log for which a collector's times show another zone than the user gave."""
    for found, one in zip(logs, heard, strict=True):
        if one.sure and one.quarter != _quarter(given, found.first_time):
            name = _name(one.quarter)
            _say(found, f"a collector's times put the printed ones in {name}; read as {given}, as --tz says")


def _told_zone(one: _Heard, sure: Sequence[int], *, at_odds: bool) -> tuple[str | None, str]:
    """Return the zone of a log, None if it is not known, and what a notice must report, "" for nothing.

    Args:
        one: result for this log.
        sure: offsets that are sure for any log of its broker, in quarters of an hour.
        at_odds: logs of its broker have zones that exclude each other.
    """
    names = " and ".join(map(_name, sure))
    if at_odds and one.constant:
        elsewhere = f"a collector's times put this log in {_name(one.quarter)}, another of its broker elsewhere"
        return None, f"{elsewhere}; {_ASSUMES}"
    if one.sure:
        return _name(one.quarter), ""
    if len(sure) == 1 and not at_odds:
        known = f"{one.why}; printed times are read as {names}, the zone of this broker's other logs"
        return names, known if one.why and not one.constant else ""
    other = f"collectors' times put other logs of this broker in {names}" if sure else ""
    why = one.why or other
    return None, f"{why}; {_ASSUMES}" if why else ""


_ASSUMES: Final = f"printed times are read as {ASSUMED}; if that is wrong, give --tz"


@dataclass(frozen=True, slots=True)
class _Heard:
    """Result of the time differences in one log.

    Attributes:
        quarter: the offset that fits most lines, in quarters of an hour.
        constant: it fits nearly all, and some zone has it.
        sure: in enough lines, over a span long enough to distinguish a zone from lines that were read late all at once.
        why: why it is not sure; "" if nothing suggests another zone than the assumed one.
    """

    quarter: int = 0
    constant: bool = False
    sure: bool = False
    why: str = ""


def _heard(rows: Sequence[Sequence[int]]) -> _Heard:
    lines = sum(row[1] for row in rows)
    if not lines:
        return _Heard()
    quarter, _, close, first, last, *_ = max(rows, key=lambda row: row[2])
    fits, possible = close >= _SHARE * lines, _WEST <= quarter <= _EAST
    constant = fits and possible
    if constant and close >= _LINES and last - first >= _SPAN:
        return _Heard(quarter, constant=True, sure=True)
    if {row[0] for row in rows} == {0}:
        return _Heard(quarter, constant)  # read within minutes of UTC
    least, most = min(row[5] for row in rows), max(row[6] for row in rows)
    if not fits and most - least > distances.LATEST + distances.EARLIEST:
        why = f"are {_far(most)} to {_far(least)} from the printed ones, not one distance: lines were read late"
    elif not constant:
        why = f"are {_far(most)} from the printed ones, which is no zone's offset: lines were read late"
    else:
        count = f"{close} line{'' if close == 1 else 's'} of {(last - first) / 1e6:,.0f} s"
        why = f"are {_far(most)} from the printed ones in {count}, too few to show a zone"
    return _Heard(quarter, constant, why=f"a collector's times {why}")


def _far(micros: int) -> str:
    """A distance as hours, minutes and seconds, with the sign of the zone that it would be."""
    seconds = round(abs(micros) / 1e6)
    return f"{'-' if micros < 0 else '+'}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _at_odds(known: Sequence[tuple[FileReading, int]]) -> bool:
    """Return whether two logs of one process have zones that it cannot have had: clocks change by an hour, once."""
    for at, (one, first) in enumerate(known):
        for two, second in known[at + 1 :]:
            apart = (one.last_time or 0) <= (two.first_time or 0) or (two.last_time or 0) <= (one.first_time or 0)
            if first != second and (abs(first - second) > _HOUR or not apart):
                return True
    return False


def _name(quarters: int) -> str:
    """Return the name of an offset as ``utc`` reads it."""
    if not quarters:
        return "UTC"
    return f"UTC{'-' if quarters < 0 else '+'}{abs(quarters) // 4:02}:{abs(quarters) % 4 * 15:02}"


def _quarter(zone: str, time: int | None) -> int:
    """The offset of a zone at a printed time, in quarters of an hour."""
    offset = zone_info(zone).utcoffset(_printed(time or 0)) or timedelta()
    return round(offset / timedelta(minutes=15))


def _printed(micros: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None) + timedelta(microseconds=micros)


def _say(found: FileReading, why: str) -> None:
    found.notices = pl.concat([found.notices, note(why)])


def _passes(found: FileReading, zone: str) -> None:
    """Add a notice if times may be of either of two hours."""
    if found.zone is not None or found.first_time is None or found.last_time is None:
        return
    begin, end = _printed(found.first_time), _printed(found.last_time)
    if is_fixed(zone) or end - begin > _LONGEST or not 1970 <= begin.year <= end.year < 9999:
        return
    day = begin.date() - timedelta(days=1)
    while day <= end.date():
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
        before, after = (_offset(zone, noon + timedelta(days=more)) for more in (0, 1))
        if after < before:
            put_back = _put_back(zone, noon)
            if begin < put_back + before and end >= put_back + after:
                hour = f"{put_back + after:%H:%M} to {put_back + before:%H:%M} on {put_back + after:%Y-%m-%d}"
                why = f"{zone} had {hour} twice; a time in it is the earlier one until the log's times fall back"
                _say(found, why)
        day += timedelta(days=1)


def _offset(zone: str, moment: datetime) -> timedelta:
    return moment.astimezone(zone_info(zone)).utcoffset() or timedelta()


def _put_back(zone: str, begin: datetime) -> datetime:
    """The minute within a day at which clocks are put back, naive UTC."""
    low, high = 0, 24 * 60
    before = _offset(zone, begin)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(zone, begin + timedelta(minutes=middle)) == before:
            low = middle
        else:
            high = middle
    return (begin + timedelta(minutes=high)).replace(tzinfo=None)
