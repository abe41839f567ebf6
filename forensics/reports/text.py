"""The summary for the terminal: the answer first, then each incident once, with the evidence beside each statement.

What an operator needs at four in the morning comes first: which partition, which offsets, what to keep, what not to do.
Then come the unanswered questions and the evidence that would answer them, then the coverage of the evidence.
"""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import polars as pl

from forensics.case import Case
from forensics.case.coverage import coverage, period
from forensics.case.origin import Origin
from forensics.repaired.since import Checked
from forensics.replay.confidence import Confidence
from forensics.reports import remarks, repair, tally
from forensics.reports.advice import advisers, each_first, kept_texts
from forensics.reports.answer import Tone, answers, caution, counted, period_text
from forensics.reports.elision import ROWS, elided, without_asides
from forensics.reports.groups import (
    GAP,
    alike,
    group_title,
    only_some,
    own_notes,
    repeat_text,
    same_elsewhere,
    steps_of,
    story_of,
)
from forensics.reports.incidents import Incident, Step, incidents, nearly, story
from forensics.reports.places import below
from forensics.reports.recovered import outcomes
from forensics.reports.terminal import LEAST, MOST, Style, printed
from forensics.reports.titles import (
    causes_of,
    confidence_text,
    earlier,
    first_names,
    headline,
    name_of,
    node_name,
    nodes_text,
    of_cluster,
    open_texts,
    others_texts,
    runs_of_lives,
    source_of,
    times,
    why_inferred,
)
from forensics.reports.wishes import Wishes
from forensics.result import Partition, Result
from forensics.rules.causes import Cause
from forensics.rules.evidence_gap import ID as GAPS
from forensics.rules.finding import (
    Action,
    Evidence,
    Finding,
    Rule,
    Severity,
    States,
    Verdict,
    sentence,
)
from forensics.rules.routine_lines import NOTHING_TO_DO
from forensics.rules.stated_problems import Problem
from parsers.formats.log_directory import DELETED_SEGMENT

FULL = 12  # stories that are reported in full
LISTED = 8  # that are listed before them
BRIEF = 30  # that are named after these
EXAMPLES = 5  # of what was not understood
PROBLEMS = 6  # partitions of one known problem
PLACES = 2  # of one known problem
ROWS_ALIKE = 12  # partitions with one story, in its table
PROOF = 2  # places cited for one fact
NARROW = 66  # columns of a quote; with less it may have another row
EXPLAIN = "What a word or a rule means: forensics explain NAME, such as forensics explain ISR."
SUSPECTED = "Suspected, not proven:"
WARNED = "Warnings, which show no loss by themselves:"
_OVERVIEW = ("", SUSPECTED, WARNED)
"""Headings within the list of what was found, by ``_doubt``."""
LABEL = 12  # columns of "Otherwise", and a little more
IDLE = "; no copy of a judged partition"
VERDICT = 19  # columns of "unknown in 14 of 15"

_TONES = {Tone.VIOLATED: Style.BAD, Tone.DOUBT: Style.DOUBT, Tone.CLEAN: Style.GOOD}
_LOGS = ("server.log", "state-change.log", "controller.log", "kafka-request.log", "log-cleaner.log", "log", "excerpt")
_FILES = (
    (DELETED_SEGMENT, "deleted segments"),
    ("metadata-log", "metadata log"),
    ("offset-checkpoint", "checkpoints"),
    ("epoch-checkpoint", "leader epochs"),
    ("meta-properties", "ids"),
)
_TOOLS = (
    ("dump-log", "output of kafka-dump-log"),
    ("log-dirs", "output of kafka-log-dirs"),
    ("command-output", "output of Kafka's commands"),
    ("metrics", "metrics"),
    ("zookeeper-nodes", "nodes of ZooKeeper"),
    ("quorum-describe", "output of kafka-metadata-quorum"),
    ("trace", "a trace"),
)
_SHOWN = frozenset({*_LOGS, *(kind for kind, _ in (*_FILES, *_TOOLS)), "segment", "server-properties"})
_STAMP = re.compile(r"^\[?(\d{4}-\d\d-\d\d[ T][\d:,.]+(?:Z|[+-]\d\d:?\d\d)?)\]?\s+")  # a line's own


def render(result: Result, *, width: int | None = None, styled: bool = False) -> str:
    """Return the whole summary, ending with a line end.

    Args:
        result: result of a scan.
        width: columns; default: those of the terminal.
        styled: the reader is a terminal that shows colour and links.
    """
    page = _page(result, width)
    page.answer()
    page.repair()
    page.incidents()
    page.problems()
    page.information()
    page.verdicts()
    page.wishes()
    page.coverage()
    page.totals()
    page.remarks()
    return printed(page.lines, styled=styled)


def stories(result: Result, findings: Sequence[Finding], *, width: int | None = None, styled: bool = False) -> str:
    """Return the incidents of some findings of a result alone, as the summary shows them; arguments as ``render``."""
    page = _page(replace(result, findings=list(findings)), width)
    page.incidents()
    return printed(page.lines, styled=styled)


def _page(result: Result, width: int | None) -> _Page:
    columns = width or shutil.get_terminal_size((110, 40)).columns
    return _Page(result, min(max(columns, LEAST), MOST))


class _Page(Wishes):
    """The lines of a summary as they are added."""

    def __init__(self, result: Result, columns: int) -> None:
        super().__init__(result, columns)
        self.root = below(result.case)
        self.dated = _dated(result)
        self.causes_of: dict[Cause, str] = {}  # the first partition with each cause
        self.advised_for: dict[tuple[Action, ...], Incident] = {}  # the first incident with these steps

    def place(self, path: str) -> str:
        """A path without what all paths begin with."""
        return path.removeprefix(self.root)

    def name(self, finding: Finding) -> str:
        """The partition of a finding, with its cluster if the evidence has several."""
        return f"{name_of(finding)}{self.of_cluster(finding.cluster)}"

    def called(self, partition: Partition) -> str:
        """The name of a partition, with its cluster if the evidence has several."""
        one = partition.history
        return f"{one.name}{earlier(one.incarnation)}{self.of_cluster(one.cluster)}"

    def _zone_assumed(self) -> str:
        """How times were read that name no zone; each time of a trace names one."""
        case = self.result.case
        if case.traces_alone or not period_text(self.result):
            return ""
        read = f"{case.reading.assumed}{self.zones()}{_skews(case.reading.skew)}"
        return f" (timestamps without a zone were read as {read})"

    # -- what happened ----------------------------------------------------------------------------------------------

    def answer(self) -> None:
        """Print the answer: the first line."""
        said = answers(self.result)
        for one in said:
            self.put("", sentence(one.text), indent=2, style=_TONES[one.tone], whole=True)
        if first := caution(self.result):
            self.put("", sentence(first), indent=2, style=Style.BOLD)
        for remark in remarks.restarted(self.result) if said[0].tone is not Tone.CLEAN else []:
            self.put("", sentence(remark), indent=2)
        if words := confidence_text(self.result):
            self.put("", words, indent=2, style=Style.DIM)
        if any(finding.severity is not Severity.INFO for finding in self.result.findings) and not self.pasted:
            self.put("", EXPLAIN, indent=2, style=Style.DIM)
        self.blank()

    def repair(self) -> None:
        """Print what became of the findings of a baseline, and the conditions for producers to go back."""
        found = self.result.repair
        if found is None:
            return
        self.put("", sentence(repair.headline(found)), indent=2, style=_TONES[repair.TONES[found.met]], whole=True)
        self.put("  ", sentence(repair.counts(found)))
        for outcome, rule, places in repair.outcomes(found):
            self.put(f"  {outcome.value:<15}  {rule}  ", places)
        self.blank()
        for group in repair.alike(found.partitions)[:FULL]:
            self.conditions(group, several=bool(self.clusters) or repair.several_clusters(found))
            self.blank()

    def conditions(self, group: Sequence[Checked], *, several: bool) -> None:
        """Print the conditions of one partition, and which others are alike."""
        one = group[0]
        whose = of_cluster(one.cluster) if several else ""
        self.put(f"{one.name}{whose}   ", "before producers go back", style=Style.BOLD)
        if not one.points:
            self.put("  ", sentence(repair.ABSENT))
        for point in one.points:
            style = _TONES[repair.TONES[point.met]]
            self.put(f"  {repair.WORDS[point.met]:<9}  ", sentence(repair.point_text(point)), style=style)
            for piece in point.evidence[:PROOF]:
                self.piece(13, piece, (), one.name)
        if len(group) > 1:
            names = first_names([other.name for other in group[1:]], PROBLEMS)
            self.put("  = ", f"the same holds in {_count(len(group) - 1, 'other partition')}: {names}")

    def incidents(self) -> None:
        """Print the incidents, worst first, equal ones of several partitions once."""
        groups = nearly(incidents(f for f in self.result.findings if f.severity is not Severity.INFO))
        self.overview(groups)
        for group in groups[:FULL]:
            self.incident(group)
            self.blank()
        rest = groups[FULL:]
        for group in rest[:BRIEF]:
            self.brief(group, "")
        if len(rest) > BRIEF:
            self.row(f"... and {len(rest) - BRIEF:,} more: --format json has them all")
        self.blank()

    def overview(self, groups: Sequence[Sequence[Incident]]) -> None:
        """Print a line for each incident if there are several: the first in full may fill a screen."""
        if len(groups) <= 1:
            return
        self.row("In short, the worst first:", Style.BOLD)
        rows: dict[tuple[int, str, bool, str], list[Incident]] = {}
        for group in groups:
            rows.setdefault((_doubt(group[0].lead), *group_title(group), self.at(group)), []).extend(group)
        heading = ""
        for (doubt, title, of_each, when), same in sorted([*rows.items()][:LISTED], key=lambda row: row[0][0]):
            if (new := _OVERVIEW[doubt]) not in ("", heading):
                self.row(new)
            heading = new
            each = " each" if of_each and self.several(same) and title.endswith(")") else ""
            self.put("  ", f"{self.which(same)}   {title}{each}{when}", indent=4)
        if len(rows) > LISTED:
            self.row(f"  ... and {len(rows) - LISTED:,} more, below")
        self.blank()

    def several(self, group: Sequence[Incident]) -> bool:
        """Return whether a group has several partitions."""
        return len({self.name(one.lead) for one in group}) > 1

    def which(self, group: Sequence[Incident]) -> str:
        """The partitions of a group, with their cluster if the evidence has several."""
        if not self.clusters:
            return runs_of_lives(one.lead for one in group)
        return first_names(list(dict.fromkeys(self.name(one.lead) for one in group)), PROBLEMS)

    def at(self, group: Sequence[Incident]) -> str:
        """When it happened in the first of a group, as the end of a title; "" where no line shows it."""
        first = min((one.moment for one in group if one.moment is not None), default=None)
        return f", {clock(first, dated=self.dated)} UTC" if first is not None else ""

    def brief(self, group: Sequence[Incident], margin: str) -> None:
        """Print one incident in a line, with the number of partitions that have the same story."""
        also = f" and {len(group) - 1:,} more" if len(group) > 1 else ""
        self.put(f"{margin}{self.name(group[0].lead)}{also}   ", headline(group[0]), indent=len(margin) + 2)

    def incident(self, group: Sequence[Incident]) -> None:
        """One incident: what, how, why, and what to do."""
        incident = group[0]
        lead = incident.lead
        style = Style.BAD if lead.severity is not Severity.WARNING else Style.DOUBT
        style = Style.DOUBT if lead.confidence is Confidence.SUSPECTED else style
        self.put(f"{self.name(lead)}   ", headline(incident), indent=2, style=style, whole=True)
        self.put("  ", sentence(lead.summary))
        for text in others_texts(incident):
            self.put("  + ", text)
        self.same_elsewhere(group)
        causes = causes_of(incident)
        new = [cause for cause in causes if cause not in self.causes_of]
        self.said("Cause", [self.cause(cause, incident) for cause in causes])
        self.advice(group)
        self.story(group, PROOF if new == causes else 1)
        self.said("Inferred", why_inferred(incident))
        for label, texts in open_texts(incident):
            self.said(label, texts)
        self.said("About it", map(source_of, new))
        self.said("Prevent", (cause.prevention for cause in new))

    def advice(self, group: Sequence[Incident]) -> None:
        """Print what to keep, what to do first and what not to do."""
        advising = advisers(group[0].findings)
        self.said("Keep", kept_texts(advising), Style.BOLD)
        self.steps(steps_of(group, self.first_steps(group[0], each_first(f.next_steps for f in advising))))
        self.said("Do not", each_first(f.do_not for f in advising), Style.BOLD)

    def first_steps(self, incident: Incident, steps: Sequence[Action]) -> Sequence[Action]:
        """Return the steps of an incident, or that they are those of one before, if none is a command."""
        if not steps or any(one.command is not None for one in steps):
            return steps
        first = self.advised_for.setdefault(tuple(steps), incident)
        return steps if first is incident else [Action(f"the same as for {self.name(first.lead)}, see above")]

    def same_elsewhere(self, group: Sequence[Incident]) -> None:
        """Print the other partitions with the same story."""
        rows = alike(group, self.columns - 6)
        if said := same_elsewhere(group):
            self.put("  = ", f"{said}{':' if rows else ''}")
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows[: ROWS_ALIKE + 1]:
            cells = (" " * GAP).join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
            self.put("      ", cells.rstrip(), indent=8)
        if len(rows) > ROWS_ALIKE + 1:
            self.row(f"      ... and {len(rows) - ROWS_ALIKE - 1:,} more: --format json has them all")
        for text in (*only_some(group), *([story_of(self.name(group[0].lead))] if rows else [])):
            self.put("    ", sentence(text))

    def story(self, group: Sequence[Incident], places: int) -> None:
        """Print the steps of the first incident of a group in the order of time, each with what shows it.

        Up to so many ``places`` are cited for each step on which a finding rests, and one for each other step.
        """
        found = story(group[0].findings)
        day, cited = None, set[str]()
        for number, step in enumerate(found.steps, 1):
            time = next((one.fact.time for one in found.steps[number - 1 :] if one.fact.time is not None), None)
            if time is not None and _day(time) != day and not step.on_disk:
                day = _day(time)
                self.row(f"  {_moment(time):%Y-%m-%d}, times in UTC", Style.DIM)
            shown = {self.located(piece): piece for piece in step.evidence}
            shown = dict([*shown.items()][: 1 if step.fact.states is States.CONTEXT else places])
            self.step(number, step, [] if shown and {*shown} <= cited else [*shown.values()])
            cited = {*shown}
        self.said("Note", (*(step.fact.text for step in found.notes), *own_notes(group)))

    def step(self, number: int, step: Step, evidence: Sequence[Evidence]) -> None:
        """One step of the story and what shows it: nothing where that is the same as for the step before."""
        fact = step.fact
        when = clock(fact.time) if fact.time is not None else "on disk" if step.on_disk else ""
        who = f"{step.who}  " if step.who else ""
        self.put(f"  {number:>2}  {when:<8}  {who}", fact.text, indent=16, style=Style.BOLD)
        for piece in evidence:
            self.piece(16, piece, _values(step.finding), f"{step.finding.topic}-{step.finding.partition}")

    def located(self, piece: Evidence) -> str:
        """Return a place in the evidence."""
        where = f":{piece.line}" if piece.line is not None else f" byte {piece.byte or 0}"
        return f"{self.place(piece.path)}{where}"

    def piece(self, indent: int, piece: Evidence, values: Sequence[int], name: str = "") -> None:
        """Print a place in the evidence and what is there: in the same line if all of it fits."""
        place, quote = self.located(piece), piece.text
        stamp = _STAMP.match(quote)
        if stamp is not None and indent + len(place) + 2 + len(stamp[1]) <= self.columns:
            place, quote = f"{place}  {stamp[1]}", quote[stamp.end() :]
        room, own = self.columns - indent - len(place) - 2, self.columns - indent - 2
        beside = without_asides(quote, room)
        if len(beside) <= room:
            self.cite(indent, place, piece.path, beside)
            return
        self.cite(indent, place, piece.path, "")
        for row in elided(quote, values, own, name, ROWS if own >= NARROW else ROWS + 1):
            self.row(f"{' ' * (indent + 2)}{row}")

    def cause(self, cause: Cause, incident: Incident) -> str:
        """Return a cause, and the first partition with it if that is another one."""
        name = self.name(incident.lead)
        first = self.causes_of.setdefault(cause, name)
        return cause.text if first == name else f"the same as for {first}, see above"

    def said(self, label: str, texts: Iterable[str], style: Style = Style.NONE) -> None:
        """Labelled sentences, each once."""
        shown = label
        for text in dict.fromkeys(texts):
            if text:
                self.put(f"  {shown:<{LABEL}}", text, style=style)
                shown = ""

    def steps(self, steps: Iterable[Action]) -> None:
        """Print the next steps; a command has one line of its own, however long, so that it can be pasted."""
        label = "Do first"
        for step in dict.fromkeys(steps):
            self.said(label, [step.text], Style.BOLD)
            if step.command is not None:
                self.row(" " * (LABEL + 2) + step.command)
            label = "then"

    # -- what single lines say --------------------------------------------------------------------------------------

    def problems(self) -> None:
        """Print known problems in lines: the worst in full if there is no incident, routine ones briefly."""
        groups = remarks.by_problem(self.result.problems)
        if not groups:
            return
        self.row("What the lines say:", Style.BOLD)
        told = any(finding.severity is not Severity.INFO for finding in self.result.findings)
        for group in groups:
            if group[0].known.routine:
                self.routine(group)
            else:
                self.problem(group, brief=told)
                told = True
        self.blank()

    def problem(self, group: Sequence[Problem], *, brief: bool) -> None:
        """One known problem: what lines state, what it means, what to fetch next; of a brief one the first of each."""
        first = group[0]
        known = first.known
        places = list(dict.fromkeys(one.name for one in group if one.name is not None))
        named = f": {first_names(places, PROBLEMS)}" if len(places) > 1 else ""
        self.put(f"  {known.severity.value:<8}  ", f"{known.title}{_repeated(group)}{named}", indent=12)
        shown = remarks.shown_of(group, 1 if brief else PLACES)
        for one in shown:
            self.put(" " * 12, f"{one.states}{_lines_of(one)}")
            for piece in one.evidence[:1]:
                self.piece(14, piece, ())
        if len(group) > len(shown):
            self.row(f"{'':12}... and {len(group) - len(shown):,} more: --format json has them all")
        answered = outcomes(self.result, group)
        still = f" {sentence(known.records.meaning)}" if len(answered) < len(group) else ""
        self.said("Means", [f"{first.means}{still}"])
        self.said("Here", dict.fromkeys(answered))
        if not brief:
            self.said("Known as", ["; ".join(known.issues)])
        if len(answered) == len(group):
            return
        most = 1 if brief and known.severity is not Severity.ERROR else None
        self.said("Do first", remarks.first_steps(group)[:most])
        if others := remarks.repeated(group):
            self.said("then", [repeat_text(others)])
        self.said("Do not", first.do_not)

    def routine(self, group: Sequence[Problem]) -> None:
        """One known problem that is routine."""
        known = group[0].known
        places = first_names(list(dict.fromkeys(one.name for one in group if one.name is not None)), 3)
        told = group[0].states if len(group) == 1 else f"{known.title}{_repeated(group)}{places and f': {places}'}"
        issues = f" ({'; '.join(known.issues)})" if known.issues else ""
        self.put("  routine   ", f"{told}. {group[0].means}{issues}")
        for step in group[0].fetch:
            if step != NOTHING_TO_DO:
                self.said("Do first", [step])

    def information(self) -> None:
        """Print information, a line each; missing evidence is printed further down."""
        quiet = [f for f in self.result.findings if f.severity is Severity.INFO and f.rule != GAPS]
        for finding in quiet[:BRIEF]:
            self.put(f"{self.name(finding)}   info: ", f"{finding.summary}{times(finding)}", indent=2)
        if len(quiet) > BRIEF:
            self.row(f"... and {len(quiet) - BRIEF:,} more: --format json has them all")
        self.blank()

    # -- what was asked ---------------------------------------------------------------------------------------------

    def verdicts(self) -> None:
        """Print the rules by what they found, those with the same answer in the same partitions together."""
        partitions = self.result.partitions
        if not partitions:
            return
        asked = tally.asked(self.result)
        self.put("", f"{counted(self.result)}, {_count(len(asked), 'rule')} (forensics explain RULE)", indent=2)
        self.violated(asked)
        if self.pasted:
            self.open_rules(len(asked))
        else:
            self.verdict(asked, Verdict.UNKNOWN)
        silent, clean = tally.not_applicable(self.result), tally.without_violation(self.result)
        if clean and not self.pasted:
            others = len(clean) + len(silent) < len(asked)
            self.row(f"  {'no violation':<{VERDICT}}  {_count(len(clean), 'other rule' if others else 'rule')}")
        self.silent(silent)
        self.blank()

    def violated(self, asked: Sequence[Rule]) -> None:
        """Print the rules with findings; a rule whose findings are information is not called violated."""
        loud = [rule for rule in asked if rule.severity is not Severity.INFO]
        self.verdict(loud, Verdict.VIOLATED, mild=False)
        self.verdict(loud, Verdict.VIOLATED, label="warning", mild=True)
        quiet = [rule for rule in asked if rule.severity is Severity.INFO and not (self.pasted and rule.id == GAPS)]
        self.verdict(quiet, Verdict.VIOLATED, label="info")

    def silent(self, rules: Sequence[Rule]) -> None:
        """Print the rules that are not applicable, those with the same reason together."""
        why = {rule.id: tally.why_not_applicable(self.result, rule) for rule in rules}
        for reason in dict.fromkeys(why.values()):
            named = ", ".join(name for name, one in why.items() if one == reason)
            self.put(f"  {'not applicable':<{VERDICT}}  ", f"{named} ({reason})")

    def verdict(
        self, asked: Sequence[Rule], verdict: Verdict, label: str | None = None, *, mild: bool | None = None
    ) -> None:
        """Print the rules with one verdict, those with it in the same partitions in one row.

        Args:
            asked: the rules.
            verdict: the verdict.
            label: the word for it, if it has another one.
            mild: whether the findings are warnings; None for whatever they are.
        """
        every = len(self.result.partitions)
        for rules, places in tally.by_places(self.result, asked, verdict, mild=mild):
            where = f"{label or verdict.value} in {len(places):,} of {every:,}"
            doubts = self.doubts(rules) if verdict is Verdict.UNKNOWN else ""
            said = f"{', '.join(rule.id for rule in rules)} ({self.first_called(places)}{doubts})"
            self.put(f"  {where:<{VERDICT}}  ", said, indent=VERDICT + 4)

    def first_called(self, places: Sequence[Partition]) -> str:
        """Return the names of the first of some partitions, and how many more there are."""
        return first_names([self.called(one) for one in places[:2]], 2, of=len(places))

    def doubts(self, rules: Sequence[Rule]) -> str:
        """Return in which of the partitions with an open verdict a rule suspects something, as the end of a list."""
        found = []
        for rule in rules:
            named = tally.suspected(self.result, rule)
            which = f"{rule.id} " if len(rules) > 1 else ""
            found += [f"; {which}suspected in {self.first_called(named)}"] if named else []
        return "".join(found)

    def open_rules(self, asked: int) -> None:
        """Print how many rules cannot be answered from an excerpt: which ones is nothing to list."""
        if open_ := tally.unanswered(self.result):
            self.row(f"  {len(open_)} of {asked} rules cannot be answered from these lines")

    # -- what there was ---------------------------------------------------------------------------------------------

    def coverage(self) -> None:
        """Print one line per broker and cluster: its files, their time, and what is missing."""
        if said := remarks.after_repair(self.result):
            self.put("", sentence(said), indent=2)
            self.blank()
        self.row("Evidence", Style.BOLD)
        for case in self.result.case.parts:
            self.brokers(case)
        self.blank()

    def brokers(self, case: Case) -> None:
        """Print one line per broker of one cluster."""
        rows = _kinds(case)
        name = case.sources.get_column("cluster")[0] if self.clusters else None
        mine = [one for one in self.result.partitions if not self.clusters or one.history.cluster == name]
        holders = {broker for partition in mine for broker in partition.history.holders}
        idle = tally.without_replica(case, mine)
        known = sorted({broker for broker in rows if broker is not None} | holders)
        for broker in (*known, *([None] if None in rows else [])):
            kinds = rows.get(broker, {})
            lacks = _lacking(kinds) if broker in holders and "trace" not in kinds else []
            called = f"  {_called(case, broker)}{self.of_cluster(name)}  "
            style = Style.DOUBT if lacks else Style.NONE
            files = self.files_of(case, broker, kinds, lacks) + IDLE * (broker in idle)
            self.put(called, files, indent=6, style=style)

    def files_of(
        self, case: Case, broker: int | None, kinds: dict[str, dict[str, object]], lacks: Sequence[str]
    ) -> str:
        """Return the files of a broker in the evidence, and those that it lacks."""
        has = self.logs(kinds) + self.files(kinds)
        text = "; ".join(has + _release(case, broker)) if has else "nothing"
        return f"{text}; MISSING: {', '.join(lacks)}" if lacks else text

    def logs(self, kinds: dict[str, dict[str, object]]) -> list[str]:
        """Text logs with the time they span."""
        there = [kinds[kind] for kind in _LOGS if kind in kinds]
        if not there:
            return []
        names = ", ".join(kind.removesuffix(".log") or "log" for kind in _LOGS if kind in kinds)
        stated = [time for row in there for time in (row["first_time"], row["last_time"])]  # lines may be out of order
        times = [time for time in stated if isinstance(time, datetime)]
        first, last = min(times, default=None), max(times, default=None)
        if first is None or last is None:
            return [f"logs ({names})"]
        begin, end = clock(_micros(first), dated=self.dated), clock(_micros(last), dated=self.dated)
        span = f"at {begin}" if begin == end else f"{begin} to {end}"
        return [f"logs {span} ({names})"]

    def files(self, kinds: dict[str, dict[str, object]]) -> list[str]:
        """Files of the data directory, and settings."""
        parts = []
        if "segment" in kinds:
            count = int(str(kinds["segment"]["files"]))
            parts.append(f"{count:,} segment{'' if count == 1 else 's'}")
        parts += [called for kind, called in _FILES if kind in kinds]
        said = [f"data ({', '.join(parts)})"] if parts else []
        said += [called for kind, called in _TOOLS if kind in kinds]
        return [*said, "settings"] if "server-properties" in kinds else said

    def totals(self) -> None:
        """Print what was read, and how much of it was not understood."""
        case = self.result.case
        sources = case.sources
        covered = period_text(self.result)
        span = f", {covered}" if covered else ""
        count, total = sources.height, int(sources.get_column("bytes").sum())
        below = f" below {self.root.rstrip('/')}" if self.root else ""
        self.put(
            "",
            f"{nodes_text(case.everyone)}, {count:,} file{'' if count == 1 else 's'}{below}, "
            f"{_size(total)}{span}{self._zone_assumed()}",
            indent=2,
        )
        lines, understood = int(sources.get_column("relevant").sum()), int(sources.get_column("understood").sum())
        unknown = sources.filter(pl.col("format") == "unknown").height
        notices = case.notices.height + len(self.result.left_out)
        self.put(
            "",
            f"{understood:,} of {lines:,} log lines about replication understood, {unknown:,} "
            f"file{'' if unknown == 1 else 's'} ignored (type not recognised), {notices:,} "
            f"notice{'' if notices == 1 else 's'}" + (" of damage or of lines not understood:" if notices else ""),
            indent=2,
        )
        for row in case.notices.head(EXAMPLES).iter_rows(named=True):
            at = f" line {row['line']}" if row["line"] is not None else ""
            at = f" byte {row['byte']}" if row["line"] is None and row["byte"] is not None else at
            self.put("  - ", f"{self.place(case.path(row['source']))}{at}: {row['reason']}")
        for said in self.result.left_out:
            self.put("  - ", said)
        if case.notices.height > EXAMPLES:
            self.row(f"  ... and {case.notices.height - EXAMPLES:,} more: --format json counts them by file")

    def zones(self) -> str:
        """Return zones of files with a zone of their own, if it differs from the assumed one."""
        case = self.result.case
        named = case.sources.get_column("zone").drop_nulls().value_counts().sort("zone")
        others = [
            f"{count:,} file{'' if count == 1 else 's'} as {zone}"
            for zone, count in named.iter_rows()
            if zone != case.reading.assumed
        ]
        return f"; {', '.join(others)}, as named there" if others else ""

    def remarks(self) -> None:
        """Print the acks of producers, clocks that differ a lot, and changes by the user's settings."""
        said = remarks.on_the_whole(self.result)
        for text in itertools.chain(*said):
            self.put("", text, indent=2)


def _doubt(finding: Finding) -> int:
    """Return 0 for what is sure, 1 for what is suspected, and 2 for what only warns."""
    if finding.confidence is Confidence.SUSPECTED:
        return 1
    return 2 if finding.severity is Severity.WARNING else 0


def _values(finding: Finding) -> tuple[int, ...]:
    """Return the numbers that matter in a quoted line: offsets first, then leader epochs."""
    ends = [value for first, end in finding.offsets for value in (first, end, end - 1)]
    return tuple(dict.fromkeys((*ends, *finding.before.values(), *finding.after.values(), *finding.epochs)))


def _kinds(case: Case) -> dict[int | None, dict[str, dict[str, object]]]:
    """Return the kinds of files in the evidence by broker."""
    rows: dict[int | None, dict[str, dict[str, object]]] = {}
    for row in coverage(case).iter_rows(named=True):
        if row["kind"] in _SHOWN:
            rows.setdefault(row["broker"], {})[row["kind"]] = row
    return rows


def _called(case: Case, broker: int | None) -> str:
    """Return the name of a broker in the list of the evidence."""
    if broker is None:
        return "broker unknown"
    return next((node_name(one) for one in case.by_id.get(broker, ())), f"broker {broker}")


def _release(case: Case, broker: int | None) -> list[str]:
    """That a broker's release is not known: then no behaviour of a release is assumed of it. Or another system.

    Nothing of a broker that only traces describe: they need not name a release.
    """
    unknown = [one for one in case.by_id.get(broker, ()) if one.release is None] if broker is not None else []
    unknown = [one for one in unknown if one.of_other_system or case.origin is not Origin.TRACE]
    return [f"of {one.system}" if one.of_other_system else "release unknown" for one in unknown][:1]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _repeated(group: Sequence[Problem]) -> str:
    lines = sum(one.count for one in group)
    places = f" at {len(group):,} places" if len(group) > 1 else ""
    return f" ({lines:,} lines{places})" if lines > 1 else ""


def _lines_of(one: Problem) -> str:
    return f" ({one.count:,} lines)" if one.count > 1 else ""


def _lacking(kinds: dict[str, dict[str, object]]) -> list[str]:
    """Return files that a broker with replicas should have left; a log of another name may hold all that Kafka logs."""
    lacks = []
    if not any(kind in kinds for kind in _LOGS):
        lacks.append("logs")
    elif "log" not in kinds:
        lacks += [kind for kind in ("server.log", "state-change.log") if kind not in kinds]
    if "segment" not in kinds:
        lacks.append("segments")
    if "offset-checkpoint" not in kinds:
        lacks.append("checkpoints")
    return lacks


def _skews(skew: dict[int, int]) -> str:
    return "".join(f", broker {broker} shifted by {shift / 1e6:+g} s" for broker, shift in sorted(skew.items()))


def _size(count: int) -> str:
    """A number of bytes.

    >>> _size(900), _size(12_345), _size(2_345_678)
    ('900 bytes', '12 kB', '2.3 MB')
    """
    if count < 1_000:
        return f"{count:,} bytes"
    return f"{count / 1e3:,.0f} kB" if count < 100_000 else f"{count / 1e6:,.1f} MB"


def _micros(time: datetime) -> int:
    return round(time.timestamp() * 1e6)


def _dated(result: Result) -> bool:
    """Return whether times need their day: the evidence spans more than one."""
    times = [_micros(time) for time in period(result.case.sources) or ()]
    times += [fact.time for finding in result.findings for fact in finding.facts if fact.time is not None]
    return bool(times) and _day(min(times)) != _day(max(times))


def _moment(time: int) -> datetime:
    return datetime.fromtimestamp(time / 1e6, UTC)


def _day(time: int) -> int:
    return time // (24 * 3600 * 1_000_000)


def clock(time: int, *, dated: bool = False) -> str:
    """Time of day of microseconds since 1970 UTC.

    >>> clock(1_795_233_947_948_000), clock(1_795_233_947_948_000, dated=True)
    ('04:05:47', '11-21 04:05:47')
    """
    return datetime.fromtimestamp(time / 1e6, UTC).strftime("%m-%d %H:%M:%S" if dated else "%H:%M:%S")
