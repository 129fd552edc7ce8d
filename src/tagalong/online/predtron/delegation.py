"""Base class of `Predtron`: delegates calls to the learner for its kind of problem."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeAlias, TypeVar

from tagalong.learning import model_files
from tagalong.learning.fitted import Fitted
from tagalong.online.predtron.base_learner import header_with_problems, params_to_json
from tagalong.online.predtron.custom_problem_learner import CustomProblemPredtron
from tagalong.online.predtron.label_learner import LabelPredtron
from tagalong.online.predtron.query_learner import QueryPredtron
from tagalong.online.predtron.settings import PredtronParameters
from tagalong.online.predtron.unsupported_calls import unsupported_call
from tagalong.problems.builtin import BuiltinProblem
from tagalong.problems.registry import as_problem
from tagalong.problems.subset_ranking import SubsetRanking

__all__ = [
    "DelegatingEstimator",
    "ProblemLearner",
    "delegated",
    "delegated_chained",
    "learner_class",
]

ProblemLearner: TypeAlias = LabelPredtron | QueryPredtron | CustomProblemPredtron

P = ParamSpec("P")
R = TypeVar("R")
Estimator = TypeVar("Estimator", bound="DelegatingEstimator")

# If there are no labels, these methods raise the error for an unknown label, for every problem.
_LABEL_OPERATIONS = ("rename_label", "forget_labels", "merge_labels")
# Before the start, these methods return or raise the same for every problem.
_MODEL_QUERIES = (
    "explain_one",
    "feature_lengths",
    "keep_features",
    "own_feature_names",
    "probabilities",
    "rank_one",
    "score_one",
    "weights_by_feature",
)


def learner_class(problem: object) -> type[ProblemLearner]:
    """Return the class of the learner for a problem."""
    if isinstance(problem, SubsetRanking):
        return QueryPredtron
    return LabelPredtron if isinstance(problem, BuiltinProblem) else CustomProblemPredtron


class DelegatingEstimator(PredtronParameters, Fitted):
    """Keeps the parameters, and the learner that was made from them at the start.

    The learner holds the model. It is stored only once it has started, so that a failed first
    call leaves no trace.
    """

    _fitted_attribute = "_problem_learner"
    _problem_learner: ProblemLearner

    def set_params(self, **params: Any) -> Self:
        """Change parameters. Most of them take effect at the next ``fit``.

        Parameters
        ----------
        params : dict
            The new values, by parameter name.
        """
        super().set_params(**params)
        if self.is_started:
            self._problem_learner.set_params(**params)
        return self

    def _delegate(self, call: str) -> Callable[..., Any]:
        """Return the method for a call; ValueError if the problem does not support it."""
        if not self.is_started and call in _MODEL_QUERIES + _LABEL_OPERATIONS:
            return self._method_without_labels(call)
        learner = self._current_learner()
        if hasattr(type(learner), call):
            return partial(self._run, learner, call)
        if call in _LABEL_OPERATIONS:
            return self._method_without_labels(call)
        raise unsupported_call(call, self.problem, learner.current_problem)

    @staticmethod
    def _method_without_labels(call: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(LabelPredtron(), call)
        return method

    def _current_learner(self) -> ProblemLearner:
        return self._problem_learner if self.is_started else self._new_learner()

    def _new_learner(self) -> ProblemLearner:
        return learner_class(as_problem(self.problem))(**self.get_params(deep=False))

    def _started_learner(self, attribute: str) -> ProblemLearner:
        self._require_start(attribute)
        return self._problem_learner

    def _run(self, learner: ProblemLearner, call: str, *arguments: Any, **options: Any) -> Any:
        """Call a method of a learner; store the learner once started, even after an error."""
        method = getattr(learner, call)
        if learner.is_started:
            return method(*arguments, **options)
        try:
            return method(*arguments, **options)
        finally:
            if learner.is_started:
                self._problem_learner = learner

    # Persistence.

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of the model file."""
        header, arrays = self._problem_learner.to_parts()
        return {**header, "params": params_to_json(self)}, arrays

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: model_files.Arrays) -> Self:
        """Rebuild a learner from the output of ``to_parts``.

        Parameters
        ----------
        header : dict
            The JSON part of the model file.
        arrays : dict
            The arrays of the model file, by name.
        """
        named = header_with_problems(header)
        self = cls(**named["params"])
        self._problem_learner = learner_class(named["settings"]["problem"]).from_parts(
            header, arrays
        )
        return self

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return (
            {**state, "_problem_learner": self._problem_learner.__getstate__()}
            if self.is_started
            else state
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self.is_started:
            learnt = state["_problem_learner"]
            learner = learner_class(learnt["_settings"]["problem"])()
            learner.__setstate__(learnt)
            self._problem_learner = learner


def delegated(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Return a method that calls the learner's method of the same name and signature."""
    call = method.__name__

    @wraps(method)
    def delegating(self: DelegatingEstimator, /, *arguments: P.args, **options: P.kwargs) -> R:
        method = getattr(self.__dict__.get("_problem_learner"), call, None) or self._delegate(call)
        found: R = method(*arguments, **options)
        return found

    return delegating


def delegated_chained(
    method: Callable[Concatenate[Any, P], Any],
) -> Callable[Concatenate[Estimator, P], Estimator]:
    """Return a method as `delegated` does, except that it returns the estimator."""
    call = method.__name__

    @wraps(method)
    def delegating(self: Estimator, /, *arguments: P.args, **options: P.kwargs) -> Estimator:
        method = getattr(self.__dict__.get("_problem_learner"), call, None) or self._delegate(call)
        method(*arguments, **options)
        return self

    return delegating
