"""Options for a user's settings, the same for every command that judges.

The command line overrides the environment, which overrides the configuration file.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from forensics import tuning
from forensics.repaired.former import FormerScan, former_scan
from forensics.tuning import FAIL_ON, Tuning


def _options() -> tuple[Callable[..., Any], ...]:
    return (
        click.option(
            "--topic",
            "topics",
            multiple=True,
            metavar="GLOB",
            envvar="FORENSICS_TOPICS",
            help="Judge only topics that match. Can be repeated.",
        ),
        click.option(
            "--skip-topic",
            "skip_topics",
            multiple=True,
            metavar="GLOB",
            envvar="FORENSICS_SKIP_TOPICS",
            help="Leave out topics that match. Can be repeated.",
        ),
        click.option(
            "--fail-on",
            type=click.Choice(FAIL_ON),
            envvar="FORENSICS_FAIL_ON",
            help="Exit with code 1 for findings of this severity or above. unknown: as error, and also if an error or "
            f"critical rule stays unknown.  [default: {Tuning().fail_on}]",
        ),
        click.option(
            "--severity",
            "severities",
            multiple=True,
            metavar="RULE=LEVEL",
            envvar="FORENSICS_SEVERITY",
            help="Set the severity of a rule's worst findings. Can be repeated.",
        ),
        click.option(
            "--disable",
            "disabled",
            multiple=True,
            metavar="RULE",
            envvar="FORENSICS_DISABLE",
            help="Switch a rule off. Can be repeated.",
        ),
        click.option(
            "--baseline",
            type=click.Path(dir_okay=False),
            metavar="FILE",
            envvar="FORENSICS_BASELINE",
            help="A former output of --format json or jsonl. Its findings are hidden and counted; the exit code is "
            "about new ones. `scan` also says whether producers can go back after a repair: exit code 1 if not, 3 if "
            "that is not shown.",
        ),
        click.option(
            "--config",
            type=click.Path(dir_okay=False),
            metavar="FILE",
            envvar="FORENSICS_CONFIG",
            help="Configuration file. Default: forensics.toml, or [tool.forensics] in pyproject.toml, of the working "
            "directory. A file inside the evidence counts only if it is named here.",
        ),
        click.option("--isolated", is_flag=True, envvar="FORENSICS_ISOLATED", help="Do not read a configuration file."),
    )


def tuned(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a command, and pass their result to it as ``tuning``."""

    @functools.wraps(command)
    def with_tuning(**given: Any) -> None:
        asked = {name: given.pop(name) for name in _NAMES}
        evidence = given["paths"] if "paths" in given else (str(given["folder"]),)
        given_here = click.get_current_context().get_parameter_source("baseline") is ParameterSource.COMMANDLINE
        command(tuning=replace(_merged(evidence, **asked), asks_repair=given_here), **given)

    for option in reversed(_options()):
        with_tuning = option(with_tuning)
    return with_tuning


_NAMES = ("topics", "skip_topics", "fail_on", "severities", "disabled", "baseline", "config", "isolated")


def _found(evidence: Sequence[str]) -> Path | None:
    """Return the configuration of the working directory, and report one that does not count."""
    found, foreign = tuning.find(Path(), evidence)
    if foreign is not None:
        click.echo(
            f"forensics: {foreign} is part of the evidence, so its settings were not used; "
            f"if they are yours, add --config {foreign}",
            err=True,
        )
    return found


def _merged(
    evidence: Sequence[str],
    *,
    topics: tuple[str, ...],
    skip_topics: tuple[str, ...],
    fail_on: str | None,
    severities: tuple[str, ...],
    disabled: tuple[str, ...],
    baseline: str | None,
    config: str | None,
    isolated: bool,
) -> Tuning:
    """Combine options and file: options override the file; severities do so rule by rule.

    Args:
        evidence: what is judged; a file in it is no configuration unless it is named.
        topics, skip_topics, fail_on, severities, disabled, baseline, config, isolated: the options.
    """
    if isolated and config is not None:
        raise click.UsageError("--isolated reads no configuration, --config names one: use one of them")
    file = Path(config) if config is not None else None if isolated else _found(evidence)
    base = tuning.load(file) if file is not None else Tuning()
    given = {}
    for pair in severities:
        rule, mark, level = pair.partition("=")
        if not mark:
            raise click.UsageError(f"--severity {pair}: must be RULE=LEVEL, as in leo-regression=warning")
        given[tuning.rule_id(rule, "--severity")] = tuning.severity(level, f"--severity {rule}")
    named = baseline or base.baseline
    former = former_scan(named) if named is not None else FormerScan()
    return Tuning(
        severities={**base.severities, **given},
        disabled=frozenset(tuning.rule_id(rule, "--disable") for rule in disabled) or base.disabled,
        topics=topics or base.topics,
        skip_topics=skip_topics or base.skip_topics,
        fail_on=fail_on or base.fail_on,
        baseline=named,
        known=former.findings,
        former=former,
        config=base.config,
    )
