"""P5: Predtron: A Family of Online Algorithms for General Prediction Problems (NIPS 2015)."""

TITLE = "P5: Predtron"
PAPER = (
    "P. Jain, N. Natarajan, A. Tewari: Predtron: A Family of Online Algorithms for General "
    "Prediction Problems. NIPS 2015."
)
