"""How the figures changed while answers came: charts and tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tagalong.evaluate import Report
from tagalong.evaluate.answers import TARGETS
from tagalong.evaluate.text_table import percent
from tagalong.server.page.charts import NARROW, WIDE, LineChart, Mark, Series, line_chart
from tagalong.server.page.rendered_templates import percent as rounded_percent
from tagalong.server.page.trust.filing import nearest_target
from tagalong.server.page.trust.stages import ANSWERS_FOR_CHARTS, recent_items

__all__ = ["OverTime", "accuracy_over_time", "filed_over_time"]

FIRST_POINT = 10
"""Earlier points are shares of a few answers, and would only show chance."""
MOST_ROWS = 11
MOST_POINTS = 100
"""More points than this cannot be told apart, and would make the page larger."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OverTime:
    """Lines over the number of answers, and the same numbers as a table.

    Parameters
    ----------
    wide, narrow : LineChart
        The chart in two sizes.
    summary : str
        What the chart shows, in a sentence.
    headings : tuple of str
        The headings of the table.
    rows : tuple of tuples of str
        Its rows: some of the points, the last one included.
    """

    wide: LineChart
    narrow: LineChart
    summary: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def accuracy_over_time(report: Report, required: float) -> OverTime | None:
    """Return how often the first suggestion was right; None if there are too few answers.

    Parameters
    ----------
    report : Report
        The figures.
    required : float
        The precision that the workspace requires.
    """
    if report.coverage.overall.suggested < ANSWERS_FOR_CHARTS:
        return None
    curve = report.curve
    overall, recent = curve["accuracy"], curve["recent_accuracy"]
    if report.items > report.window:
        last = f"last {recent_items(report):,}"
        drawn = [_series(last, "recent", recent), _series("all so far", "all", overall)]
        columns = {"all so far": overall, last: recent}
        now = f"{_end(recent)} of the {last}, {_end(overall)} of all"
    else:
        drawn = [_series("all so far", "all", overall)]
        columns = {"all so far": overall}
        now = _end(overall)
    marks = [*_start_marks(report, required), *_change_marks(report)]
    told = "".join(f"; {mark.text}" for mark in marks)
    summary = (
        f"After {report.items:,} answers the first suggestion was right for {now} of the items"
        f"{told}."
    ).replace("of all of the items", "of all items")
    return _over_time(curve["items"], drawn, marks, summary, columns)


def filed_over_time(report: Report) -> OverTime | None:
    """Return the share that could have been filed without asking; None if nothing could.

    Parameters
    ----------
    report : Report
        The figures.
    """
    is_known = report.coverage.is_known and report.order != "sorted"
    if not is_known or report.coverage.overall.suggested < ANSWERS_FOR_CHARTS:
        return None
    name = "share" if report.one_label else "found"
    curve = report.curve
    columns = {target: curve[f"recent_{name}_{round(100 * target)}"] for target in TARGETS}
    if not any(np.nanmax(values, initial=0.0) > 0 for values in columns.values()):
        return None
    drawn = [
        Series(
            f"{_end(values)} at {_whole(target)} %",
            f"{_end(values)} at {_whole(target)}",
            _list(values),
        )
        for target, values in columns.items()
    ]
    what = "of the items could be filed" if report.one_label else "of the right labels could be set"
    shares = ", ".join(
        f"{_end(values)} at {_whole(target)} %" for target, values in columns.items()
    )
    summary = (
        f"Of the last {recent_items(report):,} answers, so much {what} without asking: {shares}."
    )
    table = {f"at {_whole(target)} %": values for target, values in columns.items()}
    return _over_time(curve["items"], drawn, [], summary, table)


def _over_time(
    items: Values,
    series: Sequence[Series],
    marks: Sequence[Mark],
    summary: str,
    columns: dict[str, Values],
) -> OverTime:
    kept = _spread(np.flatnonzero(items >= FIRST_POINT).tolist(), MOST_POINTS)
    at = [float(items[i]) for i in kept]
    drawn = [Series(one.name, one.short, [one.values[i] for i in kept]) for one in series]
    rows = [
        (f"{items[i]:,.0f}", *(percent(float(values[i])) for values in columns.values()))
        for i in _spread(kept, MOST_ROWS)
    ]
    return OverTime(
        line_chart(at, drawn, marks, WIDE),
        line_chart(at, drawn, marks, NARROW),
        summary,
        ("answers", *columns),
        tuple(rows),
    )


def _spread(places: list[int], most: int) -> list[int]:
    """Return some of the places, evenly spread, with the first and the last one."""
    return [
        places[i]
        for i in sorted({round(i) for i in np.linspace(0, len(places) - 1, most).tolist()})
    ]


def _start_marks(report: Report, required: float) -> list[Mark]:
    """Return where the first item would have been filed without asking."""
    target = nearest_target(required)
    first = report.coverage.starts[TARGETS.index(target)].first_item
    if first is None or report.order == "sorted":
        return []
    text = f"item {first:,}: would have started to file alone, at {_whole(target)} %"
    return [Mark(first, text, f"item {first:,}: starts to file alone")]


def _change_marks(report: Report) -> list[Mark]:
    if report.drift is None:
        return []
    since = report.drift.since
    return [
        Mark(since, f"item {since:,}: the answers changed", f"item {since:,}: changed", "change")
    ]


def _series(name: str, short: str, values: Values) -> Series:
    return Series(f"{name}: {_end(values)}", f"{short} {_end(values)}", _list(values))


def _list(values: Values) -> list[float]:
    found: list[float] = values.tolist()
    return found


def _end(values: Values) -> str:
    return rounded_percent(float(values[-1]))


def _whole(share: float) -> int:
    return round(100 * share)
