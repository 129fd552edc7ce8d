"""Fixtures of servers that tests start themselves, and the end of tests that hang."""

import os
from collections.abc import Generator
from typing import Any

import pytest

from tests.services.postgres import own_postgres_server, postgres_server, postgres_url
from tests.services.watchdog import Watchdog
from tests.timeouts import TIMEOUT

__all__ = ["own_postgres_server", "postgres_server", "postgres_url"]

IS_LONG = bool(os.environ.get("TAGALONG_NEW_EXAMPLES"))
LONG = 10
"""How many times as long a long test may take."""
_ERRORS = pytest.StashKey[int]()
_WATCHDOG = pytest.StashKey[Watchdog]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_ERRORS] = os.dup(2)  # the one that pytest does not capture


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    is_long = IS_LONG or item.get_closest_marker("long") is not None
    seconds = TIMEOUT * LONG if is_long else TIMEOUT
    # Of a run of other tests too, this file may be found after the configuration.
    errors = item.config.stash.setdefault(_ERRORS, 2)
    item.stash[_WATCHDOG] = Watchdog(item.nodeid, seconds, errors)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    with item.stash[_WATCHDOG].over("setup"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    with item.stash[_WATCHDOG].over("call"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    with item.stash[_WATCHDOG].over("teardown"):
        return (yield)
