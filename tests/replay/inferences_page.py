"""Writes docs/how-it-judges.md: what counts as silence, what replay infers, and one worked case.

``python -m tests.replay.inferences_page`` writes the page.
"""

from __future__ import annotations

from pathlib import Path

from forensics.replay.inferences import INFERENCES, Inference

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-it-judges.md"

BEFORE = """\
# How it judges

`python -m tests.replay.inferences_page` writes this page; a test holds it to the code.

## The one idea

A record is known by two numbers: its offset, and the leader epoch in which it was written. A leader writes each offset
of its epoch once. So two logs hold the same record at an offset exactly if they have the same leader epoch there
(KIP-101). That fails if an epoch had two leaders, or if epochs were given out twice; rules of their own look for both,
and where one of them finds it, leader epochs decide nothing about those records.

A log is described by its leader epochs and the offset at which each begins: its *lineage*. A replica that states high
watermark `h` says: the records below `h` in my log are committed. So a committed bound is a high watermark together
with the lineage that it is about. It proves nothing about other records at the same offsets.

The rules compare such bounds, record by record:

- **committed data lost**: a later leader's log has another leader epoch, or nothing, at a committed offset;
- **truncation below the committed offset**: a replica removed committed records from its log;
- **replica divergence**: two replicas have different records at an offset below both high watermarks.

A rule is *violated* if the evidence proves it for some offsets. It is *clean* if the evidence excludes it for every
offset. Otherwise it is *unknown*, and the answer names the file that would settle it.

## What counts as silence

A line in the evidence always counts. A line that is absent proves something only if no line of that kind and time is
missing. Nothing can show that a log file is complete. So a replica's lines are presumed whole until something shows
that one is missing. [`coverage`](../forensics/replay/coverage.py) keeps that. Code that concludes something from an
absent line asks it. For each replica it knows:

- whether the broker's `state-change.log` (its roles) and `server.log` (what happened to its log) are in the evidence;
- *omissions*: evidence that lines are missing. For example, a broker that logs one thing always logs another before it,
  and the other is not there. [`omissions`](../forensics/replay/omissions) lists them. Where the place is known, the
  coverage knows it too;
- *doubts*: a line may be missing, but nothing shows it. A doubt leaves one question about one leader epoch undecided.

For the whole partition it knows the leader epochs that must have existed and that no line names.

Lines may contradict files, or the lines of another broker. If missing lines would explain that, replay lowers the
coverage of those replicas and starts again. So no answer rests on an absent line that turned out to be missing. A file
that contradicts itself is damaged: that is a notice, and lowers nothing.

For example, "broker 2 did not truncate its log between its lines" is `coverage.has(2, Printed.LOG)`. If the conclusion
reaches beyond its last line, it is `coverage.has(2, Printed.LOG, Span.WITHIN, Span.AFTER)`.

## What is inferred

Old brokers print little, so replay also uses what Kafka's protocol makes certain. Each row below is one conclusion that
replay draws where no line and no file states the value. A finding names the rows on which its values rest: `rests_on`
in the [JSON report](outputs.md). It is proven if two files that were written apart state what the conclusion starts
from. Its `confidence` and `weak` say whether they do. Each row gives a bound of what a log held, or of what was
committed. Two conclusions that exclude a loss have no row: who was elected
([`elections`](../forensics/replay/leadership/elections.py)), and whether an elected leader had all committed records
(`has_all_committed` in [`proof`](../forensics/replay/committed/proof.py)).

A conclusion that also needs an absent line asks the coverage first. *Holds where* names rows of
[protocol](protocol.md), for what differs between releases: the row must be true of the broker, or with *not* false. If
the release is not known, the conclusion is not drawn.

| inference | conclusion | because | holds where | drawn in |
|---|---|---|---|---|
"""

AFTER = """
## A worked case

[`sample_traces/kip101-0.10.2.2`](../sample_traces/kip101-0.10.2.2) is a cluster of three brokers of release 0.10.2.2
with one partition, `orders-0`. Its first finding says that the partition lost committed offsets 50 to 79.

1. Broker 1 led leader epoch 0. Its process restarted later and read back high watermark 80. It had reached that before
   (`read-back-was-reached`). So the records below 80 in broker 1's log of epoch 0 are committed: offsets 0 to 79.
2. Broker 3 truncated its log to 50, its own high watermark, as releases before KIP-101 do. No line states how long the
   log was. But broker 3 was in the ISR when broker 1 reached 80, so it held the offsets below 80 (`isr-covers-hw`). The
   line and the inference together say: broker 3 removed offsets 50 to 79, and they were committed.
3. Broker 3 became leader of a later epoch at offset 50. From there on its log has other leader epochs than broker 1's.
   So the partition lost the 30 records.
4. Broker 1's files still hold them. So the finding says to keep that copy.

Without broker 1's files and lines, nothing states a high watermark above 50 of the log of epoch 0. Then the rule is
*unknown*: the records may have been committed, and nothing proves it. What it asks for is broker 1's logs.

## Add an inference

1. Write down what must be true before: in Kafka, in which releases, and in the evidence. Take "a follower whose fetch
   is out of range lost nothing that was committed". It holds if a deletion moved the log start of a leader that had all
   committed records. An unclean leader with a higher log start breaks it.
2. The value must be a bound of a log end (`Interval`), a high watermark (`HwStatement`) or a removal (`Truncation`,
   `ShortenedLog`): these carry `by`. What the lines say is there as `Event`, one for each line, and as the steps of a
   replica's roles ([`roles`](../forensics/replay/roles)). A new kind of line is added in
   [`parsers/messages`](../parsers/messages) first.
3. Add the id to `Inferred` and a row to `INFERENCES` in
   [`forensics/replay/inferences.py`](../forensics/replay/inferences.py): the conclusion, what in Kafka makes it true,
   the function, and the behaviours that must hold or must not.
4. In that function, ask the coverage about each line whose absence the conclusion needs. Then give the value `by` with
   the id. A rule that uses the value puts its `by` into `rests_on` of the finding.
5. Test it on evidence where it holds, and on evidence that looks like it and where it does not hold. `make same`
   compares all verdicts and findings with those of the revision before ([CONTRIBUTING](../CONTRIBUTING.md)).
6. Run `python -m tests.replay.inferences_page`, and add the id to `forensics/reports/scan.schema.json`.
"""


def row(one: Inference) -> str:
    """Return a row of the table."""
    depends = ", ".join([f"`{name}`" for name in one.needs] + [f"not `{name}`" for name in one.unless]) or "–"
    module, _, name = one.function.partition(":")
    path = "forensics/replay/" + module.replace(".", "/") + ".py"
    return f"| `{one.id.value}` | {one.says} | {one.source} | {depends} | [`{name}`](../{path}) |"


def page() -> str:
    """Return the page."""
    return BEFORE + "\n".join(map(row, INFERENCES)) + "\n" + AFTER


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
