"""Evidence at a URL is read where it lies, with the rows that the same files give on disk."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from click.testing import CliRunner

from forensics.cli import cli
from forensics.engines.local import scan
from forensics.errors import UnreadableInput
from parsers.files.remote import is_remote
from parsers.walk import walk
from tests.parsers.handing_over import folder, tar, zipped

TRACE = "kip101-0.10.2.2"


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    system = fsspec.filesystem("memory")
    yield system
    system.rm("/", recursive=True)


def told(paths: list[str]) -> tuple[list[tuple[str, int | None, str]], list[str]]:
    found = scan(paths)
    sources = [
        (path.partition("broker-")[2], broker, form)
        for path, broker, form in found.case.sources.select("path", "broker", "format").iter_rows()
        if form != "archive"
    ]
    return sources, [finding.fingerprint for finding in found.findings]


def test_a_folder_in_memory_is_read_as_one_on_disk(memory: fsspec.AbstractFileSystem, sample_traces: Path) -> None:
    for name, data in folder(sample_traces / TRACE).items():
        memory.pipe(f"/bucket/incident/{name}", data)
    assert told(["memory://bucket/incident"]) == told([str(sample_traces / TRACE)])
    (one,) = walk(["memory://bucket/incident/broker-1/server.properties"])
    assert one.path == "memory://bucket/incident/broker-1/server.properties"
    assert one.size == (sample_traces / TRACE / "broker-1" / "server.properties").stat().st_size


def test_archives_at_a_url_are_opened_in_place(memory: fsspec.AbstractFileSystem, sample_traces: Path) -> None:
    files = folder(sample_traces / TRACE)
    memory.pipe("/a.tar.gz", tar(files, "gz"))
    memory.pipe("/b.zip", zipped(files))
    plain = told([str(sample_traces / TRACE)])
    assert told(["memory://a.tar.gz"]) == plain
    assert told(["memory://b.zip"]) == plain


def test_other_protocols_of_fsspec_work_too(sample_traces: Path, tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(zipped(folder(sample_traces / TRACE)))
    plain = told([str(sample_traces / TRACE)])
    assert told([f"zip://::{path}"]) == plain
    assert told([f"file://{sample_traces / TRACE}"]) == plain


def test_what_is_not_there_is_said(memory: fsspec.AbstractFileSystem) -> None:
    for url in ("memory://nowhere", "file:///nowhere/at/all"):
        with pytest.raises(UnreadableInput, match="no such file"):
            scan([url])
    with pytest.raises(UnreadableInput, match="nothingknown"):
        scan(["nothingknown://x"])


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without(name: str, *args: object, **kwargs: object) -> object:
        if name.startswith(("fsspec", "s3fs")):
            raise ImportError(f"No module named {name!r}")
        return imported(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnreadableInput, match=r"install forensics\[remote\]"):
        scan(["s3://bucket/incident"])
    result = CliRunner().invoke(cli, ["scan", "s3://bucket/incident"])
    assert isinstance(result.exception, UnreadableInput)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3a://bucket/x", r"install forensics\[s3\]"),
        ("gs://bucket/x", "install gcsfs"),
        ("abfss://box@account/x", "install adlfs"),
        ("viewfs://cluster/x", "Protocol not known: viewfs; only what fsspec knows is opened"),
    ],
)
def test_what_a_protocol_needs_is_named(url: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("s3fs", "gcsfs", "adlfs"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UnreadableInput, match=said):
        scan([url])


@pytest.mark.parametrize("path", ["s3://a/b", "memory://x", "zip://a::b.zip", "FILE:///x"])
def test_a_url_is_told(path: str) -> None:
    assert is_remote(path)


@pytest.mark.parametrize("path", ["a:b", "C:\\logs", "-", "dir/s3:x", "orders-0", "./a://b", "x"])
def test_a_path_is_no_url(path: str) -> None:
    assert not is_remote(path)
