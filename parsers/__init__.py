"""Readers for the files that Kafka brokers leave behind: bytes in, rows out, no judgement.

Nothing in this package uses ``forensics``; it reports the content of the evidence and its position.
"""
