"""The prediction that there will be none."""

from typing import Any, Final

__all__ = ["REJECT", "Reject", "reject_costs"]

from tagalong import parameters


class Reject:
    """The one value `REJECT`: better to ask somebody than to guess."""

    _only: "Reject | None" = None

    def __new__(cls) -> "Reject":
        """Return the one value that there is."""
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "REJECT"

    def __reduce__(self) -> str:
        return "REJECT"


REJECT: Final = Reject()


def reject_costs(reject: Any, name: str, classes: int | None) -> tuple[float, ...]:
    """Return what REJECT costs, one number for all classes or one for each; none if it is None."""
    if reject is None:
        return ()
    given = reject if isinstance(reject, (tuple, list)) else (reject,)
    if len(given) not in (1, classes):
        raise ValueError(f"{name} must be a cost, or one for each class, got {reject!r}")
    return tuple(parameters.positive(cost, name, 1.0) for cost in given)
