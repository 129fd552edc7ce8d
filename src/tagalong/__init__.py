"""Tagalong learns to file things under labels while you work.

The public names load on first use, which keeps the import of the package fast.
"""

from typing import TYPE_CHECKING

from tagalong.lazy_names import lazy_names

if TYPE_CHECKING:
    from tagalong.batch.m3l import M3LClassifier, attribute_prior
    from tagalong.batch.zero_shot import ZeroShot
    from tagalong.learning.certificates import Certificate, NoBoundWarning
    from tagalong.learning.items import Item
    from tagalong.learning.model_files import ModelFileError, load
    from tagalong.learning.model_hash import model_hash
    from tagalong.online.blocks import BlockProjection, OrdinalRanker
    from tagalong.online.grades import GradeRanker
    from tagalong.online.label_ranker import LabelRanker
    from tagalong.online.partial import PartialFeedbackRanker
    from tagalong.online.predtron import Predtron
    from tagalong.online.shared_ranker import SharedLabelRanker
    from tagalong.tagger import Tagger
    from tagalong.tagger.mixing import mix
    from tagalong.version import __version__ as __version__

__all__ = [
    "BlockProjection",
    "Certificate",
    "GradeRanker",
    "Item",
    "LabelRanker",
    "M3LClassifier",
    "ModelFileError",
    "NoBoundWarning",
    "OrdinalRanker",
    "PartialFeedbackRanker",
    "Predtron",
    "SharedLabelRanker",
    "Tagger",
    "ZeroShot",
    "attribute_prior",
    "load",
    "mix",
    "model_hash",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "BlockProjection": "tagalong.online.blocks",
        "Certificate": "tagalong.learning.certificates",
        "GradeRanker": "tagalong.online.grades",
        "Item": "tagalong.learning.items",
        "LabelRanker": "tagalong.online.label_ranker",
        "M3LClassifier": "tagalong.batch.m3l",
        "ModelFileError": "tagalong.learning.model_files",
        "NoBoundWarning": "tagalong.learning.certificates",
        "OrdinalRanker": "tagalong.online.blocks",
        "PartialFeedbackRanker": "tagalong.online.partial",
        "Predtron": "tagalong.online.predtron",
        "SharedLabelRanker": "tagalong.online.shared_ranker",
        "Tagger": "tagalong.tagger",
        "ZeroShot": "tagalong.batch.zero_shot",
        "__version__": "tagalong.version",
        "attribute_prior": "tagalong.batch.m3l",
        "load": "tagalong.learning.model_files",
        "mix": "tagalong.tagger.mixing",
        "model_hash": "tagalong.learning.model_hash",
    },
)
