"""Words that the repository must not contain: paths of somebody's machine, hosts of package indexes, how it was made.

Docstrings, comments and printed strings are in plain English: words that a Kafka engineer uses, and short sentences.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass
from pathlib import Path

import pytest

THIS_FILE = "tests/house/test_words.py"  # has to name what it forbids
EVIDENCE = "sample_traces/"  # speaks of the brokers' own machines


@dataclass(frozen=True)
class Ban:
    """Words that must not appear, where they may all the same, and a text on either side of the line."""

    name: str
    regex: str
    caught: tuple[str, ...]
    fine: tuple[str, ...]
    except_in: tuple[str, ...] = ()


BANS = (
    Ban(
        "a path of somebody's machine",
        # Kafka's own defaults for log.dirs lie under /tmp
        r"(?<![\w.~/-])/(?:work|root|tmp(?!/(?:kafka|kraft|zookeeper))|(?:home|Users)/(?!kafka\b)\w+)/",
        caught=("open('/work/main/x')", "see /tmp/out.json", "cd /root/.cache", "in /home/ann/src", "/Users/ann/x"),
        fine=("log.dirs=/tmp/kafka-logs", "/srv/kafka/data", "a/work/b", "/home/kafka/logs", "https://host/tmp/x"),
        except_in=(EVIDENCE,),
    ),
    Ban(
        "the host of a package index",
        r"(?i)\b(?:pypi\.(?:org|python)|pythonhosted\.org|repo1?\.maven\.|registry\.npmjs|deb\.debian\.org|anaconda\.org"
        r"|repository\.apache\.org|central\.sonatype)",
        caught=("https://pypi.org/simple", "repo1.maven.org", "http://deb.debian.org/debian", "files.pythonhosted.org"),
        fine=("https://kafka.apache.org", "from PyPI", "Maven"),
    ),
    Ban(
        "how it was written",
        r"\b(?:AI|LLM|GPT)s?\b"
        r"|(?i:\b(?:language models?|chat ?bots?|sub-?agents?|(?:coding|code) (?:agent|assistant)s?"
        r"|(?:the|this|my|our|per) brief|as (?:instructed|requested) (?:by|in)"
        r"|another helper|(?:the|other) helpers)\b)",
        caught=(
            "written by an AI",
            "a language model",
            "as requested in the task",
            "per brief",
            "other helpers do this",
        ),
        fine=("a Spark session", "in brief", "the JMX agent", "MAIL", "session.timeout.ms", "await"),
        except_in=(EVIDENCE,),
    ),
    Ban(
        "a note that is not in the repository",
        r"(?i)\b(?:libraries|style|stories|kafka-evidence(?:-top30)?)\.md\b|\bknowledge/\w|\b(?:issue|ticket|PR) #\d+",
        caught=("see style.md §9", "knowledge/stories.md", "fixes issue #12"),
        fine=("KAFKA-14704", "KIP-101", "docs/rules.md", "knowledge of Kafka", "color: #123456"),
    ),
    Ban(
        "a function in which Polars panics (parsers.filled has one in its place)",
        r"\bpl\.format\(",
        caught=('pl.format("{}-{}", "topic", "partition")',),
        fine=('filled("{}-{}", "topic", "partition")', '"{}".format(1)'),
    ),
)


def said(text: str, ban: Ban) -> list[str]:
    """Line number and words of each place where a text breaks a ban."""
    return [
        f"{number}: {match[0]}"
        for number, line in enumerate(text.splitlines(), 1)
        for match in re.finditer(ban.regex, line)
    ]


def text_of(path: Path) -> str | None:
    """A file's text, or None for binary files."""
    data = path.read_bytes()
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


@pytest.mark.parametrize("ban", BANS, ids=[ban.name for ban in BANS])
def test_nothing_says(ban: Ban, repository: Path, files: tuple[str, ...]) -> None:
    spared = (THIS_FILE, *ban.except_in)
    found = [
        f"{name}:{place}"
        for name in files
        if not name.startswith(spared) and (text := text_of(repository / name)) is not None
        for place in said(text, ban)
    ]
    assert found == []


@pytest.mark.parametrize("ban", BANS, ids=[ban.name for ban in BANS])
def test_each_ban_catches_what_it_means_and_no_more(ban: Ban) -> None:
    assert [text for text in ban.caught if not said(text, ban)] == []
    assert [text for text in ban.fine if said(text, ban)] == []


# -- plain English -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Private:
    """A word that only this project uses in this sense, what to write instead, and plain uses that are allowed."""

    word: str
    regex: str
    instead: str
    fine: tuple[str, ...] = ()


PRIVATE = (
    Private(
        "tell",
        r"\b(?:tells?|telling|told|untold)\b(?! (?:\w+ ){0,3}apart\b)",
        "logs, names, shows; of a broker: receives, is sent",
        fine=("told apart", "tell the two apart"),
    ),
    Private("said", r"\b(?:said|unsaid|saying)\b", "logged, stated, reported"),
    Private(
        "says so",
        r"\bsays? (?:nothing|so|of|on|otherwise|it|that it)\b|\b(?:who|nobody|nothing|none|others?) says?\b",
        "logs, states, reports, shows",
        fine=("the line says how many", "no line says when"),
    ),
    Private("heard", r"\b(?:un)?heard\b", "logged by, known of, received"),
    Private("at hand", r"\bat hand\b", "in the evidence, available"),
    Private("anew", r"\banew\b", "again, from the start"),
    Private("befell", r"\bbef(?:a|e)ll(?:s|en)?\b", "what happened to"),
    Private("nobody", r"\bnobody\b", "no broker, no line, no replica"),
    Private("whoever", r"\bwho(?:m|so)?ever\b", "a replica that, the caller"),
    Private(
        "whose word", r"\bwhose words?\b|\b(?:own|its|their|'s) words? (?:on|of|that|for)\b", "what broker 1 logged"
    ),
    Private("by its words", r"\bby (?:its|their|his) (?:own )?words?\b", "by its log lines"),
    Private("speaks", r"\b(?:speaks?|spoke|spoken|speaking)\b", "describes, is about, logs"),
    Private("bears out", r"\b(?:bears?|borne|bore|bearing)\b", "supports, confirms, is evidence for"),
    Private("owes", r"\bow(?:es?|ed|ing)\b(?! to\b)", "must still, lacks"),
    Private(
        "cut",
        r"(?<!\bpower )\b(?:un)?cuts?\b(?! (?:off|short)\b)",
        "truncate, truncation",
        fine=("cut off", "cut short", "power cut"),
    ),
    Private("taken for", r"\b(?:taken?|takes|took) for\b(?! granted)", "read as, treated as"),
    Private("come to", r"\b(?:comes?|came) to\b(?! (?:light|an end|a stop)\b)", "reaches, results in, happens to"),
    Private("came back", r"\b(?:comes?|came|coming) back\b", "restarted, returned"),
    Private(
        "life",
        r"\b(?:life|lives)\b(?! (?:in|on|at|under|outside|there)\b)",
        "incarnation; of a broker: process",
        fine=("the file lives in", "it lives under"),
    ),
    Private("stands", r"\b(?:stands?|stood)\b(?! for\b)", "is", fine=("the letter stands for",)),
    Private("lies", r"\b(?:lies?|lay|lain)\b", "is"),
    Private("goes on", r"\b(?:goes|go|going|went|gone) on\b", "continues"),
    Private("but for", r"\bbut for\b", "except"),
    Private("all the same", r"\ball the same\b", "nevertheless, still"),
    Private("lone", r"\blone\b", "single"),
    Private("tenure", r"\btenures?\b", "role span"),
)
"""Private words of docstrings and comments. The list may grow; what it finds may only become less."""

LONGEST = 30
"""Words in a sentence of a docstring or comment. Beyond that, readers lose the subject."""

NO_SUBJECT = re.compile(r"(?:Whether|What|Which|Who|Whose|Whom|Whoever|Where)\b(?![^.]*\?)")
"""How docstrings begin that have no subject. Write "Return whether …", "The offsets that …", "Replicas that …"."""

QUOTES_KAFKA = "parsers/messages/"  # literals there are Kafka's own sentences


@dataclass(frozen=True)
class Count:
    """How much private English one package has."""

    words: int = 0  # private words in docstrings and comments
    openers: int = 0  # docstrings that begin without a subject
    long: int = 0  # sentences of docstrings and comments of more than LONGEST words
    literals: int = 0  # private words in strings, which users read


KNOWN = {
    "benchmarks/same": Count(literals=2),
    "forensics/case": Count(literals=2),
    "forensics/engines": Count(literals=2),
    "forensics/model": Count(literals=1),
    "forensics/reports": Count(literals=12),
    "parsers/encodings": Count(literals=1),
    "parsers/excerpts": Count(literals=5),
    "parsers/files": Count(literals=2),
    "parsers/formats": Count(literals=6),
    "parsers/text": Count(literals=1),
}
"""What is left. The numbers may only become less; a package that is not named has none."""

# Code, examples with what they print, and quotes of what Kafka or this tool prints.
CODE = re.compile(r">>> .*?(?=\n\s*\n|\Z)|``.*?``|`[^`]*`|\"[^\"]*\"", re.DOTALL)
LABEL = re.compile(r"(?m)^\s+[\w*]+(?:, [\w*]+)*:(?= )")  # names of arguments and attributes
PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[*|-] ?|>>> |[\w`*, .]{1,60}: ))")
SENTENCE = re.compile(r"(?<=[.!?:])\s+")


def prose(source: str) -> tuple[list[tuple[int, str]], list[tuple[int, str]], list[tuple[int, str]]]:
    """Docstrings, comments and other strings of a module, each with its line number."""
    nodes = list(ast.walk(ast.parse(source)))
    statements = [
        statement for node in nodes if isinstance(body := getattr(node, "body", None), list) for statement in body
    ]
    docstrings = {
        id(statement.value): statement.value
        for statement in statements
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    }
    literals = [
        (node.lineno, node.value)
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]
    comments: list[tuple[int, str]] = []
    last = (-2, -1)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            text = token.string.lstrip("#: ")
            alone = token.line.lstrip().startswith("#")
            if alone and token.start == (last[0] + 1, last[1]):  # continues the line above
                comments[-1] = (comments[-1][0], f"{comments[-1][1]}\n{text}")
            else:
                comments.append((token.start[0], text))
            last = token.start if alone else (-2, -1)
    return [(node.lineno, str(node.value)) for node in docstrings.values()], comments, literals


def private_words(text: str) -> list[str]:
    """Private words in a text, with what to write instead."""
    plain = LABEL.sub("", CODE.sub("…", text))
    return [
        f"{match[0]!r}: write {private.instead}"
        for private in PRIVATE
        for match in re.finditer(private.regex, plain, re.IGNORECASE)
    ]


def long_sentences(text: str) -> list[str]:
    """Sentences of more than ``LONGEST`` words."""
    return [
        sentence
        for paragraph in PARAGRAPH.split(CODE.sub("…", text))
        for sentence in SENTENCE.split(" ".join(paragraph.split()))
        if len(sentence.split()) > LONGEST
    ]


def private_english(source: str, *, quotes_kafka: bool = False) -> dict[str, list[str]]:
    """What a module has of each kind that ``Count`` counts, with the line where its docstring or comment begins."""
    docstrings, comments, literals = prose(source)
    sentences = [" ".join(text.split()) for _, text in literals] if not quotes_kafka else []
    return {
        "words": [f"{line}: {word}" for line, text in (*docstrings, *comments) for word in private_words(text)],
        "openers": [f"{line}: {text[:40]!r}" for line, text in docstrings if NO_SUBJECT.match(text)],
        "long": [f"{line}: {found}" for line, text in (*docstrings, *comments) for found in long_sentences(text)],
        "literals": [word for text in sentences if " " in text for word in private_words(text)],
    }


def package_of(name: str) -> str:
    """``forensics/replay/omissions/roles.py`` -> ``forensics/replay``."""
    return "/".join(Path(name).parent.parts[:2])


def test_private_english_only_becomes_less(repository: Path, files: tuple[str, ...]) -> None:
    found: dict[str, dict[str, list[str]]] = {}
    for name in files:
        if name.endswith(".py") and name.startswith(("forensics/", "parsers/", "benchmarks/")):
            source = (repository / name).read_text(encoding="utf-8")
            for kind, places in private_english(source, quotes_kafka=name.startswith(QUOTES_KAFKA)).items():
                found.setdefault(package_of(name), {}).setdefault(kind, []).extend(f"{name}:{at}" for at in places)
    more = {
        f"{package}: {len(places)} {kind}, {allowed} known": places
        for package, kinds in found.items()
        for kind, places in kinds.items()
        if len(places) > (allowed := getattr(KNOWN.get(package, Count()), kind))
    }
    assert more == {}


PRIVATE_NAMES = re.compile(
    r"(?:^|_)(?:un)?(?:told|heard)(?:$|_)|(?:^|_)(?:tells?|anew|befell|borne)(?:$|_)", re.IGNORECASE
)
"""Private words as parts of names."""

NAMES_LEFT = {"confidence": 1, "facts.partition_lines": 1}
"""Modules of replay with such names, and how many. The numbers may only become less; rules have none."""


def private_names(source: str) -> list[str]:
    """Names that a module gives and that hold a private word."""
    found = []
    for node in ast.walk(ast.parse(source)):
        name = getattr(node, "name", getattr(node, "arg", None)) if isinstance(node, ast.stmt | ast.arg) else None
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.id if isinstance(node, ast.Name) else node.attr
        if isinstance(name, str) and PRIVATE_NAMES.search(name):
            found.append(name)
    return found


def test_private_names_only_become_fewer(repository: Path, files: tuple[str, ...]) -> None:
    replay, rules = "forensics/replay/", "forensics/rules/"
    more = {}
    for name in (name for name in files if name.endswith(".py") and name.startswith((replay, rules))):
        found = private_names((repository / name).read_text(encoding="utf-8"))
        allowed = NAMES_LEFT.get(name.removeprefix(replay).removesuffix(".py").replace("/", "."), 0)
        if len(found) > allowed:
            more[name] = found
    assert more == {}


def test_private_names_are_found() -> None:
    source = "def untold(heard, toll):\n    told, self._told = 1, 2\n    return [tell for tell in toll]\n"
    assert sorted(private_names(source)) == ["_told", "heard", "tell", "told", "untold"]


@pytest.mark.parametrize("private", PRIVATE, ids=[private.word for private in PRIVATE])
def test_each_private_word_is_found_and_plain_ones_are_not(private: Private) -> None:
    assert private_words(private.word) != []
    assert [text for text in private.fine if re.search(private.regex, text)] == []
    assert not re.search(private.regex, private.instead, re.IGNORECASE)


def test_private_english_is_found_where_it_is() -> None:
    source = '''"""Whether nobody told.

Args:
    a: one two.
"""

A = 1  # nothing at hand
B = "what broker 2 was told"
'''
    found = private_english(source)
    assert {kind: len(places) for kind, places in found.items()} == {
        "words": 3,
        "openers": 1,
        "long": 0,
        "literals": 1,
    }
    assert private_english(source, quotes_kafka=True)["literals"] == []
    assert len(long_sentences("# " + "word " * 31)) == 1
    assert long_sentences("word " * 29 + "``a b c``. " + "word " * 30) == []
    assert private_words('``told`` and "told" are code') == []
    assert private_words("One.\n\n>>> told('a')\n'told'\n") == []
    assert private_words("Args:\n    told: what the broker logged.\n") == []
