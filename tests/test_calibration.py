"""Tests of the calibration of probabilities, on real and on synthetic streams."""

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tagalong import LabelRanker, Tagger
from tagalong.readers import read

DEBTAGS = Path(os.environ.get("TAGALONG_DATA", ""), "debtags-texts.jsonl.xz")


class Calibration:
    """Predicted probabilities and true fractions of relevant labels, in ten bins of probability."""

    def __init__(self) -> None:
        self.sums = np.zeros((10, 3))

    def add(self, predicted: npt.NDArray[np.float64], right: npt.NDArray[np.bool_]) -> None:
        bins = np.minimum((predicted * 10).astype(int), 9)
        for column, values in enumerate((np.ones(len(predicted)), predicted, right)):
            self.sums[:, column] += np.bincount(bins, weights=values, minlength=10)

    @property
    def expected_error(self) -> float:
        return float(np.abs(self.sums[:, 1] - self.sums[:, 2]).sum() / self.sums[:, 0].sum())


@pytest.mark.skipif(not DEBTAGS.is_file(), reason="needs TAGALONG_DATA/debtags-texts.jsonl.xz")
def test_probabilities_on_debian_tags() -> None:
    tagger = Tagger()
    all_labels, top_labels = Calibration(), Calibration()
    sure = np.zeros(2)
    log_loss = base_loss = 0.0
    for i, item in enumerate(read(DEBTAGS)):
        if i >= 10_000:
            if i == 15_000:
                break
            suggestions = tagger.suggest(item, k=None)
            predicted = np.array([suggestion.probability for suggestion in suggestions])
            right = np.isin([str(one.label) for one in suggestions], item.labels or ())
            all_labels.add(predicted, right)
            top_labels.add(predicted[:5], right[:5])
            marked = np.array([suggestion.sure for suggestion in suggestions])
            sure += [marked.sum(), (marked & right).sum()]
            number = tagger.learner.labels.number
            counts = tagger.history.count[[number[one.label] for one in suggestions]]
            base = (counts + 0.5) / (i + 1)
            likely = np.clip(np.where(right, predicted, 1 - predicted), 1e-6, 1)
            log_loss -= np.log(likely).sum()
            base_loss -= np.log(np.where(right, base, 1 - base)).sum()
        tagger.learn(item)
    assert all_labels.expected_error <= 0.005
    assert top_labels.expected_error <= 0.02
    assert log_loss < 0.6 * base_loss
    assert sure[0] > 3000
    assert sure[1] / sure[0] >= 0.95


def test_probabilities_on_a_synthetic_stream() -> None:
    """Each word has a label, which is relevant with a known probability."""
    rng = np.random.default_rng(0)
    true_probabilities = np.array([0.9, 0.5, 0.2])
    ranker = LabelRanker(C=1.0).add_labels(["often", "half", "rarely", "rest"])
    predictions: list[list[float]] = [[], [], []]
    for i in range(4000):
        word = int(rng.integers(3))
        label = ranker.classes_[word] if rng.random() < true_probabilities[word] else "rest"
        x = ([word], [1.0])
        if i >= 2000:
            found = ranker.places_one(x).probability_matrix(4)[0]
            predictions[word].append(float(found[word]))
        ranker.learn_one(x, [label])
    assert np.mean(predictions[0]) == pytest.approx(0.9, abs=0.05)
    assert np.mean(predictions[1]) == pytest.approx(0.5, abs=0.1)
    assert np.mean(predictions[2]) == pytest.approx(0.2, abs=0.1)


def test_places_of_an_unfitted_learner() -> None:
    assert len(LabelRanker().places_one({})) == 0
    ranker = LabelRanker().add_labels(["a", "b"])
    places = ranker.places_one(([1], [1.0]))
    assert places.labels.tolist() == [[0, 1]]
    assert places.assured.tolist() == [[0, 0]]
    assert places.known.tolist() == [0]
