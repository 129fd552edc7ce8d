"""The built-in problems by the names that the command line and model files use."""

from typing import Any

from tagalong.problems.binary import Binary
from tagalong.problems.builtin import BuiltinProblem
from tagalong.problems.label_ranking import LabelRanking
from tagalong.problems.multiclass import Multiclass
from tagalong.problems.multilabel import Multilabel
from tagalong.problems.ordinal import Ordinal
from tagalong.problems.protocol import Problem, missing_members
from tagalong.problems.subset_ranking import SubsetRanking

__all__ = ["PROBLEMS", "as_problem", "problem_from_json", "problem_to_json"]

PROBLEMS: dict[str, type[BuiltinProblem]] = {
    "binary": Binary,
    "multiclass": Multiclass,
    "ordinal": Ordinal,
    "multilabel": Multilabel,
    "label-ranking": LabelRanking,
    "subset-ranking": SubsetRanking,
}


def as_problem(problem: Any) -> Problem:
    """Return a problem, or the built-in problem with this name; raise ValueError otherwise."""
    if isinstance(problem, str) and problem in PROBLEMS:
        builtin: Any = PROBLEMS[problem]()
        return builtin  # type: ignore[no-any-return]
    missing = missing_members(problem)
    if not missing and not isinstance(problem, type):
        return problem  # type: ignore[no-any-return]
    names = ", ".join(map(repr, PROBLEMS))
    reason = "" if isinstance(problem, (str, type)) else f", which has no {missing[0]}"
    raise ValueError(
        f"problem must be one of {names}, or an object with the members of "
        f"tagalong.problems.Problem, got {problem!r}{reason}"
    )


def problem_to_json(problem: Any) -> Any:
    """Return a problem as a JSON value of a model file: its name, or its name and settings."""
    if isinstance(problem, str):
        return problem
    names = [name for name, kind in PROBLEMS.items() if type(problem) is kind]
    if not names:
        raise ValueError(
            f"{problem!r} cannot be saved: a model file holds no code, so only built-in problems "
            "can be saved. Pickle the learner instead"
        )
    settings = problem.settings()
    if callable(settings.get("position")):
        raise ValueError(
            "a position that is a function cannot be saved: a model file holds no code. Pickle the "
            "learner instead"
        )
    return {"name": names[0], "settings": settings}


def problem_from_json(saved: Any) -> Any:
    """Return the problem that `problem_to_json` wrote."""
    if isinstance(saved, str):
        return saved
    settings = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in saved["settings"].items()
    }
    return PROBLEMS[saved["name"]](**settings)
