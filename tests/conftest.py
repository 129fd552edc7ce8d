"""Settings of all tests."""

import fcntl
import importlib.util
import os
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# There is no deadline, because the time of an example depends on the machine. All runs use the
# same examples, so that failures are reproducible; "make test-long" generates new ones.
settings.register_profile(
    "tagalong",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not os.environ.get("TAGALONG_NEW_EXAMPLES"),
)
settings.load_profile("tagalong")

# A shell starts background processes with SIGINT ignored, but some tests raise it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def has_bytecode(package: str) -> bool:
    """Return whether the bytecode of a package is on disk from an earlier import."""
    spec = importlib.util.find_spec(package)
    origin = spec.origin if spec is not None else None
    return origin is not None and Path(importlib.util.cache_from_source(origin)).exists()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist whether modules still have to be compiled to bytecode."""
    node.workerinput["in_turn"] = not has_bytecode("sklearn")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Let workers collect one after the other if there is no bytecode yet.

    All workers import the same modules. If they collected at the same time, each of them would
    compile all modules.
    """
    if not getattr(session.config, "workerinput", {}).get("in_turn", False):
        return (yield)
    with open(__file__, encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return (yield)
