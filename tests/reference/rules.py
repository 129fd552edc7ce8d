r"""Update rules that use only one label pair, or treat every pair separately.

A rule maps the scores of one round to one coefficient :math:`\alpha_y` per label. With a weight
:math:`\lambda_{rs}` on each pair of a relevant label r and an irrelevant label s,

.. math:: \alpha_r = \sum_s \lambda_{rs}, \qquad \alpha_s = -\sum_r \lambda_{rs}.

"fixed" and "single" are Updates I and II of [1]_; "simperc", "conproj", "simproj" and "simopt"
are the schemes of [2]_ with one row per pair, squared norm v = 2q and loss
:math:`l_{rs} = \max(0, \gamma - (\rho_r - \rho_s))`. All pairs are enumerated.

References
----------
.. [1] Shalev-Shwartz, Singer. A Unified Algorithmic Approach for Efficient Online Label
   Ranking. 2007.
.. [2] Amit, Shalev-Shwartz, Singer. Online Learning of Complex Prediction Problems Using
   Simultaneous Projections. 2008.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from scipy.optimize import brentq

from .geometries import FloatArray, Line, QuadraticLine

Pair = tuple[int, int]


@dataclass(frozen=True)
class Round:
    """The input of a rule.

    Parameters
    ----------
    line : G along the row of this round.
    relevant : relevant labels in ascending order, at least one.
    irrelevant : irrelevant labels in ascending order, at least one.
    budget : C times the weight of the round, positive.
    margin : the margin, gamma in the formulas.
    temperature : T of the smooth loss; the other rules ignore it.
    """

    line: Line
    relevant: tuple[int, ...]
    irrelevant: tuple[int, ...]
    budget: float
    margin: float
    temperature: float = 0.1

    @cached_property
    def scores(self) -> FloatArray:
        """Scores (K,) before the step."""
        return np.array([self.line.slope(y, 0.0) for y in range(self.line.n_labels)])

    @cached_property
    def pairs(self) -> list[Pair]:
        """All pairs of a relevant and an irrelevant label."""
        return list(product(self.relevant, self.irrelevant))

    @cached_property
    def worst_pair(self) -> Pair:
        """Lowest relevant and highest irrelevant label by score; ties to the lowest index."""
        scores = self.scores
        return (
            min(self.relevant, key=lambda y: (scores[y], y)),
            max(self.irrelevant, key=lambda y: (scores[y], -y)),
        )

    def shortfall(self, pair: Pair) -> float:
        """Return the margin minus the score difference of a pair."""
        r, s = pair
        return float(self.margin - (self.scores[r] - self.scores[s]))


@dataclass(frozen=True)
class Step:
    """The output of a rule.

    Parameters
    ----------
    alpha : coefficients (K,), summing to zero.
    tau : mass moved: the sum of alpha over the relevant labels.
    entropy : C T H(p), the entropy term of the dual; only the smooth rule has one.
    """

    alpha: FloatArray
    tau: float
    entropy: float = 0.0


def increasing_root(f: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a non-decreasing function, clipped to [low, high]."""
    if f(low) >= 0.0:
        return low
    if f(high) <= 0.0:
        return high
    return float(brentq(f, low, high, xtol=1e-15 * (high - low), rtol=1e-15, maxiter=500))


def from_pairs(n_labels: int, masses: Mapping[Pair, float]) -> Step:
    """Return the step with the weights of the pairs summed per label."""
    alpha = np.zeros(n_labels)
    for (r, s), mass in masses.items():
        alpha[r] += mass
        alpha[s] -= mass
    return Step(alpha, float(sum(masses.values())))


def pair_step(round_: Round, pair: Pair) -> float:
    r"""Return the best step for a single pair, in [0, C].

    It maximises :math:`\gamma\tau - G(\theta_r + \tau x) - G(\theta_s - \tau x)`. In the quadratic
    geometries it is :math:`\min(C, l/(2q))`. If no step can reach the margin, it is the whole
    budget.
    """
    r, s = pair
    if round_.margin >= round_.line.reach:
        return round_.budget if round_.shortfall(pair) > 0.0 else 0.0

    def descent(tau: float) -> float:
        return round_.line.slope(r, tau) - round_.line.slope(s, -tau) - round_.margin

    return increasing_root(descent, 0.0, round_.budget)


def fixed(round_: Round) -> Step:
    """Update I: the whole budget on the worst pair, on a mistake only."""
    r, s = round_.worst_pair
    mistaken = round_.scores[r] <= round_.scores[s]
    return from_pairs(round_.line.n_labels, {(r, s): round_.budget} if mistaken else {})


def single(round_: Round) -> Step:
    """Update II: the best step for the worst pair."""
    pair = round_.worst_pair
    return from_pairs(round_.line.n_labels, {pair: pair_step(round_, pair)})


def mistaken_pairs(round_: Round) -> list[Pair]:
    """Return the pairs in the wrong order or tied."""
    scores = round_.scores
    return [(r, s) for r, s in round_.pairs if scores[r] <= scores[s]]


def simperc(round_: Round) -> Step:
    """SimPerc: the budget in equal parts on the mistaken pairs."""
    chosen = mistaken_pairs(round_)
    masses = {pair: round_.budget / len(chosen) for pair in chosen}
    return from_pairs(round_.line.n_labels, masses)


def conproj(round_: Round) -> Step:
    """ConProj: the average of the mistaken pairs' best steps."""
    chosen = mistaken_pairs(round_)
    masses = {pair: pair_step(round_, pair) / len(chosen) for pair in chosen}
    return from_pairs(round_.line.n_labels, masses)


def simproj(round_: Round) -> Step:
    """SimProj: the average of the best steps of the pairs with a positive loss."""
    chosen = [pair for pair in round_.pairs if round_.shortfall(pair) > 0.0]
    masses = {pair: pair_step(round_, pair) / len(chosen) for pair in chosen}
    return from_pairs(round_.line.n_labels, masses)


def simopt(round_: Round) -> Step:
    r"""SimOpt: maximise :math:`\sum(\lambda l - \tfrac12\lambda^2 v)` over λ >= 0, Σ λ <= C.

    The solution is λ = max(0, l − μ)/v. A root finder determines the multiplier μ of the budget
    constraint.
    """
    if not isinstance(round_.line, QuadraticLine):
        raise ValueError("update='simopt' needs a euclidean or adaptive geometry")
    v = 2.0 * round_.line.q
    losses = {pair: max(0.0, round_.shortfall(pair)) for pair in round_.pairs}

    def unspent(mu: float) -> float:
        return round_.budget - sum(max(0.0, loss - mu) / v for loss in losses.values())

    mu = increasing_root(unspent, 0.0, max(losses.values()))
    masses = {pair: max(0.0, loss - mu) / v for pair, loss in losses.items()}
    return from_pairs(round_.line.n_labels, masses)
