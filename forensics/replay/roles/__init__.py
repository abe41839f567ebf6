"""One replica's own lines, divided into role spans: one role in one leader epoch each, and where its log ended."""
