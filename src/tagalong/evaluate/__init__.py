"""Evaluation of learners, in particular of predictions made before the labels are learnt.

The names are loaded at first use. `tagalong.evaluate.measures` has the formulas.
"""

from typing import TYPE_CHECKING

from tagalong.lazy_names import lazy_names

if TYPE_CHECKING:
    from tagalong.evaluate.coverage import CoverageCurve, coverage_curve
    from tagalong.evaluate.frozen_runs import frozen
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
    from tagalong.evaluate.runs import progressive

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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CoverageCurve": "tagalong.evaluate.coverage",
        "LabelMeasures": "tagalong.evaluate.measures",
        "LabelModel": "tagalong.evaluate.regret",
        "ListLosses": "tagalong.evaluate.lists",
        "Measures": "tagalong.evaluate.measures",
        "Progress": "tagalong.evaluate.progress",
        "QueryProgress": "tagalong.evaluate.query_progress",
        "Report": "tagalong.evaluate.report",
        "best_list": "tagalong.evaluate.lists",
        "coverage_curve": "tagalong.evaluate.coverage",
        "expected_loss": "tagalong.evaluate.lists",
        "frozen": "tagalong.evaluate.frozen_runs",
        "list_losses": "tagalong.evaluate.lists",
        "mean_ndcg": "tagalong.evaluate.graded",
        "ndcg": "tagalong.evaluate.graded",
        "progressive": "tagalong.evaluate.runs",
        "rank_loss": "tagalong.evaluate.lists",
    },
)
