"""Words that reports use, of Kafka and of verdicts, each explained in a few sentences to readers new to Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

GLOSSARY: Mapping[str, str] = MappingProxyType(
    {
        "broker": "A server of Kafka. Each has an id, such as broker 1, and copies of many partitions.",
        "record": "One message, as a producer sent it.",
        "producer": "An application that writes records.",
        "topic": "A named stream of records. It is divided into partitions.",
        "partition": (
            "One of the logs of a topic: TOPIC-0 is the first. Its records have one order. Several brokers have copies."
        ),
        "replica": "The copy of a partition on one broker.",
        "offset": "The number of a record in its partition: 0 for the first one, and one more for each one after it.",
        "role": "What a broker is for a partition: its leader, or a follower that copies from the leader.",
        "segment": "One of the files that hold the records of a replica. Its name is the offset of its first record.",
        "log": (
            "The records of a partition on one broker, in its segments. A server.log is something else: a text file in "
            "which a broker writes what it does."
        ),
        "batch": "Records that were sent together. They have one checksum and are written and read as one piece.",
        "log directory": (
            "A folder in which a broker keeps partitions, one folder each. The setting log.dirs names all of them, "
            "often one for each disk."
        ),
        "data directory": (
            "A log directory. Of one partition it is the folder there that has its name, with its segments and its "
            "leader-epoch-checkpoint."
        ),
        "directory id": (
            "The name of a log directory itself, in its meta.properties (KIP-858, from 3.7 on). Brokers and "
            "controllers log it. If it changes and is the former one later, another disk was mounted in between. A "
            "copy has the id of its original."
        ),
        "older data directory": (
            "One that is not as its broker had left it: a copy that was put back, a snapshot of the volume, or a disk "
            "from before. The metadata log in it shows that, because records that the broker had read are missing."
        ),
        "freed blocks": (
            "Parts of a disk that belonged to a deleted or truncated file. They keep their bytes until they are "
            "written again, so an image of the whole disk may have them. Special tools can search it."
        ),
        "deleted segment": (
            "A file that its broker has renamed to *.deleted, to remove it a minute later or when it starts. It may "
            "have the last copy of lost records."
        ),
        "log start offset": (
            "The offset of the first record that a replica still has: retention deletes older ones, which is no loss."
        ),
        "stray": (
            "A replica whose topic the controllers do not know, or that they did not assign to its broker. Since 3.6.1 "
            "the broker renames its directory to TOPIC-N.ID-stray and keeps it. Earlier releases may delete it. If "
            "controllers lost the topic, it may be the only copy."
        ),
        "earlier topic": (
            "A topic that was deleted or lost, and whose name another topic has now. Each has a topic id of its own."
        ),
        "topic id": "A name that the controllers give each topic (KIP-516). A topic that is created again has another.",
        "leader": "The replica that takes all new records. The other replicas, the followers, copy them from it.",
        "leader epoch": (
            "A number that rises by one with each new leader, and when the leader is gone and there is no other. It "
            "shows under which leader a record was written."
        ),
        "controller": "The broker or node that decides which replica leads a partition.",
        "election": "The controller makes a replica the leader.",
        "ZooKeeper": (
            "The service in which Kafka before 4.0 keeps what the controller decided, unless the cluster has KRaft."
        ),
        "KRaft": (
            "Kafka without ZooKeeper: controllers keep what they decide in a log of their own, the metadata log "
            "(__cluster_metadata-0). From 4.0 on there is nothing else."
        ),
        "fence": (
            "The controller takes a broker for gone, because it received nothing from it in time. The broker leads "
            "nothing then and leaves every ISR, until it registers again and is unfenced."
        ),
        "partition epoch": (
            "A number that rises with each change of a partition's leader or ISR. With ZooKeeper its name is zkVersion."
        ),
        "LeaderAndIsr": (
            "The request by which a controller names to a broker the leader of a partition, in which leader epoch and "
            "with which ISR. With KRaft the metadata log states it."
        ),
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
        "min.insync.replicas": (
            "A setting: how many replicas the ISR must have, the leader included, for a write with acks=all. All in "
            "the ISR must have the record. With 1, a leader that is alone in the ISR acknowledges it."
        ),
        "consumer group": (
            "Consumers that share the partitions of a topic. For each partition the group notes how far it has read."
        ),
        "committed offset": (
            "Of a consumer group: how far it has read a partition, as it noted itself in the topic __consumer_offsets. "
            "Of a partition: an offset below the high watermark, whose record is committed."
        ),
        "CURRENT-OFFSET": (
            "The position of a consumer group in a partition, as kafka-consumer-groups.sh --describe shows it: the "
            "offset of the next record that it reads."
        ),
        "auto.offset.reset": (
            "A setting of consumers: where they continue if the partition has no record at their position. latest "
            "skips to the end of the log, earliest reads all of it again, none ends with an error."
        ),
        "acknowledged": (
            "The leader answered a producer that a record is written. With acks=all it is committed then. The highest "
            "offset so answered is known to producers alone, if they log it."
        ),
        "acks": (
            "What a producer waits for: acks=all for all in-sync replicas, acks=1 for the leader alone, acks=0 for "
            "nothing."
        ),
        "truncate": (
            "To remove records from the end of a log. A follower does this to become equal to its leader, and a broker "
            "to remove damage."
        ),
        "log recovery": (
            "A broker that did not stop cleanly checks the end of its logs when it starts, and truncates them where it "
            "finds damage."
        ),
        "corruption": (
            "Bytes in a log that cannot be what the broker wrote: their checksum is wrong, or their length. Causes are "
            "a crash in the middle of a write, a faulty disk and faulty memory."
        ),
        "clean stop": (
            "The end of a broker that was asked to stop. It writes everything to its disk first, so it checks no log "
            "when it starts again."
        ),
        "unclean stop": (
            "The end of a broker by kill, crash or power failure. It had no time to write everything to its disk."
        ),
        "unclean election": (
            "The election of a replica from outside the ISR. What it had not copied is lost, also if it was committed."
        ),
        "flush": (
            "To write data from memory to the disk (fsync). Kafka acknowledges records before that and relies on the "
            "other replicas: a power failure takes what was not flushed."
        ),
        "tiered storage": (
            "Old segments are copied to a remote store (KIP-405, remote.storage.enable=true). Lost records may still "
            "be there."
        ),
        "log level": (
            "How much a broker prints: ERROR, WARN, INFO, DEBUG and TRACE, each with more than the one before. It is "
            "set for each logger, such as kafka.cluster.Partition."
        ),
        "protocol": (
            "The rules by which brokers copy records and elect leaders. If something follows from it, no line states "
            "that, but a broker that works as designed must have done it."
        ),
        "ids": (
            "In the list of evidence: the files that name brokers, clusters and topics by their ids, such as "
            "meta.properties."
        ),
        "session": (
            "The time in which a broker must let the controller hear from it. If it does not, its session times out, "
            "and the controller fences it."
        ),
        "failure domain": (
            "Things that fail together, such as a rack or a power supply. Replicas in different ones are not all gone "
            "at once."
        ),
        "state-change.log": (
            "The log in which brokers and controllers write who leads a partition, in which leader epoch and with "
            "which ISR. It is beside server.log."
        ),
        "server.log": "The log in which a broker writes what it does: starts, truncations, errors.",
        "controller.log": "The log in which a controller writes which brokers it found gone, and whom it elected.",
        "kafka-request.log": (
            "The log of each request that a broker answered, if somebody has switched it on. It shows high watermarks."
        ),
        "settings": "Lines of server.properties, or what a broker printed of them when it started.",
        "metrics": "Values that an exporter printed for a monitoring system, such as a high watermark at each scrape.",
        "replication trace": "A file of which each line states one thing that happened to a replica.",
        "listing": "The names of the files in a directory, as ls prints them.",
        "evidence": (
            "Everything that was scanned: logs, files, and the output of commands. Its list says what there is of each "
            "broker, and after MISSING what there is not."
        ),
        "notice": "A place in the evidence that is damaged or could not be read, with the reason.",
        "KIP": (
            "Kafka Improvement Proposal: the design of a change of Kafka, such as KIP-966. KAFKA with a number is an "
            "issue of Kafka's own list of bugs. Both are on the web pages of Apache Kafka."
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
        "clean": (
            "The evidence shows that a rule is not violated. A rule with too little evidence is never clean, but "
            "unknown."
        ),
        "not applicable": "The evidence is of a kind that cannot show it, such as a rule about files for a trace.",
        "confidence": "How sure a finding is: proven, inferred or suspected.",
        "rule": (
            "A question that is asked of each partition, such as whether committed data was lost. The answer is "
            "violated, clean, unknown or not applicable."
        ),
        "finding": "What a rule found in one partition, with the lines or bytes that show it.",
        "step": "One thing that happened, with its time and the lines or bytes that show it.",
        "cause": (
            "Why it happened, as far as the evidence shows it. After it come the source with the versions of Kafka, "
            "and what prevents it."
        ),
        "keep": (
            "The copy that has lost records. Copy it before you start its broker or change its files. After none: no "
            "copy in the evidence has them."
        ),
        "do first": "The steps in their order. Take each for all partitions that are named, before the next one.",
        "do not": "What would destroy the last copy of lost records, or the evidence.",
        "note": "What has no time of its own, such as the settings of a topic.",
        "otherwise": "What else may explain what is suspected.",
        "new leader": "The broker that became leader without the lost records, and its leader epoch.",
        "lost at": "The time at which a leader began without committed records.",
        "written": "The time in which lost records were written. Applications send again what they wrote then.",
        "reset to": (
            "The offset to which consumer groups are set back, to read what they have not read. It is the lowest of "
            "all losses of the partition."
        ),
        "severity": (
            "How bad a finding is. critical: committed data is gone. error: a rule is violated. warning: look at it, "
            "though it shows no loss by itself. info: good to know. What is suspected is one lower."
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
        "old topic": "earlier topic",
        "position": "CURRENT-OFFSET",
        "HW": "high watermark",
        "HWM": "high watermark",
        "LSO": "last stable offset",
        "in-sync replicas": "ISR",
        "eligible leader replicas": "ELR",
        "KIP-966": "ELR",
        "log directories": "log directory",
        "acknowledgement": "acknowledged",
        "state-change": "state-change.log",
        "kafka.cluster.Partition": "log level",
        "no violation": "clean",
        "critical": "severity",
        "error": "severity",
        "warning": "severity",
        "info": "severity",
        "follower": "leader",
        "unknown": "inconclusive",
        "replication-offset-checkpoint": "checkpoint",
        "log cleaner": "compaction",
        "fsync": "flush",
        "checksum": "CRC",
        "epoch": "leader epoch",
        "leaderEpoch": "leader epoch",
        "zkVersion": "partition epoch",
        "fenced": "fence",
        "unfenced": "fence",
        "fencing": "fence",
        "metadata log": "KRaft",
        "quorum": "KRaft",
        "log.dirs": "log directory",
        "__consumer_offsets": "committed offset",
        "recovery": "log recovery",
        "unclean.leader.election.enable": "unclean election",
        "acks=all": "acks",
        "DEBUG": "log level",
        "TRACE": "log level",
        "fork": "forked",
        "truncation": "truncate",
        "elected": "election",
        "consumer": "consumer group",
        "certainty": "confidence",
        "verdict": "rule",
        "copy to keep": "keep",
        "then": "do first",
        "about it": "cause",
        "known as": "cause",
        "prevent": "cause",
        "to prevent it": "cause",
        "means": "finding",
        "here": "finding",
        "what": "finding",
        "when": "step",
        "first to last step": "step",
        "day written": "written",
        "written (UTC)": "written",
        "epochs and offsets": "leader epoch",
        "missing": "evidence",
        "file": "evidence",
        "leader-epoch-checkpoint": "checkpoint",
        "recovery-point-offset-checkpoint": "checkpoint",
        "__cluster_metadata": "KRaft",
        "log-cleaner.log": "compaction",
        "nodes of ZooKeeper": "ZooKeeper",
        "a trace": "replication trace",
        "output of Kafka's commands": "evidence",
        "output of kafka-dump-log": "evidence",
        "output of kafka-log-dirs": "evidence",
        "output of kafka-metadata-quorum": "evidence",
    }
)
"""Other names of these words."""


def explained(word: str) -> str | None:
    """Return what a word means, whatever its capital letters; None for a word that is not explained.

    >>> explained("isr") == explained("in-sync replicas") == GLOSSARY["ISR"], explained("rack")
    (True, None)
    >>> explained("truncated") == explained("truncates") == GLOSSARY["truncate"]
    True
    """
    by_name = {name.casefold(): text for name, text in GLOSSARY.items()}
    by_name |= {short.casefold(): GLOSSARY[name] for short, name in SHORT.items()}
    asked = word.strip().casefold()
    found = (by_name[form] for form in _forms(asked) if form in by_name)
    issues, _, number = asked.partition("-")
    return next(found, GLOSSARY["KIP"] if issues in ("kip", "kafka") and number.isdigit() else None)


_ENDINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"ies": ("y",), "es": ("", "e"), "s": ("",), "ed": ("", "e"), "ing": ("", "e"), "d": ("",)}
)
"""Endings of English words, and what the form that the glossary has may end with instead."""


def _forms(word: str) -> list[str]:
    """Return a word, and the forms of which it may be another.

    >>> _forms("truncated")
    ['truncated', 'truncat', 'truncate', 'truncate']
    """
    ends = ((ending, others) for ending, others in _ENDINGS.items() if word.endswith(ending))
    return [word, *(word.removesuffix(ending) + other for ending, others in ends for other in others)]
