"""Running the whole program in this process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from forensics.cli import main


@dataclass(frozen=True)
class Ran:
    """What a run came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        return dict(json.loads(self.out))


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the whole program in this process, as the installed command does."""
    monkeypatch.setenv("COLUMNS", "120")

    def runs(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["forensics", *map(str, arguments)])
        code: object = 0
        try:
            main(prog_name="forensics")
        except SystemExit as stopped:
            code = stopped.code or 0
        captured = capsys.readouterr()
        assert isinstance(code, int)
        return Ran(code, captured.out, captured.err)

    return runs
