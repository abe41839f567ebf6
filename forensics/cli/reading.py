"""Options that say how evidence is read, the same for every command that reads it."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal

import click

from forensics.case.order import known_zone
from forensics.engines.memory import half_of_memory
from parsers import limits as table

_UNITS = {
    "d": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "min": 60_000_000,
    "s": 1_000_000,
    "ms": 1000,
    "us": 1,
}
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)(d|h|min|ms|us|m|s)")
_MOST = 3650 * _UNITS["d"]


def _zone(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    try:
        return known_zone(value) if value is not None else None
    except ValueError:
        raise click.BadParameter(f"{value!r} is no time zone; use one like Europe/Berlin, UTC or +02:00") from None


def _skews(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[int, int]:
    shifts: dict[int, int] = {}
    for value in values:
        broker, equals, shift = value.partition("=")
        if not equals or not re.fullmatch(r"[0-9]{1,9}", broker):
            raise click.BadParameter(f"{value!r} does not begin with a broker's id; use one like 1=+250ms or 2=-1h30m")
        if int(broker) in shifts:
            raise click.BadParameter(f"{value!r}: broker {broker} is shifted twice; give it once")
        micros = _micros(shift)
        if micros is None:
            units = "d, h, m, s, ms, us"
            raise click.BadParameter(f"{value!r}: {shift!r} is no time; use one like +250ms, -90m or +1h30m ({units})")
        if abs(micros) > _MOST:
            raise click.BadParameter(f"{value!r} is more than ten years")
        shifts[int(broker)] = micros
    return shifts


def _micros(text: str) -> int | None:
    """A signed amount of time in microseconds: a number of seconds, or amounts with units."""
    sign, amount = (-1 if text.startswith("-") else 1), text[1:] if text[:1] in ("+", "-") else text
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", amount):
        amount += "s"
    if not re.fullmatch(f"(?:{_AMOUNT.pattern})+", amount):
        return None
    return sign * round(sum(Decimal(number) * _UNITS[unit] for number, unit in _AMOUNT.findall(amount)))


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


class Duration(click.ParamType[float]):
    """An amount of time, such as 10s or 1h30m, as seconds."""

    name = "TIME"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds."""
        if isinstance(value, int | float):
            return value
        micros = _micros(value)
        if micros is None or micros <= 0:
            return self.fail(f"{value!r} is no amount of time; use one like 10s, 5m or 1h30m", param, ctx)
        return micros / 1e6


since = click.option(
    "--from", "since", type=Moment(), help="Leave out lines logged before this time. Without a zone, that of --tz."
)
"""``--from``."""

until = click.option("--to", "until", type=Moment(), help="Leave out lines logged after this time.")
"""``--to``."""


def in_order(since: datetime | None, until: datetime | None) -> None:
    """Make sure that a span of time does not end before it begins, where both ends name a zone or neither does.

    Raises:
        click.BadParameter: it does.
    """
    if since is None or until is None or (since.tzinfo is None) != (until.tzinfo is None) or since <= until:
        return
    raise click.BadParameter(f"it ends before it begins: --from is {since}, --to is {until}", param_hint="--to")


zone = click.option(
    "--tz",
    "zone",
    metavar="ZONE",
    callback=_zone,
    help="Time zone of log timestamps without one, such as Europe/Berlin or +02:00. "
    "Default: inferred from collector timestamps, else UTC.",
)
"""``--tz``."""

skews = click.option(
    "--skew",
    "skews",
    multiple=True,
    metavar="BROKER=+250ms",
    callback=_skews,
    help="Add this to the times of a broker: +250ms if its clock was 250 ms slow. Also -90m, +1h30m. Can be repeated.",
)
"""``--skew``, as microseconds by broker."""


def _limits(context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> None:
    try:
        moved = table.inherited() | table.parse(values)
    except table.WrongLimit as error:
        raise click.BadParameter(str(error)) from None
    context.with_resource(table.moved(moved))


def _bytes(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int:
    if value is None:
        return half_of_memory()
    found = re.fullmatch(r"([0-9]+) ?([kmgt]?)(?:i?b)?", value.strip().lower())
    if not found or not int(found[1]):
        raise click.BadParameter(f"{value!r} is not a size; use one like 512MiB or 2GiB")
    return int(found[1]) << 10 * "_kmgt".index(found[2] or "_")


memory = click.option(
    "--memory",
    callback=_bytes,
    metavar="SIZE",
    help="Memory for all processes together, such as 2GiB. Rows of larger evidence wait on disk. Default: half of all.",
)
"""``--memory``, in bytes."""


redacted = click.option(
    "--redact", "redacted", is_flag=True, help="Replace names of topics, hosts, paths, ids and clients by pseudonyms."
)
"""``--redact``."""

limits = click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_limits,
    expose_value=False,
    help="Change a limit of reading, such as line=4MiB. `forensics explain damaged-evidence` lists them.",
)
"""``--limit``: the values hold while the command runs."""
