"""The table of suspicions: of each sign the rules that suspect something, and their words."""

from __future__ import annotations

from dataclasses import replace

from forensics.replay.signs.sign import Sign
from forensics.rules.causes import CauseId
from forensics.rules.story import OLDER_DIRECTORY
from forensics.rules.suspect import (
    BY_EPOCH,
    CLOCKS,
    COMPARE,
    COPIED,
    ELECTION,
    ELIGIBLE,
    GREW_AGAIN,
    HW,
    KEEP,
    LEO,
    LSO,
    MIN_ISR,
    OWN_COPY,
    REMADE,
    REPLACED,
    TAKEN_OVER,
    TWO_CLUSTERS,
    Suspect,
)
from forensics.rules.suspected_by_copies import OF_COPIES
from forensics.rules.suspected_by_readers import OF_READERS


def _removed(template: Suspect) -> tuple[Suspect, ...]:
    """Return the suspicions of both rules about what a replica removed. The template's summary ends before the words
    for what is at stake.
    """
    return tuple(
        replace(template, rule=rule, summary=template.summary + at_stake)
        for rule, at_stake in (
            (template.rule, "committed {offsets} may be lost{more}"),
            ("truncation-below-committed", "{offsets} may have been committed{more}"),
        )
    )


_LOOK_FOR_DIRECTORY = (
    "look for the data directory that broker {replica} used before: on a disk that is not mounted, under another name, "
    "or in a snapshot of the volume"
)
_ISR_KEPT = ("start or wipe {holders} before its directory is copied",)

SUSPECTS: tuple[Suspect, ...] = (
    Suspect(
        Sign.EPOCH_BELOW_HIGH_WATERMARK,
        "committed-data-lost",
        "broker {replica} became leader ({role}) at offset {target}, but {stater} had stated high watermark {end} "
        "before: committed {offsets} may be lost",
        "became leader ({role}) at offset {target}",
        (REMADE, REPLACED),
    ),
    Suspect(
        Sign.LAST_IN_ISR_CAME_BACK_SHORTER,
        "committed-data-lost",
        "broker {replica} was the only member of the ISR with high watermark {end}, and it restarted with log end "
        "offset {target}: committed {offsets} may be lost",
        "restarted with log end offset {target}",
        (
            "a replica that had left the ISR, and whose files are not in the evidence, still has them",
            REMADE,
            REPLACED,
        ),
    ),
    Suspect(
        Sign.LEADER_CAME_BACK_SHORTER,
        "committed-data-lost",
        "broker {replica} restarted with log end offset {first} and became leader ({role}). Of what it lacked then, "
        "the other replicas in the ISR had only {offsets}: if they were committed, they are lost{more}",
        "restarted with log end offset {first}",
        (
            (
                "{offsets} had not been committed: a leader learns only by the next fetch of each replica in the ISR "
                "that it has them"
            ),
        ),
        before=LEO,
        had="had fetched up to offset {end}",
    ),
    Suspect(
        Sign.BEGAN_EMPTY_AFTER_FAILURE,
        "committed-data-lost",
        "broker {replica} became leader ({role}) alone in the ISR, with an empty log, after its log directory failed. "
        "Broker {witness} had high watermark {end}: committed {offsets} may be lost",
        "became leader ({role}) with a new, empty log",
        ("another replica that was in the ISR still has them", REMADE),
        settle=("find out whether the failed log directory of broker {replica} can be read",),
        do_not=("wipe or replace the disk of broker {replica} before that",),
    ),
    Suspect(
        Sign.BEGAN_EMPTY_ALONE,
        "committed-data-lost",
        "broker {replica} became leader ({role}) alone in the ISR, with an empty log, although there had been records: "
        "all that was committed before may be lost",
        "became leader ({role}) with an empty log",
        ("another replica that was in the ISR still has them", REMADE, "nothing had been committed"),
        settle=("collect a high watermark of {name} from before: replication-offset-checkpoint of any replica",),
        do_not=("start another replica of {name} before its directory is copied: it truncates to follow",),
    ),
    Suspect(
        Sign.BEGAN_NEW_ALONE,
        "committed-data-lost",
        "broker {replica} became leader ({role}) alone in the ISR, with a log that it had just created: all that was "
        "committed before may be lost",
        "became leader ({role}) with the new log",
        ("nothing had been committed", "another replica that was in the ISR still has them", REMADE),
        settle=(
            "collect server.log of broker {replica} from before its restart: its volume or log.dirs may have changed",
            "collect a high watermark of {name} from before: replication-offset-checkpoint of any replica",
        ),
        do_not=("start another replica of {name} before its directory is copied: it truncates to follow",),
    ),
    Suspect(
        Sign.LEFT_DIRECTORY_HAD_MORE,
        "committed-data-lost",
        "broker {replica} has high watermark {end} in a directory that it no longer uses. In the directory that it "
        "used last, its log ends at {target}: committed {offsets} may be lost",
        "has log end offset {target} in the directory that it used last",
        ("the broker used the other directory last", "the topic was emptied on purpose (DeleteRecords, retention)"),
        settle=("copy the directory that broker {replica} no longer uses: it may have the only copy",),
    ),
    Suspect(
        Sign.BEGAN_BELOW_READ_BACK,
        "committed-data-lost",
        "broker {replica} restarted with high watermark {end} and became leader ({role}) at offset {target}: committed "
        "{offsets} may be lost",
        "became leader ({role}) at offset {target}",
        (
            "another replica that was in the ISR still has them",
            "its checkpoint file is of another time than its log",
            REMADE,
        ),
    ),
    Suspect(
        Sign.BEGAN_BELOW_PRINTED,
        "committed-data-lost",
        "broker {replica} became leader ({role}) at offset {target}, but broker {witness} had logged high watermark "
        "{end} before: committed {offsets} may be lost",
        "became leader ({role}) at offset {target}",
        (
            REMADE,
            REPLACED,
            CLOCKS,
        ),
    ),
    Suspect(
        Sign.LOADED_SHORTER,
        "leo-regression",
        "broker {replica} loaded its log with log end offset {end}, and later with {first}. No log line shows what "
        "removed {offsets}",
        "loaded its log with log end offset {end}, and later with {first}",
        (
            "log lines in between are missing, and one of them shows a truncation",
            "the earlier process was killed, and records that it had not flushed were lost with its host",
            REMADE,
        ),
        before=LEO,
    ),
    Suspect(
        Sign.LOADED_BELOW_STATED,
        "leo-regression",
        "broker {replica} had log end offset {end}, and later loaded its log with {first}. No line in the excerpt "
        "shows what removed {offsets}",
        "loaded its log with log end offset {first}",
        (
            "the process before was killed, and records that it had not flushed were lost with its host",
            "lines in between are missing, and one of them shows a truncation",
            REMADE,
        ),
        before=LEO,
        had="had log end offset {end}",
    ),
    Suspect(
        Sign.LED_AFTER_LOADING_SHORTER,
        "committed-data-lost",
        "broker {replica} loaded its log with log end offset {end}, later with {first}, and became leader ({role}) "
        "next. No log line shows what removed {offsets}: if they were committed, they are lost",
        "loaded its log with log end offset {end}, later with {first}, and became leader ({role}) next",
        (
            "log lines in between are missing, and one of them shows a truncation of records that were not committed",
            "no record from offset {first} on was committed",
            REMADE,
        ),
        before=LEO,
        do_not=_ISR_KEPT,
    ),
    Suspect(
        Sign.RECOVERY_TRUNCATED_LEADER,
        "committed-data-lost",
        "broker {replica} found corruption when it recovered its log, truncated the log to {first}, and became leader "
        "({role}) next: if it had committed records from offset {first} on, they are lost",
        "found corruption when it recovered its log, and truncated the log to {first}",
        ("nothing from offset {first} on had been committed",),
        cause=CauseId.CORRUPT_BATCH,
    ),
    Suspect(
        Sign.LED_WITH_OLDER_DIRECTORY,
        "committed-data-lost",
        "broker {replica} restarted with a data directory that is older than the one it had used before, loaded its "
        "log with log end offset {first}, and became leader ({role}) next: if it had committed records from offset "
        "{first} on, they are lost",
        OLDER_DIRECTORY + ". Its log ended at {first}",
        ("nothing from offset {first} on had been committed",),
        settle=(_LOOK_FOR_DIRECTORY,),
        do_not=("delete or mount over any volume of broker {replica} before that",),
        cause=CauseId.STALE_DIRECTORY,
    ),
    *_removed(
        Suspect(
            Sign.RECOVERED_WHILE_ANOTHER_HAD_MORE,
            "committed-data-lost",
            "broker {replica} was in the ISR, found corruption when it recovered its log, truncated the log to "
            "{target}, and became leader ({role}) next. Broker {witness} had log end offset {end}, and then truncated "
            "its log to follow broker {replica}: ",
            "found corruption when it recovered its log, and truncated the log to {target}",
            ("broker {replica} had not fetched them before, so that they were not committed",),
            before=LEO,
            had="loaded its log with log end offset {end}",
            do_not=_ISR_KEPT,
            cause=CauseId.CORRUPT_BATCH,
        )
    ),
    *_removed(
        Suspect(
            Sign.LED_AFTER_TRUNCATING,
            "committed-data-lost",
            "broker {replica} was in the ISR, truncated its log from {end} to its own high watermark, {target}, and "
            "became leader ({role}) next: ",
            "truncated its log to its own high watermark, {target}, and became leader ({role}) next",
            (
                "it had fetched them again from the leader before",
                "the other replicas in the ISR had not fetched them, so that they were not committed",
            ),
            before=LEO,
            had="had log end offset {end}",
            do_not=_ISR_KEPT,
            cause=CauseId.HW_TRUNCATION,
        )
    ),
    *_removed(
        Suspect(
            Sign.LED_WHILE_ANOTHER_HAD_MORE,
            "committed-data-lost",
            "broker {replica} truncated its log to {target} as a follower, and led within a minute. Broker {witness} "
            "had log end offset {end}, and then truncated its log to follow broker {replica}: ",
            "truncated its log to {target}, and led within a minute",
            (
                "it had fetched them again from its leader before",
                "no record from offset {first} on was committed",
                BY_EPOCH,
            ),
            before=LEO,
            had="loaded its log with log end offset {end}",
            settle=("collect state-change.log of all replicas: it names the leader of each leader epoch",),
            do_not=_ISR_KEPT,
            cause=CauseId.HW_TRUNCATION,
        )
    ),
    Suspect(
        Sign.BEGAN_BELOW_FOLLOWER,
        "committed-data-lost",
        "broker {replica} became leader ({role}) at offset {first}. Broker {witness} then followed it, and truncated "
        "to {end}, which before 0.11 is its own high watermark: committed {offsets} may be lost",
        "became leader ({role}) at offset {first}",
        (
            "broker {witness} had followed in {role} before, and the line is not in the evidence",
            REMADE,
        ),
        settle=(OWN_COPY,),
        do_not=("start or wipe broker {witness} before its directory is copied: it may have the only copy",),
    ),
    Suspect(
        Sign.LAST_ISR_TRUNCATED,
        "committed-data-lost",
        "{leader} was elected leader ({role}) from outside the ISR, and broker {replica}, which was in the ISR, "
        "truncated its log to {target} to follow it: if records from offset {first} on were committed, they are lost",
        "was in the ISR before, and truncated its log to {target}",
        (
            "nothing from that offset on had been committed: the producers did not wait for it (acks=1)",
            "another replica that was in the ISR still has them",
        ),
        before=LEO,
        do_not=_ISR_KEPT,
        cause=CauseId.UNCLEAN_ELECTION,
    ),
    Suspect(
        Sign.MEMBER_CAME_BACK_SHORTER,
        "committed-data-lost",
        "broker {replica} was in the ISR, stopped uncleanly, restarted with log end offset {target} and became leader "
        "({role}) next. Each other member of the ISR had log end offset {end} or more, and truncated its log to follow "
        "it: committed {offsets} may be lost{more}",
        "restarted after an unclean stop with log end offset {target}",
        ("broker {replica} had not fetched them before it stopped, so that they were not committed",),
        before=LEO,
        had="{too}had log end offset {end}",
        do_not=_ISR_KEPT,
        cause=CauseId.UNFLUSHED_TAIL,
        usual=True,
    ),
    Suspect(
        Sign.TRUNCATED_FOR_LAST_KNOWN,
        "committed-data-lost",
        "the ISR was empty, and {leader} was elected leader ({role}) after it had stopped uncleanly. Broker {replica} "
        "truncated its log to {target} to follow it: if records from offset {first} on were committed, they are lost",
        "was in the ISR before, and truncated its log to {target}",
        ("nothing from that offset on had been committed", "another replica that was in the ISR still has them"),
        before=LEO,
        do_not=_ISR_KEPT,
        cause=CauseId.UNCLEAN_ELECTION,
        usual=True,
    ),
    Suspect(
        Sign.FELL_TO_UNCLEAN_LEADER,
        "committed-data-lost",
        "broker {replica} was elected leader ({role}) from outside the ISR and began at offset {first}. The high "
        "watermark of {other} fell from {end} to {first}: committed {offsets} may be lost",
        "became leader ({role}) at offset {first}",
        (
            TAKEN_OVER,
            "another replica that was in the ISR still has them",
            "they had been deleted before, as of old age",
        ),
        had="the high watermark fell from {end} to {first}",
        do_not=_ISR_KEPT,
        cause=CauseId.UNCLEAN_ELECTION,
    ),
    Suspect(
        Sign.FELL_TO_RECOVERED_LEADER,
        "committed-data-lost",
        "log recovery truncated a log to {first}, broker {replica} became leader ({role}) there, and the high "
        "watermark of {other} fell from {end} to {first}: committed {offsets} may be lost",
        "became leader ({role}) at offset {first}",
        (
            TAKEN_OVER,
            "another replica that was in the ISR still has them",
            "they had been deleted before, as of old age",
        ),
        had="the high watermark fell from {end} to {first}",
        settle=("collect server.log of broker {replica} from before its restart: where its log ended",),
        do_not=_ISR_KEPT,
    ),
    Suspect(
        Sign.TRUNCATED_BELOW_OWN_HIGH_WATERMARK,
        "truncation-below-committed",
        "broker {replica} truncated its log to {target}, below its own high watermark {end}: committed {offsets} "
        "may be missing from its log",
        "truncated its log to {target}",
        (
            COPIED,
            "its leader's log was replaced by another of the same name",
        ),
    ),
    Suspect(
        Sign.TRUNCATED_BELOW_PRINTED,
        "truncation-below-committed",
        "broker {replica} truncated its log to {target}, below high watermark {end} that it had logged: committed "
        "{offsets} may be missing from its log",
        "truncated its log to {target}",
        (
            COPIED,
            "its log was replaced by another of the same name",
            REMADE,
        ),
    ),
    Suspect(
        Sign.TRUNCATED_BELOW_STATED,
        "truncation-below-committed",
        "broker {replica} truncated its log to {target}, below high watermark {end} that it had stated before, and no "
        "line shows another role in between: committed {offsets} may be missing from its log",
        "truncated its log to {target}",
        (
            COPIED,
            REMADE,
        ),
    ),
    Suspect(
        Sign.FOLLOWED_BELOW_OWN_HIGH_WATERMARK,
        "truncation-below-committed",
        "broker {replica} became a follower ({role}) with log end offset {target}, below high watermark {end} that it "
        "had logged before: committed {offsets} may be missing from its log",
        "became a follower with log end offset {target}",
        ("the earlier process was killed, and records that it had not flushed were lost with its host", REMADE),
    ),
    Suspect(
        Sign.TRUNCATION_REFUSED,
        "committed-data-lost",
        "broker {replica} stopped instead of truncating its log from {end} to {first}, the log end offset of {leader}: "
        "{offsets} may be on broker {replica} only",
        "refused to truncate: its log ends at {end}, that of {leader} at {first}",
        (
            (
                "no record from offset {first} on was committed: {leader} was elected from the ISR while broker "
                "{replica} was not in it"
            ),
            REMADE,
        ),
        before=LEO,
        settle=(COMPARE,),
        do_not=(
            (
                "set unclean.leader.election.enable=true to let broker {replica} start: it then truncates to {first} "
                "and removes {offsets}"
            ),
        ),
    ),
    Suspect(
        Sign.LEADER_ENDS_BELOW_FOLLOWER,
        "committed-data-lost",
        "broker {replica} had fetched up to offset {end}, but the log of {leader} ended at {first}. Offsets {span} may "
        "have been committed, and the leader does not have them",
        "set its fetch offset back from {end} to {first}, the log end offset of {leader}",
        ("no record from offset {first} on was committed", REMADE),
        before=LEO,
        settle=(COMPARE,),
    ),
    *OF_READERS,
    *(
        Suspect(
            Sign.EPOCH_BEGAN_EARLIER,
            rule,
            "broker {replica} became leader ({role}) at offset {first}, below offset {end}, where broker {witness} had "
            "begun the leader epoch before: " + at_stake,
            "became leader ({role}) at offset {first}; broker {witness} had begun leader epoch {since} at {end}",
            ("no record from offset {first} on was committed", REMADE),
            before=LEO,
            settle=(COMPARE,),
        )
        for rule, at_stake in (
            ("committed-data-lost", "committed {offsets} may be lost"),
            ("epoch-divergence", "{offsets} of that log may be lost"),
        )
    ),
    Suspect(
        Sign.APPEND_REFUSED,
        "replica-divergence",
        "broker {replica} received records from offset {first} on from {leader}, but its log ended at {end}: the two "
        "may have different records at {offsets}",
        "refused records from offset {first} on: its log ends at {end}",
        ("the same records were sent twice, and both logs have them",),
        before=LEO,
        after="offset",
        settle=(COMPARE,),
    ),
    Suspect(
        Sign.LOG_START_ABOVE_HIGH_WATERMARK,
        "hw-regression",
        "broker {replica} received log start offset {first_kept} from {leader}, above its own high watermark {first}: "
        "one of the two may be wrong",
        "refused log start offset {first_kept}: its high watermark is {first}",
        (
            "the log start offset of its leader came with a response before the records did (KAFKA-7104)",
            "a client asked to delete records that are not committed (DeleteRecords)",
            "it is far behind, and its leader deleted old records in the meantime",
        ),
        before="log_start_offset",
        after=HW,
    ),
    *OF_COPIES,
    Suspect(
        Sign.HIGH_WATERMARK_FELL,
        "hw-regression",
        "the high watermark of broker {replica} fell from {end} to {first} while it led {role}: {offsets} had "
        "counted as committed",
        "high watermark {first}",
        ("broker {replica} followed another leader in between, and led again", REMADE),
        after=HW,
    ),
    Suspect(
        Sign.LAST_STABLE_FELL,
        "lso-above-hw",
        "the last stable offset of broker {replica} fell from {end} to {first} while it led {role}",
        "last stable offset {first}",
        ("broker {replica} followed another leader in between, or restarted, and led again", REMADE),
        before=LSO,
        after=LSO,
        had="had last stable offset {end}",
    ),
    Suspect(
        Sign.END_BELOW_HIGH_WATERMARK,
        "truncation-below-committed",
        "broker {replica} had high watermark {end}, and its log ended at {target} later: committed {offsets} may "
        "be gone from it",
        "the log of broker {replica} ends at {target}",
        (
            TAKEN_OVER,
            "the process before was killed, and what it had not flushed was lost with its host",
            REMADE,
        ),
    ),
    Suspect(
        Sign.LOG_END_FELL,
        "leo-regression",
        "the log of broker {replica} ended at {end}, and later at {target}; no line shows what removed {offsets}",
        "the log of broker {replica} ends at {end}, and later at {target}",
        ("lines in between are missing, and one of them shows a truncation", REMADE),
        before=LEO,
    ),
    *(
        Suspect(
            Sign.APPENDS_DISAGREE,
            rule,
            "broker {replica} and broker {witness} have records of two leader epochs, {since} and {later}, at "
            "{offsets}, below the high watermarks of both",
            "records of two leader epochs at {offsets}",
            (
                "lines in between are missing: one of the two truncated its log, and appended the records of the other",
                REMADE,
            ),
            before=LEO,
            settle=(COMPARE,),
        )
        for rule in ("replica-divergence", "epoch-divergence")
    ),
    Suspect(
        Sign.BATCHES_DISAGREE,
        "replica-divergence",
        "broker {replica} and broker {witness} appended record batches with two checksums at {offsets} in {role}, "
        "below the high watermark of one of them",
        "appended {offsets} with another checksum",
        (
            "lines in between are missing: one of the two truncated its log, and appended the records of the other",
            REMADE,
        ),
        before=LEO,
        settle=(COMPARE,),
    ),
    Suspect(
        Sign.EPOCH_ENTRIES_FALL,
        "epoch-divergence",
        "by the epoch entries of broker {replica} leader epoch {since} begins at offset {end}, and {role} at {target}, "
        "below it",
        "leader epoch {since} from offset {end}, {role} from offset {target}",
        ("the entries are of two moments, and its log was truncated in between",),
        before="start_offset",
        after="start_offset",
        settle=(COMPARE,),
    ),
    Suspect(
        Sign.LED_EARLIER_EPOCH,
        "epoch-divergence",
        "broker {replica} led {role} after it had been given leader epoch {since}: leader epochs went back",
        "broker {replica} leads {role}, after leader epoch {since}",
        (REMADE, "the state of the controller was put back from an older copy", TWO_CLUSTERS),
        before="leader_epoch",
        after="leader_epoch",
    ),
    Suspect(
        Sign.ELECTED_TWICE,
        "two-leaders-one-epoch",
        "{role} was given to two leaders: broker {witness}, and broker {replica}",
        "was elected leader of {role}",
        ("one of the two never received it, and did not lead", REMADE),
        had="was elected leader of {role}",
        settle=("find out which of the two wrote records in {role}",),
    ),
    Suspect(
        Sign.MEMBER_BELOW_HIGH_WATERMARK,
        "hw-above-isr-member",
        "broker {witness}, the leader ({role}), had high watermark {end}, and then stated that the log of broker "
        "{replica}, a member of the ISR, ended at {first}",
        "the log of broker {replica} ended at {first}",
        ("broker {replica} had left the ISR, and the line is not in the evidence", REMADE),
    ),
    Suspect(
        Sign.REMOVED_BELOW_HIGH_WATERMARK,
        "hw-above-isr-member",
        "broker {witness}, the leader{in_epoch}, had high watermark {end} when it removed broker {replica} from the "
        "ISR, whose log ended at {first}: a member of the ISR lacked committed {offsets}",
        "broker {witness} removed it from the ISR: its log ended at {first}, below high watermark {end}",
        (
            "broker {replica} had lost the end of its log, and was fetching it again from the leader",
            "broker {replica} began with an empty directory while the ISR still had it",
        ),
        settle=("collect server.log of broker {replica} from its last start on: what its log had when it was loaded",),
    ),
    Suspect(
        Sign.READ_BACK_LESS,
        "hw-regression",
        "broker {replica} read back high watermark {first}; its checkpoint file had had {end}",
        "read back high watermark {first}",
        ("the checkpoint was written again with a lower value, and the line is not in the evidence", REPLACED),
        after=HW,
    ),
    Suspect(
        Sign.LED_WITHOUT_LAST_RECORDS,
        "committed-data-lost",
        "broker {replica} became leader ({role}) at offset {first}, but broker {witness} had been alone in the ISR "
        "with log end offset {end}: {offsets} may have been committed, and are lost",
        "became leader ({role}) without {offsets}",
        (
            GREW_AGAIN,
            ELIGIBLE,
            MIN_ISR,
            REMADE,
        ),
        before=LEO,
        had="was alone in the ISR with log end offset {end}",
        settle=(OWN_COPY, ELECTION),
        do_not=(KEEP,),
        cause=CauseId.UNCLEAN_ELECTION,
    ),
    Suspect(
        Sign.LED_FROM_OUTSIDE_ISR,
        "unclean-election",
        "broker {replica} became leader ({role}), but the last ISR that broker {witness} stated before was {isr}: it "
        "may have been elected from outside the ISR",
        "became leader ({role})",
        (GREW_AGAIN, ELIGIBLE, "the clocks of the two brokers differ, and the ISR shrank later", REMADE),
        had="stated ISR {isr}",
        settle=(ELECTION,),
        do_not=(KEEP,),
        cause=CauseId.UNCLEAN_ELECTION,
    ),
    Suspect(
        Sign.TOPIC_GONE,
        "committed-data-lost",
        "the controllers no longer know this topic, as {finders} found when they started, and no line shows that "
        "somebody deleted it. No consumer can read {offsets}, which these brokers had",
        "found that the controllers do not know the topic of its replica, which had log end offset {end}",
        ("somebody deleted the topic on purpose, and no line in the evidence shows it: then nothing is lost",),
        before="",
        after="",
        do_not=("delete directories with names that end in -stray before that",),
        cause=CauseId.VOTERS_LOST_RECORDS,
    ),
)
"""Every suspicion that a finding may name, in the order in which they are shown."""
