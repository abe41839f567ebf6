"""The text of a schedule: JSON in a file named so, else YAML, of which JSON is nearly a part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from forensics.named_files import opened

LARGEST = 1 << 20
"""Bytes of a schedule that are read."""


class Parsed(NamedTuple):
    """The contents of a file.

    Attributes:
        content: mappings, lists, texts and numbers.
        lines: line of each step, from 1; empty where the format keeps none, as JSON does.
    """

    content: object
    lines: tuple[int, ...] = ()


def parsed(file: Path) -> Parsed:
    """Return the contents of a file.

    Raises:
        ValueError: It is neither JSON nor YAML, or far too large. The text has the line.
        OSError: It cannot be read.
    """
    with opened(file) as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"larger than {LARGEST >> 20} MiB, which is no schedule")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"no text in UTF-8: byte {error.start} is not") from None
    try:
        return Parsed(_json(text)) if file.suffix.lower() == ".json" else _yaml(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _json(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: no JSON: {error.msg}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON without a repeated name, of which one would be lost."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f'"{name}" is given twice in one object')
        found[name] = value
    return found


def _yaml(text: str) -> Parsed:
    import yaml

    class Loader(yaml.SafeLoader):
        """Refuses a key that is repeated in one mapping: mostly a step without its own dash."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            seen: set[str] = set()
            for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
                if key.value in seen:
                    raise ValueError(
                        f'line {key.start_mark.line + 1}: "{key.value}" is given twice in one mapping; '
                        f"each step begins with a dash"
                    )
                seen.add(key.value)
            return dict(super().construct_mapping(node, deep))

    try:
        loader = Loader(text)
        node = loader.get_single_node()
        return Parsed(None) if node is None else Parsed(loader.construct_document(node), _lines(node))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark else ""
        raise ValueError(f"{line}no YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise ValueError(f"no YAML: {error}".splitlines()[0]) from None


def _lines(document: Any) -> tuple[int, ...]:
    """The line of each item below ``steps`` in a document of YAML."""
    pairs = document.value if isinstance(document.value, list) else []
    steps = next((pair[1] for pair in pairs if isinstance(pair, tuple) and pair[0].value == "steps"), None)
    if steps is None or not isinstance(steps.value, list):
        return ()
    return tuple(item.start_mark.line + 1 for item in steps.value if not isinstance(item, tuple))
