"""Interrupted, out of space, with nobody reading: the exit code tells it from findings, and files stay whole."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run

RUN = [sys.executable, "-m", "forensics", "scan"]
SLOW = """
import sys, time
from forensics.engines import local
def histories(case):
    print("at work", file=sys.stderr, flush=True)
    time.sleep(60)
    return []
local.histories = histories
from forensics.cli import main
sys.argv = ["forensics", "scan", *sys.argv[1:]]
main()
"""


@pytest.fixture
def case(sample_traces: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sample_traces / "unclean-0.10.2.2", tmp_path / "case"))


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, "interrupted; files that were to be written are as they were before"),
        (signal.SIGTERM, 143, "terminated; files that were to be written are as they were before"),
        (signal.SIGHUP, 129, "the terminal was closed; files that were to be written are as they were before"),
    ],
)
def test_a_signal_is_no_finding(number: int, code: int, said: str, case: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("as it was")
    command = [sys.executable, "-c", SLOW, str(case), "--report", str(page)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        assert running.stderr.readline() == "at work\n"
        began = time.monotonic()
        running.send_signal(number)
        _, errors = running.communicate(timeout=30)
        assert time.monotonic() - began < 20
    assert running.returncode == code
    assert errors.strip() == f"forensics: {said}"
    assert page.read_text() == "as it was"
    assert [path.name for path in tmp_path.iterdir()] == ["case", "page.html"] or set(tmp_path.iterdir()) == {
        case,
        page,
    }


@pytest.mark.parametrize("loaded", ["click.types", "zstandard", "polars.datatypes"])
@pytest.mark.parametrize("asked", ["simulate --list", "scan"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_a_command_that_is_being_loaded(
    number: int, code: int, asked: str, loaded: str, case: Path
) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "forensics", *asked.split(), *[str(case)] * (asked == "scan")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as running:
        assert running.stderr is not None
        for line in running.stderr:  # which names each module as soon as it is loaded
            if line.split()[-1] == loaded:
                break
        else:
            assert loaded.startswith("polars"), "simulate does not load it"
            return
        running.send_signal(number)
        _, errors = running.communicate(timeout=60)
    said = [line for line in errors.splitlines() if not line.startswith("import time:")]
    assert running.returncode == code
    assert len(said) == 1, said
    assert said[0].endswith("; files that were to be written are as they were before")


@pytest.mark.parametrize("asked", ["scan", "rules", "explain epoch-divergence", "scan --help", "--version"])
def test_nobody_reads_the_output(asked: str, case: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*RUN[:-1], *asked.split(), *([str(case)] if asked == "scan" else [])]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, timeout=600)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("asked", ["scan case", "scan case -o /dev/full", "rules", "scan --help"])
def test_a_full_disk_is_one_sentence(asked: str, case: Path) -> None:
    command = [*RUN[:-1], *(str(case) if word == "case" else word for word in asked.split())]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=600)
    assert done.returncode == 2
    assert done.stderr.startswith("forensics: ")
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("option", ["-o", "--report", "--save"])
def test_a_limit_of_the_system_is_told_as_the_system_does(option: str, case: Path, tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    command = [*RUN[:-1], "scan", str(case), option, str(tmp_path / "new")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, preexec_fn=limit)
    assert (done.returncode, "File too large" in done.stderr) == (2, True)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("option", ["-o", "--report"])
@pytest.mark.parametrize("way", ["itself", "hard link", "symbolic link"])
def test_evidence_is_not_written_over_under_any_name(
    option: str, way: str, case: Path, tmp_path: Path, run: Run
) -> None:
    log = case / "broker-1/logs/server.log"
    before = b"\n" + log.read_bytes()  # the beginning of a log is not recognised before anything is read
    log.write_bytes(before)
    target = log if way == "itself" else tmp_path / "out.html"
    if way == "hard link":
        target.hardlink_to(log)
    elif way == "symbolic link":
        target.symlink_to(log)
    done = run("scan", case, option, target)
    assert done.code == 2
    assert "which is never written to" in done.err
    assert log.read_bytes() == before


def test_a_write_that_fails_leaves_what_was_there(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from forensics.engines.local import scan
    from forensics.errors import UnwritableOutput
    from forensics.tables import TABLES, save

    result = scan([str(case)])
    folder = tmp_path / "saved"
    before = {path: path.read_bytes() for path in save(result, folder)}
    assert len(before) == len(TABLES)
    import polars as pl

    write = pl.DataFrame.write_parquet

    def failing(frame: pl.DataFrame, path: Path, **more: object) -> None:
        if "batches" in path.name:
            path.write_bytes(b"half")
            raise OSError(28, "No space left on device")
        write(frame, path, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(pl.DataFrame, "write_parquet", failing)
    with pytest.raises(UnwritableOutput, match="No space left on device"):
        save(result, folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_access_times_stay(case: Path) -> None:
    log = case / "broker-1/logs/server.log"
    os.utime(log, (1_000_000_000, log.stat().st_mtime))
    subprocess.run([*RUN, str(case)], capture_output=True, check=False, timeout=600)
    assert log.stat().st_atime == 1_000_000_000


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A disk of 200 KiB, 150 of which are in use."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be made here")
    (folder / "used").write_bytes(bytes(150_000))
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("option", ["--report", "--save"])
def test_a_small_disk_keeps_what_was_there(option: str, tiny: Path, case: Path) -> None:
    target = tiny / "target"
    old = target / "sources.parquet" if option == "--save" else target
    old.parent.mkdir(exist_ok=True)
    old.write_text("as it was")
    done = subprocess.run([*RUN, str(case), option, str(target)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert (done.stderr.count("\n"), "No space left on device" in done.stderr) == (1, True)
    assert sorted(path.name for path in tiny.rglob("*") if path.is_file()) == sorted([old.name, "used"])
    assert old.read_text() == "as it was"


@pytest.mark.parametrize("asked", [["scan", "case", "--save"], ["salvage", "case", "-p", "orders-0", "-o"]])
def test_a_full_disk_leaves_no_new_folder(asked: list[str], tiny: Path, case: Path) -> None:
    (tiny / "there").mkdir()
    (tiny / "used").write_bytes(bytes(200 << 10))
    words = [str(case) if word == "case" else word for word in asked]
    command = [sys.executable, "-m", "forensics", *words, str(tiny / "there" / "new" / "folder")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "No space left on device" in done.stderr) == (2, True), done.stderr
    assert sorted(path.name for path in tiny.rglob("*")) == ["there", "used"]


def test_a_table_that_a_full_disk_cuts_off_is_no_defect(
    case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Polars words it as damage of the format."""
    import polars as pl

    from forensics.engines.local import scan
    from forensics.errors import UnwritableOutput
    from forensics.tables import save

    def failing(*_: object, **__: object) -> None:
        raise pl.exceptions.ComputeError("parquet: File out of specification: Invalid thrift: transport error")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", failing)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 0))  # type: ignore[attr-defined]
    with pytest.raises(UnwritableOutput, match="No space left on device"):
        save(scan([str(case)]), tmp_path / "saved")


@pytest.mark.parametrize("asked", ["scan case", "scan --help", "rules", "--version", "timeline case -p orders-0"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_defect(asked: str, closed: str, case: Path) -> None:
    words = " ".join(f"'{case}'" if word == "case" else word for word in asked.split())
    command = f"'{sys.executable}' -m forensics {words} {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=600)
    if ">&-" in closed.split():
        said = "" if "2>&-" in closed else "forensics: standard output: Bad file descriptor; nothing more was written\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    else:
        assert (done.returncode, done.stderr) == (1 if asked == "scan case" else 0, "")
        assert done.stdout


def test_nothing_for_a_closed_standard_output_is_no_error(case: Path, tmp_path: Path) -> None:
    command = f"'{sys.executable}' -m forensics scan '{case}' -o '{tmp_path}/out' >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (1, "")
    assert (tmp_path / "out").read_text("utf-8").startswith("VIOLATED")


def test_a_closed_standard_input_is_named() -> None:
    command = f"'{sys.executable}' -m forensics scan - <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "-: cannot be read: Bad file descriptor" in done.stderr


@pytest.mark.parametrize("redact", [["--redact"], []])
def test_a_full_temporary_disk_leaves_no_log_out_of_a_bundle(
    redact: list[str], case: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forensics.collect.waiting._IN_MEMORY", 1000)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    ran = run("collect", case, *redact, "-o", tmp_path / "bundle.tar.gz")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "forensics: temporary folder" in ran.err
    assert "No space left on device; make room there, or set TMPDIR" in ran.err
    assert set(tmp_path.iterdir()) == {case}


@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".tar.zst"])
def test_a_full_disk_leaves_no_half_bundle(ending: str, tiny: Path, case: Path, run: Run) -> None:
    (tiny / "used").write_bytes(bytes(200_000))
    ran = run("collect", case, "-o", tiny / f"bundle{ending}")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "No space left on device" in ran.err
    assert [path.name for path in tiny.iterdir()] == ["used"]


def test_nohup_keeps_a_scan_at_work(case: Path) -> None:
    command = ["nohup", sys.executable, "-c", SLOW.replace("60", "1"), str(case)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        while running.stderr.readline() != "at work\n":
            pass
        running.send_signal(signal.SIGHUP)
        out, _ = running.communicate(timeout=30)
    assert running.returncode in (0, 1)
    assert out


SIMULATED = ["simulate", "fork", "--protocol", "hw"]


@pytest.mark.parametrize(
    "asked",
    [[*SIMULATED, "-o", "run"], [*SIMULATED, "--trace", "run"], ["simulate", "fork", "--what-if", "-o", "run"]],
    ids=["a folder", "a trace", "what if"],
)
def test_a_full_disk_leaves_no_part_of_a_simulation(asked: list[str], tiny: Path) -> None:
    (tiny / "used").write_bytes(bytes(180 << 10))
    command = [sys.executable, "-m", "forensics", *(str(tiny / word) if word == "run" else word for word in asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n"), "No space left on device" in done.stderr) == (2, 1, True)
    assert sorted(path.name for path in tiny.rglob("*")) == ["used"]


@pytest.mark.parametrize("asked", [["salvage", "case", "-p", "orders-0"], SIMULATED], ids=["salvage", "simulate"])
def test_the_working_directory_is_a_folder_to_write_to(asked: list[str], case: Path, tmp_path: Path) -> None:
    """And remains the same one, as a volume of a container must."""
    here = tmp_path / "here"
    here.mkdir()
    before = here.stat().st_ino
    command = [sys.executable, "-m", "forensics", *(str(case) if word == "case" else word for word in asked), "-o", "."]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=here)
    assert (done.returncode < 2, done.stderr) == (True, "")
    assert here.stat().st_ino == before
    assert [path.name for path in here.iterdir() if path.name.startswith(".")] == []
    assert len([*here.iterdir()]) > 2


@pytest.fixture
def again(case: Path, tmp_path: Path) -> Iterator[Path]:
    """The folder of the case at another path, which no link shows."""
    folder = tmp_path / "again"
    folder.mkdir()
    mount = ["mount", "--bind", str(case), str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no folder can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("asked", ["scan case -o again/new", "scan case --save again/new", "scan again -o case/new"])
def test_nothing_is_written_into_evidence_that_is_mounted_twice(
    asked: str, case: Path, again: Path, tmp_path: Path, run: Run
) -> None:
    command, *words = asked.split()
    done = run(command, *(tmp_path / word if "-" not in word else word for word in words))
    assert (done.code, "which is never written to" in done.err) == (2, True)
    assert not (case / "new").exists()
    assert not (again / "new").exists()


@pytest.fixture(params=["case/broker-1", "case"])
def part_again(request: pytest.FixtureRequest, case: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder in the evidence at another path, and a folder of elsewhere that is mounted into the evidence."""
    (elsewhere := tmp_path / "elsewhere").mkdir()
    pairs = {"case/broker-1": (case / "broker-1", elsewhere), "case": (elsewhere, case / "broker-1" / "mounted")}
    what, where = pairs[request.param]
    where.mkdir(exist_ok=True)
    mount = ["mount", "--bind", str(what), str(where)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no folder can be mounted here")
    try:
        yield elsewhere
    finally:
        subprocess.run(["umount", str(where)], check=True)


def test_nothing_is_written_into_a_folder_of_the_evidence_that_is_mounted_twice(
    case: Path, part_again: Path, run: Run
) -> None:
    done = run("scan", case, "-o", part_again / "new")
    assert (done.code, "which is never written to" in done.err) == (2, True)
    assert not (part_again / "new").exists()


def test_rows_that_wait_on_disk_are_not_put_into_the_evidence(case: Path, run: Run) -> None:
    done = run("scan", case, "--tmp", case / "broker-1")
    assert (done.code, "which is never written to" in done.err) == (2, True)
