"""Walks the catalogue: every entry is well formed, and every wording reads from its examples what they state."""

from __future__ import annotations

import functools
import importlib
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import parsers.messages
from parsers.messages import MESSAGES
from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.schema import NOTICES, OBSERVATIONS, Kind, empty
from parsers.text.extract import extract
from parsers.text.frames import LEVELS, LOGGER, STOCK, THREAD
from parsers.text.lines import Block

VARIANTS = [(message, variant) for message in MESSAGES for variant in message.variants]
EXAMPLES = [(message, variant, example) for message, variant in VARIANTS for example in variant.examples]
NO_COLUMN = {"tp", "bracketed", "last"}
NOT_COMMON = re.compile(r"\\[0-9dDwWsSbBAZzpP]|(?<!\\)\(\?(?!:|P<[a-z_]+>)|(?<!\\)\$|\\[kg]|[*+?}]\+|\[\[:|&&|~~|--")
"""What only one of Python's ``re`` and Rust's ``regex`` takes, or takes otherwise."""


BEFORE = re.compile(
    rf"^(?:[0-9]+ --- )?(?:{THREAD} +)?(?:(?:{'|'.join(LEVELS)}) +)?"
    rf"(?:\[?{LOGGER}\]?(?::[0-9]+)?(?: ?:| --?)? +)?"
)
"""What layouts print between the date and the message, beside the level."""


def name(value: object) -> str | None:
    return value.id if isinstance(value, Message) else None


@functools.cache
def compiled(regex: str) -> re.Pattern[str]:
    """As ``re`` keeps them, but all: it forgets those beyond 512."""
    return re.compile(regex)


def value_of(group: str, text: str) -> dict[str, int | str]:
    """The columns one group fills, written down a second time to check the engine's way against."""
    if group == "tp":
        topic, _, partition = text.rpartition("-")
        topic = "__cluster_metadata" if topic == "@metadata" else topic
        return {"topic": topic, "partition": int(partition)} if partition.isdigit() else {}
    if group == "bracketed":
        topic, _, partition = text.rpartition(",")
        return {"topic": topic, "partition": int(partition)} if partition.strip().isdigit() else {}
    if group == "last":
        return {"leo": int(text) + 1}
    if group in ("isr", "isr_before"):
        named = re.findall(r"(?:brokerId=|ReplicaId: |replicaId=)([0-9]+)", text)
        return {group: ",".join(named or re.findall("[0-9]+", text))}
    return {group: int(text) if OBSERVATIONS[group].is_integer() else text}


def row(message: Message, variant: Variant, groups: dict[str, str | None], kind: Kind) -> dict[str, int | str]:
    values: dict[str, int | str] = dict(variant.fixed)
    for group, text in groups.items():
        if text is not None and (text or group.startswith("isr")):
            values |= value_of(group, text)
    return values if kind == message.kind else {**values, "kind": kind.value}


def read(message: Message, text: str, *, bared: bool = False) -> tuple[Variant, list[dict[str, int | str]]] | None:
    """The first wording that fits, and its rows; where something was taken off before it, not as people quote it."""
    for variant in message.variants:
        if not (bared and variant.quoted) and (match := compiled(variant.regex).match(text)):
            outer = match.groupdict()
            rows = [row(message, variant, outer, message.kind)] if variant.own_row else []
            for each in variant.each:
                kind = each.kind or message.kind
                found = compiled(each.regex).finditer(text)
                rows.extend(row(message, variant, outer | part.groupdict(), kind) for part in found)
            return variant, rows
    return None


def regexes(variant: Variant) -> list[str]:
    return [variant.regex, *(each.regex for each in variant.each)]


def groups_of(regex: str) -> set[str]:
    return set(compiled(regex).groupindex)


def version(text: str) -> tuple[int, ...]:
    assert re.fullmatch(r"[0-9]+\.[0-9]+", text), text
    return tuple(int(part) for part in text.split("."))


# -- form --------------------------------------------------------------------------------------------------------------


def test_ids_are_unique() -> None:
    ids = [message.id for message in MESSAGES]
    assert len(ids) == len(set(ids))


def test_every_family_is_listed() -> None:
    folder = Path(parsers.messages.__file__).parent
    listed = {id(message) for message in MESSAGES}
    for path in sorted(folder.glob("*.py")):
        if path.stem in ("__init__", "added", "catalogue", "logs", "patterns"):
            continue
        family = importlib.import_module(f"parsers.messages.{path.stem}").MESSAGES
        assert family, path.name
        assert all(id(message) in listed for message in family), f"{path.name} is not listed in MESSAGES"


@pytest.mark.parametrize("message", MESSAGES, ids=name)
def test_messages_are_well_formed(message: Message) -> None:
    assert re.fullmatch(r"[A-Z]{1,2}-[0-9]{1,2}[a-z]?", message.id)
    assert message.level in ("TRACE", "DEBUG", "INFO", "WARN", "ERROR")
    assert message.variants
    assert all(len(literal) >= len("using ELR") for literal in message.literals), "too short to be rare"
    texts = [example.text for variant in message.variants for example in variant.examples]
    for literal in message.literals:
        assert any(literal in text for text in texts), f"no example of {literal!r}"


@pytest.mark.parametrize("message", MESSAGES, ids=name)
def test_variants_are_well_formed(message: Message) -> None:
    for variant in message.variants:
        assert variant.until is None or version(variant.since) <= version(variant.until)
        assert (0, 8) <= version(variant.since) <= (5, 0)
        assert variant.examples, "every wording needs an example"
        assert variant.source_ref
        assert variant.own_row or variant.each or not any(example.values for example in variant.examples)
        assert set(variant.fixed) <= set(OBSERVATIONS) - {"kind", "message", "time", "line", "byte"}
        used = set().union(*(groups_of(regex) for regex in regexes(variant)))
        assert used <= set(OBSERVATIONS) - {"kind", "message", "time", "line", "byte"} | NO_COLUMN
        assert not used & set(variant.fixed), "a value is either printed or implied"
        for regex in [variant.regex, *(variant.regex + each.regex for each in variant.each)]:
            ways = [way for way in ("tp", "bracketed", "topic") if f"(?P<{way}>" in regex]
            assert len(ways) < 2, "one way to name the partition must not undo another"


@pytest.mark.parametrize("message", MESSAGES, ids=name)
def test_patterns_are_common_to_both_engines_and_cheap(message: Message) -> None:
    for variant in message.variants:
        assert variant.regex.startswith("^")
        assert not variant.regex.startswith(("^.*", "^(?:.*", "^(?P<detail>.*"))
        for regex in regexes(variant):
            assert not NOT_COMMON.search(regex), NOT_COMMON.findall(regex)
            assert regex.count("^") == regex.count("[^") + regex.startswith("^")
            groups = (
                pl.select(pl.lit("").str.extract_groups(regex)).to_series().struct.fields if groups_of(regex) else []
            )
            assert set(groups) == groups_of(regex)


# -- examples ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("message", MESSAGES, ids=name)
def test_examples_are_read(message: Message) -> None:
    for variant, example in ((one, two) for one in message.variants for two in one.examples):
        assert example.origin in ("real", "rendered")
        assert "\n" not in example.text
        reading = read(message, example.text)
        assert reading is not None, "no wording fits"
        assert reading[0] is variant, "an earlier wording fits"
        assert reading[1] == [dict(values) for values in example.values]


@pytest.mark.parametrize("message", MESSAGES, ids=name)
def test_examples_are_found_once_and_belong_to_one_message(message: Message) -> None:
    for example in (two for one in message.variants for two in one.examples):
        assert [literal in example.text for literal in message.literals].count(True) == 1
        for other in MESSAGES:
            if other is not message and other.thrown is message.thrown:
                assert read(other, example.text) is None, f"{other.id} reads it as well"


@pytest.mark.parametrize("message", MESSAGES, ids=name)
def test_both_engines_see_the_same(message: Message) -> None:
    for variant, example in ((one, two) for one in message.variants for two in one.examples):
        match = re.match(variant.regex, example.text)
        assert match is not None
        text = pl.Series([example.text])
        assert text.str.contains(variant.regex)[0]
        if names := groups_of(variant.regex):
            theirs = text.str.extract_groups(variant.regex)[0]
            assert {group: theirs[group] for group in names} == match.groupdict()
        for each in variant.each:
            ours = [part.group(0) for part in re.finditer(each.regex, example.text)]
            assert pl.select(pl.lit(example.text).str.extract_all(unnamed(each))).item().to_list() == ours
            for part in ours:
                theirs = pl.Series([part]).str.extract_groups(each.regex)[0]
                again = re.search(each.regex, part)
                assert again is not None, "a part must be readable apart from its surroundings"
                assert theirs == again.groupdict()


def unnamed(each: Each) -> str:
    return re.sub(r"\(\?P<[a-z_]+>", "(?:", each.regex)


# -- lines that are not as they should be ------------------------------------------------------------------------------


@given(st.text(max_size=300))
def test_no_text_breaks_a_pattern(text: str) -> None:
    for message in MESSAGES:
        assert read(message, text) is None or any(literal in text for literal in message.literals)


def _with_exception(message: Message, _: Variant, example: Example) -> bool:
    """Return whether a line is, or holds, the text of an exception, which is read by itself."""
    thrown = (literal for other in MESSAGES if other.thrown for literal in other.literals)
    return message.thrown or any(literal in example.text for literal in thrown)


@given(st.data())
def test_a_changed_line_is_read_or_noticed(data: st.DataObject) -> None:
    _, _, example = data.draw(st.sampled_from([found for found in EXAMPLES if not _with_exception(*found)]))
    place = data.draw(st.integers(0, len(example.text)))
    gone = data.draw(st.integers(0, 20))
    put = data.draw(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"]), max_size=8))
    text = example.text[:place] + put + example.text[place + gone :]
    line = f"[2026-11-21 05:31:28,430] INFO {text} (kafka.Some)"
    got = extract(Block(pl.Series([line]), 1, empty(NOTICES)), STOCK)
    printed = [other for other in MESSAGES if not other.thrown]
    wordings = [other for other in printed if any(literal in line for literal in other.literals)]
    if not wordings:
        assert got.relevant == 0
        return
    text = text.lstrip(" ")  # as the frame does
    readings = [reading for other in wordings if (reading := read(other, text))]
    if not readings:  # as a layout with thread and logger before the message prints it
        bare = BEFORE.sub("", text)
        readings = [reading for other in wordings if bare != text and (reading := read(other, bare, bared=True))]
    if readings:
        rows = [values for _, values in readings if values]
        assert got.observations.height == sum(len(values) for values in rows) or not rows
    else:
        assert got.observations.is_empty()
        assert got.notices.height == 1, "recognised, not understood, and not said"
