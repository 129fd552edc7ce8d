"""P4: Efficient Max-Margin Multi-Label Classification with Applications to Zero-Shot Learning."""

TITLE = "P4: M3L, maximal margins with a prior"
PAPER = (
    "B. Hariharan, S. V. N. Vishwanathan, M. Varma: Efficient Max-Margin Multi-Label "
    "Classification with Applications to Zero-Shot Learning. Machine Learning 88, 2012."
)
