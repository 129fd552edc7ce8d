"""The mistake bound and the dual value of an online learner."""

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
    """A bound was requested, but none is known for the settings or the data."""


@dataclass(frozen=True)
class Certificate:
    r"""A learner's counts over its rounds, with a proven mistake bound.

    The learner ascends the dual of

    .. math:: \min_w F(w) + C \sum_t \ell_t(w),

    so :attr:`dual` is always a lower bound of that minimum: no fixed weights `w`, chosen with
    hindsight, reach a smaller value on the rounds so far. This holds for any data.

    The certificate is about the *current* weights: :attr:`mistakes` and :attr:`loss` count their
    predictions, each made before the round's labels were known. Averaged weights (``average``)
    usually predict better, but nothing is proven about them, about the cut-off of ``predict``, or
    about future examples.

    Parameters
    ----------
    rounds : int
        Examples learnt with a positive weight; each pass of ``fit`` counts them again.
    mistakes : int or float
        Rounds in which some relevant label did not score above every irrelevant one. For blocks
        of rows: blocks with some row on the wrong side. If a block consists of sets, it counts
        the fraction of its sets that have such a row.
    loss : float
        Cumulative hinge loss of the current weights: the sum over the rounds of
        ``weight * max(0, margin - (lowest relevant score - highest irrelevant score))``.
    dual : float
        The dual value D: a lower bound of ``F(w) + C * loss(w)`` for every fixed ``w``.
    curvature : float
        B, the largest curvature of any round. Euclidean: the squared length of the row. Adaptive:
        the same, with the features scaled as in that round. Entropic: a quarter of the squared
        range of the row's values, where absent features are 0.
    update, geometry : str
        The learner's parameters.
    C, margin, temperature : float
        The values that the learner uses.
    least_weight, most_weight : float
        The range of the positive sample weights so far.
    solver_iterations : tuple of (int, float)
        Interior point only: the maximum and the mean number of iterations per round.
    restarted : str
        Why counting restarted after the first round; empty if it did not. A change of weights
        other than by learning (such as a forgotten label) invalidates the proof. All counts then
        restart, and the complexity of a competitor is its distance, in the sense of `F`, from the
        weights at that moment.
    unsolved : int
        Rounds in which the solver reached its limit, because the numbers were too large or too
        small for it; the count is saved with the model. Such a round takes a simpler step.
        Everything said here holds for it too, except the mistake bound of blocks of rows.
    penalty : float
        P, the sum of all decreases of the dual value other than by learning: when the scale of a
        feature changed, which only the adaptive geometry does (by learnt relevances of features,
        and by growing scales after a restart), and when rankers were mixed (`tagalong.mix`).
    contestant : str
        The ranker of a race that the certificate belongs to; empty for one learner. Its features
        are scaled in its own way, and its rounds count from its start. Nothing is proven about the
        mixture of the race, nor about contestants that are no rankers.
    rankers : int
        How many rankers were mixed (`tagalong.mix`), if each had learnt from scratch and nothing
        was learnt since; 1 for one ranker; 0 after other mixtures, and once a mixture goes on
        learning. `rounds`, `mistakes` and `loss` are sums over the rankers.
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
    unsolved: int = 0
    penalty: float = 0.0
    contestant: str = ""
    rankers: int = 1

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
            The counts of the native learner.
        settings : mapping
            The learner's settings.
        restarted : str
            Why counting restarted after the first round; empty if it did not.
        """
        rounds = facts.solver_rounds
        mean = facts.solver_iterations / rounds if rounds else 0.0
        mistakes = facts.mistakes
        update = settings["update"]
        budget, temperature = settings["C"], settings.get("temperature", 0.0)
        penalty, contestant, rankers = 0.0, "", 1
        if isinstance(facts, core.LabelCertificate):
            penalty, contestant, rankers = facts.penalty, facts.contestant, facts.rankers
            if contestant:
                budget, temperature = facts.budget, facts.temperature
        else:
            update = _update_of_blocks(update, facts)
        # Positional arguments: faster, and this runs at every point of a learning curve.
        return cls(
            facts.rounds,
            int(mistakes) if mistakes == int(mistakes) else mistakes,
            facts.loss,
            facts.dual,
            facts.curvature,
            update,
            settings["geometry"],
            budget,
            settings["margin"],
            temperature,
            facts.least_weight,
            facts.most_weight,
            (facts.solver_most_iterations, mean),
            restarted,
            facts.unsolved,
            penalty,
            contestant,
            rankers,
        )

    @property
    def gain_per_mistake(self) -> float:
        """Lambda: the least that a mistake adds to the dual value; not positive if unknown."""
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
        """Return the upper bound on the number of mistakes, given a competitor.

        A competitor is any fixed set of weights `w`, chosen with hindsight. Every mistake on a
        non-empty row raises the dual value by at least ``gain_per_mistake`` (on an empty row
        every competitor has the same loss). Changes of the scales of features, and mixing, have
        lowered it by at most ``penalty``. The dual value cannot exceed the competitor's objective,
        so ``mistakes <= (complexity + C * loss + penalty) / gain_per_mistake``. If K rankers were
        mixed, ``(K * complexity + C * loss) / gain_per_mistake`` is a bound, too; the smaller one
        is returned.

        Parameters
        ----------
        complexity : float
            F(w). Euclidean: half the squared length of all weights, including those of the
            constant feature. Adaptive: half of ``sum_j sqrt(S_j) |w_j|^2`` with the current
            scales ``S`` of the features; with learnt relevances ``beta``, of
            ``sum_j sqrt(S_j) exp(-2 beta_j) |w_j|^2``. Entropic: the sum over labels of
            ``sum_j w_j log(n w_j)``.
        loss : float
            The competitor's cumulative loss on the same rounds, each times its sample weight:
            the hinge loss, or for ``update="smooth"`` the smooth loss,
            ``T log(1 + sum over pairs of exp((margin - difference of scores) / T))``.

        Returns
        -------
        float
            The bound. Without one: infinity, and a `NoBoundWarning` that says why.
        """
        if complexity < 0 or loss < 0:
            raise ValueError(
                f"complexity and loss must not be negative, got {complexity!r} and {loss!r}"
            )
        gain = self.gain_per_mistake
        if gain <= 0:
            warnings.warn(self._why_no_bound(), NoBoundWarning, stacklevel=2)
            return math.inf
        objective = complexity + self.C * loss + self.penalty
        if self.rankers > 1:
            objective = min(objective, self.rankers * complexity + self.C * loss)
        return objective / gain

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
        who = f"contestant {self.contestant}: " if self.contestant else ""
        since = f" (counted anew: {self.restarted})" if self.restarted else ""
        if self.unsolved:
            rounds = "1 round" if self.unsolved == 1 else f"{self.unsolved} rounds"
            since += f" (the solver reached its limit in {rounds})"
        if self.rounds == 0:
            return f"{who}no rounds yet{since}"
        if self.rankers > 1:
            since += f" (all of {self.rankers} mixed rankers)"
        share = self.mistakes / self.rounds
        return (
            f"{who}{self.mistakes:.6g} mistakes in {self.rounds} rounds ({share:.1%}), "
            f"loss {self.loss:.6g}; no fixed weights can have complexity + C * loss below "
            f"{self.dual:.6g}{since}"
        )


def _update_of_blocks(update: str, facts: BlockFacts) -> str:
    """Return the rule's name, or a name without a mistake bound if the blocks rule one out."""
    if facts.most_sets > 1 and mistake_bound(update) != "step given":
        return f"{update} on sets"  # the sets' best steps together may exceed the budget C
    if facts.uneven and BLOCK_RULES[update].worst_row_only:
        return f"{update} of weighted rows"  # the worst row may be one without a mistake
    return update
