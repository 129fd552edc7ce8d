"""Items into numbered features."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagalong.features.text import TextFeatures
    from tagalong.online.folder_affinity import FolderAffinity
    from tagalong.online.label_features import LabelFeatures

__all__ = ["FolderAffinity", "LabelFeatures", "TextFeatures"]

_HOMES = {
    "FolderAffinity": "tagalong.online.folder_affinity",
    "LabelFeatures": "tagalong.online.label_features",
    "TextFeatures": "tagalong.features.text",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tagalong.features' has no attribute {name!r}")
