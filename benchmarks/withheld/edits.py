"""Changes of evidence: files or lines that are taken away, and other contents of files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from benchmarks.same.corpus import Files
from benchmarks.same.cuts import Spans, without_lines

STAMP = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]", re.MULTILINE)
"""The time of a line, as Kafka's own configuration prints it."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of the evidence.

    Attributes:
        text: what it does.
        apply: returns the changed evidence.
        beside: what it adds of another cluster.
    """

    text: str
    apply: Callable[[Files], Files]
    beside: Files = field(default_factory=dict)


def edited(files: Files, edits: Iterable[Edit]) -> Files:
    """Return the evidence after some changes, in their order."""
    for edit in edits:
        files = edit.apply(files)
    return files


def _only(kept: Callable[[str], bool], files: Files) -> Files:
    return {path: content for path, content in files.items() if kept(path)}


def _changed(path: str, change: Callable[[bytes], bytes], files: Files) -> Files:
    return {one: change(content) if one == path else content for one, content in files.items()}


def gone(paths: Iterable[str]) -> list[Edit]:
    """Return changes that take files away, one each."""
    return [Edit(f"- {path}", partial(_only, lambda one, path=path: one != path)) for path in paths]  # type: ignore[misc]


def each(paths: Iterable[str], text: str, change: Callable[[bytes], bytes]) -> list[Edit]:
    """Return changes of files in one way, one each."""
    return [Edit(f"{text} {path}", partial(_changed, path, change)) for path in paths]


def lines_gone(lines: dict[str, Spans]) -> list[Edit]:
    """Return changes that take lines away, one for each file."""
    return [
        Edit(f"- {path}: lines {spans}", partial(_changed, path, partial(without_lines, spans=spans)))
        for path, spans in lines.items()
    ]


def all_changed(paths: Sequence[str], change: Callable[[bytes], bytes], files: Files) -> Files:
    """Return the evidence with some files changed in one way."""
    return {path: change(content) if path in paths else content for path, content in files.items()}
