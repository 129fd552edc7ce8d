"""The reject option: the value REJECT and its costs."""

from collections.abc import Sequence
from typing import Final, TypeAlias

__all__ = ["REJECT", "ClassPrediction", "Reject", "reject_costs"]

from tagalong import parameters


class Reject:
    """The type of `REJECT`, its only instance: a prediction that abstains."""

    _instance: "Reject | None" = None

    def __new__(cls) -> "Reject":
        """Return the only instance."""
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "REJECT"

    def __reduce__(self) -> str:
        return "REJECT"


REJECT: Final = Reject()

ClassPrediction: TypeAlias = int | Reject
"""The number of a class, or REJECT."""


def reject_costs(
    reject: float | Sequence[float] | None, name: str, classes: int | None
) -> tuple[float, ...]:
    """Return the costs of REJECT: one for all classes, or one per class; () for None."""
    if reject is None:
        return ()
    costs = reject if isinstance(reject, (tuple, list)) else (reject,)
    if len(costs) not in (1, classes):
        raise ValueError(f"{name} must be one cost, or one cost per class, got {reject!r}")
    return tuple(parameters.positive(cost, name, 1.0) for cost in costs)
