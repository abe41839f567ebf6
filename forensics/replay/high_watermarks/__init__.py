"""High watermarks: the log of which epoch each of them is about, and where lines and files contradict it."""
