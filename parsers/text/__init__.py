"""From the text of a log to observations: lines, layouts, wrappings and times, and the catalogue applied to them."""
