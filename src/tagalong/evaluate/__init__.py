"""Evaluation of learners, in particular of predictions made before the labels are learnt.

The names are loaded at first use. `tagalong.evaluate.measures` has the formulas.
"""

from typing import TYPE_CHECKING

from tagalong.lazy_names import lazy_names

if TYPE_CHECKING:
    from tagalong.evaluate.answers import Answers, AtTarget, Coverage
    from tagalong.evaluate.calibration import Calibration, Reliability
    from tagalong.evaluate.coverage import CoverageCurve, coverage_curve
    from tagalong.evaluate.data_faults import LabelAmongFeatures, MovedLabels, find_data_faults
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
    "Answers",
    "AtTarget",
    "Calibration",
    "Coverage",
    "CoverageCurve",
    "LabelAmongFeatures",
    "LabelMeasures",
    "LabelModel",
    "ListLosses",
    "Measures",
    "MovedLabels",
    "Progress",
    "QueryProgress",
    "Reliability",
    "Report",
    "best_list",
    "coverage_curve",
    "expected_loss",
    "find_data_faults",
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
        "Answers": "tagalong.evaluate.answers",
        "AtTarget": "tagalong.evaluate.answers",
        "Calibration": "tagalong.evaluate.calibration",
        "Coverage": "tagalong.evaluate.answers",
        "CoverageCurve": "tagalong.evaluate.coverage",
        "LabelAmongFeatures": "tagalong.evaluate.data_faults",
        "LabelMeasures": "tagalong.evaluate.measures",
        "LabelModel": "tagalong.evaluate.regret",
        "ListLosses": "tagalong.evaluate.lists",
        "Measures": "tagalong.evaluate.measures",
        "MovedLabels": "tagalong.evaluate.data_faults",
        "Progress": "tagalong.evaluate.progress",
        "QueryProgress": "tagalong.evaluate.query_progress",
        "Reliability": "tagalong.evaluate.calibration",
        "Report": "tagalong.evaluate.report",
        "best_list": "tagalong.evaluate.lists",
        "coverage_curve": "tagalong.evaluate.coverage",
        "expected_loss": "tagalong.evaluate.lists",
        "find_data_faults": "tagalong.evaluate.data_faults",
        "frozen": "tagalong.evaluate.frozen_runs",
        "list_losses": "tagalong.evaluate.lists",
        "mean_ndcg": "tagalong.evaluate.graded",
        "ndcg": "tagalong.evaluate.graded",
        "progressive": "tagalong.evaluate.runs",
        "rank_loss": "tagalong.evaluate.lists",
    },
)
