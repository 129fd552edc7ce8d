"""What a learner from partial feedback can say about the lists it has shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tagalong import _native as core

__all__ = ["ConfidenceBound"]


@dataclass(frozen=True)
class ConfidenceBound:
    """A running bound on the regret, instead of a mistake bound.

    If every true margin is within its width, the list of a round costs, in expectation over the
    labels, at most the sum over its places of ``miss_weight + (1 - miss_weight) * cost`` times
    the difference between the largest and the least probability that its label may have, more
    than the best list of the true model. :attr:`regret` sums that over the rounds. Under the
    assumptions of the theory it holds with probability :attr:`probability`, for all rounds
    together.

    Parameters
    ----------
    rounds : int
        How many rounds there were.
    shown : int
        How many labels were shown in them.
    regret : float
        By how much the lists so far can have cost more than the best ones.
    probability : float
        With which the bound holds, if it is proven: 1 - delta.
    unproven : str
        Which settings the theory does not cover, if any; then :attr:`regret` says how sure the
        learner is of its lists, and is no bound.
    """

    rounds: int
    shown: int
    regret: float
    probability: float
    unproven: str = ""

    @classmethod
    def of(cls, facts: core.PartialCertificate, settings: Mapping[str, Any]) -> "ConfidenceBound":
        """Return the bound of a native learner.

        Parameters
        ----------
        facts : PartialCertificate
            What it counted.
        settings : mapping
            What it was made with.
        """
        beyond = {
            "update='full'": settings["update"] == "full",
            "covariance='diagonal'": settings["covariance"] == "diagonal",
            "exploration below 1": settings["exploration"] < 1,
            "normalize=False": not settings["normalize"],
            "max_explore": settings["max_explore"] >= 0,
            "norm_bound=None, whose widths hold from some round on": settings["norm_bound"] is None,
        }
        return cls(
            rounds=facts.rounds,
            shown=facts.shown,
            regret=facts.regret,
            probability=1 - settings["delta"],
            unproven=", ".join(name for name, found in beyond.items() if found),
        )

    @property
    def proven(self) -> bool:
        """Whether the theory covers the settings."""
        return not self.unproven

    def __str__(self) -> str:
        if self.rounds == 0:
            return "no rounds yet"
        shown = f"{self.shown} labels shown in {self.rounds} rounds"
        if self.proven:
            return (
                f"{shown}; with probability {self.probability:.6g} the lists cost at most "
                f"{self.regret:.6g} more than the best ones"
            )
        return (
            f"{shown}; by the widths the lists cost at most {self.regret:.6g} more than the best "
            f"ones, which is not proven for {self.unproven}"
        )
