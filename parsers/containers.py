"""Archives as folders: members of a tar, a zip or a compressed file become sources of their own, never unpacked.

A member of an uncompressed tar, or of a zip, is read in place. A compressed tar can only be read forwards. One pass
finds its members and keeps the small ones (64 MiB in all). A larger one is read by expanding the archive again up to
it, which costs one pass for all of them if they are read in their order. Nothing is written to disk.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import lzma
import re
import struct
import tarfile
import weakref
import zipfile
import zlib
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import BinaryIO, Final

from parsers import limits
from parsers.containment import worded
from parsers.encodings.checkpoint_file import integer
from parsers.excerpts import pieces as excerpts
from parsers.files import zip_salvage
from parsers.files.sources import HEAD_BYTES, Place, Source
from parsers.files.streams import (
    Codec,
    Expanded,
    Opener,
    Recoded,
    Tape,
    Watched,
    Window,
    codec_of,
    problem_of,
)
from parsers.formats.log_directory import split_directory
from parsers.formats.trace_jsonl import is_trace
from parsers.takers import trace_files
from parsers.text import exports, grep_output, lines, shared_output, wrappings
from parsers.text.reordered import STAMP, reordered
from parsers.unread import TARS, is_foreign

INSIDE: Final = "!"
"""Separator between the path of an archive and the path in it: ``bundle.tar.gz!/broker-1/server.log``."""

_LONG_HEAD: Final = 256 << 10
_DUMP: Final = re.compile(rb"(?:^|\n)Dumping [^\s]")
_DUMPED: Final = re.compile(rb"(?:^|\n)[ \t>]*(?:Dumping \S|baseOffset: [0-9]|offset: [0-9]+ position: [0-9])")
"""Output of ``kafka-dump-log``, perhaps with marks of a quotation before its lines."""
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_SMALL: Final = 256 << 10
_BLOCK: Final = 512
_LARGEST: Final = 1 << 60  # bytes of a file; file systems end far below
_SUM: Final = re.compile(rb"[ \0]*[0-7]+[ \0]*")
"""A sum of a header of tar: octal."""
_MISSING: Final = "files may be missing here; copy the archive again if you can"
_TOO_MANY: Final = "only its first {} files are read"
_LONG_HEADER: Final = 1 << 20
_LENGTH_DIGITS: Final = 7  # of a record's length in such a header
_EXTENSIONS: Final = {
    tarfile.XHDTYPE: "",
    tarfile.XGLTYPE: "",
    tarfile.GNUTYPE_LONGNAME: "path",
    tarfile.GNUTYPE_LONGLINK: "linkpath",
}
"""Types of headers that extend others, with the pax keyword of the one value that GNU's hold; "" for headers of pax."""
_MAGIC: Final = (b"ustar\x0000", b"ustar  \0")
_MAGIC_AT: Final = 257
"""Byte of the header of a tar at which one of these is (POSIX 1003.1, GNU)."""
_SEARCHED: Final = 16 << 20
_PROGRAMS: Final = (b"#!", b"MZ", b"\x7fELF")
_ZIP_END: Final = 22 + (1 << 16)
"""The end of a zip's directory, with a comment as long as it may be (APPNOTE 4.3.16)."""
_NO_ARCHIVES: Final = (".jar", ".war", ".ear", ".whl", ".egg")
_ZIP_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_ZIP_ERRORS: Final = (
    # what zipfile and its codecs raise on bytes that contradict themselves; a place out of the file is a ValueError
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    RuntimeError,
    struct.error,
)


@dataclass(slots=True)
class Memory:
    """Bytes that members of compressed archives may still take in memory."""

    left: int = 64 << 20


def expand(source: Source, memory: Memory | None = None) -> Iterator[Source]:
    """The source, or all that is in it.

    An archive comes first itself, with ``container`` and whatever is wrong with it, then its members as a walk through
    the same folder would give them: files of a folder by name, then its folders.
    """
    return _expand(source, memory or Memory(), 0, 0)


_INDEX = re.compile(r"[0-9]{20}\.(?:index|timeindex|txnindex)")


def _expand(source: Source, memory: Memory, archives: int, layers: int) -> Iterator[Source]:
    if source.problem or source.name.endswith(_NO_ARCHIVES):
        yield source
    elif _INDEX.fullmatch(source.name):
        yield replace(source, beginning=b"")  # there may be as many as segments, and nothing in them is used
    else:
        yield from _opened(source, memory, archives, layers)


def _opened(source: Source, memory: Memory, archives: int, layers: int) -> Iterator[Source]:
    try:
        head = source.head()
    except OSError as error:
        yield replace(source, problem=f"cannot be read: {error.strerror or error}")
        return
    codec = codec_of(head)
    kind = _kind_of(source, head)
    if head.startswith(_UTF_16) and head[2:4] != b"\0\0":
        source = _recoded(source)
        head = source.head()
    if codec is not None:
        if layers >= limits.LAYERS.value:
            yield replace(source, problem=limits.LAYERS.told("compressed more than {} times over; expand it by hand"))
            return
        yield from _expand(_expanded(source, codec), memory, archives, layers + 1)
    elif kind is None:
        yield from _texts(source, head)
    elif archives >= limits.ARCHIVES.value:
        yield replace(source, problem=limits.ARCHIVES.told("{} archives are around this one; unpack the outer one"))
    else:
        container = f"{kind} in {source.stored}" if source.stored else str(kind)
        found, problems = _tar(source, memory) if kind == "tar" else _zip(source)
        found, more = _distinct(found)
        yield replace(source, container=container, notes=(*source.notes, *problems, *more))
        for member in sorted(found, key=lambda member: _order(member.path)):
            yield from _expand(member, memory, archives + 1, 0)


def is_packed(head: bytes) -> bool:
    """Return whether a file with these first bytes is compressed, or an archive."""
    return codec_of(head) is not None or _archive_of(head) is not None


def _recoded(source: Source) -> Source:
    """A text in UTF-16 as one in UTF-8."""
    outer = source.open
    stored = f"UTF-16 in {source.stored}" if source.stored else "UTF-16"

    def opener() -> BinaryIO:
        return io.BufferedReader(Recoded(outer()), 1 << 16)

    return replace(source, open=opener, stored=stored, place=None, beginning=None, digest=None)


def _texts(source: Source, head: bytes) -> Iterator[Source]:
    """Yield the parts of a text that several tools, processes or a person wrote; or the source itself."""
    if _DUMPED.search(head) and b"\0" not in head and (dumps := _with_dumps(source, head)):
        yield from dumps
        return
    if _DUMP.search(head) and b"\0" not in head:
        yield from _dumps(source)
        return
    if is_trace(head):
        yield from _parts_of_trace(source)
        return
    if (grep := grep_output.grep_of(head)) is not None:
        yield from _pasted(grep_output.split(source, grep))
        return
    if exports.may_be_export(head) and (exported := exports.split(source)) is not None:
        yield from _pasted(exported)
        return
    source = exports.noted(source, head)
    if STAMP.search(head) is not None and (rewritten := reordered(source)) is not source:
        source, head = rewritten, rewritten.head()
    yield from excerpts.checkpoint_files(source, head)
    mark = shared_output.mark_of(_objects(source, head))
    collected = mark is not None and mark.prefix != shared_output.NAME
    if (pieces := excerpts.pieces(source, head, marked=collected)) is not None:
        yield from _with_output(source, list(pieces), excerpts.command_output(source, head))
    elif (kinds := excerpts.mixed(source, head)) is not None:
        yield from kinds
    elif mark is not None:
        parts = shared_output.split(source, mark)
        yield from _pasted(map(reordered, parts) if source.size <= limits.REORDERED.value else parts)
    else:
        yield from _among_others(source, head)


def _with_output(source: Source, pieces: Sequence[Source], output: Sequence[Source]) -> Iterator[Source]:
    """Yield the pieces of a text and the output of commands in it: both as files in it, if there are both."""
    if output and len(pieces) == 1:
        yield replace(source, container=excerpts.CONTAINER)
        yield replace(pieces[0], path=f"{source.path}{INSIDE}/{source.name}")
    else:
        yield from pieces
    yield from output


def _among_others(source: Source, head: bytes) -> Iterator[Source]:
    """Yield a text as it is, or the few log lines in it if it does not begin as a log."""
    some = None if _is_log(head) else excerpts.pieces(source, head, mixed=True)
    yield from some if some is not None else [source]


def _is_log(head: bytes) -> bool:
    sample = lines.sample(head)
    return sample is not None and wrappings.readable(sample)


def _pasted(parts: Iterator[Source]) -> Iterator[Source]:
    """Parts of a text, each that somebody pasted as its pieces."""
    for part in parts:
        pieces = None if part.container or part.size > limits.EXCERPT.value else excerpts.pieces(part, part.head())
        yield from pieces if pieces is not None else [part]


def _objects(source: Source, head: bytes) -> bytes:
    """The first bytes of a text; more of them where it begins with an object of one long line, as when a broker prints
    its settings.
    """
    if not head.startswith(b"{") or len(head) < HEAD_BYTES or head.count(b"\n") > 1:
        return head
    with source.open() as stream:
        return stream.read(_LONG_HEAD)


_GZIP_SIZE = 4
"""Bytes at the end of a gzip that state the size of its content."""


def _expanded(source: Source, codec: Codec) -> Source:
    """A compressed file as the file it was."""
    outer = source.open
    name = source.name
    for ending in codec.suffixes:
        if name.lower().endswith(ending):
            name = name[: -len(ending)] or name
            break

    def opener() -> BinaryIO:
        return io.BufferedReader(Expanded(outer(), codec), 1 << 16)

    stored = f"{codec.name} in {source.stored}" if source.stored else codec.name
    expanded = _stated_size(source, codec)
    return replace(
        source, open=opener, called=name, stored=stored, place=None, beginning=None, digest=None, expanded=expanded
    )


def _stated_size(source: Source, codec: Codec) -> int:
    """Return the size of the content that a compressed file states: of gzip's last part, modulo 2^32 (RFC 1952)."""
    if codec.name != "gzip" or source.place is None or source.size < _GZIP_SIZE:
        return 0
    try:
        with source.open() as stream:
            stream.seek(source.size - _GZIP_SIZE)
            return int.from_bytes(stream.read(_GZIP_SIZE), "little")
    except OSError:
        return 0


def _archive_of(head: bytes) -> str | None:
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    return "tar" if len(head) >= _BLOCK and _header(head[:_BLOCK]) is not None else None


def _kind_of(source: Source, head: bytes) -> str | None:
    return _archive_of(head) or _damaged_archive(source, head)


def _damaged_archive(source: Source, head: bytes) -> str | None:
    """Return the kind of an archive whose beginning is damaged, or follows something else; None for any other file."""
    if codec_of(head) is not None or is_foreign(head):
        return None
    if head.startswith(_MAGIC, _MAGIC_AT) or _has_header(source):
        return "tar"
    return "zip" if _has_directory(source, head) else None


def _has_header(source: Source) -> bool:
    """Return whether a file that is called a tar has a header of one in its first 16 MiB.

    Without such a name any file may hold a tar, as a segment with tars in its records.
    """
    if not source.name.lower().endswith(".tar") and not source.path.lower().endswith(TARS):
        return False
    with contextlib.suppress(OSError), source.open() as stream:
        for _ in range(_SEARCHED // _BLOCK):
            block = stream.read(_BLOCK)
            if block.startswith(_MAGIC, _MAGIC_AT) and _header(block) is not None:
                return True
            if len(block) < _BLOCK:
                break
    return False


def _has_directory(source: Source, head: bytes) -> bool:
    """Return whether a file that is called a zip, or is a program, ends with the directory of one."""
    if source.place is None or not (head.startswith(_PROGRAMS) or source.name.lower().endswith(".zip")):
        return False
    with contextlib.suppress(OSError), source.open() as stream:
        stream.seek(max(source.size - _ZIP_END, 0))
        return b"PK\x05\x06" in stream.read(_ZIP_END)
    return False


def _order(path: str) -> tuple[tuple[int, str], ...]:
    *folders, name = path.split("/")
    return (*((1, folder) for folder in folders), (0, name))


def _distinct(members: list[Source]) -> tuple[list[Source], list[str]]:
    """The last of each path, which is the one that unpacking would leave."""
    last = {member.path: member for member in members}
    twice = len(members) - len(last)
    return list(last.values()), [
        f"{twice} files occur in it again under the same name; the last counts"
    ] if twice else []


def _inside(archive: Source, name: str) -> tuple[str, bool]:
    """Path of a member, and whether its name tried to leave the archive."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    kept = [part for part in parts if part != ".."]
    shown = "/".join("".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in part) for part in kept) or "unnamed"
    return f"{archive.path}{INSIDE}/{shown}", len(kept) < len(parts) or name.startswith("/")


# -- dumps of several segments in one text ---------------------------------------------------------------------------


def _with_dumps(text: Source, head: bytes) -> list[Source]:
    """Return the dumps in a text that has other lines too, and its parts around them; nothing for another text."""
    if split_directory(text.parent) is not None:
        return []
    dumps, others = excerpts.around_dumps(text, head)
    if not dumps:
        return []
    stored = f"text in {text.stored}" if text.stored else "text"
    found = [replace(text, container="kafka-dump-log")]
    for path, said in dumps[: limits.MEMBERS.value]:
        inside, _ = _inside(text, path or "kafka-dump-log.txt")
        found.append(Source(inside, len(said), functools.partial(io.BytesIO, said), stored=stored))
    return [*found, *others]


def _dumps(text: Source) -> Iterator[Source]:
    """Split output of ``kafka-dump-log`` into one source per segment, under the path that it had when it was dumped."""
    places: list[tuple[int, str]] = []
    at = 0
    with text.open() as stream:
        while line := stream.readline(limits.LINE.value):
            if line.startswith(b"Dumping ") and len(places) < limits.MEMBERS.value:
                places.append((at, line[8:].decode("utf-8", "replace").strip()))
            at += len(line)
    home = split_directory(text.parent)
    if home is None or any(PurePosixPath(path).parent.name != text.parent for _, path in places):
        yield from _parts_of(text, "kafka-dump-log", places, at)
        return
    # The dump is in the directory that it was made of: its batches are those of the other files there.
    folder = str(PurePosixPath(text.path).parent)
    names = [f"{text.name}:{PurePosixPath(path).name}" if len(places) > 1 else text.name for _, path in places]
    there = [(begin, f"{folder}/{name}") for (begin, _), name in zip(places, names, strict=True)]
    yield from _parts_of(text, "kafka-dump-log", there, at, inside=False)


def _parts_of_trace(text: Source) -> Iterator[Source]:
    """Split a text into the traces of several clusters, and each into its statements and the files that follow.

    A file has the path that it had. If there is but one trace, without files, the text itself is yielded.
    """
    parts = trace_files.Parts(f"{PurePosixPath(text.name).stem}.jsonl", limits.MEMBERS.value)
    with text.open() as stream:
        while line := stream.readline(limits.LINE.value):
            parts.add(line)
    if parts.container is None:
        yield text
    else:
        yield from _parts_of(text, parts.container, parts.places, parts.at)


def _parts_of(
    text: Source, container: str, places: Sequence[tuple[int, str]], at: int, *, inside: bool = True
) -> Iterator[Source]:
    """Yield a text, then a source for each part of it.

    Args:
        text: the whole.
        container: what it is.
        places: where each part begins, and its path.
        at: where the last one ends.
        inside: their paths are within the text; else they are paths as the text's own.
    """
    yield replace(text, container=container)
    stored = f"text in {text.stored}" if text.stored else "text"
    tape = Tape(text.open)
    for (begin, name), (end, _) in zip(places, [*places[1:], (at, "")], strict=True):
        path = _inside(text, name)[0] if inside else name
        size = end - begin
        if text.place is not None:
            place = Place(text.place.file, text.place.offset + begin, size)
            yield Source(path, size, place.open, stored=stored, place=place)
        else:
            yield Source(path, size, _OnTape(tape, begin, size), stored=stored, archive=text.path, offset=begin)


# -- tar ------------------------------------------------------------------------------------------------------------


def _header(block: bytes) -> tarfile.TarInfo | None:
    # The library takes a sum that is not there for 0, and sums bytes with their signs too: so much binary data adds up.
    if not _SUM.fullmatch(block, 148, 156) or not block[0]:
        return None
    try:
        found = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return None
    return found if 0 <= found.size <= _LARGEST else None


def _tar(archive: Source, memory: Memory) -> tuple[list[Source], list[str]]:
    with archive.open() as stream:
        listing = _TarListing(archive, stream, memory)
        listing.run()
    return listing.members, listing.problems()


class _TarListing:
    """One pass over a tar: POSIX, GNU and old headers (pax and GNU long names included)."""

    def __init__(self, archive: Source, stream: BinaryIO, memory: Memory) -> None:
        self.archive = archive
        self.stream = stream
        self.memory = memory
        self.members: list[Source] = []
        self.at = 0
        self.tape = Tape(archive.open) if archive.place is None else None
        self.names: dict[str, Source] = {}
        self.sparse = self.links = self.strayed = self.skipped = 0
        self.broken: list[str] = []

    def run(self) -> None:
        """Find the members."""
        extra: dict[str, str] = {}
        everywhere: dict[str, str] = {}
        for info in self._headers():
            if info.type == tarfile.XGLTYPE:
                everywhere |= self._extension(info)
            elif info.type in _EXTENSIONS:
                extra |= self._extension(info)
            else:
                self._member(info, everywhere | extra)
                extra = {}

    def _headers(self) -> Iterator[tarfile.TarInfo]:
        """Yield the headers up to the end; what follows a header must be read or skipped before the next one."""
        damaged = marked = False
        while len(self.members) < limits.MEMBERS.value:
            begin = self.at
            block = self._take(_BLOCK)
            if len(block) < _BLOCK:
                self._ended(begin, block, marked=marked)
                return
            marked = not block.strip(b"\0")
            if marked:
                continue
            info = _header(block)
            if info is None and not damaged:
                self.broken.append(f"no header at byte {begin:,}, where one must be; {_MISSING}")
            damaged = info is None
            if info is not None:
                self._skip_pieces(info, block)
                yield info
        self.broken.append(limits.MEMBERS.told(_TOO_MANY))

    def _skip_pieces(self, info: tarfile.TarInfo, block: bytes) -> None:
        """Skip the blocks that continue the list of the pieces of a sparse file (GNU tar, "Basic Tar Format")."""
        more = info.type == tarfile.GNUTYPE_SPARSE and block[482]
        while more:
            block = self._take(_BLOCK)
            more = len(block) == _BLOCK and block[504]

    def _ended(self, begin: int, rest: bytes, *, marked: bool) -> None:
        """Note an archive that ends too early.

        Args:
            begin: where its last block begins.
            rest: the bytes of that block, fewer than a block has.
            marked: the block before it marks the end.
        """
        if rest.strip(b"\0") or not begin:
            self.broken.append(f"it ends inside the header at byte {begin:,}")
        elif not marked and not self.broken:
            self.broken.append(f"it ends at byte {begin + len(rest):,} without the mark of an end; {_MISSING}")

    def _extension(self, info: tarfile.TarInfo) -> dict[str, str]:
        """Read a header that extends others, the next one or all that follow; what it states, by pax keyword."""
        if info.size > _LONG_HEADER:
            self.broken.append(f"a header of {info.size:,} bytes at byte {self.at - _BLOCK:,} is not read")
            self._skip(info.size)
            return {}
        said = self._take(_padded(info.size))[: info.size]
        key = _EXTENSIONS[info.type]
        return {key: said.rstrip(b"\0").decode("utf-8", "surrogateescape")} if key else _pax(said)

    def problems(self) -> list[str]:
        """Problems of the archive, each once."""
        counts = (
            (self.sparse, "sparse files are not read; pack without --sparse"),
            (self.links, "links are not followed"),
            (self.strayed, "names lead out of the archive; they are shown without that part"),
            (self.skipped, "entries are neither files nor folders"),
        )
        cut = problem_of(self.stream)
        return [*self.broken, *([cut] if cut else []), *(f"{count} {what}" for count, what in counts if count)]

    def _member(self, info: tarfile.TarInfo, said: dict[str, str]) -> None:
        name = said.get("path", info.name)
        size = self._size(info, said)
        begin = self.at
        data = info.isreg() and not (name.endswith("/") and info.type == tarfile.AREGTYPE)
        if info.type == tarfile.GNUTYPE_SPARSE or any(key.startswith("GNU.sparse.") for key in said):
            self.sparse += 1
        elif info.islnk() and (target := self.names.get(said.get("linkpath", info.linkname))) is not None:
            path, _ = _inside(self.archive, name)
            self.members.append(replace(target, path=path, called=""))
            return
        elif info.issym() or info.islnk():
            self.links += 1
            return
        elif data:
            path, strayed = _inside(self.archive, name)
            self.strayed += strayed
            member = self._reached(path, begin, size)
            self.members.append(member)
            self.names[name] = member
            self._skip(size - (self.at - begin))
            return
        elif not info.isdir():
            self.skipped += 1
        self._skip(size)

    def _size(self, info: tarfile.TarInfo, said: dict[str, str]) -> int:
        """Bytes of a member: as its extended header states them, where no file can be as large as its own header."""
        if "size" not in said:
            return info.size
        stated = integer(said["size"], most=_LARGEST)
        if stated is None:
            self.broken.append(f"the extended header at byte {self.at - _BLOCK:,} states a size that no file can have")
        return info.size if stated is None else stated

    def _reached(self, path: str, begin: int, size: int) -> Source:
        """The member as a source."""
        archive = self.archive
        stored = f"tar in {archive.stored}" if archive.stored else "tar"
        if archive.place is not None:
            file, offset, length = archive.place
            place = Place(file, offset + begin, min(size, max(length - begin, 0)))
            notes: tuple[str, ...] = ()
            if place.size < size:
                self.broken.append(f"it ends inside {path}: {place.size:,} of {size:,} bytes are there")
                notes = (f"the archive ends {size - place.size:,} bytes before the end of this file",)
            return Source(path, place.size, place.open, notes=notes, stored=stored, place=place)
        head = self._take(min(size, HEAD_BYTES))
        body = [head]
        keep = size <= min(_SMALL, self.memory.left)
        digest = hashlib.sha256(head)
        while (left := size - (self.at - begin)) > 0 and (data := self._take(min(left, 1 << 20))):
            digest.update(data)
            if keep:
                body.append(data)
        cut = self.at - begin < size
        if cut:
            self.broken.append(f"it ends inside {path}: {self.at - begin:,} of {size:,} bytes are there")
        opener: Opener
        if keep and not cut:
            self.memory.left -= size
            opener = _Bytes(b"".join(body))
        else:
            assert self.tape is not None
            opener = _OnTape(self.tape, begin, size)
        return Source(
            path,
            min(size, self.at - begin),
            opener,
            stored=stored,
            archive=archive.path,
            offset=begin,
            beginning=head,
            digest=None if cut else digest.hexdigest(),
        )

    def _take(self, size: int) -> bytes:
        data = self.stream.read(size)
        self.at += len(data)
        return data

    def _skip(self, size: int) -> None:
        end = self.at + max(size, 0)
        end += -end % _BLOCK
        if self.archive.place is not None:
            self.stream.seek(end)
            self.at = end
            return
        while self.at < end and self._take(min(end - self.at, 1 << 20)):
            pass


@dataclass(frozen=True, slots=True)
class _Bytes:
    data: bytes

    def __call__(self) -> BinaryIO:
        return io.BytesIO(self.data)


@dataclass(frozen=True, slots=True)
class _OnTape:
    tape: Tape
    begin: int
    size: int

    def __call__(self) -> BinaryIO:
        return self.tape.open_at(self.begin, self.size)


def _padded(size: int) -> int:
    return size + -size % _BLOCK


def _pax(data: bytes) -> dict[str, str]:
    """Records of an extended header: length, blank, key, "=", value, line end."""
    found: dict[str, str] = {}
    while data:
        length, _, _ = data.partition(b" ")
        if not length.isdigit() or len(length) > _LENGTH_DIGITS or not len(length) < int(length) <= len(data):
            break
        key, _, value = data[len(length) + 1 : int(length)].rstrip(b"\n").partition(b"=")
        found[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        data = data[int(length) :]
    return found


# -- zip ------------------------------------------------------------------------------------------------------------


def _zip(archive: Source) -> tuple[list[Source], list[str]]:
    problems: list[str] = []
    with contextlib.ExitStack() as undo:
        try:
            stream = undo.enter_context(_seekable(archive, problems))
        except _ZIP_ERRORS as error:
            return [], [f"the zip cannot be read ({worded(error)})"]
        try:
            file = zipfile.ZipFile(stream)
        except _ZIP_ERRORS:
            return _salvaged(archive, stream, problems)
        first = min((info.header_offset for info in file.infolist()), default=0)
        if first > 0:
            stream.seek(0)
            if _archive_of(stream.read(_BLOCK)) == "zip":
                # It begins with a file that its directory does not know: the directory is that of a zip inside.
                return _salvaged(archive, stream, problems)
            problems.append(f"{first:,} bytes are before the zip, as of a program that unpacks it: they are not read")
        undo.pop_all()
    weakref.finalize(file, stream.close)  # open as long as a member of it may be asked for
    return _listed(archive, file, problems)


def _listed(archive: Source, file: zipfile.ZipFile, problems: list[str]) -> tuple[list[Source], list[str]]:
    """Files of a zip that its directory lists, and all its problems; the given ones come first."""
    stored = f"zip in {archive.stored}" if archive.stored else "zip"
    members: list[Source] = []
    strayed = links = 0
    for info in file.infolist()[: limits.MEMBERS.value]:
        if info.is_dir():
            continue
        if info.external_attr >> 28 == 0xA:  # the type bits of a symbolic link in Unix
            links += 1
            continue
        path, out = _inside(archive, info.filename)
        strayed += out
        problem = _unreadable(info.compress_type, encrypted=bool(info.flag_bits & 1), known=_ZIP_METHODS)
        if not problem and limits.expands_too_far(info.file_size, info.compress_size):
            problem = limits.RATIO.told(f"it would expand more than {{}}-fold, to {info.file_size:,} bytes")
        members.append(Source(path, info.file_size, _ZipMember(file, info), problem, stored=stored))
    if len(file.infolist()) > limits.MEMBERS.value:
        problems.append(limits.MEMBERS.told(_TOO_MANY))
    if links:
        problems.append(f"{links} links are not followed")
    if strayed:
        problems.append(f"{strayed} names lead out of the archive; they are shown without that part")
    return members, problems


def _unreadable(method: int, *, encrypted: bool, known: Container[int]) -> str:
    """Why a file in a zip cannot be read, or ""."""
    if encrypted:
        return "encrypted in the zip; unpack it with its password and give the folder"
    if method not in known:
        return f"compressed in the zip by method {method}, which is not known; unpack it by hand"
    return ""


def _salvaged(archive: Source, stream: BinaryIO, problems: list[str]) -> tuple[list[Source], list[str]]:
    """Files of a zip without its directory, as far as they are there."""
    try:
        pieces, wrong = zip_salvage.pieces(stream)
    except _ZIP_ERRORS as error:
        return [], [*problems, f"the zip cannot be read ({worded(error)})"]
    stored = f"zip in {archive.stored}" if archive.stored else "zip"
    opener: Opener = _Bytes(stream.getvalue()) if isinstance(stream, io.BytesIO) else archive.place.open  # type: ignore[union-attr]
    members = []
    strayed = 0
    for piece in pieces[: limits.MEMBERS.value]:
        if piece.name.endswith("/"):
            continue
        path, out = _inside(archive, piece.name)
        strayed += out
        problem = _unreadable(piece.method, encrypted=piece.encrypted, known=zip_salvage.CODECS)
        members.append(Source(path, piece.size, _Salvaged(opener, piece), problem, stored=stored))
    what = f"{len(members):,} files were found by the headers before them"
    problems += [f"the zip has no directory; {what}: {'; '.join(wrong)}"]
    if len(pieces) > limits.MEMBERS.value:
        problems.append(limits.MEMBERS.told(_TOO_MANY))
    if strayed:
        problems.append(f"{strayed} names lead out of the archive; they are shown without that part")
    return members, problems


@dataclass(frozen=True, slots=True)
class _Salvaged:
    opener: Opener
    piece: zip_salvage.Piece

    def __call__(self) -> BinaryIO:
        stream = Window(self.opener(), self.piece.begin, self.piece.stored)
        return io.BufferedReader(zip_salvage.Content(io.BufferedReader(stream, 1 << 16), self.piece), 1 << 16)


def _seekable(archive: Source, problems: list[str]) -> BinaryIO:
    """Return a seekable stream of the zip, in memory if it is compressed; problems are added to the list."""
    if archive.place is not None:
        return archive.place.open()
    with archive.open() as stream:
        data = stream.read(limits.ZIP.value + 1)
        if len(data) > limits.ZIP.value:
            raise ValueError(limits.ZIP.told("a zip of more than {} in a compressed archive; unpack that by hand"))
        if problem := problem_of(stream):
            problems.append(problem)
    return io.BytesIO(data)


@dataclass(frozen=True, slots=True)
class _ZipMember:
    file: zipfile.ZipFile
    info: zipfile.ZipInfo

    def __call__(self) -> BinaryIO:
        try:
            inner = self.file.open(self.info)
        except _ZIP_ERRORS as error:
            raise OSError(f"damaged in the zip ({worded(error)})") from error
        return io.BufferedReader(Watched(inner, _ZIP_ERRORS), 1 << 16)  # type: ignore[arg-type]
