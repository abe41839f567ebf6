"""A replica truncated records that had not been committed."""

from __future__ import annotations

from forensics.case import Case
from forensics.replay.confidence import Weakness, weak_points
from forensics.replay.history import History, Truncation
from forensics.replay.lineage import Range, size
from forensics.replay.truncations.removals import beyond_committed
from forensics.rules.causes import CauseId
from forensics.rules.finding import (
    Finding,
    Help,
    Judgement,
    Rule,
    Severity,
    count_text,
    epoch_text,
    judgement,
    offsets_text,
    place,
)
from forensics.rules.story import (
    held_facts,
    held_texts,
    missing_logs,
    possible_loss_of,
    repeats_facts,
    times_stated,
    truncation_fact,
    truncations_of_unknown_extent,
)

ID = "uncommitted-truncation"

HELP = Help(
    finds=(
        """\
A replica truncated records, and none of them is known to have been committed: only a former
leader had them.""",
    ),
    matters=(
        """\
Kafka promises nothing for such records. But producers with acks=0 or acks=1 may have treated
them as written.""",
    ),
    evidence=(
        """\
The same as for ``truncation-below-committed``.""",
    ),
    not_when=(
        """\
A truncated record was committed: ``truncation-below-committed`` reports that. The truncation
removed nothing.""",
    ),
    versions=(
        """\
All. It is normal after each failover of a leader under load.""",
    ),
    to_do=(
        """\
Do nothing, unless producers with acks=1 rely on these records: let them use acks=all.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


def judge(history: History, case: Case) -> Judgement:
    """Return what each truncation removed beyond what is known to be committed."""
    beyond = [(one, ranges) for one in history.truncations if (ranges := beyond_committed(history, one))]
    unclear = [(one, ranges, possible_loss_of(history, one)) for one, ranges in beyond]
    findings = [_finding(history, one, ranges) for one, ranges, want in unclear if want is None]
    wants = [want for _, _, want in unclear if want is not None]
    return judgement(ID, findings, [*wants, *truncations_of_unknown_extent(history), *missing_logs(history)])


def _finding(history: History, truncation: Truncation, ranges: tuple[Range, ...]) -> Finding:
    least = size(ranges)
    what = f"{offsets_text(ranges)} ({count_text(ranges)})"
    uncertain: tuple[str, ...] = ()
    missed_by = (
        "only producers with acks=0 or acks=1 may miss them, as those with acks=all got no acknowledgement"
        if history.origin.of_kafka
        else "only a client that got its answer before they were committed may miss them"
    )
    if not truncation.before.is_exact:
        what = f"offsets from {ranges[0][0]} on ({least:,} or more)"
        uncertain = (f"no log line states the log end offset of broker {truncation.replica} before the truncation",)
    return Finding(
        rule=ID,
        severity=Severity.INFO,
        weak=weak_points({Weakness.END_IMPLIED: truncation.before.implied}),
        **place(history),
        replicas=(truncation.replica,),
        epochs=(truncation.epoch,) if truncation.epoch >= 0 else (),
        offsets=ranges,
        records=(least, least if truncation.before.is_exact else None),
        summary=(
            f"broker {truncation.replica} truncated {what} from its log in {epoch_text(truncation.epoch)}. They had "
            f"not been committed: {missed_by}"
        ),
        facts=(
            *held_facts(truncation),
            truncation_fact(history, truncation),
            *repeats_facts(history, truncation, committed=False),
        ),
        before={"log_end_offset": truncation.end} if truncation.before.is_exact else {},
        after={"log_end_offset": truncation.target},
        uncertain=uncertain,
        inferences=held_texts(history, truncation),
        rests_on=truncation.before.by,
        cause=CauseId.ACKS1_FAILOVER,
        count=times_stated(history, truncation, committed=False),
    )


RULE = Rule(
    id=ID,
    severity=Severity.INFO,
    judge=judge,
    summary="A replica truncated records that had not been committed.",
    help=HELP,
)
