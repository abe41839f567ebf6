"""The logging configuration of a broker: the enabled loggers, and so the lines that it could print.

There are four formats: log4j 1 properties (up to 3.9), log4j2 properties, log4j2 YAML (the default of 4.0) and log4j2
XML. Levels may have been changed at run time (KIP-412), so this is the intended configuration, not the actual one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from parsers.errors import NotThisFormat
from parsers.reading import Notices, Reading, observations
from parsers.schema import Kind

NAME: Final = "log4j-config"
ROOT: Final = "root"

_LEVEL: Final = r"(?i:(?P<level>ALL|TRACE|DEBUG|INFO|WARN|ERROR|FATAL|OFF))"
_LOG4J1: Final = re.compile(
    rf"^\s*log4j\.(?:root(?:Logger|Category)|(?:logger|category)\.(?P<name>\S+?))\s*[=:]\s*{_LEVEL}\b"
)
_LOG4J2_NAME: Final = re.compile(r"^\s*logger\.(?P<key>[\w-]+)\.name\s*=\s*(?P<name>\S+)")
_LOG4J2_LEVEL: Final = re.compile(rf"^\s*(?:rootLogger|logger\.(?P<key>[\w-]+))\.level\s*=\s*{_LEVEL}\b")
_YAML: Final = re.compile(r"^(?P<indent>\s*)(?P<dash>- )?(?P<key>[\w.]+)\s*:\s*(?P<value>.*?)\s*$")
_XML: Final = re.compile(r"<(?P<tag>Root|(?:Async)?Logger|AsyncRoot)\b(?P<attributes>[^>]*)>", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"""(?P<key>name|level)\s*=\s*["'](?P<value>[^"']*)["']""", re.IGNORECASE)


def read_log4j_config(text: str) -> Reading:
    """Read the levels it sets, as LOGGER_LEVEL rows with detail ``logger=LEVEL``.

    Raises:
        NotThisFormat: it sets no level.
    """
    rows: list[dict[str, Any]] = []
    notices = Notices()
    for number, logger, level in (*_properties(text), *_yaml(text), *_xml(text)):
        if level.startswith(("${", "@")):
            notices.add(f"the level of {logger} is set elsewhere", excerpt=level, line=number)
            continue
        rows.append({"kind": Kind.LOGGER_LEVEL, "message": NAME, "detail": f"{logger}={level.upper()}", "line": number})
    if not rows:
        raise NotThisFormat("no logger with a level")
    rows.sort(key=lambda row: row["line"])
    return Reading(observations(rows), notices.frame())


def _properties(text: str) -> Iterator[tuple[int, str, str]]:
    names = {found["key"]: found["name"] for line in text.splitlines() if (found := _LOG4J2_NAME.match(line))}
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _LOG4J1.match(line):
            yield number, found["name"] or ROOT, found["level"]
        elif found := _LOG4J2_LEVEL.match(line):
            yield number, names.get(found["key"], found["key"]) if found["key"] else ROOT, found["level"]


def _yaml(text: str) -> Iterator[tuple[int, str, str]]:
    """``Root:`` with a level, and list entries with a name and a level, in either order."""
    if not re.search(r"^\s*Loggers\s*:", text, re.MULTILINE):
        return
    current: dict[str, str] = {}
    begun = 0
    for number, found in _below_loggers(text):
        key, value = found["key"], found["value"].strip("\"'")
        if key == "Root" or (found["dash"] and key in _MEMBERS):
            yield from _level(begun, current)
            current, begun = ({"name": ROOT} if key == "Root" else {}), number
        if key in _MEMBERS and value:
            current[key] = value
    yield from _level(begun, current)


_MEMBERS: Final = ("name", "level")


def _below_loggers(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the lines with a key inside of ``Loggers:``, with their 1-based numbers."""
    depth: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        found = _YAML.match(line)
        if found is None or line.lstrip().startswith("#"):
            continue
        indent = len(found["indent"])
        if depth is None:
            depth = indent if found["key"] == "Loggers" else None
        elif indent <= depth:
            return
        else:
            yield number, found


def _level(line: int, said: dict[str, str]) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the name and the level of a logger, if it has both."""
    if said.keys() >= set(_MEMBERS):
        yield line, said["name"], said["level"]


def _xml(text: str) -> Iterator[tuple[int, str, str]]:
    if "<Loggers" not in text and "<loggers" not in text:
        return
    for found in _XML.finditer(re.sub(r"<!--.*?-->", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL)):
        said = {attribute["key"].lower(): attribute["value"] for attribute in _ATTRIBUTE.finditer(found["attributes"])}
        if "level" in said:
            name = ROOT if "root" in found["tag"].lower() else said.get("name", "")
            yield text.count("\n", 0, found.start()) + 1, name, said["level"]
