"""The share that could be filed without asking at 90, 95 and 99 %."""

import math
from dataclasses import dataclass

from tagalong.evaluate import Report
from tagalong.evaluate.answers import TARGETS, AtTarget
from tagalong.evaluate.text_table import percent
from tagalong.server.page.trust.stages import recent_items

__all__ = ["FilingFacts", "TargetFacts", "filing_facts", "nearest_target", "share_of"]


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """The share that could be filed without asking at one required precision.

    Parameters
    ----------
    target : float
        The required precision.
    share : float or None
        The share of the recent items, or of their right labels; None if it is not known.
    marked : int
        Number of suggestions among the recent items that were marked sure.
    right : int
        Number of these that were right.
    is_setting : bool
        Whether the workspace requires this precision.
    cells : tuple of str
        The row of the table, one cell for each heading.
    """

    target: float
    share: float | None
    marked: int
    right: int
    is_setting: bool
    cells: tuple[str, ...]

    @property
    def precision(self) -> float | None:
        """The share of what was marked that was right; None if nothing was."""
        return self.right / self.marked if self.marked else None


@dataclass(frozen=True, slots=True)
class FilingFacts:
    """The shares that could be filed without asking.

    Parameters
    ----------
    targets : tuple of TargetFacts
        At 90, 95 and 99 %.
    main : TargetFacts
        The one that is nearest to the setting of the workspace.
    setting : float
        The precision that the workspace requires.
    headings : tuple of str
        The headings of the table.
    """

    targets: tuple[TargetFacts, ...]
    main: TargetFacts
    setting: float
    headings: tuple[str, ...]

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The rows of the table."""
        return tuple(one.cells for one in self.targets)


def nearest_target(required: float) -> float:
    """Return the one of the three precisions that is nearest to a required one.

    Parameters
    ----------
    required : float
        The required precision.
    """
    return min(TARGETS, key=lambda target: abs(target - required))


def share_of(report: Report, at: AtTarget) -> float:
    """Return the share of items, or with several labels per item, of their right labels.

    Parameters
    ----------
    report : Report
        The figures.
    at : AtTarget
        What was sure.
    """
    return at.share if report.one_label else at.found


def filing_facts(report: Report, required: float) -> FilingFacts | None:
    """Return what could be filed without asking; None if the learner never said how sure it is.

    Parameters
    ----------
    report : Report
        The figures.
    required : float
        The precision that the workspace requires.
    """
    if not report.coverage.is_known:
        return None
    targets = tuple(_target_facts(report, target, required) for target in TARGETS)
    main = targets[TARGETS.index(nearest_target(required))]
    return FilingFacts(targets, main, required, _headings(report))


def _target_facts(report: Report, target: float, required: float) -> TargetFacts:
    coverage = report.coverage
    overall, recent = coverage.overall.at(target), coverage.recent.at(target)
    start = coverage.starts[TARGETS.index(target)]
    share = share_of(report, recent)
    marked = (
        (recent.sure, recent.right) if report.one_label else (recent.marked, recent.marked_right)
    )
    starts = [start.first_item, *([start.half_from] if report.one_label else [])]
    cells = [
        f"{100 * target:.0f} %",
        *_cells(report, overall),
        *(_cells(report, recent) if report.items > report.window else ()),
        *("–" if item is None else f"{item:,}" for item in starts),
    ]
    return TargetFacts(
        target,
        None if math.isnan(share) else share,
        *marked,
        math.isclose(target, required),
        tuple(cells),
    )


def _cells(report: Report, at: AtTarget) -> tuple[str, ...]:
    if report.one_label:
        return percent(at.share), percent(at.precision)
    return f"{at.marked:,}", percent(at.marked_precision), percent(at.found)


def _headings(report: Report) -> tuple[str, ...]:
    counted = (
        ["filed alone", "of it right"] if report.one_label else ["labels set", "right", "found"]
    )
    lately = []
    if report.items > report.window:
        last = f"last {recent_items(report):,}"
        lately = [f"{last}: {counted[0]}", *counted[1:]]
    starts = ["first item", "half from item"] if report.one_label else ["first item"]
    return "required", *counted, *lately, *starts
