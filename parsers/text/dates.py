"""The ways in which logging layouts write a time, as one table: log4j, log4j2, logback and what operators make of them.

Names in capitals are log4j2's (https://logging.apache.org/log4j/2.x/manual/pattern-layout.html#converter-date).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import polars as pl

from parsers.filled import filled


@dataclass(frozen=True, slots=True)
class Date:
    """One format of a time.

    Attributes:
        name: part of a frame's name.
        pattern: regular expression for it, without groups.
        read: expression of naive microseconds from one of the text; in UTC if it is ``zoned``.
        zoned: names its zone, or has one by definition.
        remark: notice for a file that has it.
        tells: pattern that at least one of its times must match, if another format looks the same; "" if none does.
    """

    name: str
    pattern: str
    read: Callable[[pl.Expr], pl.Expr]
    zoned: bool = False
    remark: str = ""
    tells: str = ""


ZONES: Final[dict[str, str]] = {
    **dict.fromkeys(("Z", "UTC", "GMT", "UT", "WET"), "+0000"),
    **dict.fromkeys(("CET", "MEZ", "WEST"), "+0100"),
    **dict.fromkeys(("CEST", "MESZ", "EET", "SAST", "CAT"), "+0200"),
    **dict.fromkeys(("EEST", "MSK", "EAT"), "+0300"),
    **dict.fromkeys(("HKT", "SGT", "AWST"), "+0800"),
    **dict.fromkeys(("JST", "KST"), "+0900"),
    "AEST": "+1000",
    "AEDT": "+1100",
    "NZST": "+1200",
    "NZDT": "+1300",
    "EDT": "-0400",
    **dict.fromkeys(("EST", "CDT"), "-0500"),
    "MDT": "-0600",
    **dict.fromkeys(("MST", "PDT"), "-0700"),
    "PST": "-0800",
    "AKST": "-0900",
    "HST": "-1000",
}
"""Offsets of zone names with one meaning among Kafka operators; CST, IST, BST and the like have several."""

_CLOCK: Final = "[0-9]{2}:[0-9]{2}:[0-9]{2}"
_FRACTION: Final = "[.,:][0-9]{1,9}"
_SECONDS: Final = f"[0-9]{{4}}[-/][0-9]{{2}}[-/][0-9]{{2}}[ T]{_CLOCK}"
_ISO: Final = f"{_SECONDS}(?:{_FRACTION})?"
_DAY_FIRST: Final = f"[0-9]{{1,2}} [A-Z][a-z]{{2}} [0-9]{{4}} {_CLOCK}(?:{_FRACTION})?"
_CLF: Final = f"[0-9]{{2}}/[A-Z][a-z]{{2}}/[0-9]{{4}}[: ]{_CLOCK}(?:{_FRACTION})?"
_BASIC: Final = "[0-9]{8}[T ]?(?:[0-9]{6}|[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]?[0-9]{3})?"
_DOTTED: Final = f"[0-9]{{2}}\\.[0-9]{{2}}\\.[0-9]{{4}} {_CLOCK}(?:{_FRACTION})?"
_SLASHED: Final = f"[0-9]{{2}}/[0-9]{{2}}/[0-9]{{4}}[ :T]{_CLOCK}(?:{_FRACTION})?(?: [AaPp][Mm])?"
# With dashes it may be the end of a date whose first two digits were cut off.
_SHORT: Final = f"[0-9]{{2}}/[0-9]{{2}}/[0-9]{{2}}[ T]{_CLOCK}(?:{_FRACTION})?"
_ZONE: Final = rf" ?(?:(?:GMT|UTC)?[+-][0-9]{{2}}(?::?[0-9]{{2}})?|(?:{'|'.join(sorted(ZONES, reverse=True))})\b)"
_OTHER_ZONE: Final = r" [A-Z]{2,5}"


def _plain(text: pl.Expr) -> pl.Expr:
    """A point before the fraction, at most six digits of it."""
    return text.str.replace(r"[,:]([0-9]{1,9})$", ".$1")


def _iso(text: pl.Expr) -> pl.Expr:
    # "10:22:41" has no fraction, though its last part looks like one behind a colon.
    fraction = pl.when(text.str.len_bytes() > 19).then(_plain(text)).otherwise(text)
    return (
        fraction.str.replace(r"^(.{10})T", "$1 ")
        .str.replace_all("/", "-", literal=True)
        .str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    )


def _named_months(text: pl.Expr) -> pl.Expr:
    """Day, name of the month, year; any mark between them."""
    day = "(?P<d>[0-9]{1,2})[ /](?P<b>[A-Z][a-z]{2})[ /](?P<y>[0-9]{4})"
    parts = text.str.extract_groups(rf"^{day}[ :](?P<t>{_CLOCK})(?:[.,:](?P<f>[0-9]+))?$").struct
    return filled(
        "{} {} {} {}.{}",
        parts.field("d"),
        parts.field("b"),
        parts.field("y"),
        parts.field("t"),
        parts.field("f").fill_null("0"),
    ).str.to_datetime("%d %b %Y %H:%M:%S%.f", time_unit="us", strict=False)


def _basic(text: pl.Expr) -> pl.Expr:
    digits = text.str.replace_all(r"[^0-9]", "")
    whole = filled("{}.{}", digits.str.slice(0, 14), digits.str.slice(14).replace("", "0"))
    # A blank, as digits that follow each other are not told apart by themselves.
    return whole.str.replace(r"^(.{8})", "$1 ").str.to_datetime("%Y%m%d %H%M%S%.f", time_unit="us", strict=False)


def _dotted(text: pl.Expr) -> pl.Expr:
    fraction = pl.when(text.str.len_bytes() > 19).then(_plain(text)).otherwise(text)
    return fraction.str.to_datetime("%d.%m.%Y %H:%M:%S%.f", time_unit="us", strict=False)


def _slashed(order: str) -> Callable[[pl.Expr], pl.Expr]:
    """Numbers of day and month in the order given."""

    def read(text: pl.Expr) -> pl.Expr:
        half = text.str.extract(r" ([AaPp])[Mm]$").str.to_uppercase()
        text = text.str.replace(r" [AaPp][Mm]$", "")
        fraction = pl.when(text.str.len_bytes() > 19).then(_plain(text)).otherwise(text)
        blank = fraction.str.replace(r"^(.{10})[:T]", "$1 ")
        time = blank.str.to_datetime(f"{order} %H:%M:%S%.f", time_unit="us", strict=False)
        # 12 AM is midnight, 12 PM is noon
        noon = (
            pl.when((half == "P") & (time.dt.hour() < 12))
            .then(12)
            .when((half == "A") & (time.dt.hour() == 12))
            .then(-12)
        )
        return time + pl.duration(hours=noon.otherwise(0))

    return read


def _short(order: str) -> Callable[[pl.Expr], pl.Expr]:
    """Numbers of two digits for day, month and year in the order given; the years begin with 20."""

    def read(text: pl.Expr) -> pl.Expr:
        fraction = pl.when(text.str.len_bytes() > 17).then(_plain(text)).otherwise(text)
        blank = fraction.str.replace(r"^(.{8})T", "$1 ").str.replace_all("/", "-", literal=True)
        return blank.str.to_datetime(f"{order} %H:%M:%S%.f", time_unit="us", strict=False)

    return read


def _since_1970(text: pl.Expr) -> pl.Expr:
    seconds = text.str.extract(r"^([0-9]{10})").cast(pl.Int64, strict=False)
    rest = text.str.extract(r"^[0-9]{10}[.,]?([0-9]{1,9})$").fill_null("0").str.pad_end(6, "0").str.slice(0, 6)
    return (seconds * 1_000_000 + rest.cast(pl.Int64, strict=False)).cast(pl.Datetime("us"))


def _moved(read: Callable[[pl.Expr], pl.Expr]) -> Callable[[pl.Expr], pl.Expr]:
    """The same with a zone behind it, moved to UTC."""

    def zoned(text: pl.Expr) -> pl.Expr:
        zone = text.str.extract(rf"({_ZONE})$").str.strip_chars_start(" ").str.replace(r"^(?:GMT|UTC)([+-])", "$1")
        zone = zone.replace(ZONES)
        hours = zone.str.slice(1, 2).cast(pl.Int64, strict=False)
        minutes = zone.str.slice(3).str.strip_chars_start(":").cast(pl.Int64, strict=False).fill_null(0)
        ahead = (60 * hours + minutes) * pl.when(zone.str.starts_with("-")).then(-1).otherwise(1)
        return read(text.str.replace(rf"{_ZONE}$", "")) - pl.duration(minutes=ahead)

    return zoned


def _cut(read: Callable[[pl.Expr], pl.Expr]) -> Callable[[pl.Expr], pl.Expr]:
    return lambda text: read(text.str.replace(f"{_OTHER_ZONE}$", ""))


_BASES: Final[tuple[tuple[str, str, Callable[[pl.Expr], pl.Expr]], ...]] = (
    ("", _ISO, _iso),  # 2024-03-01 10:22:41,107 and ISO8601, ISO8601_PERIOD_MICROS ...
    ("day first", _DAY_FIRST, _named_months),  # 01 Mar 2024 10:22:41,107: DATE
    ("request time", _CLF, _named_months),  # 01/Mar/2024:10:22:41.107, as web servers write
    ("dotted", _DOTTED, _dotted),  # 01.03.2024 10:22:41,107
    ("basic", _BASIC, _basic),  # 20240301T102241,107: ISO8601_BASIC; 20240301102241107: COMPACT
)
_SEVERAL: Final = (
    "its zone names mean more than one zone: printed times are read as if they had none; give the zone with --tz"
)
_LATE_DAY: Final = "(?:1[3-9]|2[0-9]|3[01])"
_ASSUMED: Final = (
    "its dates may have the month or the day first, and no early line shows which: they are read with the month first"
)
_SLASHES: Final[tuple[tuple[str, str, str, str], ...]] = (
    # 11/21/2026 04:05:49,991; 21/11/2026 04:05:49,991; 11/10/2026 04:05:49,991
    ("month first", "%m/%d/%Y", f"[0-9]{{2}}/{_LATE_DAY}/[0-9]{{4}}", ""),
    ("day first, slashes", "%d/%m/%Y", f"{_LATE_DAY}/[0-9]{{2}}/[0-9]{{4}}", ""),
    ("month first, assumed", "%m/%d/%Y", "", _ASSUMED),
)

_YEAR_ASSUMED: Final = (
    "its years have two digits: dates are read as year, month, day; if they have another order, put the year in full"
)
_LAST_ASSUMED: Final = (
    "its years have two digits: dates are read as month, day, year; if they have another order, put the year in full"
)
_SHORTS: Final[tuple[tuple[str, str, str, str], ...]] = (
    # 24/03/01 10:22:41, as Hadoop and Spark write; 03/01/24 10:22:41
    ("year of two digits", "%y-%m-%d", "(?:1[2-9]|[2-9][0-9])/", _YEAR_ASSUMED),
    ("year of two digits last", "%m-%d-%y", "(?:0[0-9]|1[01])/[0-9]{2}/(?:1[2-9]|[2-9][0-9])", _LAST_ASSUMED),
)

DATES: Final[tuple[Date, ...]] = (
    # Zones first: what has none also fits the beginning of what has one.
    *(Date(f"{name} zone".strip(), pattern + _ZONE, _moved(read), zoned=True) for name, pattern, read in _BASES),
    *(Date(name, pattern, read) for name, pattern, read in _BASES),
    *(
        Date(f"{name} zone name".strip(), pattern + _OTHER_ZONE, _cut(read), remark=_SEVERAL)
        for name, pattern, read in _BASES
    ),
    *(
        Date(f"{name} zone", _SLASHED + _ZONE, _moved(_slashed(order)), zoned=True, remark=remark, tells=tells)
        for name, order, tells, remark in _SLASHES
    ),
    *(Date(name, _SLASHED, _slashed(order), remark=remark, tells=tells) for name, order, tells, remark in _SLASHES),
    *(
        Date(f"{name} zone", _SHORT + _ZONE, _moved(_short(order)), zoned=True, remark=remark, tells=tells)
        for name, order, tells, remark in _SHORTS
    ),
    *(Date(name, _SHORT, _short(order), remark=remark, tells=tells) for name, order, tells, remark in _SHORTS),
    # UNIX_MILLIS, UNIX, and seconds with a fraction; UTC by definition
    Date("since 1970", r"[0-9]{10}(?:[.,][0-9]{1,9}|[0-9]{3})?", _since_1970, zoned=True),
)
"""In the order in which they are tried."""

CLOCK_ONLY: Final = rf"{_CLOCK}(?:{_FRACTION})?"
"""ABSOLUTE: no day, so nothing can be ordered by it."""
