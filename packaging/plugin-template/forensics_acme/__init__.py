"""What ACME's brokers leave behind, for forensics."""

from __future__ import annotations
