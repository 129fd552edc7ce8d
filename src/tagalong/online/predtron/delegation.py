"""An estimator that hands its calls to a learner for the kind of problem that it has."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeAlias, TypeVar

from tagalong.learning import model_files
from tagalong.learning.fitted import Fitted
from tagalong.online.predtron.answer_learner import AnswerPredtron
from tagalong.online.predtron.core import with_problems
from tagalong.online.predtron.label_learner import LabelPredtron
from tagalong.online.predtron.query_learner import QueryPredtron
from tagalong.online.predtron.refusals import refusal
from tagalong.online.predtron.settings import PredtronParameters
from tagalong.problems.builtin import BuiltinProblem
from tagalong.problems.registry import as_problem, problem_to_json
from tagalong.problems.subset_ranking import SubsetRanking

__all__ = ["DelegatingEstimator", "Part", "delegated", "delegated_chained", "part_class"]

Part: TypeAlias = LabelPredtron | QueryPredtron | AnswerPredtron

P = ParamSpec("P")
R = TypeVar("R")
Estimator = TypeVar("Estimator", bound="DelegatingEstimator")

# Where there are no labels, these find none, whatever the problem is.
_NAMES_LABELS = ("rename_label", "forget_labels", "merge_labels")
# Before learning starts there is nothing to tell, whatever the problem is.
_TELLS_OF_WEIGHTS = (
    "explain_one",
    "feature_lengths",
    "keep_features",
    "own_feature_names",
    "probabilities",
    "rank_one",
    "score_one",
    "weights_by_feature",
)


def part_class(problem: Any) -> type[Part]:
    """Return the class of the learner for a problem."""
    if isinstance(problem, SubsetRanking):
        return QueryPredtron
    return LabelPredtron if isinstance(problem, BuiltinProblem) else AnswerPredtron


class DelegatingEstimator(PredtronParameters, Fitted):
    """Keeps the parameters, and the learner that was made with them when learning began.

    The learner is the estimator's part; what it has learnt is there. It is kept once it has
    started, so that a first call that fails leaves nothing behind.
    """

    _fitted_attribute = "_part"
    _part: Part

    def set_params(self, **params: Any) -> Self:
        """Change parameters. Most of them count from the next ``fit`` on.

        Parameters
        ----------
        params : dict
            Parameters by name.
        """
        super().set_params(**params)
        if self.is_started:
            self._part.set_params(**params)
        return self

    def _method_of_part(self, call: str) -> Callable[..., Any]:
        """Return the method that answers a call; ValueError if it does not fit the problem."""
        if not self.is_started and call in _TELLS_OF_WEIGHTS + _NAMES_LABELS:
            return self._method_of_no_labels(call)
        part = self._part_in_use()
        if hasattr(type(part), call):
            return partial(self._run, part, call)
        if call in _NAMES_LABELS:
            return self._method_of_no_labels(call)
        raise refusal(call, self.problem, part.current_problem)

    @staticmethod
    def _method_of_no_labels(call: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(LabelPredtron(), call)
        return found

    def _part_in_use(self) -> Part:
        return self._part if self.is_started else self._new_part()

    def _new_part(self) -> Part:
        return part_class(as_problem(self.problem))(**self.get_params(deep=False))

    def _started_part(self, attribute: str) -> Part:
        self._require_start(attribute)
        return self._part

    def _run(self, part: Part, call: str, *arguments: Any, **options: Any) -> Any:
        """Call a part, and keep it if that has started it; after an interruption too."""
        method = getattr(part, call)
        if part.is_started:
            return method(*arguments, **options)
        try:
            return method(*arguments, **options)
        finally:
            if part.is_started:
                self._part = part

    # Files and copies.

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of a file."""
        header, arrays = self._part.to_parts()
        params = {**self.get_params(deep=False), "problem": problem_to_json(self.problem)}
        return {**header, "params": params}, arrays

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: model_files.Arrays) -> Self:
        """Return the model that ``to_parts`` took apart.

        Parameters
        ----------
        header : dict
            What can be said in JSON.
        arrays : dict
            Arrays by name.
        """
        named = with_problems(header)
        self = cls(**named["params"])
        self._part = part_class(named["settings"]["problem"]).from_parts(header, arrays)
        return self

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_part": self._part.__getstate__()} if self.is_started else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self.is_started:
            learnt = state["_part"]
            part = part_class(learnt["_settings"]["problem"])()
            part.__setstate__(learnt)
            self._part = part


def delegated(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Return a method that calls a part's, with its name, signature and description."""
    call = method.__name__

    @wraps(method)
    def of_part(self: DelegatingEstimator, /, *arguments: P.args, **options: P.kwargs) -> R:
        method = getattr(self.__dict__.get("_part"), call, None) or self._method_of_part(call)
        found: R = method(*arguments, **options)
        return found

    return of_part


def delegated_chained(
    method: Callable[Concatenate[Any, P], Any],
) -> Callable[Concatenate[Estimator, P], Estimator]:
    """Return a method that calls a part's, like `delegated`, and returns the estimator itself."""
    call = method.__name__

    @wraps(method)
    def of_part(self: Estimator, /, *arguments: P.args, **options: P.kwargs) -> Estimator:
        method = getattr(self.__dict__.get("_part"), call, None) or self._method_of_part(call)
        method(*arguments, **options)
        return self

    return of_part
