"""The figures of a server in words: how often it was right, and what can be filed."""

import math
from typing import Any

from tagalong.evaluate.text_table import percent, plural

__all__ = ["report_lines"]


def report_lines(report: dict[str, Any]) -> list[str]:
    """Return the figures of a workspace as text.

    Parameters
    ----------
    report : dict
        The member ``report`` of what the server says.
    """
    coverage, items, window = report["coverage"], report["items"], report["window"]
    overall, recent = coverage["overall"], coverage["recent"]
    lines = [
        f"the workspace has learnt {plural(items, 'item')} "
        f"with {plural(len(report['labels']), 'label')}"
    ]
    if not overall["suggested"]:
        return lines
    line = f"first suggestion right: {_percent(overall['accuracy'])} of the items"
    if items > window:
        line += f", {_percent(recent['accuracy'])} of the last {window:,}"
    lines.append(line)
    if report["order"] == "sorted":
        lines += [
            "THE ITEMS CAME SORTED BY LABEL, so these figures are too good: do not trust them.",
            "Learn the items in the order in which they arrived, or in random order: --shuffle.",
        ]
    elif overall["judged"]:
        lines.append(_can_be_filed(recent["targets"], one_label=report["one_label"]))
    return lines


def _can_be_filed(targets: list[dict[str, Any]], *, one_label: bool) -> str:
    if not any(at["sure"] or at["marked"] for at in targets):
        return "nothing can be filed without asking yet: no suggestion is sure at 90 % or more"
    name, can_be = (
        ("share", "can be filed") if one_label else ("found", "of the right labels can be set")
    )
    low, middle, high = (_percent(at[name], 0) for at in targets)
    return f"at 95 % right, {middle} {can_be} without asking (90 %: {low}, 99 %: {high})"


def _percent(share: float | None, digits: int = 1) -> str:
    return percent(math.nan if share is None else share, digits)
