"""The words of labels, headings and columns that reports print are explained: a reader meets them first of all."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from forensics.case.coverage import KINDS
from forensics.replay.confidence import Confidence
from forensics.reports import groups, text
from forensics.rules.finding import Severity, Verdict
from forensics.rules.glossary import explained
from tests.conftest import ROOT

REPORTS = ROOT / "forensics" / "reports"
TEMPLATES = REPORTS / "html" / "templates"
HEADS = re.compile(r"<(?:th scope=\"col\"|dt)>([A-Z][^<>{}]*)</(?:th|dt)>")


def labels() -> set[str]:
    """Return the labels beside which the terminal prints what a story says."""
    calls = (node for node in ast.walk(ast.parse((REPORTS / "text.py").read_text())) if isinstance(node, ast.Call))
    said = (one for one in calls if isinstance(one.func, ast.Attribute) and one.func.attr == "said")
    firsts = (one.args[0] for one in said)
    return {str(first.value) for first in firsts if isinstance(first, ast.Constant)}


def heads(*templates: str) -> set[str]:
    """Return the heads of columns and of facts in parts of the page."""
    pages: list[Path] = [TEMPLATES / f"{name}.html.jinja" for name in templates]
    return {head for page in pages for head in HEADS.findall(page.read_text())}


WORDS = {
    "labels": {*labels(), "Unknown", "Otherwise"},
    "columns": {column.name for column in groups._COLUMNS},
    "files": {*(name for _, name in (*text._FILES, *text._TOOLS)), *(name for name, _ in KINDS), "settings", "MISSING"},
    "answers": {one.value for kind in (Confidence, Severity, Verdict) for one in kind},
    "page": heads("answer", "story", "missing"),
    "sentences": {
        "data directory",
        "role",
        "clean stop",
        "server.log",
        "controller.log",
        "notice",
        "listing",
        "Evidence",
    },
}


@pytest.mark.parametrize("where", WORDS)
def test_each_word_is_explained(where: str) -> None:
    assert WORDS[where]
    assert [word for word in sorted(WORDS[where]) if explained(word) is None] == []
