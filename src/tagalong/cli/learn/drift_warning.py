"""The warning that the answers have changed."""

from tagalong.cli.output import Output
from tagalong.evaluate.drift import drift_text
from tagalong.learning.drift import Drift

__all__ = ["DriftWarning"]


class DriftWarning:
    """Warns once per change that items are labelled otherwise than before.

    Parameters
    ----------
    out : Output
        Writes the warning.
    known : Drift or None
        The last change before the run.
    """

    def __init__(self, out: Output, known: Drift | None):
        self._out = out
        self._shown = 0 if known is None else known.since

    def show_if_new(self, drift: Drift | None) -> None:
        """Write the warning if the last change has not been shown yet.

        Parameters
        ----------
        drift : Drift or None
            The last change that the learner noticed.
        """
        if drift is None or drift.since == self._shown:
            return
        self._shown = drift.since
        self._out.info(
            f"warning: {drift_text(drift)}. Such items were labelled otherwise before, or are of a "
            "new kind; until the model has learnt the new answers, it is right less often"
        )
