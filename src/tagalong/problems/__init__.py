"""Prediction problems for Predtron, and `check_problem` for custom ones.

`tagalong.problems.protocol` defines what a problem is. The names load on first use.
"""

from typing import TYPE_CHECKING

from tagalong.lazy_names import lazy_names

if TYPE_CHECKING:
    from tagalong.problems.binary import Binary
    from tagalong.problems.check import check_problem
    from tagalong.problems.label_ranking import LabelRanking
    from tagalong.problems.multiclass import Multiclass
    from tagalong.problems.multilabel import Multilabel
    from tagalong.problems.ordinal import Ordinal
    from tagalong.problems.protocol import Problem
    from tagalong.problems.reject import REJECT
    from tagalong.problems.subset_ranking import SubsetRanking

__all__ = [
    "REJECT",
    "Binary",
    "LabelRanking",
    "Multiclass",
    "Multilabel",
    "Ordinal",
    "Problem",
    "SubsetRanking",
    "check_problem",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "REJECT": "tagalong.problems.reject",
        "Binary": "tagalong.problems.binary",
        "LabelRanking": "tagalong.problems.label_ranking",
        "Multiclass": "tagalong.problems.multiclass",
        "Multilabel": "tagalong.problems.multilabel",
        "Ordinal": "tagalong.problems.ordinal",
        "Problem": "tagalong.problems.protocol",
        "SubsetRanking": "tagalong.problems.subset_ranking",
        "check_problem": "tagalong.problems.check",
    },
)
