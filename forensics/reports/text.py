"""The summary for the terminal: worst first, each incident reported once, the evidence beside each statement.

What an operator needs at four in the morning comes first: which partition, which offsets, what to keep, what not to do.
Then come the unanswered questions and the evidence that would answer them, then the coverage of the evidence.
"""

from __future__ import annotations

import itertools
import re
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from forensics.case.coverage import coverage
from forensics.case.partial import excerpts_alone
from forensics.replay.confidence import Confidence
from forensics.replay.lineage import size
from forensics.reports.advice import advisers, copies, each_first
from forensics.reports.remarks import acknowledged, apart, by_problem, changed, headline_of, one_folder
from forensics.result import Partition, Result
from forensics.rules import RULES
from forensics.rules.causes import BY_ID, CauseId
from forensics.rules.committed_data_lost import ID as LOSS
from forensics.rules.evidence_gap import ID as GAPS
from forensics.rules.finding import (
    Action,
    Evidence,
    Fact,
    Finding,
    Rule,
    Severity,
    Verdict,
    count_text,
    records_text,
    span_text,
)
from forensics.rules.routine_lines import NOTHING_TO_DO
from forensics.rules.stated_problems import Problem
from forensics.rules.wants import Want
from forensics.rules.wording import names_partition, want_text

FULL = 12  # incidents that are reported in full
BRIEF = 30  # that are named after these
WISHES = 10  # of what would settle what is unknown; of more than these, the first
FIRST_WISHES = 4
NEXT = 3  # things to fetch after an excerpt
EXAMPLES = 5  # of what was not understood
RANGES = 3  # of offsets in a headline
QUOTED = 2  # lines of one quote
PLACES = 2  # of one known problem
PROOF = 2  # places cited for one fact

_TITLES = {rule.id: rule.title for rule in RULES}
_LOGS = ("server.log", "state-change.log", "controller.log", "kafka-request.log", "log-cleaner.log", "log", "excerpt")
_FILES = (
    ("metadata-log", "metadata log"),
    ("offset-checkpoint", "checkpoints"),
    ("epoch-checkpoint", "leader epochs"),
    ("meta-properties", "ids"),
)
_TOOLS = (
    ("dump-log", "output of kafka-dump-log"),
    ("log-dirs", "output of kafka-log-dirs"),
    ("topics-describe", "output of kafka-topics"),
    ("zookeeper-nodes", "nodes of ZooKeeper"),
    ("quorum-describe", "output of kafka-metadata-quorum"),
    ("trace", "a trace"),
)
_SHOWN = frozenset({*_LOGS, *(kind for kind, _ in (*_FILES, *_TOOLS)), "segment", "server-properties"})
_STAMP = re.compile(r"^\[?\d{4}-\d\d-\d\d[ T][\d:,.]+(?:Z|[+-]\d\d:?\d\d)?\]?\s+")  # the fact beside it has the time
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def render(result: Result, *, width: int | None = None) -> str:
    """Return the whole summary, ending with a line end.

    Args:
        result: result of a scan.
        width: columns; default: those of the terminal.
    """
    page = _Page(result, max(width or shutil.get_terminal_size((110, 40)).columns, 60))
    page.incidents()
    page.problems()
    page.information()
    page.verdicts()
    page.wishes()
    page.coverage()
    page.totals()
    page.remarks()
    return "".join(f"{plain(line).rstrip()}\n" for line in page.lines)


def plain(text: str) -> str:
    r"""Text that cannot steer a terminal: evidence is written by others.

    >>> plain("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


@dataclass(slots=True)
class Incident:
    """Findings of one partition about one incident, the worst first."""

    lead: Finding
    others: list[Finding] = field(default_factory=list)

    @property
    def findings(self) -> list[Finding]:
        """All of them."""
        return [self.lead, *self.others]

    def covers(self, finding: Finding) -> bool:
        """Return whether a finding is about the same incident: common offsets, or a common epoch if it names no
        offsets.
        """
        lead = self.lead
        # Each loss is an incident of its own: a reader of the first must not think that it is all.
        if _life(finding) != _life(lead) or finding.rule == lead.rule == LOSS:
            return False
        if (finding.confidence is Confidence.SUSPECTED) != (lead.confidence is Confidence.SUSPECTED):
            return False  # a suspected finding is not listed under a proven one
        if finding.offsets and lead.offsets:
            return any(a < d and c < b for a, b in finding.offsets for c, d in lead.offsets)
        return bool(set(finding.epochs) & set(lead.epochs))

    def nearness(self, finding: Finding) -> tuple[bool, int]:
        """How much a finding has in common with what leads: where two losses overlap it goes to its own."""
        return finding.offsets == self.lead.offsets, len(set(finding.epochs) & set(self.lead.epochs))


def incidents(findings: Iterable[Finding]) -> list[Incident]:
    """Findings put together to incidents, in the order of the worst of each."""
    ranks = {rule.id: number for number, rule in enumerate(RULES)}
    found: list[Incident] = []
    by_life: dict[tuple[object, ...], list[Incident]] = {}
    for finding in sorted(findings, key=lambda f: (f.severity.rank, ranks[f.rule])):
        near = by_life.setdefault(_life(finding), [])
        covering = [incident for incident in near if incident.covers(finding)]
        home = max(covering, key=lambda incident: incident.nearness(finding), default=None)
        if home is None:
            home = Incident(finding)
            near.append(home)
            found.append(home)
        else:
            home.others.append(finding)
    return found


def _life(finding: Finding) -> tuple[object, ...]:
    return (finding.cluster, finding.topic, finding.topic_id, finding.partition, finding.incarnation)


class _Page:
    """The lines of a summary as they are added."""

    def __init__(self, result: Result, columns: int) -> None:
        self.result = result
        self.columns = columns
        self.lines: list[str] = []
        self.pasted = excerpts_alone(result.case)
        # If everything is below one folder, its name is printed once, at the end.
        one = len(result.inputs) == 1
        self.root = result.inputs[0].rstrip("/") + "/" if one and Path(result.inputs[0]).is_dir() else ""
        self.dated = _dated(result)

    def put(self, first: str, text: str, *, indent: int | None = None) -> None:
        """Add text, wrapped, its further lines indented to where it began."""
        self.lines += textwrap.wrap(
            text,
            width=self.columns,
            initial_indent=first,
            subsequent_indent=" " * (len(first) if indent is None else indent),
            break_long_words=False,
            break_on_hyphens=False,
        )

    def place(self, path: str) -> str:
        """A path without what all paths begin with."""
        return path.removeprefix(self.root)

    # -- what happened ----------------------------------------------------------------------------------------------

    def incidents(self) -> None:
        """Print the incidents, worst first; or that there are none."""
        found = incidents(f for f in self.result.findings if f.severity is not Severity.INFO)
        if not found:
            self.put("", headline_of(self.result) or _nothing(self.result), indent=0)
            self.lines.append("")
        if len(found) > 1:
            self.put("", _counted(found), indent=0)
            self.lines.append("")
        for incident in found[:FULL]:
            self.incident(incident)
            self.lines.append("")
        rest = found[FULL:]
        for incident in rest[:BRIEF]:
            self.put(f"{name_of(incident.lead)}   ", _headline(incident), indent=2)
        if len(rest) > BRIEF:
            self.lines.append(f"... and {len(rest) - BRIEF:,} more: --format json has them all")
        if rest:
            self.lines.append("")

    def incident(self, incident: Incident) -> None:
        """One incident: what, how, why, and what to do."""
        lead = incident.lead
        self.put(f"{name_of(lead)}   ", _headline(incident), indent=2)
        self.put("  ", lead.summary)
        for other in incident.others:
            doubt = "" if other.confidence is lead.confidence else f" ({other.confidence.value})"
            self.put("  + ", f"{other.summary}{_times(other)}{doubt}")
        told: set[tuple[object, ...]] = set()
        cited: set[Evidence] = set()
        for finding in incident.findings:
            places = dict(zip(finding.refs, finding.evidence, strict=False))
            for fact in finding.facts:
                key = (fact.text, fact.broker, fact.time)
                evidence = [places[ref] for ref in fact.refs if ref in places]
                # This evidence was shown with another fact of the same broker: it adds nothing.
                if key not in told and not (finding is not lead and evidence and cited.issuperset(evidence)):
                    self.fact(fact, evidence)
                told.add(key)
                cited.update(evidence)
        self.said("inferred", (text for f in incident.findings for text in f.inferences))
        self.said("open", (text for f in incident.findings for text in f.uncertain))
        self.causes(incident)
        told_by = advisers(incident.findings)
        kept = copies(told_by)
        self.said("keep", (f"{span_text(at)}: {text}" if len(kept) > 1 else text for text, at in kept))
        self.steps(each_first(f.next_steps for f in told_by))
        self.said("never", each_first(f.do_not for f in told_by))

    def fact(self, fact: Fact, evidence: Sequence[Evidence]) -> None:
        """One step of the story and what proves it."""
        when = f"{self.clock(fact.time)}  " if fact.time is not None else " " * (16 if self.dated else 10)
        who = f"broker {fact.broker}  " if fact.broker is not None else ""
        self.put(f"  {when}{who}", fact.text)
        for piece in evidence[:PROOF]:
            where = f":{piece.line}" if piece.line is not None else f" byte {piece.byte or 0:,}"
            place = f"      {self.place(piece.path)}{where}  "
            quote = _STAMP.sub("", piece.text)
            if len(place) + len(quote) <= self.columns:
                self.lines.append(place + quote)
                continue
            self.lines.append(place.rstrip())
            self.lines += textwrap.wrap(
                quote,
                width=self.columns,
                initial_indent=" " * 8,
                subsequent_indent=" " * 8,
                max_lines=QUOTED,
                placeholder=" ...",
            )

    def causes(self, incident: Incident) -> None:
        """Each cause once."""
        named = [BY_ID[f.cause] for f in incident.findings if f.cause is not None]
        known = [cause for cause in named if cause.id is not CauseId.UNKNOWN] or named[:1]
        for cause in dict.fromkeys(known):
            source = f" ({cause.reference})" if cause.reference else ""
            versions = f". Versions: {cause.versions}" if cause.versions else ""
            self.said("cause", [f"{cause.text}{source}{versions}"])
            if cause.prevention:
                self.said("prevent", [cause.prevention])

    def said(self, label: str, texts: Iterable[str]) -> None:
        """Labelled sentences, each once."""
        for text in dict.fromkeys(texts):
            if text:
                self.put(f"  {label:<8}  ", text)

    def steps(self, steps: Iterable[Action]) -> None:
        """Print the next steps; a command has one line of its own, however long, so that it can be pasted."""
        for step in dict.fromkeys(steps):
            self.said("next", [step.text])
            if step.command is not None:
                self.lines.append(" " * 12 + step.command)

    def clock(self, time: int) -> str:
        """Time of day, with the day where the evidence spans more than one."""
        return clock(time, dated=self.dated)

    # -- what single lines say --------------------------------------------------------------------------------------

    def problems(self) -> None:
        """Print known problems in lines: the worst in full if there is no incident, routine ones briefly."""
        groups = by_problem(self.result.problems)
        if not groups:
            return
        self.lines.append("What the lines say:")
        told = any(finding.severity is not Severity.INFO for finding in self.result.findings)
        for group in groups:
            if group[0].known.routine:
                self.routine(group)
            else:
                self.problem(group, brief=told)
                told = True
        self.lines.append("")

    def problem(self, group: Sequence[Problem], *, brief: bool) -> None:
        """One known problem: what lines state, what it means, what to fetch next; of a brief one the first of each."""
        first = group[0]
        known = first.known
        self.put(f"  {known.severity.value:<8}  ", f"{known.title}{_repeated(group)}", indent=12)
        shown = group[: 1 if brief else PLACES]
        for one in shown:
            self.put(" " * 12, f"{one.states}{_lines_of(one)}")
            for piece in one.evidence[:1]:
                self.quote(piece, " " * 14, brief=brief)
        if len(group) > len(shown):
            self.lines.append(f"{'':12}... and {len(group) - len(shown):,} more: --format json has them all")
        self.said("means", [f"{first.means} Records: {known.records.value}."])
        if not brief:
            self.said("known as", ["; ".join(known.issues)])
        for step in first.fetch[: 1 if brief else None]:
            self.said("next", [step])

    def routine(self, group: Sequence[Problem]) -> None:
        """One known problem that is routine."""
        known = group[0].known
        places = _names(list(dict.fromkeys(one.name for one in group if one.name is not None)), 3)
        told = group[0].states if len(group) == 1 else f"{known.title}{_repeated(group)}{places and f': {places}'}"
        issues = f" ({'; '.join(known.issues)})" if known.issues else ""
        self.put("  routine   ", f"{told}. {group[0].means}{issues}")
        for step in group[0].fetch:
            if step != NOTHING_TO_DO:
                self.said("next", [step])

    def quote(self, piece: Evidence, indent: str, *, brief: bool) -> None:
        """Print the place of a line, and its text if there is room."""
        self.lines.append(f"{indent}{self.place(piece.path)}{f':{piece.line}' if piece.line is not None else ''}")
        self.lines += textwrap.wrap(
            _STAMP.sub("", piece.text),
            width=self.columns,
            initial_indent=f"{indent}  ",
            subsequent_indent=f"{indent}  ",
            max_lines=1 if brief else QUOTED,
            placeholder=" ...",
        )

    def information(self) -> None:
        """Print information, a line each; missing evidence is printed further down."""
        quiet = [f for f in self.result.findings if f.severity is Severity.INFO and f.rule != "evidence-gap"]
        for finding in quiet[:BRIEF]:
            self.put(f"{name_of(finding)}   info: ", f"{finding.summary}{_times(finding)}", indent=2)
        if len(quiet) > BRIEF:
            self.lines.append(f"... and {len(quiet) - BRIEF:,} more: --format json has them all")
        if quiet:
            self.lines.append("")

    # -- what was asked ---------------------------------------------------------------------------------------------

    def verdicts(self) -> None:
        """Rules that did not come out clean everywhere, and how many did."""
        partitions = self.result.partitions
        if not partitions:
            return
        asked = [rule for rule in RULES if rule.id not in self.result.changes.disabled]
        total = f"{len(partitions):,} partition{'' if len(partitions) == 1 else 's'}, {len(asked)} rules"
        rows = []
        for rule in asked:
            by = {verdict: [p for p in partitions if p.judgements[rule.id].verdict is verdict] for verdict in Verdict}
            if not (by[Verdict.VIOLATED] or by[Verdict.UNKNOWN]) or (self.pasted and _says_little(rule, by)):
                continue
            counts = "".join(
                f"{len(by[verdict]) or '.':>10}" for verdict in (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.CLEAN)
            )
            names = _names([_called(p) for p in by[Verdict.VIOLATED] or by[Verdict.UNKNOWN]], 2)
            rows.append(f"  {rule.id:27}{counts}   {names}")
        about_files = [rule.id for rule in asked if _not_applicable(partitions, rule.id)]
        if rows:
            self.lines += [f"{total:29}{'violated':>10}{'unknown':>10}{'clean':>10}", *rows]
        if self.pasted:
            self.open_rules(len(asked))
        else:
            clean = len(asked) - len(rows) - len(about_files)
            self.lines += _clean_everywhere(total, clean, listed=bool(rows), all_asked=not about_files)
        if about_files:
            self.put("  not applicable: ", f"{', '.join(about_files)} (a trace holds no bytes and no files)", indent=4)
        self.lines.append("")

    def open_rules(self, asked: int) -> None:
        """Print how many rules cannot be answered from an excerpt: which ones is nothing to list."""
        open_ = {rule for one in self.result.partitions for rule in one.verdicts(Verdict.UNKNOWN)}
        if open_:
            self.lines.append(f"{len(open_)} of {asked} rules cannot be answered from these lines")

    def wishes(self) -> None:
        """Print what would settle what is unknown, most useful first.

        What several partitions need is printed once. For an excerpt these are the few things to fetch next, unless
        they were printed above.
        """
        wanted: dict[Want, dict[str, None]] = {}
        for partition in self.result.partitions:
            if partition.history.incarnation:
                continue  # an earlier incarnation of a topic: its files are legitimately gone
            for judgement in partition.judgements.values():
                if judgement.verdict is Verdict.UNKNOWN:
                    for want in judgement.missing:
                        wanted.setdefault(want, {})[partition.history.name] = None
        if not wanted or (self.pasted and self.advised()):
            return
        self.lines.append("to fetch next:" if self.pasted else "would settle what is unknown:")
        # Kafka's own topics come last.
        order = sorted(
            wanted.items(),
            key=lambda pair: (
                all(n.startswith("__") for n in pair[1]),
                -len(pair[1]),
                () if self.pasted else pair[0].order,  # else in the order of the rules: what may be lost comes first
            ),
        )
        shown = len(order) if len(order) <= WISHES else FIRST_WISHES
        shown = min(shown, NEXT) if self.pasted else shown
        for want, uses in order[:shown]:
            names = list(uses)
            if len(names) > 1:
                text = want_text(want, f"{len(names):,} partitions", "it")
            else:
                text = want_text(want, names[0])
            told = len(names) == 1 and names_partition(want)
            self.put("  - ", text if told else f"{text} ({_names(names, 4)})")
        if len(order) > shown:
            self.lines.append(f"  ... and {len(order) - shown:,} more: --format json has them all")
        self.lines.append("")

    def advised(self) -> bool:
        """Return whether a finding or a known problem has named what to fetch next."""
        told = any(finding.severity is not Severity.INFO and finding.next_steps for finding in self.result.findings)
        return told or any(not one.known.routine and one.fetch for one in self.result.problems)

    # -- what there was ---------------------------------------------------------------------------------------------

    def coverage(self) -> None:
        """Print one line per broker: its files, their time, and what is missing."""
        rows: dict[int | None, dict[str, dict[str, object]]] = {}
        for row in coverage(self.result.case).iter_rows(named=True):
            if row["kind"] in _SHOWN:
                rows.setdefault(row["broker"], {})[row["kind"]] = row
        holders = {broker for partition in self.result.partitions for broker in _holders(partition)}
        known = sorted({broker for broker in rows if broker is not None} | holders)
        for broker in (*known, *([None] if None in rows else [])):
            kinds = rows.get(broker, {})
            has = self.logs(kinds) + self.files(kinds)
            lacks = _lacking(kinds) if broker in holders and "trace" not in kinds else []
            text = "; ".join(has + self.release(broker)) if has else "nothing"
            text += f"; MISSING: {', '.join(lacks)}" if lacks else ""
            self.put(f"broker {broker}  " if broker is not None else "of no known broker  ", text, indent=4)
        self.lines.append("")

    def release(self, broker: int | None) -> list[str]:
        """That a broker's release is not known: then no behaviour of a release is assumed of it."""
        return ["release unknown" for one in self.result.case.everyone if one.id == broker and one.release is None][:1]

    def logs(self, kinds: dict[str, dict[str, object]]) -> list[str]:
        """Text logs with the time they span."""
        there = [kinds[kind] for kind in _LOGS if kind in kinds]
        if not there:
            return []
        names = ", ".join(kind.removesuffix(".log") or "log" for kind in _LOGS if kind in kinds)
        first = min((t for row in there if isinstance(t := row["first_time"], datetime)), default=None)
        last = max((t for row in there if isinstance(t := row["last_time"], datetime)), default=None)
        span = (
            f" {self.clock(_micros(first))}–{self.clock(_micros(last))}"
            if first is not None and last is not None
            else ""
        )
        return [f"logs{span} ({names})"]

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
        first, last = sources.get_column("first_time").min(), sources.get_column("last_time").max()
        span = ""
        if isinstance(first, datetime) and isinstance(last, datetime):
            same = first.date() == last.date()
            span = f", {first:%Y-%m-%d %H:%M:%S} to {f'{last:%H:%M:%S}' if same else f'{last:%Y-%m-%d %H:%M:%S}'} UTC"
        count, total = sources.height, int(sources.get_column("bytes").sum())
        brokers = len(case.everyone)
        below = f" below {self.root.rstrip('/')}" if self.root else ""
        self.put(
            "",
            f"{brokers:,} broker{'' if brokers == 1 else 's'}, {count:,} file{'' if count == 1 else 's'}{below}, "
            f"{total / 1e6:,.1f} MB{span} "
            f"(printed times read as {case.reading.assumed}{self.zones()}{_skews(case.reading.skew)})",
            indent=2,
        )
        lines, understood = int(sources.get_column("relevant").sum()), int(sources.get_column("understood").sum())
        unknown = sources.filter(pl.col("format") == "unknown").height
        notices = case.notices.height
        self.put(
            "",
            f"{understood:,} of {lines:,} log lines about replication understood, {unknown:,} "
            f"file{'' if unknown == 1 else 's'} of other kinds, {notices:,} notice{'' if notices == 1 else 's'}"
            + (" of what is damaged or not understood:" if notices else ""),
            indent=2,
        )
        for row in case.notices.head(EXAMPLES).iter_rows(named=True):
            at = f" line {row['line']}" if row["line"] is not None else ""
            at = f" byte {row['byte']:,}" if row["line"] is None and row["byte"] is not None else at
            self.put("  - ", f"{self.place(case.path(row['source']))}{at}: {row['reason']}")
        if notices > EXAMPLES:
            self.lines.append(f"  ... and {notices - EXAMPLES:,} more: --format json counts them by file")

    def zones(self) -> str:
        """Return zones of files with a zone of their own, if it differs from the assumed one."""
        case = self.result.case
        told = case.sources.get_column("zone").drop_nulls().value_counts().sort("zone")
        others = [
            f"{count:,} file{'' if count == 1 else 's'} as {zone}"
            for zone, count in told.iter_rows()
            if zone != case.reading.assumed
        ]
        return f"; {', '.join(others)}, as told there" if others else ""

    def remarks(self) -> None:
        """Print the acks of producers, clocks that differ a lot, and changes by the user's settings."""
        said = (one_folder(self.result), acknowledged(self.result), apart(self.result), changed(self.result))
        for text in itertools.chain(*said):
            self.put("", text, indent=2)


def name_of(finding: Finding) -> str:
    """Return the partition, and which incarnation of its topic it was."""
    return f"{finding.topic}-{finding.partition}{_earlier(finding.incarnation)}"


def _called(partition: Partition) -> str:
    return f"{partition.history.name}{_earlier(partition.history.incarnation)}"


def _earlier(incarnation: int) -> str:
    if not incarnation:
        return ""
    which = "an earlier topic" if incarnation == 1 else f"an earlier topic, {incarnation} before the present one,"
    return f" ({which} of this name)"


def _headline(incident: Incident) -> str:
    lead = incident.lead
    titles = list(dict.fromkeys(_TITLES[finding.rule] for finding in incident.findings))
    offsets = ""
    if lead.offsets:
        number = size(lead.offsets)
        counted = count_text(lead.offsets)
        if lead.records is not None:
            least, most = lead.records
            counted = records_text(least, most if most is not None else least)
            if most is None:
                counted = f"at least {counted if least < number else count_text(lead.offsets)}"
        rest = f" and {len(lead.offsets) - RANGES:,} more ranges" if len(lead.offsets) > RANGES else ""
        offsets = f"   offsets {span_text(lead.offsets[:RANGES])}{rest}, {counted}"
    doubt = "SUSPECTED: " if lead.confidence is Confidence.SUSPECTED else ""
    return f"{doubt}{', '.join(titles[:2])}{offsets}{_times(lead)}   {lead.severity.value}, {lead.confidence.value}"


def _times(finding: Finding) -> str:
    return f", {finding.count:,} times" if finding.count > 1 else ""


def _counted(found: Sequence[Incident]) -> str:
    """How many of each severity, in how many partitions."""
    counts = {severity: sum(i.lead.severity is severity for i in found) for severity in Severity}
    places = len({_life(incident.lead) for incident in found})
    said = ", ".join(f"{count:,} {severity.value}" for severity, count in counts.items() if count)
    return f"{said} in {places:,} partition{'' if places == 1 else 's'}, worst first:"


def _repeated(group: Sequence[Problem]) -> str:
    lines = sum(one.count for one in group)
    places = f" at {len(group):,} places" if len(group) > 1 else ""
    return f" ({lines:,} lines{places})" if lines > 1 else ""


def _lines_of(one: Problem) -> str:
    return f" ({one.count:,} lines)" if one.count > 1 else ""


def _clean_everywhere(total: str, clean: int, *, listed: bool, all_asked: bool) -> list[str]:
    """Return how many rules came out clean in every partition, after the table of the others or in its place."""
    if listed:
        return [f"  {clean} other rules: clean everywhere"] if clean else []
    return [f"{total}: {'clean' if all_asked else f'{clean} clean'} everywhere" if clean else total]


def _not_applicable(partitions: Sequence[Partition], rule_id: str) -> bool:
    return all(p.judgements[rule_id].verdict is Verdict.NOT_APPLICABLE for p in partitions)


def _nothing(result: Result) -> str:
    if not result.partitions and result.case.unattributed:
        return "no partition was judged: nothing tells which broker printed these lines"
    if not result.partitions:
        return "no partition was judged: no file speaks of one, or --topic and --skip-topic leave none"
    asked = [judged for p in result.partitions if not p.history.incarnation for judged in p.judgements.values()]
    news = "new " if result.known else ""
    if any(judged.verdict is Verdict.UNKNOWN for judged in asked):
        return f"nothing {news}found, but not every question could be answered: see unknown below"
    if news:
        return "nothing new found: what is known is counted below"
    if result.changes.disabled:
        return "nothing found by the rules that were asked"
    if any(judged.verdict is Verdict.VIOLATED and judged.rule in result.changes.severities for judged in asked):
        return "nothing found that is more than good to know, by the severities you set"
    return "nothing found: no committed data lost, cut or forked"


def _names(names: Sequence[str], most: int) -> str:
    rest = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def _says_little(rule: Rule, by: Mapping[Verdict, Sequence[Partition]]) -> bool:
    """Return whether a row about a rule says only that lines are missing, which is so for each excerpt."""
    return rule.id == GAPS or not by[Verdict.VIOLATED]


def _holders(partition: Partition) -> set[int]:
    """Brokers that led the partition or were in its ISR."""
    epochs = partition.history.epochs.values()
    leaders = {epoch.leader for epoch in epochs if epoch.leader is not None and epoch.leader >= 0}
    return leaders.union(*(isr for epoch in epochs for isr, _ in epoch.isr))


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


def _micros(time: datetime) -> int:
    return round(time.timestamp() * 1e6)


def _dated(result: Result) -> bool:
    """Return whether times need their day: the evidence spans more than one."""
    sources = result.case.sources
    times = [_micros(t) for name in ("first_time", "last_time") for t in sources.get_column(name).drop_nulls()]
    times += [fact.time for finding in result.findings for fact in finding.facts if fact.time is not None]
    return bool(times) and _day(min(times)) != _day(max(times))


def _day(time: int) -> int:
    return time // (24 * 3600 * 1_000_000)


def clock(time: int, *, dated: bool = False) -> str:
    """Time of day of microseconds since 1970 UTC.

    >>> clock(1_795_233_947_948_000), clock(1_795_233_947_948_000, dated=True)
    ('04:05:47', '11-21 04:05:47')
    """
    return datetime.fromtimestamp(time / 1e6, UTC).strftime("%m-%d %H:%M:%S" if dated else "%H:%M:%S")
