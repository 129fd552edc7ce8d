"""The documents of a query in an order, the best ones first."""

from tagalong.problems.places import Position, Ranking

__all__ = ["SubsetRanking"]


class SubsetRanking(Ranking):
    """Ranks the documents of a query: an answer has a grade for each, 0, 1, 2, ...

    Parameters
    ----------
    position : str or callable, default "-i"
        f, the representation of a place: ``"-i"``, ``"-i^1.1"``, ``"-i^2"``, ``"1/i"``, or a
        function of the place 1, 2, ... that falls. Where it falls steeply, the places must be kept
        apart less.
    ties : str, default "score"
        Which correct ranking to move to: the one that sorts equal grades by ``"score"``, as it
        stands, or by ``"index"``.
    loss : str, default "ndcg"
        ``"ndcg"``: one minus it; ``"precision"``: one minus the hits among the first k over the
        most there could be; grades above 0 are hits.
    k : int, optional
        How many places count; None means all, for NDCG only.
    dimension : int, optional
        The number of documents; every query brings its own.
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
