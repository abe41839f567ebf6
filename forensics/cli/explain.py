"""``forensics rules`` and ``forensics explain``: the rules in their own words, words that reports use, and pages."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

import click

from forensics.cli.choosing import OneOf
from forensics.cli.examples import example
from forensics.cli.speaking import say, say_pieces
from forensics.pages import PAGES, page
from forensics.rules import RULES
from forensics.rules.glossary import GLOSSARY, SHORT, explained

_COLUMNS = 100


class RuleOrWord(OneOf):
    """A rule by its id or its words, a word of the glossary, or a page."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the id of the rule, the word or the page; ends with an error that suggests the nearest."""
        if explained(value) is not None or value in PAGES:
            return value
        said = " ".join(value.casefold().split())
        titled = {name: rule.id for rule in RULES for name in (rule.phrase.casefold(), rule.id.replace("-", " "))}
        return super().convert(titled.get(said, value), param, ctx)

    def near(self, value: str) -> str:
        """Return the question after a wrong name: the nearest, or a word in whose explanation it is used."""
        used = _used(value)
        return super().near(value) or (f"; did you mean {used[0]}, where it is used?" if used else "")


@click.command(epilog=example("forensics rules"))
def rules() -> None:
    """List the rules, with the severity of a violation."""
    say_pieces(f"{rule.id:30} {rule.severity.value:9} {rule.summary}\n" for rule in RULES)


_PAGES = ", ".join(PAGES)


class _Words(click.Command):
    """A command whose one name may be of several words, also without quotes."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return what is left of the arguments: none."""
        words = " ".join(one for one in args if not one.startswith("-"))
        return super().parse_args(ctx, [one for one in args if one.startswith("-")] + ([words] if words else []))


@click.command(
    cls=_Words,
    epilog=example("forensics explain committed-data-lost"),
    help=f"""Explain a rule or a word, such as ISR or "high watermark".

    NAME is a rule that `forensics scan` prints, or a word of its text. A rule is explained by what it finds, why it
    matters, what evidence shows it, and what to do. Without NAME, all rules and words are listed.

    The name of a page of the documentation prints it: {_PAGES}.
    """,
)
@click.argument(
    "name",
    required=False,
    type=RuleOrWord("name", [*(rule.id for rule in RULES), *GLOSSARY, *SHORT], "forensics explain"),
)
def explain(name: str | None) -> None:
    """Print what the name or word means, or the names and words that there are."""
    if name is None:
        say(_listed())
        return
    if (told := explained(name) or page(name)) is not None:
        say(f"{told.rstrip()}\n")
        return
    asked = next(one for one in RULES if one.id == name)
    say(f"{asked.summary}\n\n{asked.help.text}\n".replace("``", "`"))


def _listed() -> str:
    """Return what can be explained: rules, words and pages."""
    width = max(len(rule.id) for rule in RULES) + 2
    found = "".join(f"  {rule.id:{width}}{rule.summary}\n" for rule in RULES)
    return f"Rules:\n{found}\nWords:\n{_wrapped([*GLOSSARY, *SHORT])}\nPages:\n{_wrapped(PAGES)}"


def _used(word: str) -> list[str]:
    """Return the words in whose explanation another word is used.

    >>> _used("cleanup.policy"), _used("tape")
    (['compaction'], [])
    """
    asked = re.compile(rf"(?<![\w.]){re.escape(word.strip())}(?!\w)", re.IGNORECASE)
    return [name for name, text in GLOSSARY.items() if word.strip() and asked.search(text)]


def _wrapped(names: Iterable[str]) -> str:
    """Return names in lines, none of them broken at a space or hyphen."""
    joined = ", ".join(name.replace(" ", "\u00a0") for name in names)
    lines = textwrap.wrap(joined, _COLUMNS - 2, break_on_hyphens=False)
    return "".join(f"  {line}\n" for line in lines).replace("\u00a0", " ")
