"""`Tagger`: features, a learner and the label history in one object."""

from tagalong.tagger.suggestions import Explanation, SizeReport, Suggestion, Suggestions
from tagalong.tagger.tagger import SURE, Tagger

__all__ = ["SURE", "Explanation", "SizeReport", "Suggestion", "Suggestions", "Tagger"]
