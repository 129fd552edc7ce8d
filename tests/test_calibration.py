"""Probabilities mean what they say, on a real stream."""

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tagalong import LabelRanker, Tagger
from tagalong.readers import read

DEBTAGS = Path(os.environ.get("TAGALONG_DATA", ""), "debtags-texts.jsonl.xz")


class Calibration:
    """Claimed and true shares of right labels, in ten bins of the claim."""

    def __init__(self) -> None:
        self.sums = np.zeros((10, 3))

    def add(self, claimed: npt.NDArray[np.float64], right: npt.NDArray[np.bool_]) -> None:
        bins = np.minimum((claimed * 10).astype(int), 9)
        for column, values in enumerate((np.ones(len(claimed)), claimed, right)):
            self.sums[:, column] += np.bincount(bins, weights=values, minlength=10)

    @property
    def expected_error(self) -> float:
        return float(np.abs(self.sums[:, 1] - self.sums[:, 2]).sum() / self.sums[:, 0].sum())


@pytest.mark.skipif(not DEBTAGS.is_file(), reason="needs TAGALONG_DATA/debtags-texts.jsonl.xz")
def test_probabilities_on_debian_tags() -> None:
    tagger = Tagger()
    everything, head = Calibration(), Calibration()
    sure = np.zeros(2)
    log_loss = base_loss = 0.0
    for i, item in enumerate(read(DEBTAGS)):
        if i >= 15145:  # the second half
            scores, _ = tagger.learner.score_one(tagger.features.read(item))
            claimed = tagger.learner.probabilities(scores)
            right = np.isin(tagger.labels, item.labels)
            everything.add(claimed, right)
            top = np.argsort(-scores, kind="stable")[:5]
            head.add(claimed[top], right[top])
            marked = claimed >= 0.95
            sure += [marked.sum(), (marked & right).sum()]
            base = (tagger.history.count + 0.5) / (i + 1)
            log_loss -= np.log(np.where(right, claimed, 1 - claimed)).sum()
            base_loss -= np.log(np.where(right, base, 1 - base)).sum()
        tagger.learn(item)
    assert everything.expected_error <= 0.005
    assert head.expected_error <= 0.03
    assert log_loss < 0.6 * base_loss
    assert sure[0] > 1000
    assert sure[1] / sure[0] >= 0.95


def test_probabilities_on_a_stream_whose_truth_is_known() -> None:
    """A label comes with its word, but only with a certain probability."""
    rng = np.random.default_rng(0)
    chances = np.array([0.9, 0.5, 0.2])
    ranker = LabelRanker(C=1.0).add_labels(["often", "half", "rarely", "rest"])
    claims: list[list[float]] = [[], [], []]
    for i in range(4000):
        word = int(rng.integers(3))
        label = ranker.classes_[word] if rng.random() < chances[word] else "rest"
        x = ([word], [1.0])
        if i >= 2000:
            scores, _ = ranker.score_one(x)
            claims[word].append(float(ranker.probabilities(scores)[word]))
        ranker.learn_one(x, [label])
    assert np.mean(claims[0]) == pytest.approx(0.9, abs=0.1)
    assert np.mean(claims[1]) == pytest.approx(0.5, abs=0.1)
    assert np.mean(claims[2]) == pytest.approx(0.2, abs=0.1)


def test_nothing_learnt_is_nothing_claimed() -> None:
    assert LabelRanker().probabilities(np.empty(0)).size == 0
    ranker = LabelRanker().add_labels(["a", "b"])
    scores, _ = ranker.score_one(([1], [1.0]))
    assert ranker.probabilities(scores).tolist() == [0, 0]
