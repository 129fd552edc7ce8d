"""Threads that may not wait for others that read or change the model."""

import threading
from pathlib import Path
from typing import Any

import pytest

from tagalong import Tagger
from tagalong.learning import model_files, model_hash
from tests.timeouts import TIMEOUT


@pytest.fixture
def tagger() -> Tagger:
    return Tagger().learn("the invoice", ["money"]).learn("the hotel", ["travel"])


def suggested_elsewhere(tagger: Tagger) -> Any:
    """Return what another thread gets at once."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(tagger.suggest_at_once("the hotel")))
    thread.start()
    thread.join(TIMEOUT)
    return found[0]


def test_suggestions_at_once_are_those_of_suggest(tagger: Tagger) -> None:
    assert tagger.suggest_at_once("the hotel", 1, 0.9) == tagger.suggest("the hotel", 1, 0.9)
    with pytest.raises(ValueError, match="min_precision"):
        tagger.suggest_at_once("the hotel", 1, 7)
    assert suggested_elsewhere(tagger) == tagger.suggest("the hotel")  # nothing stays locked


def test_there_are_none_while_another_thread_has_the_model(tagger: Tagger) -> None:
    with tagger._lock:
        assert suggested_elsewhere(tagger) is None


@pytest.mark.parametrize("way", ["save", "hash", "method"])
def test_writing_and_hashing_hold_up_nobody(
    tagger: Tagger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    found: list[Any] = []

    def look(*args: object, **options: object) -> str:
        found.append(suggested_elsewhere(tagger))
        return ""

    monkeypatch.setattr(model_files, "save_parts", look)
    monkeypatch.setattr(model_hash, "hash_of_parts", look)
    match way:
        case "save":
            tagger.save(tmp_path / "model")
        case "hash":
            model_hash.model_hash(tagger)
        case _:
            tagger.model_hash()
    assert found == [tagger.suggest("the hotel")]
