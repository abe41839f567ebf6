"""Advice about log directories that failed: what may be left of them, and how to recognise it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from forensics.replay.committed.failed_directories import FailedLog
from forensics.rules.finding import HERE, all_of


def kept(failed: Sequence[FailedLog]) -> str:
    """Return what to keep: the directories as they were, with their paths where lines name them."""
    return all_of([_directory(one) for one in failed])


def not_the_new(failed: Sequence[FailedLog]) -> str:
    """Return that other directories are at the paths now, in brackets; "" if no line names a path."""
    paths = "that path" if len(failed) == 1 else "these paths"
    return f" (not what is at {paths} now)" if any(one.log_dir for one in failed) else ""


def find_and_copy(failed: Sequence[FailedLog], gives: Sequence[str]) -> tuple[str, ...]:
    """Return the steps that look for what was in failed directories, and copy it.

    Args:
        failed: the logs there.
        gives: what each of them has, as a clause.
    """
    if not failed:
        return ()
    each = "; and ".join(f"{_directory(one)}{_when(one)}: {had}" for one, had in zip(failed, gives, strict=True))
    return (
        f"find {each}",
        (
            "look for a disk that was unmounted or taken out, and for a renamed directory. What is at that path now is "
            f"new: leave it there. Mount the old disk read-only, and copy {HERE} out of it"
        ),
    )


def _when(one: FailedLog) -> str:
    return f" (it failed at {datetime.fromtimestamp(one.time / 1e6, UTC):%H:%M:%S} UTC)" if one.time else ""


def do_not_discard(failed: Sequence[FailedLog]) -> str:
    """Return the action that would destroy what is left."""
    return f"format, repair or discard {'a disk' if len(failed) > 1 else 'the disk'} of {kept(failed)}"


def _directory(one: FailedLog) -> str:
    path = f" {one.log_dir}" if one.log_dir else ""
    return f"the old log directory{path} of broker {one.broker}"
