"""The bytes of record batches, read from the evidence once more."""

from __future__ import annotations

from typing import BinaryIO, Final

from forensics.case import Case
from forensics.errors import UnreadableInput
from forensics.salvage.copies import Batch
from parsers.formats.segment import intact

_STEP: Final = 1 << 20


class Content:
    """Gives the bytes of batches. It is quickest in the order of a file, because archives are read forwards.

    Args:
        case: the evidence.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._source = -1
        self._at = 0
        self._stream: BinaryIO | None = None
        self._digests: dict[int, str] = {}

    def of(self, batch: Batch) -> bytes:
        """Return the bytes of a batch, whose checksum is compared again.

        Raises:
            UnreadableInput: the file cannot be read any more, or holds something else there now.
        """
        try:
            data = self._read(batch)
        except OSError as error:
            raise UnreadableInput(f"{self._path(batch)}: {error.strerror or error}") from None
        if len(data) < batch.size or not intact(data):
            raise UnreadableInput(
                f"{self._path(batch)}: byte {batch.byte} does not hold the batch any more that was read before; "
                "copy the files of a running broker first"
            )
        return data

    def sha256(self, source: int) -> str:
        """Return the SHA-256 of a file of the evidence."""
        if source not in self._digests:
            self._digests[source] = self._case.files[source].sha256()
        return self._digests[source]

    def close(self) -> None:
        """Close the file that is open."""
        if self._stream is not None:
            self._stream.close()
        self._stream = None

    def _path(self, batch: Batch) -> str:
        return self._case.path(batch.source)

    def _read(self, batch: Batch) -> bytes:
        if self._stream is None or batch.source != self._source or batch.byte < self._at:
            self.close()
            self._stream, self._source, self._at = self._case.files[batch.source].open(), batch.source, 0
        if self._case.files[batch.source].place is not None:
            self._stream.seek(batch.byte)
            self._at = batch.byte
        while self._at < batch.byte and (skipped := self._stream.read(min(_STEP, batch.byte - self._at))):
            self._at += len(skipped)
        data = self._stream.read(batch.size)
        self._at += len(data)
        return data
