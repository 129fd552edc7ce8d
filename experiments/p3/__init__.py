"""P3: On Multilabel Classification and Ranking with Partial Feedback (NIPS 2012)."""

TITLE = "P3: partial feedback"
PAPER = (
    "C. Gentile, F. Orabona: On Multilabel Classification and Ranking with Partial Feedback. NIPS "
    "2012; version 3, 2013."
)
