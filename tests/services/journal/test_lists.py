"""Tests of ``tests/journal`` over PostgreSQL: see conftest.py for what is different."""

# ruff: noqa: F403
from tests.journal.test_pages import *
from tests.journal.test_service_methods import *
