"""Damage to files: bits flip, digits change, blocks are lost, doubled or moved, ends are missing.

Each mutation gets the bytes of one file and a random generator, and returns other bytes; ``None`` if the file has
nothing to change in that way.
"""

from __future__ import annotations

import itertools
import re
import struct
import zlib
from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

import google_crc32c

Change = Callable[..., bytes | None]
"""Gets the bytes of a file and a random generator; of a mutation that mixes, the bytes of another file as well."""


class Mutation(NamedTuple):
    """One way in which a file is damaged.

    Attributes:
        name: for the counts.
        fits: pattern of the names of files that it is for.
        change: damages the content.
        forged: no accident does it, as checksums are made right again, or exactly one batch is taken out and no byte
            more: what follows from it is no false proof.
        mixes: bytes of another file of the same name get into it, as a copy that is resumed on a wrong file leaves it.
    """

    name: str
    fits: re.Pattern[str]
    change: Change
    forged: bool = False
    mixes: bool = False

    def of(self, data: bytes, chance: Random, other: bytes) -> bytes | None:
        """Return the damaged bytes of a file; None if it has nothing to change in that way."""
        return self.change(data, chance, other) if self.mixes else self.change(data, chance)


ANY = re.compile(r"")
SEGMENT = re.compile(r"/[0-9]{20}\.log$|\.checkpoint$")
TEXT = re.compile(r"(?:^|/)(?!0{10})[^/]*(?:log|checkpoint|properties|metadata|state|txt|json)$")
LOG = re.compile(r"(?:^|/)[a-z][^/]*\.log[^/]*$")
_TIME = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
NUMBER = re.compile(rb"[0-9]+")
BLOCK = 512


def flipped_bit(data: bytes, chance: Random) -> bytes | None:
    """One bit anywhere."""
    if not data:
        return None
    changed = bytearray(data)
    changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def random_bytes(data: bytes, chance: Random) -> bytes | None:
    """A few bytes of noise in place of others."""
    if not data:
        return None
    at, count = chance.randrange(len(data)), chance.randrange(1, 16)
    return data[:at] + chance.randbytes(count) + data[at + count :]


def inserted(data: bytes, chance: Random) -> bytes | None:
    """A few bytes too many."""
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.randrange(1, 40)) + data[at:]


def zeroed(data: bytes, chance: Random) -> bytes | None:
    """A block of zeros, as a file system leaves it."""
    at, count = _stretch(data, chance)
    return data[:at] + bytes(min(count, len(data) - at)) + data[at + count :]


def removed(data: bytes, chance: Random) -> bytes | None:
    """A stretch that is gone."""
    at, count = _stretch(data, chance)
    return data[:at] + data[at + count :]


def headless(data: bytes, chance: Random) -> bytes | None:
    """The head that is gone."""
    return data[chance.randrange(len(data)) :] if data else None


def truncated(data: bytes, chance: Random) -> bytes | None:
    """The end that is gone."""
    return data[: chance.randrange(len(data))] if data else None


def doubled(data: bytes, chance: Random) -> bytes | None:
    """Duplicate a part of the bytes."""
    at, count = _stretch(data, chance)
    return data[: at + count] + data[at:]


def swapped(data: bytes, chance: Random) -> bytes | None:
    """Two stretches in each other's place."""
    at, count = _stretch(data, chance)
    rest = data[at + count :]
    return data[:at] + rest[:count] + data[at : at + count] + rest[count:]


def _stretch(data: bytes, chance: Random) -> tuple[int, int]:
    size = chance.choice((1, 16, BLOCK, 4096, max(len(data) // 4, 1)))
    at = chance.randrange(len(data) + 1)
    return (at // size * size if chance.random() < 0.5 else at), size


# -- text --------------------------------------------------------------------------------------------------------------


def digit(data: bytes, chance: Random) -> bytes | None:
    """One digit is another."""
    places = [place for found in NUMBER.finditer(data) for place in range(*found.span())]
    if not places:
        return None
    at = chance.choice(places)
    return data[:at] + str(chance.randrange(10)).encode() + data[at + 1 :]


_NUMBERS = (b"-1", b"0", b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807", b"18446744073709551616")


def number(data: bytes, chance: Random) -> bytes | None:
    """A number at the edge of what fits, or far beyond."""
    found = [*NUMBER.finditer(data)]
    if not found:
        return None
    begin, end = chance.choice(found).span()
    new = b"9" * 5000 if chance.random() < 0.05 else chance.choice(_NUMBERS)
    return data[:begin] + new + data[end:]


def doubled_lines(data: bytes, chance: Random) -> bytes | None:
    """Duplicate lines, as shippers with at-least-once delivery do."""
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return None
    at, count = chance.randrange(len(lines)), chance.choice((1, 5, 40))
    behind = at + count + chance.choice((0, 0, 10))
    return b"".join([*lines[:behind], *lines[at : at + count], *lines[behind:]])


def lost_lines(data: bytes, chance: Random) -> bytes | None:
    """Lines that are gone."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return None
    at = chance.randrange(len(lines))
    return b"".join([*lines[:at], *lines[at + chance.choice((1, 5, 40)) :]])


def moved_lines(data: bytes, chance: Random) -> bytes | None:
    """Blocks of lines in another order."""
    lines = data.splitlines(keepends=True)
    if len(lines) < 3:
        return None
    one, two = sorted((chance.randrange(len(lines)), chance.randrange(len(lines))))
    three = min(two + chance.choice((1, 5, 40)), len(lines))
    return b"".join([*lines[:one], *lines[two:three], *lines[one:two], *lines[three:]])


_STAMP = re.compile(_TIME.pattern + rb"(?:[.,][0-9]+)?")
_BROKER = re.compile(
    rb"(?i)(?:ISR from [0-9,]+ to [0-9,]+)"
    rb"|(?:brokers?|replicas?|leaders?|nodes?|isr|controllers?)[ _-]?(?:ids?)?\"? ?[=:]? ?(?:List\(|Set\(|\[|\()?"
    rb"[0-9]{1,9}(?:, ?[0-9]{1,9})*(?![0-9.])"
)


def broker_replaced(data: bytes, chance: Random) -> bytes | None:
    """A broker id is another one throughout the file, as if it were of another cluster or had been edited."""
    known = sorted({one for found in _BROKER.finditer(data) for one in NUMBER.findall(found[0])})
    if not known:
        return None
    old, new = chance.choice(known), chance.choice([*known, b"7", b"1001"])
    return _BROKER.sub(lambda found: _replaced(found[0], old, new), data)


def number_replaced(data: bytes, chance: Random) -> bytes | None:
    """A number is another one throughout the file; times stay."""
    texts = _STAMP.split(data)
    known = sorted({one for text in texts for one in NUMBER.findall(text) if len(one) < 19})
    if not known:
        return None
    old = chance.choice(known)
    new = chance.choice([*known, b"%d" % (int(old) + chance.choice((-1, 1, 10, 100)))])
    times = _STAMP.findall(data)
    parts = [_replaced(text, old, new) for text in texts]
    return b"".join(itertools.chain(*itertools.zip_longest(parts, times, fillvalue=b"")))


def _replaced(text: bytes, old: bytes, new: bytes) -> bytes:
    return NUMBER.sub(lambda found: new if found[0] == old else found[0], text)


def clock_moved(data: bytes, chance: Random) -> bytes | None:
    """The times of a log, or of its later part, are ahead or behind, as if it were read in another time zone."""
    lines = data.splitlines(keepends=True)
    begin = chance.choice((0, chance.randrange(max(len(lines), 1))))
    by = timedelta(seconds=chance.choice((-43_200, -3600, -10, 10, 60, 3600, 43_200)))
    later = [_TIME.sub(lambda found: _moved(found[0], by), line, count=1) for line in lines[begin:]]
    return b"".join([*lines[:begin], *later])


def _moved(time: bytes, by: timedelta) -> bytes:
    try:
        return (datetime.fromisoformat(time.decode()) + by).isoformat(sep=" ").encode()
    except ValueError:  # digits that are no time
        return time


def line_elsewhere(data: bytes, chance: Random) -> bytes | None:
    """A line of a log comes again at another place, at the time of that place."""
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return None
    at, line = chance.randrange(len(lines)), chance.choice(lines)
    there = _TIME.search(lines[at])
    if there is not None:
        line = _TIME.sub(there[0], line, count=1)
    return b"".join([*lines[: at + 1], line, *lines[at + 1 :]])


# -- segments ----------------------------------------------------------------------------------------------------------

_FIELDS = (
    *(
        (0, 8),
        (8, 4),
        (12, 4),
        (16, 1),
        (17, 4),
        (21, 2),
        (23, 4),
        (27, 8),
        (35, 8),
        (43, 8),
        (51, 2),
        (53, 4),
        (57, 4),
    ),
)
"""Place and size of the fields of a batch of message format v2."""
_LEGACY_FIELDS = ((0, 8), (8, 4), (12, 4), (16, 1), (17, 1), (18, 8))


def _places(data: bytes) -> list[int]:
    places, at = [], 0
    while at + 17 <= len(data):
        (length,) = struct.unpack_from(">i", data, at + 8)
        if length < 14 or at + 12 + length > len(data):
            break
        places.append(at)
        at += 12 + length
    return places


def _in_header(data: bytes, chance: Random) -> tuple[int, int, int] | None:
    places = _places(data)
    if not places:
        return None
    at = chance.choice(places)
    begin, size = chance.choice(_FIELDS if data[at + 16] == 2 else _LEGACY_FIELDS)
    return (at, begin, size) if at + begin + size <= len(data) else None


def header_bit(data: bytes, chance: Random) -> bytes | None:
    """One bit of a field of a batch header."""
    field = _in_header(data, chance)
    if field is None:
        return None
    at, begin, size = field
    changed = bytearray(data)
    changed[at + begin + chance.randrange(size)] ^= 1 << chance.randrange(8)
    return bytes(changed)


def unchecked_bit(data: bytes, chance: Random) -> bytes | None:
    """One bit of what no checksum covers: base offset or leader epoch of a batch."""
    places = _places(data)
    if not places:
        return None
    at = chance.choice(places)
    epoch = data[at + 16] == 2 and chance.random() < 0.5
    changed = bytearray(data)
    changed[at + (12 + chance.randrange(4) if epoch else chance.randrange(8))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def forged_header(data: bytes, chance: Random) -> bytes | None:
    """Another value of a field of a batch header, under a checksum that is right again."""
    field = _in_header(data, chance)
    if field is None:
        return None
    at, begin, size = field
    changed = bytearray(data)
    value = chance.choice((bytes(size), b"\xff" * size, b"\x7f" + b"\xff" * (size - 1), chance.randbytes(size)))
    changed[at + begin : at + begin + size] = value
    (length,) = struct.unpack_from(">i", data, at + 8)
    end = at + 12 + length
    if data[at + 16] == 2:
        struct.pack_into(">I", changed, at + 17, google_crc32c.value(bytes(changed[at + 21 : end])))
    else:
        struct.pack_into(">I", changed, at + 12, zlib.crc32(changed[at + 16 : end]))
    return bytes(changed)


def forged_payload(data: bytes, chance: Random) -> bytes | None:
    """Other bytes in the records of a batch, under a checksum that is right again."""
    places = [at for at in _places(data) if data[at + 16] == 2]
    if not places:
        return None
    at = chance.choice(places)
    (length,) = struct.unpack_from(">i", data, at + 8)
    end = at + 12 + length
    if end - at <= 62:
        return None
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 4))):
        changed[chance.randrange(at + 61, end)] = chance.choice((0, 0xFF, 0x7F, 0x80, chance.randrange(256)))
    struct.pack_into(">I", changed, at + 17, google_crc32c.value(bytes(changed[at + 21 : end])))
    return bytes(changed)


def doubled_batch(data: bytes, chance: Random) -> bytes | None:
    """Duplicate a batch."""
    places = _places(data)
    if not places:
        return None
    at = chance.choice(places)
    end = at + 12 + int(struct.unpack_from(">i", data, at + 8)[0])
    return data[:end] + data[at:]


def lost_batch(data: bytes, chance: Random) -> bytes | None:
    """A batch that is gone."""
    places = _places(data)
    if not places:
        return None
    at = chance.choice(places)
    return data[:at] + data[at + 12 + int(struct.unpack_from(">i", data, at + 8)[0]) :]


def exchanged_batches(data: bytes, chance: Random) -> bytes | None:
    """Two batches are in each other's place."""
    places = [*_places(data), len(data)]
    if len(places) < 3:
        return None
    one = chance.randrange(len(places) - 2)
    two = chance.choice((one + 1, chance.randrange(one + 1, len(places) - 1)))
    batches = [data[begin:end] for begin, end in itertools.pairwise(places)]
    batches[one], batches[two] = batches[two], batches[one]
    return b"".join(batches)


def moved_offsets(data: bytes, chance: Random) -> bytes | None:
    """The base offsets of some batches in a row, or of all from one on, are changed by the same number."""
    places = _places(data)
    if not places:
        return None
    first, by = chance.randrange(len(places)), chance.choice((-5, -1, 1, 5, 30, 256))
    changed = bytearray(data)
    for at in places[first : first + chance.choice((1, 2, 3, 6, len(places)))]:
        struct.pack_into(">q", changed, at, max(struct.unpack_from(">q", data, at)[0] + by, 0))
    return bytes(changed)


def moved_epochs(data: bytes, chance: Random) -> bytes | None:
    """Some batches in a row have another leader epoch."""
    places = [at for at in _places(data) if data[at + 16] == 2]
    if not places:
        return None
    first, epoch = chance.randrange(len(places)), chance.randrange(9)
    changed = bytearray(data)
    for at in places[first : first + chance.choice((1, 2, 3, 6))]:
        struct.pack_into(">i", changed, at + 12, epoch)
    return bytes(changed)


def overwritten_batches(data: bytes, chance: Random) -> bytes | None:
    """Batches are overwritten by as many others of the same segment."""
    places = [*_places(data), len(data)]
    many = chance.randrange(1, 5)
    if len(places) < many + 2:
        return None
    here, there = (chance.randrange(len(places) - many) for _ in range(2))
    return data[: places[here]] + data[places[there] : places[there + many]] + data[places[here + many] :]


def _shared_places(data: bytes, other: bytes) -> list[int]:
    """Return the places at which batches begin in two segments; sectors of disks, if there are few."""
    return sorted({*_places(data)} & {*_places(other)}) or [*range(0, min(len(data), len(other)), BLOCK)]


def head_of_another(data: bytes, chance: Random, other: bytes) -> bytes | None:
    """The beginning is another segment's."""
    places = [at for at in _shared_places(data, other) if at]
    if not places:
        return None
    at = chance.choice(places)
    return other[:at] + data[at:]


def block_of_another(data: bytes, chance: Random, other: bytes) -> bytes | None:
    """A block within a segment is another segment's."""
    places = _shared_places(data, other)
    if len(places) < 2:
        return None
    first, end = sorted(chance.sample(places, 2))
    return data[:first] + other[first:end] + data[end:]


def tail_of_another(data: bytes, chance: Random, other: bytes) -> bytes | None:
    """The end is another segment's."""
    places = [at for at in _shared_places(data, other) if at]
    if not places:
        return None
    at = chance.choice(places)
    return data[:at] + other[at:]


def another_file(data: bytes, chance: Random, other: bytes) -> bytes | None:
    """The file is another one of the same name: of another broker, partition or time."""
    return other or None


MUTATIONS: tuple[Mutation, ...] = (
    Mutation("bit", ANY, flipped_bit),
    Mutation("bytes", ANY, random_bytes),
    Mutation("inserted", ANY, inserted),
    Mutation("zeroed", ANY, zeroed),
    Mutation("removed", ANY, removed),
    Mutation("head gone", ANY, headless),
    Mutation("cut", ANY, truncated),
    Mutation("doubled", ANY, doubled),
    Mutation("swapped", ANY, swapped),
    Mutation("digit", TEXT, digit),
    Mutation("number", TEXT, number),
    Mutation("lines twice", TEXT, doubled_lines),
    Mutation("lines gone", TEXT, lost_lines),
    Mutation("lines moved", TEXT, moved_lines),
    Mutation("clock moved", LOG, clock_moved),
    Mutation("line elsewhere", LOG, line_elsewhere),
    Mutation("broker replaced", TEXT, broker_replaced),
    Mutation("number replaced", TEXT, number_replaced),
    Mutation("header bit", SEGMENT, header_bit),
    Mutation("unchecked bit", SEGMENT, unchecked_bit),
    Mutation("batch twice", SEGMENT, doubled_batch),
    Mutation("batches exchanged", SEGMENT, exchanged_batches),
    Mutation("offsets moved", SEGMENT, moved_offsets),
    Mutation("epochs moved", SEGMENT, moved_epochs),
    Mutation("batches overwritten", SEGMENT, overwritten_batches),
    Mutation("head of another", SEGMENT, head_of_another, mixes=True),
    Mutation("block of another", SEGMENT, block_of_another, mixes=True),
    Mutation("tail of another", SEGMENT, tail_of_another, mixes=True),
    Mutation("another file", ANY, another_file, mixes=True),
    Mutation("batch gone", SEGMENT, lost_batch, forged=True),
    Mutation("forged header", SEGMENT, forged_header, forged=True),
    Mutation("forged payload", SEGMENT, forged_payload, forged=True),
)
"""Every mutation."""
