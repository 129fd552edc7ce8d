"""Learners that see all data at once."""
