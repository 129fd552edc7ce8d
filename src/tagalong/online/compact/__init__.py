"""Compact copies of label rankers, for predictions only."""

from tagalong.online.compact.export import DROPPED_SHARE, compact_ranker
from tagalong.online.compact.learner import CompactRanker

__all__ = ["DROPPED_SHARE", "CompactRanker", "compact_ranker"]
