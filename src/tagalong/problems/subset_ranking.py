"""Subset ranking: the documents of a query, best first."""

from tagalong.problems.ranking import Position, Ranking

__all__ = ["SubsetRanking"]


class SubsetRanking(Ranking):
    """A ranking of the documents of a query; the answer is the grade of each, 0, 1, 2, ...

    Parameters
    ----------
    position : str or callable, default "-i"
        f, the representation of a position: ``"-i"``, ``"-i^1.1"``, ``"-i^2"``, ``"1/i"``, or a
        decreasing function of the position 1, 2, ... Where f decreases steeply, adjacent
        positions need a smaller difference of scores.
    ties : str, default "score"
        Which correct ranking to move towards: the one that sorts documents of equal grade by
        their current ``"score"``, or by ``"index"``.
    loss : str, default "ndcg"
        ``"ndcg"``: 1 - NDCG. ``"precision"``: 1 minus the number of documents with a grade above
        0 among the first k, divided by the largest possible number.
    k : int, optional
        Number of positions that count. None means all, for NDCG only.
    dimension : int, optional
        The number of documents (default: the size of each query).
    """

    def __init__(
        self,
        position: Position = "-i",
        ties: str = "score",
        loss: str = "ndcg",
        k: int | None = None,
        dimension: int | None = None,
    ):
        super().__init__(position, ties, loss, k, dimension)
