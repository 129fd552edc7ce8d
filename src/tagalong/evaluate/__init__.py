"""Evaluation: what a learner predicts, measured before it learns the answer.

The names load on first use; `tagalong.evaluate.measures` has the formulas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagalong.evaluate.coverage import CoverageCurve, coverage_curve
    from tagalong.evaluate.graded import mean_ndcg, ndcg
    from tagalong.evaluate.lists import (
        ListLosses,
        best_list,
        expected_loss,
        list_losses,
        rank_loss,
    )
    from tagalong.evaluate.measures import LabelMeasures, Measures
    from tagalong.evaluate.progress import Progress
    from tagalong.evaluate.query_progress import QueryProgress
    from tagalong.evaluate.regret import LabelModel
    from tagalong.evaluate.report import Report
    from tagalong.evaluate.runs import frozen, progressive

_HOMES = {
    "CoverageCurve": "coverage",
    "LabelMeasures": "measures",
    "LabelModel": "regret",
    "ListLosses": "lists",
    "Measures": "measures",
    "Progress": "progress",
    "QueryProgress": "query_progress",
    "Report": "report",
    "best_list": "lists",
    "coverage_curve": "coverage",
    "expected_loss": "lists",
    "frozen": "runs",
    "list_losses": "lists",
    "mean_ndcg": "graded",
    "ndcg": "graded",
    "progressive": "runs",
    "rank_loss": "lists",
}

__all__ = [
    "CoverageCurve",
    "LabelMeasures",
    "LabelModel",
    "ListLosses",
    "Measures",
    "Progress",
    "QueryProgress",
    "Report",
    "best_list",
    "coverage_curve",
    "expected_loss",
    "frozen",
    "list_losses",
    "mean_ndcg",
    "ndcg",
    "progressive",
    "rank_loss",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
