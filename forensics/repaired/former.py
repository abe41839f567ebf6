"""Findings of an earlier scan, read from what ``forensics scan --format json`` or ``--format jsonl`` wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from forensics.errors import BadBaseline
from forensics.named_files import finite_json, text
from forensics.replay.lineage import Range
from forensics.rules.finding import Severity
from parsers.limits import BASELINE

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


@dataclass(frozen=True, slots=True)
class FormerFile:
    """One file of an earlier scan, wherever its folder was.

    Attributes:
        broker: whose it is, or None.
        name: its name, with the folder that holds it.
        bytes: its size.
    """

    broker: int | None
    name: str
    bytes: int

    @staticmethod
    def of(broker: int | None, path: str, size: int) -> FormerFile:
        """Return it for a path."""
        return FormerFile(broker, "/".join(PurePosixPath(path).parts[-2:]), size)


@dataclass(frozen=True, slots=True)
class FormerScan:
    """An earlier scan, as far as its file has it.

    Attributes:
        findings: its findings, each once, in their total order.
        files: the SHA-256 of each file that it read. None is for a file whose hash is not known. Empty for JSON lines,
            which list no files.
        clusters: ids of the clusters that it names.
    """

    findings: tuple[FormerFinding, ...] = ()
    files: Mapping[FormerFile, frozenset[str | None]] = field(default_factory=dict)
    clusters: frozenset[str] = frozenset()


def former_findings(path: str) -> tuple[FormerFinding, ...]:
    """Return the findings of an earlier scan; see ``former_scan``."""
    return former_scan(path).findings


def former_scan(path: str) -> FormerScan:
    """Return an earlier scan.

    Args:
        path: what ``--format json`` or ``--format jsonl`` wrote, without ``--redact``: names are part of a fingerprint.

    Raises:
        BadBaseline: the file cannot be read, is redacted, or is something else.
    """
    try:
        said = text(path, BASELINE)
    except OSError as error:
        raise BadBaseline(f"{path}: {error.strerror}; name a file written with --format json or jsonl") from None
    except UnicodeDecodeError:
        raise BadBaseline(f"{path}: not text; name a file written with --format json or jsonl") from None
    known: dict[str, FormerFinding] = {}
    document = _document(path, said)
    for where, row in _rows(path, said) if document is None else _rows_of(document):
        try:
            found = _former(row)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise BadBaseline(f"{path}{where}: no fingerprint and severity of a finding{_ASK}") from None
        known[found.fingerprint] = found
    findings = tuple(sorted(known.values(), key=lambda one: one.order))
    clusters = {one.cluster for one in findings if one.cluster is not None}
    try:
        sources = _sources(document) if document is not None else []
        files = _files(document, sources) if document is not None else {}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BadBaseline(f"{path}: the list of sources is not that of a scan{_ASK}") from None
    clusters |= {str(row["cluster"]) for row in sources if row.get("cluster") is not None}
    return FormerScan(findings, files, frozenset(clusters))


def _sources(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(document.get("sources") or ())


def _files(
    document: Mapping[str, Any], sources: Iterable[Mapping[str, Any]]
) -> dict[FormerFile, frozenset[str | None]]:
    """Return the files that a document lists. Only what its findings cite has a hash in each document."""
    cited = {
        str(piece["path"]): str(piece["sha256"])
        for row in document["findings"]
        for piece in row.get("evidence") or ()
        if piece.get("sha256") is not None
    }
    found: dict[FormerFile, set[str | None]] = {}
    for row in sources:
        path = str(row["path"])
        file = FormerFile.of(row["broker"], path, int(row["bytes"]))
        found.setdefault(file, set()).add(row.get("sha256") or cited.get(path))
    return {file: frozenset(hashes) for file, hashes in found.items()}


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


def _document(path: str, said: str) -> Mapping[str, Any] | None:
    """Return a text as one document; None if it is none, as JSON lines."""
    try:
        document = finite_json(said)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not _are_rows(document.get("findings")):
        return None
    if not _are_rows(_known(document)):
        raise BadBaseline(f"{path}: the list of known findings is not that of a scan{_ASK}")
    _not_redacted(path, document)
    return document


def _known(document: Mapping[str, Any]) -> Any:
    """Return the findings that an earlier baseline had, as a document lists them."""
    tuning = document.get("tuning") or {}
    return (tuning.get("known") or []) if isinstance(tuning, dict) else tuning


def _are_rows(found: object) -> bool:
    return isinstance(found, list) and all(isinstance(row, dict) for row in found)


def _rows_of(document: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    told = document["findings"], _known(document)
    yield from ((f", finding {n}", row) for n, row in enumerate((row for rows in told for row in rows), start=1))


def _rows(path: str, said: str) -> Iterable[tuple[str, Any]]:
    for number, line in enumerate(said.split("\n"), start=1):
        if line.strip():
            try:
                row = finite_json(line)
            except (ValueError, RecursionError) as error:
                raise BadBaseline(f"{path}:{number}: not JSON ({error}){_ASK}") from None
            _not_redacted(path, row)
            yield f":{number}", row


def _not_redacted(path: str, said: object) -> None:
    """Refuse what has pseudonyms: no finding of another scan has the same names, or fingerprints."""
    if isinstance(said, dict) and said.get("redacted") is True:
        raise BadBaseline(
            f"{path}: redacted, so its findings cannot be found again; name an output written without --redact"
        )
