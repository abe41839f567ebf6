"""Metrics of exporters: as text, as answers of Prometheus, and as promtool prints them."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pytest

from parsers.details import series_named
from parsers.errors import NotThisFormat
from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.formats.metrics_json import read_answer
from parsers.formats.metrics_text import MetricsText, begins_metrics
from parsers.read import read

TIME = datetime(2026, 11, 24, 16, 45, 27, tzinfo=UTC)
MS = int(TIME.timestamp() * 1000)
END = "kafka_topic_partition_current_offset"


def taken(text: str | bytes, name: str = "scrape.prom") -> FileReading:
    data = text.encode() if isinstance(text, str) else text
    return read(Source(name, len(data), lambda: io.BytesIO(data)))


def rows(reading: FileReading) -> list[tuple[object, ...]]:
    found = reading.observations
    return found.select("kind", "topic", "partition", "hw", "leo", "leader", "offset", "replica", "line").rows()


SAMPLES = {
    f'{END}{{topic="orders",partition="3",instance="e:9308"}} 213 {MS}': ("hw_scraped", 213, None, None, None, None),
    f'kminion_kafka_topic_partition_high_water_mark{{topic_name="orders",partition_id="3"}} 4.259e+06 {MS}': (
        "hw_scraped", 4_259_000, None, None, None, None,
    ),
    f'kafka_minion_topic_partition_high_water_mark{{topic="orders",partition="3"}} 7 {MS}': (
        "hw_scraped", 7, None, None, None, None,
    ),
    f'kafka_log_log_logendoffset{{topic="orders",partition="3",broker="2",}} 2000000.0 {MS}': (
        "leo_scraped", None, 2_000_000, None, None, 2,
    ),
    f'kafka_log_Log_LogEndOffset_Value{{topic="orders",partition="3",pod="my-kafka-1"}} 5 {MS}': (
        "leo_scraped", None, 5, None, None, None,  # nothing says that its broker has the number of the pod
    ),
    f'kafka_log_log_logendoffset{{topic="orders",partition="3",pod="my-pool-1",strimzi_io_cluster="my"}} 5 {MS}': (
        "leo_scraped", None, 5, None, None, 1,
    ),
    f'kafka_log_Log_Value{{name="LogEndOffset",topic="orders",partition="3",instance="10.0.0.7:9404"}} 5 {MS}': (
        "leo_scraped", None, 5, None, None, None,
    ),
    f'kafka_topic_partition_leader{{partition="3",topic="orders"}} 2 {MS}': (
        "leader_scraped", None, None, 2, None, None,
    ),
    f'kafka_consumergroup_current_offset{{consumergroup="b\\"x",topic="orders",partition="3"}} 9 {MS}': (
        "group_scraped", None, None, None, 9, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("line", SAMPLES)
def test_what_a_sample_states(line: str) -> None:
    assert begins_metrics(line.encode())
    reading = taken(line + "\n")
    assert (reading.format, reading.zone, reading.notices.height) == ("metrics", "UTC", 0)
    kind, *values = SAMPLES[line]
    assert rows(reading) == [(kind, "orders", 3, *values, 1)]
    assert reading.observations.get_column("time").to_list() == [TIME.replace(tzinfo=None)]


def test_a_series_keeps_its_labels_and_a_group_its_name() -> None:
    details = [taken(line + "\n").observations.get_column("detail")[0] for line in SAMPLES]
    assert details[0] == f'{END}{{}}{{instance="e:9308"}}'
    assert details[-1] == 'b"x'


def test_labels_of_a_cluster_are_handed_over_apart_from_those_of_an_exporter() -> None:
    line = f'{END}{{topic="a",partition="0",instance="e:1",cluster="x}}{{y",job="k"}} 1 {MS}\n'
    name = series_named(taken(line).observations.get_column("detail")[0])
    assert name == (END, 'cluster="x\\x7d\\x7by"', 'instance="e:1",job="k"')


def test_the_log_that_is_copied_to_another_directory_is_not_that_of_the_replica() -> None:
    line = f'kafka_log_log_logendoffset{{topic="a",partition="0",broker="1",is_future="true"}} 9 {MS}\n'
    assert rows(taken(line)) == []
    assert len(rows(taken(line.replace("true", "false")))) == 1


def test_openmetrics_has_seconds_and_exemplars() -> None:
    text = f'# TYPE {END} gauge\n{END}{{topic="a.b",partition="0"}} 12 {MS / 1000} # {{trace="1"}} 1\n# EOF\n'
    reading = taken(text)
    assert reading.notices.is_empty()
    assert reading.observations.get_column("time").to_list() == [TIME.replace(tzinfo=None)]


@pytest.mark.parametrize("time", ["2026-11-24T16:45:27Z", "# 2026-11-24 16:45:27+00:00", str(MS), str(MS // 1000)])
def test_scrapes_behind_their_times(time: str) -> None:
    scrape = f'# HELP {END} End\n{END}{{topic="a",partition="0"}} {{}}\n'
    text = f"{time}\n{scrape.replace('{}', '5')}2026-11-24T16:45:42Z\n{scrape.replace('{}', '8')}"
    reading = taken(text)
    assert reading.notices.is_empty()
    assert reading.observations.select("hw", "line").rows() == [(5, 3), (8, 6)]
    first, second = reading.observations.get_column("time").to_list()
    assert (first, (second - first).seconds) == (TIME.replace(tzinfo=None), 15)


def test_a_dump_of_promtool() -> None:
    text = f'{{__name__="{END}", partition="0", topic="a"}} 5 {MS}\n{{__name__="up", job="x"}} 1 {MS}\n'
    assert rows(taken(text, "dump.txt")) == [("hw_scraped", "a", 0, 5, None, None, None, None, 1)]


def answer(result: object, kind: str = "matrix") -> bytes:
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": result}}).encode()


LABELS = {"__name__": END, "topic": "orders", "partition": "3"}


def test_an_answer_to_a_range_query() -> None:
    data = answer([{"metric": LABELS, "values": [[MS / 1000, "201"], [MS / 1000 + 15, "213"]]}])
    reading = taken(data, "metrics.json")
    assert (reading.format, reading.notices.height) == ("metrics", 0)
    assert reading.observations.select("topic", "partition", "hw", "line").rows() == [
        ("orders", 3, 201, None),
        ("orders", 3, 213, None),
    ]


def test_an_answer_to_a_query_of_one_moment() -> None:
    data = answer([{"metric": LABELS, "value": [MS / 1000, "201"]}], "vector")
    assert taken(data, "m.json").observations.get_column("hw").to_list() == [201]


def test_what_is_no_evidence() -> None:
    """Metrics of something else, and an answer about something else."""
    other = taken('# HELP node_load1 1m load\nnode_load1{host="a"} 0.4\n')
    assert (other.format, other.notices.height) == ("irrelevant", 0)
    assert taken(answer([{"metric": {"__name__": "up"}, "value": [1, "1"]}], "vector"), "m.json").format == "irrelevant"


def test_other_series_about_kafka_state_nothing() -> None:
    text = f'kafka_consumergroup_lag{{consumergroup="b",topic="orders",partition="3"}} -1 {MS}\n'
    text += f'kafka_topic_partition_in_sync_replica{{topic="orders",partition="3"}} 3 {MS}\nkafka_brokers 3 {MS}\n'
    text += f'{END}{{topic="orders"}} 9 {MS}\n{END}{{topic="orders",partition="3"}} NaN {MS}\n'
    reading = taken(text)
    assert (reading.format, reading.observations.height, reading.notices.height) == ("metrics", 0, 0)


BAD = {
    f'{END}{{topic="a",partition="0"}} many': "no sample as the format has it",
    f'{END}{{topic="a",partition="0"}} 1.5 {MS}': "1.5 is no offset",
    f'{END}{{topic="a",partition="0"}} 1e30 {MS}': "1e30 is no offset",
    f'{END}{{topic="a",partition="x"}} 1 {MS}': "its labels name no topic and partition",
    f'{END}{{topic="a",partition="0"}} 1': "it has no time",
    f'{END}{{topic="a" partition 1 {MS}': "no sample as the format has it",
    f'{{topic="a",partition="0"}} 1 {MS}': "it has no name",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_lines_are_told_once_with_the_first_line(line: str) -> None:
    good = f'{END}{{topic="a",partition="0"}} 1 {MS}'
    reading = taken(f"{good}\n{line}\n{line}\n")
    assert reading.notices.select("reason", "line").rows() == [(f"2 samples are not used: {BAD[line]}", 2)]
    assert reading.observations.height == 1


def test_bad_answers() -> None:
    with pytest.raises(NotThisFormat):
        read_answer(b'{"data": 1}')
    found, _ = read_answer(answer([{"values": []}, {"metric": LABELS, "values": [[None, "5"], [1, "x"], 3]}]))
    reasons = found.notices.get_column("reason").to_list()
    assert reasons == [
        "series 1 of the answer has no labels",
        "2 samples are not used: it has no time",
        "1 sample is not used: x is no offset",
    ]
    (notice,) = taken(answer([{"metric": {"topic": "a"}, "value": [1, "1"]}], "vector"), "m.json").notices.rows()
    assert notice[1] == "the query leaves no name to its series: ask for the series themselves"


def test_a_text_that_is_cut_off_anywhere_is_read_or_told() -> None:
    text = "".join(f"{line}\n" for line in SAMPLES)
    for end in range(1, len(text)):
        reading = taken(text[:end])
        assert text[:end].endswith("\n") or reading.notices.height or reading.format != "metrics", end


def test_foreign_texts_are_refused() -> None:
    for text in ("[2026-11-24 16:45:27,000] INFO x (kafka.log.Log)\n", "version: 0\ntopic_id: x\n", "a,b\n1,2\n"):
        assert not begins_metrics(text.encode())
    with pytest.raises(NotThisFormat):
        MetricsText().reading()


def test_many_samples_keep_their_ends_and_each_fall() -> None:
    values = [*range(0, 5000, 2), *range(300, 4000)]
    text = "".join(f'{END}{{topic="a",partition="0"}} {value} {MS + at}\n' for at, value in enumerate(values))
    kept = taken(text).observations.get_column("hw").to_list()
    assert len(kept) < 140
    assert {0, 4998, 300, 3999} <= {*kept}
    assert kept.index(4998) + 1 == kept.index(300)
