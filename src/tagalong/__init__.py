"""Tagalong learns to file things under labels while you work.

The public names load on first use, so that importing the package is quick.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagalong.batch.m3l import M3LClassifier
    from tagalong.batch.priors import attribute_prior
    from tagalong.batch.zero_shot import ZeroShot
    from tagalong.certificate import Certificate, NoBoundWarning
    from tagalong.online.block_projection import BlockProjection
    from tagalong.online.label_ranker import LabelRanker
    from tagalong.online.ordinal_ranker import OrdinalRanker
    from tagalong.online.partial_feedback import PartialFeedbackRanker
    from tagalong.online.predtron import Predtron
    from tagalong.online.shared_label_ranker import SharedLabelRanker
    from tagalong.persist import ModelFileError, load
    from tagalong.readers.items import Item
    from tagalong.tagger import Tagger

__version__ = version("tagalong")

_HOMES = {
    "BlockProjection": "tagalong.online.block_projection",
    "Certificate": "tagalong.certificate",
    "Item": "tagalong.readers.items",
    "LabelRanker": "tagalong.online.label_ranker",
    "M3LClassifier": "tagalong.batch.m3l",
    "ModelFileError": "tagalong.persist",
    "NoBoundWarning": "tagalong.certificate",
    "OrdinalRanker": "tagalong.online.ordinal_ranker",
    "PartialFeedbackRanker": "tagalong.online.partial_feedback",
    "Predtron": "tagalong.online.predtron",
    "SharedLabelRanker": "tagalong.online.shared_label_ranker",
    "Tagger": "tagalong.tagger",
    "ZeroShot": "tagalong.batch.zero_shot",
    "attribute_prior": "tagalong.batch.priors",
    "load": "tagalong.persist",
}

__all__ = [
    "BlockProjection",
    "Certificate",
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
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tagalong' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
