"""What a learner can prove about the stream it has seen."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from tagalong import _native as core
from tagalong.learning.update_rules import BLOCK_RULES, mistake_bound

__all__ = ["Certificate", "NoBoundWarning"]

BlockFacts: TypeAlias = core.BlockCertificate | core.SharedCertificate


class NoBoundWarning(UserWarning):
    """A mistake bound was asked for where none is known."""


@dataclass(frozen=True)
class Certificate:
    r"""A learner's account of its rounds, with a proven bound.

    The learner ascends the dual of

    .. math:: \min_w F(w) + C \sum_t \ell_t(w),

    so :attr:`dual` is at all times a lower bound of that minimum: no fixed weights `w`, chosen
    with hindsight, reach a smaller value on the rounds so far. That holds whatever the data.

    It is a statement about the *current* weights: :attr:`mistakes` and :attr:`loss` count what
    they predicted, each before the round's answer was known. Averaged weights (``average``)
    predict better as a rule, but nothing is proven about them; nor about the cut-off of
    ``predict``, nor about examples still to come.

    Parameters
    ----------
    rounds : int
        Examples learnt with a positive weight. Each pass of ``fit`` counts anew.
    mistakes : int or float
        Rounds in which some relevant label did not score above every irrelevant one; for blocks
        of rows, with some row on the wrong side. Of blocks that fall into sets, shares of sets.
    loss : float
        Cumulative hinge loss of the current weights: the sum over the rounds of
        ``weight * max(0, margin - (lowest relevant score - highest irrelevant score))``.
    dual : float
        The dual value D: a lower bound of ``F(w) + C * loss(w)`` for every fixed ``w``.
    curvature : float
        B, the largest curvature met. Euclidean: the largest squared length of a row. Adaptive:
        the same with each feature rescaled as it was in that round. Entropic: a quarter of the
        squared range of a row's values, absent features counting as 0.
    update, geometry : str
        As given to the learner.
    C, margin, temperature : float
        As used by the learner.
    least_weight, most_weight : float
        The range of the positive sample weights so far.
    solver_iterations : tuple of (int, float)
        Interior point only: the most iterations a round took, and their mean.
    restarted : str
        Why the account does not begin with the first round, if so: weights that were changed in
        another way than by learning (a label forgotten, say) end what was proven about them.
        Since then everything counts anew, and the complexity of a competitor is its distance
        from the weights there were at that moment, in the sense of `F`.
    """

    rounds: int
    mistakes: float
    loss: float
    dual: float
    curvature: float
    update: str
    geometry: str
    C: float
    margin: float
    temperature: float
    least_weight: float = 1.0
    most_weight: float = 1.0
    solver_iterations: tuple[int, float] = (0, 0.0)
    restarted: str = ""

    @classmethod
    def of(
        cls,
        facts: core.LabelCertificate | BlockFacts,
        settings: Mapping[str, Any],
        restarted: str = "",
    ) -> "Certificate":
        """Return the certificate of a native learner.

        Parameters
        ----------
        facts : LabelCertificate, BlockCertificate or SharedCertificate
            What the native learner counted.
        settings : mapping
            What it was made with.
        restarted : str
            Why it does not begin with the first round, if so.
        """
        rounds = facts.solver_rounds
        mean = facts.solver_iterations / rounds if rounds else 0.0
        mistakes = facts.mistakes
        update = settings["update"]
        if not isinstance(facts, core.LabelCertificate):
            update = _update_of_blocks(update, facts)
        # By place, as this is made at every point of a curve.
        return cls(
            facts.rounds,
            int(mistakes) if mistakes == int(mistakes) else mistakes,
            facts.loss,
            facts.dual,
            facts.curvature,
            update,
            settings["geometry"],
            settings["C"],
            settings["margin"],
            settings.get("temperature", 0.0),
            facts.least_weight,
            facts.most_weight,
            (facts.solver_most_iterations, mean),
            restarted,
        )

    @property
    def gain_per_mistake(self) -> float:
        """Lambda: what each mistake has added to the dual at least; not positive if unknown."""
        bound = mistake_bound(self.update)
        if bound == "step given":
            return min(
                self._gain(self.C * self.least_weight), self._gain(self.C * self.most_weight)
            )
        if bound == "step chosen":
            best = self.margin / (2 * self.curvature) if self.curvature > 0 else math.inf
            return self._gain(min(self.C * self.least_weight, best))
        return 0.0

    def _gain(self, step: float) -> float:
        return self.margin * step - self.curvature * step * step

    def bound(self, complexity: float, loss: float) -> float:
        """Return how many mistakes were possible at most, against a competitor.

        A competitor is any fixed set of weights `w`, chosen with hindsight. Every mistake on a row
        that is not empty has lifted the dual value by at least ``gain_per_mistake`` (on an empty
        one every competitor loses as much), and the dual value cannot exceed the competitor's
        objective, so
        ``mistakes <= (complexity + C * loss) / gain_per_mistake``.

        Parameters
        ----------
        complexity : float
            F(w). Euclidean: half the squared length of all weights, those of the constant
            feature included. Adaptive: half of ``sum_j sqrt(S_j) |w_j|^2`` with today's scales
            ``S`` of the features. Entropic: the sum over labels of ``sum_j w_j log(n w_j)``.
        loss : float
            The competitor's cumulative loss on the same rounds, each times its sample weight:
            the hinge loss, or for ``update="smooth"`` the smoothed one,
            ``T log(1 + sum over pairs of exp((margin - difference of scores) / T))``.

        Returns
        -------
        float
            Infinity, with a `NoBoundWarning` that says why, where there is no bound.
        """
        if complexity < 0 or loss < 0:
            raise ValueError(
                f"complexity and loss must not be negative, got {complexity!r} and {loss!r}"
            )
        gain = self.gain_per_mistake
        if gain <= 0:
            warnings.warn(self._why_no_bound(), NoBoundWarning, stacklevel=2)
            return math.inf
        return (complexity + self.C * loss) / gain

    def _why_no_bound(self) -> str:
        if mistake_bound(self.update) == "step given":
            return (
                f"update={self.update!r} has a mistake bound only while C times the largest sample "
                f"weight is below margin/curvature = {self.margin / self.curvature:.6g}; it is "
                f"{self.C * self.most_weight:.6g}"
            )
        return (
            f"update={self.update!r} has no mistake bound; its dual value is still a lower bound "
            "of every competitor's objective"
        )

    def __str__(self) -> str:
        since = f" (counted anew: {self.restarted})" if self.restarted else ""
        if self.rounds == 0:
            return f"no rounds yet{since}"
        share = self.mistakes / self.rounds
        return (
            f"{self.mistakes:.6g} mistakes in {self.rounds} rounds ({share:.1%}), "
            f"loss {self.loss:.6g}; no fixed weights can have complexity + C * loss below "
            f"{self.dual:.6g}{since}"
        )


def _update_of_blocks(update: str, facts: BlockFacts) -> str:
    """Return the rule that proves something about the blocks that were learnt."""
    if facts.most_sets > 1 and mistake_bound(update) != "step given":
        return f"{update} on sets"  # whose own best steps together may overdraw the budget
    if facts.uneven and BLOCK_RULES[update].worst_row_only:
        return f"{update} of weighted rows"  # where the worst row need not be a mistaken one
    return update
