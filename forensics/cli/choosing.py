"""One of several names that a user types: a wrong one is answered with the nearest, not with a list of all."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

FC = TypeVar("FC", bound=Callable[..., Any] | click.Command)


class OneOf(click.ParamType[str]):
    """One of several names.

    Args:
        kind: what is named, such as ``rule``; its capital letters name it in usage lines.
        names: the names.
        listed_by: the command that lists them.
    """

    def __init__(self, kind: str, names: Iterable[str], listed_by: str) -> None:
        self.name = kind
        self.names = tuple(names)
        self.listed_by = listed_by

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; ends with an error that suggests the nearest one."""
        if value in self.names:
            return value
        near = self.near(value) or ";"
        return self.fail(f"there is no {self.name} {value!r}{near} `{self.listed_by}` lists them", param, ctx)

    def near(self, value: str) -> str:
        """Return the question after a wrong name; "" if none is near."""
        return did_you_mean(value, self.names)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """Return the kind in capital letters."""
        return self.name.upper()


def formats(*names: str, help: str) -> Callable[[FC], FC]:
    """Return the option ``--format`` with its values, of which the first is the default."""
    return click.option(
        "--format", "format_name", type=click.Choice(names), default=names[0], show_default=True, help=help
    )


def did_you_mean(value: str, names: Sequence[str]) -> str:
    """Return the question after a wrong name, or "" if none is near.

    >>> did_you_mean("comited-data-lost", ["committed-data-lost", "stale-directory"])
    '; did you mean committed-data-lost?'
    """
    folded = {name.casefold(): name for name in names}
    asked = value.casefold()
    near = [folded[one] for one in difflib.get_close_matches(asked, folded, n=1)]
    near = near or [name for name in names if asked in name.casefold()][:1]
    return f"; did you mean {near[0]}?" if near else ""
