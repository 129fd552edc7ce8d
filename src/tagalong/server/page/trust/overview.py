"""Everything that the trust view shows, collected at one moment."""

from dataclasses import dataclass

from tagalong.evaluate import Report
from tagalong.journal import Settings, Workspace
from tagalong.learning.certificates import Certificate
from tagalong.server.page.trust.calibration import CalibrationFacts, calibration_facts
from tagalong.server.page.trust.checks import CheckFacts, check_facts
from tagalong.server.page.trust.filing import FilingFacts, filing_facts
from tagalong.server.page.trust.headline import Headline, headline
from tagalong.server.page.trust.over_time import OverTime, accuracy_over_time, filed_over_time
from tagalong.server.page.trust.stages import (
    ANSWERS_FOR_CALIBRATION,
    ANSWERS_FOR_CHARTS,
    recent_items,
)
from tagalong.server.page.trust.warnings import Warned, warnings_of
from tagalong.server.page.trust.weak_labels import WeakLabel, weak_labels

__all__ = ["TrustFacts", "trust_facts"]


@dataclass(frozen=True, slots=True)
class TrustFacts:
    """All that the view shows.

    Parameters
    ----------
    report : Report
        The figures.
    settings : Settings
        The settings of the workspace.
    headline : Headline
        The first sentence.
    warnings : tuple of Warned
        What makes the figures doubtful.
    filing : FilingFacts or None
        What could be filed without asking; None if that cannot be said.
    accuracy, filed_share : OverTime or None
        The charts; None if there are too few answers, or nothing to draw.
    calibration : tuple of CalibrationFacts
        Whether percentages mean what they say.
    weak : tuple of WeakLabel
        The weakest labels.
    checks : CheckFacts
        What the spot checks found.
    filed : int
        Number of items that were filed without asking.
    is_settled : bool
        Whether the model has followed every event.
    """

    report: Report
    settings: Settings
    headline: Headline
    warnings: tuple[Warned, ...]
    filing: FilingFacts | None
    accuracy: OverTime | None
    filed_share: OverTime | None
    calibration: tuple[CalibrationFacts, ...]
    weak: tuple[WeakLabel, ...]
    checks: CheckFacts
    filed: int
    is_settled: bool

    @property
    def is_sorted(self) -> bool:
        """Whether the items came sorted by label."""
        return self.report.order == "sorted"

    @property
    def answers(self) -> int:
        """Number of answers."""
        return self.report.items

    @property
    def recent(self) -> int:
        """Number of answers that the recent figures are about."""
        return recent_items(self.report)

    @property
    def until_charts(self) -> int:
        """Number of answers that are missing for the charts over time."""
        return max(0, ANSWERS_FOR_CHARTS - self.report.coverage.overall.suggested)

    @property
    def until_calibration(self) -> int:
        """Number of answers that are missing for the chart of percentages."""
        return max(0, ANSWERS_FOR_CALIBRATION - self.report.coverage.overall.judged)

    @property
    def certificate(self) -> Certificate | None:
        """The certificate, if there is one with a dual value."""
        found = self.report.certificate
        return found if isinstance(found, Certificate) and found.rounds else None


def trust_facts(workspace: Workspace) -> TrustFacts:
    """Return what the view shows of a workspace. It reads the journal: call it in a thread.

    Parameters
    ----------
    workspace : Workspace
        The workspace.
    """
    settings, is_settled = workspace.settings, workspace.is_settled
    report = workspace.report()
    required = settings.min_precision
    filing = None if report.order == "sorted" else filing_facts(report, required)
    comes_in_runs = workspace.tagger.labels_come_in_runs
    filed = workspace.item_counts().get("filed", 0)
    return TrustFacts(
        report,
        settings,
        headline(report, filing, comes_in_runs=comes_in_runs, filed=filed),
        warnings_of(report, settings, comes_in_runs),
        filing,
        accuracy_over_time(report, required),
        filed_over_time(report),
        calibration_facts(report),
        weak_labels(workspace, report),
        check_facts(workspace.spot_checks()),
        filed,
        is_settled,
    )
