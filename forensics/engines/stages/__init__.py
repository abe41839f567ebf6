"""The stages from files to judged partitions, as functions of frames and Arrow batches that know of no engine."""

from __future__ import annotations
