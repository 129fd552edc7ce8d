"""Online label ranking by dual ascent (P1), with P2's schemes over label pairs."""

from tagalong.online.label_ranker.contestant import Contestant
from tagalong.online.label_ranker.learner import LabelRanker

__all__ = ["Contestant", "LabelRanker"]
