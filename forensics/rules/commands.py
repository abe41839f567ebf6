"""Commands of Kafka for an operator, by release: no command is advised that the cluster's release does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from forensics.case import Case, addresses
from forensics.case.brokers import Release
from forensics.replay.history import History
from forensics.replay.protocol import Answer, Releases, within
from forensics.rules.finding import Action


class Tool(Enum):
    """Something that a command of Kafka does."""

    DESCRIBE = "shows leader and ISR of a topic"
    ELECT_UNCLEAN = "lets a replica from outside the ISR lead"
    RESET_OFFSETS = "sets a consumer group to another position"
    SHOW_POSITIONS = "shows the positions of consumer groups"
    FORBID_UNCLEAN = "lets only replicas in the ISR lead a topic"


@dataclass(frozen=True, slots=True)
class Form:
    """A command as some releases have it.

    Attributes:
        releases: those releases.
        command: the command, with places for values in braces.
        instead: what differs from the newest form, for evidence that does not show the release; "" for nothing.
        undo: the command that takes back what this one set, once it has worked; "" for nothing to take back.
    """

    releases: Releases
    command: str
    instead: str = ""
    undo: str = ""


_BROKER, _ZOOKEEPER = "--bootstrap-server {broker}", "--zookeeper {zookeeper}"
_TOPICS = "kafka-topics.sh {at} --describe --topic {{topic}}"
_ALTER = "kafka-configs.sh {at} --alter --entity-type topics --entity-name {{topic}} "
_CONFIG = _ALTER.format(at=_ZOOKEEPER)
_FORBID = "--add-config unclean.leader.election.enable=false"
_GROUPS = f"kafka-consumer-groups.sh {_BROKER}"

FORMS: Mapping[Tool, tuple[Form, ...]] = MappingProxyType(
    {
        Tool.DESCRIBE: (  # KIP-377
            Form(Releases((2, 2), None), _TOPICS.format(at=_BROKER)),
            Form(
                Releases(None, (2, 2)),
                _TOPICS.format(at=_ZOOKEEPER),
                instead=f"before Kafka 2.2: {_ZOOKEEPER} in place of {_BROKER}",
            ),
        ),
        Tool.ELECT_UNCLEAN: (  # KIP-460; before it, the setting of the topic (KIP-106)
            Form(
                Releases((2, 4), None),
                f"kafka-leader-election.sh {_BROKER} --election-type UNCLEAN --topic {{topic}} "
                "--partition {partition}",
            ),
            Form(
                Releases(None, (2, 4)),
                f"{_CONFIG}--add-config unclean.leader.election.enable=true",
                instead="before Kafka 2.4: set unclean.leader.election.enable=true for the topic",
                undo=f"{_CONFIG}--delete-config unclean.leader.election.enable",
            ),
        ),
        Tool.RESET_OFFSETS: (  # KIP-122; before it, an application has to seek
            Form(
                Releases((0, 11), None),
                f"kafka-consumer-groups.sh {_BROKER} --group {{group}} --topic {{topic}}:{{partition}} --reset-offsets "
                "--to-offset {offset} --dry-run",
            ),
        ),
        Tool.SHOW_POSITIONS: (  # --all-groups: KIP-175, KAFKA-7471
            Form(Releases((2, 4), None), f"{_GROUPS} --describe --all-groups"),
            Form(
                Releases((0, 11), (2, 4)),
                f"{_GROUPS} --describe --group {{group}}",
                instead="before Kafka 2.4: --group GROUP in place of --all-groups",
            ),
        ),
        Tool.FORBID_UNCLEAN: (  # KIP-543
            Form(Releases((2, 5), None), _ALTER.format(at=_BROKER) + _FORBID),
            Form(
                Releases(None, (2, 5)),
                _ALTER.format(at=_ZOOKEEPER) + _FORBID,
                instead=f"before Kafka 2.5: {_ZOOKEEPER} in place of {_BROKER}",
            ),
        ),
    }
)
"""The forms of each command, the newest first."""


def form_for(tool: Tool, history: History, case: Case) -> tuple[Form | None, str]:
    """Return the command that a partition's brokers have, and what differs if their release is not known.

    Returns:
        The form of a release that is known, the newest first, None if there is none; and the differences of the others
        that may hold instead, in words.
    """
    known = [node.release for broker in sorted(history.members) if (node := case.brokers.get(broker)) is not None]
    releases = {one for one in known if one is not None}
    if history.protocol.kraft and not releases:
        releases = {(3, 0)}  # KIP-500: earlier ones have KRaft for tests alone
    fitting = [form for form in FORMS[tool] if _fits(form, releases)]
    others = "; ".join(form.instead for form in fitting[1:] if form.instead)
    return (fitting[0] if fitting else None), others.format(**_addresses(case))


def step(text: str, found: tuple[Form | None, str], case: Case, **values: object) -> Action:
    """Return a step with its command, and with what differs in other releases; without a command if there is none.

    Args:
        text: what to do, as an imperative.
        found: of ``form_for``.
        case: the case.
        values: of the command, by the names of their places.
    """
    form, others = found
    if form is None:
        return Action(text)
    return Action(f"{text}{f' ({others})' if others else ''}:", filled(form.command, case, **values))


def filled(command: str, case: Case, **values: object) -> str:
    """Return a command of a form with its values, and with the addresses of the cluster.

    Args:
        command: a form's ``command`` or ``undo``.
        case: the case.
        values: the other values, by the names of their places.
    """
    return command.format(**values, **_addresses(case))


def _addresses(case: Case) -> dict[str, str]:
    """Return the addresses that the first broker states which states any; else words that stand for them.

    They are the same for all partitions, so that equal advice stays equal.
    """
    settings = [node.settings for _, node in sorted(case.brokers.items()) if not node.only_controls]
    return {
        "broker": next(filter(None, map(addresses.of_broker, settings)), "HOST:9092"),
        "zookeeper": next(filter(None, map(addresses.of_zookeeper, settings)), "HOST:2181"),
    }


def _fits(form: Form, releases: Iterable[Release]) -> bool:
    """Return whether one of the known releases has a form; any may, if none is known."""
    known = list(releases)
    return not known or any(within([form.releases], one) is not Answer.NO for one in known)
