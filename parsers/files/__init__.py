"""The bytes of evidence: files, streams, remote stores, and archives whose directory is missing."""
