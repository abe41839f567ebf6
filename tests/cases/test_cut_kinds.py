"""Evidence that lacks a kind of file: no answer turns wrong, whoever forgot to collect what.

Every file is read once; each selection of files is then put together, replayed and judged as a scan would. Without CI=1
a third of the selections are made of each case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from zlib import crc32

from forensics.case import assemble
from forensics.engines.local import read_files
from forensics.replay.partitions import histories
from forensics.result import Partition, Result
from forensics.rules import judgements
from parsers.file_reading import FileReading
from parsers.files.sources import Source
from tests.cases.test_cut_evidence import wrong
from tests.conftest import EVERYTHING

Keep = Callable[[str], bool]
SEGMENT = re.compile(r"/data[^/]*/(?!__cluster_metadata)[^/]+-[0-9]+/[0-9]+\.log$")


def selections(names: list[str]) -> Iterator[tuple[str, Keep]]:
    """What is kept, by the path below the trace's folder."""
    kinds: dict[str, Keep] = {
        "server.log": lambda name: name.endswith("/server.log"),
        "state-change.log": lambda name: name.endswith("/state-change.log"),
        "controller.log": lambda name: name.endswith("/controller.log"),
        "high watermarks": lambda name: name.endswith("replication-offset-checkpoint"),
        "epoch files": lambda name: name.endswith("leader-epoch-checkpoint"),
        "segments": lambda name: SEGMENT.search("/" + name) is not None,
        "decisions": lambda name: (
            name.endswith(("/state-change.log", "/controller.log")) or "__cluster_metadata" in name
        ),
    }
    brokers = sorted({PurePosixPath(name).parts[0] for name in names if SEGMENT.search("/" + name)})
    for kind, of_kind in kinds.items():
        yield f"no {kind}", lambda name, of_kind=of_kind: not of_kind(name)
        for broker in brokers:
            yield (
                f"no {kind} of {broker}",
                lambda name, of_kind=of_kind, broker=broker: not (of_kind(name) and name.startswith(f"{broker}/")),
            )
    for kind in ("server.log", "state-change.log"):
        yield f"{kind} alone", kinds[kind]
        for broker in brokers:
            yield (
                f"{kind} of {broker} alone",
                lambda name, kind=kind, broker=broker: kinds[kind](name) and name.startswith(f"{broker}/"),
            )


def judged(files: list[tuple[Source, FileReading]]) -> Result:
    case = assemble([(source, replace(reading)) for source, reading in files])
    partitions = [
        Partition(history, {judgement.rule: judgement for judgement in judgements(history, part)})
        for part in case.parts
        for history in histories(part)
    ]
    findings = [f for p in partitions for j in p.judgements.values() for f in j.findings]
    return Result((), case, partitions, findings)


def test_a_missing_kind_of_file_makes_no_answer_wrong(evidence_case: Path) -> None:
    files = read_files([str(evidence_case)])
    names = [str(PurePosixPath(source.path).relative_to(evidence_case)) for source, _ in files]
    said = {}
    asked = 0
    chosen = list(selections(names))
    if not EVERYTHING:
        chosen = chosen[crc32(evidence_case.name.encode()) % 3 :: 3]
    for what, keep in chosen:
        kept = [one for one, name in zip(files, names, strict=True) if keep(name)]
        if any(reading.observations.height or reading.batches.height for _, reading in kept):
            asked += 1
            said[what] = wrong(evidence_case, judged(kept))
    assert asked > (10 if EVERYTHING else 5)
    assert {what: answers for what, answers in said.items() if answers} == {}


def test_without_its_controller_a_power_loss_is_not_taken_for_a_truncation(evidence: Path) -> None:
    """Nothing tells what the leader's log had held before it was loaded, and no line tells of a truncation."""
    trace = evidence / "powerloss-0.10.2.2"
    files = [(source, reading) for source, reading in read_files([str(trace)]) if "/broker-9/" not in source.path]
    (partition,) = (one for one in judged(files).partitions if one.history.name == "orders-0")
    (loss,) = partition.judgements["committed-data-lost"].findings
    assert (loss.offsets, loss.cause) == (((10, 15),), "unknown")
