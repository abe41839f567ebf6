"""``state.change.logger`` of a broker: how many partitions get a role next, and that all of them have it."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import BROKER
from parsers.schema import Kind

_COUNT = r"(?P<detail>[0-9]+)"
_ALL: dict[str, int | str] = {"detail": "0"}

MESSAGES: tuple[Message, ...] = (
    Message(
        id="S-41",
        kind=Kind.ROLES_ANNOUNCED,
        literal=(
            " partition(s) to local leaders",
            " partition(s) to local followers",
        ),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.0",
                until=None,
                regex=rf"^{BROKER}Transitioning {_COUNT} partition\(s\) to local leaders",
                source_ref="3.6.2 ReplicaManager:2600",
                examples=(
                    Example(
                        "[Broker id=1] Transitioning 1 partition(s) to local leaders.",
                        ({"detail": "1", "witness": 1},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until=None,
                regex=rf"^{BROKER}Transitioning {_COUNT} partition\(s\) to local followers",
                source_ref="3.6.2 ReplicaManager:2630",
                examples=(
                    Example(
                        "[Broker id=2] Transitioning 1 partition(s) to local followers.",
                        ({"detail": "1", "witness": 2},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="S-43",
        kind=Kind.ROLES_ANNOUNCED,
        literal="] Handling LeaderAndIsr request correlationId ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.6",
                until="3.9",
                regex=(
                    rf"^{BROKER}Handling LeaderAndIsr request correlationId -?[0-9]+ from controller -?[0-9]+ for "
                    rf"{_COUNT} partitions"
                ),
                source_ref="2.6.3 ReplicaManager:1236",
                examples=(
                    Example(
                        "[Broker id=2] Handling LeaderAndIsr request correlationId 1 from controller 9 for 1 "
                        "partitions",
                        ({"detail": "1", "witness": 2},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="S-42",
        kind=Kind.ROLES_ANNOUNCED,
        literal=("Finished LeaderAndIsr request in ", "Started fetchers as part of become-follower for "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until="3.9",
                regex=rf"^{BROKER}Finished LeaderAndIsr request in ",
                source_ref="3.6.2 ReplicaManager:1947",
                fixed=_ALL,
                examples=(
                    Example(
                        "[Broker id=2] Finished LeaderAndIsr request in 114ms correlationId 1 from controller 9 for 1 "
                        "partitions",
                        ({"detail": "0", "witness": 2},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until=None,
                regex=rf"^{BROKER}Started fetchers as part of become-follower for ",
                source_ref="3.6.2 ReplicaManager:2717",
                fixed=_ALL,
                examples=(
                    Example(
                        "[Broker id=1] Started fetchers as part of become-follower for 1 partitions",
                        ({"detail": "0", "witness": 1},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
)
