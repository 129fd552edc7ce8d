"""Batch learners: models fitted to all rows at once."""
