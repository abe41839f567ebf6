"""Records that no leader that is told of can have written: another one led."""

from __future__ import annotations

from forensics.replay.history import History


def unwritten(history: History) -> dict[int, str]:
    """Replicas whose files hold what no leader that is told of wrote, and where.

    Before message format v2 no record says in which leader epoch it was written. Still a leader wrote it, and it stays
    in that one's log until something shortens that. Where the epochs from the first on are told without a break, the
    leader that is missing came after them.
    """
    numbers = [number for number, epoch in history.epochs.items() if epoch.leader is not None]
    if history.backwards or history.contested or numbers != list(range(len(history.epochs))) or not numbers:
        return {}
    leaders = {e.leader for e in history.epochs.values() if e.leader is not None and e.leader >= 0}
    found: dict[int, str] = {}
    for fork in history.forks:
        first = fork.ranges[0][0]
        silent = not any(r.server_log and r.state_log for b, r in history.replicas.items() if b in leaders)
        if len(numbers) == 1 and silent and not (_dated(fork.left_batch) or _dated(fork.right_batch)):
            # A leader writes an offset once, unless it loses it as it leads, of which its lines would tell.
            why = f"brokers {fork.left} and {fork.right} hold different records at {first}, and one leader is told of"
            for broker in (fork.left, fork.right):
                found.setdefault(broker, why)
        for broker, batch in ((fork.left, fork.left_batch), (fork.right, fork.right_batch)):
            if not _dated(batch) and not any(_may_have_written(history, leader, broker, first) for leader in leaders):
                found.setdefault(
                    broker, f"no leader that is told of wrote what broker {broker} holds at offset {first}"
                )
    return found


def _dated(batch: tuple[int, int, int | None]) -> bool:
    """Whether a batch says in which leader epoch it was written."""
    return batch[2] is not None and batch[2] >= 0


def _may_have_written(history: History, leader: int, broker: int, offset: int) -> bool:
    """Whether what a replica holds at an offset can be what another one wrote there as leader."""
    own = history.replicas.get(leader)
    pair = (min(leader, broker), max(leader, broker))
    if leader == broker or own is None or own.end is None or own.end <= offset or pair not in history.compared:
        return True
    if not any(first <= offset < end for first, end in history.parted(leader, broker)):
        return True
    if not (own.server_log and own.state_log):
        return True  # what befell its log is not told
    spans = history.tenures.get(leader, [])
    steps = [step for tenure in spans for step in tenure.steps]
    reopened = len({tenure.run for tenure in spans}) > 1 and not steps
    return reopened or any(step.target <= offset for step in steps)  # other records followed
