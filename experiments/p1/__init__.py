"""P1: A Unified Algorithmic Approach for Efficient Online Label Ranking (AISTATS 2007)."""

TITLE = "P1: online label ranking by dual ascent"
PAPER = (
    "S. Shalev-Shwartz, Y. Singer: A Unified Algorithmic Approach for Efficient Online Label "
    "Ranking. AISTATS 2007."
)
