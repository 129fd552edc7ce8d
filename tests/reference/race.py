r"""Reference implementation of the race of learners, from its definition.

All contestants learn every row, each with the row scaled in its own way, then to unit length. A
constant feature follows. Statistics of features are those of the rows so far and the row itself.
With :math:`\sigma_e` the recent deviation of the scores :math:`s_e` within a row (discount .99):

.. math::
    m = \sum_e w_e\,\frac{s_e - \mathrm{mean}(s_e)}{\sigma_e},\qquad
    \text{score} = m / d^{3/4},\quad d \text{ the deviation of } m

The weights follow from average precisions (:class:`tests.reference.beginnings.Mixture` has the same
rule). After 20 rows, contestants that do not suit the stream leave. After 500 judged rounds, one
that is 4 standard errors behind another one leaves; after 2,000 one of two that are as good.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from tagalong import LabelRanker
from tests.reference.beginnings import CONSTANT, ComplementBayes, OneVsRest, average_precision, unit
from tests.reference.geometries import FloatArray

FIRST_ROWS, DENSE, SPARSE = 20, 0.15, 0.1
FIRST_COMPARISON, COMPARED_EVERY, CLEAR_LEAD = 500, 10, 4.0
FIRST_SAME, SMALL_DIFFERENCE = 2000, 0.005
MOST_DEVIATIONS = 4.0
TIE = 1e-10  # scores that differ less are equal but for rounding


@dataclass(frozen=True)
class Kind:
    """A contestant: its learner, its scaling, the streams it suits, budget and temperature."""

    learner: str
    scaling: str
    suits: str
    C: float = 10.0
    temperature: float = 0.1


CAUTIOUS = {"C": 1 / 3, "temperature": 0.5}
KINDS = {
    "unit": Kind("ranker", "unit", "any"),
    "unit-bold": Kind("ranker", "unit", "dense", C=100.0),
    "unit-cautious": Kind("ranker", "unit", "dense", **CAUTIOUS),
    "largest": Kind("ranker", "largest", "dense"),
    "largest-cautious": Kind("ranker", "largest", "dense", **CAUTIOUS),
    "standard": Kind("ranker", "standard", "dense"),
    "standard-cautious": Kind("ranker", "standard", "dense", **CAUTIOUS),
    "idf": Kind("ranker", "idf", "sparse"),
    "one-vs-rest-unit": Kind("one-vs-rest", "unit", "dense"),
    "one-vs-rest-largest": Kind("one-vs-rest", "largest", "dense"),
    "one-vs-rest-standard": Kind("one-vs-rest", "standard", "dense"),
    "one-vs-rest-idf": Kind("one-vs-rest", "idf", "words"),
    "bayes-idf": Kind("bayes", "idf", "words"),
}


class Learner(Protocol):
    """Scores the labels so far, and learns; ``x`` has all features, ``constant`` is one more."""

    def score(self, x: FloatArray, constant: float) -> FloatArray: ...
    def learn(self, x: FloatArray, constant: float, relevant: list[int], labels: int) -> None: ...


class Ranker:
    """One native learner. The constant feature, which may vary, is its first column."""

    def __init__(self, kind: Kind) -> None:
        self._ranker = LabelRanker(
            C=kind.C,
            temperature=kind.temperature,
            race=None,
            relevance=True,
            working_set=True,
            normalize=False,
            constant=0,
            dtype="float64",
            probability=False,
        )
        self._labels = 0

    @staticmethod
    def _row(x: FloatArray, constant: float) -> sp.csr_array:
        return sp.csr_array(np.append(constant, x)[None, :])

    def score(self, x: FloatArray, constant: float) -> FloatArray:
        if self._labels == 0:
            return np.zeros(0)
        return np.asarray(self._ranker.decision_function(self._row(x, constant))[0])

    def learn(self, x: FloatArray, constant: float, relevant: list[int], labels: int) -> None:
        self._ranker.partial_fit(self._row(x, constant), [relevant], "grow")
        self._labels = labels


class OneVsRestLearner:
    """The twin of one-vs-rest, with a constant that may vary."""

    def __init__(self, features: int, labels: int) -> None:
        self._learner = OneVsRest(features, labels)

    def score(self, x: FloatArray, constant: float) -> FloatArray:
        words = np.flatnonzero(x)
        return self._learner.score(words, x[words], constant)

    def learn(self, x: FloatArray, constant: float, relevant: list[int], labels: int) -> None:
        self._learner.add_labels(labels - self._learner.labels)
        words = np.flatnonzero(x)
        self._learner.learn(words, x[words], relevant, constant=constant)


class BayesLearner:
    """The twin of complement Bayes: no constant feature, and only positive values are learnt."""

    def __init__(self, features: int, labels: int) -> None:
        self._learner = ComplementBayes(features, labels)

    def score(self, x: FloatArray, constant: float) -> FloatArray:
        words = np.flatnonzero(x)
        return self._learner.score(words, x[words])

    def learn(self, x: FloatArray, constant: float, relevant: list[int], labels: int) -> None:
        self._learner.add_labels(labels - self._learner.labels)
        words = np.flatnonzero(x > 0)
        self._learner.learn(words, x[words], relevant)


@dataclass
class Entrant:
    """A contestant in the race, with the history of its gains in this heat."""

    name: str
    learner: Learner
    gains: list[float] = field(default_factory=list)
    variances: list[float] = field(default_factory=list)

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]

    @property
    def deviation(self) -> float:
        return math.sqrt(discounted(self.variances, 0.99, mean=True))


def discounted(numbers: list[float], factor: float, mean: bool = False) -> float:
    """Return the sum, or the mean, of numbers that count less the older they are."""
    if not numbers:
        return 0.0
    weights = factor ** np.arange(len(numbers) - 1, -1, -1)
    return float(weights @ numbers / (weights.sum() if mean else 1.0))


class NaiveRace:
    """The race on rows of known width.

    Parameters
    ----------
    features : number of features.
    labels : most labels there will be; they are numbered in the order in which they occur.
    """

    def __init__(self, features: int, labels: int) -> None:
        self.rows = np.zeros((0, features))
        self.labels = 0
        self.departures: dict[str, int] = {}
        self._dense = False
        self._entrants = [
            Entrant(name, self._learner(kind, features, labels)) for name, kind in KINDS.items()
        ]

    @staticmethod
    def _learner(kind: Kind, features: int, labels: int) -> Learner:
        if kind.learner == "ranker":
            return Ranker(kind)
        make = OneVsRestLearner if kind.learner == "one-vs-rest" else BayesLearner
        return make(features, labels)

    @property
    def running(self) -> list[str]:
        return [entrant.name for entrant in self._entrants]

    @property
    def weights(self) -> FloatArray:
        gains = np.array([discounted(entrant.gains, 0.999) for entrant in self._entrants])
        rounds = len(self._entrants[0].gains)
        remembered = (1 - 0.999**rounds) / (1 - 0.999)
        rate = math.sqrt(8 * math.log(len(gains)) / max(1.0, remembered))
        weights = np.exp(rate * (gains - gains.max()))
        return np.asarray(weights / weights.sum())

    def _scaled(self, x: FloatArray, scaling: str) -> tuple[FloatArray, float]:
        """Return the scaled row of unit length, and the constant."""
        rows = np.vstack([self.rows, x])
        present = rows != 0
        count = present.sum(axis=0)
        constant = CONSTANT
        if scaling == "largest":
            x = x / np.maximum(np.abs(rows).max(axis=0), 1e-300)
        elif scaling == "standard":
            deviation = rows.std(axis=0)
            deviation[np.ptp(rows, axis=0) == 0] = 0
            varying = deviation > 0
            x = np.where(varying, x - rows.mean(axis=0), 0) / np.where(varying, deviation, 1)
            x = np.clip(x, -MOST_DEVIATIONS, MOST_DEVIATIONS)
        elif scaling == "idf":
            x = x * np.log((len(rows) + 2) / (count + 0.5))
            known = (self.rows != 0).any(axis=0)
            constant *= math.sqrt((x[known] @ x[known]) / (x @ x)) if x.any() else 1.0
        return unit(x), constant

    def _examples(self, x: FloatArray) -> list[tuple[FloatArray, float]]:
        """Return the scaled row of each entrant, and its constant."""
        scalings = {entrant.kind.scaling for entrant in self._entrants}
        scaled = {scaling: self._scaled(x, scaling) for scaling in scalings}
        return [scaled[entrant.kind.scaling] for entrant in self._entrants]

    def _scores(self, x: FloatArray) -> list[FloatArray]:
        examples = zip(self._entrants, self._examples(x), strict=True)
        return [entrant.learner.score(*example) for entrant, example in examples]

    def score(self, x: FloatArray) -> FloatArray:
        """Return the scores of the labels so far."""
        return self._mixed(self._scores(x))

    def _mixed(self, scores: list[FloatArray]) -> FloatArray:
        mixture = np.zeros(self.labels)
        if self.labels == 0:
            return mixture
        for entrant, weight, own in zip(self._entrants, self.weights, scores, strict=True):
            if entrant.deviation > 0:
                mixture += weight * (own - own.mean()) / entrant.deviation
        deviation = float(mixture.std())
        return mixture / deviation**0.75 if deviation**2 > np.finfo(np.float32).tiny else mixture

    def learn(self, x: FloatArray, relevant: list[int]) -> None:
        """Learn a row; its new labels follow those there are."""
        scores = self._scores(x)
        seen = [label for label in relevant if label < self.labels]
        if seen and len(seen) < self.labels:
            for entrant, own in zip(self._entrants, scores, strict=True):
                entrant.gains.append(gain(own, seen))
        if self.labels:
            for entrant, own in zip(self._entrants, scores, strict=True):
                entrant.variances.append(float(own.var()))
        labels = max([self.labels, *(label + 1 for label in relevant)])
        for entrant, example in zip(self._entrants, self._examples(x), strict=True):
            entrant.learner.learn(*example, relevant, labels)
        self.labels = labels
        self.rows = np.vstack([self.rows, x])
        self._review()

    def _review(self) -> None:
        if len(self.rows) < FIRST_ROWS:
            return
        occurring = (self.rows != 0).any(axis=0)
        density = np.count_nonzero(self.rows) / (len(self.rows) * np.count_nonzero(occurring))
        self._dense = bool(density > (SPARSE if self._dense else DENSE))
        for entrant in list(self._entrants):
            if not self._suits(entrant.kind):
                self._leave(entrant)
        rounds = len(self._entrants[0].gains)
        if rounds < FIRST_COMPARISON or rounds % COMPARED_EVERY:
            return
        while losses := list(self._losses()):
            self._leave(max(losses, key=lambda loss: loss[0])[1])

    def _suits(self, kind: Kind) -> bool:
        return {
            "any": True,
            "dense": self._dense,
            "sparse": not self._dense,
            "words": not self._dense and not (self.rows < 0).any(),
        }[kind.suits]

    def _losses(self) -> Iterator[tuple[float, Entrant]]:
        """Yield by how many standard errors entrants are behind others, if they have to leave."""
        rankers = sum(entrant.kind.learner == "ranker" for entrant in self._entrants)
        for place, winner in enumerate(self._entrants):
            for other, loser in enumerate(self._entrants):
                if winner is loser or (loser.kind.learner == "ranker" and rankers == 1):
                    continue
                difference = np.array(winner.gains) - np.array(loser.gains)
                mean, error = difference.mean(), difference.std() / math.sqrt(len(difference))
                lead = mean / error if error > 0 else 0.0
                behind = lead > 0 or (lead == 0 and place < other)
                same = (
                    behind
                    and len(difference) >= FIRST_SAME
                    and abs(mean) + 2 * error < SMALL_DIFFERENCE
                )
                if lead > CLEAR_LEAD or same:
                    yield lead, loser

    def _leave(self, entrant: Entrant) -> None:
        self._entrants.remove(entrant)
        self.departures[entrant.name] = len(self.rows)


def gain(scores: FloatArray, relevant: list[int]) -> float:
    """Return the average precision; scores that differ by rounding only are ties."""
    unit_of_ties = TIE * max(1.0, float(np.abs(scores).max()))
    return average_precision(np.round(scores / unit_of_ties), relevant)
