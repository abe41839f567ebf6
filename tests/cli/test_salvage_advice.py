"""The command that a scan advises: pasted as it is, it gives the lost records of the evidence that was scanned."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tools.samples import unpacked

SAMPLES = unpacked()
KIP101 = SAMPLES / "kip101-0.10.2.2"


def advised(run: Run, *arguments: object) -> list[str]:
    """The commands that a scan advises."""
    found = re.findall(r"^ +(forensics salvage .*)$", run("scan", *arguments).out, re.MULTILINE)
    assert found
    return found


def test_the_command_gives_the_lost_records_and_says_so(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "it's monday"
    shutil.copytree(KIP101, folder)
    (command,) = advised(run, folder)
    _, *arguments = shlex.split(command)
    assert arguments[1] == str(folder)
    arguments[-1] = str(tmp_path / "recovered")
    ran = run(*arguments)
    assert ran.code == 0, ran.err
    assert "broker 1  offsets 50 to 79 (30 offsets): the lost records\n" in ran.out
    assert "Each of the lost records is in a copy." in ran.out


def test_of_several_clusters_the_command_reads_the_one_that_lost(run: Run, tmp_path: Path) -> None:
    """Both have a partition orders-0, and both lost records of it; each in a folder of the same input."""
    later = SAMPLES / "unclean-0.10.2.2"
    for sample in (KIP101, later):
        shutil.copytree(sample, tmp_path / "archive" / sample.name)
    commands = [shlex.split(one) for one in advised(run, tmp_path / "archive")]
    assert {Path(one[2]).name for one in commands} == {KIP101.name, later.name}
    (mine,) = (one for one in commands if one[2].endswith(KIP101.name))
    shown = run(*mine[1:-2], "--dry-run").out
    assert "broker 1  offsets 50 to 79 (30 offsets): the lost records\n" in shown
    # Also with both of them at hand, only the offsets of the cluster that is named are asked for.
    assert mine[3] == "--cluster"
    both = run("salvage", tmp_path / "archive", *mine[3:-2], "--dry-run").out
    assert both.startswith("orders-0: offsets 50 to 79 (30 offsets) wanted;")


def test_where_the_evidence_has_no_records_the_command_reads_a_copy_that_is_to_be_named(
    run: Run, tmp_path: Path
) -> None:
    """A bundle has the headers of batches only."""
    bundle = tmp_path / "bundle.tar.zst"
    assert run("collect", KIP101, "-o", bundle).code == 0
    copy = "forensics salvage /path/to/copy/orders-0 -p orders-0 --offsets 50..80 -o recovered/orders-0"
    assert advised(run, bundle) == [copy]


@pytest.mark.parametrize("name", ["of monday", "it's monday (1)"])
def test_a_redacted_command_names_no_folder(run: Run, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / "incident 7"
    for sample in (KIP101, SAMPLES / "unclean-0.10.2.2"):
        shutil.copytree(sample, folder / f"site {sample.name}" / "kept")
    for command in advised(run, folder, "--redact"):
        arguments = shlex.split(command)
        assert not re.search(r"monday|incident|site|kept|orders", command)
        assert arguments[3:5][0] == "--cluster"
