"""Words that reports use, of Kafka and of verdicts, each explained in a few sentences to readers new to Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

GLOSSARY: Mapping[str, str] = MappingProxyType(
    {
        "partition": (
            "One of the logs of a topic: TOPIC-0 is the first. Its records have one order. Several brokers have copies."
        ),
        "replica": "The copy of a partition on one broker.",
        "offset": "The number of a record in its partition: 0 for the first one, and one more for each one after it.",
        "segment": "One of the files that hold the records of a replica. Its name is the offset of its first record.",
        "log": (
            "The records of a partition on one broker, in its segments. A server.log is something else: a text file in "
            "which a broker writes what it does."
        ),
        "leader": "The replica that takes all new records. The other replicas, the followers, copy them from it.",
        "leader epoch": (
            "A number that rises by one with each new leader. It shows under which leader a record was written."
        ),
        "controller": "The broker or node that decides which replica leads a partition.",
        "ISR": (
            "The in-sync replicas: those that keep up with the leader. They can become leader without a loss, and so "
            "can those in the ELR, unless one has lost the end of its log, as after a power failure. The setting "
            "min.insync.replicas is how many there must be for acks=all."
        ),
        "ELR": (
            "The eligible leader replicas (KIP-966, from Kafka 4.0 on): they left the ISR, but have every committed "
            "record. If the ISR is empty, one of them can become leader without a loss. A broker that restarts "
            "after an unclean stop is not in it any more."
        ),
        "log end offset": (
            "The offset that the next record of a replica will have: that of its last record, plus 1. Short: LEO."
        ),
        "high watermark": (
            "The offset below which every record is committed. Short: HW. Brokers note it in the file "
            "replication-offset-checkpoint."
        ),
        "committed": (
            "A record is committed when every in-sync replica has it. Kafka promises to keep it, and only committed "
            "records reach consumers."
        ),
        "checkpoint": (
            "A small file beside the logs in which a broker notes offsets every few seconds, such as "
            "replication-offset-checkpoint with the high watermarks. A broker reads it when it starts."
        ),
        "last stable offset": (
            "The offset below which no transaction is open. Consumers with isolation.level=read_committed read no "
            "further. Short: LSO."
        ),
        "acks": (
            "What a producer waits for: acks=all for all in-sync replicas, acks=1 for the leader alone, acks=0 for "
            "nothing."
        ),
        "truncate": (
            "To remove records from the end of a log. A follower does this to become equal to its leader, and a broker "
            "to remove damage."
        ),
        "unclean election": (
            "The election of a replica from outside the ISR. What it had not copied is lost, also if it was committed."
        ),
        "flush": (
            "To write data from memory to the disk (fsync). Kafka acknowledges records before that and relies on the "
            "other replicas: a power failure takes what was not flushed."
        ),
        "CRC": "The checksum of a record batch. If it is wrong, the bytes are not those that were written.",
        "compaction": (
            "The log cleaner removes records of which a later one has the same key (cleanup.policy=compact). Offsets "
            "are missing then, and nothing is lost."
        ),
        "forked": "Two replicas hold different records at one committed offset. The rule replica-divergence finds it.",
        "lost": "A committed record is not in the log of the current leader. The rule committed-data-lost finds it.",
        "violated": "The evidence shows what a rule forbids. The finding is either proven or inferred.",
        "proven": (
            "Two independent files show each fact on which a finding rests. If it is about one file, that file does."
        ),
        "inferred": (
            "A fact on which a finding rests follows from the protocol, or only one file shows it. The finding names "
            "the fact. Act on it as if it were proven."
        ),
        "suspected": (
            "The evidence has a sign of a violation, but something else may explain it. The finding names it, "
            "and what would decide."
        ),
        "inconclusive": (
            "The evidence does not suffice to answer. Nothing was found, but it cannot be ruled out either. The scan "
            "lists what to collect."
        ),
    }
)
"""Each word with what it means, in an order in which none needs one that follows."""

SHORT: Mapping[str, str] = MappingProxyType(
    {
        "LEO": "log end offset",
        "HW": "high watermark",
        "LSO": "last stable offset",
        "in-sync replicas": "ISR",
        "eligible leader replicas": "ELR",
        "KIP-966": "ELR",
        "follower": "leader",
        "unknown": "inconclusive",
        "replication-offset-checkpoint": "checkpoint",
        "log cleaner": "compaction",
        "fsync": "flush",
        "checksum": "CRC",
        "epoch": "leader epoch",
        "min.insync.replicas": "ISR",
        "fork": "forked",
        "truncation": "truncate",
    }
)
"""Other names of these words."""


def explained(word: str) -> str | None:
    """Return what a word means, whatever its capital letters; None for a word that is not explained.

    >>> explained("isr") == explained("in-sync replicas") == GLOSSARY["ISR"], explained("rack")
    (True, None)
    """
    by_name = {name.casefold(): text for name, text in GLOSSARY.items()}
    by_name |= {short.casefold(): GLOSSARY[name] for short, name in SHORT.items()}
    return by_name.get(word.strip().casefold())
