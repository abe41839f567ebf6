"""A script that collects evidence from a cluster: what to copy, in which order, and what not to do.

It is made to be read first: each step says why. Nothing in it restarts a broker or changes data. Only the last step, in
comments, changes a setting: log levels.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_NOT: Final = (
    "restart a broker: it truncates logs, and writes over the high watermarks that it had",
    "start a reassignment, a preferred or an unclean election: logs are truncated or deleted",
    "delete or clean data directories or volumes, also of brokers that are gone",
    "run kafka-dump-log, or another tool, with the option that rebuilds or repairs indexes",
    "raise retention or delete topics before all is copied: segments are deleted at once",
)
"""The things that must not be done before the copies are made."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """How commands reach a broker.

    Attributes:
        name: value of ``--runtime``.
        run: runs a command on the broker's host or in its container; with ``{host}`` and ``{command}`` in it.
        pack: writes a folder of it as a tar to standard output, with ``{host}`` and ``{folder}``. ``{remote}`` is the
            command quoted for the shell at the other end.
        logs: prints what the process wrote to its console; ``{host}``.
    """

    name: str
    run: str
    pack: str
    logs: str


RUNTIMES: Final = (
    Runtime(
        "systemd",
        "ssh {host} {command}",
        "ssh {host} {remote}",
        "ssh {host} sudo journalctl -u kafka -u confluent-server -o short-iso-precise --no-pager",
    ),
    Runtime(
        "docker",
        "docker exec {host} sh -c {command}",
        "docker exec {host} tar -cf - -C {folder} .",
        "docker logs --timestamps {host}",
    ),
    Runtime(
        "kubernetes",
        "kubectl exec {host} -- sh -c {command}",
        "kubectl exec {host} -- tar -cf - -C {folder} .",
        "kubectl logs --timestamps {host}",
    ),
)
"""How brokers run, the default first."""

_ONCE: Final = (
    ("topics.txt", "kafka-topics.sh --bootstrap-server {server} --describe", ""),
    ("groups.txt", "kafka-consumer-groups.sh --bootstrap-server {server} --describe --all-groups --offsets", ""),
    ("log-dirs.txt", "kafka-log-dirs.sh --bootstrap-server {server} --describe", ""),
    (
        "quorum.txt",
        "kafka-metadata-quorum.sh --bootstrap-server {server} describe --replication",
        "KRaft, 3.3 or newer",
    ),
)
"""Outputs of Kafka's own commands: file, command, and the clusters that have it."""

_LOGGERS: Final = (
    ("state.change.logger", "TRACE", "each role that a broker takes up: some lines for each partition and election"),
    ("kafka.cluster.Partition", "TRACE", "high watermarks and ISR: a line for each append, up to the rate of requests"),
    (
        "kafka.server.ReplicaFetcherThread",
        "DEBUG",
        "truncations and epochs of followers: some lines for each new leader",
    ),
    ("kafka.log.UnifiedLog", "DEBUG", "ends, starts and truncations of logs; before 3.0 its name is kafka.log.Log"),
)
"""Loggers that show more, the level, and what they print."""


def script(
    hosts: Sequence[str], *, runtime: str, data: Sequence[str], logs: Sequence[str], server: str = "localhost:9092"
) -> str:
    """Return the script.

    Args:
        hosts: brokers and controllers, as the runtime names them.
        runtime: one of ``RUNTIMES``.
        data: data directories (``log.dirs``) on each.
        logs: folders of log files on each.
        server: a broker for Kafka's own commands, which are run on the first host.
    """
    how = next(one for one in RUNTIMES if one.name == runtime)
    return "".join(f"{line}\n" for line in _lines(how, hosts, data, logs, server))


def _lines(how: Runtime, hosts: Sequence[str], data: Sequence[str], logs: Sequence[str], server: str) -> Iterator[str]:
    yield "#!/bin/sh"
    yield "# Collects evidence of a Kafka cluster. Read it first: it copies files, and changes nothing on the brokers."
    yield "# Until it has ended, do NOT"
    yield from (f"#   - {one}" for one in _NOT)
    yield "set -u"
    yield 'OUT="${1:-evidence-$(date -u +%Y%m%dT%H%M%SZ)}"'
    yield 'umask 077 && mkdir -p "$OUT"'
    for number, host in enumerate(hosts, 1):
        yield from _of_host(how, host, number, data, logs)
    yield ""
    yield "# What the cluster states while it runs. Positions of groups show what had been committed."
    for file, command, where in _ONCE:
        said = how.run.format(host=shlex.quote(hosts[0]), command=shlex.quote(command.format(server=server)))
        yield f'{said} > "$OUT/{file}"{f"  # {where}" if where else ""}'
    yield ""
    yield 'forensics scan "$OUT"    # or on another machine: tar -cf - "$OUT" | zstd > evidence.tar.zst'
    yield ""
    yield "# For the next time, not for this one: log levels that show more. Since 2.4 no restart is needed (KIP-412)."
    for logger, level, what in _LOGGERS:
        yield f"# {logger}={level}: {what}"
    yield (
        f"# kafka-configs.sh --bootstrap-server {server} --alter --entity-type broker-loggers --entity-name BROKER_ID "
        "--add-config LOGGER=LEVEL"
    )


def _of_host(how: Runtime, host: str, number: int, data: Sequence[str], logs: Sequence[str]) -> Iterator[str]:
    """Yield the commands for one host: its clock, its logs, then its data directories."""
    name, at = shlex.quote(host), f'"$OUT/host-{number}"'
    yield ""
    yield f"# {host}"
    yield f"mkdir -p {at}"
    yield "# Its clock, beside this machine's: times of two brokers are compared."
    clock = how.run.format(host=name, command=shlex.quote("date -u +%FT%TZ; date +%z"))
    yield f"{{ date -u +%FT%TZ; {clock}; }} > {at}/clock.txt"
    yield "# Its logs first: they are rotated away. Then its console, where a container has no files."
    for place, folder in enumerate(logs, 1):
        yield _unpacked(how, name, folder, f"{at}/logs{'' if place == 1 else f'-{place}'}")
    yield f"{how.logs.format(host=name)} > {at}/console.log 2>&1 || true"
    yield "# Its data directories: checkpoints are written over every five seconds, so the sooner the better."
    for place, folder in enumerate(data, 1):
        yield _unpacked(how, name, folder, f"{at}/data{'' if place == 1 else f'-{place}'}")


def _unpacked(how: Runtime, name: str, folder: str, into: str) -> str:
    remote = shlex.quote(f"sudo tar -cf - -C {shlex.quote(folder)} .")
    packed = how.pack.format(host=name, folder=shlex.quote(folder), remote=remote)
    return f"mkdir -p {into} && {packed} | tar -xf - -C {into}"
