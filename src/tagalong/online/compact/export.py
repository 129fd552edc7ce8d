"""Export of a label ranker as a compact one."""

from typing import Any

from tagalong.online.compact.learner import CompactRanker
from tagalong.online.label_ranker import LabelRanker

__all__ = ["DROPPED_SHARE", "compact_ranker"]

DROPPED_SHARE = 0.001
"""The share of the sum of all n_j w_jk² that the dropped weights have together, where n_j is the
number of examples with feature j. Chosen by ``python -m benchmarks.model_size --choose``."""


def compact_ranker(ranker: Any, dropped_share: float = DROPPED_SHARE) -> CompactRanker:
    """Return a compact copy of a ranker, for predictions only.

    Parameters
    ----------
    ranker : LabelRanker
        A fitted ranker in the Euclidean or adaptive geometry, one or a race; ValueError for others.
    dropped_share : float
        See `DROPPED_SHARE`.
    """
    if isinstance(ranker, CompactRanker):
        raise ValueError("the model is compact already")
    if type(ranker) is not LabelRanker:
        raise ValueError(
            f"a {type(ranker).__name__} cannot be exported as a compact model; only a LabelRanker "
            "can, the default learner"
        )
    compact: CompactRanker = CompactRanker.from_parts(*ranker.compact_parts(dropped_share))
    return compact
