"""The loss bound of Predtron."""

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
    r"""Predtron's counts over its rounds, with a proven bound on its loss.

    A competitor is a fixed matrix W of norm 1 (in the learner's norm) that scores the correct
    predictions of every round by a margin :math:`\gamma` above all others. If one exists,

    .. math:: \sum L \le \frac{C_L^2}{2 \eta \gamma^2 (1 - 2 \eta R^2 / c_L)}.

    For the step of the theory, :math:`\eta = c_L / 4R^2`, the bound is
    :math:`4 R^2 C_L^2 / (c_L \gamma^2)`. With ``update="loss"`` it is
    :math:`4 R^2 C_L / \gamma^2` for every step. In norms other than l2, :math:`R^2` is multiplied
    by ``spread``.

    Parameters
    ----------
    rounds : int
        Examples learnt with a positive weight; each pass of ``fit`` counts them again.
    mistakes : int
        Rounds in which the prediction of the current weights had a loss.
    loss : float
        The sum of these losses, each times its sample weight.
    radius : float
        R, the largest norm of an example: Euclidean, or the largest absolute entry for l1 and
        group, or the radius of a custom norm. For queries it is the operator norm (with a given
        step the Frobenius norm, which is no smaller), or the largest norm of a column.
    least_loss, most_loss : float
        c_L and C_L of the problem.
    spread : float
        1 for l2 and custom norms; e^2 (log p - 1) for a link with p weights.
    step : float
        The step of all rounds with a loss; NaN if it has changed.
    update, norm : str
        The learner's parameters.
    weighted : bool
        Whether some round had a weight other than 1.
    separable : bool
        Whether a competitor can exist for this problem.
    restarted : str
        Why counting restarted after the first round; empty if it did not.
    dual : float
        NaN: there is no dual value. The field exists because reports of runs read it.
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
            The counts of the native learner.
        settings : mapping
            The learner's settings.
        most_loss : float
            C_L of the problem.
        separable : bool
            Whether a competitor can exist for this problem.
        restarted : str
            Why counting restarted after the first round; empty if it did not.
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
        """NaN: there is no dual value that a mistake could raise."""
        return math.nan

    def bound(self, margin: float) -> float:
        """Return the upper bound on the total loss if a competitor with this margin exists.

        Parameters
        ----------
        margin : float
            By how much the competitor, of norm 1, scores correct predictions above all others.

        Returns
        -------
        float
            The bound. Without one: infinity, and a `NoBoundWarning` that says why.
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
        remainder = 1 - 2 * self.step * square / self.least_loss
        return self.most_loss**2 / (2 * self.step * margin**2 * remainder)

    def _why_no_bound(self) -> str:
        if self.restarted:
            return f"the weights were changed other than by learning: {self.restarted}"
        if self.weighted:
            return "there is no bound with sample weights other than 1"
        if not self.separable:
            return "no scores separate an answer of this problem from all others: no bound applies"
        if self.mistakes == 0:
            return ""
        if math.isnan(self.step):
            return (
                "the step has changed because the largest norm or the number of labels grew, and "
                "no theorem covers that: set step, or normalise the rows"
            )
        limit = self.least_loss / (2 * self.radius**2 * self.spread)
        if self.update == "mistake" and not self.step < limit:
            return f"there is no bound for step={self.step:.6g}: it must be below {limit:.6g}"
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
