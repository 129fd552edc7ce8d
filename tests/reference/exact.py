r"""Update rules that solve the round's problem exactly: "optimal" and "smooth".

Both maximise the increase of the dual value in the round. "optimal" (Update III, also known as
Sopopo) is the rule for the hinge loss of the worst pair:

.. math::
    \max_\alpha\; \gamma\sum_{y \in Y}\alpha_y - \sum_y [G(\theta_y + \alpha_y x) - G(\theta_y)]
    \quad\text{s.t.}\quad \sum_y\alpha_y = 0,\; \sum_{y\in Y}\alpha_y \le C,\;
    \alpha_Y \ge 0,\; \alpha_{\bar Y} \le 0.

"smooth" is the rule for the loss :math:`T\log(1 + \sum_{rs} e^{(\gamma - \rho_r + \rho_s)/T})`. It
chooses a distribution p over the pairs and "none"; the weights of the pairs are C p:

.. math::
    \max_p\; \gamma C \sum_{rs} p_{rs} + C T H(p) - \sum_y [G(\theta_y + \alpha_y x) - G(\theta_y)].
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .geometries import FloatArray, log_sum_exp
from .rules import Round, Step, increasing_root


def optimal(round_: Round) -> Step:
    r"""Compute Update III from two common score levels.

    To move the mass m at the lowest cost, the moved relevant labels rise to a common score u(m)
    and the moved irrelevant ones fall to a common score v(m). The best m is the root of the
    decreasing function :math:`\gamma - u(m) + v(m)`, or the whole budget. Steps, levels and the
    mass are all found by bracketing. If no step can change a score, every split of the budget is
    optimal, and the result has equal parts.
    """
    line, budget, margin = round_.line, round_.budget, round_.margin
    if round_.shortfall(round_.worst_pair) <= 0.0:
        return Step(np.zeros(line.n_labels), 0.0)
    if line.reach == 0.0:
        return _equal_parts(round_)
    lowest, highest = round_.worst_pair

    def rise(m: float) -> float:
        """Return the level at which the relevant labels have moved the mass m."""
        low, high = line.level(lowest, 0.0), line.level(lowest, m)
        return increasing_root(lambda u: float(_up(round_, u, m).sum() - m), low, high)

    def fall(m: float) -> float:
        """Return the level at which the irrelevant labels have moved the mass m."""
        low, high = line.level(highest, -m), line.level(highest, 0.0)
        return increasing_root(lambda v: float(_down(round_, v, m).sum() + m), low, high)

    def excess(m: float) -> float:
        return line.from_level(rise(m)) - line.from_level(fall(m)) - margin

    reachable = margin < line.reach
    mass = increasing_root(excess, 0.0, budget) if reachable else budget
    alpha = _up(round_, rise(mass), mass) + _down(round_, fall(mass), mass)
    return Step(alpha, mass)


def _up(round_: Round, level: float, m: float) -> FloatArray:
    """Return coefficients in [0, m] that raise the relevant labels below the level to it."""
    alpha = np.zeros(round_.line.n_labels)
    for y in round_.relevant:
        alpha[y] = _coefficient(round_, y, level, 0.0, m)
    return alpha


def _down(round_: Round, level: float, m: float) -> FloatArray:
    """Return coefficients in [-m, 0] that lower the irrelevant labels above the level to it."""
    alpha = np.zeros(round_.line.n_labels)
    for y in round_.irrelevant:
        alpha[y] = _coefficient(round_, y, level, -m, 0.0)
    return alpha


def _coefficient(round_: Round, label: int, level: float, low: float, high: float) -> float:
    """Return the coefficient in [low, high] that brings the label's score closest to a level."""
    return increasing_root(lambda a: round_.line.level(label, a) - level, low, high)


def _equal_parts(round_: Round) -> Step:
    alpha = np.zeros(round_.line.n_labels)
    alpha[list(round_.relevant)] = round_.budget / len(round_.relevant)
    alpha[list(round_.irrelevant)] = -round_.budget / len(round_.irrelevant)
    return Step(alpha, round_.budget)


def smooth(round_: Round) -> Step:
    r"""Compute the proximal step of the smooth loss, by Newton's method on the logits of p.

    With p = softmax of the logits z of the pairs and 0 for "none", the optimum satisfies
    :math:`z_{rs} = (\gamma - h_r(\alpha_r) + h_s(\alpha_s))/T`, where h is the score after the
    step. Let A be the signed incidence matrix of labels and pairs,
    :math:`M = \mathrm{diag}(p) - pp^T`, and D the diagonal matrix of curvatures. The Newton step
    of this equation is :math:`-(I + (C/T) A^T D A M)^{-1}` times its residual. It always ascends,
    since it is the Newton step of the concave objective in p.
    """
    ascent = _SmoothAscent(round_)
    z = np.zeros(len(round_.pairs))
    alpha, last = ascent.alpha(z), np.inf
    for _ in range(1000):
        direction, gain = ascent.newton(z)
        step = 1.0
        # Near the maximum, rounding hides the increase; short Newton steps need no line search.
        if np.abs(ascent.alpha(z + direction) - ascent.alpha(z)).max() > 1e-5 * round_.budget:
            start = ascent.objective(z)
            while ascent.objective(z + step * direction) < start + 1e-4 * step * gain:
                step /= 2.0
        z = z + step * direction
        moved = float(np.abs(ascent.alpha(z) - alpha).max())
        alpha = ascent.alpha(z)
        # The limit of rounding is reached when tiny full steps no longer get shorter.
        if step == 1.0 and moved <= 1e-11 * round_.budget and moved >= 0.1 * last:
            mass = round_.budget * float(ascent.distribution(z).sum())
            return Step(alpha, mass, ascent.entropy(z))
        last = moved
    raise RuntimeError(f"the smooth step did not converge: {round_}")


DEPTH, MANY_LABELS, MOST_LABELS = 4.0, 2048, 128


def on_working_set(rule: Callable[[Round], Step], round_: Round) -> Step:
    r"""Compute the step of a rule on the labels that matter in the round.

    Nothing moves if all pairs reach the margin. Otherwise "optimal" on the labels that violate the
    margin brings the worst relevant label to a level u and the worst irrelevant one to a level v.
    The working set has the relevant labels with scores up to :math:`u + 4T` and the irrelevant ones
    with scores from :math:`v - 4T` on. With 2,048 labels and more, irrelevant
    labels with a score of 0 are left out, but for the worst one, and of the rest the 128 with the
    highest scores are taken.
    """
    scores, (worst_relevant, worst_irrelevant) = round_.scores, round_.worst_pair
    if round_.shortfall(round_.worst_pair) <= 0.0:
        return Step(np.zeros(round_.line.n_labels), 0.0)
    violating = replace(
        round_,
        relevant=tuple(r for r in round_.relevant if round_.shortfall((r, worst_irrelevant)) > 0),
        irrelevant=tuple(s for s in round_.irrelevant if round_.shortfall((worst_relevant, s)) > 0),
    )
    alpha, depth = optimal(violating).alpha, DEPTH * round_.temperature
    highest = round_.line.slope(worst_relevant, alpha[worst_relevant]) + depth
    lowest = round_.line.slope(worst_irrelevant, alpha[worst_irrelevant]) - depth
    near = [s for s in violating.irrelevant if scores[s] >= lowest or s == worst_irrelevant]
    if len(scores) >= MANY_LABELS:
        near = [s for s in near if scores[s] != 0 or s == worst_irrelevant]
        near = sorted(near, key=lambda s: (-scores[s], s))[:MOST_LABELS]
    chosen = replace(
        round_,
        relevant=tuple(r for r in round_.relevant if scores[r] <= highest or r == worst_relevant),
        irrelevant=tuple(sorted(near)),
    )
    return rule(chosen)


class _SmoothAscent:
    """Objective of the smooth step and its Newton direction, as functions of the logits."""

    def __init__(self, round_: Round) -> None:
        self.round = round_
        self.labels = range(round_.line.n_labels)
        self.incidence = np.zeros((len(self.labels), len(round_.pairs)))
        for column, (r, s) in enumerate(round_.pairs):
            self.incidence[r, column] = 1.0
            self.incidence[s, column] = -1.0

    def distribution(self, z: FloatArray) -> FloatArray:
        """Return the probabilities of the pairs; the rest of the probability is that of "none"."""
        return np.exp(z - log_sum_exp(np.append(z, 0.0)))

    def alpha(self, z: FloatArray) -> FloatArray:
        """Return the coefficients of the labels."""
        return np.asarray(self.round.budget * (self.incidence @ self.distribution(z)))

    def entropy(self, z: FloatArray) -> float:
        """Return C T H(p)."""
        entropy = log_sum_exp(np.append(z, 0.0)) - self.distribution(z) @ z
        return float(self.round.budget * self.round.temperature * entropy)

    def objective(self, z: FloatArray) -> float:
        """Return the increase of the dual value."""
        alpha = self.alpha(z)
        moved = sum(self.round.line.value(y, float(alpha[y])) for y in self.labels)
        mass = self.round.budget * float(self.distribution(z).sum())
        return self.round.margin * mass + self.entropy(z) - moved

    def newton(self, z: FloatArray) -> tuple[FloatArray, float]:
        """Return the Newton direction, and the slope of the objective along it."""
        line, budget, temperature = self.round.line, self.round.budget, self.round.temperature
        p, alpha = self.distribution(z), self.alpha(z)
        slopes = np.array([line.slope(y, float(alpha[y])) for y in self.labels])
        curvatures = np.array([line.curvature(y, float(alpha[y])) for y in self.labels])
        residual = z - (self.round.margin - self.incidence.T @ slopes) / temperature
        covariance = np.diag(p) - np.outer(p, p)
        hessian = self.incidence.T @ (curvatures[:, None] * self.incidence)
        system = np.eye(len(z)) + budget / temperature * hessian @ covariance
        direction = -np.linalg.solve(system, residual)
        gain = -budget * temperature * float(residual @ covariance @ direction)
        return direction, gain
