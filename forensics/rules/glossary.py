"""Words of Kafka that reports use, each explained in one or two sentences for a reader who does not know Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

GLOSSARY: Mapping[str, str] = MappingProxyType(
    {
        "partition": (
            "One of the logs of a topic, such as orders-0. Its records have one order, and several brokers have a copy."
        ),
        "replica": "The copy of a partition on one broker.",
        "offset": "The number of a record in its partition: 0 for the first one, and one more for each one after it.",
        "segment": "One of the files that hold the records of a replica. Its name is the offset of its first record.",
        "leader": "The replica that takes all new records. The other replicas, the followers, copy them from it.",
        "leader epoch": (
            "A number that rises by one with each new leader. It shows under which leader a record was written."
        ),
        "controller": "The broker or node that decides which replica leads a partition.",
        "ISR": (
            "The in-sync replicas: those that keep up with the leader. Only they can become leader without a loss. "
            "The setting min.insync.replicas is how many there must be for acks=all."
        ),
        "log end offset": "The offset that the next record of a replica will have. Its log ends below it. Short: LEO.",
        "high watermark": (
            "The offset below which every record is committed. Short: HW. Brokers note it in the file "
            "replication-offset-checkpoint."
        ),
        "committed": (
            "A record is committed when every in-sync replica has it. Kafka promises to keep it, and only committed "
            "records reach consumers."
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
        "forked": "Two replicas hold different records at one committed offset. The rule replica-divergence finds it.",
        "lost": "A committed record is not in the log of the current leader. The rule committed-data-lost finds it.",
    }
)
"""Each word with what it means, in an order in which none needs one that follows."""

SHORT: Mapping[str, str] = MappingProxyType(
    {
        "LEO": "log end offset",
        "HW": "high watermark",
        "in-sync replicas": "ISR",
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
