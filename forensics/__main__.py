"""``python -m forensics``, and the command of an installation."""

from __future__ import annotations

from forensics.starting import end_at_once


def main() -> None:
    """Run the command line; a signal that comes while it is loaded ends the process too."""
    end_at_once()
    from forensics.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
