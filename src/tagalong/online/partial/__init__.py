"""Label ranking with partial feedback (P3)."""

from tagalong.online.partial.learner import PartialFeedbackRanker

__all__ = ["PartialFeedbackRanker"]
