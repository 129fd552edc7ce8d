"""The most important thing about a workspace, in a sentence, and the numbers behind it."""

import math
from dataclasses import dataclass

from tagalong.evaluate import Report
from tagalong.evaluate.text_table import plural
from tagalong.server.page.rendered_templates import percent
from tagalong.server.page.trust.filing import FilingFacts, TargetFacts
from tagalong.server.page.trust.stages import ANSWERS_FOR_CHARTS, recent_items

__all__ = ["Headline", "headline", "is_clearly_below", "precision_text"]

RARE = 0.01
"""Below this probability a result is not explained by chance."""
FEW = 100
"""Below this number of suggestions the reason for chance is that there are so few."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The first sentence of the view.

    Parameters
    ----------
    text : str
        The sentence.
    evidence : str
        The numbers that it stands on.
    """

    text: str
    evidence: str


def headline(
    report: Report, filing: FilingFacts | None, *, comes_in_runs: bool, filed: int
) -> Headline:
    """Return the most important thing that the figures support, and not more than that.

    Parameters
    ----------
    report : Report
        The figures.
    filing : FilingFacts or None
        What could be filed without asking.
    comes_in_runs : bool
        Whether the labels of the items learnt last came in runs.
    filed : int
        Number of items that were filed without asking.
    """
    if report.order == "sorted":
        return Headline("Do not rely on these figures: the items came sorted by label.", "")
    missing = ANSWERS_FOR_CHARTS - report.coverage.overall.suggested
    if missing > 0:
        return Headline(
            f"Not yet: {plural(missing, 'more answer')} until there is enough to measure.",
            _so_far(report),
        )
    if filing is None:
        return Headline(f"{_so_far(report)}", "This model does not say how sure it is.")
    if comes_in_runs:
        text = "Not now: the last answers came sorted by label, so nothing is sure."
        return Headline(text, _so_far(report))
    main = filing.main
    if main.marked and is_clearly_below(main.right, main.marked, main.target):
        text = (
            f"Take care: of what was sure at {percent(main.target)}, only "
            f"{percent(main.precision)} was right lately."
        )
        return Headline(text, _evidence(report, main))
    if main.marked:
        return Headline(_can(report, main, filed), _evidence(report, main))
    required = percent(filing.main.target)
    text = f"Not yet: nothing is sure enough if {required} of it must be right."
    other = next((one for one in filing.targets if one.marked), None)
    if other is not None:
        what = "of the items" if report.one_label else "of the right labels"
        text += f" At {percent(other.target)}, it would be {percent(other.share)} {what}."
    return Headline(text, _so_far(report))


def is_clearly_below(right: int, count: int, target: float) -> bool:
    """Return whether so few right ones would be rare if the target were met.

    Parameters
    ----------
    right : int
        Number of right ones.
    count : int
        Number of all.
    target : float
        The share that should be right.
    """
    if not count or right >= target * count or not 0 < target < 1:
        return False
    logs = (
        math.lgamma(count + 1)
        - math.lgamma(k + 1)
        - math.lgamma(count - k + 1)
        + k * math.log(target)
        + (count - k) * math.log1p(-target)
        for k in range(right + 1)
    )
    return math.fsum(map(math.exp, logs)) < RARE


def precision_text(right: int, marked: int, target: float) -> str:
    """Return the share that was right, and whether it is less than required.

    Parameters
    ----------
    right : int
        Number of suggestions that were right.
    marked : int
        Number of suggestions that were marked sure.
    target : float
        The required share.
    """
    share, required = right / marked if marked else None, percent(target)
    text = percent(share)
    if share is None or right >= target * marked:
        return text
    if text == required:
        text = f"{100 * math.floor(1000 * share) / 1000:.1f}\N{NARROW NO-BREAK SPACE}%"
    why = ""
    if not is_clearly_below(right, marked, target):
        why = "; with so few, that can be chance" if marked < FEW else "; that can be chance"
    return f"{text}, less than {required}{why}"


def _can(report: Report, main: TargetFacts, filed: int) -> str:
    share, target = percent(main.share), percent(main.target)
    if filed:
        # Filed items have no answers, so the rest of them would be taken for all.
        what = "of the items" if report.one_label else "of the right labels"
        verb = "filed" if report.one_label else "set"
        return (
            f"Of what people answered lately, Tagalong could have {verb} {share} {what} by itself "
            f"if {target} of that must be right."
        )
    if report.one_label:
        return (
            f"Tagalong can file {share} of what comes in by itself if {target} of that must be "
            "right."
        )
    return (
        f"Tagalong can set {share} of the right labels by itself if {target} of what it sets must "
        "be right."
    )


def _evidence(report: Report, main: TargetFacts) -> str:
    answers = plural(recent_items(report), "answer")
    right = precision_text(main.right, main.marked, main.target)
    if report.one_label:
        return (
            f"Measured on the last {answers}: {main.marked:,} were sure before anybody answered, "
            f"and {main.right:,} of these were right, {right}."
        )
    return (
        f"Measured on the last {answers}: {plural(main.marked, 'label')} would have been set "
        f"before anybody answered, and {main.right:,} of these were right, {right}."
    )


def _so_far(report: Report) -> str:
    first = report.coverage.overall
    if not first.suggested:
        return "No answer could be compared with a suggestion so far."
    return (
        f"So far {plural(first.suggested, 'answer')} could be compared with a suggestion: the "
        f"first suggestion was right {'once' if first.right == 1 else f'{first.right:,} times'}."
    )
