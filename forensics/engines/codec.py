"""Histories and judgements as JSON and back: the result of one engine's task, for another process to report.

Dataclasses become lists of their fields' values; their types define how to read them. Values that JSON can hold are
passed on unchanged without a check: a case has millions of them.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from hashlib import sha256
from operator import attrgetter
from typing import Any

from forensics.case.brokers import Broker
from forensics.replay.history import History
from forensics.replay.leadership.state_changes import StateChanged
from forensics.replay.quorum.voting import Quorum
from forensics.replay.roles.steps import RoleSpan
from forensics.replay.signs.disagreement import Disagreement
from forensics.replay.signs.unlike_appends import UnlikeAppends
from forensics.replay.traces.results import Played
from forensics.rules.finding import Judgement

_T = typing.TypeVar("_T")

Way = Callable[[Any], Any]
"""From a value to what JSON holds, or back."""


def encode(value: object) -> str:
    """An instance of a dataclass as JSON."""
    return json.dumps(_encoded(value), separators=(",", ":"))


def encode_judgements(judgements: typing.Iterable[Judgement]) -> str:
    """Judgements as a list in JSON."""
    return written([_encoded(judgement) for judgement in judgements])


def written(plain: object) -> str:
    """Return plain values as JSON."""
    return json.dumps(plain, separators=(",", ":"))


def decode_history(text: str) -> History:
    """A history that was encoded."""
    return _decoded(History, text)


def decode_broker(text: str) -> Broker:
    """A broker that was encoded."""
    return _decoded(Broker, text)


def decode_judgement(text: str) -> Judgement:
    """A judgement that was encoded."""
    return _decoded(Judgement, text)


def _decoded(kind: type[_T], text: str) -> _T:
    found = _read(kind, json.loads(text))
    assert isinstance(found, kind)
    return found


def decode_judgements(text: str) -> list[Judgement]:
    """Judgements that were encoded as a list."""
    return judgements_of(json.loads(text))


def judgements_of(plain: typing.Iterable[object]) -> list[Judgement]:
    """Judgements of the plain values that JSON holds."""
    return [_read(Judgement, row) for row in plain]


@functools.cache
def shape() -> str:
    """Return a hash of all fields and their types: encoded data can be read if it is the same."""
    found: dict[str, list[tuple[str, str]]] = {}
    open_: list[Any] = [History, Judgement, Broker]
    while open_:
        kind = open_.pop()
        if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind.__name__ not in found:
            named = list(zip(_fields(kind), _hints(kind), strict=True))
            found[kind.__name__] = [(field.name, repr(hint)) for field, hint in named]
            open_ += [hint for _, hint in named]
        open_ += typing.get_args(_table(kind) if _is_table(kind) else kind)
    return sha256(repr(sorted(found.items())).encode()).hexdigest()[:16]


def place_of(kind: type, name: str) -> int:
    """Return the position of a field in the list that an instance becomes."""
    return [field.name for field in _fields(kind)].index(name)


@functools.cache
def _fields(kind: Any) -> tuple[dataclasses.Field[Any], ...]:
    # what is not compared is no part of the value
    return tuple(field for field in dataclasses.fields(kind) if field.compare)


def _hints(kind: Any) -> list[Any]:
    known = {one.__name__: one for one in (RoleSpan, Disagreement, UnlikeAppends, Played, Quorum, StateChanged)}
    hints = typing.get_type_hints(kind, localns=known)
    return [hints[field.name] for field in _fields(kind)]


def _inner(kind: Any) -> Any:
    """Return the type in an optional one."""
    return next(one for one in typing.get_args(kind) if one is not type(None))


# -- to JSON ----------------------------------------------------------------------------------------------------------


def _encoded(value: Any) -> Any:
    kind: Any = type(value)
    way = _encoder(kind)
    return value if way is None else way(value)


@functools.cache
def _encoder(kind: Any) -> Way | None:
    """Return how a value of a type becomes plain; None where it is plain already."""
    form = _form(kind)
    return None if form is None else form.encoder(kind)


def _encoder_of_enum(_: Any) -> Way:
    return attrgetter("value")


def _encoder_of_optional(kind: Any) -> Way | None:
    return _or_none(_encoder(_inner(kind)))


def _encoder_of_mapping(kind: Any) -> Way:
    key, item = (_encoder(one) or _same for one in typing.get_args(kind))
    return lambda value: [[key(one), item(two)] for one, two in value.items()]


def _encoder_of_table(kind: Any) -> Way:
    return _encoder_of_mapping(_table(kind))


def _encoder_of_tuple(kind: Any) -> Way | None:
    ways = [_encoder(one) for one in typing.get_args(kind)]
    if not any(ways):
        return None
    each = [way or _same for way in ways]
    return lambda value: [way(one) for way, one in zip(each, value, strict=True)]


def _encoder_of_set(kind: Any) -> Way:
    way = _encoder(typing.get_args(kind)[0])
    return sorted if way is None else lambda value: sorted(map(way, value))


def _encoder_of_list(kind: Any) -> Way | None:
    way = _encoder(typing.get_args(kind)[0])
    return None if way is None else lambda value: [way(one) for one in value]


def _encoder_of_fields(kind: Any) -> Way:
    names = [field.name for field in _fields(kind)]
    if len(names) < 2:
        (only,) = [_encoder(hint) or _same for hint in _hints(kind)]
        return lambda value: [only(getattr(value, names[0]))]
    take = attrgetter(*names)
    moved = [(at, way) for at, hint in enumerate(_hints(kind)) if (way := _encoder(hint)) is not None]
    if not moved:
        return take

    def encoded(value: Any) -> list[Any]:
        row = list(take(value))
        for at, way in moved:
            row[at] = way(row[at])
        return row

    return encoded


# -- and back ---------------------------------------------------------------------------------------------------------


def _read(kind: Any, plain: Any) -> Any:
    way = _decoder(kind)
    return plain if way is None else way(plain)


@functools.cache
def _decoder(kind: Any) -> Way | None:
    """Return how a value of a type is read; None where it is what JSON holds."""
    form = _form(kind)
    return None if form is None else form.decoder(kind)


def _decoder_of_enum(kind: Any) -> Way:
    found: Way = kind._value2member_map_.__getitem__
    return found


def _decoder_of_optional(kind: Any) -> Way | None:
    return _or_none(_decoder(_inner(kind)))


def _decoder_of_mapping(kind: Any) -> Way:
    key, item = (_decoder(one) or _same for one in typing.get_args(kind))
    return lambda row: {key(one): item(two) for one, two in row}


def _decoder_of_table(kind: Any) -> Way:
    way = _decoder_of_mapping(_table(kind))
    return lambda row: kind(way(row))


def _decoder_of_tuple(kind: Any) -> Way:
    ways = [_decoder(one) for one in typing.get_args(kind)]
    if not any(ways):
        return tuple
    each = [way or _same for way in ways]
    return lambda row: tuple([way(one) for way, one in zip(each, row, strict=True)])


def _decoder_of_many(kind: Any) -> Way | None:
    """Return how a list, a set or a tuple of any length is read."""
    made, way = typing.get_origin(kind), _decoder(typing.get_args(kind)[0])
    if way is None:
        return None if made is list else made
    return lambda row: made([way(one) for one in row])


def _decoder_of_fields(kind: Any) -> Way:
    moved = [(at, way) for at, hint in enumerate(_hints(kind)) if (way := _decoder(hint)) is not None]
    names = [field.name for field in _fields(kind)]
    # By position where what is no part of the value comes last.
    in_order = names == [field.name for field in dataclasses.fields(kind) if field.init][: len(names)]

    def read(row: Any) -> Any:
        for at, way in moved:
            row[at] = way(row[at])
        return kind(*row) if in_order else kind(**dict(zip(names, row, strict=True)))

    return read


def _or_none(way: Way | None) -> Way | None:
    return None if way is None else lambda value: None if value is None else way(value)


def _same(value: Any) -> Any:
    return value


# -- which types there are --------------------------------------------------------------------------------------------


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _is_optional(kind: Any) -> bool:
    return typing.get_origin(kind) in (typing.Union, types.UnionType)


def _is_mapping(kind: Any) -> bool:
    origin = typing.get_origin(kind)
    return origin is not None and issubclass(origin, Mapping)


def _is_table(kind: Any) -> bool:
    """Return whether it is a class of its own for a dictionary, such as ``LeaderEpochs``."""
    return isinstance(kind, type) and issubclass(kind, dict) and kind is not dict


def _table(kind: Any) -> Any:
    """Return the dictionary that such a class is, with the types of its keys and values."""
    (table,) = kind.__orig_bases__
    return table


def _is_tuple_of_fixed_length(kind: Any) -> bool:
    return typing.get_origin(kind) is tuple and typing.get_args(kind)[-1] is not Ellipsis


def _is_set(kind: Any) -> bool:
    return typing.get_origin(kind) in (frozenset, set)


def _is_list(kind: Any) -> bool:
    """Return whether it is a list, or a tuple of any length."""
    return typing.get_origin(kind) in (tuple, list)


class _Form(typing.NamedTuple):
    """A family of types.

    Attributes:
        holds: returns whether a type belongs to it.
        encoder, decoder: return how a value of such a type becomes plain, and how it is read; None where it stays as
            it is.
    """

    holds: Callable[[Any], bool]
    encoder: Callable[[Any], Way | None]
    decoder: Callable[[Any], Way | None]


_FORMS: typing.Final = (
    _Form(_is_enum, _encoder_of_enum, _decoder_of_enum),
    _Form(dataclasses.is_dataclass, _encoder_of_fields, _decoder_of_fields),
    _Form(_is_optional, _encoder_of_optional, _decoder_of_optional),
    _Form(_is_table, _encoder_of_table, _decoder_of_table),
    _Form(_is_mapping, _encoder_of_mapping, _decoder_of_mapping),
    _Form(_is_tuple_of_fixed_length, _encoder_of_tuple, _decoder_of_tuple),
    _Form(_is_set, _encoder_of_set, _decoder_of_many),
    _Form(_is_list, _encoder_of_list, _decoder_of_many),
)
"""The first that holds a type counts. A type of none of them is what JSON holds."""


def _form(kind: Any) -> _Form | None:
    return next((form for form in _FORMS if form.holds(kind)), None)
