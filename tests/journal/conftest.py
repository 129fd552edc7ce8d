"""A workspace in a temporary folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tagalong.journal import Workspace
from tests.journal.examples import new_workspace


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the workspace."""
    return tmp_path / "workspace"


@pytest.fixture
def workspace(folder: Path) -> Iterator[Workspace]:
    """A new workspace with one learner."""
    with new_workspace(folder) as workspace:
        yield workspace
