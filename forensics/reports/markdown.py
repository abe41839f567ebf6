"""A summary in Markdown for a ticket: the answer, the steps, what to keep, do first and not do, what to collect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from forensics.outputs import plain
from forensics.repaired.conditions import Met
from forensics.repaired.since import Point
from forensics.reports import repair
from forensics.reports.advice import advisers, each_first, kept_texts
from forensics.reports.answer import Tone, answers, caution
from forensics.reports.collecting import COLLECT, SAVED, Wanted, answered, commands, saved, still, wanted, where
from forensics.reports.groups import alike, only_some, own_notes, same_elsewhere, steps_of, story_of
from forensics.reports.incidents import Incident, Step, incidents, nearly, story
from forensics.reports.places import below
from forensics.reports.recovered import outcomes
from forensics.reports.remarks import after_repair, by_problem, first_steps, restarted, shown_of
from forensics.reports.titles import (
    causes_of,
    name_of,
    nodes_text,
    of_cluster,
    open_texts,
    others_texts,
    source_of,
    times,
    title_of,
    why_inferred,
)
from forensics.result import Result
from forensics.rules.evidence_gap import ID as GAPS
from forensics.rules.finding import Action, Finding, Severity, sentence
from forensics.rules.stated_problems import Problem
from forensics.version import __version__

FULL = 12  # stories that are written in full
BRIEF = 30  # that are named after these
WISHES = 10  # files to collect
ROWS_ALIKE = 30  # partitions with one story, in its table
PLACES = 1  # places that show one step

_SPECIAL = re.compile(r"[\\`*<>\[\]|]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")


def render(result: Result) -> str:
    """Return the summary, ending with a line end. It is made to be pasted: no colour, no width, no links."""
    said, root = answers(result), below(result.case)
    several = len(result.case.parts) > 1
    lines = [f"# {escaped(sentence(said[0].text))}", ""]
    remarks = restarted(result) if said[0].tone is not Tone.CLEAN else []
    for text in [*(one.text for one in said[1:]), *remarks]:
        lines += [escaped(sentence(text)), ""]
    if first := caution(result):
        lines += [f"**{escaped(sentence(first))}**", ""]
    lines += _repair(result)
    groups = nearly(incidents(one for one in result.findings if one.severity is not Severity.INFO))
    for group in groups[:FULL]:
        lines += [*_incident(group, _called(group[0].lead, several=several), root), ""]
    rest = groups[FULL:]
    names = [f"{_called(group[0].lead, several=several)}: {_title(group[0])}" for group in rest[:BRIEF]]
    lines += [f"- {escaped(one)}" for one in names]
    if len(rest) > BRIEF:
        lines += ["", f"… and {len(rest) - BRIEF:,} more: `--format json` has them all."]
    lines += [
        "",
        *_problems(result),
        "",
        *_information(result, several=several),
        "",
        *_collect(result, several=several),
        "",
        escaped(sentence(after_repair(result))),
        "",
        _source(result),
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def _information(result: Result, *, several: bool) -> list[str]:
    """Return findings of severity info, a line each; missing evidence is listed further down."""
    quiet = [one for one in result.findings if one.severity is Severity.INFO and one.rule != GAPS]
    if not quiet:
        return []
    said = [f"{_called(one, several=several)}: {one.summary}{times(one)}" for one in quiet[:BRIEF]]
    more = [f"… and {len(quiet) - BRIEF:,} more: `--format json` has them all."] if len(quiet) > BRIEF else []
    return ["## Information", "", *(f"- {escaped(sentence(one, capital=False))}" for one in said), *more]


def _repair(result: Result) -> list[str]:
    """Return what became of the findings of a baseline, and the conditions for producers to go back, as a checklist."""
    found = result.repair
    if found is None:
        return []
    several = len(result.case.parts) > 1 or repair.several_clusters(found)
    lines = [f"## {escaped(sentence(repair.headline(found)))}", "", escaped(sentence(repair.counts(found))), ""]
    lines += [f"- {outcome.value}: {rule} {escaped(places)}" for outcome, rule, places in repair.outcomes(found)]
    for group in repair.alike(found.partitions)[:FULL]:
        one, others = group[0], len(group) - 1
        name = f"{one.name}{of_cluster(one.cluster) if several else ''}"
        also = f", and {others:,} partition{'' if others == 1 else 's'} alike" if others else ""
        lines += ["", f"Before producers go back to {escaped(name)}{also}:", ""]
        lines += [f"- [ ] {escaped(sentence(repair.ABSENT))}"] if not one.points else []
        lines += [_point(point) for point in one.points]
    return [*lines, ""]


def _point(point: Point) -> str:
    box = "x" if point.met in (Met.YES, Met.NOT_APPLICABLE) else " "
    doubt = "" if point.met in (Met.YES, Met.NO) else f" ({repair.WORDS[point.met]})"
    return f"- [{box}]{doubt} {escaped(sentence(repair.point_text(point)))}"


def escaped(text: str) -> str:
    r"""Return a text in which no character steers Markdown or a terminal.

    >>> print(escaped("_a <b>*"), escaped("orders_v2-0"))
    \_a \<b\>\* orders_v2-0
    """
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", plain(text))


def code(text: str) -> str:
    """Return a text as code in a line.

    >>> print(code("a`b"), code("c"))
    ``a`b`` `c`
    """
    shown = plain(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _called(finding: Finding, *, several: bool) -> str:
    return f"{name_of(finding)}{of_cluster(finding.cluster) if several else ''}"


def _title(incident: Incident) -> str:
    return ", ".join(title_of(incident))


def _incident(group: Sequence[Incident], name: str, root: str) -> list[str]:
    """Return one incident: what happened, step by step, why, and what to do."""
    incident = group[0]
    lead = incident.lead
    lines = [f"## {escaped(name)}: {escaped(_title(incident))}", "", escaped(sentence(lead.summary)), ""]
    lines += [f"- {escaped(text)}" for text in others_texts(incident)]
    if same := same_elsewhere(group):
        lines += ["", f"{escaped(same)}."]
    if rows := alike(group):
        table = [rows[0], tuple("---" for _ in rows[0]), *rows[1 : ROWS_ALIKE + 1]]
        lines += ["", *(f"| {' | '.join(map(escaped, row))} |" for row in table)]
        lines += ["", *(escaped(sentence(text)) for text in (*only_some(group), story_of(name)))]
    causes = causes_of(incident)
    lines += ["", *(f"**Cause:** {escaped(sentence(cause.text))}" for cause in causes)]
    found = story(incident.findings)
    lines += ["", "### What to do", "", *_advice(group)]
    lines += [
        "",
        "### What happened",
        "",
        *(_step(number, step, root) for number, step in enumerate(found.steps, 1)),
        "",
    ]
    facts = [("Note", text) for text in (*(step.fact.text for step in found.notes), *own_notes(group))]
    facts += [("Inferred", text) for text in why_inferred(incident)]
    facts += [(label, text) for label, texts in open_texts(incident) for text in texts]
    facts += [("About it", source) for cause in causes if (source := source_of(cause))]
    facts += [("Prevent", cause.prevention) for cause in causes if cause.prevention]
    lines += [f"- **{label}:** {escaped(text)}" for label, text in dict.fromkeys(facts)]
    return [*lines, f"- More: {code(f'forensics explain {lead.rule}')}"]


def _step(number: int, step: Step, root: str) -> str:
    """Return one step with its time, its broker and the first place that shows it."""
    fact = step.fact
    when = "on disk" if step.on_disk else ""
    if fact.time is not None:
        when = f"{datetime.fromtimestamp(fact.time / 1e6, UTC):%Y-%m-%d %H:%M:%S} UTC"
    text = f"{number}. {f'{when}: ' if when else ''}{escaped(step.text)}"
    places = [
        f"{piece.path.removeprefix(root)}"
        + (f":{piece.line}" if piece.line is not None else f" byte {piece.byte or 0}")
        for piece in step.evidence
    ]
    return " ".join([text, *(f"({code(place)})" for place in list(dict.fromkeys(places))[:PLACES])])


def _advice(group: Sequence[Incident]) -> list[str]:
    """Return what to keep, what to do first and what not to do."""
    advising = advisers(group[0].findings)
    lines = [f"- **Keep:** {escaped(text)}." for text in kept_texts(advising)]
    label = "Do first:"
    for step in steps_of(group, each_first(one.next_steps for one in advising)):
        lines += _action(label, step)
        label = "Then:"
    lines += [f"- **Do not:** {escaped(text)}." for text in each_first(one.do_not for one in advising)]
    return lines


def _action(label: str, step: Action) -> list[str]:
    end = "" if step.command is not None else "."
    lines = [f"- **{label}** {escaped(step.text)}{end}"]
    return [*lines, "", *_block([step.command]), ""] if step.command is not None else lines


def _block(shell: Iterable[str]) -> list[str]:
    return ["  ```sh", *(f"  {plain(line)}" for line in shell), "  ```"]


def _problems(result: Result) -> list[str]:
    """Return the known problems that log lines state, except routine ones."""
    found = [group for group in by_problem(result.problems) if not group[0].known.routine]
    if not found:
        return []
    lines = ["## What the lines say", ""]
    for group in found:
        one, known = group[0], group[0].known
        lines.append(f"- **{known.severity.value}** {escaped(sentence(f'{known.title}: {one.states}'))}")
        lines += [f"  - {escaped(sentence(other.states))}" for other in shown_of(group, 1)[1:]]
        lines.append(f"  - Means: {escaped(sentence(one.means))} {sentence(known.records.meaning)}")
        answered = outcomes(result, group)
        lines += [f"  - Here: {escaped(text)}." for text in dict.fromkeys(answered)]
        if len(answered) < len(group):
            lines += _first_steps(group)
    return lines


def _first_steps(group: Sequence[Problem]) -> list[str]:
    """Return what to do first about a known problem, and what not to do."""
    labels = ("Do first", *("then" for _ in first_steps(group)))
    steps = [f"  - {label}: {escaped(step)}." for label, step in zip(labels, first_steps(group), strict=False)]
    return [*steps, *(f"  - Do not: {escaped(step)}." for step in group[0].do_not)]


def _collect(result: Result, *, several: bool) -> list[str]:
    """Return what to collect for an answer, and the commands that do it."""
    found = wanted(result)
    if not found:
        return []
    now, lines = still(found), list[str]()
    if now:
        lines += ["", f"## {COLLECT.rstrip(':')}", "", *_wishes(now, several=several)]
    if shell := commands(result, found):
        lines += ["", escaped(where(shell)), "", *(f"- {escaped(one.where)}: {code(one.line)}" for one in shell)]
    some = saved(found)
    if some.means:
        means = (f"- {letter}: {escaped(text)}" for letter, text in some.means.items())
        lines += ["", f"## {SAVED.rstrip(':')}", "", *means]
    for letters, asked in some.asked:
        lines += ["", f"{answered(letters, len(asked))}:", "", *_wishes(asked, several=several, alone=True)]
    return lines[1:]


def _wishes(found: Sequence[Wanted], *, several: bool, alone: bool = False) -> list[str]:
    """Return what is wanted, or the questions alone, a line each, the first of many."""
    lines = []
    for one in found[:WISHES]:
        places = [partition.history for partition in one.partitions]
        names = list(dict.fromkeys(f"{p.name}{of_cluster(p.cluster) if several else ''}" for p in places))
        lines.append(f"- {escaped(one.named(names, alone=alone))}")
    if len(found) > WISHES:
        lines.append(f"- … and {len(found) - WISHES:,} more: `--format json` has them all.")
    return lines


def _each(texts: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(text for some in texts for text in some))


def _source(result: Result) -> str:
    """Return what was read, in a line."""
    sources = result.case.sources
    files = sources.height
    inputs = ", ".join(code(path) for path in result.inputs)
    return (
        f"{escaped(nodes_text(result.case.everyone))}, {files:,} file{'' if files == 1 else 's'} in {inputs}, "
        f"read by forensics {__version__}."
    )
