"""Costs of mistakes: the linear term and the box constraints of M3L's dual variables."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tagalong.batch.m3l.matrices import as_dense
from tagalong.learning.input_types import MatrixLike
from tagalong.learning.labels import LabelRows, Labels, Targets

__all__ = ["Costs", "LabelCounts", "checked_cost", "make_costs", "per_label"]

Numbers = npt.NDArray[np.float64]

# The Hamming loss on labels of -1 and 1 counts 2 per wrong label.
HAMMING = 2.0
DIRECTIONS = ("miss", "false_alarm")
LARGEST_COST = 1e12


@dataclass(frozen=True)
class Costs:
    """Margin and upper bound per label, for its relevant rows (yes) and its other rows (no)."""

    margin_yes: Numbers
    margin_no: Numbers
    bound_yes: Numbers
    bound_no: Numbers
    tied: bool  # whether the loss is tied to the prior, so that the margins are ignored

    def only(self, which: npt.NDArray[np.intp]) -> "Costs":
        """Return the costs of some of the labels."""
        return Costs(
            self.margin_yes[which],
            self.margin_no[which],
            self.bound_yes[which],
            self.bound_no[which],
            self.tied,
        )


@dataclass(frozen=True)
class LabelCounts:
    """The number of rows, and of those in which each label is relevant or unknown."""

    rows: int
    relevant: Numbers
    unknown: Numbers

    @classmethod
    def of(cls, relevant: LabelRows, unknown: LabelRows, labels: int) -> "LabelCounts":
        """Count the rows of each label."""
        return cls(
            len(relevant.indptr) - 1,
            np.bincount(relevant.indices, minlength=labels).astype(np.float64),
            np.bincount(unknown.indices, minlength=labels).astype(np.float64),
        )

    def __add__(self, other: "LabelCounts") -> "LabelCounts":
        """Return the counts of both sets of rows together."""
        return LabelCounts(
            self.rows + other.rows, self.relevant + other.relevant, self.unknown + other.unknown
        )


def make_costs(
    loss: object, class_weight: object, C: float, labels: Labels, counts: LabelCounts
) -> Costs:
    """Return the costs of ``loss`` and ``class_weight``; raise ValueError if one is invalid."""
    count = len(labels)
    miss = false_alarm = np.full(count, HAMMING)
    if isinstance(loss, Mapping):
        if not loss or not set(loss) <= set(DIRECTIONS):
            raise ValueError(
                f"loss must have costs for 'miss' or 'false_alarm' and nothing else, got {loss!r}"
            )
        miss = HAMMING * per_label(loss.get("miss", 1.0), "loss['miss']", labels)
        false_alarm = HAMMING * per_label(
            loss.get("false_alarm", 1.0), "loss['false_alarm']", labels
        )
    elif not isinstance(loss, str) or loss not in ("hamming", "prior"):
        raise ValueError(
            "loss must be 'hamming', 'prior' or a mapping of 'miss' and 'false_alarm' to costs, "
            f"got {loss!r}"
        )
    yes, no = _class_weights(class_weight, labels, counts)
    return Costs(miss, false_alarm, C * yes, C * no, tied=isinstance(loss, str) and loss == "prior")


def _class_weights(
    class_weight: object, labels: Labels, counts: LabelCounts
) -> tuple[Numbers, Numbers]:
    ones = np.ones(len(labels))
    if class_weight is None:
        return ones, ones
    if isinstance(class_weight, str) and class_weight == "balanced":
        yes, known = counts.relevant, counts.rows - counts.unknown
        no = known - yes
        return known / (2 * np.maximum(yes, 1)), known / (2 * np.maximum(no, 1))
    if isinstance(class_weight, Mapping):
        return per_label(class_weight, "class_weight", labels), ones
    raise ValueError(
        "class_weight must be None, 'balanced' or a mapping of labels to weights, "
        f"got {class_weight!r}"
    )


def per_label(value: object, name: str, labels: Labels) -> Numbers:
    """Return one number per label.

    ``value`` is one number for all labels, one number per label, or a mapping of labels to
    numbers, in which a missing label has the value 1.
    """
    if isinstance(value, Mapping):
        out = np.ones(len(labels))
        for label, number in value.items():
            if label not in labels.number:
                raise ValueError(f"{name}: {label!r} is not a label of the data")
            out[labels.number[label]] = number
    else:
        try:
            out = np.broadcast_to(np.asarray(value, dtype=np.float64), (len(labels),)).copy()
        except (TypeError, ValueError):
            raise ValueError(
                f"{name} must be a number, or {len(labels)} numbers, one per label, got {value!r}"
            ) from None
    if not (np.isfinite(out).all() and (out >= 0).all()):
        raise ValueError(f"{name} must have no negative or infinite numbers, got {value!r}")
    return out


def checked_cost(cost: MatrixLike, targets: Targets, labels: int) -> Numbers:
    """Return the factors on the margins, (rows, labels); 0 where the relevance is unknown.

    Raises ValueError if ``cost`` has another shape, or a number that is negative or not finite
    where the relevance is known.
    """
    try:
        found = np.array(as_dense(cost), dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"cost must be a matrix of numbers, got {cost!r}") from None
    if found.shape != (len(targets), labels):
        raise ValueError(
            f"cost must have shape ({len(targets)}, {labels}), one row per row of X and one column "
            f"per label, got shape {found.shape}"
        )
    unknown = targets.unknown
    found[np.repeat(np.arange(len(targets)), np.diff(unknown.indptr)), unknown.indices] = 0
    wrong = ~((found >= 0) & (found <= LARGEST_COST))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"cost: row {row}, column {column} is {found[row, column]:g}; costs must be numbers "
            f"from 0 to {LARGEST_COST:g}"
        )
    return found
