"""A sign: a line or file that suggests a loss, a truncation or a value that went back, by itself.

``forensics.replay.signs.suspicions`` finds signs, ``forensics.rules.suspected`` words them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.log_dirs import Moved
from forensics.replay.facts.stray_replicas import StrayReplica
from forensics.replay.history import ShortenedLog
from forensics.replay.lineage import Range


class Sign(StrEnum):
    """A kind of line that suggests a loss or a truncation."""

    EPOCH_BELOW_HIGH_WATERMARK = "a leader began below a high watermark stated before"
    LAST_IN_ISR_CAME_BACK_SHORTER = "the last member of the ISR restarted with less than was committed"
    LEADER_CAME_BACK_SHORTER = "a leader restarted with less than the other members of the ISR had, and led again"
    TRUNCATED_BELOW_OWN_HIGH_WATERMARK = "a replica truncated its log below its own high watermark"
    TRUNCATED_BELOW_PRINTED = "a replica truncated its log below a high watermark that its broker printed"
    FOLLOWED_BELOW_OWN_HIGH_WATERMARK = "the log of a follower ended below its own high watermark"
    BEGAN_EMPTY_AFTER_FAILURE = "a leader began empty after its log directory failed, and a follower had more committed"
    BEGAN_EMPTY_ALONE = "a leader began empty and alone after its log directory failed"
    BEGAN_NEW_ALONE = "a leader began alone in a later epoch, with a log that it had just created"
    LEFT_DIRECTORY_HAD_MORE = "a directory left behind had more committed than the live one holds"
    BEGAN_BELOW_PRINTED = "a leader began below a high watermark that a line printed before"
    BEGAN_BELOW_READ_BACK = "a leader began below the high watermark that it had read back"
    LOADED_SHORTER = "a log was loaded shorter than the load before had found it"
    LOADED_BELOW_STATED = "a log was loaded shorter than pasted lines of its broker state before"
    LED_AFTER_LOADING_SHORTER = "a log was loaded shorter than the load before had found it, and its broker led next"
    RECOVERY_TRUNCATED_LEADER = "recovery truncated the log of a replica that then led"
    LED_WITH_OLDER_DIRECTORY = "a leader restarted with a data directory older than it had left it, and led again"
    RECOVERED_WHILE_ANOTHER_HAD_MORE = (
        "recovery truncated the log of a member of the ISR, which led next, and another replica then removed more"
    )
    LED_AFTER_TRUNCATING = "a member of the ISR truncated its log to its own high watermark, and led next"
    LED_WHILE_ANOTHER_HAD_MORE = "a follower truncated its log, led soon after, and another replica then removed more"
    BEGAN_BELOW_FOLLOWER = "a leader began below the high watermark to which a new follower truncated its log"
    LAST_ISR_TRUNCATED = "a member of the last ISR truncated its log to follow a leader elected from outside the ISR"
    MEMBER_CAME_BACK_SHORTER = (
        "a member of the ISR restarted after an unclean stop and led next, with less than all other members had"
    )
    TRUNCATED_FOR_LAST_KNOWN = (
        "a member of the ISR truncated its log to follow the last known leader, which had stopped uncleanly"
    )
    FELL_TO_UNCLEAN_LEADER = "a high watermark fell to where a leader elected from outside the ISR began"
    FELL_TO_RECOVERED_LEADER = (
        "a high watermark fell to where log recovery had truncated a log, and a leader began there"
    )
    TRUNCATION_REFUSED = "a broker stopped rather than truncate its log to where its leader's ends"
    LEADER_ENDS_BELOW_FOLLOWER = "the log of a leader ended below where a follower fetched"
    READER_DIVERGES = "a leader answered a consumer that records of the epoch it had read end below its position"
    READER_BEYOND_LOG_END = "a reader asked for records above the end of the log"
    READER_SET_BACK = "a reader was set back from a position that its leader called out of range"
    POSITION_BEYOND_LOG_END = "a consumer group committed a position above the end of the log"
    GROUP_BEYOND_LAST_LEADER = "a consumer group moved on to a position above the end of the last leader's log"
    LOG_START_ABOVE_HIGH_WATERMARK = "the log of a leader started above the high watermark of a follower"
    EPOCH_BEGAN_EARLIER = "a leader epoch began below the start of the epoch before it"
    APPEND_REFUSED = "a leader sent records at offsets that its follower had already"
    TRUNCATED_BELOW_STATED = "a replica truncated its log below a high watermark that it stated before"
    APPENDS_DISAGREE = "two replicas have records of two leader epochs at offsets that both have committed"
    BATCHES_DISAGREE = (
        "two replicas appended different record batches of one leader epoch at offsets that one has committed"
    )
    COPIES_DIFFER_IN_ONE_EPOCH = "two replicas have different record batches of one leader epoch at the same offsets"
    COPIES_DIFFER_WITHIN = "two replicas have different record batches at some offsets, and the same one behind them"
    HIGH_WATERMARK_FELL = "the high watermark of a leader fell within its leader epoch"
    LAST_STABLE_FELL = "the last stable offset of a leader fell within its leader epoch"
    END_BELOW_HIGH_WATERMARK = "a log ended below a high watermark that its broker stated before"
    LOG_END_FELL = "a log ended lower than its broker stated before"
    EPOCH_ENTRIES_FALL = "a leader epoch began below an earlier one, by the epoch entries of one replica"
    LED_EARLIER_EPOCH = "a broker led in a leader epoch below one that it had been given before"
    ELECTED_TWICE = "two elections gave one leader epoch to two leaders"
    MEMBER_BELOW_HIGH_WATERMARK = "a leader stated a log end offset of a member of the ISR below its own high watermark"
    REMOVED_BELOW_HIGH_WATERMARK = "a leader removed a replica from the ISR whose log ended below its high watermark"
    READ_BACK_LESS = "a process read back a lower high watermark than its checkpoint had"
    LED_WITHOUT_LAST_RECORDS = "a leader from outside the last ISR stated began below the log end of its only member"
    LED_FROM_OUTSIDE_ISR = "a leader was not in the last ISR that a leader before it stated"
    TOPIC_GONE = "every replica is of a topic that the controllers no longer know, and no line deletes it"


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One sign on one replica.

    Attributes:
        sign: the kind of sign.
        replica: broker id of the replica that lacks, has or removed the records; None if no line names it.
        witness: broker id that stated the high watermark (the replica itself, for its own), or the leader that a
            complaint is about. None if no line names it.
        epoch: leader epoch in which the replica began to lead, or truncated.
        since: leader epoch in which the high watermark was stated; -1 if no line names it.
        first, end: offsets at stake, ``[first, end)``; ``end`` is None if the log end offset is unknown.
        time: microseconds since 1970 UTC, or None.
        refs: the lines; if there is a high watermark, its line is first.
        moved: the change of the broker's ``log.dirs`` in between, or None.
        shortened: how the log became shorter, or None if unknown.
        target: the log end offset then, if it is below ``first``; the records in between had been deleted before.
        isr: the ISR that the witness stated, of a leader that was not in it.
        sides: brokers with the records of the witness, and brokers with those of the replica, where copies differ.
        pieces: the offsets at stake, if they are not all of ``[first, end)``.
        followed: the lines by which the witness then truncated its log to follow the replica.
        stray: the replicas of a topic that the controllers do not know.
        more: what the witness had ends at ``end`` only since an unclean stop, so more may be at stake.
    """

    sign: Sign
    replica: int | None
    witness: int | None
    epoch: int
    since: int
    first: int
    end: int | None
    time: int | None
    refs: tuple[Ref, ...]
    moved: Moved | None = None
    shortened: ShortenedLog | None = None
    target: int | None = None
    isr: frozenset[int] | None = None
    sides: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    pieces: tuple[Range, ...] = ()
    followed: tuple[Ref, ...] = ()
    more: bool = False
    stray: tuple[StrayReplica, ...] = ()

    @property
    def kept(self) -> tuple[int, ...]:
        """The brokers that kept their replica of a topic that the controllers do not know."""
        return tuple(one.broker for one in self.stray if one.deleted is None)

    @property
    def offsets(self) -> tuple[Range, ...]:
        """Offsets at stake, if both ends are known."""
        if self.pieces:
            return self.pieces
        return ((self.first, self.end),) if self.end is not None else ()
