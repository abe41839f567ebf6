"""The reader that takes a file: one module for each kind of file."""
