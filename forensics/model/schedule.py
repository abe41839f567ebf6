"""A user's own schedule: brokers, settings and steps from a small YAML or JSON file, played as a scenario.

Everything in the file is checked before anything is played. What is wrong is named in a sentence with the file, the
line where YAML gives it, the number of the step and the field. A name that is not known is given with the nearest one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from forensics.model.protocol import EVERY
from forensics.model.run import Scenario, Stage
from forensics.model.schedule_file import Parsed, parsed
from forensics.model.schedule_steps import STEPS, Facts, Field, Refused, StepKind

INT32_MAX = 2**31 - 1
MOST_STEPS = 5_000
MOST_BROKERS = 50
LONGEST_NAME = 100
PROTOCOL_NAMES = tuple(protocol.name for protocol in EVERY)


class BadSchedule(ValueError):
    """A schedule that cannot be played. The text names the file, the step and the field."""


class StepRefused(BadSchedule):
    """A step of a sound schedule that the model cannot do at its moment.

    Args:
        told: the sentence.
        step: number of the step, from 1.
    """

    def __init__(self, told: str, step: int) -> None:
        super().__init__(told)
        self.step = step


class Step(NamedTuple):
    """One step of a schedule.

    Attributes:
        where: its line, where the file gives it, its number and its name.
        under: protocols under which it is played; empty for all.
    """

    where: str
    kind: StepKind
    facts: Facts
    note: str
    under: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """A checked schedule. ``settings`` are those of ``Cluster``; ``protocol`` is the one it names, if any."""

    file: str
    name: str
    about: str
    protocol: str | None
    brokers: tuple[int, ...]
    settings: dict[str, Any]
    steps: tuple[Step, ...]

    def scenario(self) -> Scenario:
        """The schedule as a scenario of the model."""
        return Scenario(self.name, f"{len(self.steps)} steps of {self.file}", partial(_tell, self), self.about)


def _tell(schedule: Schedule, stage: Stage) -> None:
    """Play a schedule on a stage.

    Raises:
        StepRefused: A step cannot be done.
    """
    cluster = stage.cast(*schedule.brokers, **schedule.settings)
    for number, step in enumerate(schedule.steps, start=1):
        if stage.limit is not None and number > stage.limit:
            return
        if step.under and stage.protocol.name not in step.under:
            stage.note(f"{step.kind.name} is left out under {stage.protocol.name}")
            continue
        try:
            step.kind.do(cluster, step.facts)
        except Refused as why:
            told = f"{schedule.file}: {step.where}, cannot be done under {stage.protocol.name}: {why}"
            raise StepRefused(told, number) from None
        stage.note(step.note or step.kind.name)


# -- from a file ------------------------------------------------------------------------------------------------------


def schedule(path: Path | str) -> Schedule:
    """Read and check a schedule.

    Raises:
        BadSchedule: The file is no schedule, or something in it is wrong.
        OSError: The file cannot be read.
    """
    file = Path(path)
    try:
        return _checked(file, parsed(file))
    except ValueError as error:
        raise BadSchedule(f"{path}: {error}") from None


def _checked(file: Path, found: Parsed) -> Schedule:
    content = found.content
    if not isinstance(content, dict):
        raise ValueError(f'a schedule is a mapping with "brokers" and "steps", not {_shown(content)}')
    _known(content, TOP, "")
    brokers = _brokers(content.get("brokers"))
    settings = _settings(content.get("settings", {}))
    for name, read in (("topic", _topic), ("cluster_id", _text)):
        if name in content:
            settings[name] = read(content[name], f'"{name}"')
    if "controller" in content:
        settings["controller"] = _number(content["controller"], '"controller"', 1)
    settings.setdefault("controller", _spare(brokers))
    if settings["controller"] in brokers:
        raise ValueError(
            f'"controller": {settings["controller"]} is among "brokers"; the model keeps it on a spare one'
        )
    protocol = content.get("protocol")
    if protocol is not None:
        protocol = _choice(protocol, PROTOCOL_NAMES, '"protocol"')
    name = _text(content["name"], '"name"') if "name" in content else file.stem
    about = _text(content["about"], '"about"', most=10_000) if "about" in content else ""
    steps = _steps(content.get("steps"), brokers, found.lines)
    return Schedule(str(file), name, about, protocol, brokers, settings, steps)


TOP = ("name", "about", "protocol", "topic", "cluster_id", "controller", "brokers", "settings", "steps")
"""Fields of a schedule."""


def _spare(brokers: Sequence[int]) -> int | None:
    """An id for the controller where those of the model are taken by brokers; None where they are free."""
    return max(brokers) + 1 if any(one in range(9, 120) for one in brokers) else None


def _brokers(value: object) -> tuple[int, ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_BROKERS:
        raise ValueError(f'"brokers" is a list of 1 to {MOST_BROKERS} broker ids, such as [1, 2]; the first leads')
    found = tuple(_number(one, '"brokers"', 1, INT32_MAX - 1_000) for one in value)
    if len(set(found)) < len(found):
        raise ValueError('"brokers" names a broker twice')
    return found


def _settings(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f'"settings" is a mapping of names to values, not {_shown(value)}')
    _known(value, tuple(SETTINGS), '"settings": ', what="setting")
    return {SETTINGS[name][0]: SETTINGS[name][1](one, f'"{name}"') for name, one in value.items()}


def _steps(value: object, brokers: Sequence[int], lines: Sequence[int]) -> tuple[Step, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError('"steps" is a list of steps, such as {"produce": {"count": 1}}')
    if len(value) > MOST_STEPS:
        raise ValueError(f"{len(value):,} steps; at most {MOST_STEPS:,} are played")
    places = [f"line {line}: step {number}" for number, line in enumerate(lines, start=1)]
    places = places or [f"step {number}" for number in range(1, len(value) + 1)]
    return tuple(_step(one, where, brokers) for one, where in zip(value, places, strict=True))


_KINDS = {kind.name: kind for kind in STEPS}
_BESIDE = ("note", "under")


def _step(value: object, where: str, brokers: Sequence[int]) -> Step:
    """Read one step: a name alone, or a mapping of one name to its fields, with ``note`` and ``under`` beside it."""
    content = {value: None} if isinstance(value, str) else value
    if not isinstance(content, dict):
        raise ValueError(f"{where} is a step's name with its fields, such as {{fetch: 2}}, not {_shown(value)}")
    _known(content, (*_KINDS, *_BESIDE), f"{where}: ", what="step")
    names = [name for name in content if name not in _BESIDE]
    if len(names) != 1:
        told = f"has two steps, {' and '.join(names)}; each is an item of its own" if names else "names no step"
        raise ValueError(f"{where} {told}")
    kind = _KINDS[names[0]]
    where = f"{where}, {kind.name}"
    note = _text(content["note"], f'{where}: "note"', most=1_000) if "note" in content else ""
    under = content.get("under", [])
    listed = under if isinstance(under, list) else [under]
    protocols = tuple(_choice(one, PROTOCOL_NAMES, f'{where}: "under"') for one in listed)
    return Step(where, kind, _facts(kind, content[kind.name], where, brokers), note, protocols)


def _facts(kind: StepKind, value: object, where: str, brokers: Sequence[int]) -> Facts:
    given: dict[Any, Any] = {}
    if isinstance(value, dict):
        given = value
    elif value is not None:
        if not kind.fields:
            raise ValueError(f"{where} has no fields, and {_shown(value)} is given")
        given = {kind.fields[0].name: value}
    _known(given, tuple(field.name for field in kind.fields), f"{where}: ")
    missing = next((field for field in kind.fields if field.required and given.get(field.name) is None), None)
    if missing is not None:
        raise ValueError(f'{where}: "{missing.name}" is missing: {missing.what}')
    return {
        field.name: _READ[field.form](given[field.name], f'{where}: "{field.name}"', field, brokers)
        for field in kind.fields
        if field.name in given
    }


# -- values -----------------------------------------------------------------------------------------------------------


def _known(content: dict[Any, Any], names: Iterable[str], where: str, what: str = "field") -> None:
    """Refuse a name that is not among these, with the nearest one that is.

    Raises:
        ValueError: There is such a name.
    """
    known = tuple(names)
    for name in content:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
            meant = f'"{near[0]}" may be meant' if near else f"there are {', '.join(known) or 'none'}"
            raise ValueError(f'{where}no {what} "{str(name)[:LONGEST_NAME]}" is known; {meant}')


def _shown(value: object) -> str:
    """A value in a sentence. What is nested is not printed: it may be of any size."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    return shown if len(shown) <= LONGEST_NAME else f"{shown[:LONGEST_NAME]}..."


def _number(value: object, where: str, least: int = 0, most: int = INT32_MAX) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        shown = "a number far too large" if isinstance(value, int) and abs(value) > 1 << 63 else _shown(value)
        raise ValueError(f"{where} is a whole number from {least:,} to {most:,}, not {shown}")
    return value


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{where} is true or false, not {_shown(value)}")
    return value


SETTINGS: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
    "min.insync.replicas": ("min_isr", lambda value, name: _number(value, name, 1)),
    "unclean.leader.election.enable": ("unclean", _flag),
    "replica.lag.time.max.ms": ("lag_ms", lambda value, name: _number(value, name, 1_000, 3_600_000)),
}
"""Settings by their names in Kafka; what is left out has the model's default, mostly that of the release."""


def _text(value: object, where: str, most: int = LONGEST_NAME) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > most or not _printable(value):
        raise ValueError(f"{where} is a text of at most {most:,} characters, not {_shown(value)}")
    return value


def _printable(value: str) -> bool:
    return all(one.isprintable() or one == "\n" for one in value)


def _topic(value: object, where: str) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", value) or value in (".", ".."):
        raise ValueError(f"{where} is a topic's name: letters, digits, dots, _ and -; not {_shown(value)}")
    return value


def _choice(value: object, names: Sequence[str], where: str) -> str:
    """One of some names; a number that is written without quotes counts as its text."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if text not in names:
        near = difflib.get_close_matches(text, names, n=1, cutoff=0.5)
        meant = f'"{near[0]}" may be meant' if near else f"there are {', '.join(names)}"
        raise ValueError(f"{where} is none of the known: {_shown(value)}; {meant}")
    return text


def _broker(value: object, where: str, brokers: Sequence[int]) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value not in brokers:
        raise ValueError(f"{where}: no broker {_shown(value)}; there are {', '.join(map(str, brokers))}")
    return value


def _several(value: object, where: str, _field: Field, brokers: Sequence[int]) -> list[int]:
    listed = value if isinstance(value, list) else [value]
    found = [_broker(one, where, brokers) for one in listed]
    if not found or len(set(found)) < len(found):
        raise ValueError(f"{where} is a broker, or a list of brokers without repetition")
    return found


def _nodes(value: object, where: str, _field: Field, brokers: Sequence[int]) -> list[int]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"{where} is a list of two brokers, 0 for the controller; not {_shown(value)}")
    found = [_broker(one, where, (0, *brokers)) for one in value]
    if found[0] == found[1]:
        raise ValueError(f"{where} names one node twice")
    return found


def _names(value: object, where: str, _field: Field, _brokers: Sequence[int]) -> list[str]:
    if not isinstance(value, list) or len(value) > MOST_STEPS:
        raise ValueError(f"{where} is a list of names, such as [m1, m2]; not {_shown(value)}")
    return [_text(one, where) for one in value]


_READ: dict[str, Callable[[Any, str, Field, Sequence[int]], Any]] = {
    "broker": lambda value, where, _field, brokers: _broker(value, where, brokers),
    "brokers": _several,
    "nodes": _nodes,
    "number": lambda value, where, field, _brokers: _number(value, where, field.least, field.most),
    "name": lambda value, where, field, _brokers: _choice(value, field.choices, where),
    "names": _names,
    "flag": lambda value, where, _field, _brokers: _flag(value, where),
}
"""How a value of each form is read."""
