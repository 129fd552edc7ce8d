"""One view of the page per file."""
