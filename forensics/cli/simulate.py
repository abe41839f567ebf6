"""``forensics simulate``: the reference model writes evidence of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from forensics.errors import UnwritableOutput
from forensics.model import PROTOCOLS, SCENARIOS, VARIANTS, Run, Scenario, scenario, telling_seeds, what_if

LOGGING = ("default", "replication")
Logging = Literal["default", "replication"]


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
    "--trace", type=click.Path(dir_okay=False), help="Write the trace to this file, without evidence or beside it."
)
@click.option(
    "--what-if",
    "compare",
    is_flag=True,
    help="Run it under every protocol and print the outcomes; with -o, the evidence of each goes into a folder of "
    "that name.",
)
def simulate(
    name: str | None,
    listed: bool,
    protocol: str | None,
    output: str | None,
    seed: int,
    steps: int | None,
    logging: Logging,
    trace: str | None,
    compare: bool,
) -> None:
    """Run a scenario of the reference model.

    The files of each broker are in a folder of its own. Beside them are trace.jsonl, the run as a trace that states
    every change, whatever brokers print (docs/trace-format.md); truth.json, the correct answers; and events.jsonl, the
    model's own events. A scan of the brokers' folders judges by what brokers leave behind, a scan of the trace by every
    change. A trace holds no records, so only the folders show whether replicas differ.

    Example: forensics simulate fork --protocol hw -o fork/ && forensics scan fork/broker-*
    """
    if name is None and not listed and (protocol or output or trace or compare):
        raise click.UsageError("which scenario? Give its name before the options; --list tells which there are")
    if listed or name is None:
        for story in SCENARIOS:
            click.echo(f"{story.name:28} {story.summary}")
        return
    if compare and (protocol or trace):
        raise click.UsageError("--what-if runs every protocol: leave out --protocol and --trace, or --what-if")
    if not compare and (protocol is None or (output is None and trace is None)):
        raise click.UsageError(
            "--protocol, and -o or --trace, are needed to write something; --list and --what-if need neither"
        )
    folder = Path(output) if output is not None else None
    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise click.UsageError(f"{output} is not empty; give a new folder: nothing is ever written over")
    if trace is not None and Path(trace).exists():
        raise click.UsageError(f"{trace} exists; give a new file: nothing is ever written over")
    if trace is not None and folder is not None and folder.absolute() in Path(trace).absolute().parents:
        raise click.UsageError(f"{trace} lies in {output}; give a file elsewhere")
    story = scenario(name)
    if protocol is None:
        compared(story, seed, steps, logging, folder)
        return
    run = story.run(protocol, seed=seed, steps=steps)
    try:
        if folder is not None:
            run.write(folder, logging=logging)
        if trace is not None:
            Path(trace).write_text(run.observations())
    except OSError as error:
        raise unwritable(error) from None
    click.echo(f"{output or trace}: {told(run)}")


def compared(story: Scenario, seed: int, steps: int | None, logging: Logging, folder: Path | None) -> None:
    """Prints the outcomes side by side, and writes the evidence of each protocol if a folder is given."""
    outcomes = what_if(story.name, seed, steps)
    click.echo(str(outcomes))
    if story.name == "random" and outcomes.alike:
        seeds = ", ".join(map(str, telling_seeds(seed + 1, steps)))
        others = f"Seeds that do not: {seeds}" if seeds else "So do the next 1,000; more steps may tell them apart"
        click.echo(f"\nSeed {seed} comes to the same under every protocol. {others}")
    if folder is None:
        return
    try:
        for row in outcomes:
            run = story.run(row["protocol"], seed=seed, steps=steps)
            run.write(folder / run.protocol.name, logging=logging)
            click.echo(f"{folder / run.protocol.name}: {told(run)}")
    except OSError as error:
        raise unwritable(error) from None


def told(run: Run) -> str:
    """The truth about a run in a line."""
    return ", ".join(f"{question} {'yes' if answer else 'no'}" for question, answer in run.truth()["expect"].items())


def unwritable(error: OSError) -> UnwritableOutput:
    """Return an error that names the file that could not be written, and what to do."""
    return UnwritableOutput(f"{error.filename}: {error.strerror}; give a folder that can be written to")
