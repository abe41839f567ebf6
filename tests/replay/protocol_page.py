"""Writes docs/protocol.md: what brokers do where releases differ, as replay's table has it.

``python -m tests.replay.protocol_page`` writes the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from forensics.case.brokers import INTER_BROKER, MESSAGE_FORMAT, Release
from forensics.replay.protocol import BEHAVIOURS, Asked, Behaviour, Releases

PAGE = Path(__file__).resolve().parents[2] / "docs" / "protocol.md"

HEAD = """\
# Protocol

How brokers behave where releases of Kafka differ. `python -m tests.replay.protocol_page` writes this page, and a test
compares it with the table in [`forensics/replay/protocol.py`](../forensics/replay/protocol.py). The
[reference model](oracle.md) has the same behaviours with the same names. A test compares the two for each release that
the model runs.

- **releases**: the ranges in which a broker behaves like this. *before 2.0.1* does not include 2.0.1.
- **gates**: what else must hold. A broker whose `server.properties` sets no `inter.broker.protocol.version` runs that
  of its release. If the evidence has neither that file nor the setting, the answer is *open*. A broker without a
  known release has at least the release of its inter-broker protocol. With KRaft, `metadata.version` takes its place
  and passes every gate here. Batches in the evidence decide on the message format. With KRaft, and from inter-broker
  protocol 3.0 on, its setting is ignored (KIP-724).
- **unknown**: the answer if the release is not known. *open*: replay treats both as possible.
- **asked of**: which releases count if a broker was upgraded within the evidence.
"""


def number(release: Release) -> str:
    return ".".join(str(part) for part in release)


def span(releases: Releases) -> str:
    since, until = releases
    if since is None:
        return "all" if until is None else f"before {number(until)}"
    return f"since {number(since)}" + ("" if until is None else f", before {number(until)}")


def gates(row: Behaviour) -> Iterator[str]:
    if row.setting is not None:
        yield f"or `{row.setting}` is set, in releases {' and '.join(span(one) for one in row.optional)}"
    if row.inter_broker is not None:
        yield f"`{INTER_BROKER}` {number(row.inter_broker)} or later"
    if row.message_format is not None:
        yield f"`{MESSAGE_FORMAT}` {number(row.message_format)} or later"
    if row.feature is not None:
        yield f"`{row.feature[0]}` {row.feature[1]} or higher (the level may change with time: *open* at best)"
    yield from (f"`{name}`" for name in row.needs)
    yield from (f"not `{name}`" for name in row.unless)


def asked(row: Behaviour) -> str:
    return f"*{row.asked.value}*" if row.asked is Asked.NEVER else row.asked.value


def line(row: Behaviour) -> str:
    cells = (
        f"`{row.name}`",
        row.says,
        "; ".join(span(releases) for releases in row.releases),
        "; ".join(gates(row)) or "–",
        row.unknown.value,
        asked(row),
        row.source,
    )
    return "| " + " | ".join(cells) + " |"


def page() -> str:
    titles = ("behaviour", "what happens", "releases", "gates", "unknown", "asked of", "source")
    lines = [HEAD, "| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles), *map(line, BEHAVIOURS)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
