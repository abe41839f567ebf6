"""Windows of a run's logs as people paste them into a ticket, and what a scan of one may say of the run."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from forensics.case import assemble
from forensics.engines.local import judged, no_cycles, read_sources
from forensics.model import Run
from forensics.model.run import Logging
from forensics.model.trace import Event, moment
from forensics.model.wording import Scene, wording_of
from forensics.replay.confidence import Confidence
from forensics.result import Result, finish
from forensics.rules.finding import Finding, Severity, Verdict
from parsers.containers import expand
from parsers.files.sources import Source
from tests.model.batches import offsets, questions
from tests.parsers.pasted import PASTES

PREFIXES = ("broker{} | ", "kafka-{}: ", "[pod/kafka-{}/kafka] ", "kafka-{} kafka ")
"""What people's tools put before the lines of a broker."""
DRESSINGS = ("", "", "quoted", "indented", "fence", "prose", "line numbers", "entities", "dots")
"""Ways of pasting, as ``tests.parsers.pasted`` has them; "" for none."""
FILES = (("server.log",), ("server.log",), ("state-change.log",), ("server.log", "state-change.log"))
"""Logs of one broker that are pasted together."""
LEAST, MOST = 15, 60
"""Lines of a window, of all brokers together."""


class Said(NamedTuple):
    """One line of a log: its file, its text, with what an exception adds, and the event that it is printed for."""

    name: str
    text: str
    event: Event


Lines = dict[int, list[Said]]
"""What each broker printed, in the order of the events."""


def said(run: Run, logging: Logging) -> Lines:
    """All lines of a run's brokers."""
    words = wording_of(run.protocol.kafka)(Scene(run.cluster, run.name, run.seed), logging)
    found: Lines = {broker: [] for broker in run.cluster.assigned}
    for event in run.cluster.trace:
        if event.broker in found:
            stamp = f"{moment(event.at):%Y-%m-%d %H:%M:%S},{event.at % 1000:03d}"
            for name, line in words.words(event):
                text = f"[{stamp}] {line.level} {line.text} ({line.logger})"
                found[event.broker].append(Said(name, f"{text}\n{line.after}" if line.after else text, event))
    return found


def cut_out(random: Random, lines: Lines, at: int | None) -> Lines:
    """A stretch of the logs of one to three brokers, each somewhere, or all around one moment."""
    writers = sorted(broker for broker, mine in lines.items() if mine)
    chosen = random.sample(writers, random.randint(1, len(writers)))
    count = max(random.randint(LEAST, MOST) // len(chosen), 1)
    return {broker: stretch(random, lines[broker], random.choice(FILES), count, at) for broker in chosen}


def stretch(random: Random, mine: Sequence[Said], names: Sequence[str], count: int, at: int | None) -> list[Said]:
    """A number of lines of one broker's logs, somewhere or around a moment."""
    found = [line for line in mine if line.name in names]
    if at is None:
        first = random.randrange(max(len(found) - count, 0) + 1)
    else:
        there = next((place for place, line in enumerate(found) if line.event.at >= at), len(found))
        first = max(there - random.randint(0, count), 0)
    return found[first : first + count]


TELLING = ("cut", "leads", "follows", "log_created", "starts")
"""Events whose lines speak of a role, a load or a truncation."""


def moments(random: Random, lines: Lines) -> list[int | None]:
    """Where four windows of a run are cut: one anywhere, others around such events."""
    times = [line.event.at for mine in lines.values() for line in mine if line.event.kind in TELLING]
    return [None, *random.sample(times, min(len(times), 3))]


def pasted(random: Random, windows: Sequence[Lines]) -> str:
    """The lines of windows as one text: each line behind the name of its broker, or each broker's below a heading;
    sometimes quoted, fenced or in another order.
    """
    prefix = random.choice((*PREFIXES, ""))
    texts: list[str] = []
    for broker, mine in ((broker, mine) for window in windows for broker, mine in window.items()):
        texts += [] if prefix else ["", f"Broker {broker}:", ""]
        texts += [f"{prefix.format(broker)}{piece}" for line in mine for piece in line.text.split("\n")]
    if prefix and random.random() < 0.25:
        random.shuffle(texts)
    elif random.random() < 0.1:
        texts.reverse()
    dressing = random.choice(DRESSINGS)
    return "\n".join(PASTES[dressing].dress(texts) if dressing else texts) + "\n"


def scanned(text: str, path: str = "-") -> Result:
    """What ``forensics scan -`` makes of a text."""
    data = text.encode()
    sources = list(expand(Source(path, len(data), lambda: io.BytesIO(data))))
    with no_cycles():
        case = assemble(read_sources(sources))
        return finish([path], case, judged(case))


# -- the truth ---------------------------------------------------------------------------------------------------------


def alarms(result: Result) -> Iterator[Finding]:
    """Findings of severity error or critical that are more than suspected."""
    for finding in result.findings:
        if finding.confidence is not Confidence.SUSPECTED and finding.severity in (Severity.CRITICAL, Severity.ERROR):
            yield finding


def lies(result: Result, run: Run) -> list[str]:
    """What a scan states of a run that is not so."""
    asked = questions(run.truth())
    clean = [
        f"{rule}: clean"
        for partition in result.partitions
        for rule, (violated, _) in asked.items()
        if violated and partition.judgements[rule].verdict is Verdict.CLEAN
    ]
    return clean + [f"{one.rule}, {one.confidence}: {one.summary}" for one in alarms(result) if not true(one, run)]


def true(finding: Finding, run: Run) -> bool:
    """Whether what a finding says happened in a run."""
    asked = questions(run.truth())
    if finding.rule in asked:
        violated, concerned = asked[finding.rule]
        return violated and offsets(finding.offsets) <= concerned
    return TRUTHS.get(finding.rule, _in_the_trace)(finding, run)


def _came_back_shorter(finding: Finding, run: Run) -> bool:
    """Whether a machine lost its power or its disk, and with it these offsets of its log."""
    (replica,) = finding.replicas
    return offsets(finding.offsets) <= offsets(_lost_by_machines(run, replica))


def _lost_by_machines(run: Run, broker: int) -> Iterator[tuple[int, int]]:
    end = 0
    for event in run.cluster.trace:
        facts = event.facts
        if event.broker == broker and event.state:
            end = event.state["log_end_offset"]
        elif event.kind == "action" and facts.get("broker") == broker and facts["what"] == "power lost":
            yield facts["survives"], facts["log_end"]
        elif event.kind == "action" and facts.get("broker") == broker and facts["what"] == "disk replaced":
            yield 0, end


def _fell(finding: Finding, run: Run) -> bool:
    """Whether the high watermark of a replica was lower at a start, or after a truncation, than before."""
    known = [
        event.state["high_watermark"] for event in run.cluster.trace if event.broker in finding.replicas and event.state
    ]
    return any(later < before for before, later in itertools.pairwise(known))


def _unclean(finding: Finding, run: Run) -> bool:
    """Whether the controller elected that leader from outside the ISR."""
    elected = {
        (event.facts["leader_epoch"], event.facts["leader"])
        for event in run.cluster.trace
        if event.facts.get("unclean")
    }
    return any((epoch, leader) in elected for epoch in finding.epochs for leader in finding.replicas)


def _never(finding: Finding, run: Run) -> bool:
    """For what the model's clusters do not do: a controller gives each leader epoch to one broker."""
    return False


def _in_the_trace(finding: Finding, run: Run) -> bool:
    """Whether a trace that leaves nothing out shows the same of one of the replicas."""
    (whole,) = scanned(run.observations(), "trace.jsonl").partitions
    found = whole.judgements[finding.rule].findings
    return any(set(finding.replicas) & set(one.replicas) for one in found)


TRUTHS: dict[str, Callable[[Finding, Run], bool]] = {
    "leo-regression": _came_back_shorter,
    "hw-regression": _fell,
    "unclean-election": _unclean,
    "two-leaders-one-epoch": _never,
}
"""How it is told whether what a rule found is so, beside the three questions; else a trace of the run tells."""

_BEGINS = re.compile(r"from offset ([0-9]+) with high watermark ([0-9]+)")
_STATES = re.compile(r"high ?watermark:? ([0-9]+)", re.IGNORECASE)
_TRUNCATES = re.compile(r"[Tt]runcating .*to (?:offset )?([0-9]+)")


def telling(window: Lines, run: Run) -> list[str]:
    """Lines of a window that speak of a loss of the run: a truncation of committed records, and an epoch that begins
    without them below a high watermark that the window states before.
    """
    found = [line.text for mine in window.values() for line in mine if _removes_committed(line, run)]
    for mine in window.values():
        found += [line.text for line in mine if _begins_below(line, window, run)]
    return found


def _removes_committed(line: Said, run: Run) -> bool:
    event = line.event
    cuttings = {(one.at, one.broker, one.to) for one in run.cluster.witness.cuttings}
    of_one = event.kind == "cut" and (event.at, event.broker, event.facts["to"]) in cuttings
    return of_one and _TRUNCATES.search(line.text) is not None


def _begins_below(line: Said, window: Lines, run: Run) -> bool:
    event, begins = line.event, _BEGINS.search(line.text)
    if event.kind != "leads" or begins is None:
        return False
    losses = {(one.broker, one.epoch, one.start) for one in run.cluster.witness.losses}
    told = (event.broker, event.facts["epoch"], event.facts["start"]) in losses
    return told and max(_stated(window, event.at), default=0) > int(begins[1])


def _stated(window: Lines, before: int) -> Iterable[int]:
    """High watermarks that leaders state in a window before a moment."""
    leaders = (line for mine in window.values() for line in mine if line.event.state.get("role") == "leader")
    return (int(number) for line in leaders if line.event.at < before for number in _STATES.findall(line.text))
