"""Where each message is logged, and what it says beside its kind."""

from __future__ import annotations

from parsers.messages import MESSAGES, consumer, exceptions, failures, producers, quorum_failures
from parsers.messages.catalogue import Says
from parsers.messages.logs import LOG_OF, LOGS, SAYS, WITH_ZOOKEEPER, Log
from parsers.schema import Kind

ANYWHERE = {
    message.id for family in (consumer, exceptions, failures, producers, quorum_failures) for message in family.MESSAGES
}
"""Messages that any part of Kafka may log, or that no broker does."""


def test_every_message_that_gives_rows_has_a_log() -> None:
    gives = {m.id for m in MESSAGES if any(variant.own_row or variant.each for variant in m.variants)}
    assert gives - ANYWHERE <= set(LOG_OF)
    assert not ANYWHERE & set(LOG_OF)


def test_no_message_has_two_logs() -> None:
    ids = [message.id for _, families in LOGS for messages in families for message in messages]
    assert len(ids) == len(set(ids))


def test_messages_that_differ_from_their_family() -> None:
    assert (LOG_OF["C-02"], LOG_OF["C-03c"]) == (Log.STATE_CHANGE, Log.SERVER)
    assert (LOG_OF["S-22"], LOG_OF["V-09"]) == (Log.STATE_CHANGE, Log.SERVER)


def test_what_messages_say() -> None:
    kinds = {message.id: message.kind for message in MESSAGES}
    assert {kinds[one] for one in SAYS[Says.SENT]} == {Kind.LEADER_AND_ISR, Kind.ROLE_SENT}
    assert {kinds[one] for one in SAYS[Says.OWN_EPOCH]} == {Kind.BROKER_REGISTERED}
    assert all(SAYS[one] for one in Says)
    assert "O-24" not in WITH_ZOOKEEPER
    assert {"C-04", "O-20"} < WITH_ZOOKEEPER
