"""The setting that allows an election from outside the ISR, as far as the evidence shows it."""

from __future__ import annotations

from typing import Final

from forensics.case import Case
from forensics.replay.history import History
from forensics.rules.causes import CauseId
from forensics.rules.commands import Tool, form_for, step
from forensics.rules.finding import TOPIC, Action, Fact, States

SETTING: Final = "unclean.leader.election.enable"


def was_allowed(history: History) -> bool:
    """Return whether a line states that the topic allowed unclean elections when its log was created."""
    return history.facts.properties.get(SETTING, "").strip().lower() == "true"


def allowed_facts(history: History, cause: CauseId) -> tuple[Fact, ...]:
    """Return the setting of the topic that allowed an election, if one is the cause and a line states the setting."""
    if cause not in (CauseId.UNCLEAN_ELECTION, CauseId.FORCED_ELECTION) or not was_allowed(history):
        return ()
    refs = (history.facts.properties_ref,) if history.facts.properties_ref is not None else ()
    return (Fact(f"{SETTING} was true for the topic", refs=refs, states=States.CONTEXT),)


def forbidden(history: History, case: Case, cause: CauseId) -> tuple[Action, ...]:
    """Return the step that turns unclean elections off for a topic, if one is the cause and a line states the setting.

    A command elects whatever the setting is.
    """
    allowed = cause is CauseId.UNCLEAN_ELECTION and history.origin.of_kafka and was_allowed(history)
    return (forbid(history, case),) if allowed else ()


def forbid(history: History, case: Case) -> Action:
    """Return the step that turns unclean elections off for a topic that allowed them."""
    text = f"set {SETTING}=false for topic {TOPIC}, if data matters more than availability"
    return step(text, form_for(Tool.FORBID_UNCLEAN, history, case), case, topic=TOPIC)


def check(history: History, case: Case) -> str | Action:
    """Return what to do about the setting: to change it if it is known to have been true, else to look at it.

    A command can force the election from 2.4 on (KIP-460).
    """
    if not history.origin.of_kafka:
        return "find out which setting or command let a replica from outside the ISR lead"
    if was_allowed(history):
        return forbid(history, case)
    return (
        f"check {SETTING} of the topic and of the brokers. If it was false, a command forced the election (KIP-460, "
        "2.4 and later)"
    )
