r"""Reference implementation of confidence: how far the first places of a ranking can be trusted.

Every place of the ranking has a rule of its own. Numbers that describe a suggestion are
standardised, and with a constant they give x. A logistic model of limited memory predicts whether
the suggestion is right:

.. math::
    \zeta = w\cdot x,\quad p = \sigma(\zeta),\quad h = a\max(p(1-p), .02),\quad
    \varphi = 1 - a/\min(500, 50 + t/3)

    P \leftarrow \Bigl(P - \frac{h\,Pxx^\top P}{\varphi + h\,x^\top Px}\Bigr)/\varphi,\qquad
    w \leftarrow w + a(\text{right} - p)Px,

where a is the evidence of the answer (1, or less within a run of labels) and t its sum. A histogram
of :math:`\zeta` counts how often such suggestions were right. It gives the two results: the
*assured* precision of a bin and those above, and the *probability*. All state is faded, so that
old evidence is forgotten.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .geometries import FloatArray

PLACES = 10
"""Number of places with a rule."""

ALL_PLACES, THINNED_TO = 1000, 8
"""After this many answers, the places after the first and the whole learn from every eighth."""

BINS, LOWEST, HIGHEST = 64, -2.0, 6.0
"""The histogram of the logit. The outer bins are open."""

WIDTH = (HIGHEST - LOWEST) / BINS
CENTRES = LOWEST + WIDTH * (np.arange(BINS) + 0.5)

PRIOR_OF_TEST = 100.0
"""Number of answers that the model's own prediction counts for in the test of sureness."""

PRIOR_OF_CURVE = 10.0
"""Number of answers that the model's own prediction counts for in the probability."""

LEAST_ANSWERS = 10.0
"""Number of answers without which nothing is assured."""

TARGETS = (0.9, 0.95, 0.99)
"""The targets at which the precision of each label is observed."""

EARLY_ANSWERS, EARLY_STEP, STEP = 512, 4, 16
"""The results of the first place's histogram are read off after every fourth of the first answers,
then after every sixteenth; those of the others after four times as many."""


def sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))


def logit(value: float) -> float:
    return math.log(value / (1.0 - value))


def clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def deviation_of(scores: FloatArray) -> float:
    """Standard deviation by the mean of squares, with the rounding that one pass has."""
    return math.sqrt(max(0.0, float((scores**2).mean()) - float(scores.mean()) ** 2))


class Standardiser:
    """Running mean and variance of rows of numbers, with a memory of 1,000 rows.

    The mean starts at the first row and the variance at 1. They move by 1/(rows + 1), but by at
    least 1/1,000. Rows count fully, whatever evidence they are.
    """

    MEMORY = 1000
    LIMIT = 4.0

    def __init__(self, least_variance: FloatArray) -> None:
        self.least_variance = np.maximum(least_variance, 1e-12)
        self.rows = 0
        self.mean: FloatArray | None = None
        self.variance: FloatArray = np.ones(0)

    def apply(self, numbers: FloatArray) -> FloatArray:
        """Standardised numbers, clipped; all are 0 before the first row."""
        if self.mean is None:
            return np.zeros(len(numbers))
        scaled = (numbers - self.mean) / np.sqrt(np.maximum(self.variance, self.least_variance))
        return np.minimum(np.maximum(scaled, -self.LIMIT), self.LIMIT)

    def update(self, numbers: FloatArray) -> None:
        if self.mean is None:
            self.mean, self.variance = numbers.copy(), np.ones(len(numbers))
        self.rows += 1
        rate = max(1.0 / self.MEMORY, 1.0 / (self.rows + 1))
        distance = numbers - self.mean
        self.mean = self.mean + rate * distance
        # the distance to the mean as it was before the row
        self.variance = self.variance + rate * (distance**2 - self.variance)


class LogisticModel:
    """A logistic model whose memory grows from 50 to 500 answers."""

    LIMIT = 8.0

    def __init__(self, dimension: int, never_negative: Collection[int] = ()) -> None:
        self.least_weight: FloatArray = np.full(dimension, -np.inf)
        self.least_weight[list(never_negative)] = 0.0
        self.w: FloatArray = np.zeros(dimension)
        self.P: FloatArray = np.eye(dimension)

    def logit(self, x: FloatArray) -> float:
        return clip(float(self.w @ x), -self.LIMIT, self.LIMIT)

    def learn(self, x: FloatArray, right: bool, evidence: float, total: float) -> None:
        """One step; ``total`` is the evidence before this answer."""
        p = sigmoid(self.logit(x))
        h = evidence * max(p * (1.0 - p), 0.02)
        fade = 1.0 - evidence / min(500.0, 50.0 + total / 3.0)
        Px = self.P @ x
        self.P = (self.P - np.outer(Px, Px) * (h / (fade + h * float(Px @ x)))) / fade
        # the step uses P as it is after the update
        self.w = np.maximum(
            self.w + evidence * (float(right) - p) * (self.P @ x), self.least_weight
        )
        # no direction grows far beyond its start, even if x does not vary in it
        if np.diag(self.P).max() > 1.1:
            factor = 1.0 / np.sqrt(np.maximum(np.diag(self.P), 1.0))
            self.P *= np.outer(factor, factor)


class Histogram:
    """Faded sums over the answers, by the logit of the suggestion.

    An answer that stands for b answers is added with b. A and A2 are the sums of b and of its
    square, so that :math:`A^2/A_2` is the number of answers that the sums are worth.
    """

    def __init__(self) -> None:
        self.A, self.A2, self.R, self.Q = (np.zeros(BINS) for _ in range(4))
        self.level: FloatArray = np.zeros(BINS)
        self.curve: FloatArray = np.zeros(BINS)
        self.correction: FloatArray = np.zeros(BINS)
        self.refresh()

    @staticmethod
    def bin(zeta: float) -> int:
        return int(clip(math.floor((zeta - LOWEST) / WIDTH), 0, BINS - 1))

    def add(
        self, zeta: float, right: bool, evidence: float, stands_for: float, total: float
    ) -> None:
        fade = 1.0 - evidence / min(1000.0, 50.0 + total / 2.0)
        for sums in (self.A, self.A2, self.R, self.Q):
            sums *= fade
        place, amount = self.bin(zeta), evidence * stands_for
        self.A[place] += amount
        self.A2[place] += amount * stands_for
        self.R[place] += amount * float(right)
        self.Q[place] += amount * sigmoid(zeta)

    def refresh(self) -> None:
        """Read the assured level and the probability of each bin off the sums."""
        self.level = np.maximum.accumulate(self._tested())
        self.curve = self._calibrated()

    def _tested(self) -> FloatArray:
        """Per bin, the cautious precision of that bin and all above; 0 with too few answers."""
        A, A2, R, Q = (_sums_from(sums) for sums in (self.A, self.A2, self.R, self.Q))
        n = np.divide(A * A, A2, out=np.zeros(BINS), where=A2 > 0)
        safe = np.where(A > 0, A, 1.0)
        precision = (n * R / safe + PRIOR_OF_TEST * Q / safe) / (n + PRIOR_OF_TEST)
        return np.where(n >= LEAST_ANSWERS, precision, 0.0)

    def _calibrated(self) -> FloatArray:
        """Per bin, the probability at its centre, increasing with the bin."""
        A, A2, R, Q = (_smoothed(sums) for sums in (self.A, self.A2, self.R, self.Q))
        n = np.divide(A * A, A2, out=np.zeros(BINS), where=A2 > 0)
        safe = np.where(A > 0, A, 1.0)
        predicted = 1.0 / (1.0 + np.exp(-CENTRES))
        self.correction = n * (R - Q) / safe / (n + PRIOR_OF_CURVE)
        return increasing(np.clip(predicted + self.correction, 0.0, 1.0), n + PRIOR_OF_CURVE)

    def assured(self, zeta: float) -> float:
        return float(self.level[self.bin(zeta)])

    def probability(self, zeta: float) -> float:
        """The curve between the centres of two bins.

        Outside the outer centres lie suggestions of very different chances, above all in the later
        places: there the model's own prediction counts, with the correction of the outer bin.
        """
        if zeta < CENTRES[0]:
            return clip(sigmoid(zeta) + float(self.correction[0]), 0.0, float(self.curve[0]))
        if zeta > CENTRES[-1]:
            return clip(sigmoid(zeta) + float(self.correction[-1]), float(self.curve[-1]), 1.0)
        position = clip((zeta - CENTRES[0]) / WIDTH, 0.0, BINS - 1.0)
        below = min(int(position), BINS - 2)
        part = position - below
        return float((1.0 - part) * self.curve[below] + part * self.curve[below + 1])


def _sums_from(values: FloatArray) -> FloatArray:
    """Sums over each bin and all above."""
    return np.cumsum(values[::-1])[::-1]


def _smoothed(values: FloatArray) -> FloatArray:
    """Sums over the bins within 3, weighed by the triangle 1, 3/4, 1/2, 1/4."""
    triangle = 1.0 - np.abs(np.arange(-3, 4)) / 4.0
    return np.convolve(values, triangle, mode="same")


def increasing(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The closest non-decreasing sequence by weighted squares (pool adjacent violators)."""
    if (np.diff(values) >= 0).all():
        return values
    means: list[float] = []
    masses: list[float] = []
    lengths: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, mass, length = value, weight, 1
        while means and means[-1] >= mean:
            before = masses.pop()
            mean = (means.pop() * before + mean * mass) / (before + mass)
            mass += before
            length += lengths.pop()
        means.append(mean)
        masses.append(mass)
        lengths.append(length)
    return np.repeat(means, lengths)


class Rule:
    """Numbers of a suggestion in, its logit, assured precision and probability out."""

    def __init__(
        self, least_variance: Sequence[float], never_negative: Collection[int] = ()
    ) -> None:
        self.standardiser = Standardiser(np.array(least_variance))
        self.model = LogisticModel(len(least_variance) + 1, never_negative)
        self.histogram = Histogram()
        self.total = 0.0  # sum of the evidence
        self.share = 0.5  # recent share of right suggestions
        self.rounds = 0

    def describe(self, numbers: FloatArray) -> FloatArray:
        return np.append(self.standardiser.apply(numbers), 1.0)

    def zeta(self, numbers: FloatArray) -> float:
        return self.model.logit(self.describe(numbers))

    def learn(self, numbers: FloatArray, right: bool, evidence: float, stands_for: float) -> None:
        x = self.describe(numbers)
        # the histogram has the logit as it was before the step
        self.histogram.add(self.model.logit(x), right, evidence, stands_for, self.total)
        self.model.learn(x, right, evidence, self.total)
        self.standardiser.update(numbers)
        self.total += evidence
        self.rounds += 1
        rate = max(0.005, 1.0 / (self.rounds + 1))
        self.share += evidence * (float(right) - self.share) * rate


class PlaceRule(Rule):
    """The rule of one place in the ranking (counted from 1)."""

    # the numbers after the score and the gap are logarithms and shares
    LEAST_VARIANCE = (0.0, 0.0, 0.01, 0.01, 0.01, 0.01, 0.01)
    FADE = 0.95
    PRIOR = 4.0

    def __init__(self, place: int) -> None:
        # knowing fewer features never makes a suggestion more likely right
        super().__init__(self.LEAST_VARIANCE, never_negative=[6])
        self.place = place
        self.suggested: dict[int, float] = defaultdict(float)
        self.right: dict[int, float] = defaultdict(float)

    def numbers(
        self,
        label: int,
        score: float,
        gap: float,
        standardised: float,
        occurrences: float,
        known: int,
    ) -> FloatArray:
        """The seven numbers that describe a suggestion."""
        own = (self.right.get(label, 0.0) + self.PRIOR * self.share) / (
            self.suggested.get(label, 0.0) + self.PRIOR
        )
        return np.array(
            [
                score,
                gap,
                standardised,
                logit(clip(own, 0.005, 0.995)),
                logit(clip(self.share, 0.01, 0.99)),
                math.log1p(occurrences),
                math.log1p(known),
            ]
        )

    def count(self, label: int, right: bool) -> None:
        """Count a suggestion of a label; unweighted."""
        self.suggested[label] = self.FADE * self.suggested[label] + 1.0
        self.right[label] = self.FADE * self.right[label] + float(right)


class RunDetector:
    """Notices that answers share labels with the answer before far more often than by chance."""

    SIZE = 64
    FADE = 0.99
    QUIET = 100

    def __init__(self) -> None:
        self.answers = 0
        self.reservoir: list[frozenset[int]] = []
        self.before: frozenset[int] | None = None
        self.O = self.E = self.N = self.V = 0.0
        self.quiet = self.QUIET  # answers since the last alarm

    @property
    def in_runs(self) -> bool:
        """Whether an alarm is on, or was until lately."""
        return self.quiet < self.QUIET

    @property
    def z(self) -> float:
        return (self.O - self.E) / math.sqrt(self.V + 1.0)

    @property
    def odds(self) -> float:
        by_chance = (self.E + 0.5) / (self.N - self.E + 0.5)
        against = (self.N - self.O + 0.5) / (self.O + 0.5)
        return min(1.0, by_chance * against)

    @property
    def alarm(self) -> bool:
        return self.z > 8.0 and self.odds < 0.2

    def observe(self, relevant: Collection[int]) -> float:
        """Take in the labels of an answer; return how much evidence the answer is.

        The first answer has none before it: it only enters the reservoir.
        """
        alarm, labels, evidence = self.alarm, frozenset(relevant), 1.0
        if self.before is not None:
            shared = sum(not labels.isdisjoint(one) for one in self.reservoir)
            e = (shared + 0.5) / (len(self.reservoir) + 1.0)
            o = float(not labels.isdisjoint(self.before))
            self.O = self.FADE * self.O + o
            self.E = self.FADE * self.E + e
            self.N = self.FADE * self.N + 1.0
            self.V = self.FADE**2 * self.V + e * (1.0 - e)
            if alarm and o:
                evidence = self.odds
            self.quiet = 0 if self.alarm else min(self.quiet + 1, self.QUIET)
        self._keep(labels)
        self.before = labels
        self.answers += 1
        return evidence

    def _keep(self, labels: frozenset[int]) -> None:
        """Reservoir sampling (algorithm R); its random number depends on the answer's number."""
        if len(self.reservoir) < self.SIZE:
            self.reservoir.append(labels)
            return
        slot = splitmix64(self.answers) % (self.answers + 1)
        if slot < self.SIZE:
            self.reservoir[slot] = labels


def splitmix64(seed: int) -> int:
    """The first number of the generator splitmix64 with this seed."""
    mask = (1 << 64) - 1
    z = (seed + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


class MarginCurve:
    """The chance of the better one of two exclusive labels, increasing with its margin."""

    def __init__(self) -> None:
        self.log_slope = 0.0
        self.squares = 0.0

    def probability(self, margin: float) -> float:
        return sigmoid(8.0 * math.tanh(math.exp(self.log_slope) * margin / 8.0))

    def observe(self, margin: float, right: bool, evidence: float) -> None:
        if margin <= 0:
            return
        if self.squares == 0:
            self.log_slope = -math.log(margin)
        zeta = min(math.exp(self.log_slope) * margin, 8.0)
        gradient = evidence * (float(right) - sigmoid(zeta)) * zeta
        self.squares += max(gradient**2, 1e-6)
        self.log_slope += 0.5 * gradient / math.sqrt(self.squares)


class LabelPrecision:
    """Per label and target, how many of the marked suggestions were right, lately."""

    FADE = 0.99
    DEVIATIONS = 3.0

    def __init__(self) -> None:
        self.marked: dict[tuple[int, float], float] = defaultdict(float)
        self.right: dict[tuple[int, float], float] = defaultdict(float)

    def count(self, label: int, level: float, right: bool, weight: float = 1.0) -> None:
        """Count a suggestion that had this level before the block."""
        fade = 1.0 - weight * (1.0 - self.FADE)
        for target in TARGETS:
            if level >= target:
                key = label, target
                self.marked[key] = fade * self.marked[key] + weight
                self.right[key] = fade * self.right[key] + weight * float(right)

    def blocked(self, label: int, target: float) -> bool:
        n, r = self.marked.get((label, target), 0.0), self.right.get((label, target), 0.0)
        return n * target - r > 0.5 + self.DEVIATIONS * math.sqrt(n * target * (1.0 - target))

    def capped(self, label: int, level: float) -> float:
        """The level, below the targets at which the label is blocked.

        A label that is precise enough among its suggestions of a high level stays sure there,
        whatever those of lower levels are worth.
        """
        for target in reversed(TARGETS):
            if level >= target:
                if not self.blocked(label, target):
                    return level
                level = math.nextafter(target, 0.0)
        return level


@dataclass(frozen=True)
class JudgedPlaces:
    """The first places of one ranking, best first."""

    labels: list[int]
    scores: list[float]
    probabilities: list[float]
    assured: list[float]
    chosen: list[bool]
    whole: float
    known: int
    in_runs: bool
    levels: list[float]
    """The assured precision before labels are blocked."""


class ConfidenceTwin:
    """Learns from judged answers how far suggestions can be trusted.

    Parameters
    ----------
    one_label : whether items have one label each. Then the best label is the only chosen one, and
        the probabilities of all labels sum to 1.
    places : number of places with a rule.
    """

    def __init__(self, one_label: bool = False, places: int = PLACES) -> None:
        self.one_label = one_label
        self.rules = [PlaceRule(place) for place in range(1, places + 1)]
        self.whole = Rule((0.0, 0.0))
        self.of_two = MarginCurve()
        self.runs = RunDetector()
        self.precision = LabelPrecision()
        self.answers = 0
        self.occurrences: dict[int, int] = defaultdict(int)
        self.by_known: list[float] = [0.0] * 33

    # Judging.

    def judge(self, scores: ArrayLike, cutoff: float, known: int) -> JudgedPlaces:
        """The first places of an item; nothing is learnt.

        Parameters
        ----------
        scores : of the labels 0, 1, … that exist.
        cutoff : labels that score at least this are chosen; infinite while there is none.
        known : number of features of the item that the learner has seen.
        """
        return self._judge(np.asarray(scores, dtype=np.float64), cutoff, known)[0]

    def _judge(
        self, scores: FloatArray, cutoff: float, known: int
    ) -> tuple[JudgedPlaces, list[FloatArray], FloatArray]:
        """The places, the numbers of each place with a rule, and the numbers of the whole."""
        order = np.argsort(-scores, kind="stable")  # ties by the number of the label
        first = order[: len(self.rules)].tolist()
        described = self._describe(scores, order, known)
        answers = self._answers_as_unknown_as(known)
        levels, chances = [], []
        for label, rule, numbers in zip(first, self.rules, described, strict=False):
            zeta = rule.zeta(numbers)
            levels.append(rule.histogram.assured(zeta))
            chance = rule.histogram.probability(zeta)
            base = self._base_rate(label, len(scores))
            chances.append(self._shrunk(chance, base, known, answers))
        if len(described) < len(first):  # the last label: the rule of the place before, if any
            levels.append(0.0)
            chances.append(self._chance_beyond(scores, order, len(described), known, answers))
        alarm = self.runs.in_runs
        if alarm or known == 0 or answers < LEAST_ANSWERS:
            levels = [0.0] * len(first)
        assured = [self.precision.capped(*one) for one in zip(first, levels, strict=True)]
        chances = self._in_order(chances)
        if self.one_label and len(scores) > 1:
            if len(scores) == 2:
                chances[0] = self.of_two.probability(float(scores[order[0]] - scores[order[1]]))
            chances = self._exclusive(chances, len(scores))
        chosen = [
            place == 0 if self.one_label else bool(scores[label] >= cutoff)
            for place, label in enumerate(first)
        ]
        of_whole = self._describe_whole(scores, cutoff, chances, chosen)
        whole = self.whole.histogram.probability(self.whole.zeta(of_whole))
        whole = self._shrunk(whole, self.whole.share, known, answers)
        if self.one_label or not first:
            whole = chances[0] if first else 0.0
        places = JudgedPlaces(
            first,
            scores[first].tolist(),
            chances,
            assured,
            chosen,
            whole,
            known,
            alarm,
            levels,
        )
        return places, described, of_whole

    def _describe(
        self, scores: FloatArray, order: np.ndarray[tuple[int], np.dtype[np.intp]], known: int
    ) -> list[FloatArray]:
        """The numbers of every place that has a rule and at least one label after it."""
        ranked = scores[order]
        mean = float(scores.mean()) if len(scores) else 0.0
        deviation = max(deviation_of(scores), 1e-9) if len(scores) else 1.0
        found = []
        for i, rule in enumerate(self.rules):
            if len(scores) < rule.place + 1:
                break
            gap = ranked[0] - ranked[1] if i == 0 else ranked[0] - ranked[i]
            label = int(order[i])
            found.append(
                rule.numbers(
                    label,
                    float(ranked[i]),
                    float(gap),
                    float((ranked[i] - mean) / deviation),
                    self.occurrences.get(label, 0),
                    known,
                )
            )
        return found

    @staticmethod
    def _describe_whole(
        scores: FloatArray, cutoff: float, chances: Sequence[float], chosen: Sequence[bool]
    ) -> FloatArray:
        """The logarithm of the chance if labels were independent, and the distance to the cut-off.

        The distance is that of the closest score of any label.
        """
        logs = 0.0
        for chance, is_chosen in zip(chances[:5], chosen[:5], strict=True):
            p = clip(chance, 0.001, 0.999)
            logs += math.log(p if is_chosen else 1.0 - p)
        distance = 0.0
        if math.isfinite(cutoff) and len(scores):
            distance = min(10.0, float(np.abs(scores - cutoff).min()))
        return np.array([logs, distance])

    def _chance_beyond(
        self,
        scores: FloatArray,
        order: np.ndarray[tuple[int], np.dtype[np.intp]],
        place: int,
        known: int,
        answers: float,
    ) -> float:
        """The chance of a label at a place without a rule, by the last rule that there is."""
        label, labels = int(order[place]), len(scores)
        base = self._base_rate(label, labels)
        if labels == 1:
            return base
        rule = self.rules[min(place, len(self.rules), labels - 1) - 1]
        score, deviation = float(scores[label]), max(deviation_of(scores), 1e-9)
        numbers = rule.numbers(
            label,
            score,
            float(scores[order[0]]) - score,
            (score - float(scores.mean())) / deviation,
            self.occurrences.get(label, 0),
            known,
        )
        chance = rule.histogram.probability(rule.zeta(numbers))
        return self._shrunk(chance, base, known, answers)

    @staticmethod
    def _exclusive(chances: list[float], labels: int) -> list[float]:
        """The chances of exclusive labels: those of all labels sum to 1.

        The first place keeps its chance, if that is at least 1 / labels. Labels after these places
        share what the chances leave, equally. Then all but the first are scaled; none may exceed
        the first: what is cut off goes to those after it.
        """
        tail = labels - len(chances)
        each = clip((1.0 - sum(chances)) / tail, 0.0, chances[-1]) if tail else 0.0
        # The small number lets labels without any chance share what others may not have.
        others = [chance + 1e-12 for chance in (*chances[1:], *[each] * tail)]
        first = max(chances[0], 1.0 / labels)
        left, rest = 1.0 - first, sum(others)
        found = [first]
        for i, chance in enumerate(others):
            share = chance / rest if rest > 0 else 1.0 / (len(others) - i)
            value = min(found[-1], max(left, 0.0) * share)
            found.append(value)
            left -= value
            rest -= chance
        return [first + max(left, 0.0), *found[1 : len(chances)]]

    @staticmethod
    def _in_order(chances: Sequence[float]) -> list[float]:
        """The closest chances that do not increase with the place, with the same sum."""
        falling = -increasing(-np.array(chances), np.ones(len(chances)))
        return [float(chance) for chance in falling]

    def _base_rate(self, label: int, labels: int) -> float:
        return (self.occurrences.get(label, 0) + 1.0 / (labels + 1.0)) / (self.answers + 1.0)

    def _answers_as_unknown_as(self, known: int) -> float:
        """The evidence of answers with at most as many known features, by powers of two."""
        return sum(self.by_known[: known.bit_length() + 1])

    @staticmethod
    def _towards(chance: float, base: float, answers: float) -> float:
        return (answers * chance + LEAST_ANSWERS * base) / (answers + LEAST_ANSWERS)

    def _shrunk(self, chance: float, base: float, known: int, answers: float) -> float:
        """The chance, or one closer to the base rate if few answers knew so little."""
        if known == 0:
            return base
        return self._towards(chance, base, answers) if answers < LEAST_ANSWERS else chance

    # Learning.

    def observe(
        self,
        scores: ArrayLike,
        cutoff: float,
        known: int,
        relevant: Collection[int],
        unknown: Collection[int] = (),
        stands_for: float = 1.0,
    ) -> JudgedPlaces:
        """Judge an item, then learn from its answer; returns the places before learning.

        Parameters
        ----------
        scores, cutoff, known : as in ``judge``. Labels that are new in the answer have no score.
        relevant : the right labels.
        unknown : labels of unknown relevance.
        stands_for : number of answers that this one represents, if it was drawn by an audit.
        """
        before = np.asarray(scores, dtype=np.float64)
        places, described, of_whole = self._judge(before, cutoff, known)
        evidence = self.runs.observe(relevant)
        thinned = self.answers >= ALL_PLACES and self.answers % THINNED_TO != 0
        counted = 1 if thinned else len(places.labels)
        for label, level in list(zip(places.labels, places.levels, strict=True))[:counted]:
            if label not in unknown:
                self.precision.count(label, level, label in relevant)
        for rule, label, numbers in zip(self.rules, places.labels, described, strict=False):
            if label in unknown or (thinned and rule.place > 1):
                continue
            right = label in relevant
            rule.learn(numbers, right, evidence, stands_for)
            rule.count(label, right)
        if not unknown and len(before) == 2:
            margin = places.scores[0] - places.scores[1]
            self.of_two.observe(margin, places.labels[0] in relevant, evidence)
        if not unknown and places.labels and not thinned:
            chosen = (
                set(places.labels[:1])
                if self.one_label
                else set(np.flatnonzero(before >= cutoff).tolist())
            )
            self.whole.learn(of_whole, chosen == set(relevant), evidence, stands_for)
        for label in relevant:
            self.occurrences[label] += 1
        self.by_known[known.bit_length()] += evidence
        self.answers += 1
        step = EARLY_STEP if self.answers < EARLY_ANSWERS else STEP
        if self.answers % step == 0:
            self.rules[0].histogram.refresh()
        if self.answers % (4 * step) == 0:
            for learnt in (*self.rules[1:], self.whole):
                learnt.histogram.refresh()
        return places

    def reject(self, label: int, level: float = 1.0) -> None:
        """Count an item that was filed under a label by itself, and wrongly.

        Parameters
        ----------
        label : where it had been filed.
        level : targets up to this one count it; all by default.
        """
        self.precision.count(label, level, False)
