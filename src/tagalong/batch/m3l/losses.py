"""What mistakes cost: the linear term and the limits of M3L's dual variables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.learning.labels import LabelRows, Labels

__all__ = ["Costs", "a_label", "costs_of"]

Numbers = npt.NDArray[np.float64]

# The Hamming loss of signs counts 2 for a wrong label.
HAMMING = 2.0
DIRECTIONS = ("miss", "false_alarm")


@dataclass(frozen=True)
class Costs:
    """A number a label: d and C of its relevant rows (yes) and of the others (no)."""

    margin_yes: Numbers
    margin_no: Numbers
    bound_yes: Numbers
    bound_no: Numbers
    tied: bool  # whether the loss is tied to the prior, and the margins do not count


def costs_of(
    loss: Any, class_weight: Any, C: float, labels: Labels, relevant: LabelRows, unknown: LabelRows
) -> Costs:
    """Return what a loss and weights of classes mean for these labels; ValueError if nothing."""
    count = len(labels)
    miss = alarm = np.full(count, HAMMING)
    if isinstance(loss, Mapping):
        if not loss or not set(loss) <= set(DIRECTIONS):
            raise ValueError(f"loss may have costs for 'miss' and 'false_alarm', got {loss!r}")
        miss = HAMMING * a_label(loss.get("miss", 1.0), "loss['miss']", labels)
        alarm = HAMMING * a_label(loss.get("false_alarm", 1.0), "loss['false_alarm']", labels)
    elif not isinstance(loss, str) or loss not in ("hamming", "prior"):
        raise ValueError(
            "loss must be 'hamming', 'prior' or a mapping of 'miss' and 'false_alarm' to costs, "
            f"got {loss!r}"
        )
    yes, no = _class_weights(class_weight, labels, relevant, unknown)
    return Costs(miss, alarm, C * yes, C * no, tied=isinstance(loss, str) and loss == "prior")


def _class_weights(
    class_weight: Any, labels: Labels, relevant: LabelRows, unknown: LabelRows
) -> tuple[Numbers, Numbers]:
    ones = np.ones(len(labels))
    if class_weight is None:
        return ones, ones
    if isinstance(class_weight, str) and class_weight == "balanced":
        rows = len(relevant.indptr) - 1
        yes = np.bincount(relevant.indices, minlength=len(labels)).astype(np.float64)
        known = rows - np.bincount(unknown.indices, minlength=len(labels))
        no = known - yes
        return known / (2 * np.maximum(yes, 1)), known / (2 * np.maximum(no, 1))
    if isinstance(class_weight, Mapping):
        return a_label(class_weight, "class_weight", labels), ones
    raise ValueError(
        "class_weight must be None, 'balanced' or a mapping of labels to weights, "
        f"got {class_weight!r}"
    )


def a_label(given: Any, name: str, labels: Labels) -> Numbers:
    """Return a number for each label: from one for all, one each, or a mapping."""
    if isinstance(given, Mapping):
        found = np.ones(len(labels))
        for label, number in given.items():
            if label not in labels.number:
                raise ValueError(f"{name}: {label!r} is not a label of the data")
            found[labels.number[label]] = number
    else:
        try:
            found = np.broadcast_to(np.asarray(given, dtype=np.float64), (len(labels),)).copy()
        except (TypeError, ValueError):
            raise ValueError(
                f"{name} must be a number, or {len(labels)} of them, one a label, got {given!r}"
            ) from None
    if not (np.isfinite(found).all() and (found >= 0).all()):
        raise ValueError(f"{name} must have no negative or infinite numbers, got {given!r}")
    return found
