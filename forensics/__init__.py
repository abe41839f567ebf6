"""Did Kafka's replication lose or fork committed data? An answer from what the brokers left behind.

    import forensics

    scan = forensics.scan("evidence/")
    print(scan.answer)

``forensics.library`` documents the functions. They are imported when they are used, so that the import is quick.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from forensics.errors import ForensicsError
from forensics.version import __version__

TYPE_CHECKING = False  # the module typing takes longer to load than the rest

if TYPE_CHECKING:
    from typing import Any, Final

    from forensics.library import Scan, explain, judge, scan
    from forensics.library import judge as replay

_LATER: Final = dict.fromkeys(("Scan", "explain", "judge", "scan"), "forensics.library")
"""Module of each name that is imported when it is used."""

__all__ = ["ForensicsError", "Scan", "__version__", "explain", "judge", "replay", "scan"]


class _Replay(ModuleType):
    """The type of the package ``forensics.replay``: a scan imports it, and then it has the name of a function."""

    def __call__(self, *frames: Any, **options: Any) -> Scan:
        """Return what ``judge`` returns."""
        return import_module("forensics.library").judge(*frames, **options)  # type: ignore[no-any-return]


import_module("forensics.replay")
sys.modules["forensics.replay"].__class__ = _Replay


def __getattr__(name: str) -> Any:
    """Import what is asked for.

    Raises:
        AttributeError: there is no such name.
    """
    if name not in _LATER:
        raise AttributeError(f"module 'forensics' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
