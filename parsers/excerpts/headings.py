"""Headings that name the owner of the following lines: ``broker 2:``, ``### kafka-1 server.log``, ``==>
broker-1/server.log <==``, ``[root@kafka-2 logs]# grep orders-0 server.log``.

A sentence that merely names a broker is no heading, because it does not name the owner of the lines after it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Heading:
    """One way to name the owner of the following lines.

    Attributes:
        name: its name.
        pattern: of the whole line; the group ``path``, or ``number`` of a broker, names the owner. Brokers of several
            clusters may have one number, so the group ``cluster`` is a part of the name. So are ``host`` and
            ``folder`` of a path.
        example: such a line.
        writer: the owner that it names.
        near_miss: a similar line that names no owner.
        typed: somebody typed it into a shell. No program prints such a line, so in a block it belongs to no event.
    """

    name: str
    pattern: re.Pattern[str]
    example: str
    writer: str
    near_miss: str
    typed: bool = False


_ROLE: Final = r"(?:\W{0,3}(?:the )?(?:old |new |former |previous |current )?(?:leader|follower|controller)\W{0,3})?"
_LOG: Final = r"(?:\W{0,4}(?:server\.log|state-change\.log|controller\.log|server log|logs?|output|side)\W{0,2})?"
_CLUSTER: Final = r"(?:cluster[ _#-]{0,2}(?P<cluster>[\w.-]{1,30})[\W_]{1,6})?"

_USER, _SIGN = r"\[?[\w.-]{1,60}@", r"\]? ?[#$%>] ?(?:sudo )?"
_HOST, _FOLDER = r"[\w.-]{1,80}", r"[\w./~-]{1,120}"
_ARGUMENTS: Final = r"(?:[^|;&<>]* )?"
"""Of the command that printed the lines; a command behind ``|`` has no file."""

HEADINGS: Final[tuple[Heading, ...]] = (
    Heading(
        "tail",
        re.compile(r"^\W*==> *(?P<path>\S.*?\S) *<==\W*$"),
        "==> broker-1/logs/server.log <==",
        "broker-1/logs/server.log",
        "==> see broker-1/logs/server.log",
    ),
    Heading(
        "path",
        re.compile(
            r"^[\W_]*(?:(?:from|in|log) )?(?P<path>(?:[\w.~-]*/)*[\w.~-]*[0-9][\w./~-]*\.(?:log|out|txt)(?:\.[0-9-]+)?)"
            r"[\W_]*$"
        ),
        "**kafka-2/server.log**:",
        "kafka-2/server.log",
        "see kafka-2/server.log for more of it",
    ),
    Heading(
        "broker",
        re.compile(
            rf"^[\W_]*(?:[0-9][.)] )?{_CLUSTER}(?:(?:on|from|of|in|at|logs?|the ) ){{0,4}}{_ROLE}{_LOG}"
            r"(?:(?:on|from|of|in) )?(?:kafka[ _-])?(?:broker|node|kafka|server|replica|machine|host)[ _#-]{0,2}(?:id)?"
            rf"[ :=#_-]{{0,2}}(?P<number>[0-9]{{1,9}})(?:'s)?{_ROLE}{_LOG}[\W_]*$",
            re.IGNORECASE,
        ),
        "### Cluster A, broker 2 (follower), server.log:",
        "cluster-A-broker-2",
        "After broker 2 was restarted:",
    ),
    Heading(
        "container",
        re.compile(
            rf"^\W{{0,3}}(?:{_USER}{_HOST}(?:[ :]{_FOLDER})?{_SIGN}|[#$%] ?)?"
            r"(?:docker|podman|nerdctl|kubectl|oc)(?:[ -]compose)? (?:\S+ ){0,4}?logs "
            r"(?:-{1,2}[\w=.-]+ (?:[0-9.]+[smhd]? )?|(?:-n|-c|--namespace|--container) [\w.-]+ ){0,6}"
            r"(?:pods?/)?(?P<path>[\w.-]*[0-9][\w.-]*)(?: .*)?$"
        ),
        "$ kubectl logs -n kafka --since 2h my-cluster-kafka-1 | grep orders-0",
        "my-cluster-kafka-1",
        "$ kubectl logs -l app=kafka | grep orders-0",
        typed=True,
    ),
    Heading(
        "prompt",
        re.compile(
            rf"^\W{{0,3}}{_USER}(?P<host>{_HOST})(?:[ :](?P<folder>{_FOLDER}))?{_SIGN}"
            rf"(?:[bxz]?[ef]?grep|[bxz]?cat|tail|head|less|more|awk|sed) {_ARGUMENTS}"
            r"(?P<path>[\w./~-]*[\w~-]\.(?:log|out)(?:\.[0-9-]+)*(?:\.gz)?)(?: .*)?$"
        ),
        "[root@kafka-2 logs]# grep orders-0 server.log | tail -20",
        "kafka-2/logs/server.log",
        "[root@kafka-2 logs]# rm server.log.1",
        typed=True,
    ),
    # Smaller numbers may count steps.
    Heading("id", re.compile(r"^[\W_]*(?P<number>[0-9]{3,9}) ?:[\W_]*$"), "2011:", "broker-2011", "12:"),
)  # fmt: skip


MOST_CHARACTERS: Final = 200
"""A longer line is no heading; the patterns would take a time that grows with the square of its length."""


_OUTPUT: Final = re.compile(
    r"^[\W_]*(?:the |observed |actual )?(?:outputs?|results?|response|ausgabe|ergebnis|sortie|résultat|salida|resultado"
    r"|saída|вывод|результат|输出|结果|出力|結果|출력|결과)[\W_]*(?:[\w ]{1,20}[\W_]*)?$",
    re.IGNORECASE,
)


def labels_output(text: str) -> bool:
    """Return whether a line of prose says only that output follows: of the command above it.

    >>> [labels_output(one) for one in ("**Output:**", "Result (after the restart)", "Output of the other broker, 2:")]
    [True, True, False]
    """
    return len(text) <= MOST_CHARACTERS and _OUTPUT.match(text.strip()) is not None


def heading(text: str) -> str:
    """Return the owner of the lines after a line of prose, or ""."""
    return _owner(text, HEADINGS)


def typed(text: str) -> bool:
    """Return whether a line is a heading that somebody typed into a shell."""
    return bool(_owner(text, _TYPED))


_TYPED: Final = tuple(one for one in HEADINGS if one.typed)


def _owner(text: str, headings: Sequence[Heading]) -> str:
    text = text.strip()
    if len(text) > MOST_CHARACTERS:
        return ""
    for one in headings:
        found = one.pattern.match(text)
        if found is not None:
            told = found.groupdict()
            of_cluster = f"cluster-{told['cluster']}-" if told.get("cluster") else ""
            return _path(told) if "path" in told else f"{of_cluster}broker-{told['number']}"
    return ""


def _path(told: Mapping[str, str | None]) -> str:
    """Return the path of the lines, with the host and the folder in which a command printed them."""
    path, folder = str(told["path"]), told.get("folder") or ""
    parts = (told.get("host"), "" if path.startswith("/") else folder, path)
    return "/".join(part.strip("/") for part in parts if part)
