"""The output of several processes in one text is told apart by what each line says of its writer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.engines.local import scan
from forensics.result import Result
from parsers import limits, read
from parsers.containers import expand
from parsers.files.sources import HEAD_BYTES, Source
from parsers.text.shared_output import mark_of
from tests.case.test_printers import by_time
from tests.cases.relaid import EVENT as EVENT_HEAD
from tests.conftest import alike
from tests.parsers.handing_over import gzip, source
from tests.parsers.test_exports import lines

WAYS: dict[str, Callable[[str, str], str]] = {
    "compose": lambda who, line: f"{who}  | {line}",
    "kubectl": lambda who, line: f"[pod/{who}/kafka] {line}",
    "stern": lambda who, line: f"{who} kafka {line}",
    "syslog": lambda who, line: f"<30>1 2026-11-21T04:10:00Z {who} kafka 12 - - {line}",
    "journal, ISO": lambda who, line: f"2026-11-21T04:10:00+0000 {who} kafka[12]: {line}",
    "journal": lambda who, line: f"Nov 21 05:00:00 {who} kafka-server[12]: {line}",
    "filebeat": lambda who, line: json.dumps(
        {
            "@timestamp": "2026-11-21T04:10:00Z",
            "host": {"name": "n"},
            "kubernetes": {"pod": {"name": who}},
            "message": line,
        }
    ),
    "fluent bit": lambda who, line: json.dumps({"log": f"{line}\n", "kubernetes": {"pod_name": who}, "stream": "out"}),
    "host": lambda who, line: json.dumps({"hostname": who, "message": line}, separators=(",", ":")),
    "elasticsearch": lambda who, line: json.dumps({"_index": "i", "_source": {"message": line, "host": {"name": who}}}),
    "logcli": lambda who, line: f'2026-11-21T04:10:00Z {{container="kafka", pod="{who}", stream="stdout"}} {line}',
    "logcli, JSON": lambda who, line: json.dumps({"labels": {"container": "kafka", "pod": who}, "line": line}),
    "logfmt": lambda who, line: f"ts=2026-11-21T04:10:00Z level=info pod={who} msg={json.dumps(line)}",
    "fluentd": lambda who, line: f"2026-11-21T04:10:00+00:00\tlogs.{who}_prod.log\t{json.dumps({'log': line})}",
    "aws logs tail": lambda who, line: f"2026-11-21T04:10:00.310000+00:00 ecs/kafka/{who} {line}",
    "splunk": lambda who, line: json.dumps({"preview": False, "result": {"_raw": line, "host": who}}),
}


def told(result: Result) -> tuple[dict[tuple[str, str], str], list[str]]:
    verdicts = {
        (partition.history.name, rule): judgement.verdict.value
        for partition in result.partitions
        for rule, judgement in partition.judgements.items()
    }
    return verdicts, sorted(finding.fingerprint for finding in result.findings)


def mixed(trace: Path, way: Callable[[str, str], str]) -> str:
    """The server.log of three brokers, sorted by time, each line as the way hands it on."""
    files = sorted(trace.glob("broker-[1-3]/logs/server.log"))
    named = []
    for number, path in enumerate(files, start=1):
        copy = path.read_text().splitlines()
        named.append("\n".join(f"{line}\x00{number}" for line in copy) + "\n")
    lines = by_time_of(named).splitlines()
    return "".join(way(f"pod-{line.partition(chr(0))[2]}", line.partition("\x00")[0]) + "\n" for line in lines)


def by_time_of(texts: list[str]) -> str:
    class Text:
        def __init__(self, text: str) -> None:
            self.text = text

        def read_text(self) -> str:
            return self.text

    return by_time([Text(text) for text in texts])  # type: ignore[misc]


@pytest.mark.parametrize("way", alike(WAYS))
def test_every_way_gives_each_broker_its_log(way: str, sample_traces: Path, tmp_path: Path) -> None:
    trace = sample_traces / "kip101-0.10.2.2"
    (tmp_path / "all.log").write_text(mixed(trace, WAYS[way]))
    found = scan([str(tmp_path)])
    paths = [path.rpartition("!/")[2] for path in found.case.sources["path"].to_list()]
    assert len(paths) == 4
    assert found.case.sources["format"].to_list() == ["archive", "broker-log", "broker-log", "broker-log"]
    assert sorted(found.case.sources["broker"].drop_nulls().to_list()) == [1, 2, 3]
    assert found.case.notices.is_empty()
    plain = scan([str(path) for path in sorted(trace.glob("broker-[1-3]/logs/server.log"))])
    assert told(found) == told(plain)


@pytest.mark.parametrize("form", ["[pod/{}/kafka] {}", "{} kafka {}", "{}  | {}"])
def test_a_layout_that_is_json_is_read_behind_a_prefix(form: str, sample_traces: Path, tmp_path: Path) -> None:
    """Its events have the line ends of their settings and exceptions in them, escaped."""
    alone, prefixed = tmp_path / "alone", tmp_path / "prefixed"
    objects: dict[str, str] = {}
    for writer, event in lines(sample_traces / "kip101-0.10.2.2"):
        objects[writer] = f"{objects.get(writer, '')}{_as_object(event)}\n"
    for writer, text in objects.items():
        (alone / writer).mkdir(parents=True)
        (alone / writer / "kafka.log").write_text(text)
    prefixed.mkdir()
    named = [form.format(writer, line) for writer, text in objects.items() for line in text.splitlines()]
    (prefixed / "all.log").write_text("".join(f"{line}\n" for line in named))
    found, plain = scan([str(prefixed)]), scan([str(alone)])
    assert sorted(found.case.sources["broker"].drop_nulls().to_list()) == [1, 2, 3, 9]
    assert found.case.sources["understood"].sum() == plain.case.sources["understood"].sum()
    assert told(found)[0] == told(plain)[0]


def _as_object(event: str) -> str:
    """An event of the stock layout in one that is JSON."""
    first, _, rest = event.partition("\n")
    head = EVENT_HEAD.match(first)
    assert head is not None
    time = f"{head['day']}T{head['clock']}.{head['ms']}Z"
    message = head["message"] + (f"\n{rest}" if rest else "")
    return json.dumps({"@timestamp": time, "level": head["level"], "logger": head["logger"], "message": message})


@pytest.mark.parametrize("way", ["host", "logfmt"])
def test_a_first_line_that_is_long_tells_its_writer_too(way: str, sample_traces: Path, tmp_path: Path) -> None:
    """A broker begins with its settings, in one event of many lines, which some collectors hand on as one line."""
    settings = WAYS[way]("pod-1", "KafkaConfig values: \n" + "\tlog.dirs = /d\n" * 500)
    assert len(settings) > HEAD_BYTES
    (tmp_path / "all.log").write_text(f"{settings}\n{mixed(sample_traces / 'kip101-0.10.2.2', WAYS[way])}")
    paths = [path.rpartition("!/")[2] for path in scan([str(tmp_path)]).case.sources["path"].to_list()]
    assert paths[1:] == ["pod-1", "pod-2", "pod-3"]


def members(text: str, name: str = "all.log") -> list[Source]:
    return list(expand(source(text.encode(), name)))


EVENT = "[2026-01-01 00:00:00,{0:03}] INFO Truncating log orders-0 to offset {0}. (kafka.log.Log)"


def test_one_writer_is_one_log() -> None:
    (found,) = members("".join(f"kafka-1  | {EVENT.format(n)}\n" for n in range(9)))
    assert found.container == ""


def test_a_writer_that_comes_late_is_not_missed() -> None:
    text = "".join(f"kafka-{1 + (n > 4000)}  | {EVENT.format(n % 1000)}\n" for n in range(4005))
    whole, first, second = members(text)
    assert whole.container == "output of several"
    with second.open() as stream:
        assert len(stream.read().splitlines()) == 4
    assert first.size + second.size == len(text)
    assert read.read(second).observations["offset"].to_list() == [1, 2, 3, 4]


def test_lines_that_name_nobody_are_counted() -> None:
    text = "".join(f"kafka-{1 + n % 2}  | {EVENT.format(n)}\n" for n in range(20)) + "Attaching to logs\n\n"
    whole, *_ = members(text)
    assert whole.notes == ("2 lines do not say who wrote them and are left out",)


def test_in_a_compressed_file_too() -> None:
    text = "".join(f"kafka-{1 + n % 2}  | {EVENT.format(n)}\n" for n in range(20))
    whole, *parts = expand(source(gzip.compress(text.encode()), "all.log.gz"))
    assert whole.container == "output of several"
    assert [read.read(part).observations.height for part in parts] == [10, 10]


@pytest.mark.parametrize(
    "text",
    [
        "a | b\nc | d\n" * 20,
        "some words here\nother words there\n" * 20,
        (EVENT.format(1) + "\n") * 20,
        '{"pod": 1}\n' * 20,
        "",
    ],
)
def test_other_texts_are_left_alone(text: str) -> None:
    (found,) = members(text)
    assert found.container == ""


@given(st.binary(max_size=300))
def test_no_bytes_crash_it(data: bytes) -> None:
    mark_of(data)
    for found in expand(source(b"a-1  | 2026-01-01 x\nb-2  | 2026-01-01 y\n" * 3 + data, "x")):
        if not found.container:
            read.read(found)


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "a.b", "a-1"]), st.text("xyz 20-[]", max_size=20)), max_size=30))
def test_every_line_goes_to_its_writer(written: list[tuple[str, str]]) -> None:
    head = [("a", "2026-01-01"), ("b", "2026-01-01")]
    text = "".join(f"{who} | {line}\n" for who, line in head + written)
    _, *parts = members(text)
    for part in parts:
        who = part.path.rpartition("!/")[2]
        with part.open() as stream:
            assert stream.read().decode() == "".join(f"{w} | {line}\n" for w, line in head + written if w == who)


@pytest.mark.parametrize("form", ["{}: {}", "> {}: {}", "> > {} | {}"])
def test_a_long_text_with_names_before_its_lines_gives_each_broker_its_log(
    form: str, sample_traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short one is read as an excerpt, which knows these names too."""
    monkeypatch.setitem(limits._moved, "excerpt", 0)
    trace = sample_traces / "kip101-0.10.2.2"
    (tmp_path / "all.log").write_text(mixed(trace, form.format))
    found = scan([str(tmp_path)])
    assert sorted(found.case.sources["broker"].drop_nulls().to_list()) == [1, 2, 3]
    plain = scan([str(path) for path in sorted(trace.glob("broker-[1-3]/logs/server.log"))])
    assert told(found) == told(plain)


def test_levels_before_a_colon_are_no_writers() -> None:
    lines = [f"{level}: [2026-11-21 04:10:00,000] Truncating (kafka.log.Log)\n" for level in ("INFO", "WARN") * 20]
    assert mark_of("".join(lines).encode()) is None


def test_levels_behind_a_collectors_time_are_no_writers() -> None:
    """Docker writes its time before lines of a layout that has the level first."""
    levels = ["OpenJDK 64-Bit Server VM warning", *("INFO", "WARN") * 20]
    lines = [
        f"2026-11-21T04:10:00.1Z {level} [2026-11-21 04:10:00,000] Truncating (kafka.log.Log)\n" for level in levels
    ]
    assert mark_of("".join(lines).encode()) is None


def test_two_times_in_a_line_are_no_writers() -> None:
    line = "2026-11-21T04:10:00.1Z 2026-11-21 04:10:00,000 INFO Truncating to 2026-11-21 (kafka.log.Log)\n"
    assert mark_of((line * 20).encode()) is None


def test_the_most_specific_label_names_the_writer() -> None:
    labels = '{{container="kafka", host="node-1", pod="kafka-{}"}}'
    lines = [f"2026-11-21T04:10:00Z {labels.format(n % 2)} {EVENT.format(n)}\n" for n in range(20)]
    _, *parts = members("".join(lines))
    assert [part.name for part in parts] == ["kafka-0", "kafka-1"]
