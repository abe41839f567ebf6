"""``forensics produce``."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

import click

from forensics.cli.examples import example
from forensics.cli.speaking import say
from forensics.errors import UnreadableInput
from forensics.named_files import opened
from forensics.outputs import as_json, plain, put_text, writable
from forensics.salvage import producing, records
from forensics.salvage.producing import NullHeaders, Report

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
    "--null-headers",
    "null_headers_text",
    type=click.Choice([one.value for one in NullHeaders]),
    help="For headers without a value, which the client cannot send: send an empty value, or skip the record.",
)
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
    null_headers_text: str | None,
    settings: dict[str, str],
    report: str | None,
) -> None:
    """Write salvaged records to a new topic of a running cluster, with their timestamps and headers.

    It compares the records in the topic with those in the file, and sends only the ones that follow. So it can be run
    again after an interruption, and no record is written twice. Any topic with other records is refused.

    Exit code: 0 all records were sent that were to be sent, 1 --null-headers skip left some out, 2 an error.
    """
    target_report = report if report is not None else str(Path(file).with_name("acknowledged.jsonl"))
    writable(target_report, inputs=(file,))
    made = Report()
    null_headers = None if null_headers_text is None else NullHeaders(null_headers_text)
    _check(file, null_headers, uncommitted=uncommitted)
    with _lines(file) as lines:
        target = producing.KafkaTarget(servers, topic, replication=replication_factor or -1, settings=settings)
        try:
            kept = records.read(lines, file)
            producing.produce(kept, target, made, uncommitted=uncommitted, null_headers=null_headers)
        finally:
            with contextlib.suppress(KeyboardInterrupt):
                target.close()
            put_text(target_report, _report_lines(made, topic))
    say("".join(f"{plain(line)}\n" for line in _said(made, topic, target_report)))
    if made.skipped:
        raise SystemExit(1)


def _check(file: str, null_headers: NullHeaders | None, *, uncommitted: bool) -> None:
    """Read the file once before anything is asked of a broker, or made there.

    Raises:
        UnreadableInput: it cannot be read, or a line of it is no record.
        NotProduced: a record cannot be sent as it is, and the user did not say what then.
    """
    with _lines(file) as lines:
        kept = records.read(lines, file)
        if null_headers is None:
            producing.refuse_null_headers(kept, uncommitted=uncommitted)
        for _ in kept:
            pass


@contextlib.contextmanager
def _lines(file: str) -> Iterator[Iterator[str]]:
    try:
        with opened(file) as stream, io.TextIOWrapper(stream, encoding="utf-8") as text:
            yield iter(text)
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
    if made.emptied:
        yield f"{made.emptied:,} records have headers without a value: there they have an empty value"
    if made.skipped:
        yield f"{len(made.skipped):,} records not sent: a header has no value (--null-headers empty sends them)"
        shown = ", ".join(made.skipped[:_SHOWN])
        yield f"  {shown}{', ...' if made.skipped[_SHOWN:] else ''}"
    if made.undated:
        yield f"{made.undated:,} records have no timestamp: they got the present time"
    yield f"each record with its new offset: {report}"
