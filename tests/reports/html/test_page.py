"""What is in the page, without a browser: the answer first, every byte the same, nothing too large."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from forensics.case import Case, Reading, quotes
from forensics.engines import local
from forensics.errors import NothingUnderstood
from forensics.repaired.former import FormerFinding
from forensics.replay.lineage import size
from forensics.reports import incidents, json_report, markdown
from forensics.reports.advice import FORKED, LOST
from forensics.reports.html import overview, render, story, wording
from forensics.reports.html.answer import _card, answer
from forensics.reports.html.brokers import brokers
from forensics.reports.html.missing import missing
from forensics.reports.html.page import CALM as CALM_ONES
from forensics.reports.html.page import LARGEST
from forensics.reports.html.wording import namer, offsets
from forensics.reports.redaction import redact
from forensics.result import Result
from forensics.rules import RULES
from forensics.rules.finding import Action, Confidence, Severity, Verdict
from forensics.tuning import Tuning, tune
from tests.conftest import in_full
from tests.incident import wishes
from tests.reports.html.conftest import CALM, CLEAN, LOSS, LOSS_AND_FORK, MISSING, SAMPLES, SUSPECTED
from tools.samples import unpacked


def verdicts(result: Result, rule: str) -> set[str]:
    """The verdicts of a rule, without what is unknown of topics that were deleted since."""
    found = ((one.history.incarnation, one.judgements[rule].verdict.value) for one in result.partitions)
    return {verdict for incarnation, verdict in found if verdict == "violated" or not incarnation}


def islands(page: str) -> list[str]:
    return re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)


def island(page: str, name: str) -> Any:
    """What a page carries for its scripts under a name."""
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def charts(page: str) -> list[dict[str, Any]]:
    """What is drawn, in the order of the partitions that ``data`` names."""
    return [json.loads(gzip.decompress(base64.b64decode(packed))) for packed in island(page, "charts")]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_headline_says_what_the_verdicts_say(name: str, results: Callable[[str], Result]) -> None:
    result = results(name)
    page = render(result)
    headline = re.search(r"<title>(.*?)</title>", page)
    assert headline is not None
    said = headline[1].lower()
    lost, forked = verdicts(result, LOST), verdicts(result, FORKED)
    assert ("was lost" in said and "no committed" not in said) == ("violated" in lost)
    assert ("forked in" in said or "hold different" in said) == ("violated" in forked)
    neither = "violated" not in lost | forked
    suspected = any(one.confidence is Confidence.SUSPECTED and one.rule in (LOST, FORKED) for one in result.findings)
    assert ("suspected" in said) == (neither and suspected)
    assert ("cannot be ruled out" in said) == (neither and not suspected and "unknown" in lost | forked)
    assert ("no committed data was lost or forked" in said) == (neither and "unknown" not in lost | forked)


def test_a_suspicion_is_said_before_what_is_missing(results: Callable[[str], Result]) -> None:
    """The lines of the other two brokers suggest the loss. Only the files of the broker that is missing prove it."""
    result = results(SUSPECTED)
    assert (verdicts(result, LOST), verdicts(result, FORKED)) == ({"unknown"}, {"unknown"})
    page = html.unescape(render(result))
    assert title(page).startswith("loss suspected in orders-0")
    (loss,) = [one for one in result.findings if one.rule == LOST]
    assert (loss.confidence, loss.offsets) == (Confidence.SUSPECTED, ((50, 80),))
    assert f"finding-{loss.fingerprint}" in page
    said = re.sub(r"</?code>", "", page)
    assert loss.summary.lower() in said.lower()
    assert said.index("offsets 50 to 79") < said.index('<section id="map"')
    assert any(step.sentence in said for step in loss.next_steps)


PARTS = ("answer", "story", "timeline", "brokers", "map", "method")


@pytest.mark.parametrize("name", SAMPLES)
def test_the_parts_stand_in_order(name: str, results: Callable[[str], Result]) -> None:
    page = render(results(name))
    places = [page.index(f'<section id="{part}"') for part in PARTS]
    assert places == sorted(places)
    assert page.index("<h1") < page.index('class="chart"')


def test_a_loss_names_the_copy_to_keep_and_the_proof(results: Callable[[str], Result]) -> None:
    result = results(LOSS_AND_FORK)
    page = html.unescape(render(result))
    worst = result.findings[0]
    assert worst.keep is not None
    assert worst.keep in page
    told = re.sub(r"</?code>", "", page)
    assert all(word in told for word in (*(step.sentence for step in worst.next_steps), *worst.do_not))
    assert f"<code>forensics salvage {result.inputs[0]} -p orders-0 " in page, "a command is set apart"
    for finding in result.findings:
        if finding.severity is not Severity.INFO:
            assert f"finding-{finding.fingerprint}" in page
            assert all(evidence.text in page for evidence in finding.evidence)
    for incident in incidents.incidents(f for f in result.findings if f.severity is not Severity.INFO):
        found = incidents.story(incident.findings)
        assert all(step.fact.text in page for step in (*found.steps, *found.notes))


def test_every_loss_of_a_partition_names_its_own_copy(results: Callable[[str], Result]) -> None:
    """The second loss has its only copy on another broker: who wipes that broker after reading the page loses it."""
    result = results(LOSS_AND_FORK)
    partition = next(p for p in result.partitions if p.judgements["committed-data-lost"].findings)
    judgement = partition.judgements["committed-data-lost"]
    first = judgement.findings[0]
    assert first.keep is not None
    last = first.offsets[-1][1]
    second = replace(
        first,
        offsets=((last + 10, last + 15),),
        cause="unflushed-tail",
        keep="broker 9's copy, the only one",
        next_steps=(Action("stop broker 9 and copy its directory"), *first.next_steps[1:]),
        do_not=("do not wipe broker 9",),
    )
    both = replace(judgement, findings=(first, second))
    card = _card(replace(partition, judgements={**partition.judgements, LOST: both}), "", namer([None]))
    assert card.keep == (
        (offsets(first.offsets), first.keep),
        (offsets(second.offsets), "broker 9's copy, the only one"),
    )
    assert card.steps == (first.next_steps[0], second.next_steps[0], *first.next_steps[1:])
    assert card.never == (*first.do_not, "do not wipe broker 9")
    assert [cause.id for cause in card.causes] == [first.cause, "unflushed-tail"]
    assert card.offsets == offsets([*first.offsets, *second.offsets])
    assert card.count == size(first.offsets) + 5
    alone = _card(partition, "", namer([None]))
    assert alone.keep == (("", first.keep),)


def test_what_is_missing_is_asked_for(results: Callable[[str], Result]) -> None:
    result = results(MISSING)
    page = html.unescape(render(result))
    wanted = {item for p in result.partitions for j in p.judgements.values() for item in wishes(j, p.history.name)}
    assert wanted
    assert sum(item in page for item in wanted) >= min(len(wanted), 12)


def test_every_rule_is_in_the_map_and_explained(results: Callable[[str], Result]) -> None:
    page = html.unescape(render(results(LOSS_AND_FORK)))
    for rule in RULES:
        assert f"<span>{rule.id}</span>" in page
    told = " ".join(re.sub(r"</?code>", "", page).split())
    for rule in RULES:
        assert rule.summary in told
        for part, paragraphs in rule.help.parts.items():
            assert f"<dt>{part}</dt>" in told
            for paragraph in paragraphs:
                assert " ".join(paragraph.split()).replace("``", "") in told


def test_only_scripts_of_the_page_itself_may_run(results: Callable[[str], Result]) -> None:
    page = render(results(LOSS_AND_FORK))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)
    assert policy is not None
    rules = dict(part.split(" ", 1) for part in html.unescape(policy[1]).split("; "))
    assert rules["default-src"] == "'none'"
    own = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    packed = re.search(r'<script type="text/plain" id="plotly-bundle">(.*?)</script>', page, re.DOTALL)
    assert packed is not None
    scripts = [one.encode() for one in own] + [gzip.decompress(base64.b64decode(packed[1]))]
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(one).digest()).decode()}'" for one in scripts]
    assert rules["script-src"].split() == hashes
    assert "connect-src" not in rules, "default-src 'none' forbids every request"


def test_data_cannot_leave_its_element(hostile: Result) -> None:
    page = render(hostile)
    found = islands(page)
    assert found
    for island in found:
        json.loads(island)
        assert not set("<>&\u2028\u2029") & set(island)
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "<img" not in outside
    assert "onerror=window" in outside, "the hostile text is shown, as text"
    assert "\u202e" not in page, "what turns the reading order is written out"


@pytest.mark.parametrize("name", SAMPLES)
def test_the_same_evidence_gives_the_same_bytes(name: str, results: Callable[[str], Result]) -> None:
    assert render(results(name)) == render(results(name))


def test_clusters_are_told_apart(sample_traces: Path) -> None:
    """Two clusters that share the names of their topics and the numbers of their brokers."""
    first, second = LOSS_AND_FORK, "unclean-0.10.2.2"
    result = local.scan([str(sample_traces / first), str(sample_traces / second)])
    page = html.unescape(render(result))
    clusters = {partition.history.cluster for partition in result.partitions}
    assert len(clusters) == 2
    data, drawn = island(page, "data"), charts(page)
    for partition, told, (anchor, name, _) in zip(result.partitions, drawn, data["panels"], strict=True):
        assert name == f"{partition.history.name} of cluster {partition.history.cluster}"
        assert anchor == f"partition/{partition.history.name}@{partition.history.cluster}"
        paths = {path for path, _, _ in told["references"]}
        case = {part for part in (first, second) if any(part in path for path in paths)}
        assert len(case) == 1, "no line of the other cluster"
    for finding in result.findings:
        assert f"finding-{finding.fingerprint}" in page
    assert {name.rsplit(" ", 1)[-1] for name, _, _ in data["map"]} == clusters


def test_large_inputs_are_not_read_again_for_their_hash(
    results: Callable[[str], Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = results(LOSS_AND_FORK)
    cited = {piece.sha256 for finding in result.findings for piece in finding.evidence}
    every = {row.sha256 for row in overview.method(result).inputs}
    assert len(every) > len(cited)
    monkeypatch.setattr(overview, "HASHED", 0)
    monkeypatch.setattr(overview, "_hash", lambda *_: pytest.fail("read again"))
    sizes = {row.sha256 for row in overview.method(replace(result, case=grown(result))).inputs}
    assert sizes == {*cited, ""}
    assert "Without a hash" in render(replace(result, case=grown(result)))


def grown(result: Result) -> Case:
    """The case with files that are larger than anything that is hashed."""
    sources = result.case.sources.with_columns(bytes=pl.lit(10**12, dtype=pl.Int64))
    return replace(result.case, sources=sources)


@in_full("the order of folders is tried without it")
def test_another_process_gives_the_same_bytes(sample_traces: Path) -> None:
    program = (
        "import sys; from forensics.engines import local; from forensics.reports.html import render; "
        "sys.stdout.write(render(local.scan([sys.argv[1]])))"
    )
    command = [sys.executable, "-c", program, str(sample_traces / LOSS_AND_FORK)]
    pages = [
        subprocess.run(
            command,
            capture_output=True,
            check=True,
            timeout=300,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
        ).stdout
        for seed, zone in (("1", "America/St_Johns"), ("2", "UTC"))
    ]
    assert pages[0] == pages[1]


def test_two_thousand_partitions_fit(many: Result) -> None:
    page = render(many)
    assert len(page.encode()) <= LARGEST
    data = island(page, "data")
    affected = [p for p in many.partitions if p.worst <= Severity.WARNING.rank]
    assert len(affected) == 50
    assert len(data["panels"]) == len(island(page, "charts")) == 50 + CALM_ONES, "every affected partition"
    assert f"{50 + CALM_ONES} of 2\u202f000 partitions" in page, "what is not drawn is said"
    assert len(data["map"]) == 2_000
    assert {len(letters) for _, letters, _ in data["map"]} == {len(RULES)}


def test_length_does_not_make_the_page_longer(long: Callable[[int], Result]) -> None:
    count = 5_000_000 if os.environ.get("FORENSICS_LARGE") == "1" else 200_000
    small, large = (len(render(long(n)).encode()) for n in (20_000, count))
    assert large <= LARGEST
    assert large - small < 150_000


def test_a_redacted_page_names_nobody(results: Callable[[str], Result], sample_traces: Path) -> None:
    result = results(LOSS_AND_FORK)
    page = render(redact(result))
    names = {partition.history.topic for partition in result.partitions} | {str(sample_traces), "/srv/kafka"}
    outside = re.sub(r'<script type="text/plain".*?</script>', "", page, flags=re.DOTALL)
    names = {name for name in names if name != "/srv/kafka"}
    assert not [name for name in names if re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", outside)]
    before, after = json_report.document(result), json_report.document(redact(result))
    strip = [[(f["rule"], f["offsets"], f["severity"], f["time"]) for f in d["findings"]] for d in (before, after)]
    assert strip[0] == strip[1]


@pytest.fixture(scope="module")
def folder(sample_traces: Path) -> str:
    return str(sample_traces / LOSS_AND_FORK)


def title(page: str) -> str:
    found = re.search(r"<title>(.*?)</title>", page)
    assert found is not None
    return html.unescape(found[1]).lower()


@pytest.mark.parametrize("name", [LOSS_AND_FORK, CLEAN])
@pytest.mark.parametrize("off", [(LOST,), (FORKED,), (LOST, FORKED)], ids=" ".join)
def test_a_question_that_nobody_asked_is_not_answered(
    name: str, off: tuple[str, ...], results: Callable[[str], Result]
) -> None:
    page = render(tune(results(name), Tuning(disabled=frozenset(off))))
    said = title(page)
    assert "no committed data was lost or forked" not in said
    assert ("lost in" in said) == (name == LOSS_AND_FORK and LOST not in off)
    assert ("hold different" in said) == (name == LOSS_AND_FORK and FORKED not in off)
    for rule in off:
        assert f"{rule}" in re.sub(r"<script.*?</script>", "", page.split("</dl>", 1)[0], flags=re.DOTALL)
        assert f"<span>{rule}</span>" not in page, "no column in the map, and so no question mark"
    assert "without loss or fork" not in page


def test_a_loss_stays_one_whatever_its_severity_is_set_to(results: Callable[[str], Result]) -> None:
    set_ = dict.fromkeys((LOST, FORKED, "truncation-below-committed"), Severity.INFO)
    page = render(tune(results(LOSS_AND_FORK), Tuning(severities=set_)))
    assert title(page) == title(render(results(LOSS_AND_FORK)))
    assert "<dt>committed offsets lost</dt><dd>30</dd>" in page
    assert "broker 1&#39;s copy of orders-0. It is the only one with the lost records" in page
    assert "severity set: committed-data-lost info" in page


def test_what_settings_changed_stands_beside_the_answer(results: Callable[[str], Result], folder: str) -> None:
    result = results(LOSS_AND_FORK)
    found = [FormerFinding(one.fingerprint, one.severity) for one in result.findings[:2]]
    known = (*found, FormerFinding("gone", Severity.ERROR))
    tuning = Tuning(disabled=frozenset({"segment-damage"}), topics=("ord*",), baseline="known.json", known=known)
    page = html.unescape(render(tune(result, tuning)))
    remarks = page[page.index('class="remarks"') : page.index('<dl class="tiles">')]
    assert "not asked: segment-damage; only topics like ord*" in remarks
    assert "2 findings known before, by the baseline known.json, told here all the same; 1 of it not found" in remarks
    assert all(f"finding-{finding.fingerprint}" in page for finding in result.findings[:2])
    assert 'class="remarks"' not in render(result), "nothing was changed"
    span = Reading(since=1_795_233_960_000_000)
    page = render(local.scan([folder], reading=span))
    assert "Only lines printed from 2026-11-21 04:06:00.000 UTC count" in page


def test_the_order_of_the_folders_changes_no_byte(sample_traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sample_traces / LOSS_AND_FORK)
    one = ["broker-1", "broker-2", "broker-3", "broker-9"]
    for change in (lambda result: result, redact):
        pages = {render(change(local.scan(paths))) for paths in (one, one[::-1], [one[2], one[0], one[3], one[1]])}
        assert len(pages) == 1


@pytest.mark.parametrize("name", SAMPLES)
def test_steps_stand_in_the_order_of_time(name: str, results: Callable[[str], Result]) -> None:
    for tale in story.stories(results(name)).told:
        times = [step.time for step in tale.steps if step.time is not None]
        assert times == sorted(times)
        assert [step.number for step in tale.steps] == list(range(1, len(tale.steps) + 1))


def test_one_incident_is_one_story(results: Callable[[str], Result]) -> None:
    result = results(LOSS_AND_FORK)
    loud = [finding for finding in result.findings if finding.severity is not Severity.INFO]
    assert len(loud) == 4
    (tale,) = story.stories(result).told
    assert {finding.anchor for finding in tale.findings} == {f"finding-{finding.fingerprint}" for finding in loud}
    assert tale.others == ()


def test_equal_partitions_have_one_story(many: Result) -> None:
    told = story.stories(many).told
    (tale,) = [tale for tale in told if tale.findings[0].rule == LOST]
    assert len(tale.others) == 49
    assert len({other.partition for other in tale.others} | {tale.partition}) == 50
    anchors = {f"finding-{f.fingerprint}" for f in many.findings if f.rule == LOST}
    assert {other.findings[0] for other in tale.others} | {tale.findings[0].anchor} == anchors
    page = render(many)
    assert all(page.count(f'id="{anchor}"') == 1 for anchor in anchors), "a link to any of the findings leads somewhere"


def test_one_outage_is_one_story_and_one_card(case: Callable[[str], Result]) -> None:
    """vol-4 and vol-5 lost records as one disk failed; their steps differ, and so do the offsets."""
    result = case("jbod-3.9.1")
    loud = [one for one in result.findings if one.severity is not Severity.INFO]
    told = story.stories(result).told
    assert [1 + len(tale.others) for tale in told] == [
        len(group) for group in incidents.nearly(incidents.incidents(loud))
    ]
    tale = next(one for one in told if one.name == "vol-4")
    assert [one.name for one in tale.others] == ["vol-5"]
    assert tale.columns[:2] == ("offsets", "records")
    assert {len(row) for row in (tale.cells, *(one.cells for one in tale.others))} == {len(tale.columns)}
    assert tale.same == "The same in 2 partitions (at least 1,263 records)"
    assert [one.name for one in tale.apart] == [one.name for one in tale.others if one.own] != []
    assert all(one.steps != tale.steps for one in tale.apart)
    card = next(one for one in answer(result, {}).cards if one.name == "vol-4")
    assert [name for name, _, _ in card.rows] == ["vol-4", "vol-5"]
    assert "reset to" in card.columns
    page = render(result)
    for one in loud:
        assert page.count(f'id="{story.finding_anchor(one)}"') == 1, "a link to any of the findings leads somewhere"


def test_every_link_leads_somewhere(results: Callable[[str], Result], many: Result) -> None:
    for result in (results(LOSS_AND_FORK), results(CALM), many):
        page = render(result)
        outside = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)
        ids = re.findall(r'\bid="([^"]+)"', outside)
        assert len(ids) == len(set(ids)), [one for one in ids if ids.count(one) > 1][:3]
        reachable = {*ids, *(anchor for anchor, _, _ in island(page, "data")["panels"])}
        assert set(re.findall(r'href="#([^"]+)"', outside)) <= reachable


def test_several_clusters_have_an_answer_each(sample_traces: Path) -> None:
    """One cluster lost and forked, another only lost: no sentence says of one what holds of the other."""
    result = local.scan([str(sample_traces / LOSS_AND_FORK), str(sample_traces / LOSS)])
    told = answer(result, {})
    assert told.headline == "Committed data was lost in 2, and forked in 1 of 2 clusters"
    assert {one.headline for one in told.clusters} == {
        "Committed data was lost in orders-0",
        "Committed data was lost and forked in orders-0",
    }
    assert [(tile.value, tile.what) for tile in told.tiles[:2]] == [
        ("2", "of 2 clusters affected"),
        ("2", "of 2 partitions lost or forked committed data"),
    ]
    assert not any(one.name in told.headline for one in told.clusters), "however long their ids are"
    calm = answer(local.scan([str(sample_traces / CLEAN), str(sample_traces / "rotated-2.8.2")]), {})
    assert [one.headline for one in calm.clusters] == [
        "Loss cannot be ruled out in 18 of 18 partitions",
        "No committed data was lost or forked",
    ]
    assert calm.headline == "Loss cannot be ruled out in 1 of 2 clusters"


def test_what_is_missing_is_one_table(results: Callable[[str], Result]) -> None:
    result = results(MISSING)
    told = missing(result)
    wanted = {
        (way.brokers, way.artefacts)
        for partition in result.partitions
        for judgement in partition.judgements.values()
        if judgement.verdict is Verdict.UNKNOWN
        for want in judgement.missing
        for way in want.ways[:1]
    }
    assert len(told.rows) + told.more == len(wanted)
    assert all(row.partitions and row.rules for row in told.rows)
    assert {row.broker for row in told.rows} >= {"1"}, "the broker whose folder was removed"
    assert told.commands[0].where == "on broker 1"
    assert "tar czf broker-1.tgz " in told.commands[0].line


@pytest.mark.parametrize("name", SAMPLES)
def test_the_page_copies_the_summary_in_markdown(name: str, results: Callable[[str], Result]) -> None:
    assert island(render(results(name)), "data")["markdown"] == markdown.render(results(name))


def test_values_name_their_scope(results: Callable[[str], Result]) -> None:
    """A topic's min.insync.replicas of 2 is no contradiction of its brokers' default of 1."""
    found = {setting.name: setting.values for setting in overview.settings(results(LOSS_AND_FORK))}
    assert found["min.insync.replicas"] == (
        ("2", "topic orders"),
        ("1", "default, same on every broker that reports it"),
    )


def test_brokers_tell_what_happened_on_them(results: Callable[[str], Result], many: Result) -> None:
    result = results(LOSS_AND_FORK)
    held = {one.name: one for one in brokers(result, {0: "partition/orders-0"})}
    assert set(held) == {"Broker 1", "Broker 2", "Broker 3", "Broker 9"}
    texts = [row.text for row in held["Broker 3"].rows]
    cut = next(place for place, text in enumerate(texts) if "truncated its log from at least 80 to 50" in text)
    led = next(place for place, text in enumerate(texts) if text.startswith("became leader (leader epoch 2)"))
    assert cut < led
    for one in held.values():
        times = [row.time for row in one.rows if row.time is not None]
        assert times == sorted(times)
    assert all(row.places == [("orders-0", "partition/orders-0")] for row in held["Broker 3"].rows if row.tone)
    assert sum("truncated its log" in row.text for row in held["Broker 3"].rows) == 1, "not told twice"
    (one,) = [one for one in brokers(many, {}) if one.name == "Broker 3"]
    (row,) = [row for row in one.rows if row.tone and "truncated its log" in row.text]
    assert len(row.places) + row.more == 50, "the same on many partitions is one row"


def test_a_line_that_was_cut_says_so(hostile: Result, results: Callable[[str], Result]) -> None:
    cut = [e for f in hostile.findings for e in f.evidence if len(e.text) >= quotes.LONGEST]
    page = html.unescape(render(hostile))
    for evidence in cut:
        assert f"{wording.plain(evidence.text)} …" in page
    long = replace(results(LOSS_AND_FORK).findings[0].evidence[0], text="x" * quotes.LONGEST)
    assert story._proof(long, str).text.endswith("x …")
    assert not story._proof(replace(long, text="x" * (quotes.LONGEST - 1)), str).text.endswith("…")


def test_settings_say_what_they_decide(results: Callable[[str], Result]) -> None:
    found = {setting.name: setting for setting in overview.settings(results(LOSS_AND_FORK))}
    assert found["unclean.leader.election.enable"].values == (("false", "same on every broker that reports it"),)
    assert found["log.flush.interval.messages"].values == (("never", "same on every broker that reports it"),)
    assert found["acks of producers"].values[0][0] == "not seen"
    assert "request log" in found["acks of producers"].values[0][1]
    assert all(setting.decides for setting in found.values())
    result = results(LOSS_AND_FORK)
    case = result.case
    endless = {broker.id: replace(broker, settings={"min.insync.replicas": "9" * 10**6}) for broker in case.everyone}
    shown = overview.settings(replace(result, case=replace(case, everyone=tuple(endless.values()))))
    assert max(len(value) for setting in shown for value, _ in setting.values) < 400


@pytest.mark.parametrize(("length", "taken"), [(255, True), (50_000, False)])
def test_names_and_paths_without_end_do_not_blow_up_the_page(
    length: int, taken: bool, sample_traces: Path, tmp_path: Path
) -> None:
    """Lines alone, of a topic with a name that Kafka would never take, and no epoch that anything dates."""
    deep = tmp_path.joinpath(*["d" * 200] * 9, "case")
    endless = b"A" * length
    for broker in ("broker-2", "broker-3"):
        logs = deep / broker / "logs"
        logs.mkdir(parents=True)
        text = (sample_traces / LOSS_AND_FORK / broker / "logs" / "server.log").read_bytes()
        (logs / "server.log").write_bytes(text.replace(b"orders-0", endless + b"-0"))
    result = local.scan([str(tmp_path)])
    assert any(len(partition.history.topic) == len(endless) for partition in result.partitions) == taken
    page = render(result)
    assert b"AAAA" in page.encode()
    assert "A" * 2_000 not in re.sub(r'<script type="text/plain".*?</script>', "", page, flags=re.DOTALL)
    assert len(page.encode()) < LARGEST - 2_000_000
    assert "d" * 200 + "…" in page or "…" in page


ALONE = sorted(
    str(path.relative_to(unpacked()))
    for kind in ("server.log", "state-change.log", "controller.log", "*-checkpoint", "0*.log")
    for name in SAMPLES
    for path in sorted(unpacked().glob(f"{name}/broker-*/**/{kind}"))[:1]
)


@pytest.mark.parametrize("name", ALONE)
def test_any_file_alone_makes_a_page(name: str, sample_traces: Path, tmp_path: Path) -> None:
    place = tmp_path / name
    place.parent.mkdir(parents=True)
    place.write_bytes((sample_traces / name).read_bytes())
    try:
        result = local.scan([str(tmp_path)])
    except NothingUnderstood:
        return
    page = render(result)
    assert "was lost" not in title(page)
    assert len(page.encode()) <= LARGEST


@pytest.mark.parametrize("name", [SUSPECTED, MISSING])
def test_what_is_unknown_links_to_what_would_show_it(name: str, results: Callable[[str], Result]) -> None:
    page = render(results(name))
    places = re.findall(r'id="(missing-[a-z-]+)"', page)
    links = re.findall(r'href="#(missing-[a-z-]+)"', page)
    assert len(places) == len({*places})
    assert links
    assert {*links} <= {*places}
