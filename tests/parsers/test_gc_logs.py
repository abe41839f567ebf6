"""Logs of the JVM's garbage collection are of a kind that is known: listed as such, and nothing of them is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines import local
from parsers import ledger
from parsers.read import GC_LOG, UNKNOWN, read
from tests.parsers.handing_over import source

UNIFIED = """[2026-11-21T05:31:28.430+0000][gc,init] CardTable entry size: 512
[2026-11-21T05:31:28.431+0000][gc     ] Using G1
[2026-11-21T05:31:28.450+0000][gc,start    ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)
"""
LEVELS = """[0.010s][info][gc] Using G1
[0.211s][info ][gc,heap,coops] Heap Address: 0x00000000c0000000
[0.300s][info][safepoint   ] Safepoint "Cleanup", Time since last: 5 ns
"""
XLOGGC = """OpenJDK 64-Bit Server VM (25.222-b10) for linux-amd64 JRE (1.8.0_222-b10), built on Jul 11 2019 10:18:43
Memory: 4k page, physical 8009560k(5512288k free), swap 0k(0k free)
CommandLine flags: -XX:GCLogFileSize=104857600 -XX:InitialHeapSize=1073741824 -XX:+UseG1GC
2026-11-21T05:31:28.430+0000: 0.520: [GC pause (G1 Evacuation Pause) (young), 0.0094480 secs]
   [Parallel Time: 7.9 ms, GC Workers: 2]
"""
OLD = "0.520: [GC 0.520: [ParNew: 136320K->17024K(153344K), 0.0094480 secs] 136320K->17920K(1031552K), 0.0096 secs]\n"
AT_EXIT = """Heap
 par new generation   total 76672K, used 5454K [0x00000000c0000000, 0x00000000c5330000, 0x00000000c5330000)
"""
SERVER = "[2026-11-21 05:31:28,430] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
NAMES = (
    "kafkaServer-gc.log",
    "kafkaServer-gc.log.0.current",
    "kafkaServer-gc.log.3",
    "zookeeper-gc.log",
    "gc.log",
    "gc-2026-11-21.log",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", [UNIFIED, LEVELS, XLOGGC, OLD, OLD * 500, AT_EXIT, ""])
def test_a_gc_log_is_known_and_says_nothing(text: str, name: str) -> None:
    given = source(text.encode(), f"broker-1/logs/{name}")
    found = read(given)
    assert found.format == GC_LOG
    assert found.notices.is_empty()
    assert found.observations.is_empty()
    assert (found.events, found.relevant, found.understood) == (0, 0, 0)
    assert ledger.ledger(given, found).irrelevant == len(text)


@pytest.mark.parametrize("name", NAMES)
def test_a_brokers_log_of_that_name_is_read(name: str) -> None:
    found = read(source((SERVER * 3).encode(), name))
    assert (found.format, found.understood) == ("broker-log", 3)


@pytest.mark.parametrize("name", ["server.log", "logc.log", "orders-gc", "gclog.txt", "magic.log"])
def test_other_names_are_no_gc_logs(name: str) -> None:
    assert read(source(XLOGGC.encode(), name)).format != GC_LOG
    assert read(source(b"", name)).format != GC_LOG


def test_noise_of_that_name_is_unknown_and_told() -> None:
    found = read(source(b"\x01\x02nothing\n", "kafkaServer-gc.log"))
    assert found.format == UNKNOWN
    assert found.notices.height == 1


def test_a_case_lists_it_and_says_the_same_as_without(sample_traces: Path, tmp_path: Path) -> None:
    trace = sample_traces / "kip101-0.10.2.2"
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "kafkaServer-gc.log").write_text(UNIFIED)
    alone, beside = local.scan([str(trace)]), local.scan([str(trace), str(tmp_path)])
    assert beside.case.sources.filter(beside.case.sources["format"] == GC_LOG).height == 1
    assert beside.case.notices.height == alone.case.notices.height
    assert [(f.rule, f.topic, f.offsets) for f in beside.findings] == [
        (f.rule, f.topic, f.offsets) for f in alone.findings
    ]
