"""Ways in which the same evidence is handed over: every container, every layout and wrapping of a log."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import lz4.frame
import zstandard

from parsers.files.sources import Source

HEAD = re.compile(r"^\[(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d),(\d{3})\] ([A-Z]+) (.*)$")

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": zstandard.ZstdCompressor().compress,
    "lz4": lz4.frame.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def source(data: bytes, path: str = "server.log") -> Source:
    """A file in memory."""
    return Source(path, len(data), lambda: io.BytesIO(data))


def tar(files: dict[str, bytes], compression: str = "") -> bytes:
    """An archive of the files, in their order."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return COMPRESSIONS[compression](out.getvalue()) if compression else out.getvalue()


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of the files, in their order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def nested(files: dict[str, bytes]) -> bytes:
    """A tar of a zip of the files, each compressed by itself."""
    return tar({"inner.zip": zipped({f"{name}.gz": gzip.compress(data) for name, data in files.items()})}, "xz")


CONTAINERS: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "tar": tar,
    **{f"tar.{name}": (lambda files, name=name: tar(files, name)) for name in COMPRESSIONS},  # type: ignore[misc]
    "zip": zipped,
    "zip-stored": lambda files: zipped(files, zipfile.ZIP_STORED),
    "zip-bzip2": lambda files: zipped(files, zipfile.ZIP_BZIP2),
    "tar in tar": lambda files: tar({"inner.tar": tar(files)}),
    "tar.gz in tar.gz": lambda files: tar({"inner.tar.gz": tar(files, "gz")}, "gz"),
    "gz in zip in tar.xz": nested,
}


def folder(root: Path) -> dict[str, bytes]:
    """The files below a folder by path, in the order of their names."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


# -- layouts and wrappings -----------------------------------------------------------------------


def stamped(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Each line with the time, in ISO 8601 and UTC, at which a collector would have taken it."""
    time = "2026-01-01T00:00:00.000"
    for line in lines:
        if found := HEAD.match(line):
            time = f"{found[1]}T{found[2]}.{found[3]}"
        yield f"{time}654321Z", line


def tai64n(time: str) -> str:
    """The label of a time in UTC, as daemontools write it."""
    seconds, _, fraction = time.removesuffix("Z").partition(".")
    count = round(datetime.fromisoformat(f"{seconds}+00:00").timestamp())
    return f"@{(1 << 62) + 10 + count:016x}{int(fraction.ljust(9, '0')):08x}"


def epoch(day: str, time: str) -> int:
    """Seconds since 1970 of a time in UTC."""
    return round(datetime.fromisoformat(f"{day}T{time}+00:00").timestamp())


def events(lines: list[str]) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Day, time, milliseconds, level, message and logger of each event, further lines in its message."""
    found: list[list[str]] = []
    for line in lines:
        if match := HEAD.match(line):
            found.append([match[1], match[2], match[3], match[4], match[5]])
        elif found:
            found[-1][4] += "\n" + line
    for day, time, millis, level, text in found:
        tail = re.match(r"(?s)(.*) \(([\w.$]+)\)$", text)
        yield day, time, millis, level, tail[1] if tail else text, tail[2] if tail else "kafka.Some"


def _cut(time: str, line: str) -> str:
    if len(line) < 80:
        return f"{time} stdout F {line}"
    return f"{time} stdout P {line[:70]}\n{time} stdout F {line[70:]}"


def _docker(lines: list[str]) -> str:
    return "\n".join(json.dumps({"log": f"{line}\n", "stream": "stdout", "time": t}) for t, line in stamped(lines))


def _docker_cut(lines: list[str]) -> str:
    pieces = []
    for time, line in stamped(lines):
        for piece in [line[:70], line[70:] + "\n"] if len(line) > 80 else [line + "\n"]:
            pieces.append(json.dumps({"log": piece, "stream": "stdout", "time": time}))
    return "\n".join(pieces)


def _template(lines: list[str]) -> list[dict[str, object]]:
    return [
        {"@timestamp": f"{day}T{time}.{ms}Z", "level": level, "logger": logger, "thread": "main", "message": message}
        for day, time, ms, level, message, logger in events(lines)
    ]


WRAPPINGS: dict[str, Callable[[list[str]], str]] = {
    "cri": lambda lines: "\n".join(f"{time} stdout F {line}" for time, line in stamped(lines)),
    "cri, cut lines": lambda lines: "\n".join(_cut(time, line) for time, line in stamped(lines)),
    "docker": _docker,
    "docker, cut lines": _docker_cut,
    "filebeat": lambda lines: "\n".join(
        json.dumps({"@timestamp": time, "log": {"offset": 7, "file": {"path": "/x"}}, "message": line})
        for time, line in stamped(lines)
    ),
    "fluent bit": lambda lines: "\n".join(
        json.dumps({"date": 1795239053.030, "log": f"{time} stdout F {line}", "kubernetes": {"pod_name": "kafka-0"}})
        for time, line in stamped(lines)
    ),
    "syslog": lambda lines: "\n".join(f"<30>1 {time} host kafka 12 - - {line}" for time, line in stamped(lines)),
    "journal": lambda lines: "\n".join(f"Nov 21 05:00:00 host kafka-server[12]: {line}" for line in lines),
    "journal, ISO": lambda lines: "\n".join(f"{t[:19]}+0000 host kafka[12]: {line}" for t, line in stamped(lines)),
    "journal, export": lambda lines: "\n".join(f"__CURSOR=a\nMESSAGE={line}\n_PID=3\n" for line in lines),
    "journal, JSON": lambda lines: "\n".join(json.dumps({"MESSAGE": line, "_PID": "3"}) for line in lines),
    "double time": lambda lines: "\n".join(f"{time} {line}" for time, line in stamped(lines)),
    "kubectl": lambda lines: "\n".join(f"[pod/kafka-0/kafka] {line}" for line in lines),
    "kubectl, double time": lambda lines: "\n".join(f"[pod/kafka-0/kafka] {t} {line}" for t, line in stamped(lines)),
    "compose": lambda lines: "\n".join(f"kafka-1  | {line}" for line in lines),
    "swarm": lambda lines: "\n".join(f"kafka1.0.x5dqnzzy4@node1    | {line}" for line in lines),
    "service wrapper": lambda lines: "\n".join(f"INFO   | jvm 1    | 2026/11/21 05:00:00 | {line}" for line in lines),
    "service wrapper, YAJSW": lambda lines: "\n".join(
        f"INFO|5652/0|Service org.apache.kafka|26-11-21 05:00:00|{line}" for line in lines
    ),
    "simulated": lambda lines: "\n".join(f"[  4115] [   104.777692] [service_kafka]    [I] {line}" for line in lines),
    "stern": lambda lines: "\n".join(f"kafka-0 kafka {line}" for line in lines),
    "journal, full": lambda lines: "\n".join(f"Sat 2026-11-21 05:00:00 UTC host kafka[12]: {line}" for line in lines),
    "journal, unix": lambda lines: "\n".join(f"1795239053.030123 host kafka[12]: {line}" for line in lines),
    "journal, coloured": lambda lines: "\n".join(
        json.dumps({"_HOSTNAME": "h", "MESSAGE": list(f"\x1b[32m{line}\x1b[0m".encode())}) for line in lines
    ),
    "journal, events": lambda lines: "".join("data: " + json.dumps({"MESSAGE": line}) + "\n\n" for line in lines),
    "journal, indented": lambda lines: "\n".join(
        json.dumps({"__CURSOR": "s=1", "MESSAGE": line, "_PID": "3"}, indent="\t", separators=(",", " : "))
        for line in lines
    ),
    "journal, indented and coloured": lambda lines: "\n".join(
        json.dumps({"_PID": "3", "MESSAGE": list(f"\x1b[32m{line}\x1b[0m".encode())}, indent="\t") for line in lines
    ),
    "GCP, indented": lambda lines: json.dumps(
        [{"labels": {"a": "b"}, "textPayload": x, "timestamp": time} for time, x in stamped(lines)], indent=2
    ),
    "fluent bit, terminal": lambda lines: "\n".join(
        f'[{n}] kafka.log: [1795239053.030123456, {{"log"=>"{line}"}}]' for n, line in enumerate(lines)
    ),
    "fluent bit 2.1, terminal": lambda lines: "\n".join(
        f'[{n}] kafka.0: [[1795239053.030123456, {{}}], {{"stream"=>"stdout", "n"=>7, "log"=>"{x}", "pod"=>"a"}}]'
        for n, x in enumerate(lines)
    ),
    "multilog": lambda lines: "\n".join(f"{tai64n(time)} {line}" for time, line in stamped(lines)),
    "svlogd -tt": lambda lines: "\n".join(f"{time[:-2].replace('T', '_')} {line}" for time, line in stamped(lines)),
    "supervisor-stdout": lambda lines: "\n".join(f"kafka stdout | {line}" for line in lines),
    "supervisord, debug": lambda lines: "\n".join(
        f"2026-11-21 04:05:49,991 DEBG 'kafka' stdout output:\n{line}" for line in lines
    ),
    "syslog, by length": lambda lines: "\n".join(
        f"99 <30>1 {t} host kafka 12 - - \ufeff{x}" for t, x in stamped(lines)
    ),
    "logcli": lambda lines: "\n".join(f'{time} {{app="kafka", pod="kafka-0"}} {line}' for time, line in stamped(lines)),
    "fluentd": lambda lines: "\n".join(f"{t}\tkafka.log\t{json.dumps({'message': x})}" for t, x in stamped(lines)),
    "fluent bit, file": lambda lines: "\n".join(
        f"kafka.log: [1795239053.030123456, {json.dumps({'log': line})}]" for line in lines
    ),
    "aws logs tail": lambda lines: "\n".join(f"{time} kafka/kafka-1/abc {line}" for time, line in stamped(lines)),
    "second time": lambda lines: "\n".join(f"2026-11-21 04:05:06 {line}" for line in lines),
    "kubetail": lambda lines: "\n".join(f"[kafka-0 kafka] {line}" for line in lines),
    "stern, all namespaces": lambda lines: "\n".join(f"prod kafka-0 kafka {line}" for line in lines),
    "GCP": lambda lines: "\n".join(
        json.dumps({"textPayload": line, "timestamp": time, "severity": "INFO"}) for time, line in stamped(lines)
    ),
    "coloured": lambda lines: "\n".join(f"\x1b[1;31m{line}\x1b[0m" for line in lines),
    "coloured by rsyslog": lambda lines: "\n".join(f"Nov 21 05:00:00 h kafka[1]: #033[32m{x}#033[0m" for x in lines),
    "coloured in docker": lambda lines: "\n".join(
        json.dumps({"log": f"\x1b[32m{line}\x1b[0m\n", "time": time}) for time, line in stamped(lines)
    ),
    "Splunk": lambda lines: "\n".join(json.dumps({"result": {"_raw": line, "_time": "7"}}) for line in lines),
    "CRLF": "\r\n".join,
}
"""What collectors make of the lines of a log."""

LAYOUTS: dict[str, Callable[[list[str]], str]] = {
    "JSON template": lambda lines: "\n".join(json.dumps(event) for event in _template(lines)),
    "JSON template in Filebeat": lambda lines: "\n".join(
        json.dumps({"@timestamp": "2020-01-01T00:00:00Z", "message": json.dumps(event)}) for event in _template(lines)
    ),
    "ECS": lambda lines: "\n".join(
        json.dumps({"@timestamp": f"{d}T{t}.{ms}Z", "log.level": level, "message": text, "log.logger": logger})
        for d, t, ms, level, text, logger in events(lines)
    ),
    "zone": lambda lines: "\n".join(f"[{d} {t},{ms}+0000] {v} {m} ({c})" for d, t, ms, v, m, c in events(lines)),
    "ISO, Z": lambda lines: "\n".join(f"{d}T{t}.{ms}Z {v} {m} ({c})" for d, t, ms, v, m, c in events(lines)),
    "ISO, blank": lambda lines: "\n".join(f"[{d}T{t}.{ms}] {v} {m} ({c})" for d, t, ms, v, m, c in events(lines)),
    "month first": lambda lines: "\n".join(
        f"{d[5:7]}/{d[8:]}/{d[:4]} {t},{ms} {v} {m} ({c})" for d, t, ms, v, m, c in events(lines)
    ),
    "day first, slashes": lambda lines: "\n".join(
        f"[{d[8:]}/{d[5:7]}/{d[:4]} {t}.{ms} +0000] {v} [main] {m} ({c})" for d, t, ms, v, m, c in events(lines)
    ),
    "thread last": lambda lines: "\n".join(f"{d} {t},{ms} {v} {m} ({c}) [main]" for d, t, ms, v, m, c in events(lines)),
    "logger first": lambda lines: "\n".join(f"{d} {t},{ms} {v} {c}: {m}" for d, t, ms, v, m, c in events(lines)),
    "thread first": lambda lines: "\n".join(f"{d} {t}.{ms} [a-1] {v} {c} - {m}" for d, t, ms, v, m, c in events(lines)),
    "logger and thread in brackets": lambda lines: "\n".join(
        f"{d.replace('-', '/')} {t}.{ms} {v} [{c.rpartition('.')[2]}] [main] [kafka-server] [] {m}"
        for d, t, ms, v, m, c in events(lines)
    ),
    "level in colours": lambda lines: "\n".join(
        f"[{d} {t},{ms}] \x1b[32m{v:<5}\x1b[m {m} ({c})" for d, t, ms, v, m, c in events(lines)
    ),
    "level to the right": lambda lines: "\n".join(
        f"[{d} {t},{ms}] {v:>5} {m} ({c})" for d, t, ms, v, m, c in events(lines)
    ),
    "line of the source": lambda lines: "\n".join(
        f"[{d} {t},{ms}] {v} {m} ({c}:9)" for d, t, ms, v, m, c in events(lines)
    ),
    "level first": lambda lines: "\n".join(f"{v} [{d} {t},{ms}] {m} ({c})" for d, t, ms, v, m, c in events(lines)),
    "level, thread, method": lambda lines: "\n".join(
        f"[{v}] {d} {t},{ms} [main] {c} log - {m}" for d, t, ms, v, m, c in events(lines)
    ),
    "thread second": lambda lines: "\n".join(
        f"[{d} {t},{ms}] {v} [main] {m} ({c})" for d, t, ms, v, m, c in events(lines)
    ),
    "thread in brackets": lambda lines: "\n".join(
        f"[{d} {t},{ms}] [main] {v} {c}: {m}" for d, t, ms, v, m, c in events(lines)
    ),
    "bars": lambda lines: "\n".join(f"{d} {t},{ms} | {v} | main | {c} | {m}" for d, t, ms, v, m, c in events(lines)),
    "Spring": lambda lines: "\n".join(
        f"{d} {t}.{ms}  {v} 1 --- [main] {c} : {m}" for d, t, ms, v, m, c in events(lines)
    ),
    "JSON, no zone": lambda lines: "\n".join(
        json.dumps({"level": v, "timestamp": f"{d} {t},{ms}", "message": m, "logger": c})
        for d, t, ms, v, m, c in events(lines)
    ),
    "GELF": lambda lines: "\n".join(
        json.dumps({"short_message": m, "timestamp": float(f"{epoch(d, t)}.{ms}"), "level": 6, "_logger": c})
        for d, t, ms, v, m, c in events(lines)
    ),
    "level in brackets": lambda lines: "\n".join(
        f"{d} {t},{ms} [{v}] {m} ({c})" for d, t, ms, v, m, c in events(lines)
    ),
}
"""Layouts other than the stock one."""
