"""``forensics --version``: the program, what it runs on, and what it knows, so that two answers can be compared."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from forensics.version import __version__

_LIBRARIES: Final = ("polars", "pyarrow", "plotly", "pyspark")
_DIGITS: Final = 8
"""Of a hash. Two installs with the same rules and messages show the same ones."""


def versions() -> str:
    """Return the versions in three lines, and a line for each plugin and for each thing of it that is left out."""
    from forensics.result import plugins_asked
    from forensics.rules import RULES
    from parsers.messages import MESSAGES

    libraries = [f"{name} {_installed(name)}" for name in _LIBRARIES]
    wordings = [f"{one.id} {variant.regex}" for one in MESSAGES for variant in one.variants]
    rules = [f"{rule.id} {rule.severity.value}" for rule in RULES]
    known = f"{len(rules)} rules ({_hash(rules)})"
    messages = f"{len(MESSAGES)} log messages in {len(wordings)} wordings ({_hash(wordings)})"
    runs_on = ", ".join((f"Python {platform.python_version()}", *libraries))
    lines = [f"forensics {__version__}", runs_on, f"{known}, {messages}"]
    for plugin in plugins_asked():
        lines += [f"plugin {plugin.title}: {', '.join(plugin.adds)}", *plugin.problems]
    return "\n".join(lines)


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"


def _hash(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:_DIGITS]
