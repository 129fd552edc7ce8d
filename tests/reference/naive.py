"""Reference implementation of `LabelRanker`: dense arrays, all pairs enumerated."""

from collections.abc import Callable, Collection
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from . import exact, rules
from .geometries import FloatArray, Geometry, curvature_bound, line, potential, scores, weights
from .rules import Round, Step

Relevance = Literal["none", "rare", "all"]
Update = Literal["fixed", "single", "optimal", "simperc", "conproj", "simproj", "simopt", "smooth"]

RULES: dict[Update, Callable[[Round], Step]] = {
    "fixed": rules.fixed,
    "single": rules.single,
    "optimal": exact.optimal,
    "simperc": rules.simperc,
    "conproj": rules.conproj,
    "simproj": rules.simproj,
    "simopt": rules.simopt,
    "smooth": exact.smooth,
}


class NaiveLabelRanker:
    r"""Online label ranking by dual ascent, written directly from the formulas.

    A round computes the scores :math:`\rho = W x`; the rule chooses :math:`\alpha`; then
    :math:`\theta_y \mathrel{+}= \alpha_y x`. The dual value
    :math:`D = \sum_t (\gamma\tau_t + \text{entropy}_t) - \sum_y G(\theta_y)` is a lower bound on
    :math:`F(w) + C\sum_t \text{weight}_t\,\text{loss}_t(w)` for every fixed w.

    Parameters
    ----------
    n_features : length of the rows, without the constant feature.
    n_labels : number of labels, K.
    update : the update rule.
    geometry : the geometry, which maps theta to weights.
    C : budget of a round of weight one.
    margin : score difference below which a pair has a loss.
    temperature : T of the smooth loss.
    constant : value of the constant feature, 0 for none. It is the last column of theta.
    normalize : whether to divide rows by their length (entropic geometry: by their largest
        absolute value) before the constant is appended. A zero row does not change.
    rate : growth rate of S in the adaptive geometry.
    average : whether to keep the mean of theta over the rounds.
    relevance : features whose relevance is learnt, in the adaptive geometry: "none"; "rare", those
        present in under half of the updates; or "all". Never the constant feature.
    working_set : whether steps move a working set of labels only.

    Attributes
    ----------
    theta : dual vectors (K, n), or (K, n + 1) with a constant feature.
    S : one number per column of theta: 1 plus rate times the sum of squares in updates. It stays
        at 1 unless the geometry is adaptive.
    beta : relevance of each column of theta. Its weights are exp(2 beta) theta / sqrt(S).
    penalty : sum of the increases of G by changes of beta.
    rounds : number of calls of `learn`, with or without an update.
    mistakes : rounds whose worst pair was tied or in the wrong order.
    loss : weighted sum of the hinge losses of the current weights.
    tau_sum : total mass moved.
    entropy_sum : sum of the entropies of the smooth loss.
    curvature : largest bound on a line's second derivative over the rounds with a pair.
    """

    def __init__(
        self,
        n_features: int,
        n_labels: int,
        update: Update,
        geometry: Geometry,
        C: float,
        margin: float,
        temperature: float = 0.1,
        constant: float = 0.0,
        normalize: bool = False,
        rate: float = 3.0,
        average: bool = False,
        relevance: Relevance = "none",
        working_set: bool = False,
    ) -> None:
        if geometry == "entropic" and update == "simopt":
            raise ValueError("update='simopt' needs a euclidean or adaptive geometry")
        if geometry == "entropic" and average:
            raise ValueError("average=True needs a euclidean or adaptive geometry")
        self.update: Update = update
        self.geometry: Geometry = geometry
        self.C = C
        self.margin = margin
        self.temperature = temperature
        self.constant = constant
        self.normalize = normalize
        self.rate = rate
        self.average = average
        self.relevance: Relevance = relevance
        self.working_set = working_set
        dimension = n_features + (constant != 0.0)
        self.theta = np.zeros((n_labels, dimension))
        self.S = np.ones(dimension)
        self.beta, self.V = np.zeros(dimension), np.zeros(dimension)
        self.updates = np.zeros(dimension + 1)  # per feature; the last number counts all updates
        self.share_squares = self.share_count = self.penalty = 0.0
        self.rounds = 0
        self.mistakes = 0
        self.loss = 0.0
        self.tau_sum = 0.0
        self.entropy_sum = 0.0
        self.curvature = 0.0
        self._theta_sum = np.zeros_like(self.theta)

    def row(self, x: ArrayLike) -> FloatArray:
        """Return the normalised row, with the constant appended."""
        row = np.array(x, dtype=np.float64)
        if self.normalize and row.any():
            entropic = self.geometry == "entropic"
            row = row / (np.abs(row).max() if entropic else np.linalg.norm(row))
        return np.append(row, self.constant) if self.constant != 0.0 else row

    def scores(self, x: ArrayLike) -> FloatArray:
        """Return the scores (K,) of the current weights."""
        return scores(weights(self.geometry, self.theta, self.scales), self.row(x))

    def averaged_scores(self, x: ArrayLike, blend: float) -> FloatArray:
        """Return the scores (K,) of theta - blend · (theta - mean theta), with the current S."""
        if not self.average:
            raise ValueError("averaged_scores needs average=True")
        mean = self._theta_sum / max(self.rounds, 1)
        theta = self.theta - blend * (self.theta - mean)
        return scores(weights(self.geometry, theta, self.scales), self.row(x))

    @property
    def scales(self) -> FloatArray:
        """The numbers that take the place of S if relevances are learnt.

        They are S exp(-4 beta): their inverse square roots are exp(2 beta) / sqrt(S).
        """
        return np.asarray(self.S * np.exp(-4 * self.beta))

    @property
    def dual(self) -> float:
        """The dual value, computed from theta."""
        gained = self.margin * self.tau_sum + self.entropy_sum
        return gained - potential(self.geometry, self.theta, self.scales)

    def learn(
        self,
        x: ArrayLike,
        relevant: Collection[int],
        unknown: Collection[int] = (),
        weight: float = 1.0,
    ) -> FloatArray:
        """Learn one row.

        Parameters
        ----------
        x : the row (n_features,).
        relevant : relevant labels.
        unknown : labels that take part in no pair.
        weight : factor of C and of the loss.

        Returns
        -------
        alpha : coefficients (K,), all zero in a round without an update.
        """
        if set(relevant) & set(unknown):
            raise ValueError(f"labels both relevant and unknown: {set(relevant) & set(unknown)}")
        row = self.row(x)
        step = Step(np.zeros(len(self.theta)), 0.0)
        known = [y for y in range(len(self.theta)) if y not in unknown]
        inside = tuple(y for y in known if y in relevant)
        outside = tuple(y for y in known if y not in relevant)
        if inside and outside:
            along = line(self.geometry, self.theta, self.scales, row)
            budget = self.C * weight
            round_ = Round(along, inside, outside, budget, self.margin, self.temperature)
            self._count(round_, row, weight)
            if row.any() and budget > 0.0:
                rule = RULES[self.update]
                step = exact.on_working_set(rule, round_) if self.working_set else rule(round_)
        self._move(step, row)
        return step.alpha

    def _count(self, round_: Round, row: FloatArray, weight: float) -> None:
        """Update mistakes, loss and curvature with the weights before the step."""
        r, s = round_.worst_pair
        self.mistakes += bool(round_.scores[r] <= round_.scores[s])
        self.loss += weight * max(0.0, round_.shortfall((r, s)))
        bound = curvature_bound(self.geometry, row, self.scales)
        self.curvature = max(self.curvature, bound)

    def _move(self, step: Step, row: FloatArray) -> None:
        """Take the step, then update the relevances, then S, then the average."""
        before = self.theta.copy()
        self.theta += np.outer(step.alpha, row)
        if self.geometry == "adaptive" and step.alpha.any():
            if self.relevance != "none":
                self._learn_relevances(step.alpha, row, before)
            self.S += self.rate * row**2
        self.tau_sum += step.tau
        self.entropy_sum += step.entropy
        self.rounds += 1
        if self.average:
            self._theta_sum += self.theta

    def _learn_relevances(self, alpha: FloatArray, row: FloatArray, before: FloatArray) -> None:
        """Move beta, given the step, theta before the step, and theta after it."""
        present = row != 0.0
        learns = present.copy()
        if self.constant != 0.0:
            learns[-1] = False
        if self.relevance == "rare":
            learns &= 2 * self.updates[:-1] < self.updates[-1]
        self.updates[:-1] += present
        self.updates[-1] += 1
        z = row * np.exp(2 * self.beta) / np.sqrt(self.S)
        c = np.where(learns, z * (alpha @ before) / np.abs(alpha).sum(), 0.0)
        if learns.any():
            self.share_squares = 0.9999 * self.share_squares + float(np.sum(c**2))
            self.share_count = 0.9999 * self.share_count + int(learns.sum())
        self.V += c**2
        moving = c != 0.0
        spread = np.sqrt(self.V[moving] + self.share_squares / max(self.share_count, 1.0))
        beta = self.beta.copy()
        beta[moving] = np.clip(beta[moving] + 0.05 * c[moving] / spread, -0.7, 0.7)
        growth = (np.exp(2 * beta) - np.exp(2 * self.beta)) / np.sqrt(self.S)
        squares = np.sum(self.theta**2, axis=0)
        self.penalty += float(np.sum(np.maximum(0.0, 0.5 * squares * growth)))
        self.beta = beta
