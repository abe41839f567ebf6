"""``forensics collect``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from forensics.cli import reading
from forensics.cli.examples import example
from forensics.cli.speaking import say
from forensics.collect import plan as plans
from forensics.collect.bundle import MANIFEST, Taken
from forensics.collect.bundle import collect as packed
from forensics.collect.choosing import Form
from forensics.collect.redacting import Names
from forensics.outputs import outside, plain

_SHOWN = 5
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:/-]*")


@click.command(epilog=example("forensics collect /var/log/kafka /var/lib/kafka -o broker-1.tar.zst"))
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("-o", "--output", metavar="FILE", help="Bundle to write: .tar.zst, .tar.gz or .tar.")
@click.option("--with-segments", is_flag=True, help="Pack segments with the records of users, not only their headers.")
@click.option(
    "--without-metadata",
    is_flag=True,
    help="Leave out the metadata log of KRaft. It holds dynamic settings and SCRAM credentials.",
)
@click.option(
    "--redact",
    is_flag=True,
    help="Replace topics, groups, clients, hosts, addresses and paths in each file. No records and no binary file "
    "with names are packed.",
)
@click.option("--plan", is_flag=True, help="Print a script that collects from all brokers, to be read and run.")
@click.option(
    "--host", "hosts", multiple=True, help="With --plan: a broker or controller: host, container or pod. Repeat it."
)
@click.option(
    "--runtime",
    type=click.Choice([one.name for one in plans.RUNTIMES]),
    default=plans.RUNTIMES[0].name,
    show_default=True,
    help="With --plan: how the brokers run.",
)
@click.option(
    "--data-dir",
    "data",
    multiple=True,
    metavar="DIR",
    help="With --plan: a data directory (log.dirs) of the brokers. Can be repeated. [default: by the runtime]",
)
@click.option(
    "--log-dir",
    "logs",
    multiple=True,
    metavar="DIR",
    help="With --plan: a folder of log files of the brokers. Can be repeated. [default: by the runtime]",
)
@click.option("--namespace", "-n", metavar="NAME", help="With --plan: the namespace of the pods.")
@click.option(
    "--container", "-c", metavar="NAME", help="With --plan: the container of each pod. Strimzi calls it kafka."
)
@click.option(
    "--bootstrap-server",
    "server",
    default="localhost:9092",
    show_default=True,
    help="With --plan: address for Kafka's own commands, which run on the first host.",
)
@click.option(
    "--settings",
    multiple=True,
    metavar="FILE",
    help="With --plan: server.properties of the brokers. Several can be given; the first that is there counts. "
    "[default: by the runtime]",
)
@click.option(
    "--command-config",
    "config",
    metavar="FILE",
    help="With --plan: a file on the first host with settings for Kafka's own commands, such as security.protocol.",
)
@reading.limits
def collect(
    paths: tuple[str, ...],
    output: str | None,
    with_segments: bool,
    without_metadata: bool,
    redact: bool,
    plan: bool,
    hosts: tuple[str, ...],
    runtime: str,
    data: tuple[str, ...],
    logs: tuple[str, ...],
    namespace: str | None,
    container: str | None,
    server: str,
    settings: tuple[str, ...],
    config: str | None,
) -> None:
    """Pack the evidence of a host, or print a script that collects it from a cluster.

    The bundle has logs, checkpoints, settings without passwords, and batch headers in place of segments: no records of
    users. `forensics scan` reads it as it is. Nothing is changed on the host.

    With --redact the same names are replaced as by `scan --redact`, alike in each file, and a scan of the bundle gives
    the same answers. It reads the evidence as a scan does first. Look through the bundle before you send it.
    """
    if plan:
        words = (*data, *logs, *settings, namespace or "", container or "", server, config or "")
        _check(paths, output, hosts, words)
        if (namespace or container) and not plans.runtime_of(runtime).of_pods:
            raise click.UsageError(f"--runtime {runtime} has no pods: --namespace and --container are for pods")
        places = plans.Places(data, logs, settings, namespace, container)
        say(plans.script(hosts, places, runtime=runtime, server=server, config=config))
        return
    if not paths or output is None:
        raise click.UsageError("name folders of the host, and the bundle with -o FILE; or print a script with --plan")
    if redact and with_segments:
        raise click.UsageError("--redact cannot replace names in the values of records: leave out --with-segments")
    outside((output,), paths)
    names = _names(paths) if redact else None
    found = packed(paths, Path(output), with_segments=with_segments, metadata=not without_metadata, names=names)
    say("".join(f"{plain(line)}\n" for line in _said(found, output)))


def _names(paths: tuple[str, ...]) -> Names:
    """Return what replaces the names of the evidence below some paths."""
    from forensics.engines import local
    from forensics.reports.evidence_redaction import EvidenceRedactor

    return EvidenceRedactor(local.take_in(paths), paths)


def _check(paths: Sequence[str], output: str | None, hosts: Sequence[str], words: Sequence[str]) -> None:
    """Make sure that a script can be made of the options: each of them is pasted into a shell in the end."""
    if paths or output is not None:
        raise click.UsageError("--plan prints a script; name brokers with --host, and no PATH and no -o")
    if not hosts:
        raise click.UsageError("--plan needs the brokers: --host kafka-1 --host kafka-2")
    strange = next((host for host in hosts if not _HOST.fullmatch(host)), None)
    if strange is not None:
        raise click.UsageError(f"{strange!r} is no name of a host, a container or a pod")
    if any(not word.isprintable() for word in words):
        raise click.UsageError("a folder or an address has characters that cannot be printed")


def _of(count: int, what: str) -> str:
    """Return how many there are of something.

    >>> _of(1, "segment"), _of(2_000, "segment")
    ('1 segment', '2,000 segments')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _masked(found: Sequence[Taken]) -> Iterator[str]:
    """Yield in how many files secrets were masked."""
    logs = [one.secrets for one in found if one.secrets]
    if settings := sum(one.form is Form.MASKED for one in found) - len(logs):
        yield f"of {_of(settings, 'file')} with settings all but passwords and the like"
    if logs:
        yield f"of {_of(len(logs), 'log')} all but {_of(sum(logs), 'password')} and the like; look for others in them"


def _said(found: Sequence[Taken], output: str) -> Iterator[str]:
    forms = Counter(one.form for one in found)
    size = sum(one.packed for one in found)
    yield f"{output}: {_of(len(found) - forms[Form.LEFT_OUT], 'file')}, {size / 1e6:,.1f} MB before compression"
    if forms[Form.HEADERS]:
        segments = _of(forms[Form.HEADERS], "segment")
        yield f"of {segments} the batch headers, without records (--with-segments packs them)"
    yield from _masked(found)
    if forms[Form.REDACTED] or forms[Form.STATEMENTS]:
        yield (
            f"of {_of(forms[Form.REDACTED], 'text')} each line with other names, and what is in "
            f"{_of(forms[Form.STATEMENTS], 'binary file')}"
        )
    if any(one.what == "metadata-log" and one.form is Form.WHOLE for one in found):
        yield "the metadata log as it is: it may hold dynamic settings and credentials (--without-metadata)"
    reasons = Counter(one.what for one in found if one.form is Form.LEFT_OUT)
    if reasons:
        what = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common(_SHOWN))
        yield f"left out: {what}; {MANIFEST} in the bundle names each file"
