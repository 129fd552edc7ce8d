"""Changed model files are refused or work; the fuzzer itself notices what it should."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tests.fuzz import models
from tests.fuzz.model_mutations import mutated
from tests.fuzz.model_seeds import seeds


@pytest.fixture(scope="module")
def originals() -> Any:
    if not models.ORIGINALS:
        models.ORIGINALS.update(seeds())
    return models.ORIGINALS


def test_every_original_works(originals: Any, tmp_path: Path) -> None:
    for name, contents in originals.items():
        assert models.outcome(tmp_path / "model.tagalong", contents) == "used", name


@pytest.mark.parametrize("cases", [1000, pytest.param(100_000, marks=pytest.mark.long)])
def test_changed_files_are_refused_or_work(originals: Any, cases: int) -> None:
    found = models.fuzz(seed=20, cases=cases, seconds=float("inf"))
    assert sum(map(len, found.values())) == cases
    assert len(found["refused"]) > cases / 2
    assert len(found["used"]) > cases / 10
    assert set(found) <= set(models.GOOD)


def test_a_case_follows_from_seed_and_number(originals: Any) -> None:
    name, (header, arrays) = models.changed_contents(originals, 7, 3)
    again, (same_header, same_arrays) = models.changed_contents(originals, 7, 3)
    assert (name, repr(header), repr(arrays)) == (again, repr(same_header), repr(same_arrays))


def test_changes_differ_from_the_original(originals: Any) -> None:
    contents = originals["label_ranker-format4"]
    random = np.random.default_rng(1)
    changed = [repr(mutated(contents, random)) for _ in range(50)]
    assert sum(each != repr(contents) for each in changed) > 40
    assert len(set(changed)) > 40


@pytest.mark.parametrize("fault", ["crash", "hang", "error"])
def test_a_fault_is_reported(originals: Any, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    def load(path: Path, **options: Any) -> Any:
        if fault == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        while fault == "hang":
            pass
        raise IndexError("out of range")

    monkeypatch.setattr(tagalong, "load", load)
    monkeypatch.setattr(models, "HANGS_AFTER", 0.5)
    words = {"crash": "crashed with exit status -9", "hang": "hung", "error": "IndexError"}
    found = models.fuzz(seed=1, cases=2, seconds=60)
    assert sum(len(cases) for result, cases in found.items() if words[fault] in result) == 2
