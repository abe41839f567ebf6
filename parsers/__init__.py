"""Readers for what Kafka brokers leave behind: bytes in, rows out, no judgement.

Nothing in this package knows of ``forensics``; it reports what the evidence says and where it says it.
"""
