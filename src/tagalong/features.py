"""Public names for features of items (`TextFeatures`) and of labels (`LabelFeatures`)."""

from typing import TYPE_CHECKING

from tagalong.lazy_names import lazy_names

if TYPE_CHECKING:
    from tagalong.learning.feature_items import FeatureItem
    from tagalong.online.shared_ranker import FolderAffinity, LabelFeatures
    from tagalong.text import TextFeatures

__all__ = ["FeatureItem", "FolderAffinity", "LabelFeatures", "TextFeatures"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "FeatureItem": "tagalong.learning.feature_items",
        "FolderAffinity": "tagalong.online.shared_ranker",
        "LabelFeatures": "tagalong.online.shared_ranker",
        "TextFeatures": "tagalong.text",
    },
)
