"""Naive twins of the native learners, written straight from the formulas."""
