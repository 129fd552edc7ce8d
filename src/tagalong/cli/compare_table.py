"""The table of ``tagalong compare``: one row per learner, the best of each column in bold."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from tagalong.cli.output import Bold, Line
from tagalong.evaluate import Report
from tagalong.evaluate.json_values import for_json
from tagalong.evaluate.measures import HIGHER_IS_BETTER
from tagalong.evaluate.report import title
from tagalong.learning.certificates.mistake_bound import Certificate
from tagalong.printable import printable

__all__ = ["Row", "as_markdown", "as_table", "best_first", "live_cells"]

FOR_SEVERAL_LABELS = (
    "any_mistake",
    "one_error",
    "ranking_loss",
    "average_precision",
    "precision_at_k",
    "ndcg_at_k",
    "micro_f1",
)
FOR_ONE_LABEL = {
    "accuracy": "accuracy",
    "accuracy_of_3": "of first 3",
    "macro_recall": "macro recall",
    "average_precision": "average precision",
}
FOR_GRADES = {"mean_absolute_error": "mean absolute error", **FOR_ONE_LABEL}
_DIGITS = 4


@dataclass(frozen=True)
class Row:
    """The measures of one learner.

    Parameters
    ----------
    name : str
        Name in the table.
    settings : dict
        Parameters that differ from the defaults.
    report : Report
        The measures.
    speed : float
        Items per second of processor time; computing the measures is not included.
    """

    name: str
    settings: dict[str, Any]
    report: Report
    speed: float

    def value(self, name: str) -> float:
        """Return a measure of all items.

        Parameters
        ----------
        name : str
            Name of the measure.
        """
        if name == "macro_recall":
            return self.report.answers.macro_recall
        if name == "mean_absolute_error":
            return self.report.mean_absolute_error
        from_answers = name in ("accuracy", "accuracy_of_3")
        part = self.report.coverage.overall if from_answers else self.report.overall
        return float(getattr(part, name))

    @property
    def main_measure(self) -> str:
        """The name of the measure by which learners are sorted.

        Mean absolute error for grades, accuracy if items have one label each, otherwise average
        precision.
        """
        if self.report.grades:
            return "mean_absolute_error"
        return "accuracy" if self.report.one_label else "average_precision"

    @property
    def quality(self) -> float:
        """The value of the main measure, negative if lower ones are better; -inf if not known."""
        found = self.value(self.main_measure)
        if math.isnan(found):
            return -math.inf
        return -found if self.main_measure == "mean_absolute_error" else found

    @property
    def dual(self) -> float:
        """The certified lower bound; NaN for a learner without one."""
        certificate = self.report.certificate
        return certificate.dual if isinstance(certificate, Certificate) else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dict for JSON."""
        return {
            "name": self.name,
            "settings": self.settings,
            "overall": asdict(self.report.overall),
            "recent": asdict(self.report.recent),
            "coverage": for_json(self.report.coverage.to_dict()),
            "macro_recall": self.report.answers.macro_recall,
            "mean_absolute_error": for_json(self.report.mean_absolute_error),
            "order": self.report.order,
            "one_label": self.report.one_label,
            "dual": self.dual,
            "items_per_second": self.speed,
        }


def best_first(rows: list[Row]) -> list[Row]:
    """Return the rows sorted by quality, the best first.

    Parameters
    ----------
    rows : list of Row
        The rows.
    """
    return sorted(rows, key=lambda row: -row.quality)


def _shown(row: Row) -> tuple[str, ...]:
    """Return the names of the measures to show."""
    if row.report.grades:
        return tuple(FOR_GRADES)
    return tuple(FOR_ONE_LABEL) if row.report.one_label else FOR_SEVERAL_LABELS


def _headings(rows: list[Row]) -> list[str]:
    report = rows[0].report
    titles = [
        FOR_GRADES[name] if report.one_label else title(name, report.k) for name in _shown(rows[0])
    ]
    return ["", *titles, "dual", "items/s"]


def _cells(row: Row) -> list[str]:
    measures = [_number(row.value(name)) for name in _shown(row)]
    dual = "–" if math.isnan(row.dual) else f"{row.dual:.5g}"
    speed = "–" if math.isnan(row.speed) else f"{row.speed:,.0f}"
    return [row.name, *measures, dual, speed]


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.{_DIGITS}f}"


def _is_best(rows: list[Row]) -> list[list[bool]]:
    """Return which cells are the best of their columns, after rounding to the shown digits."""
    best = {}
    names = _shown(rows[0])
    for name in names:
        shown = [round(row.value(name), _DIGITS) for row in rows]
        known = [value for value in shown if not math.isnan(value)]
        choose = max if name in HIGHER_IS_BETTER or name in FOR_ONE_LABEL else min
        best[name] = [bool(known) and value == choose(known) for value in shown]
    return [
        [False, *(best[name][place] for name in names), False, False] for place in range(len(rows))
    ]


def as_table(rows: list[Row]) -> list[Line]:
    """Return the lines of the table, with the best cells in bold.

    Parameters
    ----------
    rows : list of Row
        The rows, at least one.
    """
    cells = [list(map(printable, line)) for line in (_headings(rows), *map(_cells, rows))]
    marks = [[False] * len(cells[0]), *_is_best(rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines: list[Line] = []
    for line, marked in zip(cells, marks, strict=True):
        padded = [
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        shown = [Bold(cell) if mark else cell for cell, mark in zip(padded, marked, strict=True)]
        lines.append([piece for cell in shown for piece in (cell, "  ")][:-1])
    return lines


def as_markdown(rows: list[Row]) -> list[str]:
    """Return the lines of the table in Markdown."""
    headings = _headings(rows)
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)]]
    for row, marked in zip(rows, _is_best(rows), strict=True):
        cells = [_escaped(cell) for cell in _cells(row)]
        lines.append([f"**{c}**" if mark else c for c, mark in zip(cells, marked, strict=True)])
    return [f"| {' | '.join(line)} |" for line in lines]


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


def live_cells(rows: list[Row]) -> tuple[list[str], list[list[str]], str]:
    """Return the arguments of `Live.show`: headings, cells, and the line for other outputs."""
    items = rows[0].report.items
    rows = best_first(rows)
    measure = rows[0].main_measure
    value = _number(rows[0].value(measure))
    line = f"items {items:,}  best {measure.replace('_', ' ')} {value} ({rows[0].name})"
    headings = _headings(rows)
    return [f"{items:,} items", *headings[1:]], [_cells(row) for row in rows], line
