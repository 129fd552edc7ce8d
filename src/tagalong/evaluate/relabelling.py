"""New numbers for the labels of a run, after labels were merged or forgotten."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import parameters
from tagalong.evaluate.answer_progress import LABELS_OF_A_ROW
from tagalong.evaluate.saved_state import State

__all__ = ["relabelled"]

GONE = -1
LARGEST_LABEL = 2**31 - 2

Integers = npt.NDArray[np.int64]


def relabelled(state: State, numbers: Sequence[int | None]) -> State:
    """Return the state of a run whose labels have got other numbers.

    Nothing is measured again. The counts of labels that become one are added, and those of labels
    that are gone are dropped. The sums over rows stay as they are.

    Parameters
    ----------
    state : dict
        The result of ``Progress.state``.
    numbers : sequence of int or None
        For each label its new number; None if it is gone.
    """
    arrays = state["arrays"]
    new = _checked(numbers, len(arrays["per_label"]))
    marks, ends = _marks(arrays["recent_marks"], arrays["recent_mark_ends"], new)
    recent = arrays["recent_answers"].copy()
    labels = recent[:, LABELS_OF_A_ROW]
    # -1 stands for "no label" and stays; as an index it is the entry behind those of all labels.
    recent[:, LABELS_OF_A_ROW] = np.append(new, GONE)[labels]
    changed = {
        "per_label": _added(arrays["per_label"], new),
        "recent_marks": marks,
        "recent_mark_ends": ends,
        "recent_answers": recent,
        "label_answers": _added(arrays["label_answers"], new),
        "confusion": _confusion(arrays["confusion"], new),
    }
    return {"arrays": {**arrays, **changed}, "numbers": state["numbers"]}


def _checked(numbers: Sequence[int | None], labels: int) -> Integers:
    """Return the new number of each label, GONE for None."""
    if isinstance(numbers, (str, bytes)) or not isinstance(numbers, Iterable):
        raise ValueError(f"numbers must have a number or None per label, got {numbers!r}")
    found = [
        GONE if number is None else parameters.integer(number, "numbers", 0, LARGEST_LABEL)
        for number in numbers
    ]
    if len(found) < labels:
        raise ValueError(
            f"numbers must have all {labels} labels of the rounds, got {len(found)} numbers"
        )
    return np.array(found, np.int64)


def _added(table: Integers, new: Integers) -> Integers:
    """Return the counts of the new labels: sums over the rows of their old labels."""
    targets = new[: len(table)]
    out = np.zeros((int(targets.max(initial=GONE)) + 1, table.shape[1]), np.int64)
    kept = targets != GONE
    np.add.at(out, targets[kept], table[kept])
    return out


def _marks(marks: Integers, ends: Integers, new: Integers) -> tuple[Integers, Integers]:
    """Return the marks of the recent rows and their ends.

    A mark is four times its label, plus two flags. Labels of a row that become one keep a mark
    each, so that their counts add up.
    """
    labels, flags = new[marks // 4], marks % 4
    kept = labels != GONE
    before = np.concatenate([[0], np.cumsum(kept)])  # how many of the first marks are kept
    return (4 * labels + flags)[kept], before[ends].astype(np.int64)


def _confusion(table: Integers, new: Integers) -> Integers:
    """Return the items of each pair of different labels that are not gone."""
    counts: dict[tuple[Any, Any], int] = {}
    for true, first, items in zip(*new[table[:, :2]].T.tolist(), table[:, 2].tolist(), strict=True):
        if GONE not in (true, first) and true != first:
            counts[true, first] = counts.get((true, first), 0) + items
    return np.array([(*pair, items) for pair, items in counts.items()], np.int64).reshape(-1, 3)
