"""The measures of a run on the progress display."""

import time

from tagalong.cli.live import Live
from tagalong.cli.run_state import Run
from tagalong.evaluate import Report
from tagalong.evaluate.query_report import QueryReport
from tagalong.learning.certificates.mistake_bound import Certificate
from tagalong.tagger import Tagger

__all__ = ["LiveMeasures"]


class LiveMeasures:
    """Shows the measures of a run on the progress display.

    Parameters
    ----------
    tagger : Tagger
        The model that learns.
    run : Run
        The run with its measures.
    live : Live
        The progress display.
    """

    def __init__(self, tagger: Tagger, run: Run, live: Live):
        self._tagger = tagger
        self._run = run
        self._live = live
        self._speed = _Speed(run.progress.items)
        self._mistakes = _mistakes(run.progress.report(tagger.labels))

    def show_if_due(self) -> None:
        """Update the display if it is time."""
        if not self._live.is_due():
            return
        report = self._run.progress.report(self._tagger.labels, self._tagger.certificate_)
        cells = self._cells(report)
        self._mistakes = _mistakes(report)
        line = "  ".join(f"{name} {cell}" for name, cell in cells.items())
        self._live.show(list(cells), [list(cells.values())], line)

    def _cells(self, report: Report | QueryReport) -> dict[str, str]:
        """Return the cells of the table by heading."""
        mistakes = _mistakes(report)
        cells = {
            "items": f"{report.items:,}",
            "items/s": f"{self._speed(report.items):,.0f}",
            "labels": f"{len(report.labels):,}",
            "mistakes": f"{mistakes:,.0f} (+{mistakes - self._mistakes:,.0f})",
            f"NDCG@{report.k}": f"{report.overall.ndcg_at_k:.4f}",
        }
        if isinstance(report, Report):
            cells |= {
                "AP": f"{report.overall.average_precision:.4f}",
                **self._bound_or_loss(report),
            }
        if self._run.passes > 1:
            cells = {"pass": f"{self._run.number}/{self._run.passes}", **cells}
        return cells

    def _bound_or_loss(self, report: Report) -> dict[str, str]:
        """Return the dual value, or with partial feedback the mean loss of the shown lists."""
        if self._run.lists is not None:
            return {"slot loss": f"{self._run.lists.means()['slot_loss']:.4f}"}
        certificate = report.certificate
        if isinstance(certificate, Certificate):
            return {"dual": f"{certificate.dual:.6g}"}
        return {"dual": "–"}


class _Speed:
    """The mean number of items per second since the start of this process."""

    def __init__(self, items: int):
        self._items = items
        self._start = time.monotonic()

    def __call__(self, items: int) -> float:
        return (items - self._items) / max(time.monotonic() - self._start, 1e-9)


def _mistakes(report: Report | QueryReport) -> float:
    return float(report.curve["mistakes_so_far"][-1])
