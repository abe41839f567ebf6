"""A ZooKeeper-mode controller in controller.log: itself, and which brokers it sees come and go."""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import CONTROLLER
from parsers.schema import Kind

_BROKERS = Each(r"(?: for |brokers |,)(?P<replica>[0-9]+)")

MESSAGES: tuple[Message, ...] = (
    Message(
        id="C-27",
        kind=Kind.CONTROLLER_ACTIVE,
        literal="eady to serve as the new controller with epoch ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="3.9",
                regex=(
                    r"^\[Controller (?:id=)?(?P<witness>(?P<replica>[0-9]+))\]:? (?:Broker [0-9]+ is r|R)eady to "
                    r"serve as the new controller with epoch (?P<detail>[0-9]+)"
                ),
                source_ref="0.10.2.2 KafkaController, 2.4.1 KafkaController",
                examples=(
                    Example(
                        "[Controller 9]: Broker 9 is ready to serve as the new controller with epoch 1",
                        ({"witness": 9, "replica": 9, "detail": "1"},),
                        "real",
                    ),
                    Example(
                        "[Controller id=9] Ready to serve as the new controller with epoch 1",
                        ({"witness": 9, "replica": 9, "detail": "1"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-28",
        kind=Kind.BROKER_FENCED,
        literal="Broker failure callback for ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="3.9",
                regex=(rf"^{CONTROLLER}Broker failure callback for "),
                source_ref="3.6.2 KafkaController:636",
                each=(_BROKERS,),
                own_row=False,
                examples=(
                    Example(
                        "[Controller id=9] Broker failure callback for 2,3",
                        ({"witness": 9, "replica": 2}, {"witness": 9, "replica": 3}),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-28a",
        kind=Kind.BROKER_REGISTERED,
        literal="New broker startup callback for ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="3.9",
                regex=(rf"^{CONTROLLER}New broker startup callback for "),
                source_ref="3.6.2 KafkaController:573",
                each=(_BROKERS,),
                own_row=False,
                examples=(
                    Example(
                        "[Controller id=9] New broker startup callback for 1,2",
                        ({"witness": 9, "replica": 1}, {"witness": 9, "replica": 2}),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-31",
        kind=Kind.DIR_FAILED,
        literal="Handling log directory failure for brokers ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.2",
                until="3.9",
                regex=(rf"^{CONTROLLER}Handling log directory failure for brokers "),
                source_ref="3.6.2 KafkaController:553",
                each=(_BROKERS,),
                own_row=False,
                examples=(
                    Example(
                        "[Controller id=9] Handling log directory failure for brokers 1",
                        ({"witness": 9, "replica": 1},),
                        "real",
                    ),
                    Example("[Controller id=9] Handling log directory failure for brokers ", (), "real"),
                ),
            ),
        ),
    ),
)
"""The controller and the brokers."""
