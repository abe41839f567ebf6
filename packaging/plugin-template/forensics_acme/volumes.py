"""The file ``acme-volumes`` in a log directory: on which volume each replica of the broker is.

acme-volumes 1 broker 1
orders-0 vol-7 attached
orders-1 vol-9 detached
"""

from __future__ import annotations

import re

from forensics.plugins import FileReading, Kind, Notices, NotThisFormat, Source, Taker, observations

NAME = "acme-volumes"
_HEAD = re.compile(rb"acme-volumes 1 broker ([0-9]{1,9})\n")
_LINE = re.compile(
    r"(?P<topic>[a-zA-Z0-9._-]+)-(?P<partition>[0-9]{1,9}) (?P<volume>[^ ]+) (?P<state>attached|detached)"
)
_MOST = 1 << 20


def claims(source: Source, head: bytes) -> bool:
    """Return whether the first bytes are those of such a file."""
    return head.startswith(b"acme-volumes ")


def read(source: Source, head: bytes) -> FileReading:
    """Return the rows of the file; a line that is damaged becomes a notice.

    Raises:
        NotThisFormat: the first line is another.
    """
    with source.open() as stream:
        data = stream.read(_MOST)
    begins = _HEAD.match(data)
    if begins is None:
        raise NotThisFormat("no acme-volumes of version 1")
    broker = int(begins[1])
    notices, rows = Notices(), []
    for number, line in enumerate(data[begins.end() :].decode("utf-8", "replace").splitlines(), start=2):
        found = _LINE.fullmatch(line)
        if found is None:
            notices.add("no line of acme-volumes", excerpt=line, line=number)
            continue
        rows.append(
            {
                "kind": Kind.PLUGIN,  # nothing is concluded from it: the rule of this package reads the rows
                "message": NAME,
                "topic": found["topic"],
                "partition": int(found["partition"]),
                "replica": broker,
                "witness": broker,
                "detail": f"{found['volume']} {found['state']}",
                "line": number,
            }
        )
    return FileReading(NAME, observations=observations(rows), notices=notices.frame())


FORMAT = Taker(NAME, "the volume of each replica of a broker", claims, read)
