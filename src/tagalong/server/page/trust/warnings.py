"""Warnings about the figures in plain words, and what to do about it."""

from dataclasses import dataclass

from tagalong.evaluate import Report
from tagalong.evaluate.text_table import percent
from tagalong.journal import Settings
from tagalong.printable import printable

__all__ = ["Warned", "warnings_of"]


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning.

    Parameters
    ----------
    kind : str
        "order", "drift", "audit" or "paused".
    title : str
        What is the matter.
    text : str
        What it means, and what to do.
    labels : tuple of str
        The labels that it is about.
    is_grave : bool
        Whether the figures cannot be relied on because of it.
    """

    kind: str
    title: str
    text: str
    labels: tuple[str, ...] = ()
    is_grave: bool = True


def warnings_of(report: Report, settings: Settings, comes_in_runs: bool) -> tuple[Warned, ...]:
    """Return all warnings, the gravest first.

    Parameters
    ----------
    report : Report
        The figures.
    settings : Settings
        The settings of the workspace.
    comes_in_runs : bool
        Whether the labels of the items learnt last came in runs.
    """
    found = [_order(report, comes_in_runs), _drift(report), _audit(settings), _paused(settings)]
    return tuple(sorted((one for one in found if one), key=lambda one: not one.is_grave))


def _order(report: Report, comes_in_runs: bool) -> Warned | None:
    overall = report.coverage.overall
    if report.order == "sorted":
        share = percent(overall.in_runs / max(1, overall.judged), 0)
        now = (
            "Nothing is marked sure until the labels come mixed."
            if comes_in_runs
            else "By now the labels come mixed again, but these figures still include that time."
        )
        return Warned(
            "order",
            "The items came sorted by label",
            f"At {share} of the items the labels came in runs far beyond chance. The next label "
            f"was easy to guess, so these figures are too good and must not be trusted. {now} "
            "Answer items in the order in which they arrive; when you import a collection, import "
            "it in the order in which it arrived, or in random order.",
        )
    if comes_in_runs:
        return Warned(
            "order",
            "The last answers came sorted by label",
            "The same label came many times in a row, far beyond chance. Nothing is marked sure "
            "until the labels come mixed again: answer items in the order in which they arrive.",
        )
    return None


def _drift(report: Report) -> Warned | None:
    drift = report.drift
    if drift is None:
        return None
    labels = tuple(printable(str(label)) for label in drift.labels)
    if drift.active:
        return Warned(
            "drift",
            f"Since item {drift.since:,} the answers have changed",
            "Items like earlier ones now get other labels. For some dozens of items too much may "
            "be marked sure. If labels have a new meaning, go on answering, spot checks first: "
            "what is new is learnt by itself. If it was a mistake, take those answers back in the "
            "history.",
            labels,
        )
    return Warned(
        "drift",
        f"At item {drift.since:,} the answers changed",
        "Items like earlier ones got other labels from there on. This is learnt by now: there is "
        "nothing to do, unless it was a mistake, which can be taken back in the history.",
        labels,
        is_grave=False,
    )


def _audit(settings: Settings) -> Warned | None:
    if settings.audit > 0:
        return None
    return Warned(
        "audit",
        "There are no spot checks",
        "Nobody is asked about items that are sure, so nothing here measures whether those filed "
        "without asking are right. Set a share of spot checks in the settings, such as 2 %.",
        is_grave=False,
    )


def _paused(settings: Settings) -> Warned | None:
    if not settings.paused:
        return None
    return Warned(
        "paused",
        "Filing without asking is paused",
        "The figures show what could be filed. Nothing is, until the pause is ended in the "
        "settings.",
        is_grave=False,
    )
