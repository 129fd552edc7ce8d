"""Tests of ``tests/journal`` over PostgreSQL: see conftest.py for what is different."""

# ruff: noqa: F403
from tests.journal.test_answers import *
from tests.journal.test_closing import *
from tests.journal.test_content_features import *
from tests.journal.test_group_commit import *
from tests.journal.test_idempotency import *
from tests.journal.test_items import *
from tests.journal.test_settings import *
from tests.journal.test_views import *
