"""Traces that claim to state a part: within it a value holds, and what one witness says alone needs no claim."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.case.kept_files import written
from forensics.engines.local import scan, take_in
from forensics.reports.text import render
from forensics.rules.finding import Verdict
from parsers.details import Claim
from parsers.formats.trace_kinds import CLAIMED_BY
from tests.rules.traced import LEADS, Line, judged, said, text

LOG = {"kinds": [kind.value for kind in CLAIMED_BY[Claim.LOG]]}
SPAN = {"from": "2026-01-01T10:00:03Z", "to": "2026-01-01T10:00:09Z"}
BEGUN = [*LEADS, said(1, 1, "append", offset=0, leo=40), said(2, 1, "hw", hw=40)]


def head(*claims: object) -> Line:
    return {"kind": "trace", "replicas": [1, 2], "cluster": "one", "release": "3.9.1", "complete": [*claims]}


@pytest.mark.parametrize("claim", [LOG, SPAN, LOG | SPAN], ids=["log", "span", "both"])
def test_a_value_holds_within_a_claim(claim: object, tmp_path: Path) -> None:
    lines = [*BEGUN, said(4, 1, "leo", leo=40), said(6, 1, "hw", hw=41)]
    (finding,) = judged(tmp_path, [head(claim), *lines])["hw-above-leo"].findings
    assert (finding.replicas, finding.offsets) == ((1,), ((40, 41),))


@pytest.mark.parametrize("second", [2, 10], ids=["before", "after"])
def test_no_value_holds_across_the_edge_of_a_claim(second: int, tmp_path: Path) -> None:
    other = said(second, 1, "hw", hw=41)
    lines = [*LEADS, *sorted([said(4, 1, "leo", leo=40), other], key=lambda line: str(line["time"]))]
    assert judged(tmp_path, [head(SPAN), *lines])["hw-above-leo"].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("claim", [LOG, SPAN], ids=["log", "span"])
def test_the_log_of_a_follower_does_not_fall_within_a_claim(claim: object, tmp_path: Path) -> None:
    lines = [*BEGUN, said(4, 2, "leo", leo=40), said(6, 2, "leo", leo=33)]
    (finding,) = judged(tmp_path, [head(claim), *lines])["leo-regression"].findings
    assert (finding.replicas, finding.offsets, finding.confidence.value) == ((2,), ((33, 40),), "proven")
    told = [*lines[:-1], said(5, 2, "truncate", offset=33), lines[-1]]
    assert not judged(tmp_path, [head(claim), *told])["leo-regression"].findings


@pytest.mark.parametrize("claim", [LOG, SPAN], ids=["log", "span"])
def test_a_high_watermark_may_fall_in_a_role_that_is_not_claimed(claim: object, tmp_path: Path) -> None:
    """Broker 1 may have followed another leader by then, whose high watermark is lower for a while."""
    lines = [*BEGUN, said(4, 1, "hw", hw=40), said(6, 1, "hw", hw=30)]
    answer = judged(tmp_path, [head(claim), *lines])["hw-regression"]
    assert [finding.confidence.value for finding in answer.findings] == ["suspected"]


WHOLE = {"replicas": [1, 2]}


@pytest.mark.parametrize(
    ("line", "offsets"),
    [
        (said(5, 1, "consumed", offset=55), ((40, 56),)),
        (said(5, 1, "produced", offset=30, hw=90, detail="acks=all"), ((40, 90),)),
        (said(5, 1, "consumed", offset=39), ()),
        (said(5, 1, "produced", offset=30, hw=40, detail="acks=all"), ()),
        (said(5, 1, "produced", offset=60, detail="acks=1"), ()),
    ],
    ids=["read above", "acknowledged above", "read", "acknowledged", "acks=1"],
)
def test_clients_imply_a_high_watermark(line: Line, offsets: tuple[tuple[int, int], ...], tmp_path: Path) -> None:
    lines = [*BEGUN[:3], said(1, 2, "append", offset=0, leo=40), said(2, 1, "hw", hw=40), line]
    answer = judged(tmp_path, [head(WHOLE), *lines])["hw-above-leo"]
    assert answer.verdict is (Verdict.VIOLATED if offsets else Verdict.CLEAN)
    assert tuple(span for finding in answer.findings for span in finding.offsets) == offsets
    assert judged(tmp_path, [head(), *lines])["hw-above-leo"].verdict is Verdict.UNKNOWN


def test_a_truncation_below_what_the_same_witness_stated_is_suspected(tmp_path: Path) -> None:
    lines = [said(0, 1, "hw", hw=90, leo=100), said(1, 1, "truncate", offset=60)]
    (finding,) = judged(tmp_path, lines)["truncation-below-committed"].findings
    assert (finding.replicas, finding.offsets, finding.confidence.value) == ((1,), ((60, 90),), "suspected")
    role = said(0.5, 1, "become_follower", leader=2, leader_epoch=4, leo=100)
    assert not judged(tmp_path, [lines[0], role, lines[1]])["truncation-below-committed"].findings
    assert not judged(tmp_path, [lines[0], said(1, 1, "truncate", offset=95)])["truncation-below-committed"].findings


def appended(witness: int, at: int, *, hw: int = 20) -> list[Line]:
    """Twenty records, those of epoch 2 from an offset on."""
    return [
        said(1, witness, "append", offset=0, leo=at, leader_epoch=1),
        said(2, witness, "append", offset=at, leo=20, leader_epoch=2),
        said(3, witness, "hw", hw=hw),
    ]


def test_appends_of_two_lineages_are_suspected(tmp_path: Path) -> None:
    answers = judged(tmp_path, [*appended(1, 10), *appended(2, 14)])
    for rule in ("replica-divergence", "epoch-divergence"):
        (finding,) = answers[rule].findings
        assert (finding.offsets, finding.epochs, finding.confidence.value) == (((10, 14),), (1, 2), "suspected"), rule


@pytest.mark.parametrize(
    "lines",
    [
        [*appended(1, 10), *appended(2, 10)],
        [*appended(1, 10, hw=10), *appended(2, 14)],
        [*appended(1, 10), *appended(2, 14), said(4, 2, "truncate", offset=10)],
    ],
    ids=["alike", "not committed", "truncated"],
)
def test_appends_that_agree_are_not(lines: list[Line], tmp_path: Path) -> None:
    answers = judged(tmp_path, lines)
    assert not answers["replica-divergence"].findings
    assert not answers["epoch-divergence"].findings


def test_without_appends_no_trace_shows_which_records_a_replica_has(tmp_path: Path) -> None:
    without = [*LEADS, said(1, 1, "hw", hw=0)]
    assert judged(tmp_path, without)["replica-divergence"].verdict is Verdict.NOT_APPLICABLE
    assert judged(tmp_path, BEGUN)["replica-divergence"].verdict is Verdict.UNKNOWN


ROLES = {"kinds": [kind.value for kind in CLAIMED_BY[Claim.ROLES]]}
BOTH = {"kinds": [*LOG["kinds"], *ROLES["kinds"]]}


@pytest.mark.parametrize(
    "later",
    [
        [said(4, 2, "truncate_full", offset=8), said(4, 2, "append", offset=8, leo=40)],
        [said(4, 2, "truncate", offset=30), said(5, 1, "hw", hw=40)],
    ],
    ids=["log start", "isr"],
)
def test_a_claim_of_log_and_roles_leaves_other_kinds_open(later: list[Line], tmp_path: Path) -> None:
    """Broker 1 may have deleted the beginning of its log, and broker 2 may have left the ISR."""
    lines = [*BEGUN[:3], said(1, 2, "append", offset=0, leo=40), *later, said(6, 2, "become_leader", leader_epoch=4)]
    answers = judged(tmp_path, [head(BOTH), *lines])
    for rule in ("committed-data-lost", "hw-above-isr-member"):
        assert answers[rule].verdict is Verdict.UNKNOWN, rule
    assert answers["two-leaders-one-epoch"].verdict is Verdict.CLEAN


@pytest.mark.parametrize(
    "claim", [LOG, ROLES, BOTH, LOG | SPAN, {"from": "2026-01-01T09:00:00Z", "to": "2026-01-01T11:00:00Z"}, 1]
)
def test_a_trace_that_is_made_of_a_trace_claims_the_same(claim: object, tmp_path: Path) -> None:
    lines = [*BEGUN, said(4, 1, "leo", leo=40), said(6, 1, "hw", hw=41), said(7, 2, "leo", leo=33)]
    path, again = tmp_path / "trace.jsonl", tmp_path / "again.jsonl"
    path.write_text(text([head(claim), *lines]))
    again.write_text("\n".join(written(take_in([str(path)]), cluster="one")))
    first, second = (scan([str(one)]).partitions[0] for one in (path, again))
    assert {rule: answer.verdict for rule, answer in first.judgements.items()} == {
        rule: answer.verdict for rule, answer in second.judgements.items()
    }
    assert first.history.coverage == second.history.coverage


@pytest.mark.parametrize(
    ("group", "asked", "not_asked"),
    [
        (Claim.LOG, "kinds become_leader and become_follower about orders-0", "append, truncate"),
        (Claim.ROLES, "kinds append, truncate and hw about orders-0", "become_leader, become_follower, append"),
    ],
)
def test_what_a_claim_names_is_not_asked_for(group: Claim, asked: str, not_asked: str, tmp_path: Path) -> None:
    kinds = [kind.value for kind in CLAIMED_BY[group]]
    (tmp_path / "trace.jsonl").write_text(text([head({"kinds": kinds}), *BEGUN]))
    page = " ".join(render(scan([str(tmp_path)])).split())
    assert f'every line of broker 1 of the {asked}, and "complete" in the first line for them' in page
    assert not_asked not in page.partition("Collect")[2].partition("Evidence")[0].replace("append, truncate and hw", "")
    assert "release unknown" not in page
    assert "without a zone" not in page


def test_the_cluster_of_a_folder_is_called_by_its_folder(tmp_path: Path) -> None:
    for name, end in (("a", 40), ("b", 41)):
        (tmp_path / name).mkdir()
        lines = [*BEGUN[:-1], said(2, 1, "hw", hw=end)]
        (tmp_path / name / "trace.jsonl").write_text(text([{"kind": "trace", "replicas": [1, 2]}, *lines]))
    page = render(scan([str(tmp_path)]))
    assert "broker 1 of folder a" in page
    assert "cluster folder" not in page


def test_a_claim_of_log_and_roles_is_asked_for_the_other_kinds(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text(text([head(BOTH), *BEGUN]))
    page = " ".join(render(scan([str(tmp_path)])).split())
    for broker in (1, 2):
        assert f'"complete" without "kinds" for broker {broker} in the first line of the trace: what it claims' in page
    assert "every line of broker" not in page
    assert "its log existed before" not in page


def test_a_truncation_is_where_the_log_ends_within_a_claim(tmp_path: Path) -> None:
    """No line states the log end offset again; from 2.4 on the high watermark falls with the log."""
    lines = [*BEGUN, said(3, 1, "truncate", offset=20), said(4, 1, "hw", hw=30)]
    (finding,) = judged(tmp_path, [head(LOG), *lines])["hw-above-leo"].findings
    assert (finding.replicas, finding.offsets) == ((1,), ((20, 30),))
    assert judged(tmp_path, [head(), *lines])["hw-above-leo"].verdict is Verdict.UNKNOWN


def test_what_a_follower_adopted_shows_nothing_of_its_own_records_where_roles_are_not_claimed(tmp_path: Path) -> None:
    """A follower takes its leader's high watermark first and truncates afterwards (KAFKA-14704)."""
    lines = [
        said(0, 1, "become_leader", leader_epoch=0, leo=0, hw=0, isr="1,2"),
        said(0, 2, "become_follower", leader=1, leader_epoch=0, leo=0, hw=0),
        said(1, 1, "append", offset=0, leo=2, leader_epoch=0),
        said(2, 2, "become_leader", leader_epoch=1, leo=0, hw=0, isr="2"),
        said(3, 1, "become_follower", leader=2, leader_epoch=1, leo=2, hw=0),
        said(4, 2, "append", offset=0, leo=1, leader_epoch=1),
        said(5, 2, "hw", hw=1),
        said(6, 1, "leader_hw", leader_hw=1, hw=1),
        said(7, 1, "truncate", offset=0),
        said(8, 1, "append", offset=0, leo=1, leader_epoch=1),
    ]
    for claim in (LOG, {"kinds": [kind.value for kinds in CLAIMED_BY.values() for kind in kinds]}):
        assert judged(tmp_path, [head(claim), *lines])["truncation-below-committed"].verdict is not Verdict.VIOLATED


@pytest.mark.parametrize("claim", [[], [2]], ids=["nothing", "the follower"])
def test_whether_the_partition_kept_what_was_truncated_is_open_without_a_claim(
    claim: list[object], tmp_path: Path
) -> None:
    """A line that is left out may show that the leader lost the records too, as it does if the last lines are there."""
    lines = [
        *LEADS,
        *(said(1, one, "append", offset=0, leo=10) for one in (1, 2)),
        said(2, 1, "hw", hw=8),
        said(2, 2, "leader_hw", leader_hw=8, hw=8),
        said(3, 2, "truncate", offset=5),
    ]
    later = [
        said(4, 1, "process_start"),
        said(4, 1, "log_loaded", leo=5),
        said(5, 1, "become_leader", leader_epoch=4, leo=5, isr="1,2"),
        said(5, 2, "become_follower", leader=1, leader_epoch=4, leo=5),
        *(said(6, one, "append", offset=5, leo=7) for one in (1, 2)),
    ]
    for told in (lines, [*lines, *later]):
        (finding,) = judged(tmp_path, [head(*claim), *told])["truncation-below-committed"].findings
        assert (finding.offsets, finding.severity.value) == (((5, 8),), "error")
        assert "whether the partition kept them is unknown" in finding.summary
