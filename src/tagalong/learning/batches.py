"""Labels and sample weights of a batch."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets

from tagalong.learning.input_types import Classes, Rows, TargetsLike
from tagalong.learning.labels import Labels, Targets

__all__ = ["RowTargets", "check_sample_weight", "initial_labels", "labels_may_grow"]


@dataclass(frozen=True)
class RowTargets:
    """Validated labels and weights of the rows of one batch.

    Parameters
    ----------
    targets : Targets
        The labels of each row, known or new.
    weights : array of shape (rows,), optional
        The weight of each row. None means 1 for every row.
    """

    targets: Targets
    weights: npt.NDArray[np.float64] | None


def initial_labels(Y: TargetsLike, classes: Classes, fitting: bool) -> Labels:
    """Return the label set of a learner whose first targets are Y.

    If ``classes`` is None, the set has the labels of Y, which must be an indicator unless
    ``fitting``.
    """
    if labels_may_grow(classes):
        return Labels(grows=True)
    if classes is not None:
        return Labels(classes)
    # This label set grows only to collect the labels of Y; the returned one is fixed.
    targets = Labels(grows=True).encode(Y)
    if targets.kind == "single":
        check_classification_targets(np.asarray(Y).ravel())
    if targets.kind != "indicator" and not fitting:
        raise ValueError(
            "classes must be passed on the first call to partial_fit: a collection of all labels, "
            "or 'grow' to accept new labels at any time"
        )
    names = targets.new
    if targets.kind != "indicator":
        with suppress(TypeError):  # labels of mixed types keep their order of appearance
            names = sorted(names)  # type: ignore[type-var]
    return Labels(names)


def labels_may_grow(classes: object) -> bool:
    """Return whether ``classes`` is 'grow'; raise ValueError for any other string."""
    if not isinstance(classes, str):
        return False
    if classes != "grow":
        raise ValueError(f"classes must be a collection of labels or 'grow', got {classes!r}")
    return True


def check_sample_weight(
    sample_weight: npt.ArrayLike | None, X: Rows | npt.NDArray[np.int64], most: float
) -> npt.NDArray[np.float64] | None:
    """Return the sample weights as an array; raise ValueError unless all are in [0, most]."""
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weights.shape != (X.shape[0],):
        raise ValueError(
            f"sample_weight must have shape ({X.shape[0]},), one number per row, got shape "
            f"{weights.shape}"
        )
    bad = ~((weights >= 0) & (weights <= most))
    if bad.any():
        row = int(np.argmax(bad))
        shown = {"nan": "NaN", "inf": "infinity"}.get(str(weights[row]), f"{weights[row]:g}")
        raise ValueError(f"sample_weight: row {row} is {shown}; weights must be from 0 to {most:g}")
    return weights
