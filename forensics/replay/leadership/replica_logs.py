"""The log of each replica, while replay passes through the leader epochs in rising order."""

from __future__ import annotations

from collections.abc import Mapping

from forensics.replay.broker_facts import BrokerFacts, fences
from forensics.replay.facts.directory import Disk
from forensics.replay.history import History, Role
from forensics.replay.leadership.unseen_epochs import passed_over, unknown_from
from forensics.replay.lineage import Lineage
from forensics.replay.roles.steps import RoleSpan, StepKind


class ReplicaLogs:
    """The log and the role of each replica at one moment, and the evidence that replay reads.

    Attributes:
        history: what is known so far.
        role_spans: role spans of each replica, from its own lines.
        disks: files of each replica.
        facts: protocol of each broker.
        now: log of each replica.
        previous: role span of each replica before the present one.
    """

    def __init__(
        self,
        history: History,
        role_spans: Mapping[int, list[RoleSpan]],
        disks: Mapping[int, Disk],
        facts: Mapping[int, BrokerFacts],
    ) -> None:
        self.history, self.role_spans, self.disks, self.facts = history, role_spans, disks, facts
        self.now: dict[int, Lineage] = {}
        self.previous: dict[int, RoleSpan] = {}
        self._position = {id(one): at for spans in role_spans.values() for at, one in enumerate(spans)}

    def of(self, broker: int) -> Lineage:
        """Return the log of a replica; an unknown one if nothing is known of it."""
        return self.now.get(broker, Lineage.unknown())

    def neighbours(self, role_span: RoleSpan) -> tuple[RoleSpan | None, RoleSpan | None]:
        """Return the role spans of a replica right before and right after one, in the order of its lines."""
        spans = self.role_spans[role_span.replica]
        at = self._position[id(role_span)]
        return spans[at - 1] if at else None, spans[at + 1] if at + 1 < len(spans) else None

    def is_whole(self, broker: int) -> bool:
        """Return whether the absence of a line of a replica is proof, within its lines."""
        return self.history.coverage.whole(broker)

    def fenced(self, broker: int) -> bool:
        """Return whether a replica fetches in no other leader epoch than the one that it was given."""
        return fences(self.facts, broker)

    def found(self, broker: int, role_span: RoleSpan) -> Lineage:
        """Return the log that a role began with. Records of epochs that none of its lines name are unknown."""
        log, before = self.of(broker), self.previous.get(broker)
        if before is None:
            return log
        leaderless = any(  # only files or partition epochs show it, no member logged it
            epoch.leader is None for epoch in self.history.epochs.between(before.epoch, role_span.epoch)
        ) or self.history.coverage.unnamed_between(before.epoch, role_span.epoch)
        # It may have led in between, if its lines do not show its roles.
        unseen = leaderless or not self.history.coverage.role_lines_complete(broker, before.epoch, before.run)
        known = (unknown_from if unseen else passed_over)(self.history, before, role_span)
        last = before.last_step
        if last is not None and last.kind is StepKind.LOADED and (role_span.start_end or 0) > last.target:
            # A role begins with the log that its process loaded. Anything above came in a role that no line names.
            known = last.target if known is None else min(known, last.target)
        return log if known is None else log.known_below(known)

    def fetches_ahead(self, broker: int, leader: int) -> bool:
        """Return whether a replica may have fetched from a leader in an epoch that it had not received yet."""
        before = self.previous.get(broker)
        if before is None or before.role is not Role.FOLLOWER or before.leader != leader:
            return False
        return not self.fenced(broker)
