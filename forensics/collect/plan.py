"""A script that collects evidence from a cluster: what to copy, in which order, and what not to do.

It is made to be read first: each step says why. Nothing in it restarts a broker or changes data. Only the last step, in
comments, changes a setting: log levels.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

_NOT: Final = (
    "restart a broker: it truncates logs, and writes over the high watermarks that it had",
    "start a reassignment, a preferred or an unclean election: logs are truncated or deleted",
    "delete or clean data directories or volumes, also of brokers that are gone",
    "run kafka-dump-log, or another tool, with the option that rebuilds or repairs indexes",
    "lower retention or delete topics before all is copied: segments are deleted at once",
)
"""The things that must not be done before the copies are made."""


SETTINGS: Final = (
    "/etc/kafka/server.properties",
    "/etc/kafka/kraft/server.properties",
    "/opt/kafka/config/server.properties",
    "/opt/kafka/config/kraft/server.properties",
    "/opt/kafka/custom-config/server.config",  # of Strimzi
)
"""Files of settings; the first that is there counts."""

_DATA: Final = ("/var/lib/kafka/data",)
_LOGS: Final = ("/var/log/kafka",)


@dataclass(frozen=True, slots=True)
class Runtime:
    """How commands reach a broker.

    Attributes:
        name: value of ``--runtime``.
        run: runs a command on the broker's host or in its container; with ``{host}`` and ``{command}`` in it.
        pack: writes a folder of it as a tar to standard output, with ``{host}`` and ``{folder}``. ``{remote}`` is the
            command quoted for the shell at the other end.
        console: prints what the process wrote to its console; ``{host}``.
        before: prints what the process before it in the container wrote; "" where nothing can.
        data, logs: data directories and folders of log files, unless others are named. None of them need be there.
        settings: files of settings, of which the first that is there counts.
        never: what else must not be done.
        container: the container of a pod; "" for the first.
    """

    name: str
    run: str
    pack: str
    console: str
    before: str = ""
    data: tuple[str, ...] = _DATA
    logs: tuple[str, ...] = _LOGS
    settings: tuple[str, ...] = SETTINGS
    never: tuple[str, ...] = ()
    container: str = ""

    @property
    def of_pods(self) -> bool:
        """Return whether brokers are pods, which have a namespace and containers."""
        return self.run.startswith("kubectl ")


_OF_PODS: Final = (
    "kubectl exec {host} -- sh -c {command}",
    "kubectl exec {host} -- tar -cf - -C {folder} .",
    "kubectl logs --timestamps {host}",
    "kubectl logs --previous --timestamps {host}",
)
_JOURNAL: Final = "ssh {host} sudo journalctl -u %s -o short-iso-precise --no-pager"

RUNTIMES: Final = (
    Runtime(
        "systemd",
        "ssh {host} {command}",
        "ssh {host} {remote}",
        _JOURNAL % "kafka -u confluent-server",
    ),
    Runtime(
        "docker",
        "docker exec {host} sh -c {command}",
        "docker exec {host} tar -cf - -C {folder} .",
        "docker logs --timestamps {host}",
    ),
    Runtime("kubernetes", *_OF_PODS),
    Runtime(  # docker-images/kafka-based/kafka/scripts/kafka_run.sh of strimzi-kafka-operator
        "strimzi",
        *_OF_PODS,
        data=("/var/lib/kafka",),  # volumes are mounted as data, or data-0 and so on
        logs=(),  # its brokers write no log files
        settings=("/opt/kafka/custom-config/server.config",),
        never=(
            "delete a pod: at its start the container removes the file quorum-state",
            "change the Kafka resource or its node pools: the operator restarts pods",
        ),
        container="kafka",
    ),
    Runtime(  # roles/variables/vars/main.yml of cp-ansible
        "cp-ansible",
        "ssh {host} {command}",
        "ssh {host} {remote}",
        _JOURNAL % "confluent-server -u confluent-kafka -u confluent-kcontroller -u confluent-zookeeper",
        data=(*_DATA, "/var/lib/controller/data"),
        logs=(*_LOGS, "/var/log/controller"),
        settings=("/etc/kafka/server.properties", "/etc/controller/server.properties"),
        never=("run a playbook: it restarts brokers whose settings differ from its own",),
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


@dataclass(frozen=True, slots=True)
class Places:
    """The places of evidence on each host. Where none is named, those of the runtime count.

    Attributes:
        data: data directories (``log.dirs``) on each host.
        logs: folders of log files on each.
        settings: files of settings, of which the first that is there counts.
        namespace: of pods; None for the present one.
        container: of pods; None for that of the runtime.
    """

    data: Sequence[str] = ()
    logs: Sequence[str] = ()
    settings: Sequence[str] = ()
    namespace: str | None = None
    container: str | None = None


def runtime_of(name: str) -> Runtime:
    """Return one of ``RUNTIMES`` by its name."""
    return next(one for one in RUNTIMES if one.name == name)


def script(
    hosts: Sequence[str],
    places: Places,
    *,
    runtime: str,
    server: str = "localhost:9092",
    config: str | None = None,
) -> str:
    """Return the script.

    Args:
        hosts: brokers and controllers, as the runtime names them.
        places: where evidence is on each.
        runtime: name of one of ``RUNTIMES``.
        server: a broker for Kafka's own commands, which are run on the first host.
        config: a file there with settings of the client, for a cluster that asks who is there.
    """
    how = runtime_of(runtime)
    there = replace(
        places,
        data=places.data or how.data,
        logs=places.logs or how.logs,
        settings=places.settings or how.settings,
        container=places.container or how.container or None,
    )
    cluster = f"--bootstrap-server {shlex.quote(server)}"
    if config is not None:
        cluster += f" --command-config {shlex.quote(config)}"
    return "".join(f"{line}\n" for line in _lines(how, hosts, there, cluster))


def _reached(host: str, places: Places) -> str:
    """Return a host as a command names it: a pod with its namespace and container.

    >>> _reached("kafka-0", Places(namespace="prod", container="kafka"))
    'kafka-0 -n prod -c kafka'
    """
    words = [host]
    words += ["-n", places.namespace] if places.namespace is not None else []
    words += ["-c", places.container] if places.container is not None else []
    return shlex.join(words)


def _lines(how: Runtime, hosts: Sequence[str], places: Places, cluster: str) -> Iterator[str]:
    yield "#!/bin/sh"
    yield "# Collects evidence of a Kafka cluster. Read it first: it copies files, and changes nothing on the brokers."
    yield "# Until it has ended, do NOT"
    yield from (f"#   - {one}" for one in (*_NOT, *how.never))
    yield "set -u"
    yield 'OUT="${1:-evidence-$(date -u +%Y%m%dT%H%M%SZ)}"'
    yield 'umask 077 && mkdir -p "$OUT"'
    yield ""
    yield "# How much it will be, and how much room there is here: data directories are copied whole. Where that is too"
    yield "# much, stop now (Ctrl-C), and run `forensics collect` on the hosts: it takes headers in place of records."
    for host in hosts:
        sizes = " ".join(map(shlex.quote, (*places.logs, *places.data)))
        command = shlex.quote(f"$(command -v sudo) du -sh {sizes}")
        said = how.run.format(host=_reached(host, places), command=command)
        yield f"echo {shlex.quote(f'{host}:')}; {said}"
    yield 'df -h "$OUT"; sleep 10'
    for number, host in enumerate(hosts, 1):
        yield from _of_host(how, host, number, places)
    yield ""
    yield "# What the cluster states while it runs. Positions of groups show what had been committed."
    for file, command, options, where in _ONCE:
        asked = _tool(command, options.format(cluster=cluster))
        said = how.run.format(host=_reached(hosts[0], places), command=shlex.quote(asked))
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


def _of_host(how: Runtime, host: str, number: int, places: Places) -> Iterator[str]:
    """Yield the commands for one host: its clock, its logs, its data directories, then its settings."""
    name, at = _reached(host, places), f'"$OUT/host-{number}"'
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
    yield f"{how.console.format(host=name)} > {at}/console.log 2>&1 || true"
    if how.before:
        yield f"{how.before.format(host=name)} > {at}/console-before.log 2>/dev/null || true  # before its last restart"
    yield "# Its data directories: checkpoints are written over every five seconds, so the sooner the better."
    for place, folder in enumerate(places.data, 1):
        yield _unpacked(how, name, folder, f"{at}/data{'' if place == 1 else f'-{place}'}")
    yield "# Its settings, of those that matter for replication: others may be passwords."
    files = " ".join(map(shlex.quote, places.settings))
    lines = f"$s grep -E {shlex.quote(_SETTING)} $f"
    wanted = f"s=$(command -v sudo); for f in {files}; do if $s test -r $f; then {lines}; break; fi; done"
    yield f"{how.run.format(host=name, command=shlex.quote(wanted))} > {at}/server.properties"


def _unpacked(how: Runtime, name: str, folder: str, into: str) -> str:
    quoted = shlex.quote(folder)
    none = f"echo no folder {quoted} here >&2; tar -cf - -T /dev/null"
    remote = shlex.quote(f"if sudo test -d {quoted}; then sudo tar -cf - -C {quoted} .; else {none}; fi")
    packed = how.pack.format(host=name, folder=quoted, remote=remote)
    return f"mkdir -p {into} && {packed} | tar -xf - -C {into}"
