"""Truncations and shorter loads: which records they removed at least and at most, and which were safe."""
