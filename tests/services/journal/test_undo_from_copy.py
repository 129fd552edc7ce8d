"""Tests of ``tests/journal`` over PostgreSQL: see conftest.py for what is different."""

# ruff: noqa: F403
from tests.journal.test_undo_from_copy import *
