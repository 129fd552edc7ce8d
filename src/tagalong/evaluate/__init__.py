"""Evaluation: what a learner predicts, measured before it learns the answer.

The names load on first use; `tagalong.evaluate.measures` has the formulas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagalong.evaluate.lists import (
        ListLosses,
        best_list,
        expected_loss,
        list_losses,
        rank_loss,
    )
    from tagalong.evaluate.measures import LabelMeasures, Measures
    from tagalong.evaluate.progress import Progress
    from tagalong.evaluate.regret import LabelModel
    from tagalong.evaluate.report import Report
    from tagalong.evaluate.runs import frozen, progressive

_HOMES = {
    "LabelMeasures": "measures",
    "LabelModel": "regret",
    "ListLosses": "lists",
    "Measures": "measures",
    "Progress": "progress",
    "Report": "report",
    "best_list": "lists",
    "expected_loss": "lists",
    "frozen": "runs",
    "list_losses": "lists",
    "progressive": "runs",
    "rank_loss": "lists",
}

__all__ = [
    "LabelMeasures",
    "LabelModel",
    "ListLosses",
    "Measures",
    "Progress",
    "Report",
    "best_list",
    "expected_loss",
    "frozen",
    "list_losses",
    "progressive",
    "rank_loss",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
