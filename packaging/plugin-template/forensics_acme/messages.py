"""Lines that ACME's brokers print beside those of Kafka."""

from __future__ import annotations

from forensics.plugins import Example, Kind, Message, Variant

MESSAGES = (
    Message(
        id="ACME-01",
        kind=Kind.PLUGIN,
        literal="ACME volume ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="3.0",
                until=None,
                regex=(
                    r"^ACME volume (?P<detail>[^ ]+ detached) under partition (?P<tp>[^ ]+) "
                    r"at offset (?P<offset>[0-9]+)"
                ),
                source_ref="ACME 3.9.1-acme2 VolumeWatcher",
                examples=(
                    Example(
                        "ACME volume vol-7 detached under partition orders-0 at offset 50",
                        ({"detail": "vol-7 detached", "topic": "orders", "partition": 0, "offset": 50},),
                    ),
                ),
            ),
        ),
    ),
)
