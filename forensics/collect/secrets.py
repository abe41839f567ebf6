"""Secrets in the lines of logs: passwords and the like that an application or a plugin printed.

Kafka prints ``[hidden]`` in place of settings of its type Password. What else writes to the same log may not. No list
of what is secret is complete: this one has names that are followed by a value, and addresses with a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

MASK: Final = "***"

_WORDS: Final = (
    *("passw", "passphrase", "secret", "jaas", "token", "credential", "user.info", "authorization"),
    *("private", "master", "access", "://"),
)
"""Each line with a secret has one of these in it, in lower case; most lines have none."""

_TOGETHER: Final = 1_000
"""Lines that are looked through at once."""

_NO_SECRET: Final = r"""(?!\[?hidden\b|null\b|none\b|true\b|false\b|\*)"""
_NAME: Final = (
    r"""[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|credentials?|(?:secret|private|master|access)[._-]?key"""
    r"""|user\.info)"""
)
_VALUE: Final = r"""("[^"\r\n]*"|'[^'\r\n]*'|[^\s,;"'()\[\]{}]+)"""
_SECRETS: Final = (
    # The value of a JAAS configuration has blanks and quotes, and any password.
    re.compile(rf"""(?i)(jaas\.config["']?\s*[=:]\s*+){_NO_SECRET}([^\r\n]+)"""),
    re.compile(rf"""(?i)({_NAME}["']?\s*[=:]\s*+)(?!["']?(?:\*|\[?hidden\b)){_NO_SECRET}{_VALUE}"""),
    re.compile(rf"""(?i)(--?{_NAME}\s+)(?![-*]){_VALUE}"""),
    re.compile(r"""(?i)(authorization["']?\s*[=:]\s*+["']?(?:basic|bearer|digest)\s+)(?!\*)([^\s"',;]+)"""),
    re.compile(r"""(://[^\s/:@]+:)(?!\*)([^\s/@]+)(?=@)"""),
)
"""Patterns of the text before a secret, as the first group, and of the secret."""


def masked(line: str) -> tuple[str, int]:
    """Return a line with a mask in place of each secret, and how many there are.

    >>> masked("ssl.keystore.password=abc ssl.key.password = [hidden]")
    ('ssl.keystore.password=*** ssl.key.password = [hidden]', 1)
    """
    if not _may_have(line):
        return line, 0
    count = 0
    for pattern in _SECRETS:
        line, found = pattern.subn(lambda secret: secret[1] + MASK, line)
        count += found
    return line, count


def _may_have(text: str) -> bool:
    low = text.lower()
    return any(word in low for word in _WORDS)


def count(lines: Iterable[str]) -> int:
    """Return how many secrets some lines have."""
    found, rest = 0, iter(lines)
    while part := list(islice(rest, _TOGETHER)):
        if _may_have("".join(part)):
            found += sum(masked(line)[1] for line in part)
    return found


def without(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines with a mask in place of each secret."""
    for line in lines:
        yield masked(line)[0]
