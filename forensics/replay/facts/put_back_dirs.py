"""Data directories that are older than their broker had left them, as the metadata log in them shows (KRaft).

A broker prints that it has caught up once it has read the record of its own registration (``BrokerLifecycleManager``,
KIP-631). The offset of that record is its broker epoch. What a broker reads of the metadata log is committed, and is
never truncated. So if a later process loads a metadata log that ends below, something else than Kafka shortened it:
a copy or a left-over took the place of the directory, or what was not flushed was lost with the power.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from forensics.case import Case
from forensics.case.speakers import saying
from forensics.replay.facts.directory_lines import DirectoryLines, by_broker
from forensics.replay.facts.events import Event
from forensics.replay.facts.lines_of_brokers import reads_metadata_log
from parsers.messages.catalogue import Says
from parsers.schema import Kind


def put_back(case: Case) -> DirectoryLines:
    """Return two lines for each directory that was found older: the registration of an earlier process, and the load.

    Returns:
        By broker, in its order. Of the load, ``detail`` is where the metadata log ended; it states nothing of any other
        log.
    """
    registers = pl.col("kind") == Kind.BROKER_REGISTERED.value
    rows = case.observations.filter(reads_metadata_log() | registers)
    if not (rows.get_column("kind") == Kind.METADATA_LOADED.value).any():
        return {}
    of_itself = saying(Says.OWN_EPOCH) & (pl.col("replica") == pl.col("broker"))
    found = {broker: [*_older(own)] for broker, own in by_broker(rows.filter(~registers | of_itself)).items()}
    return {broker: older for broker, older in found.items() if older}


def _older(lines: Iterable[tuple[Event, str]]) -> Iterator[tuple[Event, str]]:
    """Yield the pairs of lines of one broker."""
    reader = _Lines()
    for event, log_dir in lines:
        if event.kind == Kind.METADATA_LOADED:
            reader.loads(event, log_dir)
        elif event.kind == Kind.BROKER_CAUGHT_UP:
            reader.catches_up(event)
        elif event.offset is not None:
            yield from reader.registers(event)


@dataclass(slots=True)
class _Lines:
    """One broker's lines, read in order.

    Attributes:
        read: the registration with the highest broker epoch whose record a process has read.
        registered: the last registration.
        loaded: the furthest load of the process that has not registered yet, and the directory.
    """

    read: Event | None = None
    registered: Event | None = None
    loaded: tuple[Event, str] | None = None

    def loads(self, event: Event, log_dir: str) -> None:
        before = self.loaded[0] if self.loaded is not None else None
        further = before is None or before.run < event.run or _end(before) < _end(event)
        if further:
            self.loaded = event, log_dir

    def catches_up(self, event: Event) -> None:
        if self.registered is not None and self.registered.run == event.run:
            self.read = self.registered

    def registers(self, event: Event) -> Iterator[tuple[Event, str]]:
        if self.read is not None and _epoch(event) <= _epoch(self.read):
            self.read = None  # the controllers' own log went back, and each broker's with it
        if self.read is not None and self.loaded is not None:
            load, log_dir = self.loaded
            # A metadata log that was removed is created again, and begins empty.
            if load.run == event.run > self.read.run and 0 < _end(load) <= _epoch(self.read):
                yield self.read, log_dir
                yield load._replace(leo=None, detail=str(load.leo)), log_dir
        self.registered, self.loaded = event, None


def _end(load: Event) -> int:
    return load.leo or 0


def _epoch(registration: Event) -> int:
    return registration.offset or 0
