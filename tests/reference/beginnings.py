r"""Reference implementation of the learners of words, good after few texts, and of mixing.

With :math:`n` texts seen, :math:`\mathrm{df}_j` of them with word j, and values
:math:`v_j = 1 + \ln c_j` from the count :math:`c_j` of the word in a text:

.. math::
    x_j = v_j \ln\frac{n + 2}{\mathrm{df}_j + .5}, \text{ scaled to unit length}

*One-vs-rest*, with a constant feature of value .5, :math:`y_k = \pm 1` and C = 10:

.. math::
    z_j = x_j/\sqrt{S_j},\quad \rho_k = \sum_j z_j\theta_{jk},\quad q = \sum_j x_jz_j,\quad
    \alpha_k = \frac{y_k\max(0, 1 - y_k\rho_k)}{q + 1/(2C)},\quad
    \theta_{jk} \mathrel{+}= \alpha_kx_j,\quad
    S_j \mathrel{+}= 3x_j^2 \text{ if any } \alpha_k \ne 0

*Complement naive Bayes*: :math:`N_{jk} \mathrel{+}= x_j` for each label k of a text.
:math:`N_j, N_k, N` are its sums, V the number of words:

.. math::
    \sum_j x_j\,[\ln(N - N_k + .1V) - \ln(N_j - N_{jk} + .1)]

*Mixing*: the scores of each learner are centred over the labels and divided by their running
deviation. The weights are :math:`\propto e^{\eta G}`, where G is the discounted sum of the gains.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .geometries import FloatArray

Words = NDArray[np.int64]

C, RATE, CONSTANT = 10.0, 3.0, 0.5
SMOOTHING = 0.1
DEVIATION_DISCOUNT, GAIN_DISCOUNT = 0.99, 0.999


def unit(values: FloatArray) -> FloatArray:
    length = float(np.sqrt(values @ values))
    return values / length if length > 0 else values


class Frequencies:
    """In how many texts each word occurs.

    Parameters
    ----------
    words : number of words that may occur.
    """

    def __init__(self, words: int) -> None:
        self.texts = 0
        self.of_word = np.zeros(words)

    def add(self, words: Words) -> None:
        self.texts += 1
        self.of_word[words] += 1

    def scaled(self, words: Words, values: FloatArray, included: bool) -> FloatArray:
        """Return the values of a text as tf-idf of unit length.

        Parameters
        ----------
        words : distinct words of the text.
        values : a value per word.
        included : whether the frequencies are taken as if they included this text.
        """
        own = 1 if included else 0
        idf = np.log((self.texts + own + 2) / (self.of_word[words] + own + 0.5))
        return unit(values * np.maximum(idf, 0.0))


class OneVsRest:
    """A linear classifier per label against all others.

    Column 0 belongs to no label. It learns every text as irrelevant, and a new label starts as a
    copy of it. The last row belongs to the constant feature.

    Parameters
    ----------
    words : number of words that may occur.
    labels : number of labels that may occur.
    ghost : whether column 0 learns; otherwise new labels start at zero.
    """

    def __init__(self, words: int, labels: int, ghost: bool = True) -> None:
        self.theta = np.zeros((words + 1, labels + 1))
        self.S = np.ones(words + 1)
        self.labels = 0
        self._ghost = ghost

    def add_labels(self, count: int) -> None:
        first = self.labels + 1
        self.labels += count
        if self._ghost:
            self.theta[:, first : self.labels + 1] = self.theta[:, :1]

    def _with_constant(
        self, words: Words, x: FloatArray, constant: float
    ) -> tuple[Words, FloatArray]:
        return np.append(words, len(self.S) - 1), np.append(x, constant)

    def _all_scores(self, words: Words, x: FloatArray) -> FloatArray:
        rho: FloatArray = (x / np.sqrt(self.S[words])) @ self.theta[words, : self.labels + 1]
        return rho

    def score(self, words: Words, x: FloatArray, constant: float = CONSTANT) -> FloatArray:
        return self._all_scores(*self._with_constant(words, x, constant))[1:]

    def learn(
        self,
        words: Words,
        x: FloatArray,
        relevant: Sequence[int],
        unknown: Sequence[int] = (),
        weight: float = 1.0,
        constant: float = CONSTANT,
    ) -> None:
        words, x = self._with_constant(words, x, constant)
        rho = self._all_scores(words, x)
        y = np.full(self.labels + 1, -1.0)
        y[[1 + k for k in relevant]] = 1
        q = float(x @ (x / np.sqrt(self.S[words])))
        alpha = y * np.maximum(0, 1 - y * rho) / (q + 1 / (2 * C * weight))
        alpha[[1 + k for k in unknown]] = 0
        alpha[0] *= self._ghost
        if alpha.any():
            self.theta[words, : self.labels + 1] += np.outer(x, alpha)
            self.S[words] += RATE * x * x


class ComplementBayes:
    """Naive Bayes with the words of the other labels.

    Parameters
    ----------
    words : number of words that may occur.
    labels : number of labels that may occur.
    """

    def __init__(self, words: int, labels: int) -> None:
        self.counts = np.zeros((words, labels))
        self.labels = 0

    def add_labels(self, count: int) -> None:
        self.labels += count

    def score(self, words: Words, x: FloatArray) -> FloatArray:
        of_label, seen = self._sums()
        known = seen[words]
        words, x = words[known], x[known]
        if len(words) == 0:
            return np.zeros(self.labels)
        own = self.counts[words, : self.labels]
        others = own.sum(axis=1)[:, None] - own + SMOOTHING
        of_others = of_label.sum() - of_label + SMOOTHING * np.count_nonzero(seen)
        return x.sum() * np.log(of_others) - x @ np.log(np.maximum(others, SMOOTHING))

    def _sums(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        counts = self.counts[:, : self.labels]
        return counts.sum(axis=0), np.asarray(counts.any(axis=1))

    def learn(
        self,
        words: Words,
        x: FloatArray,
        relevant: Sequence[int],
        unknown: Sequence[int] = (),
        weight: float = 1.0,
    ) -> None:
        del unknown  # only relevant labels learn
        for label in relevant:
            self.counts[words, label] += weight * x


def reciprocal_rank(scores: FloatArray, relevant: Sequence[int]) -> float:
    """Return the inverse rank of the best relevant label; 0 if there is none."""
    if not len(relevant):
        return 0.0
    best = max(scores[label] for label in relevant)
    return 1.0 / max(1, int(np.count_nonzero(scores >= best)))


def average_precision(scores: FloatArray, relevant: Sequence[int]) -> float:
    """Return the mean precision at the relevant labels; ties count against them."""
    if not len(relevant):
        return 0.0
    places = sorted(int(np.count_nonzero(scores >= scores[label])) for label in relevant)
    return float(np.mean([(i + 1) / place for i, place in enumerate(places)]))


@dataclass
class Mixture:
    """Mixes the scores of several learners by how well they have done.

    Parameters
    ----------
    learners : number of learners.
    """

    learners: int
    rounds: int = 0
    variances: FloatArray = field(init=False)
    gains: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.variances = np.zeros(self.learners)
        self.gains = np.zeros(self.learners)

    @property
    def weights(self) -> FloatArray:
        known = (1 - GAIN_DISCOUNT**self.rounds) / (1 - GAIN_DISCOUNT)
        rate = math.sqrt(8 * math.log(self.learners) / max(1.0, known))
        weights = np.exp(rate * (self.gains - self.gains.max()))
        return np.asarray(weights / weights.sum())

    @property
    def deviations(self) -> FloatArray:
        """The running standard deviation of a row of scores, per learner."""
        known = 1 - DEVIATION_DISCOUNT**self.rounds
        return np.sqrt(self.variances / known) if known > 0 else np.ones(self.learners)

    def mix(self, scores: Sequence[FloatArray]) -> FloatArray:
        mixed = np.zeros(len(scores[0]))
        for one, weight, deviation in zip(scores, self.weights, self.deviations, strict=True):
            if len(one) and deviation > 0:
                mixed += weight * (one - one.mean()) / deviation
        return mixed

    def observe(self, scores: Sequence[FloatArray], relevant: Sequence[int]) -> None:
        """Learn how good the scores of each learner are, before it learns the text."""
        seen = [label for label in relevant if label < len(scores[0])]
        gains = np.array([average_precision(one, seen) for one in scores])
        variances = np.array([one.var() if len(one) else 0.0 for one in scores])
        self.rounds += 1
        self.gains = GAIN_DISCOUNT * self.gains + gains
        self.variances *= DEVIATION_DISCOUNT
        self.variances += (1 - DEVIATION_DISCOUNT) * variances
