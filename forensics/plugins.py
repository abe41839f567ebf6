"""The names that a plugin may import: they stay as they are within a major version. docs/plugins.md explains them.

They are imported when they are used, so that a plugin of a format does not load the rules.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from forensics.case import Case
    from forensics.replay.confidence import Bearers
    from forensics.replay.facts.directory import Ref
    from forensics.replay.history import History
    from forensics.reports import Report
    from forensics.result import Result
    from forensics.rules.added import Line, lines_of
    from forensics.rules.finding import (
        Fact,
        Finding,
        Help,
        Judgement,
        Rule,
        Severity,
        Verdict,
        advised,
        judgement,
        place,
    )
    from forensics.rules.wants import Artefact, Question, Want, of
    from parsers.errors import NotThisFormat
    from parsers.file_reading import FileReading, Taker
    from parsers.files.sources import Source
    from parsers.messages.catalogue import Each, Example, Message, Variant
    from parsers.reading import Notices, observations
    from parsers.schema import Kind

_FROM: Final = {
    "parsers.errors": ("NotThisFormat",),
    "parsers.file_reading": ("FileReading", "Taker"),
    "parsers.files.sources": ("Source",),
    "parsers.messages.catalogue": ("Each", "Example", "Message", "Variant"),
    "parsers.reading": ("Notices", "observations"),
    "parsers.schema": ("Kind",),
    "forensics.case": ("Case",),
    "forensics.replay.confidence": ("Bearers",),
    "forensics.replay.facts.directory": ("Ref",),
    "forensics.replay.history": ("History",),
    "forensics.reports": ("Report",),
    "forensics.result": ("Result",),
    "forensics.rules.added": ("Line", "lines_of"),
    "forensics.rules.finding": (
        "Fact",
        "Finding",
        "Help",
        "Judgement",
        "Rule",
        "Severity",
        "Verdict",
        "advised",
        "judgement",
        "place",
    ),
    "forensics.rules.wants": ("Artefact", "Question", "Want", "of"),
}
"""The names of each module."""

_MODULES: Final = {name: module for module, names in _FROM.items() for name in names}

__all__ = [
    "Artefact",
    "Bearers",
    "Case",
    "Each",
    "Example",
    "Fact",
    "FileReading",
    "Finding",
    "Help",
    "History",
    "Judgement",
    "Kind",
    "Line",
    "Message",
    "NotThisFormat",
    "Notices",
    "Question",
    "Ref",
    "Report",
    "Result",
    "Rule",
    "Severity",
    "Source",
    "Taker",
    "Variant",
    "Verdict",
    "Want",
    "advised",
    "judgement",
    "lines_of",
    "observations",
    "of",
    "place",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for.

    Raises:
        AttributeError: there is no such name.
    """
    if name not in _MODULES:
        raise AttributeError(f"module 'forensics.plugins' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
