"""Facts about one partition as its evidence states them, before anything is inferred."""
