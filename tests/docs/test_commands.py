"""Each command block of the documentation is run, or the table says why not; each output that is shown is today's."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Ran, Run
from tests.conftest import EVERYTHING
from tests.docs.pages import Command, alike, commands, pages

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = "sample_traces/kip101-0.10.2.2"

NOT_RUN = {
    r"make (demo|test|setup|docs)": "installs the environment in which this test runs; .ci/run does",
    r"\. \.venv/bin/activate": "chooses that environment",
    r"forensics batch|forensics (report|timeline) judged/": "starts Spark; tests/cli/test_batch.py runs these",
    r"forensics produce": "needs a running cluster; tests/salvage has a client that stands for one",
    r"for series in|curl |done$|\(date -u": "asks Prometheus or an exporter; tests/parsers reads the answers",
    r"podman": "needs a builder of images; .ci/image builds and runs it where there is one",
    r"xclip": "needs a desktop; tests/cli/test_excerpts.py reads standard input",
    r"pip (install|wheel)|python -m pip|python -m venv": "installs packages; test_layout.py builds the wheel",
    r"cp -r packaging/plugin-template|pytest --forensics-rule": "tests/plugins installs it and runs its tests",
    r"pack/bin/venv-pack|PYSPARK_PYTHON=|export PYSPARK|spark-submit": "needs a Spark cluster",
}
"""Commands that are not run, as regular expressions for their beginning, each with the reason."""

PYTHON_NOT_RUN = {
    "docs/spark.md": "starts Spark; tests/engines/test_spark.py calls these functions",
    "docs/trace-format.md": "tests/parsers/formats/test_trace_page.py runs it",
}
"""Pages whose blocks of Python are not run here, each with the reason."""

STANDS_FOR = (
    (r"(?<!\S)FILE(?= --records)", f"{SAMPLE}/broker-1/data/orders-0/00000000000000000000.log"),
    (r"--format NAME -o FILE", "--format markdown -o FILE"),
    (r"/var/lib/kafka(/data)?(?= |$)(?!.*--plan)", f"{SAMPLE}/broker-1/data"),
    (r"/var/log/kafka(?= |$)", f"{SAMPLE}/broker-1/logs"),
    (r"/usr/local/bin/page-the-operator", "cat"),
    (r"--for 2h --every 30s", "--for 1s --every 1s"),
    (r"^forensics watch (?!.*--for)", "forensics watch --for 1s --every 1s "),
)
"""What is run for a placeholder or a path of a host: a regular expression, and the text instead."""

FOLDERS = ("evidence", "incident", "after", "archive", "cluster")
"""Names of evidence in the pages: the sample stands for each."""

PLAIN = re.compile(r"forensics(?! watch)(?: [\w./:=-]+)+")
"""Commands in which the shell has nothing to do: with CI=1 a shell runs them too, else this process."""

FINDINGS = (0, 1)
"""Exit codes of a command that did what the page says; 1 is a finding or a difference."""

PAGES = {name: found for name, text in pages(ROOT).items() if (found := commands(text))}
STORIES = sorted(name for name in PAGES if name.startswith("docs/walkthroughs/"))
SOME = [name for name in PAGES if EVERYTHING or name not in STORIES[1:]]
"""Of the walk-throughs, which all have the same two commands, one is enough where nobody asks for all."""


def why_not(text: str) -> str | None:
    """Return why a command is not run; None if it is."""
    return next((reason for regex, reason in NOT_RUN.items() if re.match(regex, text)), None)


def to_run(text: str) -> str:
    for regex, instead in STANDS_FOR:
        text = re.sub(regex, instead, text)
    return text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with what the pages name."""
    sample = ROOT / SAMPLE
    for name in FOLDERS:
        shutil.copytree(sample, tmp_path / name)
    shutil.copytree(sample / "broker-1" / "data" / "orders-0", tmp_path / "copy" / "orders-0")
    shutil.copy(ROOT / "docs" / "schedules" / "fork.yaml", tmp_path / "mine.yaml")
    for name in ("sample_traces", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    programs = tmp_path / ".bin"
    programs.mkdir()
    start = "from forensics.cli import main; main(prog_name='forensics')"
    (programs / "forensics").write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{start}" "$@"\n')
    (programs / "forensics").chmod(0o755)
    return tmp_path


Told = Callable[[str, int], Ran]


@pytest.fixture
def told(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
    """Runs a command in the working folder, in a terminal of a width: by a shell where it needs one."""
    path = os.pathsep.join([str(folder / ".bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {"PATH": path, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder)

    def tells(text: str, width: int) -> Ran:
        for written in re.findall(r"(?: -o| --save) (\S+)", text):  # the same name in two examples of a page
            shutil.rmtree(folder / written, ignore_errors=True)
        monkeypatch.setenv("COLUMNS", str(width))
        if PLAIN.fullmatch(text) and not EVERYTHING:
            return run(*shlex.split(text)[1:])
        done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=False, timeout=300)
        return Ran(done.returncode, done.stdout, done.stderr)

    return tells


def prepared(page: str, told: Told, width: int) -> None:
    """Makes what a page takes for granted: an earlier output, as a baseline."""
    if "--baseline before.json" in "".join(one.text for one in PAGES[page]):
        told("forensics scan incident/ --format json -o before.json", width)


@pytest.mark.parametrize("page", SOME)
def test_commands_of_a_page_run_in_their_order(page: str, told: Told) -> None:
    width = 120 if page == "README.md" else 100
    prepared(page, told, width)
    wrong = []
    printed: dict[str, str] = {}
    for one in PAGES[page]:
        if why_not(one.text):
            continue
        if one.output is None or one.text not in printed:
            done = told(to_run(one.text), width)
            printed[one.text] = done.out
            if done.code not in FINDINGS:
                wrong.append(f"{page}:{one.line}: `{one.text}` ends with {done.code}: {done.err[-500:]}")
        if one.output is not None and not alike(one.output, printed[one.text]):
            wrong.append(f"{page}:{one.line}: `{one.text}` prints something else now:\n{printed[one.text]}")
    assert wrong == []


PYTHON = {
    name: found
    for name, text in pages(ROOT).items()
    if (found := re.findall(r"(?ms)^```python\n(.*?)^```$", text)) and name not in PYTHON_NOT_RUN
}


@pytest.mark.parametrize("page", PYTHON)
def test_python_of_a_page_runs_in_its_order(page: str, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    from plotly.graph_objects import Figure

    shown: list[Figure] = []

    def show(figure: Figure) -> None:
        shown.append(figure)

    monkeypatch.setattr(Figure, "show", show)
    told("forensics scan evidence/ --save tables/", 100)
    names: dict[str, object] = {}
    for block in PYTHON[page]:
        exec(compile(block, page, "exec"), names)
    assert len(shown) == sum(block.count(".show()") for block in PYTHON[page])


def test_each_reason_is_needed() -> None:
    texts = [one.text for found in PAGES.values() for one in found]
    assert [regex for regex in NOT_RUN if not any(re.match(regex, text) for text in texts)] == []
    assert [name for name in PYTHON_NOT_RUN if "```python" not in (ROOT / name).read_text("utf-8")] == []
    assert [regex for regex, _ in STANDS_FOR if not any(re.search(regex, text) for text in texts)] == []


def test_most_commands_are_run() -> None:
    texts = [one.text for found in PAGES.values() for one in found]
    run = [text for text in texts if why_not(text) is None]
    assert len(run) > 2 * (len(texts) - len(run))


def test_no_command_hides_in_a_block_without_a_language() -> None:
    hidden = [
        name
        for name, text in pages(ROOT).items()
        for block in re.findall(r"(?ms)^ *```(?P<language>\w*)\n(.*?)^ *```$", text)
        if block[0] in ("", "text") and block[1].startswith(("forensics ", "$ ", "make "))
    ]
    assert hidden == []


# -- each guard can fail ---------------------------------------------------------------------------


def test_commands_are_found_with_their_lines() -> None:
    text = "x\n```sh\n$ forensics rules   # what is checked\n# only a comment\na \\\n  b#c\n```\n"
    text += "   ```console\n   ls\n   ```\n"
    assert commands(text) == [Command(3, "forensics rules"), Command(5, "a b#c"), Command(9, "ls")]


def test_an_output_may_leave_out_lines() -> None:
    assert alike("a\n[...]\nd\n", "a\nb\nc\nd\n")
    assert alike("a\n[...]\n", "a\n")
    assert not alike("a\n[...]\nc\n", "a\nb\nc\nd\n")
    assert not alike("a\n", "a\nb\n")


@pytest.mark.parametrize("end", ["", "; exit $?"], ids=["here", "by a shell"])
def test_a_wrong_command_fails(end: str, told: Told) -> None:
    assert told(f"forensics scam evidence/{end}", 100).code not in FINDINGS
    assert told(f"forensics scan nowhere/{end}", 100).code not in FINDINGS


def test_a_command_prints_the_same_here_and_by_a_shell(told: Told) -> None:
    """Of a scan of each width: what the terminal is told reaches both."""
    for width in (80, 100):
        here, by_shell = (
            told(f"forensics scan evidence/{end}", width) for end in ("", " | cat; exit ${PIPESTATUS[0]}")
        )
        assert (here.code, here.out) == (by_shell.code, by_shell.out)
