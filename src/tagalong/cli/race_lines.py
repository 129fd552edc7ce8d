"""The contestants of a race, as lines of ``tagalong inspect``."""

from collections.abc import Mapping, Sequence
from typing import Any

from tagalong.cli.output import size_text, table
from tagalong.evaluate.text_table import percent

__all__ = ["race_lines"]


def race_lines(contestants: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a table of the contestants that are running, and why others left.

    Parameters
    ----------
    contestants : sequence of mappings
        The fields of each `Contestant`.
    """
    running = [one for one in contestants if one["running"]]
    if not running:
        return []
    rows = [("in the race", "weight", "average precision", "items", "memory")]
    rows += [
        (
            one["name"],
            percent(one["weight"], 0),
            f"{one['average_precision']:.3f}",
            f"{one['rounds']:,}",
            size_text(one["bytes"]),
        )
        for one in sorted(running, key=lambda one: -one["weight"])
    ]
    departures: dict[tuple[int, str], list[str]] = {}
    for one in contestants:
        if not one["running"]:
            departures.setdefault((one["left"], one["reason"]), []).append(one["name"])
    left = [
        f"left after item {item:,}, {reason}: {', '.join(names)}"
        for (item, reason), names in sorted(departures.items())
    ]
    return ["", *table(rows), *left]
