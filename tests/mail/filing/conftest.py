"""Fixtures: Maildirs with labelled messages."""

import os
import shutil
from pathlib import Path

import pytest

from tests.mail.filing.maildirs import EACH, TOPICS, Mail


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """Template Maildirs, keyed by whether folders are nested."""
    found: dict[bool, Path] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        for nested in (False, True):
            found[nested] = tmp_path_factory.mktemp("filled") / "Mail"
            Mail(found[nested], nested).fill(EACH)
    return found


@pytest.fixture(params=["dotted", "nested"])
def mail(tmp_path: Path, filled: dict[bool, Path], request: pytest.FixtureRequest) -> Mail:
    nested = request.param == "nested"
    shutil.copytree(filled[nested], tmp_path / "Mail")
    return Mail(tmp_path / "Mail", nested, first=EACH * len(TOPICS) + 1)


@pytest.fixture
def one(tmp_path: Path, filled: dict[bool, Path]) -> Mail:
    """A Maildir for tests that do not depend on the nesting style."""
    shutil.copytree(filled[False], tmp_path / "Mail")
    return Mail(tmp_path / "Mail", first=EACH * len(TOPICS) + 1)
