"""Options that say how printed times are read, the same for every command that reads evidence."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

_UNITS = {"us": 1, "ms": 1000, "s": 1_000_000, "": 1_000_000}


def _zone(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError):
        raise click.BadParameter(f"{value!r} is no time zone; use a name like Europe/Berlin or UTC") from None
    return value


def _skews(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[int, int]:
    shifts = {}
    for value in values:
        found = re.fullmatch(r"([0-9]+)=([+-]?[0-9]+(?:\.[0-9]+)?)(us|ms|s|)", value)
        if found is None:
            raise click.BadParameter(f"{value!r} is not BROKER=+250ms")
        shifts[int(found[1])] = round(float(found[2]) * _UNITS[found[3]])
    return shifts


class Moment(click.ParamType[datetime]):
    """A time as ISO 8601; without a zone, in that of ``--tz``."""

    name = "TIME"

    def convert(self, value: str | datetime, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """The time as written, with or without a zone."""
        if isinstance(value, datetime):
            return value
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return self.fail(
                f"{value!r} is no time; use one like 2026-11-21T04:06:00 or 2026-11-21T04:06:00Z", param, ctx
            )


def moment(time: datetime | None, zone: str) -> int | None:
    """Microseconds since 1970 UTC."""
    if time is None:
        return None
    if time.tzinfo is None:
        time = time.replace(tzinfo=ZoneInfo(zone))
    return round((time - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))


since = click.option(
    "--from", "since", type=Moment(), help="Leave out what was printed before; --tz where it names no zone."
)
"""``--from``."""

until = click.option("--to", "until", type=Moment(), help="Leave out what was printed later.")
"""``--to``."""

zone = click.option(
    "--tz", "zone", default="UTC", show_default=True, callback=_zone, help="Zone of the logs' printed times."
)
"""``--tz``."""

skews = click.option(
    "--skew", "skews", multiple=True, metavar="BROKER=+250ms", callback=_skews, help="Shift a broker's times."
)
"""``--skew``, as microseconds by broker."""
