"""Text that exporters print and servers scrape: Prometheus' text format, OpenMetrics, and ``promtool tsdb dump``.

A sample is ``name{label="value",...} value [time]``; a dump has the name among the labels. Prometheus prints times in
milliseconds, OpenMetrics in seconds. Exporters print no time as a rule. So several scrapes may follow one another, each
behind a line with its time: seconds or milliseconds since 1970, or a date with its zone (``date -u +%FT%TZ``), perhaps
behind ``#``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from parsers.errors import NotThisFormat
from parsers.formats.metric_series import NAME, Sample, SeriesRows, microseconds
from parsers.reading import Notices, Reading, observations

__all__ = ["NAME", "MetricsText", "begins_metrics"]

_SAMPLE: Final = re.compile(
    r"(?P<name>[A-Za-z_:][A-Za-z0-9_:]*)?(?:\{(?P<labels>(?:[^\"}]|\"(?:[^\"\\]|\\.)*\")*)\})?[ \t]+"
    r"(?P<value>[^ \t{}\"]+)(?:[ \t]+(?P<time>-?[0-9.eE+]+))?[ \t]*(?:# .*)?\Z"
)
_LABEL: Final = re.compile(r"[ \t,]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*\"((?:[^\"\\]|\\.)*)\"")
_ESCAPED: Final = re.compile(r"\\(.)")
_VALUE: Final = re.compile(r"[-+]?(?:[0-9.]+(?:[eE][-+]?[0-9]+)?|Inf|NaN)\Z", re.IGNORECASE)
_TIME: Final = re.compile(
    r"[#\s]*(?:(?P<number>[0-9]{10}(?:\.[0-9]+)?|[0-9]{13})|"
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})))\s*\Z"
)
_BEGINS: Final = re.compile(
    rb"(?m)^# (?:HELP|TYPE|UNIT) [A-Za-z_:][A-Za-z0-9_:]* |"
    rb"^[A-Za-z_:][A-Za-z0-9_:]*\{(?:[A-Za-z_][A-Za-z0-9_]*=\"(?:[^\"\\\n]|\\.)*\",? ?)+\} [-+0-9NI]|"
    rb"^\{__name__=\"[^\"\n]+\""
)


def begins_metrics(head: bytes) -> bool:
    """Return whether the first bytes of a text hold a line of this format."""
    return b"\0" not in head and _BEGINS.search(head) is not None


class MetricsText:
    """Reads such a text in parts that follow each other."""

    def __init__(self) -> None:
        self._found = SeriesRows()
        self._notices = Notices()
        self._bad: dict[str, tuple[int, int, str]] = {}  # by reason: how often, and the first line
        self._samples = 0
        self._time: int | None = None

    def add(self, lines: Iterable[str], first_line: int = 1) -> None:
        """Read lines."""
        for number, text in enumerate(lines, start=first_line):
            if text.strip():
                self._line(text.strip(), number)

    def reading(self, *, unended: bool = False) -> Reading:
        """Return what was read.

        Args:
            unended: the last line has no end, so that its last number may lack digits.

        Raises:
            NotThisFormat: no line is a sample.
        """
        if not self._samples:
            raise NotThisFormat("no sample of a series")
        for reason, (count, line, excerpt) in self._bad.items():
            samples = "1 sample is" if count == 1 else f"{count} samples are"
            self._notices.add(f"{samples} not used: {reason}", excerpt=excerpt, line=line)
        if unended:
            self._notices.add("the text ends within a line: it may be incomplete")
        return Reading(observations(self._found.rows()), self._notices.frame())

    @property
    def of_kafka(self) -> bool:
        """Return whether a series is about Kafka."""
        return self._found.of_kafka > 0

    def _line(self, text: str, number: int) -> None:
        if (at := _TIME.match(text)) is not None:
            self._time = _time_of(at)
            return
        if text.startswith("#"):
            return
        found = _SAMPLE.match(text)
        labels = _labels(found["labels"] or "") if found is not None else None
        if found is None or labels is None or _VALUE.match(found["value"]) is None:
            self._note("no sample as the format has it", number, text)
            return
        name = found["name"] or labels.pop("__name__", "")
        if not name:
            self._note("it has no name", number, text)
            return
        self._samples += 1
        time = _time(found["time"]) if found["time"] else self._time
        wrong = self._found.add(Sample(name, labels, found["value"], time, number))
        if wrong is not None:
            self._note(wrong, number, text)

    def _note(self, reason: str, line: int, text: str) -> None:
        count, first, excerpt = self._bad.get(reason, (0, line, text))
        self._bad[reason] = (count + 1, first, excerpt)


def _labels(text: str) -> dict[str, str] | None:
    """Return the labels of a sample; None if the text is not a list of labels."""
    found: dict[str, str] = {}
    place = 0
    for label in _LABEL.finditer(text):
        if label.start() != place:
            return None
        found[label[1]] = _ESCAPED.sub(lambda one: "\n" if one[1] == "n" else one[1], label[2])
        place = label.end()
    return found if not text[place:].strip(" \t,") else None


def _time(text: str) -> int | None:
    try:
        return microseconds(float(text))
    except ValueError:
        return None


def _time_of(found: re.Match[str]) -> int | None:
    if found["number"]:
        return _time(found["number"])
    try:
        return round(datetime.fromisoformat(found["date"]).timestamp() * 1_000_000)
    except ValueError:
        return None
