"""Settings without secrets: only values of settings that are known to hold none are packed, and no comments.

A list of what is secret is never complete: names of plugins, URLs with passwords, JAAS lines. So the list here is of
what a scan or a person needs to understand replication, and every other value is masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

MASK: Final = b"***"

_KNOWN: Final = re.compile(
    rb"(?:broker\.id|node\.id|broker\.rack|process\.roles|cluster\.id|log\.dirs?|metadata\.log\.dir"
    rb"|(?:log|message|metadata\.log|offsets|transaction\.state\.log|group|replica|controller\.quorum|leader|unclean"
    rb"|auto|default|delete|num|min|max|background|queued|fetch|socket|request|compression|zookeeper)\.[a-z0-9.]+"
    rb"|inter\.broker\.[a-z.]+|listeners|advertised\.listeners|controller\.listener\.names|eligible\.leader\.[a-z.]+"
    rb"|ssl\.(?:keystore|truststore)\.location)"
)
"""Names of settings whose values are packed."""

_NOT: Final = re.compile(rb"(?i)password|secret|token|jaas|credential|private|\.key\b|user|auth")
"""Words that no such name has in it."""

_NAME: Final = re.compile(rb"[ \t\f]*(?P<name>[A-Za-z][A-Za-z0-9._-]*)[ \t\f]*[=: \t\f]")
_PLAIN: Final = re.compile(rb"[A-Za-z0-9._:/,\[\]()@%+-]*(?: [A-Za-z0-9._:/,\[\]()@%+-]+)*")
_USER: Final = re.compile(rb"://[^/,]*@|\\")


def masked(data: bytes) -> bytes:
    """Return a properties file with the values of known settings, and a mask in place of each other value."""
    return b"".join(line + b"\n" for line in _lines(data))


def _lines(data: bytes) -> Iterator[bytes]:
    for line in _logical(data):
        text = line.strip()
        if not text or text[:1] in (b"#", b"!"):
            continue  # comments hold settings that were once used
        found = _NAME.match(line)
        if found is None:
            yield MASK
            continue
        name, value = found["name"], line[found.end() :].strip().lstrip(b"=:").strip()
        yield name + b"=" + (value if _is_known(name, value) else MASK)


def _is_known(name: bytes, value: bytes) -> bool:
    if not _KNOWN.fullmatch(name) or _NOT.search(name):
        return False
    return _PLAIN.fullmatch(value) is not None and _USER.search(value) is None


def _logical(data: bytes) -> Iterator[bytes]:
    """Yield the lines of a properties file, those that continue others joined with them (``java.util.Properties``)."""
    held = b""
    for line in data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"):
        whole = held + (line.lstrip(b" \t\f") if held else line)
        is_comment = not held and line.lstrip(b" \t\f")[:1] in (b"#", b"!")
        slashes = len(whole) - len(whole.rstrip(b"\\"))
        if slashes % 2 and not is_comment:
            held = whole[:-1] or b" "
            continue
        held = b""
        yield whole
    if held:
        yield held
