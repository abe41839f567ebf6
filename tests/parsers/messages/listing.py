"""Writes docs/messages.md: every wording of the catalogue, and which real brokers were seen to print it.

``python -m tests.parsers.messages.listing FOLDER...`` looks through recorded clusters, each in a folder whose name ends
in the version of its brokers, adds what it sees to ``seen.json`` beside this file, and writes the page.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import parsers.messages
from parsers.messages import MESSAGES
from parsers.messages.catalogue import Message, Variant
from parsers.text import frames, lines

SEEN = Path(__file__).with_name("seen.json")
PAGE = Path(__file__).resolve().parents[3] / "docs" / "messages.md"
LOGS = re.compile(r"(?:server|state-change|controller|log-cleaner)\.log")
VERSION = re.compile(r"-([0-9]+\.[0-9]+\.[0-9]+(?:\.[0-9]+)?)(?:-[a-z0-9.-]+)?$")

Seen = dict[str, dict[str, list[str]]]
"""Wording -> ``versions`` and ``loggers`` that printed it. A wording is named ``L-21/1``, counted from 1."""

HEAD = """\
# Messages

Every line of a broker that is read, in all its wordings. `python -m tests.parsers.messages.listing` writes this page; a
test holds it to the catalogue in [`parsers/messages`](../parsers/messages).

- **Kafka**: the minor releases that print the wording.
- **level**: a message at DEBUG or TRACE is there only where its logger was turned up; *stock*: a stock configuration
  shows it.
- **gives**: the observation it makes; *nothing*: it is understood, and other lines say the same with more.
- *thrown*: the text of an exception, in a line that goes on from an event.
- **printed by**: the versions of the real brokers that were seen to print it, or *not yet*: then the wording comes from
  Kafka's source alone, and an example from a real cluster is welcome.
"""


def name(message: Message, number: int) -> str:
    return f"{message.id}/{number}"


def released(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def seen_in(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(wording, version, logger) for every line that a recorded cluster printed, each once."""
    found = VERSION.search(folder.name)
    if found is None:
        return
    literals = sorted({literal for message in MESSAGES for literal in message.literals if not message.thrown})
    kinds: list[pl.DataFrame] = []
    for path in sorted(folder.glob("broker-*/logs/*.log")):
        if not LOGS.match(path.name):
            continue
        with path.open("rb") as stream:
            for block in lines.blocks(stream):
                rows = block.frame().filter(pl.col("text").str.contains(frames.STOCK.head))
                rows = rows.filter(pl.col("text").str.contains_any(literals))
                kinds.append(distinct(frames.split(rows, frames.STOCK)))
    for wording, logger in wordings(distinct(pl.concat(kinds))) if kinds else ():
        yield wording, found[1], logger


def distinct(rows: pl.DataFrame) -> pl.DataFrame:
    """Lines that differ in numbers alone are one to the catalogue: the first of them stands for all."""
    shape = pl.col("message").str.replace_all(r"[0-9]+", "#")
    rows = rows.select("message", "logger", shape.alias("shape"))
    return rows.unique(["shape", "logger"], maintain_order=True).drop("shape")


def wordings(rows: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Which wording each line has, and which logger printed it."""
    for message in MESSAGES:
        if message.thrown:
            continue
        rest = rows.filter(pl.col("message").str.contains_any(list(message.literals)))
        for number, variant in enumerate(message.variants, start=1):
            if rest.is_empty():
                break
            fits = rest.get_column("message").str.contains(variant.regex)
            for logger in rest.filter(fits).get_column("logger").drop_nulls().unique(maintain_order=True):
                yield name(message, number), logger
            rest = rest.filter(~fits)


def load() -> Seen:
    return dict(json.loads(SEEN.read_text(encoding="utf-8"))) if SEEN.exists() else {}


def add(seen: Seen, folder: Path) -> None:
    for wording, version, logger in seen_in(folder):
        place = seen.setdefault(wording, {"versions": [], "loggers": []})
        place["versions"] = sorted({*place["versions"], version}, key=released)
        place["loggers"] = sorted({*place["loggers"], logger})


def every() -> Iterator[tuple[Message, int, Variant]]:
    for message in MESSAGES:
        for number, variant in enumerate(message.variants, start=1):
            yield message, number, variant


def page(seen: Seen) -> str:
    count = sum(1 for _ in every())
    real = sum(name(message, number) in seen for message, number, _ in every())
    parts = [HEAD, f"{len(MESSAGES)} messages in {count} wordings; {real} wordings were seen on real brokers.\n"]
    for path in sorted(Path(parsers.messages.__file__).parent.glob("*.py")):
        if path.stem in ("__init__", "added", "catalogue", "logs", "patterns"):
            continue
        family = importlib.import_module(f"parsers.messages.{path.stem}")
        title = (family.__doc__ or path.stem).strip().split("\n\n")[0].replace("\n", " ").replace("``", "`")
        parts.append(f"## {title}\n")
        parts.append(
            "| wording | Kafka | level | gives | printed by | example |\n| --- | --- | --- | --- | --- | --- |"
        )
        for message in family.MESSAGES:
            for number, variant in enumerate(message.variants, start=1):
                parts.append(row(message, number, variant, seen.get(name(message, number))))
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def row(message: Message, number: int, variant: Variant, seen: dict[str, list[str]] | None) -> str:
    kinds = [message.kind] if variant.own_row else []
    kinds += [each.kind or message.kind for each in variant.each]
    example = next((e for e in variant.examples if e.origin == "real"), variant.examples[0]).text
    example = example if len(example) < 160 else example[:157] + "..."
    printed = f"{', '.join(seen['versions'])} (`{'`, `'.join(seen['loggers'])}`)" if seen else "*not yet*"
    cells = (
        name(message, number) if len(message.variants) > 1 else message.id,
        f"{variant.since} – {variant.until or 'today'}",
        f"{message.level}{', stock' if message.stock else ''}{', thrown' if message.thrown else ''}",
        ", ".join(dict.fromkeys(kind.value for kind in kinds)) or "nothing",
        printed,
        "`" + example.replace("|", "\\|").replace("`", "'") + "`",
    )
    return "| " + " | ".join(cells) + " |"


def main(folders: list[str]) -> None:
    names = {name(message, number) for message, number, _ in every()}
    seen = {wording: found for wording, found in load().items() if wording in names}
    for folder in folders:
        for case in sorted(Path(folder).iterdir()):
            add(seen, case)
    order = {name(message, number): place for place, (message, number, _) in enumerate(every())}
    ordered = dict(sorted(seen.items(), key=lambda item: order[item[0]]))
    SEEN.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(ordered), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
