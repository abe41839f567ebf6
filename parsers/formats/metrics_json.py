"""Answers of the HTTP API of Prometheus to queries: ``/api/v1/query_range`` (a matrix) and ``/api/v1/query``.

Each series has its labels, with its name as ``__name__``, and pairs of a time in seconds and a value. A query that
computes something, such as ``max by (topic)``, leaves no name: then it is not known what the values are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from parsers.errors import NotThisFormat
from parsers.formats.metric_series import NAME, Sample, SeriesRows, is_kafka, microseconds
from parsers.reading import Notices, Reading, observations

__all__ = ["NAME", "begins_answer", "read_answer"]

_BEGINS: Final = re.compile(rb"\"resultType\"\s*:\s*\"(?:matrix|vector)\"")


def begins_answer(head: bytes) -> bool:
    """Return whether the first bytes are those of such an answer."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and _BEGINS.search(head) is not None


def read_answer(data: bytes) -> tuple[Reading, bool]:
    """Return what an answer states, and whether a series is about Kafka.

    Raises:
        NotThisFormat: it is no such answer.
    """
    notices, found = Notices(), SeriesRows()
    results = _results(data)
    unnamed = 0
    for number, series in enumerate(results, start=1):
        where = f"series {number}"
        labels = series.get("metric") if isinstance(series, dict) else None
        if not isinstance(labels, dict):
            notices.add(f"{where} of the answer has no labels", excerpt=str(series))
            continue
        named = {str(name): str(value) for name, value in labels.items()}
        name = named.pop("__name__", "")
        unnamed += not name
        _add(found, Sample(name, named, "", None, None), series, notices, where)
    if unnamed and unnamed == len(results):
        notices.add("the query leaves no name to its series: ask for the series themselves", excerpt=str(results[0]))
    return Reading(observations(found.rows()), notices.frame()), found.of_kafka > 0 or unnamed > 0


def _add(found: SeriesRows, of: Sample, series: dict[str, Any], notices: Notices, where: str) -> None:
    """Add the samples of one series."""
    if not is_kafka(of.name):
        return
    bad: dict[str, int] = {}
    for time, value in _pairs(series):
        at = microseconds(time) if isinstance(time, int | float) else None
        wrong = found.add(of._replace(value=str(value), time=at))
        if wrong is not None:
            bad[wrong] = bad.get(wrong, 0) + 1
    for reason, count in bad.items():
        samples = "1 sample is" if count == 1 else f"{count} samples are"
        notices.add(f"{samples} not used: {reason}", excerpt=f"{where}: {of.name}")


def _pairs(series: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    one, many = series.get("value"), series.get("values")
    for pair in [*(many if isinstance(many, list) else ()), *([one] if one is not None else ())]:
        yield (pair[0], pair[1]) if isinstance(pair, list) and len(pair) == 2 else (None, pair)


def _results(data: bytes) -> list[Any]:
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise NotThisFormat("no JSON") from error
    answer = content.get("data") if isinstance(content, dict) else None
    results = answer.get("result") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise NotThisFormat("no answer to a query")
    return results
