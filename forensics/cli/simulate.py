"""``forensics simulate``: the reference model writes evidence of its own."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import click

from forensics.cli.choosing import OneOf
from forensics.cli.examples import example
from forensics.errors import BadConfiguration, UnreadableInput
from forensics.model import (
    PROTOCOLS,
    SCENARIOS,
    VARIANTS,
    BadSchedule,
    Run,
    Scenario,
    Schedule,
    scenario,
    schedule,
    telling_seeds,
    what_if,
)
from forensics.outputs import beside, new_folder

LOGGING = ("default", "replication")
Logging = Literal["default", "replication"]

_SCENARIO = OneOf("scenario", [story.name for story in SCENARIOS], "forensics simulate --list")


@click.command(epilog=example("forensics simulate fork --protocol hw -o fork/", "forensics scan fork/broker-*"))
@click.argument("name", required=False, type=_SCENARIO)
@click.option(
    "--schedule",
    "file",
    type=click.Path(dir_okay=False),
    help="Run your own schedule from a YAML or JSON file instead of a scenario; see `forensics explain schedules`.",
)
@click.option("--list", "listed", is_flag=True, help="List the scenarios.")
@click.option(
    "--protocol",
    type=click.Choice([protocol.name for protocol in (*PROTOCOLS, *VARIANTS)]),
    help="Replication protocol. hw: up to 0.10. epoch: 0.11 to 1.1. epoch-279: 2.0 to 2.7. fetch: 2.8 and later.",
)
@click.option("-o", "--output", type=click.Path(file_okay=False), help="New folder for the evidence.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random choices.")
@click.option("--steps", type=click.IntRange(min=1), help="Stop after this number of steps.")
@click.option(
    "--logging", type=click.Choice(LOGGING), default="default", show_default=True, help="Log level of the brokers."
)
@click.option(
    "--trace",
    type=click.Path(dir_okay=False),
    help="Also write the run as a trace to this file; without -o, only the trace.",
)
@click.option(
    "--what-if",
    "compare",
    is_flag=True,
    help="Run it under every protocol and print the outcomes. With -o, write the evidence of each to a folder with "
    "the name of the protocol.",
)
def simulate(
    name: str | None,
    file: str | None,
    listed: bool,
    protocol: str | None,
    output: str | None,
    seed: int,
    steps: int | None,
    logging: Logging,
    trace: str | None,
    compare: bool,
) -> None:
    """Run a scenario of the reference model, or a schedule of your own.

    Each broker gets a folder with its logs and data. Three files are beside these folders. trace.jsonl states every
    change of the run (`forensics explain trace-format`). truth.json holds the correct answers, events.jsonl the model's
    events.

    A scan of the folders uses only what brokers leave behind; a scan of the trace uses every change. A trace has no
    files, so only the folders show damage on disk.
    """
    if listed or (name is None and file is None and not (protocol or output or trace or compare)):
        for known in SCENARIOS:
            click.echo(f"{known.name:28} {known.summary}")
        return
    story, stated = told_story(name, file)
    if compare and (protocol or trace):
        raise click.UsageError("--what-if runs every protocol: leave out --protocol and --trace, or --what-if")
    folder, alone = fresh(output, trace)
    if compare:
        compared(story, seed, steps, logging, folder)
        return
    under = protocol or stated
    if under is None or (folder is None and alone is None):
        raise click.UsageError(
            "--protocol, and -o or --trace, are needed to write something; --list and --what-if need neither"
        )
    write_one(story, under, seed, steps, logging, folder, alone)


def write_one(
    story: Scenario,
    protocol: str,
    seed: int,
    steps: int | None,
    logging: Logging,
    folder: Path | None,
    trace: Path | None,
) -> None:
    """Run a story under one protocol and write its evidence, its trace or both."""
    try:
        run = story.run(protocol, seed=seed, steps=steps)
    except BadSchedule as error:
        raise BadConfiguration(str(error)) from None
    with ExitStack() as parts:
        traces = parts.enter_context(beside([trace])) if trace is not None else []
        if folder is not None:
            run.write(parts.enter_context(new_folder(folder)), logging=logging)
        for part in traces:
            part.write_text(run.observations(), encoding="utf-8")
    click.echo(f"{folder or trace}: {told(run)}")


def fresh(output: str | None, trace: str | None) -> tuple[Path | None, Path | None]:
    """Return the folder for the evidence and the file for the trace, neither of which holds anything yet."""
    folder = Path(output) if output is not None else None
    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise click.UsageError(f"{output} is not empty; give a new folder: nothing is ever written over")
    alone = Path(trace) if trace is not None else None
    if alone is not None and alone.exists():
        raise click.UsageError(f"{trace} exists; give a new file: nothing is ever written over")
    if alone is not None and folder is not None and folder.absolute() in alone.absolute().parents:
        raise click.UsageError(f"{trace} is inside {output}; name a file outside of it")
    return folder, alone


def told_story(name: str | None, file: str | None) -> tuple[Scenario, str | None]:
    """Return the story to run, and the protocol that a schedule names."""
    if name is not None and file is not None:
        raise click.UsageError("give the name of a scenario or --schedule, not both")
    if file is not None:
        read = own_schedule(file)
        return read.scenario(), read.protocol
    if name is None:
        raise click.UsageError("which scenario? Give its name before the options; --list shows all")
    return scenario(name), None


def own_schedule(file: str) -> Schedule:
    """Read a user's schedule."""
    try:
        return schedule(file)
    except BadSchedule as error:
        raise BadConfiguration(str(error)) from None
    except OSError as error:
        raise UnreadableInput(f"{file}: {error.strerror}; give a file that can be read") from None


def compared(story: Scenario, seed: int, steps: int | None, logging: Logging, folder: Path | None) -> None:
    """Prints the outcomes side by side, and writes the evidence of each protocol if a folder is given."""
    outcomes = what_if(story, seed, steps)
    if all(row["refused"] for row in outcomes):
        raise BadConfiguration(outcomes[0]["refused"])
    click.echo(str(outcomes))
    if story.name == "random" and outcomes.alike:
        seeds = ", ".join(map(str, telling_seeds(seed + 1, steps)))
        others = f"Seeds that do not: {seeds}" if seeds else "So do the next 1,000; try more steps"
        click.echo(f"\nSeed {seed} has the same outcome under every protocol. {others}")
    if folder is None:
        return
    truths = list[str]()
    with new_folder(folder) as part:
        for row in outcomes:
            run = story.run(row["protocol"], seed=seed, steps=steps if row["steps"] is None else row["steps"])
            run.write(part / run.protocol.name, logging=logging)
            truths.append(f"{folder / run.protocol.name}: {told(run)}")
    click.echo("\n".join(truths))


def told(run: Run) -> str:
    """The truth about a run in a line."""
    return ", ".join(f"{question} {'yes' if answer else 'no'}" for question, answer in run.truth()["expect"].items())
