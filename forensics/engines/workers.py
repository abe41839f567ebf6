"""Processes that work for this one: each is asked for one thing at a time, and answers.

A worker is a new process, never a fork: Polars has threads, which a fork would not have. It imports what it is
asked for from where this process does, and nothing of the script that was started. Questions and answers pass through
its standard input and output. When this process ends, however it ends, its workers find the input closed and end too.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from forensics.errors import DefectOfProgram
from parsers.containment import Defect, contained

Work = Callable[..., Any]
"""A function of a module: it is found by its name in another process."""

_SIZE: Final = 8
"""Bytes in front of each message, which say how long it is."""
_START: Final = "import sys; sys.path[:] = {path!r}; from forensics.engines.workers import serve; serve()"


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


class Died(Defect):
    """The answer of a worker that ended before it answered."""

    __slots__ = ()

    @classmethod
    def of_status(cls, status: int) -> Died:
        """Return it.

        Args:
            status: the exit code; of a signal, its number below zero.
        """
        how = f"signal {-status}" if status < 0 else f"exit code {status}"
        return cls(f"a process that judged it ended with {how}", "")

    def __str__(self) -> str:
        return f"{self.error}; memory may be short: fewer --jobs need less"


@dataclass(frozen=True, slots=True)
class Load:
    """One question.

    Attributes:
        common: first argument of the work. It is handed over once for all loads that have the same object.
        given: the other arguments.
    """

    common: object
    given: tuple[Any, ...]


class Worker:
    """One process that answers."""

    def __init__(self) -> None:
        """Start it."""
        # More threads would contend with the other workers. -P: the working directory may be a folder of evidence.
        env = {"POLARS_MAX_THREADS": "1"} | os.environ
        path = [str(Path(place).absolute()) for place in sys.path]
        command = [sys.executable, "-P", "-c", _START.format(path=path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self._knows: object = None

    def has_started(self) -> bool:
        """Return whether it is ready, once that is known."""
        assert self._process.stdout is not None
        return _received(self._process.stdout) is not _END

    def ask(self, work: Work, load: Load) -> Any:
        """Return the result of the work, the defect that ended it, or that the worker died."""
        questions, answers = self._process.stdin, self._process.stdout
        assert questions is not None
        assert answers is not None
        try:
            if load.common is not self._knows:
                _send(questions, (None, load.common))
                self._knows = load.common
            _send(questions, (work, load.given))
            found = _received(answers)
        except ConnectionError:
            found = _END
        return Died.of_status(self._process.wait()) if found is _END else found

    def end(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(ConnectionError):  # it can no longer receive what is buffered
                if pipe is not None:
                    pipe.close()


class Workers:
    """This process and some workers. They are started when there is something to ask, and end on leaving."""

    def __init__(self, jobs: int) -> None:
        """Start none yet.

        Args:
            jobs: how many processes work, this one among them.
        """
        self._more = jobs - 1
        self._all: list[Worker] = []
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._ending = False

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End all, also those that have not answered."""
        with self._lock:
            self._ending = True
            for worker in self._all:
                worker.end()

    def ask(self, work: Work, loads: Iterable[Load], here: Work | None = None) -> Iterator[tuple[int, Any]]:
        """Yield the number of each load with its answer, as they are known: see ``Worker.ask``.

        Each process takes the next load when it is done with one. A worker that has not started yet takes none.

        Args:
            work: what workers do with a load.
            loads: what it is done with, made as it is needed.
            here: what this process does with a load. Without it, it takes none unless no worker can be started.
        """
        left = _Left(loads)
        for _ in range(self._more):
            left.begun()
            threading.Thread(target=self._take_turns, args=(work, left), daemon=True).start()
        if here is None:
            yield from left.until_ended()
        while (mine := left.take()) is not None:  # in this thread, so that an interrupt ends it
            number, load = mine
            yield number, contained(partial(here or work, load.common, *load.given))
            yield from left.so_far()
        yield from left.until_answered()

    def _take_turns(self, work: Work, left: _Left) -> None:
        """Let one worker answer until no load is left."""
        found = contained(lambda: self._answered(work, left))
        left.ended(found if isinstance(found, Defect) else None)

    def _answered(self, work: Work, left: _Left) -> None:
        worker = self._free()
        while worker is not None and (mine := left.take(beside=True)) is not None:
            number, load = mine
            found = worker.ask(work, load)
            left.add(number, found)
            if isinstance(found, Died):
                worker = self._free()
        if worker is not None:
            self._idle.append(worker)

    def _free(self) -> Worker | None:
        """Return a worker that has nothing to do; None if no more can be started, as where processes are limited."""
        with self._lock:
            if self._ending:
                return None
            if self._idle:
                return self._idle.pop()
            try:
                worker = Worker()
            except OSError:
                return None
            self._all.append(worker)
        return worker if worker.has_started() else None


class _Left:
    """Loads that no process has taken yet, and answers that were not read yet."""

    def __init__(self, loads: Iterable[Load]) -> None:
        self._loads = enumerate(loads)
        self._making = threading.Lock()
        self._counting = threading.Lock()
        self._said: queue.SimpleQueue[tuple[int | None, Any]] = queue.SimpleQueue()
        self._asked = 0
        self._threads = 0

    def begun(self) -> None:
        """Count a thread that asks a worker."""
        self._threads += 1

    def ended(self, defect: Defect | None) -> None:
        """Say that such a thread ended, and on what."""
        self._said.put((None, defect))

    def take(self, *, beside: bool = False) -> tuple[int, Load] | None:
        """Return the next load with its number; None if there is none.

        Args:
            beside: a worker is asked, and ``add`` called with its answer.
        """
        with self._making:
            found = next(self._loads, None)
            if beside and found is not None:
                with self._counting:
                    self._asked += 1
            return found

    def add(self, number: int, answer: Any) -> None:
        """Let an answer wait."""
        self._said.put((number, answer))

    def so_far(self) -> Iterator[tuple[int, Any]]:
        """Yield the answers that are there."""
        while not self._said.empty():
            yield from self._next()

    def until_answered(self) -> Iterator[tuple[int, Any]]:
        """Yield answers until all are there that workers were asked for."""
        while self._asked:
            yield from self._next()

    def until_ended(self) -> Iterator[tuple[int, Any]]:
        """Yield answers until no worker takes a load any more."""
        while self._threads:
            yield from self._next()

    def _next(self) -> Iterator[tuple[int, Any]]:
        number, found = self._said.get()
        if number is not None:
            with self._counting:
                self._asked -= 1
            yield number, found
            return
        self._threads -= 1
        if found is not None:
            raise DefectOfProgram(f"workers cannot be asked: {found}")


def serve() -> None:
    """Answer until there are no more questions: what a worker does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks is interrupted too, and ends this one
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed by mistake is no answer
    try:
        _serve(questions, answers)
    except ConnectionError:
        os._exit(1)  # the process that asks is gone: nothing can be written any more


def _serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    common = None
    _send(answers, None)
    while (message := _received(questions)) is not _END:
        work, given = message
        if work is None:
            common = given
        else:
            _send(answers, contained(partial(work, common, *given)))


_END: Final = object()
"""In place of a message: there are no more."""


def _send(pipe: IO[bytes], message: object) -> None:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(_SIZE, "big"))
    pipe.write(data)
    pipe.flush()


def _received(pipe: IO[bytes]) -> Any:
    size = pipe.read(_SIZE)
    if len(size) < _SIZE:
        return _END
    data = pipe.read(length := int.from_bytes(size, "big"))
    return pickle.loads(data) if len(data) == length else _END
