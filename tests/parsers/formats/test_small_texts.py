"""What tools print of a running cluster, and the configuration of logging."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.errors import NotThisFormat
from parsers.formats.log4j_config import read_log4j_config
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


def test_topics_described() -> None:
    reading = read(source(DESCRIBED.encode(), "describe.txt"))
    assert reading.format == "topics-describe"
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
