"""The warning that a learner's solver reached its limit."""

import warnings
from typing import Protocol

from sklearn.exceptions import ConvergenceWarning

__all__ = ["Solver", "warn_if_unsolved"]


class Solver(Protocol):
    """A native learner that solves a problem in each round."""

    @property
    def unsolved(self) -> int:
        """The rounds in which the solver reached its limit."""


def warn_if_unsolved(solver: Solver, before: int) -> None:
    """Warn the first time that the solver of a learner reaches its limit.

    Parameters
    ----------
    solver : Solver
        The native learner, after it has learnt.
    before : int
        Its ``unsolved`` rounds before that.
    """
    if before == 0 and solver.unsolved > 0:
        warnings.warn(
            "the best step of a round could not be computed within the solver's limit, so a "
            "simpler step was taken: the certificate holds, but learning may be slower; scale the "
            "data (normalize=True does) or lower C, sample_weight or, in the smooth update, raise "
            "temperature; certificate_.unsolved counts such rounds",
            ConvergenceWarning,
            stacklevel=4,
        )
