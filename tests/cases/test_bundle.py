"""A whole incident in one archive, each broker's files in another form."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl

from forensics.engines import local
from forensics.rules.finding import Verdict

CRITICAL = [
    ("committed-data-lost", ((18, 30),), (1,)),
    ("replica-divergence", ((18, 24),), (1, 2, 3)),
    ("truncation-below-committed", ((24, 30),), (1,)),
    ("unclean-election", (), (2,)),
]


def test_the_bundle_tells_the_whole_story(sample_traces: Path) -> None:
    result = local.scan([str(sample_traces / "bundle-unclean-2.8.2" / "support-bundle.tar.gz")])
    assert [(f.rule, f.offsets, f.replicas) for f in result.findings] == CRITICAL
    (partition,) = result.partitions
    # Of one broker there is nothing but a pasted dump: what its directory and its recovery point say is not known.
    assert partition.verdicts(Verdict.UNKNOWN) == ["checkpoint-contradiction", "stale-directory"]
    for finding in result.findings[:3]:
        assert all(evidence.text for evidence in finding.evidence)
        assert all(evidence.sha256 is not None for evidence in finding.evidence)
    paths = {
        evidence.path.rpartition("support-bundle.tar.gz!/incident/")[2]
        for f in result.findings
        for evidence in f.evidence
    }
    # the proof comes out of every form: compressed logs, archives inside, a pasted dump, a container's log
    for part in (
        "server.log.2026-11-21-07.gz",
        "data.tar.xz!/data/orders-0/",
        "pasted-dump.txt!/",
        "pod/",
        "broker-3.zip!/",
    ):
        assert any(part in path for path in paths), part


def test_every_file_of_the_bundle_is_accounted_for(sample_traces: Path) -> None:
    case = local.take_in([str(sample_traces / "bundle-unclean-2.8.2" / "support-bundle.tar.gz")])
    formats = Counter(case.sources.get_column("format"))
    assert formats["archive"] == 4
    assert formats["dump-log"] == 1
    assert formats["segment"] == 2
    assert formats["broker-log"] == 10
    assert formats["unknown"] == formats["unreadable"] == formats["copy"] == 0
    assert case.notices.is_empty()
    assert case.sources.select(pl.col("understood").sum() == pl.col("relevant").sum()).item()
    owned = case.sources.filter(pl.col("format") != "archive")
    assert owned.get_column("broker").null_count() == 0
    zones = {path.rpartition("incident/")[2]: zone for path, zone in case.sources.select("path", "zone").iter_rows()}
    assert zones["broker-2/pod/0.log"] == zones["broker-3.zip!/broker-3/filebeat/server.log.ndjson"] == "UTC"
