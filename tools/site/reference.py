"""Pages of the reference that come from the code: commands, rules, tables, keys of JSON, formats, Python."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import click

import forensics
import parsers.schema
from forensics import tables
from forensics.cli import COMMANDS, cli
from forensics.replay.inferences import INFERENCES
from forensics.rules import RULES
from forensics.rules.glossary import GLOSSARY, SHORT
from forensics.rules.known_problems import KNOWN_PROBLEMS
from parsers.formats import FORMATS

WIDTH = 100
"""Columns of help texts."""

README_SECTIONS = ("Verdicts", "Exit codes", "Settings", "What it reads", "Limits")
"""Sections of README.md that the reference repeats."""

VALUE = re.compile(r"\{(\w+)\}")
GENERAL = {"who": "the broker", "where": "the partition", "leader": "its leader", "stake": "a to b", "offset": "n"}
"""What stands for the values of a line, where a page is about no line."""


def row(*cells: str) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |\n"


def heads(*titles: str) -> str:
    """Return the first two lines of a Markdown table."""
    return row(*titles) + "|" + "---|" * len(titles) + "\n"


def plain(text: str) -> str:
    """Return a docstring or a help text as Markdown: one kind of quotes for code, and no tags."""
    pieces = re.split(r"(`[^`\n]*`)", text.replace("``", "`"))
    return "".join(one if one.startswith("`") else one.replace("<", "&lt;").replace("*", "\\*") for one in pieces)


# -- commands and rules --------------------------------------------------------------------------------------------


def commands() -> str:
    """Return the help text of each command, as ``--help`` prints it."""
    parts = ["# Commands\n\nThis is what `forensics --help` and `forensics COMMAND --help` print.\n"]
    top = click.Context(cli, info_name="forensics", terminal_width=WIDTH)
    parts.append(f"```text\n{cli.get_help(top)}\n```\n")
    for name in COMMANDS:
        command = cli.get_command(top, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=top, terminal_width=WIDTH)
        parts.append(f"## forensics {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def rules() -> str:
    """Return what ``forensics explain`` says of each rule, the list first."""
    head = "# Rules\n\nEach rule gives one verdict for each partition. `forensics explain RULE` prints these texts.\n\n"
    head += heads("rule", "severity", "what it finds")
    head += "".join(row(f"[`{rule.id}`](#{rule.id})", rule.severity.value, plain(rule.summary)) for rule in RULES)
    parts = [head]
    for rule in RULES:
        text = re.sub(r"(?m)^## ", "### ", plain(rule.help.text))
        parts.append(f"## {rule.id}\n\n*{rule.severity.value}.* {plain(rule.summary)}\n\n{text}\n")
    return "\n".join(parts)


def words() -> str:
    """Return the words of Kafka that ``forensics explain`` knows."""
    text = "# Words of Kafka\n\n`forensics explain WORD` explains each of them.\n\n" + heads("word", "what it means")
    others = {name: [short for short, whole in SHORT.items() if whole == name] for name in GLOSSARY}
    for name, means in GLOSSARY.items():
        also = f" ({', '.join(others[name])})" if others[name] else ""
        text += row(f"**{name}**{also}", means)
    return text


def known_problems() -> str:
    """Return the problems that single lines state."""
    text = (
        "# Known problems\n\nA single log line can state a known problem. A scan explains such lines"
        " ([how](../logs.md#what-single-lines-mean)). They change no verdict.\n\n"
    )
    text += heads("id", "severity", "title", "what it means", "records")
    for one in KNOWN_PROBLEMS:
        means = VALUE.sub(lambda found: GENERAL.get(found[1], "…"), one.means)
        cells = (f"`{one.id}`", one.severity.value, plain(one.title), plain(means), plain(one.records.value))
        text += row(*cells)
    return text


def inferences() -> str:
    """Return what replay concludes where no line states it."""
    text = (
        "# Inferences\n\nWhere no line and no file states a value, a scan concludes it from Kafka's protocol. A finding"
        " names the inferences on which it rests (`rests_on` in JSON)."
        " [How it judges](../how-it-judges.md#what-is-inferred) explains the table.\n\n"
    )
    text += heads("inference", "conclusion", "because")
    return text + "".join(row(f"`{one.id}`", plain(one.says), plain(one.source)) for one in INFERENCES)


# -- outputs -------------------------------------------------------------------------------------------------------


def comments(module: Any) -> Mapping[str, str]:
    """Return the comments beside the keys of a module's dictionaries, by key: ``"offsets": ...,  # half-open``."""
    source = inspect.getsource(module)
    lines = source.splitlines()
    found: dict[str, str] = {}
    for node in ast.walk(ast.parse(source)):
        for key in node.keys if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                _, mark, comment = lines[key.lineno - 1].partition("  # ")
                if mark:
                    found.setdefault(key.value, comment)
    return found


def table_columns() -> str:
    """Return the columns of the tables that ``--save`` writes."""
    says = {**comments(parsers.schema), **comments(tables)}
    text = (
        "# Table columns\n\n`forensics scan --save DIR` writes these tables as Parquet, and the frames of"
        " `forensics.scan()` have the same columns. [Outputs](../outputs.md#tables) says what a row is.\n"
    )
    for table in tables.TABLES:
        text += f"\n## {table.name}\n\n" + heads("column", "type", "note")
        text += "".join(row(f"`{name}`", f"`{kind}`", plain(says.get(name, ""))) for name, kind in table.schema.items())
    return text


def json_keys() -> str:
    """Return the keys of the JSON report, from its schema."""
    schema = json.loads((resources.files("forensics.reports") / "scan.schema.json").read_text("utf-8"))
    text = f"# Keys of the JSON report\n\n{plain(schema['description'])}\n\n## The document\n\n"
    text += _keys(schema)
    for name, one in schema["$defs"].items():
        if "properties" in one:
            text += f"\n## {name}\n\n{plain(one.get('description', ''))}\n\n" + _keys(one)
    return text


def _keys(schema: Mapping[str, Any]) -> str:
    return heads("key", "value", "meaning") + "".join(
        row(f"`{key}`", _kind(one), plain(one.get("description", ""))) for key, one in schema["properties"].items()
    )


def _kind(one: Mapping[str, Any]) -> str:
    """Return the kind of a value in words."""
    if "$ref" in one:
        name = one["$ref"].rpartition("/")[2]
        return f"`{name}`"
    if "const" in one:
        return f"`{json.dumps(one['const'])}`"
    if "enum" in one:
        return ", ".join(f"`{json.dumps(value)}`" for value in one["enum"])
    for word in ("anyOf", "oneOf"):
        if word in one:
            return " or ".join(_kind(choice) for choice in one[word])
    if one.get("type") == "array" and isinstance(one.get("items"), dict):
        return f"list of {_kind(one['items'])}"
    kinds = one.get("type", "any")
    return " or ".join(kinds) if isinstance(kinds, list) else str(kinds)


def formats() -> str:
    """Return the formats that are read, each with what its reader says of it."""
    text = (
        "# File formats\n\n`forensics inspect FILE` shows as which of these a file is read. Log lines are read by the"
        " [message catalogue](../messages.md).\n"
    )
    for module in FORMATS:
        text += f"\n## {module.NAME}\n\n{plain(inspect.getdoc(module) or '')}\n"
    return text


# -- Python --------------------------------------------------------------------------------------------------------


def api() -> str:
    """Return the names of ``forensics.__all__`` with their signatures and docstrings."""
    text = (
        "# Python\n\nThese names are `forensics.__all__`. [From Python](../python.md) shows how they are used."
        " [Spark](../spark.md#from-python) has functions of its own.\n"
    )
    for name in sorted(forensics.__all__):
        one = getattr(forensics, name)
        if isinstance(one, str):
            text += f"\n## `{name}`\n\nThe version, `{one}` here.\n"
        elif inspect.ismodule(one):
            text += f"\n## {name}\n\nAnother name of `judge`.\n"
        elif inspect.isclass(one):
            text += f"\n## {name}\n\n{documented(one)}\n" + "".join(_members(one))
        else:
            text += f"\n## {name}\n\n{signature(name, one)}\n{documented(one)}\n"
    return text


def _members(one: type) -> Iterator[str]:
    for name, member in vars(one).items():
        if name.startswith("_"):
            continue
        function = getattr(member, "func", None) or getattr(member, "fget", None) or member
        if not callable(function):
            continue
        called = signature(f"{one.__name__}.{name}", member) if member is function else "*Attribute.* "
        yield f"\n### {one.__name__}.{name}\n\n{called}{documented(function)}\n"


def signature(name: str, function: Callable[..., Any]) -> str:
    """Return how a function is called, as code."""
    called = inspect.signature(function)
    kept = [
        one.replace(annotation=_annotation(one.annotation)) for one in called.parameters.values() if one.name != "self"
    ]
    shown = ", ".join(str(one).replace("'", "") if one.default is inspect.Parameter.empty else str(one) for one in kept)
    if any(one.kind is one.KEYWORD_ONLY for one in kept):
        first = next(number for number, one in enumerate(kept) if one.kind is one.KEYWORD_ONLY)
        before = [str(one) for one in kept[:first]]
        shown = ", ".join([*before, "*", *map(str, kept[first:])])
    back = _annotation(called.return_annotation)
    return f"```python\n{name}({shown}) -> {back}\n```\n\n"


class _annotation(str):
    """An annotation that is shown as it is written."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def documented(one: object) -> str:
    """Return a docstring as Markdown: its sections as lists, its examples as code."""
    parts: list[str] = []
    for block in (inspect.getdoc(one) or "").split("\n\n"):
        title, _, rest = block.partition("\n")
        if block.lstrip().startswith(">>>"):
            parts.append(f"```pycon\n{block}\n```")
        elif re.fullmatch(r"(Args|Returns|Raises|Attributes):", title):
            items = re.sub(r"\n {4,}", " ", textwrap.dedent(rest))
            listed = [re.sub(r"^([\w, ]+): ", r"`\1`: ", line) for line in items.splitlines()]
            parts.append(f"*{title}*\n\n" + "\n".join(f"- {plain(line)}" for line in listed))
        else:
            parts.append(plain(block))
    return "\n\n".join(parts) + "\n"


# -- README --------------------------------------------------------------------------------------------------------


def section(text: str, title: str) -> str:
    """Return a section of a Markdown text with its heading, up to the next one of its level or above."""
    found = re.search(rf"(?ms)^(#+) {re.escape(title)}\n.*?(?=^#{{1,2}} |\Z)", text)
    if found is None:
        raise LookupError(f"README.md has no section {title}")
    level = len(found[1])
    body = re.split(rf"(?m)^#{{1,{level}}} (?!{re.escape(title)}$)", found[0])[0]
    return re.sub(r"^#+", "##", body)


def answers(repository: Path) -> str:
    """Return the sections of README.md that are a reference."""
    readme = (repository / "README.md").read_text("utf-8")
    return "# Answers, exit codes and settings\n\n" + "\n".join(section(readme, one) for one in README_SECTIONS)


MADE: Mapping[str, Callable[[], str]] = {
    "reference/commands.md": commands,
    "reference/rules.md": rules,
    "reference/words.md": words,
    "reference/known-problems.md": known_problems,
    "reference/inferences.md": inferences,
    "reference/tables.md": table_columns,
    "reference/json.md": json_keys,
    "reference/formats.md": formats,
    "reference/api.md": api,
}
ANSWERS = "reference/answers.md"
NAMES = (*MADE, ANSWERS)
"""Pages below docs/ that exist only on the site."""


def pages(repository: Path) -> dict[str, tuple[str, str]]:
    """Return each page that is made, with the file to which its links are relative, and its text."""
    found = {name: (f"docs/{name}", page()) for name, page in MADE.items()}
    return found | {ANSWERS: ("README.md", answers(repository))}
