"""Ways in which tools and people hand over logs: other files and layouts, twice, or beside another cluster's."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random

from benchmarks.same.corpus import Files, recorded
from benchmarks.same.cuts import EARLIEST, Evidence, broker_of, is_data, is_log
from benchmarks.withheld.edits import STAMP, Edit, all_changed, each, gone

Line = tuple[bytes, bytes]
"""Time of a line, or of the last one before it that has one, as printed; and the line with its end."""


def _lines(content: bytes) -> Iterator[Line]:
    last = b""
    for line in content.splitlines(keepends=True):
        found = STAMP.match(line)
        last = found[1] if found else last
        yield last, line if line.endswith(b"\n") else line + b"\n"


def _in_time(files: Files, paths: Sequence[str]) -> list[tuple[str, bytes, bytes]]:
    """Return broker, time and line of some logs, in the order of time."""
    return sorted(((broker_of(path), *line) for path in paths for line in _lines(files[path])), key=lambda one: one[1])


# -- layouts -----------------------------------------------------------------------------------------------------------


def _as_docker(broker: str, time: bytes, line: bytes) -> bytes:
    said = {"log": line.decode(errors="replace"), "stream": "stdout", "time": _iso(time)}
    return json.dumps(said).encode() + b"\n"


def _as_kubernetes(broker: str, time: bytes, line: bytes) -> bytes:
    return f"{_iso(time)} stdout F ".encode() + line


def _as_beat(broker: str, time: bytes, line: bytes) -> bytes:
    text = line.decode(errors="replace").rstrip("\n")
    return json.dumps({"@timestamp": _iso(time), "host": {"name": broker}, "message": text}).encode() + b"\n"


def _as_syslog(broker: str, time: bytes, line: bytes) -> bytes:
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    stamp = time.decode() or "2024-01-01 00:00:00,000"
    head = f"{months[int(stamp[5:7]) - 1]} {int(stamp[8:10]):2} {stamp[11:19]} {broker} kafka-server-start.sh[812]: "
    return head.encode() + line


def _as_compose(broker: str, time: bytes, line: bytes) -> bytes:
    return f"{broker}  | ".encode() + line


def _as_pod(broker: str, time: bytes, line: bytes) -> bytes:
    return f"[pod/{broker}/kafka] ".encode() + line


def _iso(time: bytes) -> str:
    return (time.decode() or "2024-01-01 00:00:00,000").replace(" ", "T").replace(",", ".") + "000000Z"


_OF_ONE = (_as_docker, _as_kubernetes, _as_beat, _as_syslog)
_OF_ALL = (_as_beat, _as_syslog, _as_compose, _as_pod)


def collected(evidence: Evidence, random: Random) -> list[Edit]:
    """All logs of a broker are one file, as a collector keeps the output of its console."""
    way = random.choice(_OF_ONE)
    return [Edit(f"{way.__name__} of {broker}", partial(_collected, way, broker)) for broker in evidence.printing]


def _collected(way: Callable[[str, bytes, bytes], bytes], broker: str, files: Files) -> Files:
    mine = [path for path in files if broker_of(path) == broker and is_log(path)]
    rest = {path: content for path, content in files.items() if path not in mine}
    return {**rest, f"{broker}/logs/console.log": b"".join(way(*one) for one in _in_time(files, mine))}


def one_stream(evidence: Evidence, random: Random) -> list[Edit]:
    """The logs of all brokers are in one file, each line with the name of its broker."""
    way = random.choice(_OF_ALL)
    return [Edit(f"{way.__name__} of all", partial(_one_stream, way))]


def _one_stream(way: Callable[[str, bytes, bytes], bytes], files: Files) -> Files:
    logs = [path for path in files if is_log(path)]
    rest = {path: content for path, content in files.items() if path not in logs}
    return {**rest, "all/logs/kafka.log": b"".join(way(*one) for one in _in_time(files, logs))}


# -- pasted by people --------------------------------------------------------------------------------------------------


def pasted(evidence: Evidence, random: Random) -> list[Edit]:
    """Some lines of some brokers were pasted into a ticket; nothing else is there, or the data of the brokers."""
    words = random.choice((rb"orders|pay|-[0-9]", rb"[Tt]runcat|starts? at", rb"[Ll]eader", rb"[Tt]runcat|offset|ISR"))
    way = random.choice((_fenced, _quoted, _wrapped, _without_times))
    brokers = random.sample(evidence.printing, k=random.randint(1, len(evidence.printing)))
    edits = [Edit(f"{way.__name__}: {words.decode()} of {brokers}", partial(_pasted, way, re.compile(words), brokers))]
    if random.random() < 0.6:
        edits += gone(path for path in evidence.paths if is_data(path))
    return edits


def _pasted(way: Callable[[list[str]], str], words: re.Pattern[bytes], brokers: Sequence[str], files: Files) -> Files:
    parts = ["We lost messages after the restart yesterday. What we have found in the logs:"]
    for broker in brokers:
        mine = [path for path in files if broker_of(path) == broker and is_log(path)]
        lines = [
            line.decode(errors="replace").rstrip("\n") for _, _, line in _in_time(files, mine) if words.search(line)
        ]
        parts.append(f"Log of {broker}:\n\n{way(lines[-_MOST:])}")
    rest = {path: content for path, content in files.items() if not is_log(path)}
    return {**rest, "ticket.md": "\n\n".join([*parts, "Does somebody know what this is?", ""]).encode()}


_MOST = 120
"""Lines of a broker in a ticket."""


def _fenced(lines: list[str]) -> str:
    return "\n".join(["```", *lines, "```"])


def _quoted(lines: list[str]) -> str:
    return "\n".join(f"> {line}" for line in lines)


def _wrapped(lines: list[str]) -> str:
    wrapped = ["\n".join(textwrap.wrap(line, 100, break_long_words=False, break_on_hyphens=False)) for line in lines]
    return _fenced(wrapped)


def _without_times(lines: list[str]) -> str:
    return _fenced([STAMP.sub(b"", line.encode()).decode().strip() for line in lines])


# -- more than once ----------------------------------------------------------------------------------------------------


def shipped_again(evidence: Evidence, random: Random) -> list[Edit]:
    """Blocks of lines are in a log again, a little later, as collectors ship them that repeat what failed."""
    paths = random.sample(sorted(evidence.logs), k=random.randint(1, len(evidence.logs)))
    return [found for path in paths for found in each([path], "blocks again in", partial(_again, random.random()))]


def _again(share: float, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    first = int(share * len(lines))
    block = lines[first : first + 40]
    after = first + len(block) + 25
    return b"".join([*lines[:after], *block, *lines[after:]])


def out_of_order(evidence: Evidence, random: Random) -> list[Edit]:
    """Lines of a log come a few places too early or too late, as from several workers."""
    seed = random.random()
    paths = tuple(random.sample(sorted(evidence.logs), k=random.randint(1, len(evidence.logs))))
    return [Edit(f"disordered: {paths}", partial(all_changed, paths, partial(_disordered, seed)))]


def _disordered(seed: float, content: bytes) -> bytes:
    random = Random(seed)
    lines = [line for _, line in _lines(content)]
    order = sorted(range(len(lines)), key=lambda number: number + random.uniform(0, 4))
    return b"".join(lines[number] for number in order)


def collected_twice(evidence: Evidence, random: Random) -> list[Edit]:
    """The logs of some brokers were collected before, too: they are there again, and end earlier."""
    brokers = random.sample(evidence.printing, k=random.randint(1, len(evidence.printing)))
    spans = evidence.during(brokers, EARLIEST, evidence.moment(random))
    lines = {path: found[0][1] for path, found in spans.items()}
    return [Edit(f"before: {lines}", partial(_twice, lines))] if lines else []


def _twice(lines: dict[str, int], files: Files) -> Files:
    kept = ((path, count) for path, count in lines.items() if path in files)
    before = {f"before/{path}": b"".join(files[path].splitlines(keepends=True)[:count]) for path, count in kept}
    after = {f"after/{path}": content for path, content in files.items()}
    return {**before, **after}


# -- beside another cluster --------------------------------------------------------------------------------------------


def other_cluster(evidence: Evidence, random: Random) -> list[Edit]:
    """The evidence of another recorded cluster is in the folder, too."""
    other = random.choice(recorded())
    beside = {f"other/{path}": content for path, content in other.files().items()}
    return [Edit(f"beside {other.name}", partial(_beside, beside), beside)]


def _beside(beside: Files, files: Files) -> Files:
    return {**files, **beside}


HANDED_OVER = (collected, one_stream, pasted, shipped_again, out_of_order, collected_twice, other_cluster)
