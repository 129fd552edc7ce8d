"""What Predtron can prove about its rounds."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tagalong import _native as core
from tagalong.learning.certificates.mistake_bound import NoBoundWarning

__all__ = ["LossCertificate"]


@dataclass(frozen=True)
class LossCertificate:
    r"""Predtron's account of its rounds, with the bounds on its loss.

    A competitor is a fixed matrix W of norm 1 (in the learner's norm) that keeps the correct
    predictions of every round a margin :math:`\gamma` above all others. Against it

    .. math:: \sum L \le \frac{C_L^2}{2 \eta \gamma^2 (1 - 2 \eta R^2 / c_L)},

    which for the step of the theory, :math:`\eta = c_L / 4R^2`, is
    :math:`4 R^2 C_L^2 / (c_L \gamma^2)`; the update by loss has :math:`4 R^2 C_L / \gamma^2`
    whatever the step. In the norms other than l2 the square of R is multiplied by ``spread``.

    Parameters
    ----------
    rounds : int
        Examples learnt with a positive weight. Each pass of ``fit`` counts anew.
    mistakes : int
        Rounds in which the current weights predicted something with a loss.
    loss : float
        The sum of these losses, each times its sample weight.
    radius : float
        R, the largest norm of an example: the Euclidean one, or the largest entry for l1 and group.
        Of queries the operator norm (or the Frobenius norm, which is no smaller, where the step is
        given), or the largest norm of a column.
    least_loss, most_loss : float
        c_L and C_L of the problem.
    spread : float
        1 for l2; of a link for p numbers e^2 (log p - 1).
    step : float
        The step of all rounds with a loss; NaN if it has changed.
    update, norm : str
        As given to the learner.
    weighted : bool
        Whether some round had another weight than 1.
    separable : bool
        Whether the problem can have a margin at all.
    restarted : str
        Why the account does not begin with the first round, if so.
    dual : float
        NaN: there is no dual value. Reports of runs have a place for it.
    """

    rounds: int
    mistakes: int
    loss: float
    radius: float
    least_loss: float
    most_loss: float
    spread: float
    step: float
    update: str
    norm: str
    weighted: bool = False
    separable: bool = True
    restarted: str = ""
    dual: float = math.nan

    @classmethod
    def of(
        cls,
        facts: core.PredtronCertificate,
        settings: Mapping[str, Any],
        most_loss: float,
        separable: bool,
        restarted: str,
    ) -> "LossCertificate":
        """Return the certificate of a native learner.

        Parameters
        ----------
        facts : PredtronCertificate
            What the native learner counted.
        settings : mapping
            What it was made with.
        most_loss : float
            C_L of the problem.
        separable : bool
            Whether the problem can have a margin at all.
        restarted : str
            Why it does not begin with the first round, if so.
        """
        constant = facts.least_step == facts.most_step
        return cls(
            rounds=facts.rounds,
            mistakes=facts.mistakes,
            loss=facts.loss,
            radius=facts.radius,
            spread=facts.spread,
            least_loss=facts.least_loss,
            most_loss=most_loss,
            step=facts.most_step if constant else math.nan,
            update=settings["update"],
            norm=settings["norm"],
            weighted=not facts.least_weight == facts.most_weight == 1.0,
            separable=separable,
            restarted=restarted,
        )

    @property
    def gain_per_mistake(self) -> float:
        """NaN: mistakes lift no dual value here."""
        return math.nan

    def bound(self, margin: float) -> float:
        """Return the loss that was possible at most, against a competitor.

        Parameters
        ----------
        margin : float
            By how much the competitor, of norm 1, keeps correct predictions above all others.

        Returns
        -------
        float
            Infinity, with a `NoBoundWarning` that says why, where there is no bound.
        """
        if not margin > 0:
            raise ValueError(f"margin must be positive, got {margin!r}")
        if reason := self._why_no_bound():
            warnings.warn(reason, NoBoundWarning, stacklevel=2)
            return math.inf
        if self.mistakes == 0:
            return 0.0
        square = self.radius**2 * self.spread
        if self.update == "loss":
            return 4 * square * self.most_loss / margin**2
        kept = 1 - 2 * self.step * square / self.least_loss
        return self.most_loss**2 / (2 * self.step * margin**2 * kept)

    def _why_no_bound(self) -> str:
        if self.restarted:
            return f"the weights were changed otherwise than by learning: {self.restarted}"
        if self.weighted:
            return "rounds of different weight have no bound"
        if not self.separable:
            return "no scores are compatible with an answer of this problem: its bound is empty"
        if self.mistakes == 0:
            return ""
        if math.isnan(self.step):
            return (
                "the step has changed as the largest norm or the number of labels grew: there is "
                "no theorem for that. Give a step, or normalise the rows"
            )
        limit = self.least_loss / (2 * self.radius**2 * self.spread)
        if self.update == "mistake" and not self.step < limit:
            return f"a step of {self.step:.6g} has no bound: it must be below {limit:.6g}"
        return ""

    def __str__(self) -> str:
        since = f" (counted anew: {self.restarted})" if self.restarted else ""
        if self.rounds == 0:
            return f"no rounds yet{since}"
        share = self.mistakes / self.rounds
        return (
            f"{self.mistakes} mistakes in {self.rounds} rounds ({share:.1%}), loss "
            f"{self.loss:.6g}, largest norm {self.radius:.6g}{since}"
        )
