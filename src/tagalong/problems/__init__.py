"""What Predtron predicts: the problems, and how to check one of your own.

The names load on first use; `tagalong.problems.protocol` says what a problem is.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_HOMES = {
    "REJECT": "reject",
    "Binary": "binary",
    "LabelRanking": "label_ranking",
    "Multiclass": "multiclass",
    "Multilabel": "multilabel",
    "Ordinal": "ordinal",
    "Problem": "protocol",
    "SubsetRanking": "subset_ranking",
    "check_problem": "check",
}

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


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
