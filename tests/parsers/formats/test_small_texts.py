"""What tools print of a running cluster, and the configuration of logging."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.errors import NotThisFormat
from parsers.formats.log4j_config import read_log4j_config
from parsers.formats.quorum_describe import read_quorum
from parsers.read import read
from tests.parsers.handing_over import source

DESCRIBED = """Topic: orders\tTopicId: Rh8JkKq4RPy1v6cF2f9x0A\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: a=b
\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2\tElr: 3\tLastKnownElr: \n
\tTopic: orders\tPartition: 1\tLeader: none\tReplicas: 2,3\tIsr: \tElr: N/A\tLastKnownElr: N/A
Topic:old.topic-1\tPartitionCount:1\tReplicationFactor:2\tConfigs:
\tTopic: old.topic-1\tPartition: 0\tLeader: -1\tReplicas: 2,1\tIsr: 2
"""

LOG_DIRS = """Querying brokers for log directories information
Received log directory information from brokers 1,2
{"version":1,"brokers":[{"broker":1,"logDirs":[{"logDir":"/d","error":null,"partitions":[\
{"partition":"a-b.c-12","size":1200,"offsetLag":0,"isFuture":false},\
{"partition":"orders-0","size":7,"offsetLag":3,"isFuture":true},{"partition":"broken","size":1}]}]},\
{"broker":2,"logDirs":[{"logDir":"/e","error":"org.apache.kafka.common.errors.KafkaStorageException","partitions":[]}]}]}
"""

LOG4J = """# comment
log4j.rootLogger=INFO, stdout, kafkaAppender
log4j.appender.stdout.Threshold=DEBUG
log4j.logger.kafka=INFO
log4j.logger.state.change.logger=TRACE, stateChangeAppender
log4j.additivity.state.change.logger=false
#log4j.logger.kafka.request.logger=TRACE
"""

LOG4J2 = """rootLogger.level = INFO
logger.fetcher.level = trace
logger.fetcher.name = kafka.server.ReplicaFetcherThread
appender.x.level = DEBUG
"""

YAML = """Configuration:
  Appenders:
    Console:
      name: STDOUT
      level: ERROR
  Loggers:
    Root:
      level: "INFO"
      AppenderRef:
        - ref: STDOUT
    Logger:
      # the log layer
      - name: kafka
        level: INFO
      - level: TRACE
        additivity: false
        name: state.change.logger
      - name: kafka.request.logger
        level: "${env:LEVEL}"
"""

XML = """<?xml version="1.0"?>
<Configuration><Appenders><Console name="x" level="debug"/></Appenders><Loggers>
<!-- <Logger name="hidden" level="trace"/> -->
<Logger name="kafka.controller" level="trace" additivity="false">
</Logger><Root level="info"/></Loggers></Configuration>
"""


SHIPPED = """# unspecified loggers go to server.log and to standard output
Configuration:
  Properties:
    Property:
      - name: "kafka.logs.dir"
        value: "."
      - name: "logPattern"
        value: "[%d] %p %m (%c)%n"

  Appenders:
    Console:
      name: STDOUT
      PatternLayout:
        pattern: "${logPattern}"
    RollingFile:
      - name: KafkaAppender
        fileName: "${sys:kafka.logs.dir}/server.log"
        filePattern: "${sys:kafka.logs.dir}/server.log.%d{yyyy-MM-dd-HH}"
        TimeBasedTriggeringPolicy:
          modulate: true
          interval: 1
      - name: StateChangeAppender
        fileName: "${sys:kafka.logs.dir}/state-change.log"

  Loggers:
    Root:
      level: INFO
      AppenderRef:
        - ref: STDOUT
        - ref: KafkaAppender
    Logger:
      - name: org.apache.kafka
        level: INFO
      - name: kafka.request.logger
        level: WARN
        additivity: false
        AppenderRef:
          ref: RequestAppender
#      - name: kafka.server.KafkaApis
#        level: TRACE
#        AppenderRef:
#          ref: RequestAppender
      - name: kafka.network.RequestChannel$
        level: WARN
        AppenderRef:
          ref: RequestAppender
      - name: org.apache.kafka.storage.internals.log.LogCleaner$CleanerThread
        level: INFO
        additivity: false
      - name: state.change.logger
        level: INFO
        additivity: false
        AppenderRef:
          ref: StateChangeAppender
"""
"""Built as config/log4j2.yaml of Kafka 4 is."""


def data(name: str) -> bytes:
    return (Path(__file__).parent / "data" / name).read_bytes()


@pytest.mark.parametrize("version", ["3.9.1", "4.1.1"])
def test_what_real_tools_print_of_real_brokers(version: str) -> None:
    topics = read(source(data(f"describe-{version}.txt"), "topics.txt"))
    assert (topics.format, topics.notices.height) == ("command-output", 0)
    assert topics.observations.select("topic", "partition", "leader", "isr", "detail").rows() == [
        ("a.b-c_d", 0, 1, "1", "replicas=1"),
        ("orders", 0, 1, "1", "replicas=1,2,3"),
        ("orders", 1, 1, "1", "replicas=2,3,1"),
    ]
    assert topics.observations.get_column("topic_id").null_count() == 0
    disks = read(source(data(f"log-dirs-{version}.txt"), "dirs.txt"))
    assert (disks.format, disks.notices.height) == ("log-dirs", 0)
    assert disks.observations.select("witness", "topic", "partition").rows() == [
        *((1, topic, partition) for topic, partition in (("a.b-c_d", 0), ("orders", 0), ("orders", 1))),
        *((broker, "orders", partition) for broker in (2, 3) for partition in (0, 1)),
    ]


@pytest.mark.parametrize(
    ("version", "hw", "ends", "nodes"), [("3.9.1", 74, (109, 135), "3,2,1"), ("4.1.1", 68, (90, 102), "3,1,2")]
)
def test_the_metadata_quorum_described(version: str, hw: int, ends: tuple[int, int], nodes: str) -> None:
    reading = read(source(data(f"quorum-{version}.txt"), "quorum.txt"))
    assert (reading.format, reading.notices.height) == ("quorum-describe", 0)
    rows = reading.observations
    assert set(rows.select("topic", "partition", "kind").rows()) == {("__cluster_metadata", 0, "quorum_described")}
    first = rows.row(0, named=True)
    assert (first["leader"], first["leader_epoch"], first["hw"], first["line"]) == (100, 1, hw, 1)
    assert first["detail"].endswith(f" voters=100 observers={nodes} max_lag=0")
    order = [100, *map(int, nodes.split(","))]
    assert rows.slice(1).select("replica", "leo").rows() == [(node, end) for end in ends for node in order]
    assert rows.get_column("leader").to_list() == [100, *([100, None, None, None] * 2)]
    assert rows.get_column("detail")[2].startswith("Observer lag=0 last_fetch=179530")
    assert rows.get_column("detail")[6].startswith("Observer lag=0 last_fetch=")


def test_a_metadata_quorum_of_3_3_and_damage() -> None:
    text = "ClusterId:              abc\nLeaderId:               3002\nLeaderEpoch:            2\n"
    older = (
        f"{text}HighWatermark:          10\nCurrentVoters:          [3000,3001,3002]\nCurrentObservers:       [0,1,2]\n"
    )
    table = (
        "NodeId\tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus\t\n0\t8\t2\t-1\t-1\tObserver\t\n"
    )
    reading = read(source((older + older + table + "0\t8\t2").encode(), "q"))
    assert reading.observations.select("leader", "hw", "replica", "leo", "detail", "line").rows() == [
        (3002, 10, None, None, "cluster=abc voters=3000,3001,3002 observers=0,1,2", 1),
        (3002, 10, None, None, "cluster=abc voters=3000,3001,3002 observers=0,1,2", 7),
        (None, None, 0, 8, "Observer lag=2 last_fetch=-1 last_caught_up=-1", 14),
    ]
    assert reading.notices.get_column("line").to_list() == [15]
    with pytest.raises(NotThisFormat):
        read_quorum("NodeId\tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus\n")


def test_topics_described() -> None:
    reading = read(source(DESCRIBED.encode(), "describe.txt"))
    assert reading.format == "command-output"
    assert reading.observations.select("topic", "topic_id", "partition", "leader", "isr", "detail", "line").rows() == [
        ("orders", "Rh8JkKq4RPy1v6cF2f9x0A", 0, 1, "1,2", "replicas=1,2,3", 2),
        ("orders", "Rh8JkKq4RPy1v6cF2f9x0A", 1, -1, "", "replicas=2,3", 4),
        ("old.topic-1", None, 0, -1, "2", "replicas=2,1", 6),
    ]
    assert reading.notices.is_empty()
    assert read(source(DESCRIBED.encode() + b"half a li", "x")).notices.get_column("line").to_list() == [7]


def test_log_directories_described() -> None:
    reading = read(source(LOG_DIRS.encode(), "dirs.txt"))
    assert reading.format == "log-dirs"
    assert reading.observations.select("witness", "kind", "log_dir", "topic", "partition", "detail").rows() == [
        (1, "log_dir_described", "/d", "a-b.c", 12, "size=1200 offsetLag=0"),
        (1, "log_dir_described", "/d", "orders", 0, "size=7 offsetLag=3 future"),
        (2, "dir_failed", "/e", None, None, "org.apache.kafka.common.errors.KafkaStorageException"),
    ]
    assert reading.notices.get_column("reason").to_list() == ["an entry without a partition"]


@pytest.mark.parametrize(
    ("name", "text", "levels"),
    [
        ("log4j.properties", LOG4J, ["root=INFO", "kafka=INFO", "state.change.logger=TRACE"]),
        ("log4j2.properties", LOG4J2, ["root=INFO", "kafka.server.ReplicaFetcherThread=TRACE"]),
        ("log4j2.yaml", YAML, ["root=INFO", "kafka=INFO", "state.change.logger=TRACE"]),
        (
            "log4j2.yaml",
            SHIPPED,
            [
                "root=INFO",
                "org.apache.kafka=INFO",
                "kafka.request.logger=WARN",
                "kafka.network.RequestChannel$=WARN",
                "org.apache.kafka.storage.internals.log.LogCleaner$CleanerThread=INFO",
                "state.change.logger=INFO",
            ],
        ),
        ("kafka-logging.xml", XML, ["kafka.controller=TRACE", "root=INFO"]),
    ],
)
def test_logging_configurations(name: str, text: str, levels: list[str]) -> None:
    reading = read(source(text.encode(), name))
    assert reading.format == "log4j-config"
    assert reading.observations.get_column("detail").to_list() == levels
    assert set(reading.observations.get_column("kind")) == {"logger_level"}
    assert reading.notices.height == ("env:LEVEL" in text)


def test_broker_settings_are_not_taken_for_logging() -> None:
    assert read(source(b"broker.id=3\nlog.dirs=/d\n", "server.properties")).format == "server-properties"
    with pytest.raises(NotThisFormat):
        read_log4j_config("broker.id=3\n")


@given(st.sampled_from([DESCRIBED, LOG_DIRS, LOG4J, LOG4J2, YAML, XML]), st.integers(0, 800), st.text(max_size=40))
def test_nothing_crashes_them(text: str, at: int, noise: str) -> None:
    for name in ("x.txt", "log4j.properties", "log4j2.yaml"):
        assert read(source((text[:at] + noise + text[at + 5 :]).encode("utf-8", "replace"), name)).format
