"""Slot costs: the cost of an irrelevant label in each slot of a list."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from tagalong import parameters

__all__ = [
    "SlotCostLike",
    "SlotCosts",
    "checked_list_settings",
    "checked_slot_costs",
    "cost_table",
    "longest_list",
]

NAMES = ("decreasing", "constant")

SlotCostLike: TypeAlias = str | Callable[[int, int], float] | Sequence[Sequence[float]]
"""A name, a function of slot and size, or a table with one row of costs per size."""

SlotCosts: TypeAlias = str | list[float]
"""A name, or the concatenated costs of lists of one label, two labels, and so on."""


def checked_slot_costs(given: SlotCostLike, max_labels: int | None) -> SlotCosts:
    """Validate slot costs and return them in the form of the native core.

    Parameters
    ----------
    given : str, function or sequence of sequences
        ``"decreasing"``: (s - i + 1)/s in slot i of s. ``"constant"``: 1. A function of slot and
        size, both from 1. Or a table with one row of costs per size, from size 1.
    max_labels : int or None
        The largest size of a list; a function needs it.
    """
    if isinstance(given, str):
        return parameters.choice(given, "slot_cost", NAMES)
    if callable(given):
        if max_labels is None:
            raise ValueError(
                "slot_cost is a function, which needs max_labels, the largest size to tabulate"
            )
        rows = _tabulated(given, max_labels)
    else:
        rows = _rows(given)
    for size, row in enumerate(rows, start=1):
        _check_row(row, size)
    if max_labels is not None and max_labels > len(rows):
        raise ValueError(
            f"slot_cost has costs for lists of up to {len(rows)} labels, but max_labels is "
            f"{max_labels}"
        )
    return [cost for row in rows for cost in row]


def _tabulated(cost: Callable[[int, int], Any], longest: int) -> list[list[float]]:
    sizes = range(1, longest + 1)
    return [
        [
            parameters.real(cost(slot, size), f"slot_cost({slot}, {size})")
            for slot in range(1, size + 1)
        ]
        for size in sizes
    ]


def _rows(given: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the lower triangle of a cost table."""
    message = (
        "slot_cost must be 'decreasing', 'constant', a function of slot and size, or a table with "
        f"a row of s costs for each size s = 1, 2, ..., got {given!r}"
    )
    try:
        rows = [list(row) for row in given]
    except TypeError:
        raise ValueError(message) from None
    if not rows or any(len(row) < size for size, row in enumerate(rows, start=1)):
        raise ValueError(message)
    return [
        [parameters.real(cost, f"slot_cost: size {size}") for cost in row[:size]]
        for size, row in enumerate(rows, start=1)
    ]


def _check_row(row: list[float], size: int) -> None:
    for slot, cost in enumerate(row, start=1):
        where = f"slot_cost: slot {slot} of {size} costs {cost:g}"
        if not 0 <= cost <= 1:
            raise ValueError(f"{where}; costs must be from 0 to 1")
        if slot > 1 and cost > row[slot - 2]:
            raise ValueError(
                f"{where}, and the slot before it {row[slot - 2]:g}; costs must not increase from "
                "slot to slot"
            )


def longest_list(costs: SlotCosts) -> int | None:
    """Return the largest size of a list that has costs; None for no limit."""
    if isinstance(costs, str):
        return None
    return int(np.sqrt(2 * len(costs)))


def cost_table(costs: SlotCosts) -> str | list[list[float]]:
    """Return costs as a table, which can be the parameter ``slot_cost`` in a model file."""
    if isinstance(costs, str):
        return costs
    longest = longest_list(costs) or 0
    starts = [size * (size - 1) // 2 for size in range(1, longest + 2)]
    return [costs[start:end] for start, end in pairwise(starts)]


def checked_list_settings(
    miss_weight: float, slot_cost: SlotCostLike, max_labels: int | None
) -> dict[str, Any]:
    """Validate the parameters that define the loss of a list, and return them as settings.

    Parameters
    ----------
    miss_weight : float
        From 0 to 1.
    slot_cost : str, function or table
        See `checked_slot_costs`.
    max_labels : int or None
        The largest size of a list.
    """
    weight = parameters.real(miss_weight, "miss_weight")
    if not 0 <= weight <= 1:
        raise ValueError(f"miss_weight must be from 0 to 1, got {miss_weight!r}")
    if max_labels is not None:
        max_labels = parameters.integer(max_labels, "max_labels", 1)
    return {
        "miss_weight": weight,
        "slot_cost": checked_slot_costs(slot_cost, max_labels),
        "max_labels": max_labels or 0,
        "ties": "width",
        "max_explore": -1,
    }
