"""One module for each file format that a broker leaves behind: bytes in, rows out.

A reader does no I/O: the caller opens the file and says what its name tells. It raises ``NotThisFormat`` for bytes of
another format; whatever is damaged inside its own becomes a notice with its place.
"""
