"""Findings of an earlier scan, read from what ``forensics scan --format json`` or ``--format jsonl`` wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forensics.errors import BadBaseline
from forensics.replay.lineage import Range
from forensics.rules.finding import Severity

_ASK = "; write it with --format json or jsonl"


@dataclass(frozen=True, slots=True)
class FormerFinding:
    """One finding of an earlier scan, as far as its file has it.

    Attributes:
        fingerprint: identifies it between scans.
        severity: its severity then.
        rule: its rule, or None where the file does not name it.
        cluster, topic, partition: where; None where the file does not name it.
        replicas: brokers it concerns.
        offsets: half-open ranges.
    """

    fingerprint: str
    severity: Severity
    rule: str | None = None
    cluster: str | None = None
    topic: str | None = None
    partition: int | None = None
    replicas: tuple[int, ...] = ()
    offsets: tuple[Range, ...] = ()

    @property
    def order(self) -> tuple[object, ...]:
        """A total order: by place, then the worst first."""
        place = (self.cluster or "", self.topic or "", -1 if self.partition is None else self.partition)
        return (*place, self.severity.rank, self.rule or "", self.offsets, self.fingerprint)


def former_findings(path: str) -> tuple[FormerFinding, ...]:
    """Return the findings of an earlier scan, each once, in their total order.

    Args:
        path: what ``--format json`` or ``--format jsonl`` wrote, without ``--redact``: names are part of a fingerprint.

    Raises:
        BadBaseline: the file cannot be read, is redacted, or is something else.
    """
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise BadBaseline(f"{path}: {error.strerror}; name a file written with --format json or jsonl") from None
    except UnicodeDecodeError:
        raise BadBaseline(f"{path}: not text; name a file written with --format json or jsonl") from None
    known: dict[str, FormerFinding] = {}
    for where, row in _rows(path, text):
        try:
            found = _former(row)
        except (KeyError, TypeError, ValueError):
            raise BadBaseline(f"{path}{where}: no fingerprint and severity of a finding{_ASK}") from None
        known[found.fingerprint] = found
    return tuple(sorted(known.values(), key=lambda one: one.order))


def _former(row: Mapping[str, Any]) -> FormerFinding:
    rule, cluster, topic = (None if row.get(name) is None else str(row[name]) for name in ("rule", "cluster", "topic"))
    return FormerFinding(
        str(row["fingerprint"]),
        Severity(row["severity"]),
        rule=rule,
        cluster=cluster,
        topic=topic,
        partition=None if row.get("partition") is None else int(row["partition"]),
        replicas=tuple(map(int, row.get("replicas") or ())),
        offsets=tuple((int(first), int(end)) for first, end in row.get("offsets") or ()),
    )


def _rows(path: str, text: str) -> Iterable[tuple[str, Any]]:
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    if isinstance(document, dict) and "findings" in document:
        _not_redacted(path, document)
        told = document["findings"], (document.get("tuning") or {}).get("known", [])
        yield from ((f", finding {n}", row) for n, row in enumerate((row for rows in told for row in rows), start=1))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise BadBaseline(f"{path}:{number}: not JSON ({error}){_ASK}") from None
            _not_redacted(path, row)
            yield f":{number}", row


def _not_redacted(path: str, said: object) -> None:
    """Refuse what has pseudonyms: no finding of another scan has the same names, or fingerprints."""
    if isinstance(said, dict) and said.get("redacted") is True:
        raise BadBaseline(
            f"{path}: redacted, so its findings cannot be found again; name an output written without --redact"
        )
