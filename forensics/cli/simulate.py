"""``forensics simulate``: the reference model writes evidence of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from forensics.errors import UnwritableOutput
from forensics.model import PROTOCOLS, SCENARIOS, VARIANTS, what_if

LOGGING = ("default", "replication")


@click.command()
@click.argument("name", required=False, type=click.Choice([story.name for story in SCENARIOS]), metavar="SCENARIO")
@click.option("--list", "listed", is_flag=True, help="List the scenarios.")
@click.option(
    "--protocol",
    type=click.Choice([protocol.name for protocol in (*PROTOCOLS, *VARIANTS)]),
    help="Which replication.",
)
@click.option("-o", "--output", type=click.Path(file_okay=False), help="Folder for the evidence; must not exist yet.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of what is left to chance.")
@click.option("--steps", type=click.IntRange(min=1), help="Stop after so many steps.")
@click.option("--logging", type=click.Choice(LOGGING), default="default", show_default=True, help="What brokers print.")
@click.option(
    "--trace",
    type=click.Path(dir_okay=False),
    help="Write the run to this file too, as a trace in which everything is stated, whatever brokers print.",
)
@click.option("--what-if", "compare", is_flag=True, help="Run it under every protocol and print the outcomes.")
def simulate(
    name: str | None,
    listed: bool,
    protocol: str | None,
    output: str | None,
    seed: int,
    steps: int | None,
    logging: Literal["default", "replication"],
    trace: str | None,
    compare: bool,
) -> None:
    """Run a scenario of the reference model.

    The evidence lies below one folder per broker; beside them trace.jsonl has every event of the run, truth.json what
    is true of it. A scan looks at neither.

    Example: forensics simulate fork --protocol hw -o fork/ && forensics scan fork/
    """
    if listed or name is None:
        for story in SCENARIOS:
            click.echo(f"{story.name:28} {story.summary}")
        return
    if compare:
        click.echo(str(what_if(name, seed, steps)))
        return
    if protocol is None or output is None:
        raise click.UsageError("--protocol and -o are needed to write evidence; --list and --what-if need neither")
    folder = Path(output)
    if folder.exists() and any(folder.iterdir()):
        raise click.UsageError(f"{output} is not empty; give a new folder: nothing is ever written over")
    if trace is not None and (Path(trace).exists() or folder.absolute() in Path(trace).absolute().parents):
        raise click.UsageError(
            f"{trace} exists or lies in {output}; give a new file elsewhere: a scan would take it in"
        )
    story = next(story for story in SCENARIOS if story.name == name)
    run = story.run(protocol, seed=seed, steps=steps)
    try:
        run.write(folder, logging=logging)
        if trace is not None:
            Path(trace).write_text(run.observations())
    except OSError as error:
        raise UnwritableOutput(f"{error.filename}: {error.strerror}; give a folder that can be written to") from None
    expect = run.truth()["expect"]
    told = ", ".join(f"{question} {'yes' if answer else 'no'}" for question, answer in expect.items())
    click.echo(f"{output}: {told}")
