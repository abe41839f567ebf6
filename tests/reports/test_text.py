"""The terminal summary: one story an incident, short lines, and nothing that evidence can do to a terminal."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forensics.case import Reading
from forensics.engines.local import scan
from forensics.outputs import plain
from forensics.replay.confidence import Weakness
from forensics.replay.facts.directory import Ref
from forensics.reports.answer import caution
from forensics.reports.collecting import commands, wanted
from forensics.reports.incidents import Incident, incidents, story
from forensics.reports.text import BRIEF, FULL, clock, render
from forensics.result import Result
from forensics.rules.causes import CauseId
from forensics.rules.finding import Action, Evidence, Fact, Finding, Severity
from tests.conftest import ROOT

Scanned = Callable[[Path], Result]
INCIDENTS = Path(os.environ.get("FORENSICS_EVIDENCE", ROOT.parent / "shared" / "evidence")).parent / "incidents"


def finding(**values: object) -> Finding:
    """A finding on orders-0, as a test needs it."""
    given: dict[str, object] = {
        "rule": "committed-data-lost",
        "severity": Severity.CRITICAL,
        "topic": "orders",
        "partition": 0,
        "summary": "records are gone",
        "offsets": ((50, 80),),
        "epochs": (0, 2),
    }
    return Finding(**(given | values))  # type: ignore[arg-type]


def with_findings(result: Result, *findings: Finding) -> Result:
    return replace(result, findings=list(findings))


@pytest.fixture(scope="module")
def lost(sample_traces: Path, scanned: Scanned) -> Result:
    return scanned(sample_traces / "kip101-0.10.2.2")


# -- incidents -------------------------------------------------------------------------------------


def test_several_incidents_are_listed_before_the_first(lost: Result) -> None:
    one, other = finding(), finding(partition=1, summary="others are gone", replicas=(2,), cause=CauseId.WIPED_DISK)
    third = finding(rule="segment-damage", partition=2, offsets=((1, 2),), severity=Severity.ERROR)
    page = render(with_findings(lost, one, other, third), width=120)
    listed = page.partition("In short, the worst first:\n")[2].partition("\n\n")[0].splitlines()
    assert listed == [
        "  orders-0, orders-1   COMMITTED DATA LOST   offsets 50 to 79 (30 offsets) each",
        "  orders-2   SEGMENT DAMAGE   offset 1 (1 offset)",
    ]
    assert "In short" not in render(with_findings(lost, one), width=120)


def test_what_several_replicas_did_is_one_sentence(lost: Result) -> None:
    did = "truncated committed offsets 50 to 79 (30 offsets) in leader epoch 2: the partition has lost them"
    cut = [
        finding(rule="truncation-below-committed", replicas=(broker,), summary=f"broker {broker} {did}", did=did)
        for broker in (3, 2)
    ]
    page = render(with_findings(lost, finding(), *cut), width=200)
    assert f"+ truncation-below-committed, for the same offsets: brokers 2 and 3 {did}." in page


def test_what_else_explains_a_suspicion_stands_in_place_of_an_unknown_cause(lost: Result) -> None:
    unsure = finding(
        weak=(Weakness.OTHERWISE_EXPLAINED,), uncertain=("perhaps the clock was set",), cause=CauseId.UNKNOWN
    )
    page = render(with_findings(lost, unsure), width=120)
    assert "  Otherwise   perhaps the clock was set\n" in page
    assert "  Cause" not in page


def test_the_same_line_is_cited_once(lost: Result) -> None:
    cited = Evidence("a/server.log", "0" * 64, 7, None, "the line")
    ref = Ref(row=1)
    facts = tuple(Fact(text, broker=1, time=1, refs=(ref,)) for text in ("had one thing", "had another"))
    page = render(with_findings(lost, finding(facts=facts, evidence=(cited, cited))), width=120)
    assert page.count("a/server.log:7") == 1


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (finding(rule="replica-divergence", offsets=((79, 90),)), True),
        (finding(rule="replica-divergence", offsets=((80, 90),)), False),
        (finding(rule="replica-divergence", offsets=((10, 20), (60, 61))), True),
        (finding(rule="unclean-election", severity=Severity.ERROR, offsets=(), epochs=(2,)), True),
        (finding(rule="unclean-election", severity=Severity.ERROR, offsets=(), epochs=(3,)), False),
        (finding(rule="replica-divergence", partition=1), False),
        (finding(rule="replica-divergence", topic="orders2"), False),
        (finding(rule="replica-divergence", incarnation=1), False),
        (finding(rule="replica-divergence", topic_id="x"), False),
        (finding(rule="replica-divergence", cluster="other"), False),
    ],
)
def test_findings_belong_together_by_offsets_or_epochs(other: Finding, same: bool) -> None:
    assert Incident(finding()).covers(other) is same
    assert len(incidents([finding(), other])) == (1 if same else 2)


def test_the_worst_finding_leads_and_loss_leads_among_the_worst() -> None:
    fork = finding(rule="replica-divergence")
    election = finding(rule="unclean-election", severity=Severity.ERROR)
    (incident,) = incidents([election, fork, finding()])
    assert [f.rule for f in incident.findings] == ["committed-data-lost", "replica-divergence", "unclean-election"]


def test_each_loss_is_an_incident_with_what_belongs_to_it() -> None:
    """Two losses of one partition that overlap: the headline of the first must not stand for both."""
    first, second = finding(), finding(offsets=((50, 84),), epochs=(2, 4))
    cut = finding(rule="truncation-below-committed", severity=Severity.ERROR, offsets=((50, 84),), epochs=(4,))
    election = finding(rule="unclean-election", severity=Severity.ERROR, offsets=(), epochs=(0, 2))
    assert [[f.rule for f in one.others] for one in incidents([first, second, cut, election])] == [
        ["unclean-election"],
        ["truncation-below-committed"],
    ]


def test_a_loss_of_many_partitions_stays_readable(lost: Result) -> None:
    many = [finding(partition=number, summary=f"gone from {number}") for number in range(FULL + BRIEF + 7)]
    text = render(with_findings(lost, *many), width=120)
    assert text.startswith("VIOLATED in 49 of 1 partition: committed-data-lost in orders-0, orders-1 and 47 more.\n")
    assert text.count("Gone from") == 1
    assert text.count("COMMITTED DATA LOST") == 1
    assert f"The same in {len(many) - 1} other partitions, the same offsets: orders-1 to orders-{len(many) - 1}" in text


def test_many_ranges_are_counted_and_not_listed(lost: Result) -> None:
    ranges = tuple((10 * n, 10 * n + 5) for n in range(50))
    headline = render(with_findings(lost, finding(offsets=ranges)), width=120)
    assert "offsets 0 to 4, 10 to 14, 20 to 24 and 47 more ranges" in headline


def test_a_cause_and_a_fact_are_told_once(lost: Result) -> None:
    text = render(lost, width=120)
    assert text.count("a replica that became a follower truncated its log to its own high watermark") == 1
    assert text.count("truncated its log from at least 80 to 50") == 1
    assert text.count("\n  Keep ") == 1
    assert text.count("read the finding") == 0


def test_the_number_that_proves_a_fact_is_shown(sample_traces: Path, scanned: Scanned) -> None:
    text = " ".join(render(scanned(sample_traces / "unclean-3.9.1"), width=100).split())
    assert "Log loaded for partition orders-0 with initial high watermark 50" in text
    assert "TruncationState(offset=30, completed=true)" in text


def test_what_to_keep_is_said_with_what_not_to_do(lost: Result) -> None:
    text = render(lost, width=120)
    keep, never = text.index("  Keep        broker 1's copy"), text.index("  Do not      restart or wipe broker 1")
    assert text.index("COMMITTED DATA LOST") < keep < never < text.index("  broker 9  logs")


# -- what could not be known -----------------------------------------------------------------------


def test_nothing_found_is_said_first(sample_traces: Path, scanned: Scanned) -> None:
    text = render(scanned(sample_traces / "flap-3.9.1"), width=100)
    assert text.startswith("CLEAN: 15 rules found no violation in 1 partition")


def test_no_partition_judged_is_not_nothing_found(sample_traces: Path) -> None:
    text = render(scan([str(sample_traces / "flap-3.9.1")], topics=["nosuch*"]), width=100)
    assert text.startswith("NOT JUDGED: none of the topics in the evidence was to be judged.")
    assert "CLEAN" not in text


@pytest.mark.parametrize(
    ("isr", "health"), [("4,5,6", "all replicas in the ISR"), ("6,5", "1 of them with a replica out of the ISR")]
)
def test_descriptions_alone_are_no_judgement(isr: str, health: str, tmp_path: Path) -> None:
    line = "\tTopic: ledger\tPartition: {}\tLeader: 5\tReplicas: 4,5,6\tIsr: {}\n"
    (tmp_path / "ticket.txt").write_text(f"{line.format(3, '6,4,5')}{line.format(7, isr)}")
    text = " ".join(render(scan([str(tmp_path)]), width=100).split())
    assert text.startswith(f"NOT JUDGED: 2 partitions described, {health}. A description shows")


@pytest.mark.parametrize(
    "line",
    [
        "INFO [KafkaServer id=1] started (kafka.server.KafkaServer)",
        "INFO [ReplicaFetcherManager on broker 2] Removed fetcher for partitions Set(t-4)",
    ],
)
def test_lines_that_state_too_little_ask_for_more(line: str, tmp_path: Path) -> None:
    (tmp_path / "broker-1").mkdir()
    (tmp_path / "broker-1" / "server.log").write_text(f"[2026-11-21 04:11:07,100] {line}\n")
    text = " ".join(render(scan([str(tmp_path)]), width=100).split())
    assert text.startswith(
        "NOT JUDGED: no line and no file in the evidence states the role of a replica, its leader, or an offset of its "
        "log. Add server.log,"
    )


LEADS = (
    "INFO [RaftManager id=7] Completed transition to Leader(localReplicaKey=ReplicaKey(id=7, "
    "directoryId=Optional[q7JxVn2kTbW0dYh5sLr3Ag]), epoch=4, epochStartOffset=120, highWatermark=Optional.empty, "
    "voterStates={}) from CandidateState(localId=7) (org.apache.kafka.raft.QuorumState)"
)
FOLLOWS = (
    "INFO [RaftManager id=7] Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=9, leaderId=8, "
    "voters=[7, 8, 9], highWatermark=Optional.empty, fetchingSnapshot=Optional.empty) from Unattached(epoch=9) "
    "(org.apache.kafka.raft.QuorumState)"
)


def _of_controller(line: str, folder: Path) -> str:
    path = folder / "controller-7.log"
    path.write_text(f"[2026-11-21 04:11:07,100] {line}\n")
    return " ".join(render(scan([str(path)]), width=400).split())


def test_lines_about_the_metadata_log_alone_ask_for_a_second_controller(tmp_path: Path) -> None:
    text = _of_controller(LEADS, tmp_path)
    assert text.startswith("NOT JUDGED: the evidence is about the metadata log alone, and shows no second controller")


def test_rules_that_do_not_apply_to_the_metadata_log_say_so(tmp_path: Path) -> None:
    text = _of_controller(FOLLOWS, tmp_path)
    assert "(the metadata log has no ISR, no settings of a topic and no checkpoint of its high watermark)" in text
    assert "trace" not in text


def test_copies_that_nobody_owns_are_named_so(sample_traces: Path, tmp_path: Path) -> None:
    """They state offsets of a log and leader epochs, but not whose."""
    shutil.copytree(sample_traces / "flap-3.9.1" / "broker-1" / "data" / "orders-0", tmp_path / "orders-0")
    text = " ".join(render(scan([str(tmp_path)]), width=100).split())
    assert text.startswith(
        "NOT JUDGED: no partition was judged, because nothing shows which broker each copy of its log is of. Put the "
        "files of each broker in a folder"
    )


def test_each_cluster_has_an_answer_of_its_own(sample_traces: Path) -> None:
    """No sentence about both may be false for one: only one of them had an unclean election."""
    lines = render(scan([str(sample_traces / name) for name in ("kip101-0.10.2.2", "unclean-3.9.1")]), width=200)
    said = [line for line in lines.splitlines() if line.startswith("VIOLATED in 1 of 1 partition of cluster ")]
    assert sorted("unclean-election" in line for line in said) == [False, True]
    assert sorted("replica-divergence" in line for line in said) == [False, True]


def test_an_earlier_life_is_named_and_asks_for_nothing(sample_traces: Path, scanned: Scanned) -> None:
    text = render(scanned(sample_traces / "traps-0.10.2.2"), width=120)
    assert "orders-0 (earlier topic)" in text
    assert "Collect this" not in text
    assert "MISSING" not in text


def test_a_finding_of_an_earlier_life_says_so(lost: Result) -> None:
    text = render(with_findings(lost, finding(incarnation=2)), width=140)
    assert "\norders-0 (earlier topic, 2 topics ago)   COMMITTED DATA LOST" in text


def test_a_broker_that_left_nothing_is_missed(sample_traces: Path) -> None:
    trace = sample_traces / "kip101-0.10.2.2"
    text = render(scan([str(trace / name) for name in ("broker-2", "broker-3", "broker-9")]), width=120)
    assert "broker 1  nothing; MISSING: logs, segments, checkpoints" in text
    assert "broker 9  logs" in text
    assert "Collect this to get an answer:" in text
    assert (
        r"on broker 1: find DATA_FOLDER -maxdepth 1 \( -name '*-checkpoint' -o -name orders-0 \) -print0 "
        "| tar czf broker-1.tgz --null -T - LOG_FOLDER/server.log*"
    ) in text


@pytest.mark.skipif(os.name == "nt", reason="the command is for a shell of Unix")
def test_the_command_packs_a_partition_from_each_of_several_log_directories(scanned: Scanned, tmp_path: Path) -> None:
    if not (INCIDENTS / "jbod-3.9.1").is_dir():
        pytest.skip("the cluster is not recorded here")
    result = scanned(INCIDENTS / "jbod-3.9.1")
    found = [replace(one, empty=False) for one in wanted(result)]  # no group has committed, so they have no command
    line = next(one.line for one in commands(result, found) if one.where == "on broker 1")
    for number, folder in enumerate(("data", "data2")):
        home = tmp_path / folder
        (home / f"__consumer_offsets-{number}").mkdir(parents=True)
        (home / f"__consumer_offsets-{number}" / "0.log").touch()
        (home / "recovery-point-offset-checkpoint").touch()
        (home / "other-0").mkdir()
    done = line.replace("/srv/kafka/broker-1/", f"{tmp_path}/")
    subprocess.run(done, shell=True, check=True, cwd=tmp_path)  # the command is what is tested
    with tarfile.open(tmp_path / "broker-1.tgz") as archive:
        packed = {name.removeprefix(str(tmp_path).lstrip("/") + "/") for name in archive.getnames()}
    assert packed == {
        "data/__consumer_offsets-0",
        "data/__consumer_offsets-0/0.log",
        "data/recovery-point-offset-checkpoint",
        "data2/__consumer_offsets-1",
        "data2/__consumer_offsets-1/0.log",
        "data2/recovery-point-offset-checkpoint",
    }


def test_the_cause_stands_before_the_steps_and_its_source_behind_them(lost: Result) -> None:
    text = render(lost, width=120)
    places = [text.index(f"\n  {label}") for label in ("Cause", "Do first", "Prevent")]
    assert places == sorted(places)


def test_a_quote_keeps_the_time_that_its_line_prints(lost: Result) -> None:
    for width in (60, 120):
        text = render(lost, width=width)
        for step in story(incidents(lost.findings)[0].findings).steps:
            quoted = [piece for piece in step.evidence[:1] if re.match(r"\[\d{4}-", piece.text)]
            for piece in quoted:
                assert piece.text[1:24] in text, (width, piece.text)


def test_the_caution_names_a_copy_only_where_there_is_one(lost: Result) -> None:
    kept, gone = (caution(with_findings(lost, finding(keep=keep))) for keep in ("broker 1's copy", None))
    assert "copy what is named under Keep of orders-0 to another disk" in kept
    assert "copy the data directories of all brokers" in gone
    assert gone.endswith("No copy in the evidence has the records")


def test_wishes_that_differ_by_name_alone_are_one(sample_traces: Path, scanned: Scanned) -> None:
    text = render(scanned(sample_traces / "txn-4.1.1"), width=200)
    wish = "broker 1's data directory of 5 partitions (segments and checkpoints) (__consumer_offsets-0,"
    assert text.count(wish) == 1


# -- shape -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_lines_fit(sample: Path, width: int, scanned: Scanned) -> None:
    for line in render(scanned(sample), width=width).splitlines():
        # a table has its width, and a path or another long word is never broken
        assert len(line) <= max(width, 62) or max(map(len, line.split())) > width - 40 or line.startswith("  "), line
        assert line == line.rstrip()


def test_the_summary_is_short(sample: Path, scanned: Scanned) -> None:
    result = scanned(sample)
    loud = len(incidents(f for f in result.findings if f.severity is not Severity.INFO))
    assert len(render(result, width=120).splitlines()) <= 50 + 72 * loud  # a step has up to two quotes of two rows


def test_the_same_result_gives_the_same_text(trace: Path, scanned: Scanned) -> None:
    assert render(scanned(trace), width=100) == render(scanned(trace), width=100)


def test_days_are_shown_where_there_is_more_than_one(sample_traces: Path, lost: Result) -> None:
    days = scan([str(sample_traces / "kip101-0.10.2.2")], reading=Reading("UTC", {3: 86_400_000_000}))
    text = render(days, width=120)
    assert "  2026-11-22, times in UTC\n" in text
    assert " 04:06:11  broker 3  " in text
    assert "logs 11-22 04:05:49 to 11-22 04:06:42" in text
    flowing = " ".join(text.split())
    assert "2026-11-21 04:05:48 to 2026-11-22 04:06:42 UTC" in flowing
    assert "broker 3 shifted by +86400 s" in flowing
    assert render(lost, width=120).count("times in UTC") == 1


def test_clock_is_utc() -> None:
    assert clock(1_795_233_947_948_000) == "04:05:47"
    assert clock(1_795_233_947_948_000, dated=True) == "11-21 04:05:47"


@pytest.mark.parametrize("width", [60, 72, 80, 90, 110, 140, 200])
def test_a_command_is_one_line_whatever_the_width(width: int, lost: Result, tmp_path: Path) -> None:
    """Pasted into a shell it is the command that salvages what was lost, from the evidence that was scanned."""
    loss = next(f for f in lost.findings if f.keep)
    step = next(one for one in loss.next_steps if one.command is not None)
    lines = render(lost, width=width).splitlines()
    (shown,) = [line for line in lines if line.strip().startswith("forensics salvage ")]
    assert shown.strip() == step.command
    assert lines[lines.index(shown) - 1].endswith(step.text.split()[-1])
    stand_in = tmp_path / "forensics"
    stand_in.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    stand_in.chmod(0o755)
    said = subprocess.run(
        ["/bin/sh", "-c", shown], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines() == ["salvage", *lost.inputs, "-p", "orders-0", "-o", "recovered/orders-0"]


def test_what_others_named_so_is_no_command(lost: Result) -> None:
    step = "stop broker 1 and copy its directory orders-0 to another disk (in this evidence: '/a: cd ~; rm -r b')"
    text = render(with_findings(lost, finding(keep="broker 1", next_steps=(Action(step),))), width=200)
    assert f"Do first    {step}" in text


# -- evidence is written by others -----------------------------------------------------------------


@pytest.mark.parametrize("text", ["\x1b[2J", "a\rb", "\x9b31m", "\u202egnp.exe", "\ud83d", "a\x00", "tab\there"])
def test_what_steers_a_terminal_is_shown_and_not_done(text: str) -> None:
    shown = plain(text)
    assert shown.isprintable()
    assert shown != text
    shown.encode("utf-8")


def test_plain_text_stays_as_it_is() -> None:
    text = "orders-0 [50, 80) größer 04:05–04:06 日本"
    assert plain(text) == text


def test_a_hostile_log_line_cannot_clear_the_screen(sample_traces: Path, tmp_path: Path) -> None:
    trace = tmp_path / "evil\x1b[31m"
    shutil.copytree(sample_traces / "kip101-0.10.2.2", trace)
    log = trace / "broker-3" / "logs" / "server.log"
    log.chmod(0o644)
    lines = log.read_bytes().split(b"\n")
    cut = next(n for n, line in enumerate(lines) if b"Truncating log orders-0 to offset 50" in line)
    lines[cut] += b" \x1b[2J\x07"
    log.write_bytes(b"\n".join(lines))
    text = render(scan([str(trace)]), width=160)
    assert all(line.isprintable() for line in text.splitlines())


def test_colour_and_links_change_no_word(lost: Result) -> None:
    """A pipe, or a reader who set NO_COLOR, gets the same lines without any sequence."""
    bare, styled = render(lost, width=120), render(lost, width=120, styled=True)
    assert "\x1b" not in bare
    assert "\x1b[1;31mVIOLATED" in styled
    assert re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\", "", styled) == bare
    assert "\x1b]8;;file:///" in styled


def test_equal_losses_of_many_partitions_fit_one_screen(lost: Result) -> None:
    many = [replace(one, partition=number) for number in range(200) for one in lost.findings]
    shown = render(with_findings(lost, *many), width=120)
    assert len(shown.splitlines()) <= len(render(lost, width=120).splitlines()) + 4
    assert "The same in 199 other partitions, the same offsets (5,970 records): orders-1 to orders-199" in shown


def test_a_manual_that_quotes_a_line_does_not_lengthen_the_time_that_is_covered(
    sample_traces: Path, tmp_path: Path
) -> None:
    shutil.copytree(sample_traces / "traps-0.10.2.2", tmp_path / "case")
    page = "<pre>[2013-04-22 15:01:37,495] INFO Verifying properties (kafka.utils.VerifiableProperties)</pre>\n"
    quoted = "[2013-04-22 15:01:37,495] INFO Verifying properties (kafka.utils.VerifiableProperties)\n"
    (tmp_path / "case" / "quickstart.log").write_text(page + quoted * 3)
    found = scan([str(tmp_path / "case")])
    told = render(found)
    assert "lines cover 2026-11-21 08:04:05 to" in " ".join(told.split())
    assert "2013" not in told.partition("notice")[0]
