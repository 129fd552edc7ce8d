"""One writer and many readers of every model, in a build with ThreadSanitizer."""
