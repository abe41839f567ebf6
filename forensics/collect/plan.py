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
    ("version.txt", "kafka-topics", "--version", "2.0 or newer"),
    ("topics.txt", "kafka-topics", "{cluster} --describe", ""),
    ("groups.txt", "kafka-consumer-groups", "{cluster} --describe --all-groups --offsets", ""),
    ("log-dirs.txt", "kafka-log-dirs", "{cluster} --describe", ""),
    ("quorum.txt", "kafka-metadata-quorum", "{cluster} describe --replication", "KRaft, 3.3 or newer"),
)
"""Outputs of Kafka's own commands: file, command, its options, and the releases or clusters that have it.

``{cluster}`` stands for the address of the cluster and the settings of the client.
"""

_TOOLS: Final = "/opt/kafka/bin:/usr/local/kafka/bin"
"""Folders of Kafka's commands in images, beside ``PATH``. Packages name the commands without ``.sh``."""

SETTINGS: Final = (
    "/etc/kafka/server.properties",
    "/etc/kafka/kraft/server.properties",
    "/opt/kafka/config/server.properties",
    "/opt/kafka/config/kraft/server.properties",
    "/opt/kafka/custom-config/server.config",  # of Strimzi
)
"""Files of settings; the first that is there counts."""

_SETTING: Final = (
    r"^(broker[.](id|rack)|node[.]id|process[.]roles|cluster[.]id|(log|message|replica|unclean|auto|default|min|num"
    r"|controller[.]quorum|metadata[.]log|offsets[.]topic|transaction[.]state)[.][a-z.]+|eligible[.]leader[a-z.]+"
    r"|inter[.]broker[.]protocol[.]version) *="
)
"""The settings that are taken, as a regular expression for ``grep -E``: no other, for it may be a password."""

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
    hosts: Sequence[str],
    *,
    runtime: str,
    data: Sequence[str],
    logs: Sequence[str],
    settings: Sequence[str] = SETTINGS,
    server: str = "localhost:9092",
    config: str | None = None,
) -> str:
    """Return the script.

    Args:
        hosts: brokers and controllers, as the runtime names them.
        runtime: one of ``RUNTIMES``.
        data: data directories (``log.dirs``) on each.
        logs: folders of log files on each.
        settings: files of settings, of which the first that is there counts.
        server: a broker for Kafka's own commands, which are run on the first host.
        config: a file there with settings of the client, for a cluster that asks who is there.
    """
    how = next(one for one in RUNTIMES if one.name == runtime)
    places = _Places(data, logs, settings)
    cluster = f"--bootstrap-server {shlex.quote(server)}"
    if config is not None:
        cluster += f" --command-config {shlex.quote(config)}"
    return "".join(f"{line}\n" for line in _lines(how, hosts, places, cluster))


@dataclass(frozen=True, slots=True)
class _Places:
    """Folders and files on each host.

    Attributes:
        data, logs: folders.
        settings: files, of which the first that is there counts.
    """

    data: Sequence[str]
    logs: Sequence[str]
    settings: Sequence[str]


def _lines(how: Runtime, hosts: Sequence[str], places: _Places, cluster: str) -> Iterator[str]:
    yield "#!/bin/sh"
    yield "# Collects evidence of a Kafka cluster. Read it first: it copies files, and changes nothing on the brokers."
    yield "# Until it has ended, do NOT"
    yield from (f"#   - {one}" for one in _NOT)
    yield "set -u"
    yield 'OUT="${1:-evidence-$(date -u +%Y%m%dT%H%M%SZ)}"'
    yield 'umask 077 && mkdir -p "$OUT"'
    yield ""
    yield "# How much it will be, and how much room there is here: data directories are copied whole. Where that is too"
    yield "# much, stop now (Ctrl-C), and run `forensics collect` on the hosts: it takes headers in place of records."
    for host in hosts:
        sizes = " ".join(map(shlex.quote, (*places.logs, *places.data)))
        said = how.run.format(host=shlex.quote(host), command=shlex.quote(f"sudo du -sh {sizes} || du -sh {sizes}"))
        yield f"echo {shlex.quote(f'{host}:')}; {said}"
    yield 'df -h "$OUT"; sleep 10'
    for number, host in enumerate(hosts, 1):
        yield from _of_host(how, host, number, places)
    yield ""
    yield "# What the cluster states while it runs. Positions of groups show what had been committed."
    for file, command, options, where in _ONCE:
        asked = _tool(command, options.format(cluster=cluster))
        said = how.run.format(host=shlex.quote(hosts[0]), command=shlex.quote(asked))
        yield f'{said} > "$OUT/{file}"{f"  # {where}" if where else ""}'
    yield ""
    yield 'forensics scan "$OUT"    # or on another machine: tar -cf - "$OUT" | zstd > evidence.tar.zst'
    yield ""
    yield "# For the next time, not for this one: log levels that show more. Since 2.4 no restart is needed (KIP-412)."
    for logger, level, what in _LOGGERS:
        yield f"# {logger}={level}: {what}"
    yield (
        f"# kafka-configs.sh {cluster} --alter --entity-type broker-loggers --entity-name BROKER_ID "
        "--add-config LOGGER=LEVEL"
    )


def _tool(name: str, options: str) -> str:
    """Return a command of Kafka's, wherever an image or a package has it. If it is nowhere, the shell reports that."""
    found = f"command -v {name}.sh || command -v {name} || echo {name}.sh"
    return f'PATH="$PATH:{_TOOLS}"; $({found}) {options}'


def _of_host(how: Runtime, host: str, number: int, places: _Places) -> Iterator[str]:
    """Yield the commands for one host: its clock, its logs, its data directories, then its settings."""
    name, at = shlex.quote(host), f'"$OUT/host-{number}"'
    yield ""
    yield f"# {host}"
    yield f"mkdir -p {at}"
    yield "# Its clock, beside this machine's: times of two brokers are compared."
    synchronised = "chronyc tracking || timedatectl || true"
    clock = how.run.format(host=name, command=shlex.quote(f"date -u +%FT%TZ; date +%z; {synchronised}"))
    yield f"{{ date -u +%FT%TZ; {clock}; date -u +%FT%TZ; }} > {at}/clock.txt 2>&1"
    yield "# Its logs first: they are rotated away. Then its console, where a container has no files."
    for place, folder in enumerate(places.logs, 1):
        yield _unpacked(how, name, folder, f"{at}/logs{'' if place == 1 else f'-{place}'}")
    yield f"{how.logs.format(host=name)} > {at}/console.log 2>&1 || true"
    yield "# Its data directories: checkpoints are written over every five seconds, so the sooner the better."
    for place, folder in enumerate(places.data, 1):
        yield _unpacked(how, name, folder, f"{at}/data{'' if place == 1 else f'-{place}'}")
    yield "# Its settings, of those that matter for replication: others may be passwords."
    files = " ".join(map(shlex.quote, places.settings))
    wanted = f"for f in {files}; do if [ -r $f ]; then grep -E {shlex.quote(_SETTING)} $f; break; fi; done"
    yield f"{how.run.format(host=name, command=shlex.quote(wanted))} > {at}/server.properties"


def _unpacked(how: Runtime, name: str, folder: str, into: str) -> str:
    remote = shlex.quote(f"sudo tar -cf - -C {shlex.quote(folder)} .")
    packed = how.pack.format(host=name, folder=shlex.quote(folder), remote=remote)
    return f"mkdir -p {into} && {packed} | tar -xf - -C {into}"
