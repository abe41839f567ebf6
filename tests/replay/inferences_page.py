"""Writes docs/how-it-judges.md: what counts as silence, what replay infers, and one worked case.

``python -m tests.replay.inferences_page`` writes the page.
"""

from __future__ import annotations

from pathlib import Path

from forensics.replay.inferences import INFERENCES, Inference

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-it-judges.md"

STEPS = (
    ("the roles of each replica by its own lines, and how long its log was", "roles"),
    ("which lines are missing", "omissions", "coverage.py"),
    ("the leader epochs, their leaders and ISRs", "leadership/epochs.py"),
    ("the ISR before each election, and doubts", "leadership/elections.py", "leadership/doubts.py"),
    (
        "epoch by epoch: where each begins, and the log of each replica",
        "leadership/epoch_start.py",
        "log_reconstruction.py",
    ),
    (
        "each high watermark, and the log that it is about",
        "high_watermarks/hw_attribution.py",
        "high_watermarks/candidates.py",
        "high_watermarks/crosscheck.py",
    ),
    ("what truncations and loads removed", "truncations/truncation_bounds.py", "truncations/held_ends.py"),
    ("what consumer groups read", "high_watermarks/group_reads.py"),
)
"""What replay finds of a partition, in order: in words, and the modules."""

QUESTIONS = (
    ("Which committed records are gone, and which may be?", "", "committed/proof.py", "committed/open_losses.py"),
    ("Did an elected leader have all committed records?", "has_all_committed", "committed/all_committed.py"),
    ("Why were records lost?", "REASONS", "committed/lost_by.py"),
    ("Which copies may still have them?", "", "committed/surviving_copies.py", "committed/failed_directories.py"),
    (
        "What became of records that a truncation removed?",
        "",
        "truncations/removals.py",
        "truncations/safe_truncations.py",
    ),
    ("Do two replicas hold different records?", "", "committed/divergence.py", "committed/epochs_apart.py"),
    ("Was a leader elected from the ISR?", "", "leadership/judged_elections.py"),
    ("Did an epoch have two leaders?", "", "leadership/contested_epochs.py"),
    ("What does a line suggest that proves nothing?", "SIGNS", "signs/suspicions.py"),
)
"""What rules ask of a finished history: the question, a name to look for or nothing, and the modules."""


VALUES = (
    ("how long a log was before something removed its end", "TruncationBounds", "truncations/truncation_bounds.py"),
    ("the least that it was then, where no line of the replica states it", "HeldEnds", "truncations/held_ends.py"),
    ("the same by what the exporter of its broker printed", "ScrapedEnds", "roles/scraped_ends.py"),
    ("where a leader epoch begins", "EpochStart._begins", "leadership/epoch_start.py"),
    ("a high watermark that lines or files state, or that no line states", "HwAttribution",
     "high_watermarks/hw_attribution.py"),
    ("the log that it is about", "attributed", "high_watermarks/candidates.py"),
    ("how far a consumer group read", "read_by_groups", "high_watermarks/group_reads.py"),
)  # fmt: skip
"""Values that carry inferences: in words, the class or method that puts them together, and its module."""


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
- **replica divergence**: two replicas have different records at one offset, and both were committed.

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
reaches beyond its last line, it is `coverage.has(2, Printed.LOG, Span.WITHIN, Span.AFTER)`. Within one role it is
`history.log_lines_complete(role_span)`, for which lines that are known to be missing in another role do not matter.

A replication trace may claim that it states each change of a replica. Inside that claim an absent line is proof, and no
omission counts. If the trace contradicts itself about a partition, its claim does not count for that partition.

## What consumer groups read

A consumer gets only records below the high watermark. So a group that read offset 14 shows a high watermark of at least
15. `__consumer_offsets` keeps the positions that groups committed. Each replica of it has the same commits: one
statement with several bearers. The time of a commit is that of the group's coordinator, a broker.

A client may commit any position. So a commit counts only if it states a leader epoch (KIP-320): a Java consumer and
librdkafka state the epoch of the last record that they read. `kafka-consumer-groups --reset-offsets`, a `seek` and a
reset to the end or start of the log state none. An application can name an epoch itself, so a finding that rests on a
commit alone is inferred. A commit does not count in these cases:

- Its position is above all that the leader's log held, or the log has another epoch there.
- A later commit of the group states a lower position in the same epoch, or an earlier one.
- A tombstone follows it. Kafka writes one when a topic is deleted: what follows is about the next topic of that name.
- It is older than the leader epoch, or the evidence shows several topics of the name.
- It was made after the leader began that lacks the record. Some clients state an epoch that they have not read: sarama
  repeats the one that it got with its first position, or states 0. If one commit of a group shows that, none counts.

The last case compares the clocks of two brokers, the coordinator and that leader.

A commit bounds the high watermark from below only. It shows losses, and never that nothing was lost.

## What exporters of metrics print

An exporter such as kafka_exporter asks the leader for the end of a partition, as a consumer does. The leader answers
with its high watermark. So a scrape shows a high watermark, of the scrape's time or before. It states no leader epoch,
and its time is by the clock of the server that scrapes. That clock may be five minutes apart from those of the brokers.
So replay asks which leaders can have answered, and counts a value only as far as their logs have the same records:

- A leader whose epoch was over more than ten minutes before the scrape did not answer: Prometheus answers a query with
  a value that is up to five minutes old. A leader whose epoch began more than five minutes later did not either.
- A leader whose log ended below the value, or that began with a higher high watermark, did not answer.
- If a lower value follows in the same series, the leader changed in between: the high watermark of one leader epoch
  does not fall while its process runs. For that the lines of all replicas must be there to the end, and the exporter
  must name the later leader in two scrapes (`kafka_topic_partition_leader`).

A value does not count in these cases:

- It is of a time before the first leader epoch that is known: a topic of the same name was deleted.
- A value of its series is above all that a leader's log can have held, so it is about another topic or cluster.
- Series of several clusters are mixed: their labels differ in more than the exporter, or their values contradict.
- The exporter names another leader than the one of the epoch: it asked a broker that did not know its successor.
- Leader epochs went back, an epoch had two leaders, or an epoch is missing.

The JMX exporter of a broker prints the log end offset of the broker's own replica (`kafka_log_log_logendoffset`). So a
value shows how long that log was, at the scrape's time or before. The broker's lines show when something was removed
from the log, and the log only grows in between. A value bounds the log end before a removal if it cannot be older than
the removal before, nor later than this one. The same ten and five minutes decide that, or the log end offsets that
lines state, or a lower value that follows in its series. A value does not count in these cases:

- No label names the broker. The number of a pod counts only if Strimzi made the pod.
- It is about the copy of a log in another directory (`is_future`).
- Lines of the broker may be missing.
- It may be about a deleted topic or another cluster, as above.

Positions of groups that an exporter prints have no leader epoch. They prove nothing, as a position may have been set.
They are counted where the groups that a loss concerns are named, if the evidence has no commit of the group.

## The metadata log

`__cluster_metadata-0` of a KRaft cluster is compared in the same way, but no ISR elects its leaders. A majority of its
voters does (KIP-595). A voter votes only for a log that reaches at least as far as its own. So a leader has all
that was committed before it, unless a voter's log became shorter: its disk was wiped, formatted again or put back.
[`quorum`](../forensics/replay/quorum) reads the nodes' lines and copies.

- A node states a high watermark about the log of the leader of its term. A snapshot up to an offset shows one too:
  none is made above it (KIP-630).
- A node that refuses to truncate below its high watermark, and stops, states both values in one line.
- A voter that loads less than it had became shorter. A broker that only fetches the log does not flush it, so after a
  crash it may have less, and nothing follows from that.
- A loss is proven as for any partition: a later leader's log has another epoch at a committed offset. It is excluded if
  the lines of all voters are there and none became shorter. It is also excluded if the log of the leader before lacks
  nothing and agrees with the later one.
- Rules about an ISR, about checkpoint files or about settings of a topic do not apply.

The log of a single controller is judged only where copies or lines contradict each other.

## What is inferred

Old brokers print little, so replay also uses what Kafka's protocol makes certain. Each row below is one conclusion that
replay draws where no line and no file states the value. A finding names the rows on which its values rest: `rests_on`
in the [JSON report](outputs.md). It is proven if two files that were written apart state what the conclusion starts
from. Its `confidence` and `weak` say whether they do. Each row gives a bound of what a log held, or of what was
committed. Conclusions of other kinds are not in this table. [Where conclusions are drawn](#where-conclusions-are-drawn)
names their modules.

A conclusion that also needs an absent line asks the coverage first. *Holds where* names rows of
[protocol](protocol.md), for what differs between releases: the row must be true of the broker, or with *not* false. If
the evidence does not show the release, the conclusion is not drawn. There is one exception: `truncates_by_epoch` is
assumed then, and each finding states that.

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
*unknown*: the records may have been committed, and nothing proves it. The loss is *suspected*: broker 3 truncated to 50
and led next, and broker 2, which had 80, then truncated to 50 to follow it. What the rule asks for is broker 1's logs.

## Where conclusions are drawn

[`partitions`](../forensics/replay/partitions.py) reads what all partitions need at once: the modules in
[`facts`](../forensics/replay/facts) select lines and files and put them in order. Then
[`reconstruct`](../forensics/replay/reconstruct.py) replays each partition. How its brokers behave where releases differ
is known before ([`partition_protocol`](../forensics/replay/partition_protocol.py)). It fills a
[`History`](../forensics/replay/history.py) in this order:

{steps}

[`log_ends`](../forensics/replay/roles/log_ends.py) answers how long a log was at some moment. A complete trace is
also played line by line ([`traces`](../forensics/replay/traces)). It leaves nothing to infer, so that decides.

The rules ask a finished history, and infer nothing themselves. What they ask is answered here:

{questions}

## Add an inference

Take "a leader that answered where a leader epoch ends held the offsets below". It serves as the example below.

1. Write down what must be true before: in Kafka, in which releases, and in the evidence. Look for the evidence that
   breaks it. Here: the leader may have restarted within the epoch, so only an epoch that it led in one role counts.
2. Find the value that it bounds. Each kind of value is put together in one place, from all that bounds it:

{values}

   A value of another kind cannot carry an inference. Look among the questions above for the module that answers it.

   Ask what the value decides. How long a log was decides `leo-regression`, and how much a truncation removed. It never
   shows a loss alone: `committed-data-lost` needs a high watermark. A lower bound may also take a doubt away. So a
   truncation whose extent an exporter alone bounds stays among `History.truncations_of_unknown_extent`.

   The folder of your function must be one that all its callers may use. From below: `facts`, `roles`, `leadership`,
   `high_watermarks`, `omissions`, `committed`, `truncations` and `signs` (`REPLAY_USES` in
   `tests/house/test_imports.py`).
3. Find what the lines say. They are there as the steps of a replica's roles: here as `Step.answer` of each follower
   ([`steps`](../forensics/replay/roles/steps.py)). A new kind of line is added in
   [`parsers/messages`](../parsers/messages) first. Name it in `OWN` or `CLUSTER` of
   [`partition_lines`](../forensics/replay/facts/partition_lines.py), and give it a handler in
   [`role_spans`](../forensics/replay/roles/role_spans.py).

   Evidence that is no line of a broker, such as metrics or a file, takes another way. A parser in
   [`parsers/formats`](../parsers/formats) fills columns of `OBSERVATIONS` in [`schema`](../parsers/schema.py). If a
   `detail` has parts, [`details`](../parsers/details.py) writes and reads it. A module of `facts` puts the rows in
   order ([`scrapes`](../forensics/replay/facts/scrapes.py) is a model). `PartitionFacts` holds the result, and
   `partitions` fills it in. Name it in `bare.but(...)` there too: partitions of which nothing is known are replayed
   only once.
4. Order what happened. Lines of one broker are in the order of `Ref.row`. Between brokers leader epochs alone order it:
   replay compares no clocks, except for what clients and exporters saw. The row of other evidence orders nothing. So
   the first of `HwStatement.refs` must be a line or file of that replica, and what else shows the value comes behind
   it. If a scrape came first, replay would take lines for missing. An epoch that had several leaders
   (`History.contested`), or epochs that went back (`History.epoch_rollbacks`), order nothing.
5. Ask before you conclude. Ask the coverage about each line whose absence the conclusion needs; the example needs none.
   Ask the broker's `protocol` about each behaviour: it answers yes, no or open. `History.truncates_to_hw` answers
   `truncates_by_epoch` for the partition.
6. Return the bound as an [`Interval`](../forensics/replay/interval.py): `because` holds the lines that show it, `by`
   the id. `HeldEnds.by_fetches` is a short model. The place of step 2 takes the tightest bound.
7. Add the id to `Inferred` and a row to `INFERENCES` in
   [`forensics/replay/inferences.py`](../forensics/replay/inferences.py), both at the same place: the conclusion, what
   in Kafka makes it true, the function, and the behaviours that must hold or must not. Add the id to
   `forensics/reports/scan.schema.json`, and run `python -m tests.replay.inferences_page`. If it bounds how long a log
   was, give `held_texts` in [`story`](../forensics/rules/story.py) its words. Tests fail for each of these that is
   missing. No test fails for two more: each rule that shows the value must pass `by` on as `rests_on`, and name in
   `weak` what is weak about it. Evidence that the finding does not quote yet needs a fact (`held_facts` in `story`).
8. Test it on evidence where it holds, and on evidence that looks like it and where it does not hold. `Incident` in
   `tests/incident.py` writes small clusters by hand. If the evidence is of a new kind, let the
   [model](../forensics/model) print it: then the [oracle](oracle.md) looks for wrong answers. `make same`
   compares all verdicts and findings with those of the revision before ([CONTRIBUTING](../CONTRIBUTING.md)).
   `python -m benchmarks.inferences` counts how often each inference is drawn in the recorded clusters. The example
   is not in the table for that reason: in none of them does it bound a log more tightly than the other rows do.
   `scraped-log-end` is in it, though no recorded cluster has such metrics: the model shows what it adds.
   Before a commit, `make lint types` and `pytest tests/house` check the code, and also the length of sentences and the
   words in docstrings.
"""


def row(one: Inference) -> str:
    """Return a row of the table."""
    depends = ", ".join([f"`{name}`" for name in one.needs] + [f"not `{name}`" for name in one.unless]) or "–"
    module, _, name = one.function.partition(":")
    path = "forensics/replay/" + module.replace(".", "/") + ".py"
    return f"| `{one.id.value}` | {one.says} | {one.source} | {depends} | [`{name}`](../{path}) |"


def linked(*modules: str) -> str:
    """Return links to modules or packages of replay."""
    return ", ".join(f"[`{Path(one).stem}`](../forensics/replay/{one})" for one in modules)


def steps() -> str:
    """Return the table of what replay finds."""
    rows = (f"| {number} | {finds} | {linked(*modules)} |" for number, (finds, *modules) in enumerate(STEPS, 1))
    return "\n".join(("| step | what it finds | module |", "|---|---|---|", *rows))


def questions() -> str:
    """Return the table of what rules ask."""
    rows = (f"| {asked} | {f'`{name}` in ' if name else ''}{linked(*modules)} |" for asked, name, *modules in QUESTIONS)
    return "\n".join(("| question | module |", "|---|---|", *rows))


def values() -> str:
    """Return the table of values that carry inferences, indented as part of a list."""
    rows = (f"| {value} | [`{name}`](../forensics/replay/{module}) |" for value, name, module in VALUES)
    return "\n".join(f"   {one}" for one in ("| value | put together by |", "|---|---|", *rows))


def page() -> str:
    """Return the page."""
    after = AFTER.replace("{steps}", steps()).replace("{questions}", questions()).replace("{values}", values())
    return BEFORE + "\n".join(map(row, INFERENCES)) + "\n" + after


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
