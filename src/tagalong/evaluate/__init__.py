"""Evaluation: what a learner predicts, measured before it learns the answer.

The names load on first use; `tagalong.evaluate.measures` has the formulas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagalong.evaluate.measures import LabelMeasures, Measures
    from tagalong.evaluate.progress import Progress
    from tagalong.evaluate.report import Report
    from tagalong.evaluate.runs import frozen, progressive

_HOMES = {
    "LabelMeasures": "measures",
    "Measures": "measures",
    "Progress": "progress",
    "Report": "report",
    "frozen": "runs",
    "progressive": "runs",
}

__all__ = ["LabelMeasures", "Measures", "Progress", "Report", "frozen", "progressive"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
