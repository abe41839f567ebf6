"""Lines of a request log."""

from __future__ import annotations

_ANSWERED = (
    'DEBUG Completed request:{"isForwarded":false,"requestHeader":{"requestApiKey":1,'
    '"requestApiVersion":12,"correlationId":4,"clientId":"app","requestApiKeyName":"FETCH"},"request":{"replicaId":-1,'
    '"maxWaitMs":500,"minBytes":1,"maxBytes":52428800,"isolationLevel":1,"sessionId":0,"sessionEpoch":0,"topics":'
    '[{"topic":"orders","partitions":[{"partition":0,"currentLeaderEpoch":3,"fetchOffset":2,"lastFetchedEpoch":-1,'
    '"logStartOffset":-1,"partitionMaxBytes":1048576}]}],"forgottenTopicsData":[],"rackId":""},"response":'
    '{"throttleTimeMs":0,"errorCode":0,"sessionId":0,"responses":[{"topic":"orders","partitions":[{"partitionIndex":0,'
    '"errorCode":0,"highWatermark":%d,"lastStableOffset":%d,"logStartOffset":0,"abortedTransactions":[],'
    '"preferredReadReplica":-1,"recordsSizeInBytes":0}]}]},"connection":"127.0.0.1:9092-127.0.0.1:50000-0",'
    '"totalTimeMs":1.0,"requestQueueTimeMs":0.1,"localTimeMs":0.1,"remoteTimeMs":0.1,"throttleTimeMs":0,'
    '"responseQueueTimeMs":0.1,"sendTimeMs":0.1,"securityProtocol":"PLAINTEXT","principal":"User:ANONYMOUS",'
    '"listener":"PLAINTEXT","clientInformation":{"softwareName":"apache-kafka-java","softwareVersion":"3.9.1"}} '
    "(kafka.request.logger)"
)


def fetch_answered(high_watermark: int, last_stable: int) -> str:
    """The answer to a consumer with isolation.level=read_committed that fetches orders-0, as 3.9 logs it."""
    return _ANSWERED % (high_watermark, last_stable)
