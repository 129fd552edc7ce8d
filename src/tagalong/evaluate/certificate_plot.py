"""Plot of the mistakes and the loss of a run, with the bounds that its certificate proves."""

from typing import TYPE_CHECKING

import numpy as np

from tagalong.evaluate.plot_parts import CERTIFIED, OTHER, OURS, caption, finish, line, panels
from tagalong.evaluate.report import Report
from tagalong.learning.certificates.mistake_bound import Certificate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_certificate"]


def draw_certificate(report: Report) -> "Figure":
    """Return a figure of the mistakes and the loss so far, with their certified bounds."""
    curve, certificate = report.curve, report.certificate
    known = np.isfinite(curve["certified_dual"]) & (curve["certified_rounds"] > 0)
    if not isinstance(certificate, Certificate) or not known.any():
        return _mistakes_only(report)
    if certificate.contestant:
        return _mistakes_only(report, _about_race(certificate))
    figure, (above, below) = panels(2, height=7.2)
    items, rounds = curve["items"][known], curve["certified_rounds"][known]
    loss, dual = curve["certified_loss"][known], curve["certified_dual"][known]
    mistakes, gain = curve["certified_mistakes"][known], curve["certified_gain_per_mistake"][known]
    from_0 = bool(rounds[-1] == items[-1])
    if not np.array_equal(mistakes, curve["mistakes_so_far"][known]):
        line(
            above,
            curve["items"],
            curve["mistakes_so_far"],
            OTHER,
            "predictions made",
            from_0=True,
        )
    line(above, items, mistakes, OURS, "current weights, M", from_0=from_0)
    bound = np.divide(dual, gain, out=np.full(len(gain), np.nan), where=gain > 0)
    # The dual value may have fallen if it was recomputed for a larger number of features, or if the
    # scales of features changed.
    holds = certificate.penalty == 0 and not (mistakes > bound * (1 + 1e-6) + 1e-6).any()
    if holds and bound[-1] <= rounds[-1]:
        label = "certified: M is at most D/λ"
        line(above, items, bound, CERTIFIED, label, dashed=True, from_0=from_0)
    finish(above, "Mistakes so far", "")
    line(below, items, loss, OURS, "current weights", from_0=from_0)
    label = "certified: D/C, at most loss + F/C of any fixed weights"
    line(below, items, dual / certificate.C, CERTIFIED, label, dashed=True, from_0=from_0)
    finish(below, "Loss so far", "items")
    kind = _loss_name(certificate)
    texts = [_DEFINITION_OF_MISTAKE]
    if holds:
        texts.append(_about_bound(certificate, float(bound[-1])))
    texts.append(
        f"Lower panel: for any data, no fixed weights w, even chosen in hindsight, have {kind}(w) "
        "+ F(w)/C below D/C, where F is the complexity and D the dual value. Nothing is proven "
        "about averaged weights."
    )
    if certificate.restarted:
        texts.append(
            f"The certificate restarted ({certificate.restarted}); since then F is measured "
            "from the weights at the restart."
        )
    if not from_0:
        texts.append(
            f"The certificate covers {certificate.rounds:,} rounds, but this run has "
            f"{report.items:,} items."
        )
    caption(figure, " ".join(texts))
    return figure


def _mistakes_only(report: Report, remark: str = "") -> "Figure":
    """Return a figure without certified bounds."""
    figure, (above,) = panels(1, height=4.2)
    items, mistakes = report.curve["items"], report.curve["mistakes_so_far"]
    line(above, items, mistakes, OURS, "predictions made", from_0=True)
    finish(above, "Mistakes so far", "items")
    caption(figure, f"{_DEFINITION_OF_MISTAKE} {remark}".rstrip())
    return figure


def _about_race(certificate: Certificate) -> str:
    # The leading contestant may have changed during the run, and its counts with it.
    return (
        "The predictions are a mixture of learners, about which nothing is proven. Certificate of "
        f"the leading ranker: {certificate}."
    )


_DEFINITION_OF_MISTAKE = (
    "A mistake: before the item was learnt, some relevant label did not score above all "
    "irrelevant labels."
)


def _loss_name(certificate: Certificate) -> str:
    return "smoothed loss" if certificate.update == "smooth" else "loss"


def _about_bound(certificate: Certificate, bound: float) -> str:
    kind = _loss_name(certificate)
    if np.isnan(bound):
        return f"With update={certificate.update!r} and these settings no mistake bound is known."
    if bound > certificate.rounds:
        return (
            f"Each mistake of the current weights has increased D by at least λ, so M is at most "
            f"D/λ = {bound:,.0f}. This exceeds the number of rounds, so the line is not drawn."
        )
    return (
        "Each mistake of the current weights has increased D by at least λ, so M is at most D/λ. "
        f"No fixed weights give a mistake bound (F(w) + C {kind}(w))/λ below that line."
    )
