"""Fixtures of the benchmark tests."""

import pytest

from benchmarks import contest, scaling, turns


@pytest.fixture(autouse=True)
def skip_turn_preparation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the slow preparation of turns: tests measure nothing."""
    for module in (turns, contest, scaling):
        monkeypatch.setattr(module, "prepare_turn", lambda memory=0: None)
