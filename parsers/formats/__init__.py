"""One module for each file format that a broker leaves behind: bytes in, rows out.

A reader does no I/O: the caller opens the file and passes the facts in its name. It raises ``NotThisFormat`` for bytes
of another format. Damage inside its own format becomes a notice with its place.
"""

from __future__ import annotations

from parsers.formats import (
    clean_shutdown,
    command_output,
    consumer_offsets,
    dump_log_text,
    epoch_checkpoint,
    log4j_config,
    log_directory,
    log_dirs_json,
    meta_properties,
    metadata_dump,
    metadata_log,
    metrics_json,
    metrics_text,
    offset_checkpoint,
    partition_metadata,
    producer_snapshot,
    quorum_describe,
    quorum_state,
    records,
    request_log,
    request_log_json,
    request_log_text,
    segment,
    server_properties,
    trace_jsonl,
    zookeeper_nodes,
)

FORMATS = (
    segment,
    records,
    log_directory,
    offset_checkpoint,
    epoch_checkpoint,
    partition_metadata,
    meta_properties,
    server_properties,
    clean_shutdown,
    quorum_state,
    quorum_describe,
    producer_snapshot,
    consumer_offsets,
    metadata_log,
    metadata_dump,
    request_log,
    request_log_json,
    request_log_text,
    dump_log_text,
    command_output,
    metrics_json,
    metrics_text,
    zookeeper_nodes,
    log_dirs_json,
    log4j_config,
    trace_jsonl,
)
"""Every format module. ``parsers.read`` decides which one takes a file, in the order given there."""
