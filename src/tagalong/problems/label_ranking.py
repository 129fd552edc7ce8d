"""Label ranking: relevant labels before irrelevant ones."""

from tagalong.problems.ranking import Position, Ranking

__all__ = ["LabelRanking"]


class LabelRanking(Ranking):
    """A ranking of all labels; the answer is the relevance of each label, 0 or 1.

    Parameters
    ----------
    position : str or callable, default "-i"
        f, the representation of a position: ``"-i"``, ``"-i^1.1"``, ``"-i^2"``, ``"1/i"``, or a
        decreasing function of the position 1, 2, ... Where f decreases steeply, adjacent
        positions need a smaller difference of scores.
    ties : str, default "score"
        Which correct ranking to move towards: the one that sorts labels of equal relevance by
        their current ``"score"``, or by ``"index"``.
    loss : str, default "ndcg"
        ``"ndcg"``: 1 - NDCG. ``"precision"``: 1 minus the number of relevant labels among the
        first k, divided by the largest possible number.
    k : int, optional
        Number of positions that count. None means all, for NDCG only.
    dimension : int, optional
        The number of labels (default: Predtron takes it from the data).
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
