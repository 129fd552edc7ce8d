"""Simulated streams whose true chances are known, to test what is said about confidence.

`simulated_items` makes items of words, from a model of which the chance of every label, given the
words, is known exactly. Whatever a learner suggests, the chance that it is right can be looked up.
`simulated_answers` makes scores and answers without a learner, for the rules of confidence alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .geometries import FloatArray


@dataclass(frozen=True)
class SimulatedItem:
    """One item with one label.

    Parameters
    ----------
    features : the numbers of its words, ascending, without repetition.
    label : its label.
    chances : the chance of each label, given the words. They sum to 1.
    """

    features: npt.NDArray[np.int64]
    label: int
    chances: FloatArray

    @property
    def pair(self) -> tuple[npt.NDArray[np.int64], FloatArray]:
        """The item as features and values, for a learner."""
        return self.features, np.ones(len(self.features))


def simulated_items(
    seed: int,
    count: int,
    labels: int = 10,
    swap_after: int | None = None,
    run_length: int = 1,
) -> Iterator[SimulatedItem]:
    """Items that contain each word independently of the others, given their label.

    Words in general use occur with any label. Each label has words of its own, which occur often
    with it and seldom with the others. Items differ in how many words they could have at all, so
    some are easy and some are not.

    Parameters
    ----------
    seed : of the random numbers.
    count : number of items.
    labels : number of labels.
    swap_after : number of items after which the words of each label become those of the next.
    run_length : number of successive items with the same label; 1 for a random order.
    """
    rng = np.random.default_rng(seed)
    own, general = 12, 40
    words = labels * own + general
    occurs = np.full((labels, words), 0.3)
    for label in range(labels):
        occurs[label, : labels * own] = 0.03
        occurs[label, label * own : (label + 1) * own] = 0.25
    label = 0
    for number in range(count):
        if number == swap_after:
            occurs = np.roll(occurs, 1, axis=0)
        if number % run_length == 0:
            label = int(rng.integers(labels))
        possible = rng.random(words) < rng.uniform(0.05, 1.0)
        present = possible & (rng.random(words) < occurs[label])
        likelihoods = np.where(present, occurs, 1.0 - occurs)[:, possible]
        logs = np.log(likelihoods).sum(axis=1)
        chances = np.exp(logs - logs.max())
        yield SimulatedItem(np.flatnonzero(present), label, chances / chances.sum())


@dataclass(frozen=True)
class SimulatedAnswer:
    """Scores and the answer to them.

    Parameters
    ----------
    scores : of all labels.
    relevant : the right labels.
    chances : the chance that each label is right.
    """

    scores: FloatArray
    relevant: list[int]
    chances: FloatArray


def simulated_answers(
    seed: int,
    count: int,
    labels: int = 20,
    one_label: bool = True,
    change_after: int | None = None,
    change: float = 3.0,
    poor_label: int | None = None,
) -> Iterator[SimulatedAnswer]:
    r"""Scores whose logistic function is the chance that the label is right.

    With one label per item, the chance of the best label is :math:`\sigma(\text{score})`, and the
    other labels are equally likely. With several, this is the chance of each label by itself.

    Parameters
    ----------
    seed : of the random numbers.
    count : number of answers.
    labels : number of labels.
    one_label : whether exactly one label is right.
    change_after : number of answers after which scores mean less than before.
    change : by how much the logit of the chance is then below the score.
    poor_label : a label whose logit is always below its score by ``change``.
    """
    rng = np.random.default_rng(seed)
    for number in range(count):
        best = rng.normal(1.5, 2.0)
        scores = best - np.append(0.0, np.cumsum(rng.exponential(1.0, labels - 1)))
        scores = rng.permutation(scores)
        logits = scores - (change if change_after is not None and number >= change_after else 0.0)
        if poor_label is not None:
            logits[poor_label] -= change
        chances = 1.0 / (1.0 + np.exp(-logits))
        if one_label:
            first = int(scores.argmax())
            left = (1.0 - chances[first]) / (labels - 1)
            chances = np.where(np.arange(labels) == first, chances[first], left)
            relevant = [int(rng.choice(labels, p=chances / chances.sum()))]
        else:
            relevant = np.flatnonzero(rng.random(labels) < chances).tolist()
        yield SimulatedAnswer(scores, relevant, chances)
