"""Evidence whose names are replaced so that a scan of it answers as before: texts, paths, and files that are not text.

The names are those of ``redaction``. Evidence is read again, so pseudonyms have the form that Kafka's files hold: an id
has 22 characters. A name may be shown as a host's only in a later line, so all texts are shown once before the first
is replaced. Files that are no text, and have names in them, are given as lines of a trace.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Final

import polars as pl

from forensics.case import Case
from forensics.case.kept_files import of_files
from forensics.reports.redaction import WITHHELD, Redactor
from forensics.result import Result
from parsers.formats.log_directory import split_directory
from parsers.messages import MESSAGES
from parsers.text.extract import CONFIG_KEYS

_ENDING: Final = re.compile(r"(?:\.(?:log|txt|json|jsonl|properties|prom|out|cfg|conf))?(?:\.headers\.txt)?\Z")
"""The end of a file's name by which a scan knows what it may be."""
_SETTING: Final = re.compile(r"(\s+(?P<key>[a-z][A-Za-z0-9._-]*) = )(?P<value>.*?)(?P<end>\s*)", re.DOTALL)
"""A line of the settings that a broker prints as it starts (``AbstractConfig.logAll``)."""
_NAMELESS: Final = re.compile(r"[0-9.,E-]*|true|false|null|\[\]|\[hidden\]|\*\*\*|\(withheld\)", re.IGNORECASE)
"""A value that is no name."""
_LISTENER: Final = re.compile(r"\b(ListenerName\()(?!(?:PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL|CONTROLLER)\))[^()]+")
"""A listener that is not named after a security protocol."""
_TOPIC: Final = re.compile(r"\b(topic )((?!topic[0-9]+\b)[A-Za-z0-9._-]*[A-Za-z0-9_-])")
"""A topic in a sentence, which may be in no line that is understood."""
_WORD: Final = re.compile(r"[^\W\d_][\w-]*")
_PSEUDONYM: Final = re.compile(r"(?:topic|host|client|dir|group)[0-9]+(?:-[0-9]+)?|id[0-9]{19}A")
_CHECKPOINT: Final = re.compile(r"(\S+)( [0-9]+ -?[0-9]+\s*)", re.DOTALL)


def _uuid(number: int) -> str:
    """Return an id of 16 bytes as Kafka prints it: in 22 characters, of which the last one has two bits alone."""
    return f"id{number:019d}A"


@functools.cache
def _vocabulary() -> frozenset[str]:
    """Return the words of Kafka's log messages, in small letters."""
    said = (text for one in MESSAGES for text in (*one.literals, *(variant.regex for variant in one.variants)))
    levels = ("trace", "debug", "info", "warn", "error", "fatal", "kafka", "org", "apache")
    return frozenset((*levels, *(word[0].lower() for text in said for word in _WORD.finditer(text))))


class EvidenceRedactor(Redactor):
    """Knows the names of some evidence and their pseudonyms.

    Args:
        case: the evidence.
        inputs: paths that were given.
    """

    def __init__(self, case: Case, inputs: tuple[str, ...]) -> None:
        super().__init__(Result(inputs, case, []), id_named=_uuid)
        self._case = case
        names = sorted(self._groups, key=lambda name: (-len(name), name))
        words = "|".join(map(re.escape, names)) or r"(?!)"
        self._any_group = re.compile(rf"(?<![A-Za-z0-9_.-])(?:{words})(?![A-Za-z0-9_-]|\.[A-Za-z0-9])")
        self._numbers = {source.path: number for number, source in enumerate(case.files)}
        noted = case.notices.filter(pl.col("line").is_not_null()).select("source", "line").unique()
        self._unclear: dict[str, set[int]] = {}
        for number, line in noted.iter_rows():
            self._unclear.setdefault(case.path(number), set()).add(line)

    def lines(self, path: str, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines of a log or an excerpt, with their ends.

        A line that was recognised and not understood may have a name anywhere: words that no log message has are
        withheld.
        """
        unclear = self._unclear.get(path, set())
        for number, line in enumerate(lines, start=1):
            made = self._line(line)
            yield _WORD.sub(self._of_kafka, made) if number in unclear else made

    def _line(self, line: str) -> str:
        shown = _SETTING.fullmatch(line)
        if shown is None:
            named = _TOPIC.sub(self._named_topic, line)
            return _LISTENER.sub(rf"\1{WITHHELD}", self.text(named))
        return f"{shown[1]}{self.setting(shown['key'], shown['value'])}{shown['end']}"

    def _named_topic(self, found: re.Match[str]) -> str:
        word = found[2].lower()
        return found[0] if word in _vocabulary() else found[1] + self._seen_topic(found[2])

    def _of_kafka(self, word: re.Match[str]) -> str:
        known = word[0].lower() in _vocabulary() or _PSEUDONYM.fullmatch(word[0]) is not None
        return word[0] if known else WITHHELD

    def setting(self, key: str, value: str) -> str:
        """Return the value of a setting: names replaced in those that a scan reads, others withheld."""
        if _NAMELESS.fullmatch(value):
            return value
        return super().setting(key, value) if key in CONFIG_KEYS else WITHHELD

    def row(self, line: str) -> str:
        """Return a line of what a tool printed, in which the name of a group may be anywhere."""
        return self._any_group.sub(lambda m: self._groups[m[0]], self.text(line))

    def checkpoint(self, line: str) -> str:
        """Return a line of a checkpoint of offsets: topic, partition and offset. A topic may be a number."""
        found = _CHECKPOINT.fullmatch(line)
        return self.text(line) if found is None else f"{self.topic(found[1])}{found[2]}"

    def member(self, path: str) -> str:
        """Return the path of a file, by which a scan still knows what it is."""
        *folders, name = path.split("/")
        return "/".join([*map(self._folder, folders), self._file(name)])

    def _folder(self, name: str) -> str:
        found = split_directory(name)
        if found is None or found.topic not in self._topics:
            return self.path(name)
        return f"{self.topic(found.topic)}{name[len(found.topic) :]}"

    def _file(self, name: str) -> str:
        ending = _ENDING.search(name)
        made = self.path(name)
        return made if made == name or ending is None else f"{made}{ending[0]}"

    def statements(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield what files show as lines of traces, with their ends."""
        numbers = [self._numbers[path] for path in paths if path in self._numbers]
        return (f"{line}\n" for line in of_files(self._redacted, numbers, self.setting))

    @functools.cached_property
    def _redacted(self) -> Case:
        return self.case(self._case)
