"""Predtron's parameters, and their validation into settings of the native learner."""

from typing import Any

from sklearn.base import BaseEstimator

from tagalong import parameters
from tagalong.learning.update_rules import PREDTRON_UPDATES
from tagalong.norms.protocol import as_norm
from tagalong.online.label_ranker.learner import LARGEST_BUDGET, LARGEST_CONSTANT
from tagalong.problems.builtin import BuiltinProblem
from tagalong.problems.registry import as_problem
from tagalong.problems.subset_ranking import SubsetRanking

__all__ = ["PredtronParameters", "checked_settings"]

UPDATES = tuple(PREDTRON_UPDATES)
KERNELS = ("linear", "rbf", "poly")


class PredtronParameters(BaseEstimator):
    """The parameters of `Predtron` and of the learners behind it."""

    def __init__(
        self,
        problem: Any = "label-ranking",
        norm: Any = "l2",
        update: str = "mistake",
        step: float | None = None,
        average: bool = False,
        kernel: str | None = None,
        budget: int | None = None,
        gamma: float = 1.0,
        degree: float = 3,
        normalize: bool = False,
        constant: float = 0.0,
        passes: int = 1,
        n_features: int | None = None,
        dtype: str = "float32",
    ):
        self.problem = problem
        self.norm = norm
        self.update = update
        self.step = step
        self.average = average
        self.kernel = kernel
        self.budget = budget
        self.gamma = gamma
        self.degree = degree
        self.normalize = normalize
        self.constant = constant
        self.passes = passes
        self.n_features = n_features
        self.dtype = dtype

    def check_parameters(self) -> None:
        """Raise ValueError for the first invalid parameter."""
        checked_settings(self)

    @property
    def feature_count_matters(self) -> bool:
        """Whether scores depend on ``n_features``: with norms other than l2."""
        return not isinstance(self.norm, str) or self.norm != "l2"


def checked_settings(given: PredtronParameters) -> dict[str, Any]:
    """Return the settings of the native learner; ValueError for an invalid parameter.

    Parameters
    ----------
    given : PredtronParameters
        The parameters.
    """
    problem: Any = as_problem(given.problem)
    norm_or_name = as_norm(given.norm)
    norm = norm_or_name if isinstance(norm_or_name, str) else "custom"
    dtype = parameters.choice(given.dtype, "dtype", ("float32", "float64"))
    average = parameters.flag(given.average, "average")
    constant = parameters.real(given.constant, "constant")
    if abs(constant) > LARGEST_CONSTANT:
        raise ValueError(f"constant must be at most {LARGEST_CONSTANT:g}, got {constant!r}")
    step = 0.0
    if given.step is not None:
        step = parameters.positive(given.step, "step", LARGEST_BUDGET[dtype])
    _check_kernel(given, norm)
    if given.n_features is not None:
        parameters.integer(given.n_features, "n_features", 1, 2**31)
    parameters.integer(given.passes, "passes", 1)
    queries = isinstance(problem, SubsetRanking)
    if queries:
        _check_for_queries(given, norm, constant)
    dimension = 0
    if not isinstance(problem, BuiltinProblem):
        dimension = parameters.integer(problem.dimension, "problem.dimension", 1)
        parameters.positive(problem.least_loss, "problem.least_loss")
    return {
        "problem": problem,
        "norm": norm if given.kernel is None else "kernel",
        "kernel": given.kernel or "linear",
        "gamma": parameters.positive(given.gamma, "gamma"),
        "degree": parameters.positive(given.degree, "degree"),
        "budget": 0 if given.budget is None else parameters.integer(given.budget, "budget", 1),
        "update": parameters.choice(given.update, "update", UPDATES),
        "step": step,
        "average": average,
        "normalize": parameters.flag(given.normalize, "normalize"),
        "constant": constant,
        "queries": queries,
        "dimension": dimension,
        "geometry": norm_or_name,
        "dtype": dtype,
    }


def _check_kernel(given: PredtronParameters, norm: str) -> None:
    if given.kernel is None:
        if given.budget is not None:
            raise ValueError(f"budget={given.budget!r} needs a kernel, but kernel is None")
        return
    parameters.choice(given.kernel, "kernel", KERNELS)
    if norm != "l2":
        raise ValueError(f"kernel={given.kernel!r} needs norm='l2', got {given.norm!r}")


def _check_for_queries(given: PredtronParameters, norm: str, constant: float) -> None:
    if norm in ("trace", "custom") or given.kernel is not None:
        raise ValueError(
            "subset ranking has one weight vector: norm must be 'l2', 'l1' or 'group', and kernel "
            f"None, got {given.norm!r} and {given.kernel!r}"
        )
    # A constant feature adds the same to every document of a query, so it cannot rank them.
    if constant != 0 or given.normalize:
        raise ValueError(
            "subset ranking needs constant=0 and normalize=False, got "
            f"constant={given.constant!r} and normalize={given.normalize!r}"
        )
