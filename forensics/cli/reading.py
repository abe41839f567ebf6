"""Options that say how printed times are read, the same for every command that reads evidence."""

from __future__ import annotations

import re
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


zone = click.option(
    "--tz", "zone", default="UTC", show_default=True, callback=_zone, help="Zone of the logs' printed times."
)
"""``--tz``."""

skews = click.option(
    "--skew", "skews", multiple=True, metavar="BROKER=+250ms", callback=_skews, help="Shift a broker's times."
)
"""``--skew``, as microseconds by broker."""
