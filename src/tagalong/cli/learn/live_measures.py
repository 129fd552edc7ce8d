"""The measures of a run on the progress display."""

import time

from tagalong.cli.answer_cells import answer_cells
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
    certificate : bool
        Whether to show the mistakes and the dual value of the certificate.
    """

    def __init__(self, tagger: Tagger, run: Run, live: Live, certificate: bool = False):
        self._tagger = tagger
        self._run = run
        self._live = live
        self._certificate = certificate
        self._speed = _Speed(run)

    def show_if_due(self) -> None:
        """Update the display if it is time."""
        if not self._live.is_due():
            return
        report = self._run.report(self._tagger)
        cells = self._cells(report)
        line = "  ".join(f"{name} {cell}" for name, cell in cells.items())
        self._live.show(list(cells), [list(cells.values())], line)

    def _cells(self, report: Report | QueryReport) -> dict[str, str]:
        """Return the cells of the table by heading."""
        run = self._run
        cells = {"pass": f"{run.number}/{run.passes}"} if run.passes > 1 else {}
        cells |= {"items": f"{run.position:,}", "items/s": f"{self._speed(run):,.0f}"}
        if isinstance(report, Report):
            cells |= {"labels": f"{len(report.labels):,}", **answer_cells(report)}
        else:
            cells[f"NDCG@{report.k}"] = f"{report.overall.ndcg_at_k:.4f}"
        if run.lists is not None:
            cells["slot loss"] = f"{run.lists.means()['slot_loss']:.4f}"
        return cells | (self._certified_cells(report) if self._certificate else {})

    def _certified_cells(self, report: Report | QueryReport) -> dict[str, str]:
        mistakes, certificate = report.curve["mistakes_so_far"][-1], report.certificate
        dual = f"{certificate.dual:.6g}" if isinstance(certificate, Certificate) else "–"
        return {"mistakes": f"{mistakes:,.0f}", "dual": dual}


class _Speed:
    """The mean number of items per second in the present pass, since this process started."""

    def __init__(self, run: Run):
        self._start(run)

    def _start(self, run: Run) -> None:
        self._pass, self._position = run.number, run.position
        self._time = time.monotonic()

    def __call__(self, run: Run) -> float:
        if run.number != self._pass:
            self._start(run)
        return (run.position - self._position) / max(time.monotonic() - self._time, 1e-9)
