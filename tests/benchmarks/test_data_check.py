"""Loading warns of mixed-up labels: never for the data sets here, always for RCV1 as it was."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import streams
from benchmarks.data_check import FaultyData, warn_of_grades
from experiments.p4 import sets
from tagalong.readers import Item

DATA = os.environ.get(streams.DATA_VARIABLE)
needs_data = pytest.mark.skipif(DATA is None, reason=f"{streams.DATA_VARIABLE} is not set")
FROM_FILES = [name for name in streams.names() if name not in ("pydocs", "sections", "source")]


@needs_data
@pytest.mark.parametrize("name", FROM_FILES)
def test_the_data_sets_here_are_sound(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", FaultyData)
        assert streams.load(name).rows > 0


@needs_data
@pytest.mark.parametrize("name", ["rcv1", "mediamill", "tmc2007", "yeast"])
def test_training_and_test_sets_fit_together(name: str) -> None:
    sets.load.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error", FaultyData)
        assert len(sets.load(name).test.Y) > 0


def faulty_rcv1(folder: Path, file: str, shift: int) -> None:
    """Write a file with RCV1's fault of 2026: from row 3,000 on, the first labels are features."""
    with np.load(Path(DATA or "", "rcv1", file)) as sound:
        parts = dict(sound)
    shape = tuple(parts["shape"])
    X: Any = sp.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=shape).tolil()
    Y = parts["Y"].copy()
    X[3000:, shape[1] - shift :] = Y[3000:, :shift]
    Y[3000:] = np.hstack([Y[3000:, shift:], np.zeros((len(Y) - 3000, shift), Y.dtype)])
    X = X.tocsr()
    parts |= {"data": X.data, "indices": X.indices, "indptr": X.indptr, "Y": Y}
    (folder / "rcv1").mkdir(exist_ok=True)
    np.savez(folder / "rcv1" / file, **parts)


@needs_data
@pytest.mark.parametrize(
    ("stream", "file", "shift"), [("rcv1", "rcv1sub1.npz", 1), ("rcv1-sub2", "rcv1sub2.npz", 12)]
)
def test_rcv1_as_it_was_would_have_been_found(
    stream: str, file: str, shift: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty_rcv1(tmp_path, file, shift)
    monkeypatch.setenv(streams.DATA_VARIABLE, str(tmp_path))
    with pytest.warns(FaultyData) as found:
        streams.load(stream)
    messages = [str(warning.message) for warning in found]
    assert any(
        text.startswith(f"the data set {stream}: from row 3,000 on, labels seem to have moved")
        for text in messages
    )


@needs_data
def test_rcv1_as_it_was_would_have_been_found_as_training_and_test_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both files were shifted inside, which their border does not show."""
    faulty_rcv1(tmp_path, "rcv1sub1.npz", 1)
    faulty_rcv1(tmp_path, "rcv1sub2.npz", 12)
    monkeypatch.setenv(streams.DATA_VARIABLE, str(tmp_path))
    sets.load.cache_clear()
    with pytest.warns(FaultyData) as found:
        sets.load("rcv1")
    sets.load.cache_clear()
    opening = "the data set rcv1 (the test set begins at row 6,000): "
    for text in ("from row 3,000 on, labels seem", "from row 9,000 on, labels seem"):
        assert any(str(warning.message).startswith(opening + text) for warning in found)


def test_streams_of_texts_are_checked() -> None:
    """The labels of the later half are those of other topics."""
    rng = np.random.default_rng(0)
    items = []
    for row in range(6_000):
        topic = int(30 * rng.random() ** 2)
        label = topic if row < 3_000 else (topic + 10) % 30
        words = [f"w{topic}x{rng.integers(9)}" for _ in range(8)]
        items.append(Item(str(row), " ".join(words), labels=(f"{label:02}",)))
    with pytest.warns(FaultyData, match="the data set mail: from row 3,000 on, labels seem to"):
        streams.from_texts("mail", items)


def test_grades_among_the_features_are_found() -> None:
    rng = np.random.default_rng(0)
    X, grades = rng.normal(size=(400, 5)), rng.integers(0, 4, 400)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FaultyData)
        warn_of_grades("queries", X, grades, border=300)
    leaking = np.column_stack([X, grades])
    with pytest.warns(FaultyData, match="feature '5' equals label 'at least grade 1' in rows 0"):
        warn_of_grades("queries", leaking, grades, border=300)
