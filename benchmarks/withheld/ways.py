"""Ways in which evidence reaches an operator incomplete, or not as the brokers wrote it.

Those in which tools and people hand over logs are in ``handed_over``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from random import Random

from benchmarks.same.corpus import Files
from benchmarks.same.cuts import EARLIEST, KINDS, LATEST, Evidence, broker_of, is_data, is_log
from benchmarks.withheld.edits import STAMP, Edit, all_changed, each, gone, lines_gone
from benchmarks.withheld.handed_over import HANDED_OVER

_LEVEL = re.compile(rb"^\[[^\]]*\] (TRACE|DEBUG|INFO|WARN|ERROR|FATAL) ")
_LEVELS = (b"TRACE", b"DEBUG", b"INFO", b"WARN", b"ERROR", b"FATAL")
_SEGMENT = re.compile(r"/[^/]+-[0-9]+/[0-9]{20}\.log$")


# -- files that are not there ------------------------------------------------------------------------------------------


def some_files(evidence: Evidence, random: Random) -> list[Edit]:
    """Some files are missing, anywhere."""
    share = random.choice((0.05, 0.1, 0.3, 0.6))
    return gone(path for path in evidence.paths if random.random() < share)


def of_one_broker(evidence: Evidence, random: Random) -> list[Edit]:
    """All of one broker is missing, or its logs, or its data."""
    broker = random.choice(evidence.brokers)
    part: Callable[[str], bool] = random.choice((is_log, is_data, lambda path: True))
    return gone(path for path in evidence.paths if broker_of(path) == broker and part(path))


def one_broker_alone(evidence: Evidence, random: Random) -> list[Edit]:
    """One broker's files are there, or those of one and of the controllers."""
    kept = {random.choice(evidence.brokers), random.choice((evidence.brokers[0], evidence.brokers[-1]))}
    return gone(path for path in evidence.paths if broker_of(path) not in kept)


def some_kinds(evidence: Evidence, random: Random) -> list[Edit]:
    """One or two kinds of files are missing, of all brokers or of one."""
    kinds = random.sample(sorted(KINDS), k=random.choice((1, 1, 2)))
    brokers = evidence.brokers if random.random() < 0.5 else random.sample(evidence.brokers, k=1)
    return gone(
        path for path in evidence.paths if broker_of(path) in brokers and any(KINDS[kind](path) for kind in kinds)
    )


# -- lines that are not there ------------------------------------------------------------------------------------------


def until(evidence: Evidence, random: Random) -> list[Edit]:
    """All logs end at one moment."""
    return lines_gone(evidence.during(evidence.brokers, evidence.moment(random), LATEST))


def since(evidence: Evidence, random: Random) -> list[Edit]:
    """All logs begin at one moment."""
    return lines_gone(evidence.during(evidence.brokers, EARLIEST, evidence.moment(random)))


def between(evidence: Evidence, random: Random) -> list[Edit]:
    """All logs begin at one moment and end at another."""
    first, after = evidence.between(random)
    before = lines_gone(evidence.during(evidence.brokers, after, LATEST))
    return [*before, *lines_gone(evidence.during(evidence.brokers, EARLIEST, first))]


def one_broker_since(evidence: Evidence, random: Random) -> list[Edit]:
    """One broker's logs begin or end at some moment, and perhaps another's at another."""
    found = []
    for broker in random.sample(evidence.printing, k=min(len(evidence.printing), random.choice((1, 1, 2)))):
        moment = evidence.moment(random, broker)
        span = (EARLIEST, moment) if random.random() < 0.6 else (moment, LATEST)
        found += lines_gone(evidence.during([broker], *span))
    return found


def rotated_away(evidence: Evidence, random: Random) -> list[Edit]:
    """A file that was rotated is missing in the middle of one log, or of all logs of one broker."""
    broker = random.choice(evidence.printing)
    lines = evidence.during([broker], *evidence.between(random, broker))
    if lines and random.random() < 0.5:
        path = random.choice(sorted(lines))
        lines = {path: lines[path]}
    return lines_gone(lines)


def level(evidence: Evidence, random: Random) -> list[Edit]:
    """Loggers are set to a higher level than Kafka's own configuration sets them to."""
    least = random.choice((b"INFO", b"INFO", b"WARN", b"ERROR"))
    kind = random.choice(("state-change.log", "server.log", "controller.log", ".log"))
    brokers = evidence.brokers if random.random() < 0.7 else random.sample(evidence.brokers, k=1)
    paths = [path for path in evidence.logs if path.endswith(kind) and broker_of(path) in brokers]
    return each(paths, f"from {least.decode()} on:", partial(_from_level, least))


def _from_level(least: bytes, content: bytes) -> bytes:
    kept, keeping = [], True
    for line in content.splitlines(keepends=True):
        found = _LEVEL.match(line)
        keeping = _LEVELS.index(found[1]) >= _LEVELS.index(least) if found else keeping
        if keeping:
            kept.append(line)
    return b"".join(kept)


def searched(evidence: Evidence, random: Random) -> list[Edit]:
    """Instead of some logs there are the lines in them that a search found."""
    words = random.choice(
        (rb"orders|pay|-[0-9]", rb"[Tt]runcat", rb"WARN|ERROR", rb"[Ll]eader", rb"ISR|[Tt]runcat|offset")
    )
    broker = random.choice(evidence.printing)
    paths = [path for path in evidence.logs if broker_of(path) == broker or random.random() < 0.5]
    return each(paths, f"matches of {words.decode()} in", partial(_matches, re.compile(words)))


def _matches(words: re.Pattern[bytes], content: bytes) -> bytes:
    return b"".join(line for line in content.splitlines(keepends=True) if words.search(line))


def head_or_tail(evidence: Evidence, random: Random) -> list[Edit]:
    """Logs end or begin at some byte, as by a limit of a tool."""
    found = []
    for path in random.sample(sorted(evidence.logs), k=random.randint(1, len(evidence.logs))):
        share, tail = random.random(), random.random() < 0.7
        found += each([path], f"{'tail' if tail else 'head'} {share:.3f} of", partial(_part, share, tail))
    return found


def _part(share: float, tail: bool, content: bytes) -> bytes:
    at = int(share * len(content))
    return content[at:] if tail else content[:at]


# -- not as the brokers wrote it ---------------------------------------------------------------------------------------


def console(evidence: Evidence, random: Random) -> list[Edit]:
    """A broker's loggers all wrote to its console: one file, in the order of time; of one broker or of all."""
    brokers = evidence.printing if random.random() < 0.6 else random.sample(evidence.printing, k=1)
    return [Edit(f"console of {broker}", partial(_merged, broker)) for broker in brokers]


def _merged(broker: str, files: Files) -> Files:
    mine = [path for path in files if broker_of(path) == broker and is_log(path)]
    stamped: list[tuple[bytes, bytes]] = []
    for path in mine:
        last = b""
        for line in files[path].splitlines(keepends=True):
            found = STAMP.match(line)
            last = found[1] if found else last
            stamped.append((last, line if line.endswith(b"\n") else line + b"\n"))
    stamped.sort(key=lambda one: one[0])
    rest = {path: content for path, content in files.items() if path not in mine}
    return {**rest, f"{broker}/logs/kafkaServer.out": b"".join(line for _, line in stamped)} if mine else files


def clock_off(evidence: Evidence, random: Random) -> list[Edit]:
    """The clock of a broker, or of two, is off by up to an hour."""
    found = []
    for broker in random.sample(evidence.printing, k=min(len(evidence.printing), random.choice((1, 1, 2)))):
        seconds = random.choice((-3600, -600, -61, -7, -1, 1, 7, 61, 600, 3600))
        paths = [path for path in evidence.logs if broker_of(path) == broker]
        text = f"clock {seconds:+} s of {broker}"
        found.append(Edit(text, partial(all_changed, tuple(paths), partial(_moved, timedelta(seconds=seconds)))))
    return found


def _moved(by: timedelta, content: bytes) -> bytes:
    def later(found: re.Match[bytes]) -> bytes:
        moment = datetime.strptime(found[1].decode() + "000+0000", "%Y-%m-%d %H:%M:%S,%f%z") + by
        return f"[{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03}]".encode()

    return STAMP.sub(later, content)


def short_copies(evidence: Evidence, random: Random) -> list[Edit]:
    """Some segments were copied in part: their ends are missing."""
    segments = [path for path in evidence.paths if _SEGMENT.search(path)]
    if not segments:
        return []
    found = []
    for path in random.sample(segments, k=random.randint(1, min(3, len(segments)))):
        share = random.random()
        found += each([path], f"first {share:.3f} of", partial(_part, share, False))
    return found


def no_names(evidence: Evidence, random: Random) -> list[Edit]:
    """All files of each broker are in one folder whose name shows no broker, without properties."""
    properties = [path for path in evidence.paths if path.endswith(".properties")]
    order = random.sample(evidence.brokers, k=len(evidence.brokers))
    names = {broker: f"host-{chr(ord('a') + number)}" for number, broker in enumerate(order)}
    return [*gone(properties), Edit(f"renamed {names}", partial(_renamed, names))]


def _renamed(names: dict[str, str], files: Files) -> Files:
    return {f"{names.get(broker_of(path), broker_of(path))}/{path.partition('/')[2]}": files[path] for path in files}


def other_topic_id(evidence: Evidence, random: Random) -> list[Edit]:
    """A broker has the directory of a topic of another id: it was down as the topic was deleted and created again."""
    named = [path for path in evidence.paths if path.endswith("/partition.metadata")]
    if not named:
        return []
    broker = broker_of(random.choice(named))
    logs = gone(path for path in evidence.paths if broker_of(path) == broker and is_log(path))
    return [*logs, *each([path for path in named if broker_of(path) == broker], "other id in", _with_other_id)]


def _with_other_id(content: bytes) -> bytes:
    return re.sub(rb"(topic_id: ).*", rb"\1AAAAAAAAAAAAAAAAAAAAAQ", content)


WAYS: dict[str, Callable[[Evidence, Random], list[Edit]]] = {
    way.__name__: way
    for way in (
        some_files,
        of_one_broker,
        one_broker_alone,
        some_kinds,
        until,
        since,
        between,
        one_broker_since,
        rotated_away,
        level,
        searched,
        head_or_tail,
        console,
        clock_off,
        short_copies,
        no_names,
        other_topic_id,
        *HANDED_OVER,
    )
}
