"""`Tagger`: features, a learner and the label history in one object."""

from tagalong.tagger.suggester import SURE
from tagalong.tagger.suggestions import Explanation, SizeReport, Suggestion, Suggestions
from tagalong.tagger.tagger import Tagger

__all__ = ["SURE", "Explanation", "SizeReport", "Suggestion", "Suggestions", "Tagger"]
