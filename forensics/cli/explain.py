"""``forensics rules`` and ``forensics explain``: the rules in their own words."""

from __future__ import annotations

import click

from forensics.cli.choosing import OneOf
from forensics.rules import RULES


@click.command()
def rules() -> None:
    """List the rules, with the severity of a violation.

    Example: forensics rules
    """
    for rule in RULES:
        click.echo(f"{rule.id:30} {rule.severity.value:9} {rule.summary}")


@click.command()
@click.argument("rule", type=OneOf("rule", [rule.id for rule in RULES], "forensics rules"))
def explain(rule: str) -> None:
    """Say what a rule finds, why it matters, and what to do.

    Example: forensics explain committed-data-lost
    """
    asked = next(one for one in RULES if one.id == rule)
    click.echo(f"{asked.summary}\n\n{asked.help.text}")
