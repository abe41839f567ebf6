"""Statements that fresh readers found to be false of recorded incidents, each held against the truth of the case."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from forensics.engines.local import scan
from forensics.replay.committed.proof import losses
from forensics.replay.timeline import timeline
from forensics.reports import html, markdown, timeline_text
from forensics.reports.answer import Tone, answers
from forensics.reports.groups import same_elsewhere
from forensics.reports.html import figures, lanes
from forensics.reports.html.answer import answer
from forensics.reports.html.brokers import brokers
from forensics.reports.html.overview import settings
from forensics.reports.html.page import said_by_lines
from forensics.reports.html.story import stories
from forensics.reports.html.wording import clock
from forensics.reports.incidents import grouped, incidents, nearly, story
from forensics.reports.recovered import recovered
from forensics.reports.remarks import restarted
from forensics.reports.text import render
from forensics.result import Result
from forensics.rules import RULES
from forensics.rules.finding import Fact, Finding, Severity, Verdict
from forensics.rules.wants import Question
from forensics.rules.written import written_between
from tests.conftest import ROOT

EVIDENCE = Path(os.environ.get("FORENSICS_EVIDENCE", ROOT.parent / "shared" / "evidence"))
INCIDENTS = EVIDENCE.parent / "incidents"
Scanned = Callable[[Path], Result]
LOST = "committed-data-lost"
NO_CLEAN_STOP = "no line before shows a clean stop of"
NOT_ENDED = "and no line shows that it ended that cleanly"


def of(result: Result, name: str, rule: str, *, incarnation: int = 0) -> Finding:
    """The first finding of a rule in a partition."""
    return next(
        finding
        for finding in result.findings
        if (f"{finding.topic}-{finding.partition}", finding.rule, finding.incarnation) == (name, rule, incarnation)
    )


def advice(finding: Finding) -> str:
    """All that is advised."""
    return " | ".join([*(step.text for step in finding.next_steps), *finding.do_not])


@pytest.mark.parametrize("name", ["traps-3.9.1", "powerloss-3.9.1-replication", "rolling-3.9.1-replication"])
def test_the_page_and_the_terminal_have_one_verdict(name: str, case: Callable[[str], Result]) -> None:
    """A topic that was deleted leaves no files, so its open questions make no scan inconclusive."""
    result = case(name)
    first, page = answers(result)[0], answer(result, {})
    assert (first.tone is Tone.CLEAN) == (page.tone == "good"), (first.text, page.headline)
    assert ("cannot be ruled out" in first.text) == ("cannot be ruled out" in page.headline)


def test_a_topic_that_was_deleted_is_counted_apart(case: Callable[[str], Result]) -> None:
    text = render(case("traps-3.9.1"), width=150)
    assert text.startswith("CLEAN: 15 rules found no violation in 4 partitions that exist now (compacted-0, ")
    assert "\n4 partitions that exist now and 1 of earlier topics of the same name, 16 rules" in text


@pytest.mark.parametrize("name", ["solo-0", "solo-3"])
def test_a_directory_that_failed_before_the_records_were_written_is_not_named(
    name: str, case: Callable[[str], Result]
) -> None:
    """Broker 2's directory failed at 17:09:33. The records were written on broker 1 after 17:10:01."""
    loss = of(case("jbod-3.9.1"), name, LOST)
    assert "failed" not in advice(loss)
    assert loss.keep is None
    assert "to send the lost records again. They wrote them between 2026-11-24 17:09:58.175 and" in advice(loss)


@pytest.mark.parametrize("name", ["ack1-0", "vol-4"])
def test_the_failed_directory_with_the_longest_log_comes_first(name: str, case: Callable[[str], Result]) -> None:
    loss = of(case("jbod-3.9.1"), name, LOST)
    one, two = (f"the old log directory /srv/kafka/broker-{number}/data2 of broker {number}" for number in (1, 2))
    assert [step.text for step in loss.next_steps[:2]] == [
        (
            f"find {one} (it failed at 17:10:09 UTC): it had all of these records; and {two} (it failed at 17:09:33 "
            "UTC): it may have some of these records"
        ),
        (
            "look for a disk that was unmounted or taken out, and for a renamed directory. What is at that path now is "
            f"new: leave it there. Mount the old disk read-only, and copy {name} out of it"
        ),
    ]
    command = f"forensics salvage /path/to/copy/{name} -p {name} --offsets 0.. -o recovered/{name}"
    assert loss.next_steps[2].command == command
    now = "(not what is at these paths now)"
    assert loss.keep == f"{one} and {two} {now}, with the log of {name}. No copy in the evidence has the records"
    assert loss.summary.endswith("The log directory of broker 1 that failed had them.")
    failed = [fact for fact in loss.facts if fact.text.startswith("its log directory failed")]
    assert [(fact.broker, (fact.time or 0) // 1_000 % 100_000) for fact in failed] == [(1, 9_394)]
    assert " and 17:10:09.394 UTC (if the logs are in UTC). " in advice(loss), "from then on it could not write"


def test_the_failed_disk_of_the_leader_before_is_kept_while_a_loss_is_open(case: Callable[[str], Result]) -> None:
    """Offsets 636 to 779 of solo-1 are lost. Broker 1 led alone in the ISR, from 636, until its directory failed."""
    result = case("jbod-3.9.1")
    election = of(result, "solo-1", "unclean-election")
    assert election.next_steps[0].text.startswith(
        "find the old log directory /srv/kafka/broker-1/data2 of broker 1 (it failed at"
    )
    assert election.do_not[0].startswith("format, repair or discard the disk of the old log directory")
    shorter = of(result, "solo-1", "leo-regression")
    assert shorter.summary.endswith("whether it had more is unknown")
    (partition,) = (one for one in result.partitions if one.history.name == "solo-1")
    assert partition.judgements["leo-regression"].verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("name", "where", "said"),
    [
        (
            "powerloss-3.9.1-replication",
            "orders-0",
            "The ISR was [1,2], and min.insync.replicas was 1",
        ),
        ("jbod-3.9.1", "ack1-0", "so they do not send them again. The ISR was [1,2,3], then [1,3], then [1], and"),
        (
            "jbod-3.9.1",
            "ack1-1",
            "The ISR was [1,2,3], then [1,3], then [1,2,3], and min.insync.replicas was 1",
        ),
        ("incarn-4.1.1", "sess-0", "The ISR was [1,2,3], then [1,3], then [1], and min.insync.replicas was 1"),
        ("rackloss-3.9.1", "audit-2", "The ISR was [1,2,3], then [2,3], and min.insync.replicas was 1"),
    ],
)
def test_acks_are_told_by_the_isr_of_that_time(name: str, where: str, said: str, case: Callable[[str], Result]) -> None:
    """No leader acknowledged alone what two replicas had to have first."""
    (note,) = [fact.text for fact in of(case(name), where, LOST).facts if "acks=all" in fact.text]
    assert "gave no protection" not in note
    assert said in note


def test_partitions_with_other_notes_are_not_the_same(case: Callable[[str], Result]) -> None:
    """ack1-0 has min.insync.replicas 1 and vol-4 has 2. The page groups as the terminal does."""
    result = case("jbod-3.9.1")
    groups = [{one.lead.topic for one in group} for group in grouped(incidents(result.findings))]
    assert not any({"ack1", "vol"} <= topics for topics in groups)
    assert not any(
        {"ack1", "vol"} <= {one.name[:-2] for one in (card, *card.others)} for card in answer(result, {}).cards
    )


def test_findings_without_offsets_have_none_in_common(case: Callable[[str], Result]) -> None:
    result = case("incarn-4.1.1")
    text = render(result, width=150)
    assert "= The same in 2 other partitions: __consumer_offsets-1" in text
    card = next(one for one in answer(result, {}).cards if "__consumer" in one.name)
    assert {(one.offsets, one.records, one.count) for one in card.others} == {("", "", 0)}
    assert "0 offsets" not in html.render(result)


def test_a_lower_bound_is_called_one(case: Callable[[str], Result]) -> None:
    tile = answer(case("jbod-3.9.1"), {}).tiles[0]
    assert tile.value.startswith("at least "), tile


@pytest.mark.parametrize(
    ("name", "where"), [("unclean-1.1.1-replication", "orders-0"), ("jbod-3.9.1", "solo-0"), ("incarn-4.1.1", "sess-1")]
)
def test_a_setting_that_was_true_needs_no_command(name: str, where: str, case: Callable[[str], Result]) -> None:
    result = case(name)
    election = of(result, where, "unclean-election")
    assert "unclean.leader.election.enable was true for the topic" in [fact.text for fact in election.facts]
    assert "command" not in advice(election)
    assert "KIP-966" not in advice(election)
    shown = render(result, width=200)
    assert "forced the election" not in shown


def test_the_first_lines_count_as_the_table_does(case: Callable[[str], Result]) -> None:
    text = render(case("incarn-4.1.1"), width=200)
    assert text.startswith("VIOLATED in 6 of 15 partitions: committed-data-lost, truncation-below-committed, unclean")
    lines = text.splitlines()
    assert any(line.startswith("WARNING in 6 of 15 partitions: unclean-election in __consumer_") for line in lines)
    assert any(line.startswith("  warning in 6 of 15   unclean-election (") for line in lines)


def test_a_step_has_the_time_of_its_line(case: Callable[[str], Result]) -> None:
    """The log end offset of 15 was logged 16 seconds before the restart without it."""
    lines = render(case("powerloss-3.9.1-replication"), width=200).splitlines()
    assert "   3  04:08:21  broker 2  had log end offset 15" in lines


def test_a_line_without_the_number_is_not_cited_for_it(case: Callable[[str], Result]) -> None:
    """Another broker had fetched up to 279: no line of the broker itself states that its log reached there."""
    shorter = of(case("rackloss-calm-0.11.0.3"), "audit-0", "leo-regression")
    assert [fact.text for fact in shorter.facts if "279 or higher" in fact.text] == []


def test_an_unclean_stop_is_named_where_no_cause_is_known(case: Callable[[str], Result]) -> None:
    loss = of(case("rackloss-calm-0.11.0.3"), "orders-0", LOST)
    assert any("broker 2 had not stopped cleanly before it led" in text for text in loss.uncertain)


def test_a_member_leaves_the_isr_when_the_metadata_log_says_so(case: Callable[[str], Result]) -> None:
    """Broker 1 left the ISR at 04:08:30.197. The next leader of the partition logged its ISR 7 seconds later."""
    result = case("powerloss-3.9.1-replication")
    chart, _ = lanes.chart(result.case, result.partitions[0], str)
    (lane,) = (one for one in chart.lanes if one.replica == 1)
    left = next(start for start, _, inside in lane.members if not inside)
    assert clock(chart.zero + 1_000 * left) == "04:08:30.197"
    assert [figures.epoch_text(one) for one in chart.reigns][2] == "epoch 2, no leader"


def test_where_no_copy_is_left_an_image_is_the_last_resort(case: Callable[[str], Result]) -> None:
    """Of orders-0, only the former leader had the lost records, and it truncated them."""
    loss = of(case("unclean-2.8.2"), "orders-0", LOST)
    assert loss.next_steps[-1].text.startswith(
        "the last resort, if it is worth an outage: broker 1 had the records, and freed blocks of its disk may still"
    )
    assert not any("last resort" in step.text for step in of(case("jbod-3.9.1"), "ack1-0", LOST).next_steps)


def test_of_an_old_disk_all_is_taken_that_may_be_lost(case: Callable[[str], Result]) -> None:
    """It had at least the records below 633. Broker 1 led after broker 3, so the end of that one bounds nothing."""
    result = case("jbod-3.9.1")
    for name in ("ack1-1", "vol-1"):
        loss = of(result, name, LOST)
        assert (loss.offsets, loss.maybe_to) == (((0, 633),), None)
        assert [step.command for step in loss.next_steps if "--offsets" in (step.command or "")] == [
            f"forensics salvage /path/to/copy/{name} -p {name} --offsets 0.. -o recovered/{name}"
        ]
        assert "none was written after that" not in advice(loss)


def test_many_partitions_are_listed_first(case: Callable[[str], Result]) -> None:
    """Nine partitions lost records: where each may still be is seen before the advice of any."""
    result = case("jbod-3.9.1")
    listed = answer(result, {}).listed
    assert len(listed) == 9
    where = {one.name: one.keep[0][1] for one in listed}
    assert where["ack1-1"].startswith("the old log directory /srv/kafka/broker-1/data2 of broker 1")
    assert where["solo-0"].startswith("none: no replica in the evidence has these records")
    text = " ".join(render(result, width=150).split())
    assert text.count("a member of the ISR is elected by its broker id") == 1
    assert "Cause the same as for vol-4, see above" in text


def test_no_leaders_log_ends_below_its_high_watermark(case: Callable[[str], Result]) -> None:
    """Broker 1 led solo-0 with high watermark 633, and no line stated its log end offset since its log was empty."""
    result = case("jbod-3.9.1")
    (partition,) = (one for one in result.partitions if one.history.name == "solo-0")
    chart, _ = lanes.chart(result.case, partition, str)
    led = [state for lane in chart.lanes for state in lane.states if state.role == "leader"]
    ends = [(state.log_end, state.high_watermark) for state in led if state.high_watermark is not None]
    assert ends
    assert [pair for pair in ends if pair[0] is not None and pair[0] < pair[1]] == []


# -- a few lines of broker 2 of a recorded cluster, as somebody pastes them ---------------------------------------


@pytest.fixture
def lines() -> dict[str, list[str]]:
    """Lines of broker 2 about orders-0, which restarted without its last five records."""
    logs = EVIDENCE / "powerloss-3.9.1-replication" / "broker-2" / "logs"
    if not logs.is_dir():
        pytest.skip("powerloss-3.9.1-replication is not recorded here")
    server = (logs / "server.log").read_text().splitlines()
    about = [line for line in server[655:880] if "orders-0" in line]
    about += [
        line for line in server[880:] if "orders-0" in line and ("last offset: 19" in line or "offset=20," in line)
    ]
    return {"server": about, "state-change": (logs / "state-change.log").read_text().splitlines()}


def pasted(folder: Path, **files: list[str]) -> Result:
    for name, content in files.items():
        (folder / f"{name}.log").write_text("\n".join(content) + "\n")
    return scan([str(folder)])


def test_an_excerpt_is_told_what_it_shows(lines: dict[str, list[str]], tmp_path: Path) -> None:
    text = render(pasted(tmp_path, paste=lines["server"]), width=200)
    assert text.startswith("SUSPECTED in 1 of 1 partition: log became shorter (leo-regression) in orders-0. Not proven")
    assert "Broker 2 had log end offset 15, and later loaded its log with 10. No line in the excerpt shows" in text
    assert "0.0 MB" not in text
    assert "listed below" not in text


@pytest.mark.parametrize("between", [[], ["--"]])
def test_logs_pasted_below_each_other_are_read_in_the_order_of_time(
    between: list[str], lines: dict[str, list[str]], tmp_path: Path
) -> None:
    """The lines of state-change.log end before those of server.log above them: no high watermark 20 came before."""
    text = render(pasted(tmp_path, paste=[*lines["server"], *between, *lines["state-change"]]), width=200)
    assert "committed-data-lost. Not proven" not in text
    assert "clocks of the two brokers" not in text
    assert "Broker 2 had log end offset 15, and later loaded its log with 10." in text


def test_a_state_change_log_replaces_no_excerpt_of_server_log(lines: dict[str, list[str]], tmp_path: Path) -> None:
    result = pasted(tmp_path, server=lines["server"], **{"state-change": lines["state-change"]})
    assert result.case.notices.is_empty()
    assert "Broker 2 had log end offset 15, and later loaded its log with 10." in render(result, width=200)


def test_an_excerpt_of_a_log_at_hand_is_left_out(lines: dict[str, list[str]], tmp_path: Path) -> None:
    more = [line for line in lines["state-change"] if "orders-0" in line]
    marked = ["Hi, here is what I see:", "", "```", *more[-2:], "```", "", "What does it mean?"]
    result = pasted(tmp_path, **{"state-change": lines["state-change"]}, ticket=marked)
    assert "left out, so that no line counts twice" in " ".join(result.case.notices.get_column("reason"))


@pytest.mark.parametrize(("name", "first"), [("web-0", 372), ("web-2", 402)])
def test_a_corrupt_batch_found_in_recovery_is_no_power_failure(
    name: str, first: int, case: Callable[[str], Result]
) -> None:
    """Somebody changed bytes on broker 3's disk. Log recovery found them and truncated, and broker 3 led next."""
    result = case("bitrot-3.9.1")
    loss = of(result, name, LOST)
    assert loss.cause == "corrupt-batch"
    assert (loss.confidence, loss.offsets, loss.open_from) == ("suspected", (), first)
    assert loss.summary.startswith(f"broker 3 found corruption when it recovered its log, truncated the log to {first}")
    shown = render(result, width=120)
    assert "Corruption found in segment 0, truncating to offset 372" in shown
    assert f"  from {first} on  2 and 4  3\n" in shown
    assert "lost power" not in shown
    assert answer(result, {}).headline == "Loss suspected in web-0 and web-2; segment damage in pay-1 and web-1"


def test_no_copy_is_asked_for_where_none_can_have_the_records(case: Callable[[str], Result]) -> None:
    """Brokers 1 and 3 truncated orders-1 to 210, where broker 2 had begun to lead."""
    loss = of(case("rackloss-3.9.1"), "orders-1", LOST)
    assert loss.no_copy
    assert loss.summary.endswith("No replica in the evidence still has them")
    assert "to another disk" not in advice(loss)


def test_what_recovery_took_from_a_member_of_the_isr_is_suspected(case: Callable[[str], Result]) -> None:
    """Recovery of broker 2 found corruption at 216; brokers 1 and 3 had 219, and truncated to follow it."""
    loss = of(case("rackloss-3.9.1"), "audit-3", LOST)
    assert (loss.confidence, loss.offsets, loss.cause) == ("suspected", ((216, 219),), "corrupt-batch")


def test_the_steps_are_in_the_order_of_their_times(case: Callable[[str], Result]) -> None:
    """A story begins with a high watermark that a line states much later."""
    result = case("rackloss-3.9.1")
    shown = [one for one in incidents(result.findings) if one.findings[0].partition == 2]
    for one in shown:
        times = [step.fact.time for step in story(one.findings).steps if step.fact.time is not None]
        assert times == sorted(times)
    assert any(
        "the controller elected it (leader epoch" in step.fact.text
        for one in shown
        for step in story(one.findings).steps
    )


def test_only_a_leader_that_took_up_its_epoch_is_asked_about(case: Callable[[str], Result]) -> None:
    """Of orders-0, broker 3 was elected and fenced in one batch of the metadata log; its process was down."""
    for partition in case("rackloss-3.9.1").partitions:
        wants = (want for one in partition.judgements.values() for want in one.missing)
        for number, _ in (
            one for want in wants if want.question is Question.HIGH_WATERMARK_BEFORE for one in want.epochs
        ):
            assert partition.history.epochs[number].leader_took_up


def test_the_first_line_names_the_partitions(case: Callable[[str], Result]) -> None:
    """A loss that is only suspected comes before damage that can be repaired."""
    first = " ".join(render(case("rackloss-3.9.1"), width=200).split()).partition(" WARNING ")[0]
    assert first == (
        "VIOLATED in 2 of 15 partitions: committed-data-lost, truncation-below-committed in audit-2; log became "
        "shorter (leo-regression) in audit-2, orders-1. Committed data was lost at 2026-11-24 16:45:56 UTC."
    )
    suspected, damaged = render(case("bitrot-3.9.1"), width=200).splitlines()[:2]
    assert suspected.startswith("SUSPECTED in 2 of 11 partitions: committed-data-lost in web-0, web-2.")
    assert damaged == "VIOLATED in 2 of 11 partitions: segment-damage in pay-1, web-1."


@pytest.mark.parametrize("name", ["rackloss-3.9.1", "bitrot-3.9.1"])
def test_every_rule_is_in_one_row_of_the_table(name: str, case: Callable[[str], Result]) -> None:
    """The head counts the rules that are unknown somewhere as the table does."""
    result = case(name)
    lines = render(result, width=4000).splitlines()
    start = next(n for n, line in enumerate(lines) if line.endswith("16 rules (forensics explain RULE)"))
    rows = list(itertools.takewhile(bool, lines[start + 1 :]))
    named = {rule.id for rule in RULES if any(rule.id in row for row in rows)}
    (rest,) = [int(row.split()[2]) for row in rows if row.startswith("  no violation")]
    assert len(named) + rest == len(RULES)
    unknown = {rule.id for rule in RULES if any(rule.id in row for row in rows if row.startswith("  unknown"))}
    (_, _, told) = " ".join(map(str.strip, lines[:8])).partition("Also: loss of committed data cannot be ruled out")
    assert f"; {len(unknown) - 1} other rules have no answer in some partitions" in told


def test_a_controller_is_no_broker(case: Callable[[str], Result]) -> None:
    result = case("rackloss-3.9.1")
    assert "\n3 brokers, 1 controller (100), " in render(result, width=200)
    assert [one.name for one in brokers(result, {})] == ["Broker 1", "Broker 2", "Broker 3", "Controller 100"]


def test_a_high_watermark_that_no_line_prints_is_not_shown(case: Callable[[str], Result]) -> None:
    """Broker 1 read back 204 and then followed broker 2, which began with 159: the line prints neither."""
    result = case("rackloss-3.9.1")
    (history,) = (one.history for one in result.partitions if one.history.name == "audit-2")
    shown = timeline_text.render(result.case, history, timeline(result.case, history), width=120)
    assert "HW 204" in shown
    assert shown.count("159") == 1, "as broker 2 printed it; the least of a leader is no value of its follower"


def test_nobody_is_asked_to_write_to_the_new_topic_of_a_name(case: Callable[[str], Result]) -> None:
    result = case("incarn-4.1.1")
    old, new = (advice(of(result, name, LOST, incarnation=n)) for name, n in (("cart-0", 1), ("sess-0", 0)))
    assert "to send the lost records again" not in old
    assert "ask who deleted the topic cart, and whether" in old
    kept = re.search(r"if the deleted topic is still wanted: keep (.+?), which has offsets 0 to 100 of it", old)
    assert kept is not None
    assert kept[1].endswith("/broker-3/data/cart-0.a8311190b62a494f888995d6221b5f74-delete")
    assert "to send the lost records again. They wrote them between 2026-11-24 17:04:57.133 and 17:05:26.662 UTC" in new


def test_a_span_of_lost_records_ends_when_they_were_committed(case: Callable[[str], Result]) -> None:
    """Both brokers printed high watermark 15 at 05:31:16; a leader began without 10 to 14 at 05:31:32.

    Record 9, the last that the next leader had, is of 05:31:10.
    """
    said = advice(of(case("powerloss-2.8.2-replication"), "orders-0", LOST))
    assert (
        "They wrote them between 2026-11-21 05:31:10.117 and 05:31:16.146 UTC (if the logs are in UTC). "
        "Offset 9, the last record before them, is of the earlier time. At the later one, broker 1 logged high "
        "watermark 15"
    ) in said


def test_good_copies_of_damaged_partitions_are_in_the_first_table(case: Callable[[str], Result]) -> None:
    listed = {one.name: one.keep for one in answer(case("bitrot-3.9.1"), {}).listed}
    assert sorted(listed) == ["pay-1", "web-0", "web-1", "web-2"]
    assert listed["web-1"][0][1].startswith("the copies of web-1 on brokers 1 and 3")


def test_what_is_suspected_and_what_warns_is_listed_apart_from_losses(case: Callable[[str], Result]) -> None:
    text = render(case("rackloss-3.9.1"), width=200)
    listed = text.partition("In short, the worst first:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] if line.startswith("  ") else line for line in listed] == [
        "audit-2",
        "Suspected, not proven:",
        *("orders-1", "audit-3", "click-0,"),
        "Warnings, which show no loss by themselves:",
        "audit-0,",
    ]


def test_the_story_says_why_the_new_leader_could_be_elected(case: Callable[[str], Result]) -> None:
    """Broker 1 went first. Then broker 2, alone in the ISR, went too, and only it could lead when it came back."""
    loss = of(case("powerloss-2.8.2-replication"), "orders-0", LOST)
    steps = [
        (clock(fact.time), fact.text) for fact in (step.fact for step in story([loss]).steps) if fact.time is not None
    ]
    course = [
        ("05:31:25", "the controller found broker 1 gone, elected broker 2 (leader epoch 1) and shrank the ISR from"),
        (
            "05:31:28",
            "the controller found broker 2 gone: no broker led (leader epoch 2). Only broker 2 was in the ISR",
        ),
        ("05:31:32", "restarted after an unclean stop with log end offset 10; before the stop it was 15"),
        ("05:31:32", "broker 2 returned, and the controller elected it (leader epoch 3), the only member of the"),
        ("05:31:32", "became leader (leader epoch 3) at offset 10, without offsets 10 to 14, ISR [2]"),
    ]
    shown = iter(steps)
    assert all(any(time[:8] == at and text.startswith(said) for time, text in shown) for at, said in course), steps


@pytest.mark.parametrize(
    ("name", "partition", "again"), [("unclean-3.9.1", "orders-0", True), ("incarn-4.1.1", "sess-0", False)]
)
def test_consumers_are_told_where_the_lost_offsets_were_written_again(
    name: str, partition: str, again: bool, case: Callable[[str], Result]
) -> None:
    """The log of sess-0 ends at 99 since the loss of 99 to 200: no other records are there."""
    said = f"inform the owners of consumers of {partition}: other records are at the lost offsets now"
    assert (said in advice(of(case(name), partition, LOST))) is again


def test_a_damaged_segment_is_repaired_from_a_whole_copy(case: Callable[[str], Result]) -> None:
    """Brokers 1 and 3 have whole copies of pay-1. The steps are the same for web-1, so both are told once."""
    result = case("bitrot-3.9.1")
    damage = of(result, "pay-1", "segment-damage")
    assert damage.keep is not None
    assert [step.command for step in damage.next_steps if step.command] == [
        "kafka-topics.sh --bootstrap-server 127.0.0.1:23001 --describe --topic pay",
        "kafka-leader-election.sh --bootstrap-server 127.0.0.1:23001 --election-type UNCLEAN --topic pay --partition 1",
    ]
    steps = [step.text.split(" ", 3)[:3] for step in damage.next_steps]
    assert steps == [
        ["copy", "broker", "2's"],
        ["compare", "the", "copies,"],
        ["check", "that", "broker"],
        ["stop", "broker", "2"],
        ["only", "if", "none"],
        ["move", "the", "directory"],
        ["wait", "until", "that"],
    ]
    assert damage.advice == of(result, "web-1", "segment-damage").advice


def test_stories_that_differ_in_offsets_and_brokers_are_one_with_a_table(case: Callable[[str], Result]) -> None:
    lines = [" ".join(line.split()) for line in render(case("rackloss-3.9.1"), width=100).splitlines()]
    heads = [number for number, line in enumerate(lines) if line.startswith("partition offsets records epochs broker")]
    assert [lines[head + 1 : head + 3] for head in heads] == [
        [
            "click-0 207 to 215 9 offsets, perhaps more 0 and 3 2",
            "orders-0 201 to 212 12 offsets, perhaps more 0 and 3 2",
        ],
        [
            "audit-0 198 to 215 18 records, perhaps more 0 1",
            "click-2 201 to 212 12 records, perhaps more 0 3",
        ],
    ]
    assert sum(line.startswith("then for click-2: ask whether somebody put back broker 3's") for line in lines) == 1


def test_copies_to_keep_are_of_one_story_only_with_the_same_advice(case: Callable[[str], Result]) -> None:
    """The failed directory of broker 1 had all of them, and that of broker 2 some: not the same for each partition."""
    groups = nearly(incidents(case("jbod-3.9.1").findings))
    kept = [group for group in groups if any(finding.keep for one in group for finding in one.findings)]
    assert [[one.lead.topic + f"-{one.lead.partition}" for one in group] for group in kept] == [
        ["vol-4", "vol-5"],
        ["vol-1"],
        ["ack1-0"],
        ["ack1-1", "ack1-3"],
    ]
    assert all(len({one.lead.advice for one in group}) == 1 for group in kept)


def test_a_line_about_corruption_has_its_answer_for_each_partition(case: Callable[[str], Result]) -> None:
    """Broker 3 fetched pay-0 and web-3 again; of web-0 and web-2 it became leader, and wrote others there."""
    result = case("bitrot-3.9.1")
    there = "Brokers 1 and 2 have the records from there on, and it fetched them again. No record is missing"
    later = "What is there now was written later. No copy in the evidence has what was removed"
    assert recovered(result, result.problems) == [
        f"pay-0: at 16:51:42 UTC, log recovery of broker 3 truncated the log to 90. {there}",
        f"web-3: at 16:51:42 UTC, log recovery of broker 3 truncated the log to 138. {there}",
        f"web-2: at 16:52:28 UTC, log recovery of broker 3 truncated the log to 402. {later}",
        f"web-0: at 16:52:28 UTC, log recovery of broker 3 truncated the log to 372. {later}",
    ]
    said = render(result, width=120).partition("What the lines say:")[2].partition("\n\n")[0]
    assert "Do first" not in said
    assert "cannot be read" not in said
    (page,) = (one for one in said_by_lines(result, str) if one.answers)
    assert [one.partition(":")[0] for one in page.answers] == ["pay-0", "web-3", "web-2", "web-0"]
    assert (page.records, page.steps) == ("", ())
    whole = replace(result, problems=[replace(one, time=(one.time or 0) + 1_000_000) for one in result.problems])
    assert recovered(whole, whole.problems) == []
    assert not [one for one in said_by_lines(whole, str) if one.answers]
    assert "Do first" in render(whole, width=120).partition("What the lines say:")[2].partition("\n\n")[0]


def test_no_answer_is_given_for_a_partition_that_two_clusters_have(case: Callable[[str], Result]) -> None:
    """A line about corruption names no cluster: the copies of the other one show nothing of it."""
    result = case("bitrot-3.9.1")
    (one,) = (one for one in result.partitions if one.history.name == "pay-0")
    other = replace(one, history=replace(one.history, facts=replace(one.history.facts, cluster="another")))
    both = replace(result, partitions=[*result.partitions, other])
    assert [text.partition(":")[0] for text in recovered(both, both.problems)] == ["web-3", "web-2", "web-0"]


def test_a_timestamp_of_a_wrong_clock_bounds_nothing(case: Callable[[str], Result]) -> None:
    """All records would be of a day after the loss. Then the leader epoch bounds when 10 to 14 were written."""
    result = case("powerloss-2.8.2-replication")
    (history,) = (one.history for one in result.partitions)
    (loss, *_), _ = losses(history)
    later = result.case.batches.with_columns(pl.col("max_timestamp") + 86_400_000)
    said = written_between(history, replace(result.case, batches=later), loss)
    assert said is not None
    assert said.text.startswith("between 2026-11-21 05:31:07.")
    assert "Leader epoch 0 began at the earlier time" in said.text


def test_a_group_can_be_set_to_the_first_lost_offset(case: Callable[[str], Result]) -> None:
    """The command only shows what it would do, and each partition has its own offset."""
    loss = of(case("powerloss-2.8.2-replication"), "orders-0", LOST)
    shown, command = (step.command for step in loss.next_steps if step.command)
    assert "kafka-consumer-groups.sh --bootstrap-server" in shown
    assert shown.endswith("--describe --all-groups")
    assert "--group GROUP --topic orders:0 --reset-offsets --to-offset 10 --dry-run" in command
    assert not any("to-offset 10" in text for text in loss.advice if text)


def test_each_step_is_for_all_damaged_partitions_before_the_next(case: Callable[[str], Result]) -> None:
    """Broker 2 is started once, after both damaged directories are moved."""
    result = case("bitrot-3.9.1")
    said = " ".join(render(result, width=100).split())
    every = said.index("then do that for the other partition too before you go on, and likewise with each step below")
    assert said.index("Do first copy broker 2's directory pay-1") < every < said.index("Then start broker 2")
    ticket = markdown.render(result)
    assert ticket.index("copy broker 2's directory pay-1") < ticket.index("do that for the other partition too before")


def test_a_ticket_has_the_caution_too(case: Callable[[str], Result]) -> None:
    for name in ("bitrot-3.9.1", "rackloss-3.9.1"):
        result = case(name)
        (first,) = (line for line in markdown.render(result).splitlines() if line.startswith("**Before anything else"))
        assert "Do not start or restart a broker" in first


def test_recovery_that_found_corruption_is_listed_for_its_broker(case: Callable[[str], Result]) -> None:
    """Two logs were truncated at 16:51:42, of which no finding is made, and two at 16:52:28."""
    (one,) = (one for one in brokers(case("bitrot-3.9.1"), {}) if one.name == "Broker 3")
    (row,) = (row for row in one.rows if row.text == "log recovery found corruption and truncated its log to 90")
    assert [name for name, _ in row.places] == ["pay-0", "web-3"]
    assert [bool(row.step) for row in one.rows if "found corruption" in row.text] == [False, True, True]


def test_a_broker_without_a_copy_is_named(case: Callable[[str], Result]) -> None:
    lines = render(case("powerloss-2.8.2-replication"), width=200).splitlines()
    named = [line.split()[1] for line in lines if line.endswith("; no copy of a judged partition")]
    assert named == ["9"]


@pytest.mark.parametrize(
    ("name", "stops"),
    [
        (
            "bitrot-3.9.1",
            "broker 2 had shut down cleanly at 16:52:13, brokers 1 and 3 had stopped uncleanly",
        ),
        ("rackloss-3.9.1", "all of them had stopped uncleanly"),
    ],
)
def test_restarts_together_say_how_brokers_had_stopped(name: str, stops: str, case: Callable[[str], Result]) -> None:
    said = restarted(case(name))[0]
    assert said.startswith("all 3 brokers started again between 2026-11-24 16:")
    assert said.endswith(f" UTC: {stops}")


def test_a_leader_that_failed_and_leads_no_more_needs_no_steps(case: Callable[[str], Result]) -> None:
    """Broker 2 could not read vol-5; it was made again with an empty log, and broker 1 led later."""
    text = render(case("jbod-3.9.1"), width=150)
    (said,) = [part for part in text.split("  error     ") if part.startswith("Leader cannot read its log")]
    assert "Here        broker 1 leads vol-5 since 17:10:54 UTC (leader epoch 4)" in said
    assert "Do first" not in said


def test_what_a_finding_answers_is_no_open_question(case: Callable[[str], Result]) -> None:
    """The page asked whether records from the first lost offset on were committed, beside the loss that says so."""
    result = case("jbod-3.9.1")
    told = {(tale.name, one.rule): one for tale in stories(result).told for one in tale.findings}
    assert not [text for text in told["solo-0", LOST].open if "had committed records from" in text]
    assert all("beyond offset" in text for text in told["ack1-0", LOST].open)
    assert not [text for text in told["ack1-1", LOST].open if "from offset 0 on" in text]


def test_settings_of_a_deleted_topic_are_marked(case: Callable[[str], Result]) -> None:
    own = next(one for one in settings(case("incarn-4.1.1")) if one.name.startswith("Own settings"))
    of_cart = {value: who for value, who in own.values if who.startswith("topic cart")}
    assert of_cart["min.insync.replicas=2"] == "topic cart"
    assert "(deleted" in of_cart["min.insync.replicas=1"]


def test_the_table_says_what_the_text_says_of_more(case: Callable[[str], Result]) -> None:
    result = case("rackloss-3.9.1")
    assert "3 records, perhaps to offset 218" in {one.records for one in answer(result, {}).listed}


def test_partitions_without_a_card_are_named(case: Callable[[str], Result], monkeypatch: pytest.MonkeyPatch) -> None:
    every = answer(case("jbod-3.9.1"), {}).cards
    monkeypatch.setattr("forensics.reports.html.answer.CARDS", len(every) - 1)
    page = answer(case("jbod-3.9.1"), {})
    assert [one.name for one in page.unwritten] == [one.name for one in (every[-1], *every[-1].others)]
    assert page.more == len(page.unwritten) > 0


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("jbod-3.9.1", "besides, broker 2 started at 17:09:50 after a clean stop at 17:09:44"),
        ("incarn-4.1.1", f"besides, broker 3 started at 17:06:09 after it began to shut down at 17:06:02, {NOT_ENDED}"),
    ],
)
def test_restarts_besides_those_of_all_brokers_are_named(name: str, others: str, case: Callable[[str], Result]) -> None:
    assert restarted(case(name))[1:] == [others]


def test_open_questions_name_their_partitions(case: Callable[[str], Result]) -> None:
    text = " ".join(render(case("jbod-3.9.1"), width=150).split())
    assert "cannot be ruled out in 8 more of 17 partitions (solo-1, __consumer_offsets-0, " in text
    assert "--format json names it" not in text


def test_a_story_stands_for_no_partition_with_another_isr_or_elr(case: Callable[[str], Result]) -> None:
    """``stock`` was elected from another ELR, 5 seconds after ``__consumer_offsets``."""
    loud = [
        one for one in case("incarn-4.1.1").findings if one.rule == "unclean-election" and one.severity == "warning"
    ]
    for together in (grouped, nearly):
        groups = [{one.lead.topic for one in group} for group in together(incidents(loud))]
        assert sorted(groups, key=sorted) == [{"__consumer_offsets"}, {"stock"}]


@pytest.mark.parametrize(
    ("elr", "later", "groups", "words"),
    [((1,), 0, 1, ""), ((1, 3), 0, 2, ""), ((1,), 5, 1, ", up to 5 seconds earlier or later")],
)
def test_a_group_says_that_its_steps_were_at_other_times(
    elr: tuple[int, ...], later: int, groups: int, words: str
) -> None:
    def found(partition: int, eligible: tuple[int, ...], seconds: int) -> Finding:
        change = Fact("the controller shrank the ISR", time=seconds * 1_000_000, isrs=((1,), (), eligible))
        return Finding("unclean-election", Severity.WARNING, "orders", partition, "", facts=(change,))

    both = incidents([found(0, (1,), 100), found(1, elr, 100 + later)])
    assert len(grouped(both)) == len(nearly(both)) == groups
    assert same_elsewhere(grouped(both)[0]) == ("" if groups > 1 else f"The same in 1 other partition{words}: orders-1")


@pytest.mark.parametrize("incarnation", [0, 1])
def test_equal_losses_of_a_topic_and_its_former_one_are_told_alike(
    incarnation: int, case: Callable[[str], Result]
) -> None:
    """In partition 0 the leader was left alone in the ISR within its epoch, while the others were fenced."""
    topic = "cart" if incarnation else "sess"
    lost = [of(case("incarn-4.1.1"), f"{topic}-{number}", LOST, incarnation=incarnation) for number in range(3)]
    assert [(one.offsets, one.records) for one in lost] == [(((99, 297),), (198, 198))] * 3


def test_what_was_truncated_beyond_the_loss_is_named(tmp_path: Path) -> None:
    """Without the metadata log nothing shows that the followers of the leader that was alone were fenced."""
    if not (INCIDENTS / "incarn-4.1.1").is_dir():
        pytest.skip("incarn-4.1.1 is not recorded here")
    without = shutil.ignore_patterns("broker-100", "__cluster_metadata-0")
    shutil.copytree(INCIDENTS / "incarn-4.1.1", tmp_path / "case", ignore=without)
    result = scan([str(tmp_path / "case")])
    for finding in (of(result, "cart-0", LOST, incarnation=1), of(result, "sess-0", LOST)):
        assert "offsets 99 to 200 (102 records, perhaps to offset 296)" in finding.summary
        assert finding.records == (102, None)
        said = "beyond offset 200. Offsets 201 to 296 were truncated too: whether they were committed is unknown"
        assert said in finding.uncertain[0]


def test_each_step_of_a_suspicion_cites_its_own_line(case: Callable[[str], Result]) -> None:
    """Broker 2 came back with less than broker 1 had, which truncated its log to follow it 18 seconds later."""
    result = case("rackloss-calm-0.11.0.3")
    (found,) = (f for f in result.findings if f.topic == "audit" and f.partition == 2 and f.rule == LOST)
    cited = dict(zip(found.refs, found.evidence, strict=True))
    steps = [(fact.broker, fact.text, [cited[ref].text for ref in fact.refs]) for fact in found.facts]
    assert [(broker, text) for broker, text, _ in steps] == [
        (1, "restarted after an unclean stop too, and had log end offset 270 in leader epoch 0"),
        (2, "restarted after an unclean stop with log end offset 261"),
        (1, "truncated its log to follow broker 2"),
    ]
    assert ["log end offset 270" in steps[0][2][0], "log end offset 261" in steps[1][2][0]] == [True, True]
    assert "Truncating log audit-2 to offset 261" in steps[2][2][0]
