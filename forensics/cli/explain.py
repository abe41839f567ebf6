"""``forensics rules`` and ``forensics explain``: the rules in their own words, words of Kafka, and pages."""

from __future__ import annotations

import click

from forensics.cli.choosing import OneOf
from forensics.cli.examples import example
from forensics.cli.speaking import say, say_pieces
from forensics.pages import PAGES, page
from forensics.rules import RULES
from forensics.rules.glossary import explained


class RuleOrWord(OneOf):
    """A rule, a word of the glossary, or a page."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of the rule or page, or the word; ends with an error that suggests the nearest rule."""
        known = explained(value) is not None or value in PAGES
        return value if known else super().convert(value, param, ctx)


@click.command(epilog=example("forensics rules"))
def rules() -> None:
    """List the rules, with the severity of a violation."""
    say_pieces(f"{rule.id:30} {rule.severity.value:9} {rule.summary}\n" for rule in RULES)


_PAGES = ", ".join(PAGES)


@click.command(
    epilog=example("forensics explain committed-data-lost"),
    help=f"""Explain a rule: what it finds, why it matters, what evidence shows it, and what to do.

    RULE is a name that `forensics scan` prints; `forensics rules` lists all. A word of Kafka is explained too, such as
    ISR or "high watermark".

    The name of a page of the documentation prints it: {_PAGES}.
    """,
)
@click.argument("rule", type=RuleOrWord("rule", [rule.id for rule in RULES], "forensics rules"))
def explain(rule: str) -> None:
    """Print what the name or word means."""
    if (told := explained(rule) or page(rule)) is not None:
        say(f"{told.rstrip()}\n")
        return
    asked = next(one for one in RULES if one.id == rule)
    say(f"{asked.summary}\n\n{asked.help.text}\n".replace("``", "`"))
