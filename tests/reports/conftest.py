"""Recorded clusters by their names, for tests of what reports say of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.result import Result
from tests.conftest import ROOT

EVIDENCE = Path(os.environ.get("FORENSICS_EVIDENCE", ROOT.parent / "shared" / "evidence"))
INCIDENTS = EVIDENCE.parent / "incidents"
Scanned = Callable[[Path], Result]


@pytest.fixture
def case(scanned: Scanned) -> Callable[[str], Result]:
    """The result of a recorded cluster, by its name."""

    def judged(name: str) -> Result:
        found = next((folder / name for folder in (INCIDENTS, EVIDENCE) if (folder / name).is_dir()), None)
        if found is None:
            pytest.skip(f"{name} is not recorded here")
        return scanned(found)

    return judged
