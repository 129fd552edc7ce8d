"""Reproduction of the papers' tables and figures; README.md says how to add one."""
