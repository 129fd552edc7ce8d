"""What holds for the tests of benchmarks."""

import pytest

from benchmarks import contest, scaling, turns


@pytest.fixture(autouse=True)
def nothing_to_get_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what takes long before a turn: tests measure nothing."""
    for module in (turns, contest, scaling):
        monkeypatch.setattr(module, "get_ready", lambda memory=0: None)
