"""``forensics trace``: a scan of the trace alone answers as a scan of the evidence that it was made from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from forensics.cli import cli
from forensics.engines.local import scan, take_in
from forensics.result import Result
from parsers.formats.trace_jsonl import json_schema
from tests.rules.traced import LEADS, Line, said, text

Scanned = Callable[[Path], Result]
Answers = dict[tuple[str, int, int, str], tuple[str, list[tuple[object, ...]]]]


def answers(result: Result) -> Answers:
    """Partition, incarnation and rule -> the verdict, and of each finding the offsets, replicas, severity, confidence
    and cause.
    """
    return {
        (one.history.topic, one.history.partition, one.history.incarnation, rule): (
            judgement.verdict.value,
            sorted(((f.offsets, f.replicas, f.severity, f.confidence, f.cause) for f in judgement.findings), key=repr),
        )
        for one in result.partitions
        for rule, judgement in one.judgements.items()
    }


def written(evidence: Path, to: Path, *options: str) -> Path:
    to.parent.mkdir(parents=True, exist_ok=True)
    result = CliRunner().invoke(cli, ["trace", str(evidence), "-o", str(to), *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return to


def test_a_trace_answers_as_the_evidence(some_trace: Path, scanned: Scanned, tmp_path: Path) -> None:
    expected = answers(scanned(some_trace))
    assert expected
    assert answers(scan([str(written(some_trace, tmp_path / "all.jsonl"))])) == expected


def test_each_line_satisfies_the_schema(sample_traces: Path, tmp_path: Path) -> None:
    lines = written(sample_traces / "emptydisk-3.9.1", tmp_path / "all.jsonl").read_text("utf-8").splitlines()
    validator = jsonschema.Draft202012Validator(json_schema())
    kinds = {json.loads(line)["kind"] for line in lines}
    assert {"trace", "file", "batches", "hw_checkpoint", "epoch_entry", "become_leader"} <= kinds
    assert [list(validator.iter_errors(json.loads(line))) for line in lines] == [[]] * len(lines)


def test_a_trace_beside_its_evidence_is_left_out(sample_traces: Path, scanned: Scanned, tmp_path: Path) -> None:
    evidence = sample_traces / "kip101-0.10.2.2"
    shutil.copytree(evidence, tmp_path / evidence.name)
    path = written(evidence, tmp_path / "orders.jsonl")
    both = scan([str(tmp_path)])
    assert answers(both) == answers(scanned(evidence))
    rows = both.case.notices.select("source", "reason").iter_rows()
    told = [reason for source, reason in rows if both.case.path(source).startswith(str(path))]
    assert told == ["made from logs that are in the evidence too: left out, not to count what they say twice"]


def test_a_trace_of_one_partition_has_its_files(sample_traces: Path, tmp_path: Path) -> None:
    path = written(sample_traces / "dirfail-3.9.1", tmp_path / "orders.jsonl", "-p", "orders-0")
    case = take_in([str(path)])
    topics = case.sources.filter(case.sources["format"] == "segment")["topic"].unique().to_list()
    assert topics == ["orders"]
    assert set(case.batches["topic"].unique().to_list()) - {"__cluster_metadata"} == {"orders"}


def test_an_excerpt_stays_one(sample_traces: Path, tmp_path: Path) -> None:
    """Of a part of a log an absent line proves nothing, and its trace must not claim more."""
    log = (sample_traces / "kip101-0.10.2.2" / "broker-3" / "logs" / "server.log").read_text("utf-8").splitlines()
    pasted = tmp_path / "pasted" / "issue.md"
    pasted.parent.mkdir()
    pasted.write_text("Broker 3:\n```\n" + "\n".join(log[200:260]) + "\n```\n")
    expected = answers(scan([str(pasted)]))
    assert expected["orders", 0, 0, "committed-data-lost"][0] == "unknown"
    found = answers(scan([str(written(pasted, tmp_path / "t" / "pasted.jsonl"))]))
    apart = {key[3] for key in expected if found[key] != expected[key]}
    assert apart == {"replica-divergence", "checkpoint-contradiction", "segment-damage", "stale-directory"}
    assert {found["orders", 0, 0, rule][0] for rule in apart} == {"not applicable"}  # they need bytes


def test_the_traces_of_two_clusters_follow_each_other(sample_traces: Path, tmp_path: Path) -> None:
    names = ("kip101-0.10.2.2", "unclean-3.9.1")
    for name in names:
        shutil.copytree(sample_traces / name, tmp_path / "both" / name)
    expected = of_clusters(scan([str(tmp_path / "both")]))
    assert len({cluster for cluster, _, _ in expected}) == 2
    assert of_clusters(scan([str(written(tmp_path / "both", tmp_path / "all.jsonl"))])) == expected
    for cluster in {cluster for cluster, _, _ in expected}:
        alone = written(tmp_path / "both", tmp_path / "one.jsonl", "--cluster", cluster)
        assert of_clusters(scan([str(alone)])) == {key: one for key, one in expected.items() if key[0] == cluster}


def of_clusters(result: Result) -> dict[tuple[str, str, int], list[tuple[object, ...]]]:
    """Cluster and partition -> the verdict of each rule, with the offsets of its findings."""
    return {
        (one.history.cluster or "", one.history.topic, one.history.partition): [
            (rule, judgement.verdict, [finding.offsets for finding in judgement.findings])
            for rule, judgement in one.judgements.items()
        ]
        for one in result.partitions
    }


def test_a_cluster_that_the_evidence_is_not_of_is_refused(sample_traces: Path, tmp_path: Path) -> None:
    evidence = str(sample_traces / "kip101-0.10.2.2")
    result = CliRunner().invoke(cli, ["trace", evidence, "--cluster", "other", "-o", str(tmp_path / "t.jsonl")])
    assert result.exit_code == 2
    assert 'no evidence of the cluster "other"; its clusters: ' in result.output


def test_what_lines_state_by_themselves_is_named_as_not_in_the_trace(sample_traces: Path, tmp_path: Path) -> None:
    said = {
        name: CliRunner().invoke(cli, ["trace", str(sample_traces / name), "-o", str(tmp_path / "t.jsonl")]).stderr
        for name in ("dirfail-3.9.1", "kip101-0.10.2.2")
    }
    assert "what log lines state (Log directory cannot be read or written" in said["dirfail-3.9.1"]
    assert "not in the trace" not in said["kip101-0.10.2.2"]


def test_traces_of_two_clusters_beside_their_evidence_are_left_out(sample_traces: Path, tmp_path: Path) -> None:
    for name in ("kip101-0.10.2.2", "unclean-3.9.1"):
        shutil.copytree(sample_traces / name, tmp_path / "both" / name)
    expected = of_clusters(scan([str(tmp_path / "both")]))
    trace = written(tmp_path / "both", tmp_path / "t" / "all.jsonl")
    shutil.move(trace.parent, tmp_path / "both" / "t")
    assert of_clusters(scan([str(tmp_path / "both")])) == expected


@pytest.mark.parametrize(
    "bad",
    [
        '{"schema":"forensics.trace/1","kind":"batches"}',
        '{"schema":"forensics.trace/1","kind":"batches","columns":["nothing"],"rows":[[1]]}',
        '{"schema":"forensics.trace/1","kind":"batches","columns":["byte","size"],"rows":[[1],"x"]}',
        '{"schema":"forensics.trace/1","kind":"batches","columns":"byte","rows":7}',
        '{"schema":"forensics.trace/1","kind":"damage","damage":3,"line":"x"}',
        '{"schema":"forensics.trace/1","kind":"file","path":7,"format":["x"],"magic":"2"}',
        '{"schema":"forensics.trace/1","kind":"file"',
    ],
)
def test_damaged_lines_of_files_are_notices(bad: str, sample_traces: Path, tmp_path: Path) -> None:
    path = written(sample_traces / "kip101-0.10.2.2", tmp_path / "all.jsonl")
    lines = path.read_text("utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if '"kind":"batches"' in line)
    path.write_text("\n".join([*lines[: at + 1], bad, *lines[at + 1 :]]) + "\n")
    found = scan([str(path)])
    assert found.partitions
    reasons = found.case.notices.get_column("reason").to_list()
    assert reasons
    assert not any("this program" in reason or "not read" in reason for reason in reasons), reasons


FIRST: Line = {"kind": "trace", "system": "kafka", "protocol": "epoch", "cluster": "one", "replicas": [1, 2]}
STORY = [
    *LEADS,
    said(1, 1, "append", offset=0, leo=10),
    said(2, 2, "append", offset=0, leo=10),
    said(3, 1, "hw", hw=10),
    said(4, 1, "append", offset=10, leo=15),
    said(5, 2, "become_leader", leader_epoch=4, leo=10, isr="1,2"),
    said(6, 1, "become_follower", leader=2, leader_epoch=4, leo=15),
    said(7, 1, "truncate", offset=10),
]


def test_traces_that_claim_one_broker_each_are_complete_together(tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    for broker in (1, 2):
        own = [line for line in STORY if line["witness"] == broker]
        (evidence / f"broker-{broker}.jsonl").write_text(text([FIRST | {"complete": [broker]}, *own]))
    result = scan([str(evidence)])
    assert "unknown" not in {verdict for verdict, _ in answers(result).values()}
    trace = written(evidence, tmp_path / "all.jsonl")
    assert json.loads(trace.read_text().splitlines()[0])["complete"] == [1, 2]
    assert answers(scan([str(trace)])) == answers(result)


ROLES = {"kinds": ["become_leader", "become_follower"]}


@pytest.mark.parametrize(
    ("claims", "stated"),
    [
        ([True, True], [1, 2]),
        # Only what both claim is claimed.
        ([True, [1]], [1]),
        ([True, [ROLES]], [ROLES | {"replicas": [1]}, ROLES | {"replicas": [2]}]),
        ([True, False], []),
    ],
)
def test_a_trace_claims_what_those_it_was_made_from_claim_together(
    claims: list[object], stated: list[object], tmp_path: Path
) -> None:
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    for number, claim in enumerate(claims):
        own = [said(10 * number + second, broker, "hw", hw=0) for second in (1, 2) for broker in (1, 2)]
        (evidence / f"trace-{number}.jsonl").write_text(text([FIRST | {"complete": claim}, *LEADS, *own]))
    head = json.loads(written(evidence, tmp_path / "all.jsonl").read_text().splitlines()[0])
    assert head.get("complete", []) == stated


def test_a_trace_of_one_that_cannot_be_read_whole_claims_nothing(tmp_path: Path) -> None:
    evidence = tmp_path / "trace.jsonl"
    evidence.write_text(text([FIRST | {"complete": True}, *STORY, said(8, 2, "state", high_watermrk=15)]))
    trace = written(evidence, tmp_path / "all.jsonl")
    assert "complete" not in json.loads(trace.read_text().splitlines()[0])
    verdicts = [
        {rule: verdict for (*_, rule), (verdict, _) in answers(scan([str(one)])).items()} for one in (evidence, trace)
    ]
    assert verdicts[0]["hw-above-leo"] == verdicts[1]["hw-above-leo"] == "unknown"
