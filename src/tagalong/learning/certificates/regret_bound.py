"""The regret bound of a learner with partial feedback."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tagalong import _native as core

__all__ = ["ConfidenceBound"]


@dataclass(frozen=True)
class ConfidenceBound:
    """A bound on the regret of the rounds so far.

    The regret of a list is its expected cost minus that of the best list of the true model, in
    expectation over the labels. If every true margin is within its confidence width, the regret
    is at most a sum over the places of the list: ``miss_weight + (1 - miss_weight) * cost`` of
    the place times the difference between the largest and the smallest probability that the
    label at the place may have. :attr:`regret` is the sum of these bounds over the rounds. Under
    the assumptions of the theory, all of them hold simultaneously with probability
    :attr:`probability`.

    Parameters
    ----------
    rounds : int
        Number of rounds.
    shown : int
        Number of labels shown in these rounds.
    regret : float
        Bound on the total regret: the cost of all lists minus the cost of the best lists.
    probability : float
        Probability with which the bound holds if it is proven: 1 - delta.
    unproven : str
        The settings that the theory does not cover, if any. :attr:`regret` is then a measure of
        the learner's uncertainty, not a bound.
    ranking_regret : float or None
        Bound on the total regret in the partial rank loss, against the best rankings with the same
        numbers of slots (P3, Theorem 5; here as the sum over the rounds that its proof bounds). It
        exists in the ranking mode, that is, with ``miss_weight=1`` and strictly decreasing slot
        costs. In addition to the conditions of :attr:`regret`, the labels of a row must be
        independent given the row. None in other modes, and for a model whose first rounds were
        played before the bound existed.
    """

    rounds: int
    shown: int
    regret: float
    probability: float
    unproven: str = ""
    ranking_regret: float | None = None

    @classmethod
    def of(cls, facts: core.PartialCertificate, settings: Mapping[str, Any]) -> "ConfidenceBound":
        """Return the bound of a native learner.

        Parameters
        ----------
        facts : PartialCertificate
            The counts of the native learner.
        settings : mapping
            The learner's settings.
        """
        not_covered = {
            "update='full'": settings["update"] == "full",
            "covariance='diagonal'": settings["covariance"] == "diagonal",
            "exploration below 1": settings["exploration"] < 1,
            "normalize=False": not settings["normalize"],
            "max_explore": settings["max_explore"] >= 0,
            "norm_bound=None, whose widths hold only from some round on": (
                settings["norm_bound"] is None
            ),
        }
        return cls(
            rounds=facts.rounds,
            shown=facts.shown,
            regret=facts.regret,
            probability=1 - settings["delta"],
            unproven=", ".join(name for name, applies in not_covered.items() if applies),
            ranking_regret=_ranking_regret(facts),
        )

    @property
    def proven(self) -> bool:
        """Whether the theory covers the settings."""
        return not self.unproven

    def __str__(self) -> str:
        if self.rounds == 0:
            return "no rounds yet"
        shown = f"{self.shown} labels shown in {self.rounds} rounds"
        costs = f"the lists cost at most {self.regret:.6g} more than the best ones"
        if self.ranking_regret is not None:
            costs += (
                f", and as rankings of independent labels at most {self.ranking_regret:.6g} more"
            )
        if self.proven:
            return f"{shown}; with probability {self.probability:.6g} {costs}"
        return f"{shown}; by the confidence widths {costs}, which is not proven for {self.unproven}"


def _ranking_regret(facts: core.PartialCertificate) -> float | None:
    if not facts.ranks or math.isnan(facts.ranking_regret):
        return None
    return facts.ranking_regret
