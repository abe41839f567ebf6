"""Histories and judgements as JSON and back: what one engine's task found, for another process to report.

Dataclasses become lists of their fields' values; their types tell how to read them again.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from forensics.case.brokers import Broker
from forensics.replay.history import History
from forensics.replay.tenures import Tenure
from forensics.rules.finding import Judgement

Decoder = Callable[[Any], Any]


def encode(value: object) -> str:
    """An instance of a dataclass as JSON."""
    return json.dumps(_plain(value), separators=(",", ":"))


def decode_history(text: str) -> History:
    """A history that was encoded."""
    found = _decoder(History)(json.loads(text))
    assert isinstance(found, History)
    return found


def decode_broker(text: str) -> Broker:
    """A broker that was encoded."""
    found = _decoder(Broker)(json.loads(text))
    assert isinstance(found, Broker)
    return found


def decode_judgements(text: str) -> list[Judgement]:
    """Judgements that were encoded as a list."""
    return [_decoder(Judgement)(row) for row in json.loads(text)]


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value):
        return [_plain(getattr(value, field.name)) for field in _fields(type(value))]  # type: ignore[arg-type]
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(one)] for key, one in value.items()]
    if isinstance(value, frozenset | set):
        return sorted(_plain(one) for one in value)
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value


@functools.cache
def _fields(kind: Any) -> tuple[dataclasses.Field[Any], ...]:
    # what is not compared is no part of the value
    return tuple(field for field in dataclasses.fields(kind) if field.compare)


@functools.cache
def _decoder(kind: Any) -> Decoder:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, localns={"Tenure": Tenure})
        names = [field.name for field in _fields(kind)]  # type: ignore[arg-type]
        readers = [_decoder(hints[name]) for name in names]

        def build(row: Any) -> Any:
            return kind(**{name: read(one) for name, read, one in zip(names, readers, row, strict=True)})  # type: ignore[operator]

        return build
    return _of_generic(typing.get_origin(kind), typing.get_args(kind))


def _of_generic(origin: Any, arguments: tuple[Any, ...]) -> Decoder:
    if origin in (typing.Union, types.UnionType):
        (inner,) = [_decoder(one) for one in arguments if one is not type(None)][:1]
        return lambda row: None if row is None else inner(row)
    if origin is tuple and arguments[-1] is not Ellipsis:
        readers = [_decoder(one) for one in arguments]
        return lambda row: tuple(read(one) for read, one in zip(readers, row, strict=True))
    if origin in (tuple, list, frozenset):
        read = _decoder(arguments[0])
        return lambda row: origin(read(one) for one in row)
    if origin is not None and issubclass(origin, Mapping):
        key, item = _decoder(arguments[0]), _decoder(arguments[1])
        return lambda row: {key(one): item(two) for one, two in row}
    return lambda row: row
