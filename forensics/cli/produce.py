"""``forensics produce``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import click

from forensics.cli.examples import example
from forensics.cli.speaking import say
from forensics.errors import UnreadableInput
from forensics.outputs import as_json, plain, put_text, writable
from forensics.salvage import producing, records
from forensics.salvage.producing import Report

_SHOWN = 5


def _settings(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    settings = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{value!r} is no setting; use one like security_protocol=SSL")
        settings[name.replace(".", "_")] = text
    return settings


@click.command(epilog=example("forensics produce records.jsonl --bootstrap-server kafka:9092 --topic back"))
@click.argument("file", metavar="RECORDS.jsonl")
@click.option(
    "--bootstrap-server", "servers", required=True, metavar="HOST:PORT", help="A broker; several with commas."
)
@click.option(
    "--topic",
    required=True,
    metavar="NEW-TOPIC",
    help="Topic for the records: a new one is made with one partition, and keeps them without limit.",
)
@click.option(
    "--replication-factor",
    type=click.IntRange(1),
    help="Replicas of a new topic. Default: that of the brokers (2.4 or newer).",
)
@click.option("--uncommitted", is_flag=True, help="Also send records of aborted and unfinished transactions.")
@click.option(
    "--config",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_settings,
    help="Setting of the client, such as security_protocol=SSL or ssl_cafile=ca.pem. Can be repeated.",
)
@click.option("--report", metavar="FILE", help="What was acknowledged. Default: acknowledged.jsonl beside the records.")
def produce(
    file: str,
    servers: str,
    topic: str,
    replication_factor: int | None,
    uncommitted: bool,
    settings: dict[str, str],
    report: str | None,
) -> None:
    """Write salvaged records to a new topic of a running cluster, with their timestamps and headers.

    It compares the records in the topic with those in the file, and sends only the ones that follow. So it can be run
    again after an interruption, and no record is written twice. Any topic with other records is refused.

    Exit code: 0 all records were sent that were to be sent, 1 some cannot be sent, 2 an error.
    """
    target_report = report if report is not None else str(Path(file).with_name("acknowledged.jsonl"))
    writable(target_report)
    made = Report()
    _check(file)
    with _lines(file) as lines:
        target = producing.KafkaTarget(servers, topic, replication=replication_factor or -1, settings=settings)
        try:
            producing.produce(records.read(lines, file), target, made, uncommitted=uncommitted)
        finally:
            with contextlib.suppress(KeyboardInterrupt):
                target.close()
            put_text(target_report, _report_lines(made, topic))
    say("".join(f"{plain(line)}\n" for line in _said(made, topic, target_report)))
    if made.impossible:
        raise SystemExit(1)


def _check(file: str) -> None:
    """Read the file once before anything is asked of a broker, or made there.

    Raises:
        UnreadableInput: it cannot be read, or a line of it is no record.
    """
    with _lines(file) as lines:
        for _ in records.read(lines, file):
            pass


@contextlib.contextmanager
def _lines(file: str) -> Iterator[Iterator[str]]:
    try:
        with Path(file).open(encoding="utf-8") as stream:
            yield iter(stream)
    except OSError as error:
        raise UnreadableInput(f"{file}: {error.strerror or error}; name records.jsonl of forensics salvage") from None
    except UnicodeDecodeError:
        raise UnreadableInput(f"{file}: is not UTF-8 text; name records.jsonl of forensics salvage") from None


def _report_lines(made: Report, topic: str) -> Iterator[str]:
    for one in made.acknowledged:
        there = {"topic": topic, "partition": 0, "offset": one.there}
        yield as_json({"offset": one.offset, "produced": there, "before": one.before}) + "\n"


def _said(made: Report, topic: str, report: str) -> Iterator[str]:
    new = sum(not one.before for one in made.acknowledged)
    had = len(made.acknowledged) - new
    yield f"{new:,} records acknowledged in {topic}-0" + (f"; {had:,} were there before" if had else "")
    for state, count in sorted(made.left_out.items()):
        yield f"{count:,} records not sent: their transaction is {state} (--uncommitted sends them)"
    for where, why in made.impossible[:_SHOWN]:
        yield f"{where}: not sent: {why}, which the client cannot send"
    if more := len(made.impossible[_SHOWN:]):
        yield f"and {more:,} more that were not sent"
    if made.undated:
        yield f"{made.undated:,} records have no timestamp: they got the present time"
    yield f"each record with its new offset: {report}"
