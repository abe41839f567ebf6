"""Why no reader takes a file: it is an archive, compressed, in an encoding, or a text whose meaning is open.

Each reason has the next step. The first bytes are those of the formats' specifications and of ``file(1)``.
"""

from __future__ import annotations

import re
from typing import Final

_BY_BYTES: Final = (
    (b"Rar!\x1a\x07", "a RAR archive", "unrar x"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "7z x"),
    (b"MSCF", "a CAB archive", "cabextract"),
    (b"!<arch>\n", "an ar archive or a Debian package", "ar x"),
    (b"070701", "a cpio archive", "cpio -id"),
    (b"070702", "a cpio archive", "cpio -id"),
    (b"070707", "a cpio archive", "cpio -id"),
    (b"\xc7\x71", "a cpio archive", "cpio -id"),
    (b"\xed\xab\xee\xdb", "an RPM package", "rpm2cpio"),
    (b"hsqs", "a SquashFS image", "unsquashfs"),
    (b"\x1f\x9d", "compressed by compress", "uncompress"),
    (b"\x1f\xa0", "compressed by compress", "uncompress"),
    (b"LZIP", "compressed by lzip", "lzip -d"),
    (b"\x89LZO\0\r\n\x1a\n", "compressed by lzop", "lzop -d"),
    (b"\xff\x06\0\0sNaPpY", "compressed by snappy", "snzip -d"),
    (b"\x5d\0\0", "compressed by lzma", "xz --format=lzma -d"),
    (b"Salted__", "encrypted by openssl", "openssl enc -d"),
    (b"-----BEGIN PGP MESSAGE", "encrypted by PGP", "gpg -d"),
    (b"age-encryption.org/", "encrypted by age", "age -d"),
)
"""First bytes of files that are not read, what they are, and what unpacks them."""

TARS: Final = (".tgz", ".tzst", ".txz", ".tbz", ".tbz2")
"""Endings of the names of compressed tars, which do not state that it is a tar once the compression is undone."""

_BY_NAME: Final = (
    (".tar", "a tar"),
    *((ending, "a compressed tar") for ending in TARS),
    (".zip", "a zip"),
    (".gz", "a gzip"),
    (".zst", "a zstd"),
    (".zstd", "a zstd"),
    (".lz4", "an lz4"),
    (".bz2", "a bzip2"),
    (".xz", "an xz"),
    (".rar", "a RAR archive"),
    (".7z", "a 7z archive"),
)
"""Endings of names, and what such a file should be."""

_OFFSETS: Final = re.compile(rb"(?m)^[ \t>]*(?=[\w.-]*[A-Za-z_])[\w.-]{1,249}:[0-9]{1,7}:[0-9,]*[ \t]*\r?$")
"""A line of ``kafka-get-offsets`` (``GetOffsetShell``): topic, partition, and an offset; to 2.8 several of them."""
_ASKED: Final = re.compile(rb"kafka-get-offsets|GetOffsetShell")

_LETTERS: Final = 16


def is_foreign(head: bytes) -> bool:
    """Return whether the first bytes are those of an archive or a compression that is not read."""
    return any(head.startswith(magic) for magic, _, _ in _BY_BYTES)


def why_unread(name: str, head: bytes) -> str:
    r"""Return why a file is not read, and what to do; "" if neither its first bytes nor its name show it.

    >>> why_unread("logs.rar", b"Rar!\x1a\x07\x01\0")
    'a RAR archive, which is not read: unpack it (unrar x) and give the folder'
    """
    for magic, what, how in _BY_BYTES:
        if head.startswith(magic):
            return f"{what}, which is not read: unpack it ({how}) and give the folder"
    if wide := _wide(head):
        mark = " without the mark of it at its beginning" if wide == "UTF-16" else ""
        return f"a text in {wide}{mark}, which is not read: save it as UTF-8"
    if _is_of_offsets(head):
        return (
            "output of kafka-get-offsets, which is not read: it has neither a time nor a leader epoch, and need not be "
            "about the end of a log (--time); collect logs and data directories of that time"
        )
    called = next((what for ending, what in _BY_NAME if name.lower().endswith(ending)), None)
    if called is None:
        return ""
    if not head:
        return f"named like {called}, but empty: copy it again"
    return f"named like {called}, but its first bytes are not those of one: it is damaged or renamed; copy it again"


def _is_of_offsets(head: bytes) -> bool:
    """Return whether a text is output of ``kafka-get-offsets``: each of its lines, or some below the command."""
    found = len(_OFFSETS.findall(head))
    lines = sum(1 for line in head.splitlines() if line.strip())
    return found > 0 and (_ASKED.search(head) is not None or found + 1 >= lines)


def _wide(head: bytes) -> str:
    """The encoding of a text of two or four bytes a character, which is not read; "" for any other text."""
    if b"\0" not in head:
        return ""
    marked = head.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff"))
    text = head[4:] if marked else head
    for name, size, places in (("UTF-32", 4, (0, 3)), ("UTF-16", 2, (0, 1))):
        for place in places:
            letters = text[place::size]
            rest = bytes(byte for number, byte in enumerate(text) if number % size != place)
            if len(letters) >= _LETTERS and not any(rest) and letters.isascii() and 0 not in letters:
                return name
    return ""
