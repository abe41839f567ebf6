"""Signs: lines and files that suggest a loss or a truncation by themselves, also if nothing proves it."""
