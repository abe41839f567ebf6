"""``python -m forensics``."""

from __future__ import annotations

from forensics.cli import main

if __name__ == "__main__":
    main()
