"""Naive reference implementations of the native learners, written directly from the formulas."""
