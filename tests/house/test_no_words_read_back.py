"""Rules and reports conclude nothing from words: what a sentence says stands in a typed value beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

PACKAGES = ("forensics.rules", "forensics.reports")

ONE = frozenset({"summary", "text", "note", "keep", "because", "sentence", "command", "excerpt", "reason", "detail"})
"""Attributes and columns that hold words for people."""

SEVERAL = frozenset({"missing", "next_steps", "do_not", "uncertain", "inferences", "not_because"})
"""Attributes that hold several pieces of them."""

WORDING = {"_text": True, "_texts": False}
"""Endings of the names of functions that make words, and whether it is one piece."""

READS = frozenset(
    {
        *("replace", "startswith", "endswith", "split", "rsplit", "splitlines", "partition", "rpartition"),
        *("removeprefix", "removesuffix", "count", "find", "rfind", "index", "rindex", "strip", "lstrip", "rstrip"),
    }
)
"""Methods that take words apart."""

SAME_WORDS = frozenset({"lower", "upper", "casefold", "capitalize", "title", "format", "copy", "translate"})
"""Methods that give the words on that they are called of."""

SAME_PIECES = frozenset({"str", "list", "tuple", "set", "frozenset", "sorted", "reversed"})
"""Functions that give on what they are given."""

SEARCHES = frozenset({"match", "search", "fullmatch", "findall", "finditer", "sub", "subn"})
"""Methods of patterns that take what they are given apart."""

PATTERNS = {
    "forensics.reports.redaction": "replaces names in any text, foreign or the tool's own",
    "forensics.reports.evidence_redaction": "replaces names in the text of evidence",
    "forensics.reports.elision": "leaves out the middle of a quoted line",
    "forensics.reports.text": "leaves out the date in front of a quoted line",
    "forensics.reports.html.wording": "makes characters visible",
    "forensics.reports.markdown": "escapes what Markdown reads",
    "forensics.reports.html.notebook": "reads colours of the page's style sheet",
}
"""Modules that may import ``re``, and what for."""

EXCUSED = {
    ("forensics.reports.html.wording", "sentence"): "sets a full stop where there is none",
    ("forensics.reports.html.wording", "plain"): "makes characters visible, and cuts what nobody would read",
    ("forensics.rules.finding", "sentence"): "sets a full stop where there is none",
    ("forensics.reports.elision", "without_asides"): "leaves out the logger and the folder of a quoted line",
    ("forensics.reports.terminal", "_drawn"): "colours the beginning of a line",
    ("forensics.reports.text", "piece"): "leaves out the date in front of a quoted line",
    ("forensics.reports.redaction", "text"): "replaces names in any text",
    ("forensics.reports.redaction", "_action"): "replaces names in a command",
    ("forensics.reports.evidence_redaction", "_vocabulary"): "lists the words of Kafka's messages",
    ("forensics.reports.html.wording", "in_code"): "sets a rule's own help in one line, and its code in another face",
    ("forensics.reports.html.figures", "escaped"): "escapes what plotly reads as HTML",
    ("forensics.reports.html.page", "_island"): "escapes what HTML reads in JSON",
    ("forensics.reports.html.page", "_summary"): "cuts lines of a summary that nobody would read",
    ("forensics.reports.redaction", "_quoted"): "leaves out a name at which a quoted line was cut",
}
"""Functions that may take words apart, and what for."""

READERS = {
    ("forensics.outputs", "plain"): "makes characters visible",
    ("parsers.details", "assigned"): "the parsers that write the column also say how it is read",
    ("parsers.details", "cause_in"): "the parsers that write the column also say how it is read",
    ("parsers.details", "exception_in"): "the parsers that write the column also say how it is read",
    ("forensics.reports.html.overview", "_spoken"): "cuts a setting's value that nobody would read",
}
"""Functions that may be given words which they take apart, and what for."""


Helpers = dict[str, dict[str, frozenset[int | str]]]
"""Functions that take words apart that they are given, by module: which arguments, by place and by name."""


def read_back(module: str, source: str, helpers: Helpers | None = None) -> Iterator[tuple[str, str]]:
    """Where a module takes words apart: the function, and the code.

    Words are what an attribute, a column or a name of ``ONE`` or ``SEVERAL`` holds, what a function of ``WORDING``
    gives, and what a loop, a comprehension or an assignment takes from any of these, under whatever name.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(name.name == "re" for name in node.names) and module not in PATTERNS:
            yield "", "import re"
        if isinstance(node, ast.ImportFrom) and node.module == "re" and module not in PATTERNS:
            yield "", "from re import ..."
    given = _given(module, tree, helpers or {})
    for function in _functions(tree):
        words = Words(function)
        for node in ast.walk(function):
            given_away = any(which in given.get(called, ()) for called, which in words.gives(node))
            if given_away or words.taken_apart(node):
                yield function.name, ast.unparse(node)


def _functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _given(module: str, tree: ast.AST, helpers: Helpers) -> dict[str, frozenset[int | str]]:
    """Helpers by the names that a module knows them by: its own, and those that it imports."""
    found = dict(helpers.get(module, {}))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            theirs = helpers.get(node.module, {})
            found |= {one.asname or one.name: theirs[one.name] for one in node.names if one.name in theirs}
            for one in node.names:  # from package import module
                inner = helpers.get(f"{node.module}.{one.name}", {})
                found |= {f"{one.asname or one.name}.{name}": which for name, which in inner.items()}
    return found


class Words:
    """Which expressions of a function hold words, in one piece or in several."""

    def __init__(self, function: ast.AST, only: frozenset[str] | None = None) -> None:
        """Look through a function; with ``only``, nothing but these of its parameters holds words."""
        self.all = only is None
        self.names: dict[str, bool] = dict.fromkeys(ONE, True) | dict.fromkeys(SEVERAL, False) if only is None else {}
        self.names |= dict.fromkeys(only or (), True)
        taken = [one for node in ast.walk(function) for one in _takes(node)]
        known = -1
        while known != len(self.names):  # a name may be given on before it is seen in another branch
            known = len(self.names)
            for target, value, loop in taken:
                holds = self.holds(value)
                if isinstance(target, ast.Name) and holds is not None:
                    self.names[target.id] = holds or loop

    def holds(self, value: ast.expr) -> bool | None:
        """True for one piece of words, False for several, None for anything else."""
        if isinstance(value, ast.Name):
            return self.names.get(value.id)
        if isinstance(value, ast.BoolOp):
            return next((held for one in value.values if (held := self.holds(one)) is not None), None)
        if isinstance(value, ast.IfExp):
            return self.holds(ast.BoolOp(ast.Or(), [value.body, value.orelse]))
        if isinstance(value, ast.List | ast.Tuple | ast.Set | ast.ListComp | ast.SetComp | ast.GeneratorExp):
            pieces = value.elts if isinstance(value, ast.List | ast.Tuple | ast.Set) else [value.elt]
            return False if any(self.holds(one) for one in pieces) else None
        if isinstance(value, ast.Call) and (inner := self._passed_on(value)) is not None:
            return inner
        if isinstance(value, ast.Subscript):
            if self.all and isinstance(value.slice, ast.Constant) and value.slice.value in ONE:
                return True  # a column of a row
            inner = self.holds(value.value)
            return inner if inner is None or isinstance(value.slice, ast.Slice) else True
        if not self.all:
            return None
        if isinstance(value, ast.Attribute):
            return True if value.attr in ONE else False if value.attr in SEVERAL else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            return next((one for ending, one in WORDING.items() if value.func.id.endswith(ending)), None)
        return None

    def _passed_on(self, call: ast.Call) -> bool | None:
        """What a call holds that gives words on, in other letters or in another list."""
        if isinstance(call.func, ast.Attribute):
            if call.func.attr == "join":
                return True if any(self.holds(one) is False for one in call.args) else None
            return self.holds(call.func.value) if call.func.attr in SAME_WORDS else None
        if not isinstance(call.func, ast.Name) or not call.args:
            return None
        if call.func.id == "getattr" and self.all and len(call.args) > 1:
            return self.holds(ast.Attribute(call.args[0], ast.literal_eval(call.args[1]))) if _named(call) else None
        return self.holds(call.args[0]) if call.func.id in SAME_PIECES else None

    def taken_apart(self, node: ast.AST) -> bool:
        """Whether code takes words apart: by a method, a pattern or a place, or by asking what they say."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            by_method = node.func.attr in READS and self.holds(node.func.value) is not None
            by_pattern = node.func.attr in SEARCHES and any(self.holds(one) for one in node.args)
            return by_method or by_pattern
        if isinstance(node, ast.Subscript):
            return self.holds(node.value) is True and not _is_key(node.slice)
        if isinstance(node, ast.Match):
            return self.holds(node.subject) is True
        if isinstance(node, ast.Compare):
            return any(map(self._asks, [node.left, *node.comparators], node.ops, node.comparators))
        return False

    def _asks(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool:
        if isinstance(operator, ast.In | ast.NotIn):
            literal = isinstance(left, ast.Constant | ast.JoinedStr)
            among = isinstance(right, ast.Tuple | ast.List | ast.Set) and any(map(_is_sentence, right.elts))
            inside = self.holds(right)
            return inside is True or (inside is False and literal) or (self.holds(left) is True and among)
        if isinstance(operator, ast.Eq | ast.NotEq):
            return any(self.holds(one) and _is_sentence(two) for one, two in ((left, right), (right, left)))
        return False

    def gives(self, node: ast.AST) -> Iterator[tuple[str, int | str]]:
        """To which functions code gives words, and as which argument."""
        if isinstance(node, ast.Call):
            which: list[int | str] = [place for place, one in enumerate(node.args) if self.holds(one) is not None]
            which += [one.arg for one in node.keywords if one.arg and self.holds(one.value) is not None]
            if which:
                called = ast.unparse(node.func)
                yield from ((called, one) for one in which)


def _takes(node: ast.AST) -> list[tuple[ast.expr, ast.expr, bool]]:
    """What is given a name: the name, the value, and whether it is one after another of the pieces of the value."""
    if isinstance(node, ast.For | ast.comprehension):
        return [(node.target, node.iter, True)]
    if isinstance(node, ast.Assign):
        return [one for target in node.targets for one in _pairs(target, node.value)]
    if isinstance(node, ast.AnnAssign):
        return [(node.target, node.value, False)] if node.value is not None else []
    return [(node.target, node.value, False)] if isinstance(node, ast.NamedExpr) else []


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr, bool]]:
    """Names and values of an assignment, one by one where it gives several."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [(one, two, False) for one, two in zip(target.elts, value.elts, strict=True)]
    return [(target, value, False)]


def _named(call: ast.Call) -> bool:
    """Whether the second argument of a call is written out."""
    return isinstance(call.args[1], ast.Constant) and isinstance(call.args[1].value, str)


def _is_key(place: ast.expr) -> bool:
    return isinstance(place, ast.Constant) and isinstance(place.value, str)


def _is_sentence(value: ast.expr) -> bool:
    """Whether it is text that is written out, and more than nothing; or what such text is called."""
    constant = isinstance(value, ast.Constant) and isinstance(value.value, str) and bool(value.value)
    return constant or isinstance(value, ast.JoinedStr)


@dataclass
class Parameter:
    """A parameter of a function that may be text: whether the function takes it apart, and to whom it gives it."""

    taken_apart: bool
    given_to: list[tuple[str, int | str]]


def helpers_of(sources: dict[str, str]) -> Helpers:
    """Functions that take apart what they are given, themselves or by another one.

    Those of ``EXCUSED`` are none: what they do to a text changes how it looks, and nothing is concluded from it.
    """
    trees = {module: ast.parse(source) for module, source in sources.items()}
    texts = {module: _texts_given(tree) for module, tree in trees.items()}
    for module, name in (*EXCUSED, *READERS):
        texts.get(module, {}).pop(name, None)
    found: Helpers = {}
    while True:
        more: Helpers = {}
        for module, functions in texts.items():
            given = _given(module, trees[module], found)
            apart = {name: _apart(parameters, given) for name, parameters in functions.items()}
            more[module] = {name: which for name, which in apart.items() if which}
        if more == found:
            return found
        found = more


def _apart(
    parameters: dict[tuple[int, str], Parameter], given: dict[str, frozenset[int | str]]
) -> frozenset[int | str]:
    """Which of a function's parameters are taken apart, as far as its helpers are known."""
    return frozenset(
        name
        for names, one in parameters.items()
        if one.taken_apart or any(which in given.get(called, ()) for called, which in one.given_to)
        for name in names
    )


def _texts_given(tree: ast.AST) -> dict[str, dict[tuple[int, str], Parameter]]:
    """The parameters of a module's functions that may be text, each by its place and its name."""
    found: dict[str, dict[tuple[int, str], Parameter]] = {}
    for function in (node for node in ast.iter_child_nodes(tree) if isinstance(node, ast.FunctionDef)):
        for place, parameter in enumerate([*function.args.posonlyargs, *function.args.args]):
            if parameter.annotation is None or {"str", "Any"} & _types(parameter.annotation):
                words = Words(function, frozenset({parameter.arg}))
                nodes = [*ast.walk(function)]
                read = any(map(words.taken_apart, nodes))
                given_to = [one for node in nodes for one in words.gives(node)]
                found.setdefault(function.name, {})[(place, parameter.arg)] = Parameter(read, given_to)
    return found


def _types(annotation: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}


def found_in(sources: dict[str, str]) -> dict[tuple[str, str], list[str]]:
    """Code that takes words apart, by module and function."""
    helpers = helpers_of(sources)
    found: dict[tuple[str, str], list[str]] = {}
    for module, source in sorted(sources.items()):
        if any(module == package or module.startswith(f"{package}.") for package in PACKAGES):
            for function, code in read_back(module, source, helpers):
                found.setdefault((module, function), []).append(code)
    return found


@pytest.fixture(scope="module")
def found(sources: dict[str, str]) -> dict[tuple[str, str], list[str]]:
    """Code of this project that takes words apart."""
    return found_in(sources)


def test_no_rule_and_no_report_takes_words_apart(found: dict[tuple[str, str], list[str]]) -> None:
    assert {place: code for place, code in found.items() if place not in EXCUSED} == {}


def test_no_excuse_is_left_over(sources: dict[str, str], found: dict[tuple[str, str], list[str]]) -> None:
    assert [place for place in EXCUSED if place not in found] == []
    taken = {name: _texts_given(ast.parse(sources[module])).get(name, {}) for module, name in READERS}
    assert all(any(one.taken_apart for one in parameters.values()) for parameters in taken.values())


HELPING = """\
from parsers import reading as details
from parsers.reading import counted


def behind(what: str) -> str:
    return what.partition(":")[2]


def behind_too(name: str, said: str) -> str:
    return behind(said)


def shown(what: str) -> str:
    return f"{what}."


"""
READING = """\
def counted(detail: str | None) -> list[str]:
    return PATTERN.findall(detail or "")
"""
"""Helpers that take apart what they are given, and one that does not."""


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
        "return finding.summary[3:]",
        "return [step[0] for step in finding.do_not]",
        "return finding.note == 'ISR before the first change'",
        "return f'{name} lost' != finding.summary",
        "return finding.note in ('printed', 'read back')",
        "return name in finding.summary",
        "return row['detail'].removeprefix('AllReplicas:')",
        "return any(word in (row['detail'] or '') for word in words)",
        "return PATTERN.search(finding.summary) is not None",
        "return behind(finding.summary)",
        "return behind_too(name, said=finding.summary)",
        "return details.counted(row['detail'])",
        "return counted(row['detail'])",
        "x: str = finding.summary\n    return 'a' in x",
        "x, y = finding.summary, 1\n    return 'a' in x",
        "if row:\n        x = finding.summary\n    y = x\n    return 'a' in y",
        "return 'a' in finding.summary.lower()",
        "x = finding.summary.casefold()\n    return x == 'no record'",
        "x = str(finding.summary)\n    return 'a' in x",
        "x = getattr(finding, 'summary')\n    return 'a' in x",
        "match finding.summary:\n        case 'lost':\n            return 1",
        "x = [one.summary for one in row]\n    return any('a' in y for y in x)",
        "x = [finding.summary]\n    return 'a' in x[0]",
        "x = ' '.join(finding.next_steps)\n    return 'a' in x",
        "return finding.summary.count('a')",
        (
            "words = (*(text for _, text in finding.keep), *(step.sentence for step in finding.steps))\n"
            "    return tuple(text.replace(name, '*') for text in words)"
        ),
        "for one in (finding.summary, finding.keep):\n        return one.split()",
    ],
)
def test_code_that_takes_words_apart_is_seen(code: str) -> None:
    source = f"{HELPING}def planted(finding, judgement, history, name, want, disk, damage, row):\n    {code}\n"
    found = found_in({"forensics.rules.planted": source, "parsers.reading": READING})
    assert [*found] == [("forensics.rules.planted", "planted")], code


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
        "return damage.text == ''",
        "return finding.missing[0]",
        "return finding.next_steps[:2]",
        "return row['detail'] in VALUES",
        "return shown(damage.text)",
        "return behind(path)",
    ],
)
def test_code_that_only_uses_words_is_fine(code: str) -> None:
    source = f"{HELPING}def planted(finding, judgement, want, path, root, damage, row):\n    {code}\n"
    assert not found_in({"forensics.reports.planted": source, "parsers.reading": READING}), code
