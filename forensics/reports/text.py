"""The summary for the terminal: worst first, the proof beside each statement, and what could not be known."""

from __future__ import annotations

import shutil
import textwrap
from datetime import UTC, datetime

from forensics.case.coverage import coverage
from forensics.reports.json_report import iso
from forensics.result import Partition, Result
from forensics.rules import RULES
from forensics.rules.causes import BY_ID
from forensics.rules.finding import Evidence, Fact, Finding, Severity, Verdict, count_text, span_text

_TITLES = {rule.id: rule.title for rule in RULES}
SHOWN = 40


def render(result: Result, *, width: int | None = None) -> str:
    """The whole summary, ending with a line end."""
    columns = width or shutil.get_terminal_size((110, 40)).columns
    lines: list[str] = []
    loud = [f for f in result.findings if f.severity is not Severity.INFO]
    for finding in loud[:SHOWN]:
        lines += _finding(finding, columns)
        lines.append("")
    if len(loud) > SHOWN:
        lines += [f"... and {len(loud) - SHOWN:,} more findings: --format json has them all", ""]
    quiet = [f for f in result.findings if f.severity is Severity.INFO]
    for finding in quiet[:SHOWN]:
        lines += _wrap(f"{finding.topic}-{finding.partition}  info  ", finding.summary, columns)
    if quiet:
        lines.append("")
    lines += _verdicts(result, columns)
    lines += _coverage(result)
    lines += _totals(result, columns)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _finding(finding: Finding, columns: int) -> list[str]:
    life = f" (life {finding.incarnation} before the present one)" if finding.incarnation else ""
    offsets = f"  offsets {span_text(finding.offsets)}, {count_text(finding.offsets)}" if finding.offsets else ""
    times = f", {finding.count:,} times" if finding.count > 1 else ""
    head = f"{finding.topic}-{finding.partition}{life}   {_TITLES[finding.rule]}{offsets}{times}"
    lines = [f"{head}   {finding.severity.value}, {finding.confidence.value}"]
    lines += _wrap("  ", finding.summary, columns)
    evidence = dict(zip(finding.refs, finding.evidence, strict=False))
    for fact in finding.facts:
        lines += _fact(fact, [evidence[ref] for ref in fact.refs if ref in evidence], columns)
    for text in finding.inferences:
        lines += _wrap("  inferred  ", text, columns)
    for text in finding.uncertain:
        lines += _wrap("  open      ", text, columns)
    cause = BY_ID.get(finding.cause or "")
    if cause is not None and cause.id != "unknown":
        source = "; ".join(part for part in (cause.reference, cause.versions) if part)
        lines += _wrap("  cause  ", f"{cause.text} ({source})" if source else cause.text, columns)
    elif cause is not None:
        lines += _wrap("  cause  ", cause.text, columns)
    if finding.keep:
        lines += _wrap("  keep   ", finding.keep, columns)
    for text in finding.next_steps:
        lines += _wrap("  next   ", text, columns)
    for text in finding.do_not:
        lines += _wrap("  never  ", text, columns)
    return lines


def _fact(fact: Fact, evidence: list[Evidence], columns: int) -> list[str]:
    when = clock(fact.time)
    broker = f"broker {fact.broker}" if fact.broker is not None else ""
    lines = _wrap(f"  {when:8}  {broker:10}  ", fact.text, columns)
    for piece in evidence[:2]:
        place = f"{piece.path}:{piece.line}" if piece.line is not None else f"{piece.path} byte {piece.byte:,}"
        lines.append(f"{'':24}{place}")
        if piece.text:
            room = max(columns - 26, 40)
            text = piece.text if len(piece.text) <= room else piece.text[: room - 3] + "..."
            lines.append(f"{'':26}{text}")
    return lines


def clock(time: int | None) -> str:
    """Time of day of microseconds since 1970 UTC, or blanks."""
    return "" if time is None else datetime.fromtimestamp(time / 1e6, UTC).strftime("%H:%M:%S")


def _wrap(first: str, text: str, columns: int) -> list[str]:
    return textwrap.wrap(
        text,
        width=max(columns, 60),
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _verdicts(result: Result, columns: int) -> list[str]:
    """A table of rules by verdict, then what would settle the unknown."""
    total = len(result.partitions)
    if not total:
        return []
    lines = [f"{'rule':30} {'violated':>9} {'unknown':>9} {'clean':>9}   of {total:,} partition{'' if total == 1 else 's'}"]
    for rule in RULES:
        counts = [
            sum(p.judgements[rule.id].verdict is verdict for p in result.partitions)
            for verdict in (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.CLEAN)
        ]
        lines.append(f"{rule.id:30} " + " ".join(f"{count or '.':>9}" for count in counts))
    lines.append("")
    return lines + _unknown(result.partitions, columns)


def _unknown(partitions: list[Partition], columns: int) -> list[str]:
    wanted: dict[str, list[str]] = {}
    for partition in partitions:
        for rule, judgement in partition.judgements.items():
            if judgement.verdict is Verdict.UNKNOWN:
                for item in judgement.missing:
                    wanted.setdefault(item, []).append(f"{partition.history.name} {rule}")
    if not wanted:
        return []
    lines = ["would settle what is unknown:"]
    for item, uses in sorted(wanted.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:12]:
        more = f" and {len(uses) - 1:,} more" if len(uses) > 1 else ""
        lines += _wrap("  - ", f"{item} ({uses[0]}{more})", columns)
    if len(wanted) > 12:
        lines.append(f"  ... and {len(wanted) - 12:,} more: --format json has them all")
    return [*lines, ""]


def _coverage(result: Result) -> list[str]:
    lines = [f"{'broker':>8}  {'evidence':20} {'files':>5} {'lines':>9} {'understood':>11}  from        to (UTC)"]
    for row in coverage(result.case).iter_rows(named=True):
        if row["kind"] == "unknown":
            continue
        first, last = row["first_time"], row["last_time"]
        span = f"{first:%H:%M:%S}    {last:%H:%M:%S}" if first is not None and last is not None else ""
        understood = f"{row['understood']:,}/{row['relevant']:,}" if row["lines"] else ""
        broker = row["broker"] if row["broker"] is not None else "?"
        lines.append(
            f"{broker:>8}  {row['kind']:20} {row['files']:>5} {row['lines'] or '':>9} {understood:>11}  {span}"
        )
    return [*lines, ""]


def _totals(result: Result, columns: int) -> list[str]:
    case = result.case
    sources = case.sources
    times = [t for t in (sources.get_column("first_time").min(), sources.get_column("last_time").max()) if t is not None]
    span = f", {_stamp(times[0])} to {_stamp(times[-1])} UTC" if times else ""
    size = int(sources.get_column("bytes").sum()) / 1e6
    lines = [
        f"{len(case.brokers):,} broker{'' if len(case.brokers) == 1 else 's'}, {sources.height:,} files, {size:,.1f} MB{span} "
        f"(printed times read as {case.reading.zone})"
    ]
    unknown = sources.filter(sources.get_column("format") == "unknown").height
    count = case.notices.height
    lines.append(f"{count:,} notice{'' if count == 1 else 's'}; {unknown:,} file{'' if unknown == 1 else 's'} not recognised")
    for row in case.notices.head(5).iter_rows(named=True):
        place = f":{row['line']}" if row["line"] is not None else f" byte {row['byte']}" if row["byte"] is not None else ""
        lines += _wrap("  - ", f"{case.path(row['source'])}{place}: {row['reason']}", columns)
    if count > 5:
        lines.append(f"  ... and {count - 5:,} more: --format json has the first {20}")
    return lines


def _stamp(value: object) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S}"


__all__ = ["clock", "iso", "render"]
