"""Collecting of evidence: files of a host packed without the users' records, and a script for a whole cluster."""
