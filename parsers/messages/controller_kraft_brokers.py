"""The KRaft controller (``org.apache.kafka.controller``): itself, and the brokers it registers and fences."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import QUORUM_CONTROLLER
from parsers.schema import Kind

MESSAGES: tuple[Message, ...] = (
    Message(
        id="K-07",
        kind=Kind.BROKER_FENCED,
        literal="because its session has timed out",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}Fencing broker (?P<replica>[0-9]+) (?:at epoch (?P<offset>-?[0-9]+) "
                    rf")?because its session has timed out"
                ),
                source_ref="3.6.2 ReplicationControlManager:1487, 4.1.1 ReplicationControlManager",
                examples=(
                    Example(
                        "[QuorumController id=100] Fencing broker 1 because its session has timed out.",
                        ({"witness": 100, "replica": 1},),
                        "real",
                    ),
                    Example(
                        "[QuorumController id=100] Fencing broker 1 at epoch 15 because its session has timed out.",
                        ({"witness": 100, "replica": 1, "offset": 15},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="K-12",
        kind=Kind.BROKER_REGISTERED,
        literal=(
            "Registered new broker: ",
            "Re-registered broker ",
            "RegisterBrokerRecord for broker ",
            "Replayed RegisterBrokerRecord establishing a new incarnation of broker ",
            "Replayed RegisterBrokerRecord modifying the registration for broker ",
        ),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}(?:Registered new broker|Re-registered broker|Replayed (?:initial "
                    rf")?RegisterBrokerRecord ).*?brokerId=(?P<replica>[0-9]+),.* brokerEpoch=(?P<offset>[0-9]+)"
                ),
                source_ref="3.3.2 ClusterControlManager:416, 3.6.2 ClusterControlManager:443",
                examples=(
                    Example(
                        "[QuorumController id=100] Replayed initial RegisterBrokerRecord for broker 1: "
                        "RegisterBrokerRecord(brokerId=1, isMigratingZkBroker=false, "
                        "incarnationId=Ahs1g6srQ8qRmRZSsWBlWQ, brokerEpoch=9, "
                        "endPoints=[BrokerEndpoint(name='PLAINTEXT', host='127.0.0.1', port=21001, "
                        "securityProtocol=0)], features=[BrokerFeature(name='kraft.version', minSupportedVersion=0, "
                        "maxSupportedVersion=1), BrokerFeature(name='metadata.version', minSupportedVersion=1, "
                        "maxSupportedVersion=21)], rack=null, fenced=true, inControlledShutdown=false, "
                        "logDirs=[6hg3bIHkcuwUxuS3431jFw])",
                        ({"witness": 100, "replica": 1, "offset": 9},),
                        "real",
                    ),
                    Example(
                        "[QuorumController id=100] Replayed RegisterBrokerRecord establishing a new incarnation of "
                        "broker 2: RegisterBrokerRecord(brokerId=2, isMigratingZkBroker=false, "
                        "incarnationId=mfp9xJZjSdW7SLJgwjzGaA, brokerEpoch=78, "
                        "endPoints=[BrokerEndpoint(name='PLAINTEXT', host='127.0.0.1', port=19002, "
                        "securityProtocol=0)], rack=null, fenced=true)",
                        ({"witness": 100, "replica": 2, "offset": 78},),
                    ),
                    Example(
                        "[Controller 1] Re-registered broker incarnation: RegisterBrokerRecord(brokerId=2, "
                        "incarnationId=mfp9xJZjSdW7SLJgwjzGaA, brokerEpoch=80, endPoints=[], features=[], rack=null, "
                        "fenced=true)",
                        ({"witness": 1, "replica": 2, "offset": 80},),
                    ),
                    Example(
                        "[QuorumController id=100] Replayed RegisterBrokerRecord modifying the registration for "
                        "broker 2: RegisterBrokerRecord(brokerId=2, isMigratingZkBroker=false, "
                        "incarnationId=mfp9xJZjSdW7SLJgwjzGaA, brokerEpoch=80, endPoints=[], features=[], rack=null, "
                        "fenced=true)",
                        ({"witness": 100, "replica": 2, "offset": 80},),
                    ),
                    Example(
                        "[Controller 1] Registered new broker: RegisterBrokerRecord(brokerId=2, "
                        "incarnationId=mfp9xJZjSdW7SLJgwjzGaA, brokerEpoch=78, endPoints=[], features=[], rack=null, "
                        "fenced=true)",
                        ({"witness": 1, "replica": 2, "offset": 78},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="K-12a",
        kind=Kind.BROKER_FENCED,
        literal="Replayed BrokerRegistrationChangeRecord modifying the registration for broker ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.6",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}Replayed BrokerRegistrationChangeRecord modifying the registration for "
                    rf"broker (?P<replica>[0-9]+): .*brokerEpoch=(?P<offset>[0-9]+), fenced=1,"
                ),
                source_ref="3.6.2 ClusterControlManager:528",
                examples=(
                    Example(
                        "[QuorumController id=100] Replayed BrokerRegistrationChangeRecord modifying the "
                        "registration for broker 1: BrokerRegistrationChangeRecord(brokerId=1, brokerEpoch=10, "
                        "fenced=1, inControlledShutdown=0, logDirs=[])",
                        ({"witness": 100, "replica": 1, "offset": 10},),
                        "real",
                    ),
                ),
            ),
            # Unfenced, or in controlled shutdown.
            Variant(
                since="3.6",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}Replayed BrokerRegistrationChangeRecord modifying the registration for "
                    rf"broker [0-9]+: "
                ),
                source_ref="3.6.2 ClusterControlManager:528",
                own_row=False,
                examples=(
                    Example(
                        "[QuorumController id=100] Replayed BrokerRegistrationChangeRecord modifying the "
                        "registration for broker 1: BrokerRegistrationChangeRecord(brokerId=1, brokerEpoch=10, "
                        "fenced=-1, inControlledShutdown=0, logDirs=[])",
                        (),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="K-14",
        kind=Kind.CONTROLLER_ACTIVE,
        literal=("Becoming the active controller at epoch ", "Becoming active at controller epoch "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until=None,
                regex=(
                    r"^\[(?:QuorumController id=|Controller )(?P<witness>(?P<replica>[0-9]+))\] Becoming (?:the "
                    r"active controller at epoch|active at controller epoch) (?P<detail>[0-9]+)"
                ),
                source_ref="3.3.2 QuorumController:1072, 3.9 QuorumController:1172",
                examples=(
                    Example(
                        "[Controller 1] Becoming active at controller epoch 4.",
                        ({"witness": 1, "replica": 1, "detail": "4"},),
                    ),
                    Example(
                        "[QuorumController id=100] Becoming the active controller at epoch 1, next write offset 1.",
                        ({"witness": 100, "replica": 100, "detail": "1"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
)
"""The controller and the brokers."""
