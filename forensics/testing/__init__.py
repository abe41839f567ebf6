"""The test kit for plugins: pytest loads it from its entry point. docs/plugins.md explains it."""

from __future__ import annotations
