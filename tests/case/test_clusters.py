"""Evidence of several clusters in one scan: brokers of the same ids, topics of the same names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from forensics.engines import local
from forensics.replay.timeline import timeline
from forensics.reports import json_report

CLUSTERS = ("kip101-0.10.2.2", "unclean-3.9.1", "txn-4.1.1")


@pytest.fixture(scope="module")
def archive(sample_traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    for name in CLUSTERS:
        shutil.copytree(sample_traces / name, folder / name)
    return folder


def _answers(folder: Path) -> list[object]:
    document = json_report.document(local.scan([str(folder)]))
    return sorted(
        (
            json.dumps(
                {
                    "place": [p[key] for key in ("cluster", "topic", "topic_id", "partition")],
                    "verdicts": {rule: (v["verdict"], v["missing"]) for rule, v in p["verdicts"].items()},
                    "findings": [
                        [f["rule"], f["offsets"], f["replicas"], f["summary"], [e["text"] for e in f["evidence"]]]
                        for f in document["findings"]
                        if (f["cluster"], f["topic"], f["partition"]) == (p["cluster"], p["topic"], p["partition"])
                    ],
                },
                sort_keys=True,
            )
        )
        for p in document["partitions"]
    )


def test_each_cluster_is_judged_as_if_alone(archive: Path) -> None:
    together = _answers(archive)
    apart = sorted(answer for name in CLUSTERS for answer in _answers(archive / name))
    assert together == apart


def test_logs_find_their_cluster_by_their_own_word_or_by_what_lies_beside_them(archive: Path) -> None:
    case = local.take_in([str(archive)])
    assert len(case.parts) == len(CLUSTERS)
    assert all(part.whole is case for part in case.parts)
    assert sum(part.observations.height for part in case.parts) == case.observations.height
    assert case.sources.get_column("cluster").null_count() == 0
    for part in case.parts:
        folders = {Path(path).relative_to(archive).parts[0] for path in part.sources.get_column("path")}
        assert len(folders) == 1


def test_a_broker_is_not_of_the_cluster_that_has_a_folder_of_its_own(sample_traces: Path, tmp_path: Path) -> None:
    """Up to 2.3 only lines name the cluster. Another one has a broker 2 too, in a folder with all of its brokers."""
    shutil.copytree(sample_traces / "kip101-0.10.2.2", tmp_path, dirs_exist_ok=True)
    shutil.copytree(sample_traces / "txn-4.1.1", tmp_path / "other")
    for log in (tmp_path / "broker-2").rglob("*.log"):
        if log.parent.name == "logs":
            log.write_text("".join(line for line in log.read_text().splitlines(True) if "luster" not in line))
    sources = local.take_in([str(tmp_path)]).sources
    named = {
        (path.relative_to(tmp_path).parts[0] == "other", path.relative_to(tmp_path).parts[0] == "broker-2", cluster)
        for path, cluster in ((Path(one), other) for one, other in sources.select("path", "cluster").iter_rows())
    }
    (others,) = {cluster for in_other, _, cluster in named if in_other}
    assert {cluster for in_other, _, cluster in named if not in_other} & {others} == set()
    assert {cluster for _, of_two, cluster in named if of_two} == {None}


def test_a_timeline_is_that_of_its_own_cluster(archive: Path) -> None:
    whole = local.scan([str(archive)])
    for name in CLUSTERS:
        for partition in local.scan([str(archive / name)]).partitions:
            history = partition.history
            twin = next(
                p.history
                for p in whole.partitions
                if (p.history.cluster, p.history.name, p.history.incarnation)
                == (history.cluster, history.name, history.incarnation)
            )
            own = timeline(local.take_in([str(archive / name)]), history)
            same = timeline(whole.case, twin)
            kept = [column for column in own.columns if not column.endswith("row")]
            assert own.select(kept).equals(same.select(kept))
