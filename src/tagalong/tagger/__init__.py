"""`Tagger`: features, a learner and the label history in one object.

The names load on first use, so that results can be used without a model.
"""

from typing import TYPE_CHECKING

from tagalong.lazy_names import lazy_names

if TYPE_CHECKING:
    from tagalong.tagger.suggester import SURE
    from tagalong.tagger.suggestions import Explanation, SizeReport, Suggestion, Suggestions
    from tagalong.tagger.tagger import Tagger

__all__ = ["SURE", "Explanation", "SizeReport", "Suggestion", "Suggestions", "Tagger"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "SURE": "tagalong.tagger.suggester",
        "Explanation": "tagalong.tagger.suggestions",
        "SizeReport": "tagalong.tagger.suggestions",
        "Suggestion": "tagalong.tagger.suggestions",
        "Suggestions": "tagalong.tagger.suggestions",
        "Tagger": "tagalong.tagger.tagger",
    },
)
