"""Logs of brokers in other layouts, as operators configure and collectors wrap them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

EVENT = re.compile(
    r"^\[(?P<day>\S+) (?P<clock>[0-9:]+),(?P<ms>[0-9]{3})\] +(?P<level>[A-Z]+) "
    r"(?P<message>.*?)(?: \((?P<logger>[A-Za-z_.$0-9]+)\))?$"
)

LAYOUTS: dict[str, str] = {
    "no brackets": "{day} {clock},{ms} {level} {message} ({logger})",
    "logger first": "[{day} {clock},{ms}] {level} {logger}: {message}",
    "logger after a dash": "{day} {clock},{ms} {level} {logger} - {message}",
    "thread": "[{day} {clock},{ms}] {level} [data-plane-kafka-request-handler-0] {message} ({logger})",
    "thread before": "[{day} {clock},{ms}] [kafka-scheduler-3] {level} {message} ({logger})",
    "thread and logger": "{day} {clock}.{ms} [main] {level} {logger} - {message}",
    "short logger and line": "{day} {clock},{ms} {level} {short}:66 - {message}",
    "logger and line": "[{day} {clock},{ms}] {level} {logger}:66 - {message}",
    "thread and short logger": "{day} {clock},{ms} [main] {level}  {short} - {message}",
    "bars": "{day} {clock},{ms} | {level} | main | {logger} | {message}",
    "spring": "{day} {clock}.{ms}  {level} 1 --- [main] {logger} : {message}",
    "strimzi": "{day} {clock},{ms} {level} {message} ({logger}) [main]",
    "strimzi, brackets": "[{day} {clock},{ms}] {level} {message} ({logger}) [main]",
    "level first": "{level} [{day} {clock},{ms}] {message} ({logger})",
    "confluent": "[{level}] {day} {clock},{ms} [main] {logger} appendInfo - {message}",
    "no logger": "{day} {clock},{ms} {level} {message}",
    "zone": "{day}T{clock}.{ms}Z {level} {message} ({logger})",
    "cri": "{day}T{clock}.{ms}000000Z stdout F [{day} {clock},{ms}] {level} {message} ({logger})",
    "compose": "kafka-1  | [{day} {clock},{ms}] {level} {message} ({logger})",
    "json layout": "json",
}
"""Patterns of an event's first line; ``json`` for an object."""

UNREADABLE = {"clock": "{clock},{ms} {level} {message} ({logger})"}
"""No day: such lines cannot be ordered."""

WRAPPED = {"cri": "2026-11-21T04:05:06.000000000Z stdout F {line}", "compose": "kafka-1  | {line}"}
"""What stands around lines that go on from an event."""


def another_event(event: list[str], layout: str) -> list[str]:
    """The lines of one event of the stock layout in another; what goes on is kept but for what is around each line."""
    found = EVENT.match(event[0])
    around = WRAPPED.get(layout, "{line}")
    rest = [around.format(line=line) for line in event[1:]]
    if found is None:
        return [around.format(line=event[0]), *rest]
    logger = found["logger"] or "kafka.log.Log"
    parts = {**found.groupdict(), "logger": logger, "short": logger.rpartition(".")[2]}
    if LAYOUTS.get(layout) == "json":
        time = "{day}T{clock}.{ms}Z".format(**parts)
        parts["message"] = "\n".join([parts["message"], *event[1:]])
        return [json.dumps({"@timestamp": time, **{name: parts[name] for name in ("level", "logger", "message")}})]
    text = (LAYOUTS | UNREADABLE)[layout].format(**parts)
    # An event of several lines prints its logger behind the last of them.
    return [text if found["logger"] else text.replace(" (kafka.log.Log)", ""), *rest]


WHERE: dict[str, Callable[[int, int], bool]] = {
    "last half": lambda at, events: at >= events // 2,
    "first half": lambda at, events: at < events // 2,
    "mixed": lambda at, _events: at % 3 == 2,
    "all": lambda _at, _events: True,
}
"""Which events of a log are in the other layout."""


def relaid(text: str, layout: str, where: str) -> str:
    """A log with some of its events in another layout."""
    events: list[list[str]] = []
    for line in text.splitlines():
        if EVENT.match(line) or not events:
            events.append([line])
        else:
            events[-1].append(line)
    lines = [
        line
        for at, event in enumerate(events)
        for line in (another_event(event, layout) if WHERE[where](at, len(events)) else event)
    ]
    return "".join(line + "\n" for line in lines)
