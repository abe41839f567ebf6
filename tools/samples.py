"""The sample traces as folders: most of them are kept packed, as ``sample_traces/NAME.tar.xz``.

    python -m tools.samples [FOLDER]

unpacks them all into a folder, ``samples`` unless it is named. Tests and benchmarks have a folder of their own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SHIPPED: Final = ROOT / "sample_traces"
PACKED: Final = ".tar.xz"


def names() -> list[str]:
    """Return the names of all samples, packed or not, in their order."""
    return sorted(path.name.removesuffix(PACKED) for path in SHIPPED.iterdir() if path.is_dir() or _is_packed(path))


@cache
def unpacked() -> Path:
    """Return a folder with every sample as a folder, beside what else ``sample_traces`` has.

    It is made once for each state of the samples, and has the same name. Processes that make it at the same time
    replace each other's with an equal one.
    """
    folder = ROOT / ".unpacked" / _digest()
    if not folder.is_dir():
        folder.parent.mkdir(exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent))
        unpack(made / SHIPPED.name)
        try:
            made.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(made)
        for other in folder.parent.iterdir():
            if other != folder and not other.name.startswith("tmp"):
                shutil.rmtree(other, ignore_errors=True)
    return folder / SHIPPED.name


def unpack(folder: Path) -> None:
    """Copy everything below ``sample_traces`` into a new folder, and unpack what is packed.

    Raises:
        FileExistsError: the folder is there.
    """
    shutil.copytree(SHIPPED, folder, ignore=lambda _, found: [name for name in found if name.endswith(PACKED)])
    for path in filter(_is_packed, sorted(SHIPPED.iterdir())):
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")


def _is_packed(path: Path) -> bool:
    return path.name.endswith(PACKED)


def _digest() -> str:
    """Return a hash of the names, sizes and times of all files."""
    found = hashlib.sha256()
    for path in _files():
        state = path.stat()
        found.update(f"{path.relative_to(SHIPPED)}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
    return found.hexdigest()[:16]


def _files() -> Iterator[Path]:
    for folder, inner, files in os.walk(SHIPPED):
        inner.sort()
        yield from (Path(folder, name) for name in sorted(files))


def main(given: list[str]) -> None:
    """Unpack the samples into the folder that is named."""
    folder = Path(given[0] if given else "samples")
    unpack(folder)
    print(f"{len(names())} samples in {folder}")


if __name__ == "__main__":
    main(sys.argv[1:])
