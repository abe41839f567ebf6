"""Makes the documentation site from docs/, the code and the samples; mkdocs.yml calls ``hooks``."""

from __future__ import annotations
