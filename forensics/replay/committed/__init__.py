"""Committed records: which were, which of them are lost, and which replicas still hold them."""
