"""The problems by name, as the command line and model files call them."""

from typing import Any

from tagalong.problems.binary import Binary
from tagalong.problems.builtin import BuiltinProblem
from tagalong.problems.label_ranking import LabelRanking
from tagalong.problems.multiclass import Multiclass
from tagalong.problems.multilabel import Multilabel
from tagalong.problems.ordinal import Ordinal
from tagalong.problems.protocol import Problem, missing_parts
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


def as_problem(given: Any) -> Problem:
    """Return a problem given by itself or by its name; ValueError if it is neither."""
    if isinstance(given, str) and given in PROBLEMS:
        made: Any = PROBLEMS[given]()
        return made  # type: ignore[no-any-return]
    missing = missing_parts(given)
    if not missing and not isinstance(given, type):
        return given  # type: ignore[no-any-return]
    names = ", ".join(map(repr, PROBLEMS))
    lacks = "" if isinstance(given, (str, type)) else f", which has no {missing[0]}"
    raise ValueError(
        f"problem must be one of {names}, or an object like tagalong.problems.Problem, got "
        f"{given!r}{lacks}"
    )


def problem_to_json(problem: Any) -> Any:
    """Return a problem as a model file keeps it: its name, or name and settings."""
    if isinstance(problem, str):
        return problem
    names = [name for name, kind in PROBLEMS.items() if type(problem) is kind]
    if not names:
        raise ValueError(
            f"{problem!r} cannot be saved: a model file holds no code, and only the problems of "
            "this package are known by name. Pickle the learner instead"
        )
    settings = problem.settings()
    if callable(settings.get("position")):
        raise ValueError(
            "a position of one's own cannot be saved: a model file holds no code. Pickle the "
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
