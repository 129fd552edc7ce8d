"""P2: Online Learning of Complex Prediction Problems Using Simultaneous Projections (JMLR 2008)."""

TITLE = "P2: simultaneous projections"
PAPER = (
    "Y. Amit, S. Shalev-Shwartz, Y. Singer: Online Learning of Complex Prediction Problems Using "
    "Simultaneous Projections. JMLR 9, 2008."
)
