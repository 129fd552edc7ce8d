"""Grades on a stream: ordinal regression by simultaneous projections (P2)."""

from tagalong.online.grades.learner import GradeRanker

__all__ = ["GradeRanker"]
