"""Grades on the command line: which labels an item of a model with grades may have."""

from collections.abc import Hashable, Iterable, Sequence

__all__ = ["check_grade", "grades_text"]


def check_grade(labels: Iterable[Hashable], grades: Sequence[Hashable]) -> None:
    """Raise ValueError unless the labels of an item are exactly one of the grades.

    Parameters
    ----------
    labels : iterable of label
        The labels of the item.
    grades : sequence of label
        All grades, from the lowest to the highest.

    Examples
    --------
    >>> check_grade(["mid"], ["low", "mid", "high"])
    >>> check_grade(["great"], ["low", "mid", "high"])
    Traceback (most recent call last):
    ValueError: label 'great' is not one of the grades low, mid, high
    """
    given = list(dict.fromkeys(labels))
    for label in given:
        if label not in grades:
            raise ValueError(f"label {label!r} is not one of the grades {grades_text(grades)}")
    if len(given) != 1:
        named = f": {', '.join(map(repr, given))}" if given else ""
        raise ValueError(f"an item has one grade, but this one has {len(given)} labels{named}")


def grades_text(grades: Sequence[Hashable]) -> str:
    """Return grades for a message: all of them, or the first and the last ones.

    Parameters
    ----------
    grades : sequence of label
        All grades, from the lowest to the highest.
    """
    if len(grades) <= 12:
        return ", ".join(map(str, grades))
    return f"{', '.join(map(str, grades[:3]))}, ..., {', '.join(map(str, grades[-3:]))}"
