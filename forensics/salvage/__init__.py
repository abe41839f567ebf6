"""Records of a partition out of the copies that still have them: as segments, byte for byte, and as JSON lines."""
