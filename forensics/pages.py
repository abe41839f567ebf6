"""Pages of the documentation that help texts name. A wheel has copies of them, a checkout has them in ``docs/``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

PAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "after-repair": "docs/after-repair.md",
        "collecting": "docs/collecting.md",
        "damaged-evidence": "docs/damaged-evidence.md",
        "installing": "docs/installing.md",
        "jump-host": "packaging/jump-host.txt",
        "outputs": "docs/outputs.md",
        "plugins": "docs/plugins.md",
        "python": "docs/python.md",
        "salvage": "docs/salvage.md",
        "schedules": "docs/schedules/README.md",
        "spark": "docs/spark.md",
        "trace-format": "docs/trace-format.md",
        "watching": "docs/watching.md",
    }
)
"""Path of each page in a checkout. In a wheel it is below ``forensics/pages/``, by pyproject.toml."""


def page(name: str) -> str | None:
    """Return a page as Markdown; None if there is no such page."""
    if name not in PAGES:
        return None
    package = Path(__file__).parent
    places = (package / "pages" / PAGES[name], package.parent / PAGES[name])
    return next(place for place in places if place.is_file()).read_text(encoding="utf-8")
