"""The parts of a path by its text are those that ``PurePosixPath`` gives."""

from __future__ import annotations

from itertools import product
from pathlib import PurePosixPath

from parsers.files.sources import folder_of, folders_of, name_of


def test_every_short_path_has_the_parts_that_the_library_gives() -> None:
    for text in ("".join(letters) for size in range(7) for letters in product("a./", repeat=size)):
        path = PurePosixPath(text)
        assert (folder_of(text), name_of(text)) == (str(path.parent), path.name), text
        assert folders_of(text or ".") == (str(path), *map(str, path.parents)), text
