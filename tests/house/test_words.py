"""What the repository must not say: paths of somebody's machine, hosts of package indexes, how it was written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

THIS_FILE = "tests/house/test_words.py"  # has to name what it forbids
EVIDENCE = "sample_traces/"  # speaks of the brokers' own machines


@dataclass(frozen=True)
class Ban:
    """Words that must not appear, where they may all the same, and a text on either side of the line."""

    name: str
    regex: str
    caught: tuple[str, ...]
    fine: tuple[str, ...]
    except_in: tuple[str, ...] = ()


BANS = (
    Ban(
        "a path of somebody's machine",
        # Kafka's own defaults for log.dirs lie under /tmp
        r"(?<![\w.~/-])/(?:work|root|tmp(?!/(?:kafka|kraft|zookeeper))|(?:home|Users)/(?!kafka\b)\w+)/",
        caught=("open('/work/main/x')", "see /tmp/out.json", "cd /root/.cache", "in /home/ann/src", "/Users/ann/x"),
        fine=("log.dirs=/tmp/kafka-logs", "/srv/kafka/data", "a/work/b", "/home/kafka/logs", "https://host/tmp/x"),
        except_in=(EVIDENCE,),
    ),
    Ban(
        "the host of a package index",
        r"(?i)\b(?:pypi\.(?:org|python)|pythonhosted\.org|repo1?\.maven\.|registry\.npmjs|deb\.debian\.org|anaconda\.org"
        r"|repository\.apache\.org|central\.sonatype)",
        caught=("https://pypi.org/simple", "repo1.maven.org", "http://deb.debian.org/debian", "files.pythonhosted.org"),
        fine=("https://kafka.apache.org", "from PyPI", "Maven"),
    ),
    Ban(
        "how it was written",
        r"\b(?:AI|LLM|GPT)s?\b"
        r"|(?i:\b(?:language models?|chat ?bots?|sub-?agents?|(?:coding|code) (?:agent|assistant)s?"
        r"|(?:the|this|my|our|per) brief|as (?:instructed|requested) (?:by|in)"
        r"|another helper|(?:the|other) helpers)\b)",
        caught=(
            "written by an AI",
            "a language model",
            "as requested in the task",
            "per brief",
            "other helpers do this",
        ),
        fine=("a Spark session", "in brief", "the JMX agent", "MAIL", "session.timeout.ms", "await"),
        except_in=(EVIDENCE,),
    ),
    Ban(
        "a note that is not in the repository",
        r"(?i)\b(?:libraries|style|stories|kafka-evidence(?:-top30)?)\.md\b|\bknowledge/\w|\b(?:issue|ticket|PR) #\d+",
        caught=("see style.md §9", "knowledge/stories.md", "fixes issue #12"),
        fine=("KAFKA-14704", "KIP-101", "docs/rules.md", "knowledge of Kafka", "color: #123456"),
    ),
)


def said(text: str, ban: Ban) -> list[str]:
    """Line number and words of each place where a text breaks a ban."""
    return [
        f"{number}: {match[0]}"
        for number, line in enumerate(text.splitlines(), 1)
        for match in re.finditer(ban.regex, line)
    ]


def text_of(path: Path) -> str | None:
    """A file's text, or None for binary files."""
    data = path.read_bytes()
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


@pytest.mark.parametrize("ban", BANS, ids=[ban.name for ban in BANS])
def test_nothing_says(ban: Ban, repository: Path, files: tuple[str, ...]) -> None:
    spared = (THIS_FILE, *ban.except_in)
    found = [
        f"{name}:{place}"
        for name in files
        if not name.startswith(spared) and (text := text_of(repository / name)) is not None
        for place in said(text, ban)
    ]
    assert found == []


@pytest.mark.parametrize("ban", BANS, ids=[ban.name for ban in BANS])
def test_each_ban_catches_what_it_means_and_no_more(ban: Ban) -> None:
    assert [text for text in ban.caught if not said(text, ban)] == []
    assert [text for text in ban.fine if said(text, ban)] == []
