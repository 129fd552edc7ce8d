"""Foundations of every file format: its description with options, and compressed byte streams."""
