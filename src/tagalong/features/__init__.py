"""Items into numbered features."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagalong.features.text import TextFeatures
    from tagalong.online.folder_affinity import FolderAffinity

__all__ = ["FolderAffinity", "TextFeatures"]

_HOMES = {
    "FolderAffinity": "tagalong.online.folder_affinity",
    "TextFeatures": "tagalong.features.text",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tagalong.features' has no attribute {name!r}")
