"""All labels in an order, the relevant ones first."""

from tagalong.problems.places import Position, Ranking

__all__ = ["LabelRanking"]


class LabelRanking(Ranking):
    """Ranks labels: an answer says which of them are relevant.

    Parameters
    ----------
    position : str or callable, default "-i"
        f, the representation of a place: ``"-i"``, ``"-i^1.1"``, ``"-i^2"``, ``"1/i"``, or a
        function of the place 1, 2, ... that falls. Where it falls steeply, the places must be kept
        apart less.
    ties : str, default "score"
        Which correct ranking to move to: the one that sorts equal relevance by ``"score"``, as it
        stands, or by ``"index"``.
    loss : str, default "ndcg"
        ``"ndcg"``: one minus it; ``"precision"``: one minus the hits among the first k over the
        most there could be.
    k : int, optional
        How many places count; None means all, for NDCG only.
    dimension : int, optional
        The number of labels; Predtron finds it in the data.
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
