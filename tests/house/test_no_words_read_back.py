"""Rules and reports conclude nothing from words: what a sentence says stands in a typed value beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

PACKAGES = ("forensics.rules", "forensics.reports")

WORDS = frozenset(
    {
        *("summary", "text", "missing", "note", "keep", "next_steps", "do_not", "uncertain", "inferences"),
        *("not_because", "because", "sentence", "command", "excerpt", "reason", "detail"),
    }
)
"""Attributes that hold words for people, or several pieces of them."""

WORDING = frozenset({"want_text", "want_texts"})
"""Functions that make words."""

READS = frozenset(
    {
        *("replace", "startswith", "endswith", "split", "rsplit", "splitlines", "partition", "rpartition"),
        *("removeprefix", "removesuffix", "find", "rfind", "index", "rindex", "strip", "lstrip", "rstrip"),
    }
)
"""Methods that take words apart."""

PATTERNS = {
    "forensics.reports.redaction": "replaces names in any text, foreign or the tool's own",
    "forensics.reports.text": "makes characters visible, and leaves out the date in front of a quoted line",
    "forensics.reports.html.wording": "makes characters visible",
}
"""Modules that may import ``re``, and what for."""

EXCUSED = {
    ("forensics.reports.html.wording", "sentence"): "sets a full stop where there is none",
    ("forensics.reports.html.wording", "in_code"): "sets a rule's own help in one line, and its code in another face",
    ("forensics.reports.html.figures", "escaped"): "escapes what plotly reads as HTML",
    ("forensics.reports.html.page", "_island"): "escapes what HTML reads in JSON",
    ("forensics.reports.redaction", "_quoted"): "leaves out a name at which a quoted line was cut",
    ("forensics.reports.html.answer", "kind"): "advice of several partitions that differs by their names is one card's",
}
"""Functions that may take words apart, and what for."""


def read_back(module: str, source: str) -> Iterator[tuple[str, str]]:
    """Where a module takes words apart: the function, and the code.

    Words are what an attribute or a name of ``WORDS`` holds, what a function of ``WORDING`` gives, and what a loop, a
    comprehension or an assignment takes from any of these.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(name.name == "re" for name in node.names) and module not in PATTERNS:
            yield "", "import re"
        if isinstance(node, ast.ImportFrom) and node.module == "re" and module not in PATTERNS:
            yield "", "from re import ..."
    outermost = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in outermost:
        held = WORDS | set(_taken(function))
        for node in ast.walk(function):
            if _reads(node, held):
                yield function.name, ast.unparse(node)


def _taken(function: ast.AST) -> Iterator[str]:
    """Names that hold words in a function."""
    for node in ast.walk(function):
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.For | ast.comprehension):
            pairs = [(node.target, node.iter)]
        elif isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.NamedExpr):
            pairs = [(node.target, node.value)]
        for target, value in pairs:
            if isinstance(target, ast.Name) and _gives_words(value):
                yield target.id


def _gives_words(value: ast.expr) -> bool:
    """Whether an expression is an attribute that holds words, words that are made, or a piece of either."""
    if isinstance(value, ast.Attribute):
        return value.attr in WORDS
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in WORDING
    if isinstance(value, ast.Subscript):
        return _gives_words(value.value)
    if isinstance(value, ast.BoolOp):
        return any(map(_gives_words, value.values))
    return False


def _reads(node: ast.AST, held: set[str] | frozenset[str]) -> bool:
    """Whether code takes words apart: by a method of strings, by a pattern, or by asking what is in them."""

    def words(value: ast.expr) -> bool:
        return _gives_words(value) or (isinstance(value, ast.Name) and value.id in held)

    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        by_method = node.func.attr in READS and words(node.func.value)
        pattern = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
        return by_method or (pattern and any(words(argument) for argument in node.args))
    if isinstance(node, ast.Compare):
        asks = isinstance(node.left, ast.Constant | ast.JoinedStr) and isinstance(node.ops[0], ast.In | ast.NotIn)
        return asks and isinstance(node.comparators[0], ast.Attribute | ast.Name) and words(node.comparators[0])
    return False


def found_in(sources: dict[str, str]) -> dict[tuple[str, str], list[str]]:
    """Code that takes words apart, by module and function."""
    found: dict[tuple[str, str], list[str]] = {}
    for module, source in sorted(sources.items()):
        if any(module == package or module.startswith(f"{package}.") for package in PACKAGES):
            for function, code in read_back(module, source):
                found.setdefault((module, function), []).append(code)
    return found


def test_no_rule_and_no_report_takes_words_apart(sources: dict[str, str]) -> None:
    found = found_in(sources)
    assert {place: code for place, code in found.items() if place not in EXCUSED} == {}


def test_no_excuse_is_left_over(sources: dict[str, str]) -> None:
    found = found_in(sources)
    assert [place for place in EXCUSED if place not in found] == []
    assert [module for module in PATTERNS if "import re" not in sources.get(module, "")] == []


@pytest.mark.parametrize(
    "code",
    [
        "return finding.summary.startswith('committed')",
        "return 'offsets' in finding.summary",
        "return judgement.missing[0].replace(history.name, '*')",
        "for item in judgement.missing:\n        yield item.replace(name, '*')",
        "return [step for step in finding.next_steps if step.partition(':')[1]]",
        "first = damage.text or ''\n    return first.split(':')",
        "return want_text(want, name).replace(name, '*')",
        "said = want_text(want, name)\n    return said.removeprefix('who ')",
        "return re.match('broker', finding.keep)",
        "return any(d.text.startswith(GAP) for d in disk.damage)",
    ],
)
def test_code_that_takes_words_apart_is_seen(code: str) -> None:
    source = f"def planted(finding, judgement, history, name, want, disk, damage):\n    {code}\n"
    assert [function for function, _ in read_back("forensics.rules.planted", source)] == ["planted"], code


def test_a_pattern_is_seen_where_none_is_allowed() -> None:
    for line in ("import re", "from re import compile"):
        assert len([*read_back("forensics.rules.planted", line)]) == 1
        assert not [*read_back("forensics.reports.redaction", line)]


@pytest.mark.parametrize(
    "code",
    [
        "return want in judgement.missing",
        "return replace(finding, summary=finding.summary + '.')",
        "return path.removeprefix(root)",
        "return f'{finding.summary}; {damage.text}'",
        "return damage.kind in ('gap',)",
    ],
)
def test_code_that_only_uses_words_is_fine(code: str) -> None:
    source = f"def planted(finding, judgement, want, path, root, damage):\n    {code}\n"
    assert not [*read_back("forensics.reports.planted", source)], code
