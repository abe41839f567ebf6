"""The line that shows how far a scan is: on a terminal, not at once, and gone at the end."""

from __future__ import annotations

import io

import pytest

from forensics.cli.progress import shown, text
from forensics.engines.local import Step
from forensics.rules.finding import Severity

FOUND = {Severity.CRITICAL: 1_040, Severity.WARNING: 7, Severity.INFO: 3}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(Terminal):
    def write(self, _: str) -> int:
        raise OSError("gone")


def test_only_a_terminal_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with shown(io.StringIO()) as progress:
        assert progress is None
    monkeypatch.setenv("TERM", "dumb")
    with shown(Terminal()) as progress:
        assert progress is None


def test_nothing_is_shown_within_the_first_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal, times = Terminal(), iter([0.0, 0.4, 0.9])
    with shown(terminal, lambda: next(times)) as progress:
        assert progress is not None
        progress(Step(1, 3, 1_000_000, 9_000_000))
        progress(Step(2, 3, 5_000_000, 9_000_000))
    assert terminal.getvalue() == ""


def test_an_interrupt_leaves_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()

    def interrupted() -> None:
        with shown(terminal, lambda: 0.0) as progress:
            assert progress is not None
            progress(Step(1_200, 12_000, judging=True, findings=FOUND))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    said = "forensics: not complete: judged 1,200 of 12,000 partitions; findings: 1,040 critical, 7 warning\n"
    assert terminal.getvalue() == f"\r\x1b[K{said}"


def test_one_line_changes_and_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal, times = Terminal(), iter([0.0, 2.0, 2.1, 4.0, 6.0])
    with shown(terminal, lambda: next(times)) as progress:
        assert progress is not None
        progress(Step(1, 3, 120_000_000, 180_000_000))
        progress(Step(2, 3, 150_000_000, 180_000_000))  # too soon after the one before
        progress(Step(0, 12_000, judging=True))
        progress(Step(1_200, 12_000, judging=True, findings=FOUND))
    clear = "\r\x1b[K"
    wanted = [
        "read 1 of 3 files, 120.0 of 180.0 MB, 60 MB/s, 1 s left",
        "judged 0 of 12,000 partitions",
        "judged 1,200 of 12,000 partitions, 18 s left; findings: 1,040 critical, 7 warning",
        "",
    ]
    assert terminal.getvalue() == "".join(clear + line for line in wanted)


def test_a_terminal_that_is_gone_fails_no_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    times = iter([0.0, 2.0])
    with shown(Gone(), lambda: next(times)) as progress:
        assert progress is not None
        progress(Step(1, 3, 1, 3))


def test_a_first_step_without_time_has_no_rate() -> None:
    assert text(Step(1, 3, 1_000_000, 3_000_000), 0) == "read 1 of 3 files, 1.0 of 3.0 MB"
