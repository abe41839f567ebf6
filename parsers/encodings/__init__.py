"""Encodings that several formats share: checkpoint files, properties, record batches, KRaft records."""
