"""Complete traces, line by line: the log of each replica, and what its lines decide."""
